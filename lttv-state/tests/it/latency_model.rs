//! Latencies of random traces, compared with a model that searches the list of events for the begin
//! of each duration; parts that are joined; and traces without sense.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::support;
use crate::support::event_text::trace_of;
use crate::support::latency_text::everything;
use ltt_read::{Timestamp, Trace};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::analysis::{attach, read};
use lttv_state::kernel::KernelState;
use lttv_state::kernel::needs::Need;
use lttv_state::latency::{
    Family, GroupBy, Latency, LatencyAnalysis, Settings, ThreadId, TraceLatency,
};
use proptest::prelude::*;

const CPUS: usize = 3;
const CALLS: [&str; 3] = ["read", "futex", "close"];

/// The kind of an event, with its fields.
#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    Switch { prev: i32, next: i32, state: i64 },
    Wake { tid: i32 },
    Entry { call: usize, argument: i64, operation: i64 },
    Exit { call: usize, result: i64 },
    IrqEntry { number: u32 },
    IrqExit { number: u32 },
    Raise { number: u32 },
    SoftEntry { number: u32 },
    SoftExit { number: u32 },
    Insert { sector: u64 },
    Issue { sector: u64, sectors: u64 },
    Complete { sector: u64, sectors: u64 },
    IssueFlush,
    CompleteFlush,
    Lost,
}

#[derive(Debug, Clone, Copy)]
struct Event {
    time: u64,
    cpu: usize,
    what: What,
}

impl Event {
    fn line(&self) -> String {
        let Event { time, cpu, what } = self;
        let request_of = |name: &str, sector: u64, sectors: u64, rwbs: u32| {
            (
                name.to_owned(),
                format!("dev = 8388608, sector = {sector}, nr_sector = {sectors}, rwbs = {rwbs}"),
            )
        };
        let request = |name, sector, sectors| request_of(name, sector, sectors, 1);
        let (name, fields) = match *what {
            What::Switch { prev, next, state } => (
                "sched_switch".to_owned(),
                format!(
                    "prev_comm = \"t{prev}\", prev_tid = {prev}, prev_prio = 20, prev_state = {state}, \
                     next_comm = \"t{next}\", next_tid = {next}, next_prio = {}",
                    20 - next
                ),
            ),
            What::Wake { tid } => (
                "sched_waking".to_owned(),
                format!("comm = \"t{tid}\", tid = {tid}, target_cpu = {cpu}"),
            ),
            What::Entry { call: 0, argument, .. } => {
                ("syscall_entry_read".to_owned(), format!("fd = {argument}"))
            }
            What::Entry { call: 1, argument, operation } => {
                ("syscall_entry_futex".to_owned(), format!("uaddr = {argument}, op = {operation}"))
            }
            What::Entry { call, argument, .. } => {
                (format!("syscall_entry_{}", CALLS[call]), format!("fd = {argument}"))
            }
            What::Exit { call, result } => {
                (format!("syscall_exit_{}", CALLS[call]), format!("ret = {result}"))
            }
            What::IrqEntry { number } => {
                ("irq_handler_entry".to_owned(), format!("irq = {number}, name = \"i{number}\""))
            }
            What::IrqExit { number } => {
                ("irq_handler_exit".to_owned(), format!("irq = {number}, ret = 1"))
            }
            What::Raise { number } => ("irq_softirq_raise".to_owned(), format!("vec = {number}")),
            What::SoftEntry { number } => {
                ("irq_softirq_entry".to_owned(), format!("vec = {number}"))
            }
            What::SoftExit { number } => ("irq_softirq_exit".to_owned(), format!("vec = {number}")),
            What::Insert { sector } => request("block_rq_insert", sector, 8),
            What::Issue { sector, sectors } => request("block_rq_issue", sector, sectors),
            What::Complete { sector, sectors } => request("block_rq_complete", sector, sectors),
            What::IssueFlush => request_of("block_rq_issue", 0, 0, 1280),
            What::CompleteFlush => request_of("block_rq_complete", u64::MAX, 0, 1280),
            What::Lost => ("lost".to_owned(), String::new()),
        };
        let (seconds, ns) = (time / 1_000_000_000, time % 1_000_000_000);
        format!("[{seconds}.{ns:09}] h {name}: {{ cpu_id = {cpu} }}, {{ {fields} }}")
    }
}

fn write(events: &[Event]) -> Arc<Trace> {
    let lines: Vec<String> = events.iter().map(Event::line).collect();
    trace_of(lines.iter().map(String::as_str))
}

