//! Opening of recordings whose bytes are in memory.

use std::path::PathBuf;
use std::sync::Arc;

use crate::base::source::FileBytes;
use crate::report::Error;
use crate::trace::Trace;
use crate::{ftrace, perf};

/// Opens a recording of perf or ftrace whose bytes are in memory, such as what `perf record -o -` writes to a pipe. The
/// name stands for the path of a file, in errors and as [`Trace::path`].
///
/// ```
/// let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/perf/pipe-z.data"))?;
/// let traces = ltt_read::open_bytes("-", bytes)?;
/// assert_eq!(traces.len(), 1);
/// assert!(ltt_read::open_bytes("-", b"other bytes".to_vec()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Error::NotATrace`] if this is no such recording, [`Error::Section`] if it is damaged before its events,
/// [`Error::Unsupported`] if no decoder can be compiled from it.
pub fn open_bytes(name: impl Into<PathBuf>, bytes: Vec<u8>) -> Result<Vec<Arc<Trace>>, Error> {
    let (path, file) = (name.into(), Arc::new(FileBytes::in_memory(bytes)));
    let traces = match ftrace::assemble(&path, file.clone()) {
        Err(Error::NotATrace { .. }) => perf::assemble(&path, file).map(|trace| vec![trace]),
        opened => opened,
    };
    match traces {
        Err(Error::NotATrace { path, .. }) => {
            let reason = "it is no recording of perf or ftrace";
            Err(Error::NotATrace { path, reason })
        }
        opened => Ok(opened?.into_iter().map(Arc::new).collect()),
    }
}
