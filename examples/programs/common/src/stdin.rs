//! Recordings that come from standard input, in place of a file.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use ltt_read::{Error, Trace, open_bytes};

/// The argument in place of the path of a trace that stands for standard input.
const STDIN: &str = "-";

/// The greatest number of bytes that are read, since they are kept in memory.
const MAX_BYTES: u64 = 1 << 31;

/// The number of bytes that tell whether this is a recording.
const MAGIC: u64 = 16;

/// Returns `true` if a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

/// Marks standard input as read.
///
/// # Errors
///
/// If it was read before.
fn take() -> Result<(), Error> {
    static WAS_READ: AtomicBool = AtomicBool::new(false);
    if WAS_READ.swap(true, Ordering::Relaxed) {
        let path = STDIN.into();
        return Err(Error::NotATrace { path, reason: "standard input can be read only once" });
    }
    Ok(())
}

/// Opens the recording that standard input contains.
///
/// # Errors
///
/// If it cannot be read, is no recording of perf or ftrace, has more than 2 GiB, or has been read before.
pub(crate) fn open() -> Result<Vec<Arc<Trace>>, Error> {
    take()?;
    open_from(&mut io::stdin().lock(), MAX_BYTES)
}

/// Reads standard input in a thread of its own, and returns its parts as they come.
///
/// # Errors
///
/// If it has been read before.
pub(crate) fn stream() -> Result<Receiver<io::Result<Vec<u8>>>, Error> {
    /// The greatest size of a part in bytes.
    const PART: usize = 1 << 16;
    /// The greatest number of parts that wait.
    const PARTS: usize = 64;
    take()?;
    let (sender, receiver) = sync_channel(PARTS);
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        let mut bytes = vec![0; PART];
        loop {
            let part = match input.read(&mut bytes) {
                Ok(0) => break,
                Ok(read) => Ok(bytes[..read].to_vec()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let is_last = part.is_err();
            if sender.send(part).is_err() || is_last {
                break;
            }
        }
    });
    Ok(receiver)
}

/// Opens the recording in a stream of at most `limit` bytes.
fn open_from(input: &mut impl Read, limit: u64) -> Result<Vec<Arc<Trace>>, Error> {
    let failed = |error| Error::Io { path: STDIN.into(), error };
    let not_a_trace = |reason| Error::NotATrace { path: STDIN.into(), reason };
    let mut bytes = Vec::new();
    input.take(MAGIC).read_to_end(&mut bytes).map_err(failed)?;
    // Anything else may have no end.
    if !is_recording(&bytes) {
        return Err(not_a_trace(
            "standard input is no recording of perf or ftrace: \
             `perf record -o - … | lttv dump -` and `lttv dump - < trace.dat` are read, directories are not",
        ));
    }
    input.take(limit - MAGIC).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 >= limit {
        return Err(not_a_trace("standard input has more than 2 GiB: write it to a file first"));
    }
    open_bytes(STDIN, bytes)
}

/// Returns `true` for the first bytes of recordings of perf and ftrace.
fn is_recording(start: &[u8]) -> bool {
    [&b"PERFILE2"[..], b"2ELIFREP", b"\x17\x08\x44tracing"].iter().any(|of| start.starts_with(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_recordings_or_refused() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/perf/perf.data");
        let bytes = std::fs::read(path).expect("the recording");
        let traces = open_from(&mut &*bytes, 1 << 20).expect("a recording");
        assert_eq!((traces.len(), traces[0].path()), (1, Path::new("-")));
        let reason = |bytes: &[u8], limit| match open_from(&mut { bytes }, limit) {
            Err(Error::NotATrace { reason, .. }) => reason,
            other => panic!("{other:?}"),
        };
        assert!(reason(&bytes, 1000).contains("2 GiB"));
        assert!(reason(b"", 1000).contains("no recording"));
        assert!(reason(b"/* CTF 1.8 */", 1000).contains("no recording"));
        // A stream without an end is not read on.
        let endless = open_from(&mut io::repeat(7), MAX_BYTES);
        assert!(matches!(endless, Err(Error::NotATrace { .. })));
    }
}
