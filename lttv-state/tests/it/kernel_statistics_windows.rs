//! Statistics of time windows, compared with a naive model of random events: a list of intervals
//! for all that lasts, which is cut at the borders of a window.

use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds};
use std::path::Path;

use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, Schema, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use ltt_read::{Merge, Timestamp};
use lttv_context::{Bounds, CheckpointPolicy, Traceset, TracesetContext};
use lttv_state::analysis::attach;
use lttv_state::durations::Durations;
use lttv_state::kernel::KernelState;
use lttv_state::stats::{ProcessFacts, Statistics, StatisticsAnalysis, TraceStatistics};
use proptest::prelude::*;

use crate::support;

const CPUS: usize = 2;
const THREADS: i64 = 4;
const DEVICE: u64 = 8 << 20;

/// A step of a CPU, where it is possible.
#[derive(Debug, Clone)]
enum Step {
    /// Switches to a thread, 0 for the idle one. The previous one waits for something or is ready.
    Switch {
        next: i64,
        blocks: bool,
    },
    Wake {
        tid: i64,
        to: usize,
    },
    Migrate {
        tid: i64,
        to: usize,
    },
    /// Enters a system call, or leaves the current one.
    Call {
        read: bool,
        result: i64,
    },
    Irq,
    Softirq,
    /// Leaves the innermost handler.
    Leave,
    Issue,
    Complete,
    Plain,
}

fn step() -> impl Strategy<Value = Step> {
    let tid = || 1..=THREADS;
    prop_oneof![
        6 => (0..=THREADS, any::<bool>()).prop_map(|(next, blocks)| Step::Switch { next, blocks }),
        3 => (tid(), 0..CPUS).prop_map(|(tid, to)| Step::Wake { tid, to }),
        1 => (tid(), 0..CPUS).prop_map(|(tid, to)| Step::Migrate { tid, to }),
        5 => (any::<bool>(), -5..100i64).prop_map(|(read, result)| Step::Call { read, result }),
        2 => Just(Step::Irq),
        1 => Just(Step::Softirq),
        3 => Just(Step::Leave),
        1 => Just(Step::Issue),
        1 => Just(Step::Complete),
        1 => Just(Step::Plain),
    ]
}

fn schema() -> (Schema, BTreeMap<&'static str, EventTypeId>) {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let unsigned = || FieldClass::uint(32, ByteOrder::Little);
    let signed = || FieldClass::sint(64, ByteOrder::Little);
    let text = || presets::text_array(16);
    let types: Vec<(&str, Vec<(&str, FieldClass)>)> = vec![
        (
            "sched_switch",
            vec![
                ("prev_comm", text()),
                ("prev_tid", signed()),
                ("prev_state", signed()),
                ("next_comm", text()),
                ("next_tid", signed()),
            ],
        ),
        ("sched_waking", vec![("comm", text()), ("tid", signed()), ("target_cpu", unsigned())]),
        ("sched_migrate_task", vec![("tid", signed()), ("dest_cpu", unsigned())]),
        ("syscall_entry_read", vec![("fd", unsigned())]),
        ("syscall_exit_read", vec![("ret", signed())]),
        ("syscall_entry_futex", vec![("fd", unsigned())]),
        ("syscall_exit_futex", vec![("ret", signed())]),
        ("irq_handler_entry", vec![("irq", unsigned())]),
        ("irq_handler_exit", vec![("irq", unsigned())]),
        ("irq_softirq_entry", vec![("vec", unsigned())]),
        ("irq_softirq_exit", vec![("vec", unsigned())]),
        (
            "block_rq_issue",
            vec![("dev", unsigned()), ("nr_sector", unsigned()), ("rwbs", unsigned())],
        ),
        (
            "block_rq_complete",
            vec![("dev", unsigned()), ("nr_sector", unsigned()), ("rwbs", unsigned())],
        ),
        ("plain", vec![("x", unsigned())]),
    ];
    let ids = types.into_iter().map(|(name, fields)| {
        let class = FieldClass::structure(fields);
        (name, schema.add_event_type(StreamClassId(0), name, class))
    });
    let ids = ids.collect();
    (schema, ids)
}

