//! Laws of wait graphs and critical paths, on simulated machines, on hostile events and on real
//! traces.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::analysis::{attach, read};
use lttv_state::kernel::KernelState;
use lttv_state::stats::StatisticsAnalysis;
use lttv_state::waits::{
    CriticalPath, Interval, LinkKind, SegmentKind, ThreadState, TimelineId, WaitAnalysis, WaitGraph,
};
use proptest::prelude::*;

use crate::support;
use crate::support::scheduling::{Content, KernelEvent, Machine, trace};

fn graph_of(traceset: &Traceset) -> WaitGraph {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let waits = attach(&mut context, kernel, .., WaitAnalysis::new());
    _ = context.read(&Bounds::all()).expect("bounds without a position");
    waits.take(context.extensions_mut())
}

fn graph_of_events(machine: Machine<'_>, events: &[KernelEvent]) -> WaitGraph {
    graph_of(&Traceset::from_iter([trace(machine, events)]))
}

fn ns(time: i64) -> Timestamp {
    Timestamp::from_ns(time)
}

/// A machine that is simulated: its events follow each other as those of a kernel do.
#[derive(Debug, Default)]
struct Simulation {
    time: i64,
    /// The thread that runs on each CPU; 0 if it idles.
    cpus: Vec<i64>,
    /// The time of the last switch of each CPU.
    switched: Vec<i64>,
    /// The threads that wait for a CPU, and since when they do.
    ready: Vec<(i64, i64)>,
    /// The threads that are blocked, and since when they are.
    blocked: Vec<(i64, i64)>,
    next_tid: i64,
    has_dumps: bool,
    events: Vec<KernelEvent>,
}

type Step = (u8, u8, u8, u8);

impl Simulation {
    fn of(cpus: usize, steps: &[Step]) -> Self {
        Simulation { cpus: vec![0; cpus], ..Self::default() }.after(steps)
    }

    /// Starts with a thread on each second CPU, and dumps the states of threads.
    fn with_dumps(cpus: usize, steps: &[Step]) -> Self {
        let on_cpu = |cpu| if cpu % 2 == 0 { cpu + 6 } else { 0 };
        let cpus = (0..cpus as i64).map(on_cpu).collect();
        Simulation { cpus, has_dumps: true, ..Self::default() }.after(steps)
    }

    fn after(self, steps: &[Step]) -> Self {
        let switched = vec![0; self.cpus.len()];
        let mut of = Simulation { time: 100, switched, next_tid: 10, ..self };
        of.ready = (1..=3).map(|tid| (tid, 0)).collect();
        of.blocked = vec![(4, 0), (5, 0)];
        for step in steps {
            of.step(*step);
        }
        of
    }

    fn push(&mut self, cpu: usize, name: &str, fields: &[(&str, i64)]) {
        self.events.push(KernelEvent::new(self.time, cpu as u32, name, fields));
    }

    /// Switches to a thread that is ready, or to the idle task.
    fn switch(&mut self, cpu: usize, state: i64) {
        // A thread takes some time to run, and from one CPU to another.
        if std::mem::replace(&mut self.switched[cpu], self.time) == self.time {
            return;
        }
        let next = self.ready.iter().position(|(_, since)| *since < self.time);
        let next = next.map_or(0, |at| self.ready.remove(at).0);
        let from = std::mem::replace(&mut self.cpus[cpu], next);
        if from != next {
            let event = KernelEvent::switch(self.time, cpu as u32, from, state, next);
            self.events.push(event);
        }
        match (from, state) {
            (0, _) => {}
            (_, 0) => self.ready.push((from, self.time)),
            (_, 1) => self.blocked.push((from, self.time)),
            _ => {}
        }
    }

