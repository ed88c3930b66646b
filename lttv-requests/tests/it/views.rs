//! Models of viewers over random tracesets, compared with plain lists of events.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use crate::support::digest::{Digest, known};
use crate::support::sieve::{SieveModel, sieve_model};
use crate::support::tracesets::config::cases;
use crate::support::tracesets::{Known, Sample, sample};
use ltt_read::schema::{FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, MemoryTrace, presets};
use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{EventCall, Traceset, TracesetContext, TracesetPosition};
use lttv_requests::views::{EventTable, Histogram, SegmentState, TableRow, TimeWindow, Timeline};
use lttv_requests::{Budget, EventsRequest, Owner, Scheduler, Start};
use proptest::prelude::*;
use proptest::sample::Index;

fn drain(scheduler: &mut Scheduler<'_>, budget: u64) -> u64 {
    let mut read = 0;
    for _ in 0..100_000 {
        let chunk = scheduler.service_chunk(Budget::events(budget));
        read += chunk.read;
        if !chunk.has_more() {
            return read;
        }
    }
    panic!("requests do not end");
}

/// A window whose begin and end are at or near events.
fn window(sample: &Sample, (a, b): (Index, Index)) -> Option<TimeWindow> {
    let times = sample.times();
    let (a, b) = (*a.get(&times), *b.get(&times));
    TimeWindow::new(a.min(b), a.max(b))
}

#[derive(Debug, Clone)]
enum Step {
    Begin,
    Time(Index),
    Scroll(i64),
    Filter(bool),
    /// A filter that tells in advance which events cannot pass.
    Sieve(SieveModel),
    Last,
    Before(Index),
    /// The user does not wait for previous requests.
    Hasty(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => Just(Step::Begin),
        3 => any::<Index>().prop_map(Step::Time),
        5 => (-12..12i64).prop_map(Step::Scroll),
        1 => Just(Step::Scroll(i64::MIN)),
        1 => Just(Step::Scroll(i64::MAX)),
        1 => any::<bool>().prop_map(Step::Filter),
        1 => sieve_model().prop_map(Step::Sieve),
        2 => Just(Step::Last),
        1 => any::<Index>().prop_map(Step::Before),
        1 => (-12..12i64).prop_map(Step::Hasty),
    ]
}

fn is_even(event: &Known) -> bool {
    event.number.is_multiple_of(2)
}

/// A packet may declare a begin after its events, where a clock went back.
#[test]
fn a_table_scrolls_back_to_events_before_their_packet() {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let nothing = FieldClass::structure([]);
    let tick = schema.add_event_type(StreamClassId(0), "tick", nothing);
    let mut trace = MemoryTrace::new(schema);
    let mut stream = trace
        .stream(StreamClassId(0), "channel0_0")
        .unwrap()
        .with_packet_context(FieldValue::fields([("cpu_id", 0)]));
    stream.begin_packet(9_000_000).unwrap();
    for time in [1_000, 2_000_000, 4_000_000] {
        stream.event(tick, time, FieldValue::Struct(Vec::new())).unwrap();
    }
    stream.end_packet(9_000_000).unwrap();
    trace.add(stream).unwrap();
    let traceset = Traceset::from(vec![trace.open().unwrap()]);

    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    let table = EventTable::new(Owner::unique(), 1, |_| ());
    scheduler.submit(table.show(Start::Begin)).unwrap();
    drain(&mut scheduler, 10);
    let first = table.rows()[0].time;
    scheduler.submit(table.scroll(2).unwrap()).unwrap();
    drain(&mut scheduler, 10);
    assert_eq!(table.rows()[0].time.since(first), 3_999_000);
    scheduler.submit(table.scroll(-2).unwrap()).unwrap();
    drain(&mut scheduler, 10);
    assert_eq!(table.rows()[0].time, first);
}