/// A random choice: the CPU, what to do, and two numbers.
type Choice = (usize, u32, u32, u32);

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    prop::collection::vec((0..CPUS, 0..22u32, any::<u32>(), any::<u32>()), 1..150)
}

/// Makes events of a machine whose switches agree with each other. Everything else may happen at
/// any time.
fn machine(choices: &[Choice]) -> Vec<Event> {
    let mut current = [0i32; CPUS];
    let mut events = Vec::new();
    for (at, (cpu, what, a, b)) in choices.iter().copied().enumerate() {
        let time = 1_000 + 10 * at as u64 + u64::from(b % 10);
        let call = a as usize % CALLS.len();
        let sector = u64::from(a % 4) * 4;
        let what = match what {
            0..=5 => {
                let prev = current[cpu];
                let next = (a % 6) as i32;
                if next == prev || (next != 0 && current.contains(&next)) {
                    continue;
                }
                current[cpu] = next;
                let state = [0, 1, 0x100, 2][b as usize % 4];
                What::Switch { prev, next, state }
            }
            6..=8 => What::Wake { tid: (a % 6 + 1) as i32 },
            9 | 10 => What::Entry {
                call,
                argument: i64::from(b % 3),
                operation: [0, 1, 128, 129][b as usize % 4],
            },
            11 | 12 => What::Exit { call, result: [0, -11, 5][b as usize % 3] },
            13 => What::IrqEntry { number: a % 3 },
            14 => What::IrqExit { number: a % 3 },
            15 => What::Raise { number: a % 2 },
            16 => What::SoftEntry { number: a % 2 },
            17 => What::SoftExit { number: a % 2 },
            18 if b % 2 == 0 => What::Insert { sector },
            18 => What::Issue { sector, sectors: [4, 8][b as usize / 2 % 2] },
            19 => What::Complete { sector, sectors: [4, 8, 0][b as usize % 3] },
            20 => What::IssueFlush,
            _ => What::CompleteFlush,
        };
        events.push(Event { time, cpu, what });
    }
    events
}

/// A duration: family, thread (-1 for none), begin and end in ns.
type Sample = (Family, i32, u64, u64);

/// The model. It searches the events before each end for the begin.
struct Model<'e>(&'e [Event]);