    fn wake(&mut self, cpu: usize, which: u8) {
        if self.blocked.is_empty() {
            return;
        }
        let (woken, since) = self.blocked.remove(usize::from(which) % self.blocked.len());
        self.events.push(KernelEvent::waking(self.time, cpu as u32, woken));
        // It may run on another CPU at this very time, unless it was switched out only now.
        self.ready.push((woken, since.max(self.time - 1)));
    }

    fn step(&mut self, (kind, cpu, which, later): Step) {
        self.time += i64::from(later % 4);
        let cpu = usize::from(cpu) % self.cpus.len();
        let is_idle = self.cpus[cpu] == 0;
        match kind % (9 + u8::from(self.has_dumps)) {
            0 if !is_idle => self.switch(cpu, 1),
            1 if !is_idle => self.switch(cpu, 0),
            2 if is_idle => self.switch(cpu, 0),
            3 if !is_idle => self.wake(cpu, which),
            4 => {
                self.push(cpu, "irq_handler_entry", &[("irq", 7)]);
                self.wake(cpu, which);
                self.push(cpu, "irq_handler_exit", &[("irq", 7)]);
            }
            5 => {
                let vec = i64::from(which % 10);
                self.push(cpu, "softirq_entry", &[("vec", vec)]);
                self.wake(cpu, which);
                self.push(cpu, "softirq_exit", &[("vec", vec)]);
            }
            6 if !is_idle => {
                self.push(cpu, "softirq_raise", &[("vec", 3)]);
                self.push(cpu, "softirq_entry", &[("vec", 3)]);
                self.wake(cpu, which);
                self.push(cpu, "softirq_exit", &[("vec", 3)]);
            }
            7 if !is_idle && self.next_tid < 40 => {
                let child = self.next_tid;
                self.next_tid += 1;
                let fields = [("parent_tid", self.cpus[cpu]), ("child_tid", child)];
                self.push(cpu, "sched_process_fork", &fields);
                self.push(cpu, "sched_wakeup_new", &[("tid", child), ("target_cpu", 0)]);
                self.ready.push((child, self.time - 1));
            }
            8 if !is_idle && which > 200 => self.switch(cpu, 0x20),
            9 => {
                // What a dump tells may be older than the switch before it.
                let (tid, status) = (i64::from(which % 16), if which < 128 { 2 } else { 5 });
                self.push(
                    cpu,
                    "lttng_statedump_process_state",
                    &[("tid", tid), ("status", status)],
                );
            }
            _ => {}
        }
    }
}

fn steps(count: Range<usize>) -> impl Strategy<Value = (usize, Vec<Step>)> {
    (1..5_usize, proptest::collection::vec(any::<Step>(), count))
}

/// Checks that the segments cover the window exactly, each instant once.
fn assert_partition(path: &CriticalPath, window: &Range<Timestamp>) {
    let mut at = window.start;
    for segment in path.segments() {
        assert_eq!(segment.start, at, "{path:?}");
        assert!(segment.end > segment.start, "{path:?}");
        at = segment.end;
    }
    assert_eq!(at, window.end.max(window.start), "{path:?}");
}

/// Checks that timelines are contiguous, and that their sums fit the window.
fn assert_timelines(graph: &WaitGraph, window: &Range<Timestamp>) {
    let length = window.end.as_ns().abs_diff(window.start.as_ns());
    let mut on_cpus: BTreeMap<u32, u64> = BTreeMap::new();
    for (id, timeline) in graph.timelines() {
        let mut at = window.start;
        for interval in graph.intervals(id, window.clone()) {
            assert!(at <= interval.start && interval.start < interval.end, "{timeline:?}");
            at = interval.end;
            if let Some(cpu) = interval.cpu {
                *on_cpus.entry(cpu).or_default() += interval.time();
            }
        }
        assert!(at <= window.end);
        let times = graph.times(id, window.clone());
        assert!(times.total() <= length, "{timeline:?}");
        let blockers = graph.blockers(id, window.clone());
        let blocked: u64 = blockers.iter().map(|blocker| blocker.times.total()).sum();
        assert_eq!(blocked, times.blocked());
    }
    for (cpu, running) in on_cpus {
        assert!(running <= length, "CPU {cpu} ran for {running} of {length} ns");
    }
}