/// The mode and submode of a thread.
type Doing = (&'static str, &'static str);

/// A part of time with what it is about; an end of `i64::MAX` if it does not end.
#[derive(Debug, Clone)]
struct Interval<T> {
    of: T,
    start: i64,
    end: i64,
}

/// All that happened, as lists of intervals and of events with their time.
#[derive(Debug, Default)]
struct Model {
    first: i64,
    last: i64,
    /// CPU, thread and what it did.
    on_cpu: Vec<Interval<(u32, i64, Doing)>>,
    /// System calls and handlers.
    frames: Vec<Interval<(i64, Doing)>>,
    blocked: Vec<Interval<i64>>,
    ready: Vec<Interval<i64>>,
    wakeups: Vec<Interval<i64>>,
    switched_in: Vec<(i64, i64)>,
    migrated: Vec<(i64, i64)>,
    read: Vec<(i64, (i64, u64))>,
    requests: Vec<Interval<()>>,
    events: Vec<(i64, &'static str)>,
}

/// A thread while the model is built.
#[derive(Debug, Clone, Default)]
struct Thread {
    on: Option<usize>,
    has_called: bool,
    call: Option<(&'static str, i64)>,
    /// The start of a wait: `true` if the thread is ready.
    waits: Option<(bool, i64)>,
    woken: Option<i64>,
}

/// A CPU while the model is built.
#[derive(Debug, Clone, Default)]
struct Cpu {
    tid: i64,
    handlers: Vec<(Doing, i64)>,
    since: i64,
}

fn doing(cpu: &Cpu, threads: &[Thread]) -> Doing {
    let thread = &threads[cpu.tid as usize];
    match (cpu.handlers.last(), thread.call) {
        (Some((handler, _)), _) => *handler,
        (None, Some((call, _))) => ("SYSCALL", call),
        (None, None) if cpu.tid == 0 => ("SYSCALL", "NONE"),
        (None, None) if thread.has_called => ("USER_MODE", "NONE"),
        (None, None) => ("MODE_UNKNOWN", "UNKNOWN"),
    }
}

/// Writes a trace, and returns what happens in it.
fn write(dir: &Path, steps: &[(usize, i64, Step)]) -> Model {
    let (schema, ids) = schema();
    let writer = TraceWriter::create(dir, schema).unwrap();
    let mut time = 1_000_000;
    let mut streams: Vec<_> = (0..CPUS)
        .map(|cpu| {
            let stream = writer.stream(StreamClassId(0), &format!("channel_{cpu}")).unwrap();
            let context = FieldValue::fields([("cpu_id", cpu as u64)]);
            let mut stream = stream.with_stream_id(cpu as u64).with_packet_context(context);
            stream.begin_packet(time as u64).unwrap();
            stream
        })
        .collect();
    let mut model = Model { first: time + 1, last: time, ..Model::default() };
    let mut cpus = vec![Cpu { since: time + 1, ..Cpu::default() }; CPUS];
    let mut threads = vec![Thread::default(); THREADS as usize + 1];
    let mut issued: Vec<i64> = Vec::new();
    // Each CPU starts with a switch, which tells what ran before.
    let starts = (0..CPUS).map(|cpu| (cpu, 1, Step::Switch { next: -1, blocks: false }));
    for (cpu, passed, step) in starts.chain(steps.iter().cloned()) {
        let at = cpu;
        let tid = cpus[at].tid;
        let now = time + passed;
        let is_handling = !cpus[at].handlers.is_empty();
        let before = (tid, doing(&cpus[at], &threads));
        let mut event = |name: &'static str, fields: Vec<(&'static str, FieldValue)>| {
            streams[at].event(ids[name], now as u64, FieldValue::fields(fields)).unwrap();
            model.events.push((now, name));
        };
        let number = |name, value: i64| vec![(name, FieldValue::from(value as u64))];
        match step {
            Step::Switch { next, blocks } => {
                if is_handling || next > 0 && threads[next as usize].on.is_some() || next == tid {
                    continue;
                }
                let next = next.max(0);
                let text = |tid: i64| FieldValue::Str(format!("t{tid}"));
                let fields = vec![
                    ("prev_comm", text(tid)),
                    ("prev_tid", tid.into()),
                    ("prev_state", i64::from(blocks).into()),
                    ("next_comm", text(next)),
                    ("next_tid", next.into()),
                ];
                event("sched_switch", fields);
                if tid > 0 {
                    let thread = &mut threads[tid as usize];
                    (thread.on, thread.waits) = (None, Some((!blocks, now)));
                }
                if next > 0 {
                    let thread = &mut threads[next as usize];
                    thread.on = Some(at);
                    match thread.waits.take() {
                        Some((true, start)) => {
                            model.ready.push(Interval { of: next, start, end: now })
                        }
                        Some((false, start)) => {
                            model.blocked.push(Interval { of: next, start, end: now });
                        }
                        None => {}
                    }
                    if let Some(start) = thread.woken.take() {
                        model.wakeups.push(Interval { of: next, start, end: now });
                    }
                    model.switched_in.push((now, next));
                }
                cpus[at].tid = next;
            }
            Step::Wake { tid, to } => {
                let fields = vec![
                    ("comm", FieldValue::Str(format!("t{tid}"))),
                    ("tid", tid.into()),
                    ("target_cpu", (to as u64).into()),
                ];
                event("sched_waking", fields);
                let thread = &mut threads[tid as usize];
                if thread.on.is_none() {
                    thread.woken.get_or_insert(now);
                    if let Some((false, start)) = thread.waits {
                        model.blocked.push(Interval { of: tid, start, end: now });
                        thread.waits = None;
                    }
                    thread.waits.get_or_insert((true, now));
                }
            }
            Step::Migrate { tid, to } => {
                let fields = vec![("tid", tid.into()), ("dest_cpu", (to as u64).into())];
                event("sched_migrate_task", fields);
                model.migrated.push((now, tid));
            }
            Step::Call { .. } if tid == 0 || is_handling => continue,
            Step::Call { read, result } => match threads[tid as usize].call.take() {
                Some((call, start)) => {
                    let exit =
                        if call == "read" { "syscall_exit_read" } else { "syscall_exit_futex" };
                    event(exit, vec![("ret", result.into())]);
                    if call == "read" && result > 0 {
                        model.read.push((now, (tid, result as u64)));
                    }
                    model.frames.push(Interval { of: (tid, ("SYSCALL", call)), start, end: now });
                }
                None => {
                    let (entry, call) = match read {
                        true => ("syscall_entry_read", "read"),
                        false => ("syscall_entry_futex", "futex"),
                    };
                    event(entry, number("fd", 3));
                    let thread = &mut threads[tid as usize];
                    (thread.has_called, thread.call) = (true, Some((call, now)));
                }
            },
            Step::Irq if cpus[at].handlers.len() < 4 => {
                event("irq_handler_entry", number("irq", 5));
                cpus[at].handlers.push((("IRQ", "irq 5"), now));
            }
            Step::Softirq if !is_handling => {
                event("irq_softirq_entry", number("vec", 4));
                cpus[at].handlers.push((("SOFTIRQ", "softirq 4"), now));
            }
            Step::Irq | Step::Softirq => continue,
            Step::Leave => match cpus[at].handlers.pop() {
                Some((handler, start)) => {
                    match handler.0 {
                        "IRQ" => event("irq_handler_exit", number("irq", 5)),
                        _ => event("irq_softirq_exit", number("vec", 4)),
                    }
                    model.frames.push(Interval { of: (tid, handler), start, end: now });
                }
                None => continue,
            },
            Step::Issue | Step::Complete => {
                let fields = [("dev", DEVICE), ("nr_sector", 8), ("rwbs", 4)];
                let fields = fields.map(|(name, value)| (name, FieldValue::from(value))).to_vec();
                if matches!(step, Step::Issue) {
                    event("block_rq_issue", fields);
                    issued.push(now);
                } else {
                    event("block_rq_complete", fields);
                    if let Some(start) = issued.pop() {
                        model.requests.push(Interval { of: (), start, end: now });
                    }
                }
            }
            Step::Plain => event("plain", number("x", 1)),
        }
        (time, model.last) = (now, now);
        let start = std::mem::replace(&mut cpus[at].since, now);
        let of = (at as u32, before.0, before.1);
        model.on_cpu.push(Interval { of, start, end: now });
    }
    for (at, cpu) in cpus.iter().enumerate() {
        let of = (at as u32, cpu.tid, doing(cpu, &threads));
        model.on_cpu.push(Interval { of, start: cpu.since, end: i64::MAX });
        for (handler, start) in &cpu.handlers {
            let of = (cpu.tid, *handler);
            model.frames.push(Interval { of, start: *start, end: i64::MAX });
        }
    }
    for (tid, thread) in (0..).zip(&threads) {
        if let Some((call, start)) = thread.call {
            let of = (tid, ("SYSCALL", call));
            model.frames.push(Interval { of, start, end: i64::MAX });
        }
        match thread.waits {
            Some((true, start)) => model.ready.push(Interval { of: tid, start, end: i64::MAX }),
            Some((false, start)) => model.blocked.push(Interval { of: tid, start, end: i64::MAX }),
            None => {}
        }
    }
    let open = issued.into_iter().map(|start| Interval { of: (), start, end: i64::MAX });
    model.requests.extend(open);
    streams.into_iter().for_each(|stream| drop(stream.finish().unwrap()));
    model
}

/// The times of a thread, in a form that the model and the statistics have in common.
#[derive(Debug, Default, PartialEq, Eq)]
struct OfThread {
    blocked: u64,
    ready: u64,
    waits: u64,
    switched_in: u64,
    migrated: u64,
    read: u64,
    wakeups: Measured,
}

/// Number, sum, minimum and maximum.
type Measured = (u64, u64, Option<u64>, Option<u64>);

fn measured(of: &Durations) -> Measured {
    (of.count(), of.total(), of.shortest(), of.longest())
}

/// Durations, elapsed time, cumulative CPU time.
type OfFrames = (Measured, u64, u64);

/// The statistics of a window.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sums {
    time: u64,
    events: BTreeMap<String, u64>,
    on_cpu: BTreeMap<(u32, i64, String, String), u64>,
    frames: BTreeMap<(i64, String, String), OfFrames>,
    threads: BTreeMap<i64, OfThread>,
    /// The time with requests, and the sum over requests.
    device: (u64, u64),
}

