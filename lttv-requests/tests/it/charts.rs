//! Charts of kernel state, compared with the whole state after each event.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::hash::Hash;

use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{Bounds, Handle, Subscription, Traceset, TracesetContext};
use lttv_requests::views::{
    ControlFlow, ProcessKey, ProcessState, Resource, ResourceKey, ResourceState, Resources, Row,
    Segment, SegmentState, SoftirqMode, TimeWindow, Timeline,
};
use lttv_requests::{Budget, Owner, Scheduler};
use lttv_state::kernel::{IrqMode, KernelState, SourceKind};

const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");

fn context<'h>() -> (TracesetContext<'h>, Handle<KernelState>) {
    // The same trace twice: rows of different traces must not be mixed up.
    let mut traceset = Traceset::open(KERNEL).unwrap();
    traceset.add(traceset.traces()[0].clone());
    let mut context = TracesetContext::new(traceset);
    let state = context.attach(KernelState::new());
    (context, state)
}

/// The whole trace, and a part from its middle.
fn windows() -> [TimeWindow; 2] {
    let mut context = context().0;
    let span = context.contexts().time_span().unwrap();
    // The first packet begins long before the first event.
    let first = context.position().time().unwrap();
    let all = TimeWindow::new(first, TimeWindow::covering(span).end()).unwrap();
    let at = |part: u64| {
        Timestamp::from_ns(all.start().as_ns().saturating_add_unsigned(all.width() / 10 * part))
    };
    [all, TimeWindow::new(at(3), at(6)).unwrap()]
}

/// The time of each change of state by key; `None` for its end.
type History<K, S> = HashMap<K, BTreeMap<Timestamp, Option<S>>>;

/// Records all states after each event of a window.
fn history<K, S>(window: TimeWindow, all: fn(&KernelState) -> HashMap<K, S>) -> History<K, S>
where
    K: Copy + Eq + Hash,
    S: Copy + PartialEq,
{
    let history: RefCell<History<K, S>> = RefCell::default();
    let look = |time: Timestamp, state: &KernelState| {
        let now = all(state);
        let mut history = history.borrow_mut();
        for key in now.keys() {
            history.entry(*key).or_default();
        }
        for (key, times) in history.iter_mut() {
            times.insert(time, now.get(key).copied());
        }
    };
    let (mut context, state) = context();
    context.state().seek_time(window.start());
    look(window.start(), &context.extensions()[state]);
    context.on_event(Subscription::to_every_event(), |call| {
        let machine = &call.extensions[state];
        if machine.transition(call.trace.index(), call.event.type_id()).is_some() {
            look(call.delivery_time(), machine);
        }
    });
    _ = context.read(&Bounds::all().until(window.end())).unwrap();
    drop(context);
    history.into_inner()
}

/// The segments that a history corresponds to.
fn segments<S: SegmentState>(
    times: &BTreeMap<Timestamp, Option<S>>,
    end: Timestamp,
) -> Vec<Segment<S>> {
    let mut segments: Vec<Segment<S>> = Vec::new();
    let ends = times.keys().skip(1).copied().chain([end]);
    for ((begin, state), end) in times.iter().zip(ends) {
        let Some(state) = *state else { continue };
        match segments.last_mut() {
            Some(last) if last.end == *begin && last.state == state => last.end = end,
            _ => segments.push(Segment { start: *begin, end, state, active: 0, crowded: false }),
        }
    }
    segments.retain(|segment| segment.start < segment.end);
    for segment in segments.iter_mut().filter(|segment| segment.state.is_active()) {
        segment.active = segment.length();
    }
    segments
}

fn drawn<K, S: SegmentState>(row: &Row<K, S>) -> Vec<Segment<S>> {
    row.segments().map(|segment| Segment { crowded: false, ..segment }).collect()
}

/// With a resolution of 1 ns, nothing is left out.
fn check_fine<K, S>(timeline: &Timeline<K, S>, history: &History<K, S>)
where
    K: Copy + Eq + Hash + Debug,
    S: SegmentState + Debug,
{
    let end = timeline.window().end();
    assert_eq!(timeline.known_until(), end);
    for (key, times) in history {
        let expected = segments(times, end);
        let found = timeline.row(key).map(drawn).unwrap_or_default();
        assert_eq!(found, expected, "{key:?}");
    }
    assert!(timeline.rows().iter().all(|row| history.contains_key(row.key())));
}

