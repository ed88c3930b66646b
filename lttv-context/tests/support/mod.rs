//! Random tracesets with a list of all their events.

#[path = "../../../ltt-read/tests/support/config.rs"]
pub(crate) mod config;
#[path = "../../../ltt-read/tests/support/timeline.rs"]
#[allow(dead_code, reason = "other tests need all of it")]
pub(crate) mod timeline;

use ltt_read::Timestamp;
use lttv_context::Traceset;
use proptest::prelude::*;
use timeline::{Timeline, timeline};

/// An event of a traceset, with the data that the models need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    /// The time of delivery: the event's own time, or the time from which its clock went back.
    pub(crate) time: Timestamp,
    pub(crate) trace: usize,
    /// The number of the tracefile in the trace.
    pub(crate) tracefile: usize,
    /// A number that is unique in the trace.
    pub(crate) number: u32,
}

/// A traceset and all its events in order.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) traceset: Traceset,
    pub(crate) events: Vec<Known>,
    /// The own time of each event, in the order of `events`.
    pub(crate) own_times: Vec<Timestamp>,
    pub(crate) timelines: Vec<Timeline>,
}

impl Sample {
    pub(crate) fn new(timelines: Vec<Timeline>) -> Self {
        let mut events = Vec::new();
        for (trace, timeline) in timelines.iter().enumerate() {
            for tracefile in 0..timeline.streams.len() {
                let mut latest = Timestamp::MIN;
                for event in timeline.events(tracefile) {
                    let own = timeline.time(&event);
                    latest = latest.max(own);
                    let number = event.number;
                    events.push((Known { time: latest, trace, tracefile, number }, own));
                }
            }
        }
        // The sort is stable, so the events of one tracefile stay in file order.
        events.sort_by_key(|(event, _)| (event.time, event.trace, event.tracefile));
        let (events, own_times) = events.into_iter().unzip();
        let traceset = timelines.iter().map(|t| t.in_memory(t.data())).collect();
        Sample { traceset, events, own_times, timelines }
    }

    /// Returns the index of the first event at a time or later.
    pub(crate) fn at(&self, time: Timestamp) -> usize {
        self.events.partition_point(|event| event.time < time)
    }

    /// Lists times at, just before and just after all events and packets.
    pub(crate) fn times(&self) -> Vec<Timestamp> {
        self.timelines.iter().flat_map(|timeline| timeline.interesting_times()).collect()
    }
}

/// Generates up to three traces, whose clocks may go back.
pub(crate) fn sample() -> impl Strategy<Value = Sample> {
    let timelines = prop_oneof![
        prop::collection::vec(timeline(false), 0..4),
        prop::collection::vec(timeline(true), 2..3),
    ];
    timelines.prop_map(Sample::new)
}