impl Model {
    /// Computes the statistics of a window.
    fn sums(&self, window: &impl RangeBounds<i64>) -> Sums {
        let bound = |bound: Bound<&i64>, open| match bound {
            Bound::Included(time) | Bound::Excluded(time) => *time,
            Bound::Unbounded => open,
        };
        let start = bound(window.start_bound(), i64::MIN).max(self.first);
        let end = bound(window.end_bound(), i64::MAX).min(self.last).max(start);
        let within = |from: i64, to: i64| (to.min(end) - from.max(start)).max(0) as u64;
        let mut sums = Sums { time: (end - start) as u64, ..Sums::default() };
        for (_, name) in self.events.iter().filter(|(time, _)| window.contains(time)) {
            *sums.events.entry((*name).to_owned()).or_default() += 1;
        }
        for Interval { of: (cpu, tid, (mode, submode)), start, end } in &self.on_cpu {
            let key = (*cpu, *tid, (*mode).to_owned(), (*submode).to_owned());
            *sums.on_cpu.entry(key).or_default() += within(*start, *end);
        }
        let measure = |all: &mut Measured, start: i64, end: i64| {
            if end < i64::MAX && window.contains(&end) {
                let length = (end - start) as u64;
                let (count, total, shortest, longest) = *all;
                let shortest = shortest.map_or(length, |known| known.min(length));
                let longest = longest.map_or(length, |known| known.max(length));
                *all = (count + 1, total + length, Some(shortest), Some(longest));
            }
        };
        for Interval { of: (tid, (mode, submode)), start, end } in &self.frames {
            let key = (*tid, (*mode).to_owned(), (*submode).to_owned());
            let frames = sums.frames.entry(key).or_default();
            measure(&mut frames.0, *start, *end);
            frames.1 += within(*start, *end);
            let runs =
                self.on_cpu.iter().filter(|on| on.of.1 == *tid && self.is_on(on, *tid, *start));
            frames.2 +=
                runs.map(|on| within((*start).max(on.start), (*end).min(on.end))).sum::<u64>();
        }
        for Interval { of, start, end } in &self.blocked {
            sums.threads.entry(*of).or_default().blocked += within(*start, *end);
        }
        for Interval { of, start, end } in &self.ready {
            sums.threads.entry(*of).or_default().ready += within(*start, *end);
        }
        for Interval { of, start, end } in &self.wakeups {
            measure(&mut sums.threads.entry(*of).or_default().wakeups, *start, *end);
        }
        for (time, tid) in &self.switched_in {
            sums.threads.entry(*tid).or_default().switched_in += u64::from(window.contains(time));
        }
        for (time, tid) in &self.migrated {
            sums.threads.entry(*tid).or_default().migrated += u64::from(window.contains(time));
        }
        for (time, (tid, bytes)) in &self.read {
            let bytes = if window.contains(time) { *bytes } else { 0 };
            sums.threads.entry(*tid).or_default().read += bytes;
        }
        sums.threads.values_mut().for_each(|of| of.waits = of.blocked + of.ready);
        // The time with any request: cut at all starts and ends.
        let ends = self.requests.iter().flat_map(|of| [of.start, of.end]);
        let mut cuts: Vec<i64> = ends.chain([start, end]).map(|t| t.clamp(start, end)).collect();
        cuts.sort_unstable();
        for part in cuts.windows(2) {
            let inside = |of: &&Interval<()>| of.start <= part[0] && part[1] <= of.end;
            let requests = self.requests.iter().filter(inside).count() as u64;
            let length = (part[1] - part[0]) as u64;
            sums.device.0 += if requests > 0 { length } else { 0 };
            sums.device.1 += requests * length;
        }
        sums.compared()
    }

