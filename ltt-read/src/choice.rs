//! Which events of some traces are wanted, as far as that is known in advance.
//!
//! Whoever chooses events implements [`Choice`]; whoever reads them asks it, and
//! need not know more: what cannot be chosen is neither decoded nor, if its packet
//! has nothing else, visited.

use std::sync::Arc;

use crate::event::Event;
use crate::merge::Merge;
use crate::schema::EventTypeId;
use crate::time::{TimeSpan, Timestamp};
use crate::trace::Trace;

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

/// What a choice knows of all types of events, as a table.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// # let traces = ltt_read::open_all(path)?;
/// use ltt_read::choice::{Choice, Verdict, Verdicts};
///
/// struct None;
///
/// impl Choice for None {
///     fn chooses(&self, _: &ltt_read::Event<'_>) -> bool {
///         false
///     }
///
///     fn verdict(&self, _: usize, _: ltt_read::schema::EventTypeId) -> Verdict {
///         Verdict::Never
///     }
/// }
///
/// let verdicts = Verdicts::new(&None, &traces);
/// assert!(verdicts.are_all(Verdict::Never));
/// let mut merge = ltt_read::Merge::new(&traces);
/// assert!(merge.next().is_some_and(|event| verdicts.of(&event) == Verdict::Never));
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Verdicts {
    all: Box<[Verdict]>,
    /// Where those of each trace begin.
    bases: Box<[usize]>,
}

impl Verdicts {
    /// Asks a choice for those of the event types of some traces.
    pub fn new(choice: &(impl Choice + ?Sized), traces: &[Arc<Trace>]) -> Self {
        let (mut all, mut bases) = (Vec::new(), Vec::with_capacity(traces.len()));
        for (number, trace) in traces.iter().enumerate() {
            bases.push(all.len());
            let types = (0..trace.schema().event_types.len() as u32).map(EventTypeId);
            all.extend(types.map(|id| choice.verdict(number, id)));
        }
        Verdicts { all: all.into(), bases: bases.into() }
    }

    /// That of an event of a merge of the traces; of others, they are not wanted.
    #[inline(always)]
    pub fn of(&self, event: &Event<'_>) -> Verdict {
        let Some(base) = self.bases.get(event.trace_index()) else { return Verdict::Never };
        self.all.get(base + event.type_id().index()).copied().unwrap_or(Verdict::Never)
    }

    /// Whether they are all the same.
    pub fn are_all(&self, verdict: Verdict) -> bool {
        self.all.iter().all(|known| *known == verdict)
    }
}

/// Leads a merge through spans of time, from each to the next, without reading
/// the packets between.
///
/// Its user asks the merge for events that are wanted *or* later than
/// [`last`](Self::last), and if one is later calls [`move_on`](Self::move_on).
#[derive(Debug, Clone)]
pub struct Spans {
    spans: Vec<TimeSpan>,
    /// Which of them is read.
    at: usize,
}

impl Spans {
    /// Spans in order, with gaps between.
    pub fn new(spans: Vec<TimeSpan>) -> Self {
        Spans { spans, at: 0 }
    }

    /// Begins with the first, wherever a merge stands, which is not moved.
    pub fn restart(&mut self) {
        self.at = 0;
    }

    /// Begins where a merge stands. `latest` is known of what is before that: none
    /// of it is later. Moves the merge to the first span if that is behind this
    /// time.
    pub fn enter(&mut self, merge: &mut Merge, latest: Option<Timestamp>) {
        let latest = latest.unwrap_or(Timestamp::MIN);
        self.at = self.spans.partition_point(|span| span.end < latest);
        if let Some(span) = self.spans.get(self.at)
            && span.begin > latest
        {
            merge.seek(span.begin);
        }
    }

    /// The last time of the span that is read; `None` if there is none any
    /// more.
    #[inline]
    pub fn last(&self) -> Option<Timestamp> {
        self.spans.get(self.at).map(|span| span.end)
    }

    /// Goes on: a merge gave an event of a time behind the span that is read.
    /// The merge gives it again, or the first of the next span that is not
    /// before it.
    pub fn move_on(&mut self, merge: &mut Merge, time: Timestamp) {
        while self.last().is_some_and(|last| last < time) {
            self.at += 1;
        }
        match self.spans.get(self.at) {
            Some(next) if next.begin > time => merge.seek(next.begin),
            _ => merge.put_back(),
        }
    }
}
