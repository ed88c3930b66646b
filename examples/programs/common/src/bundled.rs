//! The trace that comes with the examples.

use std::path::{Path, PathBuf};

/// Returns the path of the bundled kernel trace, which programs read if no trace is given.
///
/// The path is relative if the trace is below the current directory.
///
/// # Errors
///
/// If the trace cannot be found.
pub fn bundled_trace() -> Result<PathBuf, String> {
    let here = std::env::current_dir().map_err(|e| e.to_string())?;
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let built_from = examples.map(|folder| folder.join("traces/kernel"));
    if let Some(built_from) = built_from.filter(|path| path.is_dir()) {
        // A relative path is shorter to read.
        let below = built_from.strip_prefix(&here).ok().filter(|p| !p.as_os_str().is_empty());
        return Ok(below.unwrap_or(&built_from).to_owned());
    }
    let mut candidates = here.ancestors().map(|dir| dir.join("examples/traces/kernel"));
    let missing = "no TRACE given, and the bundled examples/traces/kernel was not found";
    candidates.find(|path| path.is_dir()).ok_or_else(|| missing.to_owned())
}
