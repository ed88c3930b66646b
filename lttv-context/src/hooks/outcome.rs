//! The results of hooks for events, and their errors.

use std::error::Error;
use std::fmt;

use ltt_read::Timestamp;
use lttv_hooks::{Flow, IntoFlow};

use super::call::EventCall;
use crate::bounds::{EndReason, ReadEnd};
use crate::traceset::TracesetPosition;

/// A value that a hook for events can return: `()` to go on, a [`Flow`], or a `Result` of them.
///
/// `Break` ends the read after the event, and so does an error, which the read returns as a
/// [`HookError`]. The other hooks of the event are called before the read ends.
///
/// ```
/// use lttv_context::{Bounds, ReadError, TracesetContext, Traceset};
///
/// fn store(name: &str) -> Result<(), std::io::Error> {
///     if name == "sched_switch" { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(()) }
/// }
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// context.on_event("*", |call| store(call.event.event_type().name()));
/// let Err(ReadError::Hook(error)) = context.read(&Bounds::all()) else { panic!("nothing failed") };
/// assert!(error.error.is::<std::io::Error>());
/// assert!(error.to_string().starts_with("a hook failed at the event `sched_switch`"));
/// // The context is after the event. The place before it is kept with the error.
/// context.seek_position(&error.position)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait IntoOutcome {
    /// Converts the value to a flow, or an error.
    ///
    /// # Errors
    ///
    /// Returns the error of the hook.
    fn into_outcome(self) -> Result<Flow, Box<dyn Error + Send + Sync>>;
}

impl IntoOutcome for () {
    #[inline(always)]
    fn into_outcome(self) -> Result<Flow, Box<dyn Error + Send + Sync>> {
        Ok(Flow::Continue(()))
    }
}

impl IntoOutcome for Flow {
    #[inline(always)]
    fn into_outcome(self) -> Result<Flow, Box<dyn Error + Send + Sync>> {
        Ok(self)
    }
}

impl<T: IntoFlow, E: Into<Box<dyn Error + Send + Sync>>> IntoOutcome for Result<T, E> {
    #[inline(always)]
    fn into_outcome(self) -> Result<Flow, Box<dyn Error + Send + Sync>> {
        match self {
            Ok(flow) => Ok(flow.into_flow()),
            Err(error) => Err(error.into()),
        }
    }
}

/// An error that a hook for events returned, with the event.
#[non_exhaustive]
pub struct HookError {
    /// The name of the event.
    pub event: String,
    /// The trace and the name of the tracefile that contain the event.
    pub tracefile: String,
    /// The time of the event, if it has one.
    pub time: Option<Timestamp>,
    /// The position before the event. After seeking it, the event is the next one.
    pub position: TracesetPosition,
    /// The events read up to this one, which is included. The reason is [`EndReason::Stopped`].
    pub read: ReadEnd,
    /// The error. It is the [`source`](Error::source) of this one.
    pub error: Box<dyn Error + Send + Sync>,
}

ltt_read::debug_as_chain!(HookError);

impl HookError {
    /// Creates the error of a hook that was called for an event.
    #[cold]
    pub(super) fn new(call: &EventCall<'_, '_>, error: Box<dyn Error + Send + Sync>) -> HookError {
        let (trace, tracefile) = (call.trace.trace().path(), call.tracefile.tracefile().name());
        HookError {
            event: call.event.event_type().name().to_owned(),
            tracefile: trace.join(tracefile).display().to_string(),
            time: call.event.timestamp(),
            position: call.position(),
            read: ReadEnd { events: 0, examined: 0, reason: EndReason::Stopped, errors: 0 },
            error,
        }
    }
}

impl fmt::Display for HookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a hook failed at the event `{}` of {}", self.event, self.tracefile)?;
        self.time.map_or(Ok(()), |time| write!(f, " at {time}"))
    }
}

impl Error for HookError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.error)
    }
}
