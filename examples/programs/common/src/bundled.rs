//! The trace that comes with the examples.

use std::path::{Path, PathBuf};

#[cfg(feature = "bundled")]
use crate::archives;

/// The trace, packed.
#[cfg(feature = "bundled")]
const ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kernel.tar.gz"));

/// The place of the trace in the repository.
const PLACE: &str = "examples/traces/kernel";

/// Returns the path of the bundled kernel trace, which programs read if no trace is given: that of the repository if
/// the current directory is in one, and otherwise that of a temporary folder, into which it is unpacked. Without the
/// feature `bundled`, there is no other than that of the repository.
///
/// The path is relative if the trace is below the current directory.
///
/// # Errors
///
/// If the trace cannot be unpacked.
pub fn bundled_trace() -> Result<PathBuf, String> {
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let mut candidates = here.ancestors().map(|folder| folder.join(PLACE));
    match candidates.find(|path| path.is_dir()) {
        // A relative path is shorter to read.
        Some(path) => Ok(path.strip_prefix(&here).map_or(path.clone(), Path::to_owned)),
        #[cfg(not(feature = "bundled"))]
        None => Err("expected the path of a trace".to_owned()),
        #[cfg(feature = "bundled")]
        None => {
            let folder = archives::of_bytes("bundled", ARCHIVE);
            let folder = folder.map_err(|error| format!("the bundled trace: {error}"))?;
            Ok(folder.join("kernel"))
        }
    }
}

#[cfg(all(test, feature = "bundled"))]
mod tests {
    use super::*;

    #[test]
    fn the_packed_trace_is_that_of_the_repository() {
        let folder = archives::of_bytes("bundled", ARCHIVE).unwrap().join("kernel");
        let of_repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/kernel");
        let [packed, plain] = [folder, of_repository].map(|path| {
            let traces = ltt_read::open_all(&path).unwrap();
            let mut events = ltt_read::Merge::new(&traces);
            let mut times = Vec::new();
            while let Some(event) = events.next() {
                times.push((event.timestamp(), event.event_type().name().to_owned()));
            }
            times
        });
        assert_eq!(packed.len(), 6087);
        assert_eq!(packed, plain);
        archives::remove();
    }
}