/// Computes the content of a path at a time, for this time alone, by the definition.
fn at_time(
    graph: &WaitGraph,
    id: TimelineId,
    window: Range<i64>,
    time: i64,
) -> (TimelineId, SegmentKind) {
    let unknown = (id, SegmentKind::Thread(ThreadState::Unknown));
    let timeline = graph.timeline(id).expect("a timeline");
    if timeline.is_idle() {
        return unknown;
    }
    let starts_after = timeline.covers().is_none_or(|covers| covers.start.as_ns() > window.start);
    if let Some(parent) = timeline.parent()
        && starts_after
        && time < timeline.start().as_ns()
    {
        let end = timeline.start().as_ns().min(window.end);
        return at_time(graph, parent, window.start..end, time);
    }
    let mut all = graph.intervals(id, ns(i64::MIN)..ns(i64::MAX));
    let contains = |of: &Interval| of.start.as_ns() <= time && time < of.end.as_ns();
    let Some(interval) = all.find(contains) else { return unknown };
    let start = interval.start.as_ns().max(window.start);
    // Before the fork there was only the parent, even if a broken trace says otherwise.
    let start = match timeline.parent() {
        Some(_) if starts_after => start.max(timeline.start().as_ns()),
        _ => start,
    };
    let end = interval.end.as_ns().min(window.end);
    match interval.link {
        Some(link) if link.time.as_ns() > start => {
            let left = link.time.as_ns().min(end);
            match time < left {
                true => at_time(graph, link.from, start..left, time),
                false => (id, SegmentKind::Packet),
            }
        }
        Some(link) if link.kind == LinkKind::Network => (id, SegmentKind::Packet),
        _ => (id, SegmentKind::Thread(interval.state)),
    }
}

