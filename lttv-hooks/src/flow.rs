//! The results of hooks: continue or stop.

use std::ops::ControlFlow;

/// The result of a hook: continue or stop. A list is always called to its end; the caller
/// decides about any further effect of a stop.
pub type Flow = ControlFlow<()>;

/// A return type of functions in [`Hooks`](crate::Hooks): a [`Flow`], or `()`, which
/// continues.
pub trait IntoFlow {
    /// Converts the value to a flow.
    fn into_flow(self) -> Flow;
}

impl IntoFlow for () {
    #[inline(always)]
    fn into_flow(self) -> Flow {
        ControlFlow::Continue(())
    }
}

impl IntoFlow for Flow {
    #[inline(always)]
    fn into_flow(self) -> Flow {
        self
    }
}

/// Returns `Break` if one of both is.
#[inline(always)]
pub(crate) fn or_break(a: Flow, b: Flow) -> Flow {
    if a.is_break() { a } else { b }
}
