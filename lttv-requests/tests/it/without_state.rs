//! Requests that use no state are served before it is there.

use ltt_read::Timestamp;
use lttv_context::{Traceset, TracesetContext};
use lttv_requests::views::{Histogram, TimeWindow};
use lttv_requests::{Budget, EventsRequest, Owner, Scheduler};
use lttv_state::kernel::KernelState;

const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");

/// The time of the last event of the trace.
const LAST: i64 = 1_795_233_416_829_982_847;

/// Counts the events of the last part of the bundled trace in columns. Returns the counts, and the
/// numbers of events read and replayed.
fn last_columns(with_state: bool, also_with_state: bool) -> (Vec<u64>, u64, u64) {
    let mut context = TracesetContext::new(Traceset::open(KERNEL).expect("the bundled trace"));
    if with_state {
        context.attach(KernelState::new());
    }
    let window =
        TimeWindow::new(Timestamp::from_ns(LAST - 100_000_000), Timestamp::from_ns(LAST + 1));
    let window = window.expect("a window");
    let histogram = Histogram::new(window, 20);
    let mut scheduler = Scheduler::new(context);
    let owner = Owner::unique();
    for missing in histogram.missing() {
        scheduler.submit(histogram.request(owner, missing)).expect("a valid request");
    }
    if also_with_state {
        let of_state = EventsRequest::new(owner).starting_at(window.start());
        scheduler.submit(of_state.on_every_event(|_, _| ())).expect("a valid request");
    }
    let (mut read, mut replayed, mut before_replay) = (0, 0, None);
    loop {
        let chunk = scheduler.service_chunk(Budget::events(500));
        read += chunk.read;
        replayed += chunk.replayed;
        if replayed > 0 && before_replay.is_none() {
            before_replay = Some(histogram.missing().len());
        }
        if !chunk.has_more() {
            break;
        }
    }
    assert!(before_replay.is_none_or(|missing| missing == 0), "the histogram waited");
    (histogram.counts(), read, replayed)
}

#[test]
fn a_histogram_needs_no_replay() {
    let (counts, read, replayed) = last_columns(true, false);
    assert_eq!(replayed, 0);
    assert!(counts.iter().sum::<u64>() > 100, "{counts:?}");
    assert_eq!((counts, read, 0), last_columns(false, false));
}

#[test]
fn a_histogram_is_there_before_the_replay_for_others() {
    let (counts, _, replayed) = last_columns(true, true);
    assert!(replayed > 1000, "{replayed}");
    assert_eq!(counts, last_columns(false, false).0);
}