/// Returns sums that do not depend on the numbers of timelines: by thread id and kind.
fn sums(graph: &WaitGraph, window: &Range<Timestamp>) -> BTreeMap<(i32, i32, &'static str), u64> {
    let mut sums = BTreeMap::new();
    for (id, timeline) in graph.timelines().filter(|(_, timeline)| !timeline.is_idle()) {
        for (state, times) in graph.times(id, window.clone()).all() {
            *sums.entry((timeline.tid(), -1, state.label())).or_default() += times.total();
        }
        for share in graph.critical_path(id, window.clone()).shares() {
            let thread = graph.timeline(share.thread).expect("a timeline");
            // The idle tasks are on no path of a sound trace.
            let key = (timeline.tid(), thread.tid(), share.kind.label());
            *sums.entry(key).or_default() += share.times.total();
        }
    }
    sums
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// A path is what its definition says, at each instant.
    #[test]
    fn paths_follow_their_definition(
        (cpus, steps) in steps(5..120),
        bounds in proptest::collection::vec((0.0..1.0, 0.0..1.0), 4),
    ) {
        let events = Simulation::of(cpus, &steps).events;
        prop_assume!(!events.is_empty());
        let graph = graph_of_events(Machine::default(), &events);
        let (begin, end) = (graph.begin().as_ns(), graph.end().as_ns());
        let place = |part: f64| begin + ((end - begin) as f64 * part) as i64;
        for (a, b) in bounds {
            let window = place(f64::min(a, b))..place(f64::max(a, b));
            let times = ns(window.start)..ns(window.end);
            assert_timelines(&graph, &times);
            for (id, _) in graph.timelines() {
                let path = graph.critical_path(id, times.clone());
                assert_partition(&path, &times);
                for segment in path.segments() {
                    for time in segment.start.as_ns()..segment.end.as_ns() {
                        let expected = at_time(&graph, id, window.clone(), time);
                        prop_assert_eq!((segment.thread, segment.kind), expected, "at {}", time);
                    }
                }
            }
        }
    }

    /// The path of a window is that of its parts, if the thread does not wait at the border.
    #[test]
    fn paths_add_up_where_the_thread_can_run((cpus, steps) in steps(5..120), part in 0.0..1.0) {
        let events = Simulation::of(cpus, &steps).events;
        prop_assume!(!events.is_empty());
        let graph = graph_of_events(Machine::default(), &events);
        let window = graph.begin()..graph.end();
        let length = window.end.as_ns() - window.start.as_ns();
        let border = window.start.saturating_add((length as f64 * part) as u64);
        for (id, _) in graph.timelines() {
            let mut at_border = graph.intervals(id, border..border.saturating_add(1));
            let can_run = at_border.next().is_some_and(|interval| matches!(
                interval.state,
                ThreadState::Running | ThreadState::Preempted | ThreadState::Woken
            ));
            if !can_run {
                continue;
            }
            let kinds = |window: Range<Timestamp>| {
                let mut sums = BTreeMap::new();
                for share in graph.critical_path(id, window).shares() {
                    *sums.entry((share.thread, share.kind)).or_insert(0) += share.times.total();
                }
                sums
            };
            let mut parts = kinds(window.start..border);
            for (key, time) in kinds(border..window.end) {
                *parts.entry(key).or_default() += time;
            }
            prop_assert_eq!(parts, kinds(window.clone()));
        }
    }

    /// Events of one time on different CPUs may come in any order.
    #[test]
    fn the_order_of_cpus_changes_no_sum((cpus, steps) in steps(5..200)) {
        let events = Simulation::of(cpus, &steps).events;
        prop_assume!(!events.is_empty());
        let graph = graph_of_events(Machine::default(), &events);
        let mut reversed = events.clone();
        reversed.iter_mut().for_each(|event| event.cpu = cpus as u32 - 1 - event.cpu);
        let other = graph_of_events(Machine::default(), &reversed);
        let window = graph.begin()..graph.end();
        prop_assert_eq!(sums(&graph, &window), sums(&other, &window));
    }

    /// The graph and the statistics count the same time for each thread.
    #[test]
    fn cpu_times_are_those_of_the_statistics((cpus, steps) in steps(5..200)) {
        let events = Simulation::with_dumps(cpus, &steps).events;
        prop_assume!(!events.is_empty());
        assert_cpu_times(&Traceset::from_iter([trace(Machine::default(), &events)]));
    }

    /// The time in which threads wait is the same as well. (A thread that a dump finds able to run may run: the graph takes
    /// that for unknown.)
    #[test]
    fn times_are_those_of_the_statistics((cpus, steps) in steps(5..200)) {
        let mut events = Simulation::with_dumps(cpus, &steps).events;
        let is_able = |(name, value): &(String, Content)| name == "status" && *value == Content::Number(2);
        events.retain(|event| !event.fields.iter().any(is_able));
        prop_assume!(events.iter().any(|event| event.name == "sched_switch"));
        // The order of CPUs decides that of events at one time.
        (0..).zip(&mut events).for_each(|(at, event)| event.time = 100 + 3 * at);
        assert_times(&Traceset::from_iter([trace(Machine::default(), &events)]));
    }

    /// Whatever the events say, sums fit the window and paths cover it.
    #[test]
    fn hostile_events_keep_the_laws(
        events in proptest::collection::vec((0..16_u8, 0..3_u32, any::<u8>(), any::<u8>(), 0..3_u8), 1..300),
        packet in 256..4096_u64,
        discards_before in proptest::option::of(0..6_u64),
    ) {
        let mut time = 10;
        let events: Vec<_> = events.into_iter().map(|(kind, cpu, a, b, later)| {
            time += i64::from(later);
            let (tid, other) = (hostile_id(a), hostile_id(b));
            let one = |name: &str, field| KernelEvent::new(time, cpu, name, &[(field, tid)]);
            match kind {
                0..=4 => KernelEvent::switch(time, cpu, tid, [0, 1, 2, 0x20, 0x100][usize::from(kind)], other),
                5 | 6 => KernelEvent::waking(time, cpu, tid),
                7 => KernelEvent::new(time, cpu, "sched_process_fork", &[("parent_tid", other), ("child_tid", tid)]),
                8 => one("sched_wakeup_new", "tid"),
                9 => one("irq_handler_entry", "irq"),
                10 => one("irq_handler_exit", "irq"),
                11 => one("softirq_entry", "vec"),
                12 => one("softirq_exit", "vec"),
                13 => one("softirq_raise", "vec"),
                14 => KernelEvent::new(time, cpu, "inet_sock_local_out", &[("seq", tid % 5), ("ack_seq", 0), ("flags", 0)]),
                _ => KernelEvent::new(time, cpu, "inet_sock_local_in", &[("seq", tid % 5), ("ack_seq", 0), ("flags", 0)]),
            }
        }).collect();
        let machine = Machine { packet, discards_before, ..Machine::default() };
        let graph = graph_of_events(machine, &events);
        let whole = graph.begin()..graph.end();
        let (begin, length) = (whole.start.as_ns(), whole.end.as_ns() - whole.start.as_ns());
        for window in [whole.clone(), ns(begin + length / 3)..ns(begin + length / 2), ns(0)..ns(2 * time)] {
            assert_timelines(&graph, &window);
            for (id, _) in graph.timelines() {
                assert_partition(&graph.critical_path(id, window.clone()), &window);
            }
        }
    }
}

