//! Why a request is refused.

use lttv_context::Generation;

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// Its start or end position is of another traceset.
    #[error("a position of the request is of {position:?}, the traceset is {traceset:?}")]
    Stale {
        /// What the position is of.
        position: Generation,
        /// What the traceset is.
        traceset: Generation,
    },
    /// It is for a trace that is not there.
    #[error("the request is for trace {trace}, but there are {traces}")]
    NoSuchTrace {
        /// The index of the trace.
        trace: usize,
        /// How many traces there are.
        traces: usize,
    },
    /// It comes from a hook, which has a [`Control`](crate::Control) for that.
    #[error("a hook submits requests by its control")]
    InHook,
    /// The hook that submits it is not one of a submitted request.
    #[error("the request comes from a hook that no scheduler serves")]
    NotServed,
}
