//! Random filters that tell in advance which events cannot pass.

use ltt_read::schema::EventTypeId;
use ltt_read::selection::{EventSelection, Verdict};
use ltt_read::{Event, TimeSpan, Timestamp, TraceIndex, TracefileIndex};
use lttv_context::{EventCall, Traceset};
use lttv_requests::EventFilter;
use proptest::prelude::*;
use proptest::sample::Index;

use super::tracesets::{Known, Sample};

/// A description of a [`Sieve`], before the sample is known.
#[derive(Debug, Clone)]
pub(crate) struct SieveModel {
    every: u32,
    only_dynamic: bool,
    tracefile: Option<usize>,
    spans: Vec<Index>,
    is_exact: bool,
}

/// A filter for some events of a sample.
#[derive(Debug, Clone)]
pub(crate) struct Sieve {
    /// Passes every n-th event.
    every: u32,
    /// Passes only events of the type `dynamic`.
    only_dynamic: bool,
    /// Passes only events of one tracefile of each trace.
    tracefile: Option<usize>,
    spans: Vec<TimeSpan>,
    is_exact: bool,
    dynamic: Vec<Vec<EventTypeId>>,
}

pub(crate) fn sieve_model() -> impl Strategy<Value = SieveModel> {
    let spans = prop_oneof![
        2 => Just(Vec::new()),
        1 => prop::collection::vec(any::<Index>(), 1..5),
    ];
    let every = prop::sample::select(vec![1, 2, 5, 50]);
    let tracefile = prop::option::weighted(0.3, 0..3usize);
    (every, prop::bool::weighted(0.3), tracefile, spans, any::<bool>()).prop_map(
        |(every, only_dynamic, tracefile, spans, is_exact)| SieveModel {
            every,
            only_dynamic,
            tracefile,
            spans,
            is_exact,
        },
    )
}

impl SieveModel {
    pub(crate) fn sieve(&self, traceset: &Traceset, times: &[Timestamp]) -> Sieve {
        let mut spans = vec![TimeSpan::ALL];
        if !self.spans.is_empty() && !times.is_empty() {
            let mut ends: Vec<_> = self.spans.iter().map(|index| *index.get(times)).collect();
            ends.sort_unstable();
            ends.dedup();
            // Spans have gaps between them. The last one may have no end.
            let span = |ends: &[Timestamp]| TimeSpan {
                start: ends[0],
                end: ends.get(1).copied().unwrap_or(Timestamp::MAX),
            };
            spans = ends.chunks(2).map(span).collect();
        }
        let traces = traceset.traces().iter();
        Sieve {
            every: self.every,
            only_dynamic: self.only_dynamic,
            tracefile: self.tracefile,
            spans,
            is_exact: self.is_exact,
            dynamic: traces.map(|trace| trace.event_types_named("dynamic").collect()).collect(),
        }
    }
}

impl Sieve {
    fn has(&self, number: u32, is_dynamic: bool, tracefile: usize, time: Timestamp) -> bool {
        number.is_multiple_of(self.every)
            && (is_dynamic || !self.only_dynamic)
            && self.tracefile.is_none_or(|only| only == tracefile)
            && self.spans.iter().any(|span| span.start <= time && time <= span.end)
    }

    /// Returns whether an event of the model passes.
    pub(crate) fn passes_known(&self, sample: &Sample, at: usize) -> bool {
        let Known { number, tracefile, .. } = sample.events[at];
        self.has(
            number,
            super::script::is_dynamic(sample.events[at]),
            tracefile,
            sample.own_times[at],
        )
    }

    fn passes_event(&self, event: &Event<'_>) -> bool {
        let number = event.field("number").and_then(|value| value.as_u64()).expect("a number");
        let is_dynamic = self.dynamic[event.trace_index().0].contains(&event.type_id());
        let time = event.timestamp().unwrap_or(Timestamp::MIN);
        self.has(number as u32, is_dynamic, event.tracefile_index().0, time)
    }
}

impl EventSelection for Sieve {
    fn matches(&self, event: &Event<'_>) -> bool {
        assert!(self.is_exact, "only what is known in advance is used");
        self.passes_event(event)
    }

    fn verdict(&self, trace: TraceIndex, event_type: EventTypeId) -> Verdict {
        let is_dynamic = self.dynamic[trace.0].contains(&event_type);
        let is_decided = self.every == 1 && self.tracefile.is_none();
        match (&*self.spans, is_decided) {
            _ if self.only_dynamic && !is_dynamic => Verdict::Never,
            ([], _) => Verdict::Never,
            ([TimeSpan::ALL], true) => Verdict::Always,
            _ => Verdict::Depends,
        }
    }

    fn may_match(&self, _: TraceIndex, tracefile: TracefileIndex) -> bool {
        self.tracefile.is_none_or(|only| only == tracefile.0)
    }

    fn spans(&self) -> Vec<TimeSpan> {
        self.spans.clone()
    }
}

impl EventFilter for Sieve {
    fn passes(&mut self, call: &EventCall<'_, '_>) -> bool {
        self.passes_event(&call.event)
    }

    fn selection(&self) -> Option<&dyn EventSelection> {
        Some(self)
    }

    fn is_selection_exact(&self) -> bool {
        self.is_exact
    }
}