/// The times of a thread: running, ready and blocked, in ns.
type Times = [u64; 3];

/// Checks that each thread has the same CPU time in the graph and in the statistics.
fn assert_cpu_times(traceset: &Traceset) {
    let [graph, statistics] = times_of(traceset).map(|all| -> BTreeMap<i32, u64> {
        let running = all.into_iter().map(|(tid, times)| (tid, times[0]));
        running.filter(|(_, time)| *time > 0).collect()
    });
    assert_eq!(graph, statistics);
}

/// Checks that each thread has the same times in the graph and in the statistics, which know a thread since the first
/// event that names it.
fn assert_times(traceset: &Traceset) {
    let [graph, statistics] = times_of(traceset);
    assert_eq!(graph, statistics);
}

/// Returns the times of threads, by id, in the graph and in the statistics.
fn times_of(traceset: &Traceset) -> [BTreeMap<i32, Times>; 2] {
    let graph = graph_of(traceset);
    let mut of_graph: BTreeMap<i32, Times> = BTreeMap::new();
    for (id, timeline) in graph.timelines() {
        let times = graph.times(id, graph.begin()..graph.end());
        let running = times.of(ThreadState::Running).total();
        let all = match timeline.is_idle() {
            true => [running, 0, 0],
            false => [running, times.ready(), times.blocked() - times.asleep()],
        };
        add(&mut of_graph, timeline.tid(), all);
    }
    let statistics = read(traceset).run(StatisticsAnalysis::new()).output;
    let mut of_statistics: BTreeMap<i32, Times> = BTreeMap::new();
    for trace in statistics.traces() {
        for sum in trace.processes() {
            let facts = &trace.process_facts()[sum.process.index()];
            if let Some(tid) = facts.tid {
                let all = [sum.cpu_time, facts.ready_time, facts.blocked_time];
                add(&mut of_statistics, tid, all);
            }
        }
    }
    of_graph.retain(|_, times| *times != [0; 3]);
    of_statistics.retain(|_, times| *times != [0; 3]);
    [of_graph, of_statistics]
}

fn add(all: &mut BTreeMap<i32, Times>, tid: i32, times: Times) {
    let of = all.entry(tid).or_default();
    of.iter_mut().zip(times).for_each(|(of, time)| *of += time);
}

