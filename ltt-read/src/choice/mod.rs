//! Which events of some traces are wanted, as far as that is known in advance.
//!
//! Whoever chooses events implements [`Choice`]; whoever reads them asks it, and
//! need not know more: what cannot be chosen is neither decoded nor, if its packet
//! has nothing else, visited.

mod shortcut;
mod spans;
mod verdicts;

pub use shortcut::Shortcut;
pub use spans::Spans;
pub use verdicts::Verdicts;

use crate::event::Event;
use crate::schema::EventTypeId;
use crate::time::TimeSpan;

/// Which events of some traces are wanted. Only what an event decides must be
/// told; all else is what can be known without looking at it.
///
/// ```
/// use ltt_read::choice::{Choice, Verdict};
/// use ltt_read::schema::EventTypeId;
/// use ltt_read::{Event, Trace};
///
/// /// Events of one type, on one CPU.
/// struct One<'t> {
///     trace: &'t Trace,
///     event_type: EventTypeId,
///     cpu: u32,
/// }
///
/// impl Choice for One<'_> {
///     fn chooses(&self, event: &Event<'_>) -> bool {
///         event.type_id() == self.event_type && self.may_choose(0, event.tracefile_index())
///     }
///
///     fn verdict(&self, _trace: usize, event_type: EventTypeId) -> Verdict {
///         if event_type == self.event_type { Verdict::Depends } else { Verdict::Never }
///     }
///
///     fn may_choose(&self, _trace: usize, tracefile: usize) -> bool {
///         self.trace.tracefiles()[tracefile].cpu() == Some(self.cpu)
///     }
/// }
/// ```
pub trait Choice {
    /// Whether an event is wanted. It must not change its mind: it may be asked
    /// twice.
    fn chooses(&self, event: &Event<'_>) -> bool;

    /// What is known of all events of a type in a trace.
    fn verdict(&self, trace: usize, event_type: EventTypeId) -> Verdict {
        let _ = (trace, event_type);
        Verdict::Depends
    }

    /// What decides most events of a type for which it [depends](Verdict::Depends),
    /// faster: [`chooses`](Self::chooses) is asked only about the others.
    fn shortcut(&self, trace: usize, event_type: EventTypeId) -> Option<&Shortcut> {
        let _ = (trace, event_type);
        None
    }

    /// Whether an event of a tracefile of a trace may be wanted.
    fn may_choose(&self, trace: usize, tracefile: usize) -> bool {
        let _ = (trace, tracefile);
        true
    }

    /// When events may be wanted: in order, with gaps between. If events without
    /// a time may be, it is [`TimeSpan::ALL`].
    fn spans(&self) -> Vec<TimeSpan> {
        vec![TimeSpan::ALL]
    }
}

impl<C: Choice + ?Sized> Choice for &C {
    fn chooses(&self, event: &Event<'_>) -> bool {
        (**self).chooses(event)
    }

    fn verdict(&self, trace: usize, event_type: EventTypeId) -> Verdict {
        (**self).verdict(trace, event_type)
    }

    fn shortcut(&self, trace: usize, event_type: EventTypeId) -> Option<&Shortcut> {
        (**self).shortcut(trace, event_type)
    }

    fn may_choose(&self, trace: usize, tracefile: usize) -> bool {
        (**self).may_choose(trace, tracefile)
    }

    fn spans(&self) -> Vec<TimeSpan> {
        (**self).spans()
    }
}

/// What is known of all events of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// They are wanted.
    Always,
    /// They are not.
    Never,
    /// Each has to be looked at.
    Depends,
}
