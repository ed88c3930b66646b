//! Statistics, usage, latencies, histories and changes of the state in slices, on several threads, are
//! those of one thread, bit for bit.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::{Bound, ControlFlow};
use std::time::Duration;

use crate::support;
use crate::support::latency_text::everything;
use crate::support::scheduling::{Content, KernelEvent, Machine, trace};
use ltt_read::{Timestamp, TraceIndex, TracefileNumber};
use lttv_context::attributes::{AttributeId, Attributes};
use lttv_context::{Bounds, Handle, SliceThreads, Traceset, TracesetContext};
use lttv_state::analysis::{End, KernelAnalysis, Read, attach, read};
use lttv_state::kernel::{KernelState, StateChange, Transition};
use lttv_state::kernel_history::{HistoryTarget, record_on};
use lttv_state::latency::{LatencyAnalysis, Settings};
use lttv_state::stats::{Counts, LeafKey, Statistics, StatisticsAnalysis};
use lttv_state::usage::{Usage, UsageAnalysis, UsageOptions};
use proptest::prelude::*;

/// A time window, both times inclusive.
type Window = Option<(Timestamp, Timestamp)>;

fn range(window: Window) -> (Bound<Timestamp>, Bound<Timestamp>) {
    window.map_or((Bound::Unbounded, Bound::Unbounded), |(start, end)| {
        (Bound::Included(start), Bound::Included(end))
    })
}

/// Creates a context at the start of a window, with the state there.
fn at_start(
    traceset: &Traceset,
    window: Window,
) -> (TracesetContext<'static>, Handle<KernelState>) {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    if let Some((start, _)) = window {
        context.state().seek_time(start);
    }
    (context, kernel)
}

/// Reads to the end of a window, also what follows it where a clock goes back.
fn read_window(context: &mut TracesetContext<'_>, window: Window) {
    let bounds = window.map_or(Bounds::all(), |(start, end)| {
        Bounds::all().since(start).until(end.saturating_add(1))
    });
    _ = context.read(&bounds).expect("bounds without a position");
}

/// Reads to the place at which a window ends, whose state is that at its end.
fn read_to_end(context: &mut TracesetContext<'_>, window: Window) {
    let bounds = window.map_or(Bounds::all(), |(start, end)| {
        Bounds::all().since(start).until_start_of(end.saturating_add(1))
    });
    _ = context.read(&bounds).expect("bounds without a position");
}

/// Creates a read in slices.
fn in_slices(traceset: &Traceset, window: Window, (threads, events): Slices) -> Read<'_> {
    let threads = SliceThreads::new(threads).slice_events(events);
    read(traceset).window(range(window)).in_slices(threads)
}

/// The number of threads and of events of a slice.
type Slices = (usize, u64);

/// Collects statistics by hooks after each event.
fn alone(traceset: &Traceset, window: Window) -> (Statistics, String) {
    let (mut context, kernel) = at_start(traceset, window);
    let statistics = attach(&mut context, kernel, range(window), StatisticsAnalysis::new());
    read_to_end(&mut context, window);
    let anomalies = anomalies(&context.extensions()[kernel]);
    (statistics.take(context.extensions_mut()), anomalies)
}

fn anomalies(kernel: &KernelState) -> String {
    kernel.traces().map(|state| format!("{:?};", state.anomalies())).collect()
}

/// Everything that statistics contain.
type Contents = (String, Vec<(BTreeMap<LeafKey, Counts>, String)>);

fn contents(statistics: &Statistics) -> Contents {
    let mut tree = Attributes::new();
    statistics.export(&mut tree, AttributeId::ROOT).expect("nothing else is there");
    let traces = statistics.traces().iter().map(|trace| {
        let leaves = trace.leaves().map(|(key, counts)| (*key, counts.clone()));
        let facts = (trace.start(), trace.end(), trace.process_facts(), trace.devices());
        let names = trace.leaves().map(|(key, _)| trace.name(key.submode).to_owned());
        let names: std::collections::BTreeSet<_> = names.collect();
        (leaves.collect(), format!("{facts:?} {names:?}"))
    });
    (tree.to_string(), traces.collect())
}