    /// Returns `true` if an interval on a CPU can belong to a frame: the idle threads of the CPUs
    /// share an id, and their handlers do not leave the CPU.
    fn is_on(&self, on: &Interval<(u32, i64, Doing)>, tid: i64, start: i64) -> bool {
        tid != 0
            || self.on_cpu.iter().any(|of| of.of.0 == on.of.0 && of.end == start && of.of.1 == 0)
    }
}

impl Sums {
    /// Removes what is zero, and frames that the model does not follow.
    fn compared(mut self) -> Self {
        self.on_cpu.retain(|_, time| *time > 0);
        self.frames.retain(|(_, mode, submode), frames| {
            let is_followed = submode != "NONE" && mode != "USER_MODE" && mode != "MODE_UNKNOWN";
            is_followed && *frames != OfFrames::default()
        });
        self.threads.retain(|tid, of| *tid > 0 && *of != OfThread::default());
        self
    }

    /// Returns the sums of statistics.
    fn of(trace: &TraceStatistics) -> Self {
        let mut sums = Sums { time: trace.time(), ..Sums::default() };
        for (name, count) in trace.events() {
            sums.events.insert(name.to_owned(), count);
        }
        let mut frames: BTreeMap<_, (Durations, u64, u64)> = BTreeMap::new();
        for (key, counts) in trace.leaves() {
            let facts = &trace.process_facts()[key.process.index()];
            let tid = i64::from(facts.tid.expect("all are known"));
            let (mode, submode) = (key.mode.to_string(), trace.name(key.submode).to_owned());
            *sums.on_cpu.entry((key.cpu, tid, mode.clone(), submode.clone())).or_default() +=
                counts.cpu_time;
            let all = frames.entry((tid, mode, submode)).or_default();
            let mut both = lttv_state::stats::Counts::default();
            both.durations = all.0;
            let mut more = lttv_state::stats::Counts::default();
            more.durations = counts.durations;
            both.add(&more);
            all.0 = both.durations;
            all.1 = all.1.wrapping_add(counts.elapsed_time());
            all.2 = all.2.wrapping_add(counts.cumulative_cpu_time);
            sums.threads.entry(tid).or_default().waits += counts.wait_time;
        }
        sums.frames = frames
            .into_iter()
            .map(|(key, (durations, elapsed, cpu))| (key, (measured(&durations), elapsed, cpu)))
            .collect();
        for facts in trace.process_facts() {
            let Some(tid) = facts.tid else { continue };
            let of = sums.threads.entry(tid.into()).or_default();
            (of.blocked, of.ready) = (facts.blocked_time, facts.ready_time);
            (of.switched_in, of.migrated) = (facts.times_scheduled, facts.migrations);
            (of.read, of.wakeups) = (facts.bytes_read, measured(&facts.wakeup_latency));
        }
        if let Some(device) = trace.devices().first() {
            sums.device = (device.busy_time, device.queue_time);
        }
        sums.compared()
    }
}

