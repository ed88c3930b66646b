//! Detection of a program start without a standard output (`>&-`).
//!
//! The standard library opens `/dev/null` before `main` in place of a closed standard
//! output, so that writes to it are lost without an error. This module therefore checks
//! before the standard library does.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Records whether the standard output is closed.
///
/// Runs before `main`, where the standard library may not be initialised. This is sound
/// because the function uses nothing of it: it makes one system call and one atomic store,
/// and neither allocates nor panics.
#[ctor::ctor(unsafe)]
fn record_stdout() {
    let is_closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
    IS_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// Returns `true` if the program was started without a standard output.
pub(crate) fn is_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}

/// Returns the error of a write to a file that is not open.
pub(crate) fn error() -> io::Error {
    rustix::io::Errno::BADF.into()
}
