//! Descriptions of the wanted events of some traces, as far as they are known in advance.
//!
//! A filter implements [`EventSelection`], and readers use it to skip work: events that cannot be
//! chosen are not decoded, and packets without events that could be chosen are not read.

mod shortcut;
mod spans;
mod verdicts;

pub use shortcut::Shortcut;
pub(crate) use spans::Spans;
pub use verdicts::Verdicts;

use std::sync::Arc;

use crate::base::time::TimeSpan;
use crate::event::Event;
use crate::schema::EventTypeId;
use crate::trace::{Trace, TraceIndex, TracefileIndex};

/// A description of the wanted events of some traces. Only [`matches`](Self::matches) is
/// required. The other methods describe what is known without looking at an event.
///
/// ```
/// use ltt_read::selection::{EventSelection, Verdict};
/// use ltt_read::schema::EventTypeId;
/// use ltt_read::{Event, Trace, TraceIndex, TracefileIndex};
///
/// /// Events of one type, on one CPU.
/// struct One<'t> {
///     trace: &'t Trace,
///     event_type: EventTypeId,
///     cpu: u32,
/// }
///
/// impl EventSelection for One<'_> {
///     fn matches(&self, event: &Event<'_>) -> bool {
///         event.type_id() == self.event_type && self.may_match(TraceIndex(0), event.tracefile_index())
///     }
///
///     fn verdict(&self, _trace: TraceIndex, event_type: EventTypeId) -> Verdict {
///         if event_type == self.event_type { Verdict::Depends } else { Verdict::Never }
///     }
///
///     fn may_match(&self, _trace: TraceIndex, tracefile: TracefileIndex) -> bool {
///         self.trace.tracefile(tracefile).cpu() == Some(self.cpu)
///     }
/// }
/// ```
pub trait EventSelection {
    /// Returns `true` if an event is wanted. The result must be consistent: the method
    /// may be called twice for one event.
    fn matches(&self, event: &Event<'_>) -> bool;

    /// Returns what is known about all events of a type. `trace` is the index of the
    /// trace.
    fn verdict(&self, trace: TraceIndex, event_type: EventTypeId) -> Verdict {
        let _ = (trace, event_type);
        Verdict::Depends
    }

    /// Returns a faster test that decides most events of a type whose verdict
    /// [depends](Verdict::Depends) on the event. [`matches`](Self::matches) is called
    /// only for the events that the shortcut leaves undecided. `None` if there is no such
    /// test.
    fn shortcut(&self, trace: TraceIndex, event_type: EventTypeId) -> Option<&Shortcut> {
        let _ = (trace, event_type);
        None
    }

    /// Returns `true` if an event of a tracefile may be wanted. `trace` is the index of
    /// the trace and `tracefile` that of the tracefile in it.
    fn may_match(&self, trace: TraceIndex, tracefile: TracefileIndex) -> bool {
        let _ = (trace, tracefile);
        true
    }

    /// Returns the spans of time in which events may be wanted, in order and not
    /// adjacent. If events without a time may be wanted, this must be [`TimeSpan::ALL`].
    fn spans(&self) -> Vec<TimeSpan> {
        vec![TimeSpan::ALL]
    }

    /// Extends the selection to later versions of the traces, which may have more event types
    /// and tracefiles, and to traces after them. Returns `false`, the default, if it cannot.
    fn grow(&mut self, traces: &[Arc<Trace>]) -> bool {
        let _ = traces;
        false
    }
}

impl<C: EventSelection + ?Sized> EventSelection for &C {
    fn matches(&self, event: &Event<'_>) -> bool {
        (**self).matches(event)
    }

    fn verdict(&self, trace: TraceIndex, event_type: EventTypeId) -> Verdict {
        (**self).verdict(trace, event_type)
    }

    fn shortcut(&self, trace: TraceIndex, event_type: EventTypeId) -> Option<&Shortcut> {
        (**self).shortcut(trace, event_type)
    }

    fn may_match(&self, trace: TraceIndex, tracefile: TracefileIndex) -> bool {
        (**self).may_match(trace, tracefile)
    }

    fn spans(&self) -> Vec<TimeSpan> {
        (**self).spans()
    }
}

/// The knowledge about all events of a type.
// Exhaustive: there is nothing between always and never.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// All events of the type are wanted.
    Always,
    /// No event of the type is wanted.
    Never,
    /// Some events of the type may be wanted, depending on the event.
    Depends,
}