/// Shifts the model from the clock of the trace to that of its events.
fn shift(model: &mut Model, traceset: &Traceset) {
    let mut merge = Merge::new(traceset.traces());
    let first = merge.next().and_then(|event| event.timestamp()).expect("an event");
    let offset = first.as_ns() - model.first;
    fn move_all<T>(intervals: &mut [Interval<T>], offset: i64) {
        for of in intervals {
            (of.start, of.end) = (of.start + offset, of.end.saturating_add(offset));
        }
    }
    move_all(&mut model.on_cpu, offset);
    move_all(&mut model.frames, offset);
    move_all(&mut model.requests, offset);
    for waits in [&mut model.blocked, &mut model.ready, &mut model.wakeups] {
        move_all(waits, offset);
    }
    model.switched_in.iter_mut().for_each(|of| of.0 += offset);
    model.migrated.iter_mut().for_each(|of| of.0 += offset);
    model.read.iter_mut().for_each(|of| of.0 += offset);
    model.events.iter_mut().for_each(|of| of.0 += offset);
    (model.first, model.last) = (model.first + offset, model.last + offset);
}

/// Writes a trace and opens it.
fn written(dir: &Path, steps: &[(usize, i64, Step)]) -> (Model, Traceset) {
    let mut model = write(dir, steps);
    let traceset = Traceset::open(dir).unwrap();
    shift(&mut model, &traceset);
    (model, traceset)
}