/// With columns, at most two segments begin in each. The drawn state is exact wherever a
/// column contains no change, and no activity is lost, however short it was.
fn check_coarse<K, S>(timeline: &Timeline<K, S>, history: &History<K, S>)
where
    K: Copy + Eq + Hash + Debug,
    S: SegmentState + Debug,
{
    let (window, resolution) = (timeline.window(), timeline.resolution());
    let column = |time: Timestamp| time.as_ns().abs_diff(window.start().as_ns()) / resolution;
    for row in timeline.rows() {
        let drawn = drawn(row);
        let true_ones = segments(&history[row.key()], window.end());
        let begins: Vec<u64> = drawn.iter().map(|segment| column(segment.start)).collect();
        assert!(begins.is_sorted());
        assert!(begins.windows(3).all(|three| three[0] < three[2]), "{begins:?}");
        for segment in &drawn {
            let inside = |of: &Segment<S>| {
                let (begin, end) = (of.start.max(segment.start), of.end.min(segment.end));
                (of.active > 0 && begin < end).then(|| end.as_ns().abs_diff(begin.as_ns()))
            };
            let active: u64 = true_ones.iter().filter_map(inside).sum();
            assert_eq!(segment.active, active, "{:?} {segment:?}", row.key());
            assert_eq!(segment.state.is_active(), active > 0, "{:?} {segment:?}", row.key());
        }
        let active = |all: &[Segment<S>]| all.iter().map(|s| s.active).sum::<u64>();
        assert_eq!(active(&drawn), active(&true_ones), "{:?}", row.key());
        assert_eq!(row.is_active(), active(&true_ones) > 0);
        assert!(drawn.windows(2).all(|pair| pair[0].end <= pair[1].start));
        for long in true_ones.iter().filter(|s| column(s.start) + 1 < column(s.end)) {
            // Its last part is after the column in which it began.
            let inside = Timestamp::from_ns(long.end.as_ns() - 1);
            let at = drawn.iter().find(|s| s.start <= inside && inside < s.end);
            assert_eq!(at.map(|s| s.state), Some(long.state), "{:?} {long:?}", row.key());
        }
    }
}

fn processes(state: &KernelState) -> HashMap<ProcessKey, ProcessState> {
    let mut all = HashMap::new();
    for (trace, machine) in state.traces().enumerate() {
        for (_, process) in machine.processes() {
            let key = ProcessKey { trace: TraceIndex(trace), serial: process.serial() };
            all.insert(key, ProcessState::of(process));
        }
    }
    all
}

fn resources(state: &KernelState) -> HashMap<ResourceKey, ResourceState> {
    let mut all = HashMap::new();
    for (trace, machine) in state.traces().enumerate() {
        let mut put =
            |resource, state| all.insert(ResourceKey { trace: TraceIndex(trace), resource }, state);
        for (number, _) in machine.cpus() {
            put(Resource::Cpu(number), ResourceState::Cpu(machine.cpu_mode(number)));
        }
        for device in machine.devices() {
            put(Resource::Block(device.number()), ResourceState::Block(device.mode()));
        }
        for kind in SourceKind::ALL {
            for (number, _) in (0..).zip(machine.sources(kind)) {
                let state = ResourceState::of_source(machine, kind, number).unwrap();
                let unknown = [
                    ResourceState::Irq(IrqMode::Unknown),
                    ResourceState::Trap(IrqMode::Unknown),
                    ResourceState::Softirq(SoftirqMode::Unknown),
                ];
                if !unknown.contains(&state) {
                    put(Resource::Source(kind, number), state);
                }
            }
        }
    }
    all
}

#[test]
fn control_flow_matches_the_kernel_state() {
    for window in windows() {
        let history = history(window, processes);
        for resolution in [1, window.width() / 50, window.width() / 3000] {
            let (context, state) = context();
            let mut scheduler = Scheduler::new(context);
            let view = ControlFlow::new(window, resolution);
            scheduler.submit(view.request(Owner::unique(), state)).unwrap();
            let mut known = window.start();
            while scheduler.service_chunk(Budget::events(700)).has_more() {
                assert!(view.timeline().known_until() >= known);
                known = view.timeline().known_until();
            }
            assert!(view.timeline().rows().len() > 5);
            assert_eq!(view.timeline().rows().len(), view.labels().len());
            assert_eq!(view.order().len(), view.labels().len());
            match resolution {
                1 => check_fine(&view.timeline(), &history),
                _ => check_coarse(&view.timeline(), &history),
            }
        }
    }
}

#[test]
fn charts_can_be_held_while_requests_change_them() {
    let [all, part] = windows();
    let (context, state) = context();
    let mut scheduler = Scheduler::new(context);
    let view = ControlFlow::new(all, 1);
    scheduler.submit(view.request(Owner::unique(), state)).unwrap();
    let empty = (view.timeline(), view.labels());
    scheduler.service_chunk(Budget::events(700));
    let held = (view.timeline(), view.labels());
    let (known, rows) = (held.0.known_until(), held.0.rows().len());
    while scheduler.service_chunk(Budget::events(700)).has_more() {}
    assert!(empty.0.rows().is_empty() && empty.1.is_empty());
    assert_eq!((held.0.known_until(), held.0.rows().len()), (known, rows));
    assert_eq!((held.0.rows().len(), view.timeline().known_until()), (held.1.len(), all.end()));
    let full = view.timeline();
    view.show(part, 1);
    scheduler.submit(view.request(Owner::unique(), state)).unwrap();
    while scheduler.service_chunk(Budget::events(700)).has_more() {}
    check_fine(&full, &history(all, processes));
    check_fine(&view.timeline(), &history(part, processes));
}