fn history(traceset: &Traceset, threads: usize, events: u64) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("history");
    let threads = SliceThreads::new(threads).slice_events(events);
    let go_on = |_| ControlFlow::Continue(());
    _ = record_on(threads, traceset, HistoryTarget::File(&file), |_| (), go_on).expect("a history");
    std::fs::read(&file).expect("a file")
}

/// Computes the usage by hooks after each event, and in slices.
fn usages(traceset: &Traceset, window: Window, slices: Slices) -> [Usage; 2] {
    let (mut context, kernel) = at_start(traceset, window);
    let span = context.contexts().time_span().map_or(0, |span| span.end.since(span.start));
    let options = UsageOptions::new().every(Duration::from_nanos(span / 40));
    let usage = attach(&mut context, kernel, range(window), UsageAnalysis::new(options));
    read_to_end(&mut context, window);
    let alone = usage.take(context.extensions_mut());
    [alone, in_slices(traceset, window, slices).run(UsageAnalysis::new(options)).output]
}

fn usage_of_traces(usage: &Usage) -> Vec<String> {
    let traces = usage.traces().iter().map(|of| {
        let all = (of.cpus(), of.threads(), of.processes(), of.intervals(), of.interfaces());
        format!("{all:?} {:?} {:?} {}", of.total(), (of.start(), of.end()), of.omitted_time())
    });
    traces.collect()
}

/// Computes the latencies by hooks after each event, and in slices: their contents, by trace.
fn latencies(traceset: &Traceset, window: Window, slices: Slices) -> [Vec<String>; 2] {
    let settings = Settings::new().top(20);
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let latency =
        attach(&mut context, kernel, range(window), LatencyAnalysis::new(settings.clone()));
    if let Some((start, _)) = window {
        context.state().seek_time(start);
    }
    read_window(&mut context, window);
    let whole =
        in_slices(traceset, None, slices).run(LatencyAnalysis::new(settings.clone())).output;
    let alone = whole.traces().iter().enumerate().map(|(index, whole)| {
        let latency = match window {
            Some((_, end)) => {
                latency.take_until(context.extensions_mut(), end.min(whole.span().end))
            }
            None => latency.take(context.extensions_mut()),
        };
        everything(&latency.traces()[index])
    });
    let alone = alone.collect();
    let several = in_slices(traceset, window, slices).run(LatencyAnalysis::new(settings)).output;
    [alone, several.traces().iter().map(everything).collect()]
}

/// The changes that an observer of the kernel state sees: each with a digest of its effect and of the
/// processes that it changed.
#[derive(Clone, Default)]
struct Changes(Vec<(TraceIndex, TracefileNumber, Transition, Timestamp, u64)>);

impl Changes {
    fn add(
        &mut self,
        kernel: &KernelState,
        (trace, tracefile): (TraceIndex, TracefileNumber),
        (transition, time): (Transition, Timestamp),
    ) {
        let state = kernel.trace(trace).expect("the state of each trace");
        let changed = state.changed_processes().iter().map(|index| state.process(*index));
        let text = format!("{:?} {:?}", state.effect(), changed.collect::<Vec<_>>());
        let mut hasher = DefaultHasher::new();
        (text, kernel.cpu_of_tracefile(tracefile)).hash(&mut hasher);
        self.0.push((trace, tracefile, transition, time, hasher.finish()));
    }
}

/// The analysis of changes.
struct EachChange;

impl KernelAnalysis for EachChange {
    type State = Changes;
    type Slice = ();
    type Part = ();
    type Output = Changes;

    fn begin(&self, _: &KernelState, _: lttv_state::analysis::Window) -> (Changes, ()) {
        Default::default()
    }

    fn changed(&self, all: &mut Changes, (): &mut (), kernel: &KernelState, change: StateChange) {
        let StateChange { trace, tracefile, transition, time, .. } = change;
        all.add(kernel, (trace, tracefile), (transition, time));
    }

    fn finish(&self, all: Changes, (): (), _: End<'_>) -> Changes {
        all
    }
}