fn at(time: i64) -> Timestamp {
    Timestamp::from_ns(time)
}

/// Collects the statistics of a window. `reads_on` reads to the end of the trace.
fn collected(
    context: &mut TracesetContext<'_>,
    kernel: lttv_context::Handle<KernelState>,
    window: impl RangeBounds<Timestamp>,
    until: i64,
    reads_on: bool,
) -> Statistics {
    let start = match window.start_bound() {
        Bound::Included(start) => *start,
        Bound::Excluded(start) => at(start.as_ns() + 1),
        Bound::Unbounded => Timestamp::MIN,
    };
    context.state().seek_time(start);
    let handle = attach(context, kernel, window, StatisticsAnalysis::new());
    let bounds = if reads_on { Bounds::all() } else { Bounds::all().until(at(until)) };
    assert_eq!(context.read(&bounds).unwrap().errors, 0);
    handle.take(context.extensions_mut())
}

fn steps() -> impl Strategy<Value = Vec<(usize, i64, Step)>> {
    prop::collection::vec((0..CPUS, 1..20i64, step()), 1..150)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn windows_are_those_of_a_naive_model(
        steps in steps(),
        windows in prop::collection::vec((0..1100u64, 0..1100u64, any::<bool>()), 8),
        checkpoints in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (model, traceset) = written(folder.path(), &steps);
        let span = (model.last - model.first) as u64;
        // Some windows reach over the ends.
        let place = |part: u64| model.first + (part * span / 1000) as i64 - span as i64 / 20;
        for (a, b, reads_on) in windows {
            let (from, to) = (place(a.min(b)), place(a.max(b)));
            let context = || {
                let mut context = TracesetContext::new(&traceset);
                let kernel = context.attach(KernelState::new());
                if checkpoints {
                    context.state().set_policy(CheckpointPolicy::every(7));
                    _ = context.state().replay(&Bounds::all()).unwrap();
                }
                (context, kernel)
            };
            let (mut one, kernel) = context();
            let found = collected(&mut one, kernel, at(from)..at(to), to, reads_on);
            prop_assert_eq!(Sums::of(&found.traces()[0]), model.sums(&(from..to)));
            let (mut one, kernel) = context();
            let found = collected(&mut one, kernel, at(from)..=at(to), to + 1, reads_on);
            prop_assert_eq!(Sums::of(&found.traces()[0]), model.sums(&(from..=to)));
        }
    }

    #[test]
    fn windows_that_partition_a_trace_add_up(
        steps in steps(),
        cuts in prop::collection::vec(0..1000u64, 0..5),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (model, traceset) = written(folder.path(), &steps);
        let whole = whole(&traceset);
        prop_assert_eq!(Sums::of(&whole.traces()[0]), model.sums(&..));
        let span = (model.last - model.first) as u64;
        let mut cuts: Vec<i64> =
            cuts.iter().map(|part| model.first + (part * span / 1000) as i64).collect();
        cuts.sort_unstable();
        let sum = sum_of_windows(&traceset, &cuts);
        prop_assert_eq!(Sums::of(&sum.traces()[0]), Sums::of(&whole.traces()[0]));
        prop_assert_eq!(sum.traces()[0].total().events, whole.traces()[0].total().events.clone());
    }
}