/// A thread of a state dump has the id of a child, which another CPU runs at the time of its fork.
#[test]
fn a_child_that_runs_at_its_fork_is_the_thread_that_runs() {
    let dump = ("lttng_statedump_process_state", &[("tid", 10), ("status", 2)]);
    let events = [
        KernelEvent::new(100, 0, dump.0, dump.1),
        KernelEvent::switch(100, 1, 0, 0, 1),
        KernelEvent::switch(103, 0, 0, 0, 10),
        KernelEvent::new(103, 1, "sched_process_fork", &[("parent_tid", 1), ("child_tid", 10)]),
        KernelEvent::switch(105, 0, 10, 1, 0),
    ];
    assert_cpu_times(&Traceset::from_iter([trace(Machine::default(), &events)]));
}

#[test]
fn times_of_a_recording_are_those_of_the_statistics() {
    assert_times(&Traceset::open(support::bundled()).expect("a trace"));
}

/// Returns a thread id: most often one of a few, sometimes none that a thread can have.
fn hostile_id(number: u8) -> i64 {
    match number {
        0..=220 => i64::from(number % 8),
        221..=235 => i64::from(number) << 15,
        236..=245 => -i64::from(number),
        _ => i64::MAX - i64::from(number),
    }
}

/// A generator of numbers, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

#[test]
fn windows_of_recordings_are_partitioned() {
    let traces = support::kernel_traces();
    let per_trace = 10_000 / traces.len() + 1;
    let mut numbers = Numbers(1);
    let (mut windows, mut segments) = (0, 0);
    for (name, traceset) in traces {
        let graph = graph_of(&traceset);
        if graph.timelines().len() == 0 {
            support::report(&format!("{name} has no threads"));
            continue;
        }
        let (begin, end) = (graph.begin().as_ns(), graph.end().as_ns());
        for _ in 0..per_trace {
            let id = TimelineId(numbers.below(graph.timelines().len() as u64) as u32);
            let mut bounds = [(); 2].map(|()| begin + numbers.below((end - begin) as u64) as i64);
            bounds.sort_unstable();
            let window = ns(bounds[0])..ns(bounds[1]);
            let path = graph.critical_path(id, window.clone());
            assert_partition(&path, &window);
            segments += path.segments().len();
            windows += 1;
        }
        assert_timelines(&graph, &(ns(begin)..ns(end)));
    }
    support::report(&format!("{windows} windows with {segments} segments"));
}

#[test]
fn graphs_survive_seeks() {
    let traceset = Traceset::open(support::bundled()).expect("a trace");
    let whole = graph_of(&traceset);
    let mut context = TracesetContext::new(&traceset);
    let kernel = context.attach(KernelState::new());
    let waits = attach(&mut context, kernel, .., WaitAnalysis::new());
    context.state().set_policy(lttv_context::CheckpointPolicy::default());
    let length = whole.end().as_ns() - whole.begin().as_ns();
    for eighth in [7, 2, 5, 0, 8, 3] {
        context.state().seek_time(ns(whole.begin().as_ns() + length * eighth / 8));
        _ = context.read(&Bounds::all()).expect("bounds without a position");
        let graph = waits.take(context.extensions_mut());
        assert_eq!(graph.interval_count(), whole.interval_count());
        let window = whole.begin()..whole.end();
        assert_eq!(sums(&graph, &window), sums(&whole, &window));
        assert_eq!(graph.anomalies(), whole.anomalies());
    }
}

