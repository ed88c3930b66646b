//! The trace that comes with the examples.

use std::path::{Path, PathBuf};

use lttv_context::Traceset;

/// Where it is: read if no other is given.
///
/// # Errors
///
/// If it is not there.
pub fn bundled_trace() -> Result<PathBuf, String> {
    let here = std::env::current_dir().map_err(|e| e.to_string())?;
    let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/kernel");
    if built_from.is_dir() {
        // Short names are easier to read.
        let below = built_from.strip_prefix(&here).ok().filter(|p| !p.as_os_str().is_empty());
        return Ok(below.unwrap_or(&built_from).to_owned());
    }
    let mut candidates = here.ancestors().map(|dir| dir.join("examples/traces/kernel"));
    let missing = "no TRACE given, and the bundled examples/traces/kernel is not there";
    candidates.find(|path| path.is_dir()).ok_or_else(|| missing.to_owned())
}

/// All traces below these paths; the bundled one if there are none.
///
/// # Errors
///
/// If one cannot be opened.
pub fn open_or_bundled(paths: &[PathBuf]) -> Result<Traceset, Box<dyn std::error::Error>> {
    let bundled = if paths.is_empty() { Some(bundled_trace()?) } else { None };
    let mut traceset = Traceset::new();
    for path in paths.iter().chain(&bundled) {
        for trace in ltt_read::open_all(path)? {
            traceset.add(trace);
        }
    }
    Ok(traceset)
}