fn whole(traceset: &Traceset) -> Statistics {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let handle = attach(&mut context, kernel, .., StatisticsAnalysis::new());
    assert_eq!(context.read(&Bounds::all()).unwrap().errors, 0);
    handle.take(context.extensions_mut())
}

/// Adds up the windows between times.
fn sum_of_windows(traceset: &Traceset, cuts: &[i64]) -> Statistics {
    let starts =
        std::iter::once(Bound::Unbounded).chain(cuts.iter().map(|t| Bound::Included(at(*t))));
    let ends = cuts.iter().map(|t| Bound::Excluded(at(*t))).chain([Bound::Unbounded]);
    let mut sum: Option<Statistics> = None;
    for window in starts.zip(ends) {
        let mut context = TracesetContext::new(traceset);
        let kernel = context.attach(KernelState::new());
        let until = match window.1 {
            Bound::Excluded(end) => end.as_ns(),
            _ => i64::MAX,
        };
        let part = collected(&mut context, kernel, window, until, false);
        match &mut sum {
            Some(sum) => sum.add(&part),
            None => sum = Some(part),
        }
    }
    sum.expect("one window at least")
}

/// Real traces: what adds up whatever later events reveal.
#[test]
fn windows_of_recorded_traces_add_up() {
    for (name, traceset) in support::kernel_traces() {
        let mut merge = Merge::new(traceset.traces());
        let mut times = Vec::new();
        while let Some(event) = merge.next() {
            times.extend(event.timestamp().map(Timestamp::as_ns));
        }
        let (first, last) = (times[0], times[times.len() - 1]);
        let parts = [1, 3, 4, 7, 9].map(|part| first + (last - first) / 10 * part);
        let mut cuts = [&parts[..], &[times[times.len() / 3], times[times.len() / 2]]].concat();
        cuts.sort_unstable();
        let (whole, sum) = (whole(&traceset), sum_of_windows(&traceset, &cuts));
        let (whole, sum) = (&whole.traces()[0], &sum.traces()[0]);
        assert_eq!((sum.start(), sum.end()), (whole.start(), whole.end()), "{name}");
        assert_eq!(sum.cpus(), whole.cpus(), "{name}");
        assert_eq!(sum.events(), whole.events(), "{name}");
        assert_eq!(sum.devices(), whole.devices(), "{name}");
        assert_eq!(sum.syscalls(), whole.syscalls(), "{name}");
        assert_eq!(sum.process_facts().len(), whole.process_facts().len(), "{name}");
        for (sum, whole) in sum.process_facts().iter().zip(whole.process_facts()) {
            // The end of a state dump starts waits again, and a gap forgets them.
            let waits = |of: &ProcessFacts| of.blocked_time + of.ready_time;
            assert!(waits(sum) >= waits(whole), "{name}: {sum:?} {whole:?}");
            let mut sum = sum.clone();
            (sum.blocked_time, sum.ready_time) = (whole.blocked_time, whole.ready_time);
            assert_eq!(sum, *whole, "{name}");
        }
        let busy = |of: &TraceStatistics| -> BTreeMap<_, _> {
            let all = of.processes().into_iter().filter(|sum| sum.cpu_time > 0);
            all.map(|sum| (sum.process, (sum.cpu_time, sum.user_time, sum.events))).collect()
        };
        assert_eq!(busy(sum), busy(whole), "{name}");
    }
}