impl Model<'_> {
    fn samples(&self) -> Vec<Sample> {
        let mut samples = Vec::new();
        for (at, event) in self.0.iter().enumerate() {
            match event.what {
                What::Switch { next: tid @ 1.., .. } => samples.extend(self.wait(at, tid)),
                What::Exit { call, .. } => samples.extend(self.call(at, call)),
                _ => {}
            }
        }
        samples.extend(self.handlers());
        samples.extend(self.requests());
        samples.sort_unstable();
        samples
    }

    /// Returns the thread that runs on a CPU before an event; `None` before the first switch.
    fn running(&self, at: usize, cpu: usize) -> Option<i32> {
        let before = self.0[..at].iter().rev().filter(|event| event.cpu == cpu);
        before.map(|event| event.what).find_map(|what| match what {
            What::Switch { next, .. } => Some(next),
            _ => None,
        })
    }

    /// Returns the last switch of a thread before an event: whether it is switched in, and the
    /// state in which it was switched out.
    fn last_switch(&self, at: usize, tid: i32) -> Option<(usize, bool, i64)> {
        self.0[..at].iter().enumerate().rev().find_map(|(index, event)| match event.what {
            What::Switch { next, state, .. } if next == tid => Some((index, true, state)),
            What::Switch { prev, state, .. } if prev == tid => Some((index, false, state)),
            _ => None,
        })
    }

    /// Returns the wait of a thread that is switched in.
    fn wait(&self, at: usize, tid: i32) -> Option<Sample> {
        let end = self.0[at].time;
        let is_switch_in =
            |event: &Event| matches!(event.what, What::Switch { next, .. } if next == tid);
        let last_in = self.0[..at].iter().rposition(is_switch_in).map_or(0, |at| at + 1);
        for (index, event) in self.0[..at].iter().enumerate().skip(last_in) {
            if event.what == (What::Wake { tid }) {
                let waits = match self.last_switch(index, tid) {
                    None => true,
                    Some((_, is_in, state)) => !is_in && state & 0xff != 0,
                };
                if waits {
                    return Some((Family::WakeUp, tid, event.time, end));
                }
            }
        }
        match self.last_switch(at, tid) {
            Some((index, false, state)) if state & 0xff == 0 => {
                Some((Family::Preemption, tid, self.0[index].time, end))
            }
            _ => None,
        }
    }

    /// Returns the system call that an exit ends, unless it names another one.
    fn call(&self, at: usize, call: usize) -> Vec<Sample> {
        let end = self.0[at].time;
        let Some(tid @ 1..) = self.running(at, self.0[at].cpu) else { return Vec::new() };
        let of_thread = (0..at).rev().filter(|index| {
            matches!(self.0[*index].what, What::Entry { .. } | What::Exit { .. })
                && self.running(*index, self.0[*index].cpu) == Some(tid)
        });
        let Some(last) = of_thread.map(|index| self.0[index]).next() else { return Vec::new() };
        match last.what {
            What::Entry { call: of, operation, .. } if of == call => {
                let mut all = vec![(Family::Syscall, tid, last.time, end)];
                if call == 0 {
                    all.push((Family::FileRead, tid, last.time, end));
                }
                if call == 1 && operation & 1 == 0 {
                    all.push((Family::Futex, tid, last.time, end));
                }
                all
            }
            _ => Vec::new(),
        }
    }

    fn handlers(&self) -> Vec<Sample> {
        let mut samples = Vec::new();
        for cpu in 0..CPUS {
            let mut open: Vec<(Family, u32, u64)> = Vec::new();
            let mut raised: BTreeMap<u32, u64> = BTreeMap::new();
            for Event { time, what, .. } in self.0.iter().filter(|event| event.cpu == cpu) {
                let (family, number) = match *what {
                    What::IrqEntry { number } => {
                        open.push((Family::HardIrq, number, *time));
                        continue;
                    }
                    What::SoftEntry { number } => {
                        open.push((Family::Softirq, number, *time));
                        if let Some(first) = raised.remove(&number) {
                            samples.push((Family::SoftirqRaise, -1, first, *time));
                        }
                        continue;
                    }
                    What::Raise { number } => {
                        raised.entry(number).or_insert(*time);
                        continue;
                    }
                    What::IrqExit { number } => (Family::HardIrq, number),
                    What::SoftExit { number } => (Family::Softirq, number),
                    _ => continue,
                };
                let is_it = |of: &(Family, u32, u64)| (of.0, of.1) == (family, number);
                if let Some(depth) = open.iter().rposition(is_it) {
                    samples.push((family, -1, open[depth].2, *time));
                    open.truncate(depth);
                }
            }
        }
        samples
    }

    fn requests(&self) -> Vec<Sample> {
        let mut samples = Vec::new();
        let mut queued: BTreeMap<u64, u64> = BTreeMap::new();
        let mut issued: BTreeMap<u64, (u64, u64, i32)> = BTreeMap::new();
        let mut flushes = VecDeque::new();
        for (at, event) in self.0.iter().enumerate() {
            let time = event.time;
            let issuer = || self.running(at, event.cpu).filter(|tid| *tid > 0).unwrap_or(-1);
            match event.what {
                What::Insert { sector } => {
                    queued.entry(sector).or_insert(time);
                }
                What::Issue { sector, sectors } => {
                    let tid = issuer();
                    if let Some(begin) = queued.remove(&sector) {
                        samples.push((Family::DiskQueue, tid, begin, time));
                    }
                    issued.insert(sector, (time, sectors, tid));
                }
                What::IssueFlush => {
                    if let Some(begin) = queued.remove(&0) {
                        samples.push((Family::DiskQueue, issuer(), begin, time));
                    }
                    flushes.push_back((time, issuer()));
                }
                What::CompleteFlush => {
                    let Some((begin, tid)) = flushes.pop_front() else { continue };
                    samples.push((Family::DiskDevice, tid, begin, time));
                }
                // The second completion of a write that flushes.
                What::Complete { sectors: 0, .. } => {}
                What::Complete { sector, sectors } => {
                    let Some((begin, of, tid)) = issued.remove(&sector) else { continue };
                    if sectors < of {
                        issued.insert(sector + sectors, (begin, of - sectors, tid));
                    } else {
                        samples.push((Family::DiskDevice, tid, begin, time));
                    }
                }
                _ => {}
            }
        }
        samples
    }
}

/// Settings that keep all durations.
fn all() -> Settings {
    Settings::new().top(1 << 20)
}

