//! Calls of Python code that is not of this package.
//!
//! Such code may call a consumer of a stream, which releases the interpreter on its own: then this thread seems to have
//! it, and does not. Streams must not use the interpreter there.

use std::cell::Cell;

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Returns `true` within a call of other code on this thread.
pub(crate) fn is_outside() -> bool {
    DEPTH.get() > 0
}

/// Makes a call that may run other code.
pub(crate) fn outside<R>(call: impl FnOnce() -> R) -> R {
    /// Ends the call, also after a panic.
    struct Inside;
    impl Drop for Inside {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() - 1);
        }
    }
    DEPTH.set(DEPTH.get() + 1);
    let _inside = Inside;
    call()
}

/// Runs the handlers of signals, such as that of Ctrl-C.
pub(crate) fn check_signals(py: Python<'_>) -> PyResult<()> {
    outside(|| py.check_signals())
}

/// Calls a function of the user.
pub(crate) fn call<'py>(
    py: Python<'py>,
    function: &Py<PyAny>,
    args: impl PyCallArgs<'py>,
) -> PyResult<()> {
    outside(|| function.call1(py, args)).map(drop)
}
