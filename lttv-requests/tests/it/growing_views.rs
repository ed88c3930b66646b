//! Views of traces that arrive in parts: in the end they show what they show of the whole traces.

use crate::arriving::Arriving;
use crate::support::tracesets::config::cases;
use crate::support::tracesets::timeline::{Timeline, timeline};
use ltt_read::{ClockTransform, Timestamp};
use lttv_context::{TimeSpan, Traceset, TracesetContext};
use lttv_requests::views::{EventTable, Histogram, TimeWindow};
use lttv_requests::{Budget, Owner, Scheduler, Start};
use proptest::prelude::*;

/// The greatest number of rows: more than there are events.
const PAGE: usize = 10_000;

/// The numbers of events in the columns of a histogram, and of the rows of a table.
type Shown = (Vec<u64>, Vec<u64>);

fn number(call: &lttv_context::EventCall<'_, '_>) -> u64 {
    call.event.field("number").and_then(|number| number.as_u64()).expect("a number")
}

fn rows(table: &EventTable<u64>) -> Vec<u64> {
    table.rows().iter().map(|row| row.content).collect()
}

fn serve(scheduler: &mut Scheduler<'_>) {
    while scheduler.service_chunk(Budget::events(7)).has_more() {}
}

/// Returns what views show of a whole trace.
fn whole(timeline: &Timeline, window: TimeWindow) -> Shown {
    let traceset = Traceset::from_iter([timeline.in_memory(timeline.data())]);
    let mut scheduler = Scheduler::new(TracesetContext::new(traceset));
    let histogram = Histogram::new(window, 20);
    let table = EventTable::new(Owner::unique(), PAGE, number);
    scheduler.submit(histogram.request(Owner::unique(), window)).expect("no position");
    scheduler.submit(table.show(Start::Begin)).expect("no position");
    serve(&mut scheduler);
    (histogram.counts(), rows(&table))
}

/// Returns what views show of a trace that arrives in steps: packets of a tracefile, or all
/// declarations.
fn arriving(
    timeline: &Timeline,
    window: TimeWindow,
    steps: &[Option<(usize, usize)>],
    types: usize,
) -> Shown {
    let mut trace = Arriving::new(&timeline.in_memory(timeline.data()), types);
    trace.add_tracefiles();
    let mut traceset = Traceset::growing();
    traceset.continue_with(&[trace.growing.version().clone()]);
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    let histogram = Histogram::new(window, 20);
    let table = EventTable::new(Owner::unique(), PAGE, number);
    scheduler.submit(histogram.request(Owner::unique(), window)).expect("no position");
    scheduler.submit(table.show(Start::Begin)).expect("no position");
    for at in 0..=steps.len() {
        match steps.get(at) {
            Some(Some((tracefile, count))) => trace.append(*tracefile, *count),
            Some(None) => trace.declare_all(),
            None => trace.complete(),
        }
        traceset.continue_with(&[trace.growing.version().clone()]);
        if at == steps.len() {
            traceset.complete();
        }
        scheduler.continue_with(&traceset).expect("all can grow");
        serve(&mut scheduler);
        assert!(table.has_end(), "of what is final");
        table.note_growth();
        let more = table.scroll(PAGE as i64).unwrap_or_else(|| table.show(Start::Begin));
        scheduler.submit(more).expect("a position of the traceset");
        serve(&mut scheduler);
    }
    // The last rows are found from the end, too.
    let last = EventTable::new(Owner::unique(), 3, number);
    let end = lttv_context::TracesetPosition::end(scheduler.context().traceset());
    scheduler.submit(last.show_before(&end)).expect("a position of the traceset");
    serve(&mut scheduler);
    let all = rows(&table);
    assert_eq!(rows(&last), all[all.len().saturating_sub(3)..]);
    (histogram.counts(), all)
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn views_of_parts_show_the_whole_in_the_end(
        mut timeline in timeline(true),
        steps in prop::collection::vec(prop::option::weighted(0.9, (0..8usize, 1..3usize)), 0..20),
        types in 0..5usize,
    ) {
        timeline.transform = ClockTransform::IDENTITY;
        let times = (0..timeline.streams.len()).flat_map(|stream| timeline.events(stream));
        let times: Vec<Timestamp> = times.map(|event| timeline.time(&event)).collect();
        let (Some(start), Some(end)) = (times.iter().min(), times.iter().max()) else {
            return Ok(());
        };
        let window = TimeWindow::covering(TimeSpan { start: *start, end: *end });
        let seen = arriving(&timeline, window, &steps, types);
        prop_assert_eq!(seen, whole(&timeline, window));
    }
}