/// No time in a window is longer than the window: nothing of the time before is left over.
#[test]
fn nothing_is_left_over_from_before_a_window() {
    for (name, traceset) in support::kernel_traces() {
        let span = traceset.traces()[0].time_span().expect("times");
        let (first, last) = (span.start.as_ns(), span.end.as_ns());
        for part in 1..8 {
            let start = first + (last - first) / 9 * part;
            let window = at(start)..at(start + (last - first) / 40);
            let mut context = TracesetContext::new(&traceset);
            let kernel = context.attach(KernelState::new());
            context.state().seek_time(window.start);
            let handle = attach(&mut context, kernel, window.clone(), StatisticsAnalysis::new());
            _ = context.read(&Bounds::all().until(window.end)).unwrap();
            let found = handle.take(context.extensions_mut());
            let trace = &found.traces()[0];
            let time = trace.time();
            for cpu in trace.cpus() {
                let times = cpu.times;
                for of in [times.user, times.system, times.idle, times.interrupt, times.unknown] {
                    assert!(of <= time, "{name}: {cpu:?}");
                }
                assert_eq!(times.covered() + times.unknown, time, "{name}: {cpu:?}");
            }
            for process in trace.processes() {
                assert!(process.cpu_time <= time, "{name}: {process:?}");
                let facts = &trace.process_facts()[process.process.index()];
                assert!(facts.blocked_time + facts.ready_time <= time, "{name}: {facts:?}");
            }
            for device in trace.devices() {
                assert!(device.busy_time <= time, "{name}: {device:?}");
            }
        }
    }
}

/// A window in which nothing happens has its time.
#[test]
fn a_window_without_events_has_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let steps = [
        (0, 10, Step::Switch { next: 1, blocks: true }),
        (0, 10, Step::Call { read: false, result: 0 }),
        (0, 1000, Step::Call { read: false, result: 0 }),
    ];
    let (model, traceset) = written(folder.path(), &steps);
    let window = model.last - 500..model.last - 100;
    for reads_on in [false, true] {
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(KernelState::new());
        let times = at(window.start)..at(window.end);
        let found = collected(&mut context, kernel, times.clone(), window.end, reads_on);
        assert_eq!((found.start(), found.end()), (Some(times.start), Some(times.end)));
        assert_eq!(found.time(), 400);
        assert_eq!(Sums::of(&found.traces()[0]), model.sums(&window));
        let cpu = &found.traces()[0].cpus()[0];
        assert_eq!((cpu.busy_time, cpu.times.system, cpu.events), (400, 400, 0));
    }
}

/// A window without an end, or up to the last possible time, contains the events at that time.
#[test]
fn a_window_contains_an_event_at_the_last_possible_time() {
    let folder = tempfile::tempdir().unwrap();
    let (mut schema, ids) = schema();
    schema.clocks[0].offset_seconds = 0;
    let writer = TraceWriter::create(folder.path(), schema).unwrap();
    let stream = writer.stream(StreamClassId(0), "channel_0").unwrap();
    let mut stream = stream.with_packet_context(FieldValue::fields([("cpu_id", 0u64)]));
    let first = i64::MAX - 100;
    for time in [first, i64::MAX] {
        stream.event(ids["plain"], time as u64, FieldValue::fields([("x", 1u64)])).unwrap();
    }
    drop(stream.finish().unwrap());
    let traceset = Traceset::open(folder.path()).unwrap();
    let ends = [Bound::Unbounded, Bound::Included(Timestamp::MAX)];
    for window in ends.map(|end| (Bound::Included(at(first)), end)) {
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(KernelState::new());
        let found = collected(&mut context, kernel, window, 0, true);
        assert_eq!(found.traces()[0].events().values().sum::<u64>(), 2, "{window:?}");
    }
}