/// Follows the state by hooks after each event, and in slices.
fn changes(traceset: &Traceset, window: Window, slices: Slices) -> [Changes; 2] {
    let (mut context, kernel) = at_start(traceset, window);
    let alone = context.attach_data(Changes::default());
    context.on_event("*", move |call| {
        let (trace, event_type) = (call.trace.index(), call.event.type_id());
        let (tracefile, time) = (call.tracefile.number(), call.delivery_time());
        let (alone, kernel) = call.extensions.get_pair_mut(alone, kernel).expect("both");
        if let Some(transition) = kernel.transition(trace, event_type) {
            alone.add(kernel, (trace, tracefile), (transition, time));
        }
    });
    read_window(&mut context, window);
    let alone = std::mem::take(&mut context.extensions_mut()[alone]);
    [alone, in_slices(traceset, window, slices).run(EachChange).output]
}

/// Compares all analyses, of everything and of a window: from a part of the time span to another one, in
/// thousandths.
fn check(name: &str, traceset: &Traceset, slices: Slices, part: (u64, u64)) {
    check_window(name, traceset, slices, None);
    if let Some(span) = TracesetContext::new(traceset).contexts().time_span() {
        let at = |part: u64| {
            let time = u128::from(span.end.since(span.start)) * u128::from(part) / 1000;
            span.start.saturating_add(u64::try_from(time).expect("a part of a span"))
        };
        let name = format!("{name}, window {part:?}");
        check_window(&name, traceset, slices, Some((at(part.0), at(part.1.max(part.0)))));
    }
    let (threads, events) = slices;
    let (one, several) = (history(traceset, 1, events), history(traceset, threads.max(2), events));
    assert!(one == several, "{name}: histories of {} and {} bytes", one.len(), several.len());
}

fn check_window(name: &str, traceset: &Traceset, slices: Slices, window: Window) {
    let [expected, several] = changes(traceset, window, slices);
    let differs = expected.0.iter().zip(&several.0).position(|(one, several)| one != several);
    assert_eq!((several.0.len(), differs), (expected.0.len(), None), "{name}: changes");
    let [expected, several] = usages(traceset, window, slices).map(|usage| usage_of_traces(&usage));
    assert_eq!(several, expected, "{name}: usage");
    let [expected, several] = latencies(traceset, window, slices);
    assert!(several == expected, "{name}: latencies");
    let (expected, expected_anomalies) = alone(traceset, window);
    let found = in_slices(traceset, window, slices).run(StatisticsAnalysis::new());
    assert_eq!(anomalies(&found.kernel), expected_anomalies, "{name}");
    let (found, expected) = (contents(&found.output), contents(&expected));
    assert!(found.0 == expected.0, "{name}: {}\nexpected {}", found.0, expected.0);
    assert_eq!(found.1, expected.1, "{name}");
}

#[test]
fn recorded_traces() {
    let mut all = support::kernel_traces();
    for name in ["ctf/gen-mut-k1-packets-swapped", "ctf/bt1-packet-seq-num-2-streams-lost-in-1"] {
        let path = support::shared(name);
        all.extend(path.map(|path| (name.to_owned(), Traceset::open(path).expect("a trace"))));
    }
    for ((name, traceset), (threads, events)) in
        all.iter().zip([(3, 100), (2, 1000), (4, 17)].into_iter().cycle())
    {
        check(name, traceset, (threads, events), (300, 700));
    }
}

/// Several traces, one of which has no kernel, and one of LTTng 0.x.
#[test]
fn several_traces() {
    let paths = ["kernel", "ust", "legacy"];
    let paths = paths.map(|name| support::bundled().with_file_name(name));
    let paths: Vec<_> = paths.into_iter().filter(|path| path.is_dir()).collect();
    assert!(paths.len() > 1);
    check("several", &Traceset::open_many(paths).expect("traces"), (3, 100), (1, 999));
}

/// An event of a CPU, with the time since the previous event of any.
fn event() -> impl Strategy<Value = (i64, u32, usize, [i64; 3])> {
    let numbers = [0..6_i64, 0..6_i64, -3..9_i64];
    (prop_oneof![Just(0_i64), 1..50_i64], 0..3_u32, 0..KINDS.len(), numbers)
}