/// Ten events, 100 µs apart.
fn ten_events() -> Traceset {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let tick = schema.add_event_type(StreamClassId(0), "tick", FieldClass::structure([]));
    let mut trace = MemoryTrace::new(schema);
    let stream = trace.stream(StreamClassId(0), "channel0_0").unwrap();
    let mut stream = stream.with_packet_context(FieldValue::fields([("cpu_id", 0)]));
    for number in 0..10 {
        stream.event(tick, 1_000 + number * 100_000, FieldValue::Struct(Vec::new())).unwrap();
    }
    trace.add(stream).unwrap();
    Traceset::from(vec![trace.open().unwrap()])
}

#[test]
fn rows_can_be_held_while_requests_change_the_table() {
    let mut scheduler = Scheduler::new(TracesetContext::new(ten_events()));
    let table = EventTable::new(Owner::unique(), 4, |call| call.delivery_time());
    scheduler.submit(table.show(Start::Begin)).unwrap();
    drain(&mut scheduler, 3);
    let first = table.rows();
    let times: Vec<Timestamp> = first.iter().map(|row| row.content).collect();
    assert_eq!(times.len(), 4);
    // Forward, back, and to another place, an event at a time.
    for turn in 0..3 {
        let held = table.rows();
        let before: Vec<_> = held.iter().cloned().collect();
        let request = match turn {
            0 => table.scroll(3).unwrap(),
            1 => table.scroll(-2).unwrap(),
            _ => table.show(times[2]),
        };
        scheduler.submit(request).unwrap();
        drain(&mut scheduler, 1);
        assert!(held.iter().eq(&before), "a snapshot has changed");
        assert_ne!(*table.rows(), *held);
    }
    assert_eq!(table.rows()[0].content, times[2]);
    assert!(first.iter().map(|row| row.content).eq(times));
}

#[test]
fn a_table_tests_each_event_once_if_none_passes() {
    let traceset = ten_events();
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    let table = EventTable::new(Owner::unique(), 4, |_| ());
    let calls = Rc::new(Cell::new(0));
    let counted = calls.clone();
    table.set_filter(move |_: &EventCall<'_, '_>| {
        counted.set(counted.get() + 1);
        false
    });
    scheduler.submit(table.show_before(&TracesetPosition::end(&traceset))).unwrap();
    drain(&mut scheduler, 3);
    assert!(table.rows().is_empty() && table.has_start() && table.has_end() && !table.is_busy());
    assert_eq!(calls.get(), 10);
}