fn whole(traceset: &Traceset) -> Latency {
    read(traceset).run(LatencyAnalysis::new(all())).output
}

fn tid(of: &TraceLatency, id: ThreadId) -> i32 {
    of.thread(id).map_or(-1, |thread| thread.tid)
}

/// Returns all durations of a trace.
fn samples(of: &TraceLatency) -> Vec<Sample> {
    let samples = Family::ALL.iter().flat_map(|family| of.top(*family)).map(|sample| {
        let (begin, end) = (sample.begin.as_ns() as u64, sample.end.as_ns() as u64);
        (sample.family, tid(of, sample.thread), begin, end)
    });
    let mut samples: Vec<Sample> = samples.collect();
    samples.sort_unstable();
    samples
}

/// Reads a traceset in parts, each in a context of its own, and joins them.
fn joined(traceset: &Traceset, cuts: &[Timestamp]) -> Latency {
    let mut joined: Option<Latency> = None;
    for part in 0..=cuts.len() {
        let (start, end) = (part.checked_sub(1).map(|at| cuts[at]), cuts.get(part));
        let mut context = TracesetContext::new(traceset);
        let kernel = context.attach(KernelState::new());
        let begin = start.unwrap_or(Timestamp::MIN);
        let handle = attach(&mut context, kernel, begin.., LatencyAnalysis::new(all()));
        context.state().seek_time(begin);
        let bounds = end.map_or(Bounds::all(), |end| Bounds::all().until_start_of(*end));
        _ = context.read(&bounds).expect("bounds without a position");
        let latency = match end {
            Some(end) => handle.take_until(context.extensions_mut(), *end),
            None => handle.take(context.extensions_mut()),
        };
        match &mut joined {
            Some(joined) => joined.add(&latency),
            None => joined = Some(latency),
        }
    }
    joined.expect("one part at least")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn durations_are_those_of_the_model(choices in choices()) {
        let events = machine(&choices);
        prop_assume!(!events.is_empty());
        let traceset = Traceset::from(vec![write(&events)]);
        let latency = whole(&traceset);
        let of = &latency.traces()[0];
        prop_assert_eq!(samples(of), Model(&events).samples());
        crate::spans::check_sums("random events", &traceset);
        // The sums are those of the durations.
        for family in Family::ALL {
            let sum: u64 = of.top(family).iter().map(|sample| sample.duration()).sum();
            let total = of.total(family);
            prop_assert_eq!(total.durations().spread().total(), sum);
            prop_assert_eq!(total.durations().count(), of.top(family).len() as u64);
        }
    }

    #[test]
    fn parts_add_up_to_the_whole(choices in choices(), cuts in prop::collection::vec(1_000..2_500u64, 0..4)) {
        let events = machine(&choices);
        prop_assume!(!events.is_empty());
        let traceset = Traceset::from(vec![write(&events)]);
        let (first, last) = (events[0].time, events.iter().map(|event| event.time).max().unwrap());
        let mut cuts: Vec<_> = cuts.into_iter().filter(|cut| first < *cut && *cut <= last).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let cuts: Vec<_> = cuts.into_iter().map(|cut| Timestamp::from_ns(cut as i64)).collect();
        let (whole, joined) = (whole(&traceset), joined(&traceset, &cuts));
        prop_assert_eq!(everything(&joined.traces()[0]), everything(&whole.traces()[0]));
    }

    /// Events in any order and of any meaning: nothing lasts longer than the trace.
    #[test]
    fn nothing_exceeds_the_trace(choices in choices()) {
        let mut events = machine(&choices);
        for (event, (_, what, a, b)) in events.iter_mut().zip(&choices) {
            match what % 7 {
                0 => {
                    let (prev, next) = ((a % 5) as i32, (b % 5) as i32);
                    event.what = What::Switch { prev, next, state: i64::from(a % 3) };
                }
                1 if a % 3 == 0 => event.what = What::Lost,
                _ => {}
            }
        }
        prop_assume!(events.iter().any(|event| event.what != What::Lost));
        let traceset = Traceset::from(vec![write(&events)]);
        let latency = whole(&traceset);
        let of = &latency.traces()[0];
        let span = of.span();
        let time = span.end.since(span.start);
        for sample in Family::ALL.iter().flat_map(|family| of.top(*family)) {
            prop_assert!(sample.begin <= sample.end, "{sample:?}");
            prop_assert!(span.start <= sample.begin && sample.end <= span.end, "{sample:?}");
        }
        let mut waits: BTreeMap<ThreadId, u64> = BTreeMap::new();
        for family in [Family::WakeUp, Family::Preemption] {
            for row in of.rows(family, GroupBy::Thread) {
                *waits.entry(row.thread.unwrap()).or_default() += row.figures.durations().spread().total();
            }
        }
        prop_assert!(waits.values().all(|sum| *sum <= time), "{waits:?}");
        for row in of.rows(Family::Syscall, GroupBy::Thread) {
            prop_assert!(row.figures.durations().spread().total() <= time);
        }
        let net: u64 = [Family::HardIrq, Family::Softirq].iter()
            .filter_map(|family| of.total(*family).net().map(|net| net.total())).sum();
        prop_assert!(net <= CPUS as u64 * time);
        for disk in of.disks() {
            prop_assert!(disk.busy <= time && disk.depth_time <= u128::from(disk.most) * u128::from(time));
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for (name, traceset) in support::kernel_traces() {
        let settings = Settings::new();
        let one = read(&traceset).threads(1).run(LatencyAnalysis::new(settings.clone()));
        for threads in [2, 5] {
            let several =
                read(&traceset).threads(threads).run(LatencyAnalysis::new(settings.clone()));
            for (one, several) in one.output.traces().iter().zip(several.output.traces()) {
                assert_eq!(everything(one), everything(several), "{name}");
            }
        }
    }
}

/// The array of a call that waits for one of several futexes is not recorded.
#[test]
fn waits_for_several_futexes_have_no_address() {
    let switch = "[0.000000010] h sched_switch: { cpu_id = 0 }, { prev_comm = \"t0\", prev_tid = 0, prev_prio = 20, prev_state = 0, next_comm = \"t1\", next_tid = 1, next_prio = 20 }";
    let lines = [
        switch,
        "[0.000000020] h syscall_entry_futex_waitv: { cpu_id = 0 }, { nr_futexes = 2, flags = 0 }",
        "[0.000000050] h syscall_exit_futex_waitv: { cpu_id = 0 }, { ret = 1 }",
    ];
    let latency = whole(&Traceset::from(vec![trace_of(lines)]));
    let of = &latency.traces()[0];
    let rows = of.rows(Family::Futex, GroupBy::Subject);
    let row = rows.first().expect("a wait");
    assert_eq!(
        (row.figures.durations().count(), row.figures.durations().spread().total()),
        (1, 30)
    );
    assert!(of.subject(row.subject.expect("by subject")).ends_with(" several"));
    let futex = of.futexes().next().expect("an entry");
    assert_eq!((futex.address, futex.is_shared, futex.waiters_time), (None, false, 30));
}

#[test]
fn lost_events_cut_what_they_may_have_ended() {
    let lines = [
        "[0.000000010] h sched_switch: { cpu_id = 0 }, { prev_comm = \"t0\", prev_tid = 0, prev_prio = 20, prev_state = 0, next_comm = \"t1\", next_tid = 1, next_prio = 20 }",
        "[0.000000020] h syscall_entry_read: { cpu_id = 0 }, { fd = 1 }",
        "[0.000000030] h lost: { cpu_id = 0 }, { }",
        "[0.000000040] h sched_switch: { cpu_id = 0 }, { prev_comm = \"t0\", prev_tid = 0, prev_prio = 20, prev_state = 0, next_comm = \"t1\", next_tid = 1, next_prio = 20 }",
        "[0.000000050] h syscall_exit_read: { cpu_id = 0 }, { ret = 1 }",
    ];
    let latency = whole(&Traceset::from(vec![trace_of(lines)]));
    let of = &latency.traces()[0];
    assert_eq!((of.total(Family::Syscall).durations().count(), of.unmatched().lost), (0, 1));
}

#[test]
fn what_was_not_recorded_is_missing() {
    let lines = ["[0.000000010] h syscall_entry_read: { cpu_id = 0 }, { fd = 1 }"];
    let latency = whole(&Traceset::from(vec![trace_of(lines)]));
    let of = &latency.traces()[0];
    let missing = |family| Need::list(of.missing(family));
    assert_eq!(missing(Family::Syscall), "syscall_exit_*");
    assert_eq!(missing(Family::WakeUp), "sched_waking, sched_switch");
    assert_eq!(of.unmatched().entries_without_thread, 1);
}