const KINDS: [&str; 25] = [
    "sched_switch",
    "sched_waking",
    "syscall_entry_openat",
    "syscall_exit_openat",
    "syscall_entry_read",
    "syscall_exit_read",
    "irq_handler_entry",
    "irq_handler_exit",
    "irq_softirq_entry",
    "irq_softirq_exit",
    "sched_process_fork",
    "sched_process_exit",
    "sched_process_free",
    "sched_migrate_task",
    "block_rq_issue",
    "block_rq_complete",
    "lttng_statedump_end",
    "net_dev_queue",
    "net_dev_xmit",
    "net_if_receive_skb",
    "kmem_mm_page_alloc",
    "power_cpu_frequency",
    "irq_softirq_raise",
    "syscall_entry_futex",
    "syscall_exit_futex",
];

fn kernel_event(time: i64, cpu: u32, kind: usize, [a, b, c]: [i64; 3]) -> KernelEvent {
    let name = KINDS[kind];
    let text = |name: &str, number: i64| (name.to_owned(), Content::Text(format!("t{number}")));
    let mut event = match name {
        "sched_switch" => KernelEvent::switch(time, cpu, a, c, b),
        "sched_waking" | "sched_migrate_task" => {
            KernelEvent::new(time, cpu, name, &[("tid", a), ("target_cpu", b), ("dest_cpu", b)])
        }
        "sched_process_fork" => {
            KernelEvent::new(time, cpu, name, &[("child_tid", a), ("parent_tid", b)])
        }
        "syscall_entry_read" | "syscall_exit_read" | "syscall_exit_openat" => {
            KernelEvent::new(time, cpu, name, &[("fd", a), ("ret", c)])
        }
        "irq_handler_entry" => KernelEvent::new(time, cpu, name, &[("irq", a)]),
        "irq_softirq_entry" | "irq_softirq_raise" => {
            KernelEvent::new(time, cpu, name, &[("vec", a)])
        }
        "net_dev_xmit" | "net_if_receive_skb" => {
            KernelEvent::new(time, cpu, name, &[("len", a), ("rc", 0)])
        }
        "kmem_mm_page_alloc" => KernelEvent::new(time, cpu, name, &[("pfn", a), ("order", b)]),
        "power_cpu_frequency" => {
            KernelEvent::new(time, cpu, name, &[("state", 1000 * a), ("cpu_id", b)])
        }
        "syscall_entry_futex" => KernelEvent::new(time, cpu, name, &[("uaddr", a), ("op", b % 2)]),
        "syscall_exit_futex" => KernelEvent::new(time, cpu, name, &[("ret", c)]),
        _ => KernelEvent::new(
            time,
            cpu,
            name,
            &[("tid", a), ("dev", b), ("sector", a), ("nr_sector", c)],
        ),
    };
    match name {
        "sched_switch" => {
            event
                .fields
                .extend([text("prev_comm", a), text("next_comm", if c > 6 { c } else { b })]);
        }
        "sched_process_fork" => event.fields.push(text("child_comm", a)),
        "irq_handler_entry" | "net_dev_xmit" | "net_if_receive_skb" => {
            event.fields.push(text("name", a));
        }
        "syscall_entry_openat" => event.fields.push(text("filename", c)),
        "block_rq_issue" | "block_rq_complete" => {
            let letters = if b > 2 { "W" } else { "R" };
            event.fields.push(("rwbs".to_owned(), Content::Text(letters.to_owned())));
        }
        _ => {}
    }
    event
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Any events, in small packets, some of which were lost: many at equal times, some CPUs only at the
    /// start or only at the end.
    #[test]
    fn random_traces(
        events in prop::collection::vec(event(), 1..200),
        (threads, size) in (1..4_usize, 1..40_u64),
        discards in prop::option::of(0..4_u64),
        ends in prop::array::uniform3((0..120_usize, 80..200_usize)),
        part in (0..700_u64, 200..1100_u64),
    ) {
        let mut time = 1000;
        let mut all = Vec::new();
        for (at, (since, cpu, kind, numbers)) in events.into_iter().enumerate() {
            time += since;
            let (begin, end) = ends[cpu as usize];
            if at >= begin / 2 && at < end || at == 0 {
                all.push(kernel_event(time, cpu, kind, numbers));
            }
        }
        let machine = Machine { packet: 300, discards_before: discards, ..Machine::default() };
        let traceset = Traceset::from_iter([trace(machine, &all)]);
        check("random", &traceset, (threads, size), part);
    }
}