#[test]
fn a_table_whose_filter_panics_does_not_report_an_end() {
    let traceset = ten_events();
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    let table = EventTable::new(Owner::unique(), 20, |_| ());
    // The filter is called ten times to count events, then again to insert them.
    let calls = Cell::new(0);
    table.set_filter(move |_: &EventCall<'_, '_>| {
        calls.set(calls.get() + 1);
        assert_ne!(calls.get(), 15, "a filter panics");
        true
    });
    scheduler.submit(table.show_before(&TracesetPosition::end(&traceset))).unwrap();
    let served = catch_unwind(AssertUnwindSafe(|| drain(&mut scheduler, 3)));
    assert!(served.is_err());
    drain(&mut scheduler, 3);
    assert!(!table.is_busy());
    assert!(table.rows().is_empty() && !table.has_start());
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn a_table_shows_a_page_of_all_events(
        sample in sample(),
        page in 1..9usize,
        steps in prop::collection::vec(step(), 1..12),
        budget in 1..50u64,
    ) {
        prop_assume!(!sample.events.is_empty());
        let times = sample.times();
        let mut scheduler = Scheduler::new(TracesetContext::new(&sample.traceset));
        let table = EventTable::new(Owner::unique(), page, known);
        let mut all = sample.events.clone();
        // The number of the first row among all events, and the number of rows.
        let mut first = 0;
        let mut count = 0;
        for step in steps {
            match step {
                Step::Filter(on) => {
                    if on {
                        table.set_filter(|call: &EventCall<'_, '_>| is_even(&known(call)));
                    } else {
                        table.clear_filter();
                    }
                    all = sample.events.clone();
                    all.retain(|event| !on || is_even(event));
                    scheduler.submit(table.show(Start::Begin)).unwrap();
                    (first, count) = (0, page.min(all.len()));
                }
                Step::Sieve(model) => {
                    let sieve = model.sieve(&sample.traceset, &times);
                    let passing = (0..sample.events.len())
                        .filter(|at| sieve.passes_known(&sample, *at))
                        .map(|at| sample.events[at]);
                    all = passing.collect();
                    table.set_filter(sieve);
                    scheduler.submit(table.show(Start::Begin)).unwrap();
                    (first, count) = (0, page.min(all.len()));
                }
                Step::Begin => {
                    scheduler.submit(table.show(Start::Begin)).unwrap();
                    (first, count) = (0, page.min(all.len()));
                }
                Step::Last => {
                    let end = TracesetPosition::end(&sample.traceset);
                    scheduler.submit(table.show_before(&end)).unwrap();
                    count = page.min(all.len());
                    first = all.len() - count;
                }
                Step::Before(index) => {
                    let Some(row) = (count > 0).then(|| index.index(count)) else { continue };
                    let position = table.rows()[row].position.clone();
                    scheduler.submit(table.show_before(&position)).unwrap();
                    let before = first + row;
                    count = page.min(before);
                    first = before - count;
                }
                Step::Time(index) => {
                    let time = *index.get(&times);
                    scheduler.submit(table.show(time)).unwrap();
                    first = all.partition_point(|event| event.time < time);
                    count = page.min(all.len() - first);
                }
                Step::Scroll(by) | Step::Hasty(by) => {
                    let request = table.scroll(by);
                    prop_assert_eq!(request.is_none(), by == 0 || count == 0);
                    let Some(request) = request else { continue };
                    scheduler.submit(request).unwrap();
                    if matches!(step, Step::Hasty(_)) {
                        scheduler.service_chunk(Budget::events(1));
                        scheduler.submit(table.show(Start::Begin)).unwrap();
                        (first, count) = (0, page.min(all.len()));
                    } else if by > 0 {
                        let more = (by as usize).min(all.len() - first - count);
                        let end = first + count + more;
                        count = page.min(count + more);
                        first = end - count;
                    } else {
                        let more = (by.unsigned_abs() as usize).min(first);
                        (first, count) = (first - more, page.min(count + more));
                    }
                }
            }
            prop_assert!(table.is_busy());
            drain(&mut scheduler, budget);
            prop_assert!(!table.is_busy());
            let shown: Vec<Known> = table.rows().iter().map(|row| row.content).collect();
            prop_assert_eq!(&shown, &all[first..first + count].to_vec());
            prop_assert!(!table.has_start() || first == 0);
            prop_assert!(!table.has_end() || first + count == all.len());
            for (at, row) in table.rows().iter().enumerate() {
                prop_assert_eq!(table.find(&row.position), Some(at));
                prop_assert_eq!(row.delivery_time, row.content.time);
            }
        }
        // Showing a row's position makes it the first row.
        let last = table.rows().back().cloned();
        if let Some(last) = last {
            scheduler.submit(table.show(&last.position)).unwrap();
            drain(&mut scheduler, budget);
            prop_assert_eq!(table.rows().front().cloned(), Some(last.clone()));
            let at = last.time;
            if let Some(found) = table.find_time(at) {
                prop_assert_eq!(table.rows()[found].time, at);
            }
        }
    }

    #[test]
    fn a_histogram_counts_each_event_once(
        sample in sample(),
        windows in prop::collection::vec(any::<(Index, Index)>(), 1..3),
        columns in 1..20usize,
        shifts in prop::collection::vec(-8..8i64, 0..4),
        filter in prop::option::of(sieve_model()),
        with_state in any::<bool>(),
        trace in prop::option::weighted(0.2, any::<Index>()),
        others in prop::collection::vec(any::<Option<Index>>(), 0..3),
        budget in 1..50u64,
    ) {
        prop_assume!(!sample.events.is_empty());
        let windows: Vec<TimeWindow> =
            windows.into_iter().filter_map(|ends| window(&sample, ends)).collect();
        prop_assume!(!windows.is_empty());
        let mut context = TracesetContext::new(&sample.traceset);
        let digest = with_state.then(|| context.attach(Digest::default()));
        let mut scheduler = Scheduler::new(context);
        let sieve = filter.map(|model| model.sieve(&sample.traceset, &sample.times()));
        let trace = trace.map(|index| index.index(sample.traceset.traces().len()));
        let histogram = Histogram::new(windows[0], columns);
        let mut shown = Vec::new();
        for window in windows {
            shown.push(window);
            // A move by whole columns.
            for by in &shifts {
                let step = window.width().div_ceil(columns as u64);
                let offset = i128::from(*by) * i128::from(step);
                let at = |time: Timestamp| i64::try_from(i128::from(time.as_ns()) + offset).ok();
                let ends = at(window.start()).zip(at(window.end()));
                shown.extend(ends.and_then(|(begin, end)| {
                    TimeWindow::new(Timestamp::from_ns(begin), Timestamp::from_ns(end))
                }));
            }
        }
        for window in shown {
            histogram.show(window);
            let step = histogram.column_width();
            for missing in histogram.missing() {
                let mut request = histogram.request(Owner::unique(), missing);
                if let Some(sieve) = &sieve {
                    request = request.filter(sieve.clone());
                }
                if let Some(trace) = trace {
                    request = request.in_trace(TraceIndex(trace));
                }
                scheduler.submit(request).unwrap();
            }
            for start in &others {
                // Requests that are served together with those of the histogram.
                let mut request = EventsRequest::new(Owner::unique()).max_matches(5);
                if let Some(start) = start {
                    request = request.starting_at(*start.get(&sample.times()));
                }
                if let Some(sieve) = &sieve {
                    request = request.filter(sieve.clone());
                }
                scheduler.submit(request.on_every_event(|_, _| ())).unwrap();
            }
            drain(&mut scheduler, budget);
            prop_assert_eq!(histogram.missing(), vec![]);
            let mut counts = vec![0u64; columns];
            for (number, time) in sample.own_times.iter().enumerate() {
                if sieve.as_ref().is_some_and(|sieve| !sieve.passes_known(&sample, number))
                    || trace.is_some_and(|trace| sample.events[number].trace != trace)
                {
                    continue;
                }
                let at = i128::from(time.as_ns()) - i128::from(window.start().as_ns());
                let column = at.div_euclid(i128::from(step));
                // Nothing is shown after the last representable time.
                if (0..columns as i128).contains(&column) && *time < Timestamp::MAX {
                    counts[column as usize] += 1;
                }
            }
            prop_assert_eq!(histogram.counts(), counts);
        }
        if let Some(digest) = digest {
            // The state is that of all events, also where a filter leaves out some.
            let end = TracesetPosition::end(&sample.traceset);
            let all = EventsRequest::new(Owner::unique()).starting_at(&end);
            let state = Rc::new(Cell::new(None));
            let at_end = state.clone();
            let all = all.before_request(move |call, _| {
                at_end.set(Some(call.extensions[digest].clone()));
            });
            scheduler.submit(all).unwrap();
            drain(&mut scheduler, 50);
            let mut expected = Digest::default();
            sample.events.iter().for_each(|event| expected.add(*event));
            prop_assert_eq!(state.take(), Some(expected));
        }
    }

    #[test]
    fn rows_have_few_segments_and_lose_no_activity(
        changes in prop::collection::vec((0..4i64, prop::option::of(0..4u8)), 0..200),
        resolution in 1..40u64,
    ) {
        let window = TimeWindow::new(Timestamp::from_ns(0), Timestamp::from_ns(400)).unwrap();
        let mut timeline: Timeline<(), Level> = Timeline::new(window, resolution);
        let mut now = 0;
        let mut states = vec![None; 400];
        for (by, state) in changes {
            now = (now + by).min(399);
            let state = state.map(Level);
            states[now as usize..].fill(state);
            let time = Timestamp::from_ns(now);
            match state {
                Some(state) => timeline.set((), time, state),
                None => timeline.end(&(), time),
            }
        }
        timeline.know(window.end());
        let Some(row) = timeline.row(&()) else { return Ok(()) };
        let segments: Vec<_> = row.segments().collect();
        let column = |time: Timestamp| time.as_ns() as u64 / resolution;
        prop_assert!(segments.windows(3).all(|s| column(s[0].start) < column(s[2].start)));
        prop_assert!(segments.iter().all(|s| s.start < s.end));
        prop_assert!(segments.windows(2).all(|pair| pair[0].end <= pair[1].start));
        let mut drawn = vec![None; 400];
        for segment in &segments {
            let span = segment.start.as_ns() as usize..segment.end.as_ns() as usize;
            drawn[span.clone()].fill(Some(segment.state));
            let of = |level: &Level| states[span.clone()].iter().flatten().filter(|s| *s == level).count();
            let active = [Level(2), Level(3)].map(|level| of(&level));
            prop_assert_eq!(segment.active, (active[0] + active[1]) as u64);
            let likes = match segment.active {
                0 => [Level(0), Level(1)],
                _ => [Level(2), Level(3)],
            };
            let most = likes.iter().map(of).max();
            prop_assert_eq!(Some(of(&segment.state)), most, "{:?}", segment);
            if !segment.crowded {
                prop_assert_eq!(&drawn[span.clone()], &states[span]);
            }
        }
        let shown = drawn.iter().zip(&states).all(|(drawn, state)| state.is_none() || drawn.is_some());
        prop_assert!(shown, "nothing is left out");
        prop_assert_eq!(row.is_active(), segments.iter().any(|segment| segment.active > 0));
        if resolution == 1 {
            prop_assert_eq!(drawn, states);
        }
    }
}

