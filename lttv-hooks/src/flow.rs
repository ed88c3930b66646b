//! What a hook says in the end: go on, or stop.

use std::ops::ControlFlow;

/// Go on, or stop. A list is always called to its end; what *stop* means beyond
/// that is up to the caller.
pub type Flow = ControlFlow<()>;

/// What the functions given to [`Hooks`](crate::Hooks) may return: a [`Flow`],
/// or nothing, which is to go on.
pub trait Verdict {
    /// As a flow.
    fn flow(self) -> Flow;
}

impl Verdict for () {
    #[inline(always)]
    fn flow(self) -> Flow {
        ControlFlow::Continue(())
    }
}

impl Verdict for Flow {
    #[inline(always)]
    fn flow(self) -> Flow {
        self
    }
}

/// Stop, if one of both says so.
#[inline(always)]
pub(crate) fn either(a: Flow, b: Flow) -> Flow {
    if a.is_break() { a } else { b }
}
