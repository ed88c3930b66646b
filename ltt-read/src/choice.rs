//! Which events of some traces are wanted, as far as that is known in advance.
//!
//! Whoever chooses events implements [`Choice`]; whoever reads them asks it, and
//! need not know more: what cannot be chosen is neither decoded nor, if its packet
//! has nothing else, visited.

use crate::event::Event;
use crate::merge::Merge;
use crate::schema::EventTypeId;
use crate::time::Timestamp;

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

    /// Whether an event of a tracefile of a trace may be wanted.
    fn may_choose(&self, trace: usize, tracefile: usize) -> bool {
        let _ = (trace, tracefile);
        true
    }

    /// When events may be wanted: in order, with gaps between. If events without
    /// a time may be, it is [`TimeWindow::ALL`].
    fn windows(&self) -> Vec<TimeWindow> {
        vec![TimeWindow::ALL]
    }
}

impl<C: Choice + ?Sized> Choice for &C {
    fn chooses(&self, event: &Event<'_>) -> bool {
        (**self).chooses(event)
    }

    fn verdict(&self, trace: usize, event_type: EventTypeId) -> Verdict {
        (**self).verdict(trace, event_type)
    }

    fn may_choose(&self, trace: usize, tracefile: usize) -> bool {
        (**self).may_choose(trace, tracefile)
    }

    fn windows(&self) -> Vec<TimeWindow> {
        (**self).windows()
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

/// A stretch of time, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeWindow {
    /// First time in it.
    pub first: Timestamp,
    /// Last time in it.
    pub last: Timestamp,
}

impl TimeWindow {
    /// All of time, and events that have none.
    pub const ALL: TimeWindow = TimeWindow { first: Timestamp::MIN, last: Timestamp::MAX };
}

/// Leads a merge through windows of time, from each to the next, without reading
/// the packets between.
///
/// Its user asks the merge for events that are wanted *or* later than
/// [`last`](Self::last), and if one is later calls [`move_on`](Self::move_on).
#[derive(Debug, Clone)]
pub struct Windows {
    windows: Vec<TimeWindow>,
    /// Which of them is read.
    at: usize,
}

impl Windows {
    /// Windows in order, with gaps between.
    pub fn new(windows: Vec<TimeWindow>) -> Self {
        Windows { windows, at: 0 }
    }

    /// Begins with the first, wherever a merge stands, which is not moved.
    pub fn restart(&mut self) {
        self.at = 0;
    }

    /// Begins where a merge stands. `latest` is known of what is before that: none
    /// of it is later. Moves the merge to the first window if that is behind this
    /// time.
    pub fn enter(&mut self, merge: &mut Merge, latest: Option<Timestamp>) {
        let latest = latest.unwrap_or(Timestamp::MIN);
        self.at = self.windows.partition_point(|window| window.last < latest);
        if let Some(window) = self.windows.get(self.at)
            && window.first > latest
        {
            merge.seek(window.first);
        }
    }

    /// The last time of the window that is read; `None` if there is none any
    /// more.
    #[inline]
    pub fn last(&self) -> Option<Timestamp> {
        self.windows.get(self.at).map(|window| window.last)
    }

    /// Goes on: a merge gave an event of a time behind the window that is read.
    /// The merge gives it again, or the first of the next window that is not
    /// before it.
    pub fn move_on(&mut self, merge: &mut Merge, time: Timestamp) {
        while self.last().is_some_and(|last| last < time) {
            self.at += 1;
        }
        match self.windows.get(self.at) {
            Some(next) if next.first > time => merge.seek(next.first),
            _ => merge.put_back(),
        }
    }
}