/// Levels from 2 on are active.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Level(u8);

impl SegmentState for Level {
    fn is_active(self) -> bool {
        self.0 >= 2
    }
}

#[test]
fn rows_have_the_times_of_the_events_where_a_clock_goes_back() {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let tick = schema.add_event_type(StreamClassId(0), "tick", FieldClass::structure([]));
    let mut trace = MemoryTrace::new(schema);
    let stream = trace.stream(StreamClassId(0), "channel0_0").unwrap();
    let mut stream = stream.with_packet_context(FieldValue::fields([("cpu_id", 0)]));
    let recorded = [1_000, 5_000, 2_000, 3_000, 9_000];
    stream.begin_packet(1_000).unwrap();
    for time in recorded {
        stream.event(tick, time, FieldValue::Struct(Vec::new())).unwrap();
    }
    stream.end_packet(9_000).unwrap();
    trace.add(stream).unwrap();
    let traceset = Traceset::from(vec![trace.open().unwrap()]);
    let mut scheduler = Scheduler::new(TracesetContext::new(traceset));
    let table = EventTable::new(Owner::unique(), 5, |call| call.event.timestamp());
    scheduler.submit(table.show(Start::Begin)).unwrap();
    drain(&mut scheduler, 10);
    let rows = table.rows();
    let origin = rows[0].time.as_ns() - 1_000;
    let times = |of: fn(&TableRow<_>) -> Timestamp| -> Vec<i64> {
        rows.iter().map(|row| of(row).as_ns() - origin).collect()
    };
    assert_eq!(times(|row| row.time), recorded.map(|time| time as i64));
    assert_eq!(times(|row| row.delivery_time), [1_000, 5_000, 5_000, 5_000, 9_000]);
    assert!(rows.iter().all(|row| row.content == Some(row.time)));
    // Places are found by the order of rows.
    assert_eq!(rows.iter().position(|row| row.delivery_time >= rows[1].time), Some(1));
    assert_eq!(table.find_time(Timestamp::from_ns(origin + 6_000)), Some(4));
}