#[test]
fn a_graph_that_is_taken_early_has_open_waits() {
    let events = [
        KernelEvent::switch(10, 0, 0, 0, 1),
        KernelEvent::switch(20, 0, 1, 1, 2),
        KernelEvent::waking(40, 0, 1),
        KernelEvent::switch(50, 0, 2, 1, 1),
    ];
    let traceset = Traceset::from_iter([trace(Machine::default(), &events)]);
    let mut context = TracesetContext::new(&traceset);
    let kernel = context.attach(KernelState::new());
    let waits = attach(&mut context, kernel, .., WaitAnalysis::new());
    _ = context.read(&Bounds::all().until(ns(30))).expect("bounds without a position");
    let labels = |graph: &WaitGraph| {
        let id = graph.find(TraceIndex(0), 1, ns(30)).expect("a thread");
        let all = graph.intervals(id, ns(0)..ns(100));
        all.map(|of| (of.start.as_ns(), of.end.as_ns(), of.state.label())).collect::<Vec<_>>()
    };
    let early = waits.take_until(context.extensions_mut(), ns(30));
    assert_eq!(labels(&early), [(10, 20, "running"), (20, 30, "blocked:open")]);
    _ = context.read(&Bounds::all()).expect("bounds without a position");
    let late = waits.take(context.extensions_mut());
    let expected = [(10, 20, "running"), (20, 40, "blocked:task"), (40, 50, "woken")];
    assert_eq!(labels(&late), expected);
}

/// Opens the bundled trace with times that are a fraction of the recorded ones, and with the
/// tracefiles of its CPUs in an order, which is that of events at one time.
fn reordered(order: impl Fn(u32) -> u32, divisor: u64) -> Traceset {
    let folder = tempfile::tempdir().expect("a folder");
    let from = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
    for entry in std::fs::read_dir(from).expect("the trace") {
        let path = entry.expect("a file").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        if !path.is_file() {
            continue;
        }
        let mut bytes = std::fs::read(&path).expect("a file");
        let to = match name.rsplit_once('_') {
            Some((channel, cpu)) => format!("{}_{channel}", order(cpu.parse().expect("a CPU"))),
            None => {
                // The clock is faster, in a text of the same length.
                let (clock, faster) = ("freq = 1000000000", 1_000_000_000 * divisor);
                let faster = format!("{:17}", format!("freq={faster}"));
                let at = bytes.windows(17).position(|text| text == clock.as_bytes());
                let at = at.expect("the frequency of the clock");
                bytes[at..at + 17].copy_from_slice(faster.as_bytes());
                name.to_owned()
            }
        };
        std::fs::write(folder.path().join(to), bytes).expect("a copy");
    }
    // Mapped files stay readable without their names.
    Traceset::open(folder.path()).expect("the copy")
}

/// Returns the numbers of the CPUs in the order of events, and the times of the events.
fn order_of(traceset: &Traceset) -> Vec<(Option<Timestamp>, Option<u32>)> {
    let mut context = TracesetContext::new(traceset);
    let order = Arc::new(Mutex::new(Vec::new()));
    let found = order.clone();
    context.on_event("*", move |call| {
        found
            .lock()
            .expect("a list")
            .push((call.event.timestamp(), call.tracefile.tracefile().cpu()));
    });
    assert_eq!(context.read(&Bounds::all()).expect("bounds without a position").errors, 0);
    drop(context);
    Arc::into_inner(order).expect("the only one").into_inner().expect("a list")
}

/// At a resolution of some ns, many events of different CPUs have one time.
#[test]
fn the_order_of_cpus_at_one_time_changes_no_sum_of_a_recording() {
    let mut moved = 0;
    for divisor in [1, 16, 100, 999] {
        let [forwards, backwards] =
            [reordered(|cpu| cpu, divisor), reordered(|cpu| 9 - cpu, divisor)];
        let [a, b] = [&forwards, &backwards].map(order_of);
        moved += a.iter().zip(&b).filter(|(a, b)| a != b).count();
        let [a, b] = [&forwards, &backwards].map(graph_of);
        assert_eq!((a.begin(), a.end()), (b.begin(), b.end()));
        let window = a.begin()..a.end();
        assert_eq!(sums(&a, &window), sums(&b, &window), "{divisor}");
    }
    assert!(moved > 30, "{moved}");
}
