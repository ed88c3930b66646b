//! Whether the program was started without a standard output (`>&-`).
//!
//! Before `main`, the standard library opens `/dev/null` in place of a standard output
//! that is closed: what is written there would be lost without an error. So this looks
//! earlier than that.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before the standard library is ready, of which it needs nothing: a system call,
/// and a store.
#[ctor::ctor(unsafe)]
fn look() {
    let is_closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
    IS_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// Returns whether there was no standard output.
pub(crate) fn is_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}

/// The error of a write to a file that is not open.
pub(crate) fn error() -> io::Error {
    rustix::io::Errno::BADF.into()
}