#[test]
fn resources_match_the_kernel_state() {
    for window in windows() {
        let history = history(window, resources);
        for resolution in [1, window.width() / 50, window.width() / 3000] {
            let (context, state) = context();
            let mut scheduler = Scheduler::new(context);
            let view = Resources::new(window, resolution);
            scheduler.submit(view.request(Owner::unique(), state)).unwrap();
            while scheduler.service_chunk(Budget::events(700)).has_more() {}
            assert!(view.timeline().rows().len() > 10);
            assert_eq!(view.timeline().rows().len(), view.labels().len());
            match resolution {
                1 => check_fine(&view.timeline(), &history),
                _ => check_coarse(&view.timeline(), &history),
            }
        }
    }
}

#[test]
fn another_window_stops_previous_requests() {
    let [all, part] = windows();
    let (context, state) = context();
    let mut scheduler = Scheduler::new(context);
    let view = ControlFlow::new(all, 1);
    scheduler.submit(view.request(Owner::unique(), state)).unwrap();
    scheduler.service_chunk(Budget::events(500));
    view.show(part, 1);
    scheduler.submit(view.request(Owner::unique(), state)).unwrap();
    let mut read = 0;
    loop {
        let chunk = scheduler.service_chunk(Budget::events(100));
        read += chunk.read;
        if !chunk.has_more() {
            break;
        }
    }
    assert!(read < 2 * 6087 * 2 / 3);
    check_fine(&view.timeline(), &history(part, processes));
}

/// Returns the segments of a timeline from a time on.
fn shown<K, S>(timeline: &Timeline<K, S>, from: Timestamp) -> HashMap<K, Vec<Segment<S>>>
where
    K: Copy + Eq + Hash,
    S: SegmentState,
{
    let rows = timeline.rows().iter().map(|row| {
        let mut segments = drawn(row);
        segments.retain(|segment| segment.end > from);
        segments.iter_mut().for_each(|segment| segment.start = segment.start.max(from));
        (*row.key(), segments)
    });
    rows.filter(|(_, segments)| !segments.is_empty()).collect()
}

#[test]
fn scrolling_reads_only_the_new_part() {
    let [all, _] = windows();
    for resolution in [1, all.width() / 500] {
        let step = all.width() / 10 / resolution * resolution;
        let at = |steps: u64| {
            let begin = all.start().as_ns().saturating_add_unsigned(step * steps);
            let at = |offset| Timestamp::from_ns(begin.saturating_add_unsigned(offset));
            TimeWindow::new(at(0), at(4 * step)).unwrap()
        };
        let (context, state) = context();
        let mut scheduler = Scheduler::new(context);
        let processes = ControlFlow::new(at(2), resolution);
        let resources = Resources::new(at(2), resolution);
        let fill = |scheduler: &mut Scheduler<'_>, calls: usize| {
            scheduler.submit(processes.request(Owner::unique(), state)).unwrap();
            scheduler.submit(resources.request(Owner::unique(), state)).unwrap();
            let chunks = (0..calls).map(|_| scheduler.service_chunk(Budget::events(200)));
            chunks.map(|chunk| chunk.read).sum::<u64>()
        };
        let all_calls = 100;
        fill(&mut scheduler, all_calls);
        // Forward, back, back a little, forward before that is complete, and zoomed out.
        for (to, calls) in [(5, 100), (3, 100), (2, 1), (3, 100), (2, 100), (6, 1), (5, 100)] {
            let to = at(to);
            processes.show(to, resolution);
            resources.show(to, resolution);
            let missing = processes.missing();
            assert_eq!(resources.missing(), missing);
            let read = fill(&mut scheduler, calls);
            if calls < all_calls {
                continue;
            }
            let fresh = (ControlFlow::new(to, resolution), Resources::new(to, resolution));
            scheduler.submit(fresh.0.request(Owner::unique(), state)).unwrap();
            scheduler.submit(fresh.1.request(Owner::unique(), state)).unwrap();
            let chunks = (0..all_calls).map(|_| scheduler.service_chunk(Budget::events(200)));
            let read_afresh: u64 = chunks.map(|chunk| chunk.read).sum();
            let is_scrolled = missing.is_none_or(|m| m.width() < to.width());
            assert_eq!(read < read_afresh, is_scrolled, "{read} and {read_afresh} of {to:?}");
            assert_eq!(processes.missing(), None);
            // A state from before the window is required to know the changes within its
            // first column.
            let from = Timestamp::from_ns(to.start().as_ns().saturating_add_unsigned(resolution));
            assert_eq!(shown(&processes.timeline(), from), shown(&fresh.0.timeline(), from));
            assert_eq!(shown(&resources.timeline(), from), shown(&fresh.1.timeline(), from));
            assert_eq!(processes.timeline().rows().len(), processes.labels().len());
            for (label, row) in processes.labels().iter().zip(processes.timeline().rows()) {
                let others = fresh.0.timeline();
                let same = others.rows().iter().position(|other| other.key() == row.key());
                let tid = same.map(|at| fresh.0.labels()[at].tid);
                assert!(tid.is_none_or(|tid| tid == label.tid));
            }
        }
    }
}
