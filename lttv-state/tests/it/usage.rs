//! Usage agrees with a naive model and with stored references, however a trace is divided.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use flate2::read::GzDecoder;
use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, MemoryTrace, presets};
use ltt_read::{Timestamp, Trace};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::analysis::{attach, read};
use lttv_state::kernel::KernelState;
use lttv_state::usage::{Figure, Pages, TraceUsage, Usage, UsageAnalysis, UsageOptions};
use proptest::prelude::*;

use crate::support;

const CPUS: u64 = 3;

/// The origin of the clock of the traces, in ns.
const ORIGIN: u64 = 1_600_000_000_000_000_000;

/// An event, with the time after the previous one in ns.
#[derive(Debug, Clone, Copy)]
struct Step {
    after: u64,
    cpu: u64,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    /// A switch to a thread.
    Switch(u64),
    IrqEntry,
    IrqExit,
    /// An allocation of an order, which may fail.
    Allocate(u64, bool),
    Free(u64),
    Migrate(u64),
    /// A change of the frequency of a CPU, in kHz.
    Frequency(u64, u64),
    /// A packet of a length through one of two interfaces, which may be busy.
    Send(u64, usize, bool),
    Receive(u64, usize),
    Retransmit,
}

const INTERFACES: [&str; 2] = ["eth0", "lo"];

/// The names and the fields of all event types.
const EVENTS: [(&str, &[(&str, u32)]); 10] = [
    ("sched_switch", &[("prev_tid", 32), ("prev_state", 64), ("next_tid", 32)]),
    ("irq_handler_entry", &[("irq", 32)]),
    ("irq_handler_exit", &[("irq", 32), ("ret", 32)]),
    ("kmem_mm_page_alloc", &[("pfn", 64), ("order", 32)]),
    ("kmem_mm_page_free", &[("pfn", 64), ("order", 32)]),
    ("sched_migrate_task", &[("tid", 32), ("dest_cpu", 32)]),
    ("power_cpu_frequency", &[("state", 32), ("cpu_id", 32)]),
    ("net_dev_xmit", &[("rc", 32), ("len", 32)]),
    ("net_if_receive_skb", &[("len", 32)]),
    ("tcp_retransmit_skb", &[]),
];

/// Writes a trace with one tracefile for each CPU.
fn write(steps: &[Step]) -> Arc<Trace> {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let class = StreamClassId(0);
    let uint = |bits| FieldClass::uint(bits, ByteOrder::Little);
    let types: Vec<EventTypeId> = EVENTS
        .iter()
        .map(|(name, fields)| {
            let name_field = name.starts_with("net_").then(|| ("name", FieldClass::string()));
            let fields = fields.iter().map(|(name, bits)| (*name, uint(*bits))).chain(name_field);
            schema.add_event_type(class, name, FieldClass::structure(fields))
        })
        .collect();
    let mut trace = MemoryTrace::new(schema);
    let mut current = [0; CPUS as usize];
    let mut streams: Vec<_> = (0..CPUS)
        .map(|cpu| {
            let stream = trace.stream(class, &format!("channel0_{cpu}")).expect("a stream");
            stream.with_stream_id(cpu).with_packet_context(FieldValue::fields([("cpu_id", cpu)]))
        })
        .collect();
    let mut time = 1000;
    for Step { after, cpu, what } in steps {
        time += after;
        let mut text = None;
        let (at, fields): (usize, Vec<(&'static str, u64)>) = match *what {
            What::Switch(next) => {
                let prev = std::mem::replace(&mut current[*cpu as usize], next);
                (0, vec![("prev_tid", prev), ("next_tid", next)])
            }
            What::IrqEntry => (1, vec![("irq", 5)]),
            What::IrqExit => (2, vec![("irq", 5)]),
            What::Allocate(order, fails) => {
                (3, vec![("order", order), ("pfn", if fails { u64::MAX } else { 7 })])
            }
            What::Free(order) => (4, vec![("order", order)]),
            What::Migrate(tid) => (5, vec![("tid", tid)]),
            What::Frequency(cpu, khz) => (6, vec![("state", khz), ("cpu_id", cpu)]),
            What::Send(len, interface, is_busy) => {
                text = Some(INTERFACES[interface]);
                (7, vec![("len", len), ("rc", if is_busy { 0x10 } else { 0 })])
            }
            What::Receive(len, interface) => {
                text = Some(INTERFACES[interface]);
                (8, vec![("len", len)])
            }
            What::Retransmit => (9, Vec::new()),
        };
        let fields = fields.into_iter().map(|(name, value)| (name.into(), value.into()));
        let text = text.map(|text| ("name".into(), text.into()));
        let payload = FieldValue::Fields(fields.chain(text).collect());
        streams[*cpu as usize].event(types[at], time, payload).expect("an event");
    }
    streams.into_iter().for_each(|stream| trace.add(stream).expect("a sound stream"));
    trace.open().expect("a sound trace")
}

/// The sums of a trace in a span of time, event by event.
#[derive(Debug, Default, PartialEq)]
struct Model {
    /// The times by CPU and thread; that of thread 0 is idle.
    times: BTreeMap<(u32, u64), u64>,
    switches: BTreeMap<u32, u64>,
    migrations: u64,
    pages: (u64, u64, u64),
    /// The allocated pages by thread; in interrupts by `None`.
    allocated: BTreeMap<Option<u64>, u64>,
    /// The time and the sum of time and kHz of each CPU.
    frequencies: BTreeMap<u32, (u64, u128)>,
    /// Packets and bytes sent and received, by interface.
    interfaces: BTreeMap<usize, [(u64, u64); 2]>,
    retransmissions: u64,
}

impl Model {
    /// Computes the sums of the steps in `[from, to)`; `end` is the end of the trace.
    fn new(steps: &[Step], from: u64, to: u64, end: u64) -> Self {
        let mut model = Model::default();
        let mut timed = Vec::new();
        let mut time = 1000;
        for step in steps {
            time += step.after;
            timed.push((time, step));
        }
        let within = |a: u64, b: u64| b.min(to).saturating_sub(a.max(from));
        let first = timed[0].0;
        for cpu in 0..CPUS {
            let of_cpu: Vec<_> = timed.iter().filter(|(_, step)| step.cpu == cpu).collect();
            let (mut running, mut since, mut in_irq) = (0, first, false);
            let mut charge = |thread: u64, a: u64, b: u64| {
                let time = within(a, b);
                if time > 0 {
                    *model.times.entry((cpu as u32, thread)).or_default() += time;
                }
            };
            for (time, step) in &of_cpu {
                let counts = (from..to).contains(time);
                let owner = (!in_irq).then_some(running);
                match step.what {
                    What::Switch(next) => {
                        charge(running, since, *time);
                        (running, since) = (next, *time);
                        *model.switches.entry(cpu as u32).or_default() += u64::from(counts);
                    }
                    What::IrqEntry => in_irq = true,
                    What::IrqExit => in_irq = false,
                    What::Allocate(_, true) => model.pages.2 += u64::from(counts),
                    What::Allocate(order, false) if counts => {
                        model.pages.0 += 1 << order;
                        *model.allocated.entry(owner).or_default() += 1 << order;
                    }
                    What::Free(order) if counts => model.pages.1 += 1 << order,
                    What::Migrate(_) => model.migrations += u64::from(counts),
                    What::Send(len, interface, false) if counts => {
                        let of = &mut model.interfaces.entry(interface).or_default()[0];
                        (of.0, of.1) = (of.0 + 1, of.1 + len);
                    }
                    What::Receive(len, interface) if counts => {
                        let of = &mut model.interfaces.entry(interface).or_default()[1];
                        (of.0, of.1) = (of.0 + 1, of.1 + len);
                    }
                    What::Retransmit => model.retransmissions += u64::from(counts),
                    _ => {}
                }
            }
            charge(running, since, end);
            let changes = timed.iter().filter_map(|(time, step)| match step.what {
                What::Frequency(of, khz) if of == cpu => Some((*time, khz)),
                _ => None,
            });
            let changes: Vec<_> = changes.collect();
            for (at, (since, khz)) in changes.iter().enumerate() {
                let until = changes.get(at + 1).map_or(end, |(time, _)| *time);
                let time = within(*since, until);
                if time > 0 {
                    let of = model.frequencies.entry(cpu as u32).or_default();
                    (of.0, of.1) = (of.0 + time, of.1 + u128::from(time) * u128::from(*khz));
                }
            }
        }
        model.switches.retain(|_, count| *count > 0);
        model
    }

    /// Returns the sums that were found.
    fn of(found: &TraceUsage) -> Self {
        let mut model = Model::default();
        let tid = |serial: lttv_state::kernel::Serial| {
            found.thread_facts().get(serial.index()).and_then(|facts| facts.tid)
        };
        for (key, counts) in found.statistics().leaves().filter(|(_, of)| of.cpu_time > 0) {
            let thread = tid(key.process).expect("a known thread");
            *model.times.entry((key.cpu, u64::try_from(thread).unwrap())).or_default() +=
                counts.cpu_time;
        }
        for cpu in found.cpus() {
            let number = cpu.sum.number;
            if cpu.switches > 0 {
                model.switches.insert(number, cpu.switches);
            }
            if let Some(frequency) = cpu.frequency {
                let time: u64 = frequency.residency.iter().map(|of| of.1).sum();
                let cycles = frequency.residency.iter();
                let cycles = cycles.map(|(hz, ns)| u128::from(hz / 1000) * u128::from(*ns)).sum();
                model.frequencies.insert(number, (time, cycles));
            }
        }
        let total = found.total();
        model.migrations = total.migrations;
        let Pages { allocated, freed, failures, .. } = total.pages;
        (model.pages, model.retransmissions) =
            ((allocated, freed, failures), total.retransmissions);
        model.allocated = found
            .all_threads()
            .iter()
            .filter(|thread| thread.pages.allocated > 0)
            .map(|of| (tid(of.thread).map(|tid| tid as u64), of.pages.allocated))
            .fold(BTreeMap::new(), |mut sums, (thread, pages)| {
                *sums.entry(thread).or_default() += pages;
                sums
            });
        for of in found.interfaces() {
            let at = INTERFACES.iter().position(|name| *name == of.name).expect("an interface");
            let both = [of.sent, of.received].map(|of| (of.packets, of.bytes));
            if both != [(0, 0); 2] {
                model.interfaces.insert(at, both);
            }
        }
        model
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let what = prop_oneof![
        4 => (0..5_u64).prop_map(What::Switch),
        1 => Just(What::IrqEntry),
        1 => Just(What::IrqExit),
        2 => (0..4_u64, prop::bool::weighted(0.2)).prop_map(|of| What::Allocate(of.0, of.1)),
        1 => (0..4_u64).prop_map(What::Free),
        1 => (1..5_u64).prop_map(What::Migrate),
        1 => (0..CPUS, 800..3000_u64).prop_map(|of| What::Frequency(of.0, of.1)),
        1 => (40..1500_u64, 0..2_usize, prop::bool::weighted(0.2))
            .prop_map(|of| What::Send(of.0, of.1, of.2)),
        1 => (40..1500_u64, 0..2_usize).prop_map(|of| What::Receive(of.0, of.1)),
        1 => Just(What::Retransmit),
    ];
    let step = (1..60_u64, 0..CPUS, what).prop_map(|(after, cpu, what)| Step { after, cpu, what });
    prop::collection::vec(step, 1..80)
}

/// Events as a machine can record them: no thread is on two CPUs at once, and no CPU switches in an
/// interrupt.
fn sound_steps() -> impl Strategy<Value = Vec<Step>> {
    steps().prop_map(|mut steps| {
        let mut in_irq = [false; CPUS as usize];
        for Step { cpu, what, .. } in &mut steps {
            let in_irq = &mut in_irq[*cpu as usize];
            *what = match (*what, *in_irq) {
                (What::Switch(_) | What::IrqEntry, true) => What::IrqExit,
                (What::IrqExit, false) => What::Retransmit,
                (What::Switch(thread @ 1..), _) => What::Switch(thread * 10 + *cpu),
                (what, _) => what,
            };
            match what {
                What::IrqEntry => *in_irq = true,
                What::IrqExit => *in_irq = false,
                _ => {}
            }
        }
        // Each CPU is known from the start.
        let first = (0..CPUS).map(|cpu| Step { after: 1, cpu, what: What::Switch(10 + cpu) });
        first.chain(steps).collect()
    })
}

fn end_of(steps: &[Step]) -> u64 {
    1000 + steps.iter().map(|step| step.after).sum::<u64>()
}

fn at(time: u64) -> Timestamp {
    Timestamp::from_ns((ORIGIN + time) as i64)
}

/// Returns a time by the clock of the steps.
fn since_origin(time: Timestamp) -> u64 {
    time.as_ns() as u64 - ORIGIN
}

/// Collects the usage of a window.
fn window(traceset: &Traceset, from: u64, to: u64, options: UsageOptions) -> Usage {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    context.state().seek_time(at(from));
    let usage = attach(&mut context, kernel, at(from)..at(to), UsageAnalysis::new(options));
    _ = context.read(&Bounds::all().since(at(from)).until(at(to))).expect("no position");
    usage.take(context.extensions_mut())
}

/// Checks that the intervals are those of windows.
fn check_intervals(found: &TraceUsage, steps: &[Step], length: u64) {
    let (start, end) = (since_origin(found.start()), since_origin(found.end()));
    let mut covered = 0;
    let intervals = found.intervals();
    for (number, interval) in intervals.iter().enumerate() {
        let (from, to) = (since_origin(interval.start), since_origin(interval.end));
        assert!(from == start || (from - start).is_multiple_of(length));
        assert!(from < to || start == end, "an interval without time at {from}");
        // The last event is a part of the last interval.
        let until = if number + 1 == intervals.len() { end + 1 } else { to };
        let model = Model::new(steps, from, until, end);
        let mut times = BTreeMap::new();
        for (thread, time) in &interval.threads {
            let tid = found.thread_facts()[thread.index()].tid.expect("a thread");
            *times.entry(tid as u64).or_insert(0) += time;
        }
        let mut expected = BTreeMap::new();
        for ((_, thread), time) in model.times.iter().filter(|((_, thread), _)| *thread != 0) {
            *expected.entry(*thread).or_insert(0) += time;
        }
        assert_eq!(times, expected, "{from} to {to}");
        for (cpu, mean) in &interval.cpus {
            assert_eq!(cpu.busy_time + cpu.idle_time + cpu.unknown_time, to - from);
            let known = model.frequencies.get(&cpu.number);
            let known = known.map(|(time, sum)| *sum as f64 / *time as f64 * 1000.0);
            assert!(
                mean.zip(known)
                    .map_or(mean.is_none() == known.is_none(), |(a, b)| (a - b).abs() < 1.0)
            );
        }
        let activity = interval.activity;
        let switches = model.switches.values().sum::<u64>();
        assert_eq!((activity.switches, activity.migrations), (switches, model.migrations));
        assert_eq!(
            (activity.pages.allocated, activity.pages.freed),
            (model.pages.0, model.pages.1)
        );
        covered += to - from;
    }
    assert_eq!(covered, end - start);
    assert_eq!(found.omitted_time(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn usage_is_that_of_a_naive_model(steps in sound_steps(), length in 1..500_u64, cuts in any::<(u16, u16)>()) {
        let traceset = Traceset::from(vec![write(&steps)]);
        let options = UsageOptions::new().every(Duration::from_nanos(length));
        let end = end_of(&steps);
        let whole = read(&traceset).threads(1).run(UsageAnalysis::new(options)).output;
        prop_assert_eq!(Model::of(&whole.traces()[0]), Model::new(&steps, 0, end + 1, end));
        check_intervals(&whole.traces()[0], &steps, length);
        // Windows, and their sum.
        let cut = |cut: u16| 1001 + u64::from(cut) % (end - 1000);
        let (a, b) = (cut(cuts.0).min(cut(cuts.1)), cut(cuts.0).max(cut(cuts.1)));
        let options = options.origin(at(1000));
        let mut sum = window(&traceset, 1001, a, options);
        for (from, to) in [(a, b), (b, end)] {
            let part = window(&traceset, from, to, options);
            prop_assert_eq!(Model::of(&part.traces()[0]), Model::new(&steps, from, to, end));
            sum.add(&part);
        }
        let all = window(&traceset, 1001, end, options);
        prop_assert_eq!(Model::of(&sum.traces()[0]), Model::of(&all.traces()[0]));
        prop_assert_eq!(sum.traces()[0].intervals(), all.traces()[0].intervals());
    }

    /// Threads on two CPUs at once, interrupts that never end, CPUs without a switch.
    #[test]
    fn times_add_up_whatever_is_recorded(steps in steps(), length in 1..500_u64) {
        let traceset = Traceset::from(vec![write(&steps)]);
        let options = UsageOptions::new().every(Duration::from_nanos(length));
        let found = read(&traceset).threads(1).run(UsageAnalysis::new(options)).output;
        let found = &found.traces()[0];
        let mut sums: BTreeMap<u32, [u64; 3]> = BTreeMap::new();
        for interval in found.intervals() {
            let time = interval.end.since(interval.start);
            for (cpu, _) in &interval.cpus {
                let times = [cpu.busy_time, cpu.idle_time, cpu.unknown_time];
                prop_assert_eq!(times.iter().sum::<u64>(), time);
                let sum = sums.entry(cpu.number).or_default();
                sum.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
            }
        }
        for cpu in found.cpus() {
            let times = [cpu.sum.busy_time, cpu.sum.idle_time, cpu.sum.unknown_time];
            prop_assert_eq!(times.iter().sum::<u64>(), found.time());
            if let Some(sum) = sums.get(&cpu.sum.number) {
                prop_assert_eq!(*sum, times);
            }
        }
    }
}

fn same(one: &Usage, other: &Usage) {
    for (one, other) in one.traces().iter().zip(other.traces()) {
        assert_eq!(one.cpus(), other.cpus());
        assert_eq!(one.threads(), other.threads());
        assert_eq!(one.processes(), other.processes());
        assert_eq!(one.intervals(), other.intervals());
        assert_eq!((one.total(), one.interfaces()), (other.total(), other.interfaces()));
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for (name, traceset) in support::kernel_traces() {
        let options = UsageOptions::new().every(Duration::from_millis(7));
        let one = read(&traceset).threads(1).run(UsageAnalysis::new(options)).output;
        for threads in [2, 3] {
            same(&one, &read(&traceset).threads(threads).run(UsageAnalysis::new(options)).output);
        }
        for of in one.traces() {
            let time: u64 = of.cpus().iter().map(|cpu| cpu.sum.busy_time).sum();
            let intervals = of.intervals();
            let cells = intervals.iter().flat_map(|of| &of.cpus).map(|(cpu, _)| cpu.busy_time);
            assert_eq!(cells.sum::<u64>(), time, "{name}");
            let switches: u64 = intervals.iter().map(|of| of.activity.switches).sum();
            assert_eq!(switches, of.total().switches, "{name}");
        }
    }
}

/// The bundled trace has no events of frequencies, pages and packets.
#[test]
fn what_is_not_recorded_is_told() {
    let traceset = Traceset::open(support::bundled()).expect("a trace");
    let found = read(&traceset).threads(1).run(UsageAnalysis::new(UsageOptions::new())).output;
    let recorded: Vec<_> =
        Figure::ALL.into_iter().filter(|of| found.traces()[0].is_recorded(*of)).collect();
    assert!(recorded.contains(&Figure::Cpu) && !recorded.contains(&Figure::Frequencies));
    assert!(found.traces()[0].cpus().iter().all(|cpu| cpu.frequency.is_none()));
    assert!(found.traces()[0].intervals().is_empty());
}

/// The figures of an independent model: threads are named by their ids and names.
#[test]
fn recorded_traces_have_the_reference_figures() {
    let Some(ctf) = support::shared("ctf") else { return };
    let folder = ctf.join("../../expected/analyses-2/reference/open");
    for (name, path) in [
        ("k1-8cpu", "k1-8cpu"),
        ("k1-ctx", "k1-ctx"),
        ("k1-mix", "k1-mix/kernel"),
        ("k1-multi", "k1-multi"),
        ("uneven-streams", "tc-uneven-streams"),
    ] {
        let (text, path) = (folder.join(format!("{name}.json")), ctf.join(path));
        if !text.exists() || !path.is_dir() {
            support::report(&format!("skipped: no reference of {name}"));
            continue;
        }
        let text = std::fs::read_to_string(text).expect("a file");
        let expected: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let traceset = Traceset::open(path).expect("a trace");
        let found = read(&traceset).threads(2).run(UsageAnalysis::new(UsageOptions::new())).output;
        let found = &found.traces()[0];
        for cpu in found.cpus() {
            let of = &expected["cpu"][cpu.sum.number.to_string()];
            let (busy, idle) = (of["busy"].as_u64(), of["idle"].as_u64());
            assert_eq!((Some(cpu.sum.busy_time), Some(cpu.sum.idle_time)), (busy, idle), "{name}");
        }
        let mut by_tid: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
        for thread in found.all_threads() {
            let tid = found.thread_facts().get(thread.thread.index()).and_then(|of| of.tid);
            let tid = tid.map_or("none".to_owned(), |tid| tid.to_string());
            let of = by_tid.entry(tid).or_default();
            (of.0, of.1, of.2) =
                (of.0 + thread.cpu_time, of.1 + thread.switches, of.2 + thread.migrations);
        }
        let check = |table: &str, value: &dyn Fn(&(u64, u64, u64)) -> u64| {
            let mut compared = 0;
            for (key, expected) in expected[table].as_object().into_iter().flatten() {
                let tid = key.split(' ').next().expect("an id");
                let found = by_tid.get(tid).map_or(0, value);
                assert_eq!(Some(found), expected.as_u64(), "{name}: {table} of {key}");
                compared += 1;
            }
            compared
        };
        let compared = check("threads_cpu_ns", &|of| of.0)
            + check("switches_in", &|of| of.1)
            + check("migrations", &|of| of.2);
        assert!(compared > 10, "{name}");
        if let Some(pages) = expected.get("kernel_pages") {
            let of = found.total().pages;
            assert_eq!(pages["alloc"].as_u64(), Some(of.allocated), "{name}");
            assert_eq!(pages["free"].as_u64(), Some(of.freed), "{name}");
        }
    }
}

/// The shares of threads in the output of lttng-analyses. Its shares of idle threads and CPUs include
/// the time before their first switch, in which they were idle.
#[test]
fn threads_have_the_shares_that_cputop_reports() {
    let Some(ctf) = support::shared("ctf") else { return };
    let outputs = ctf.join("../../expected/analyses-2/lttng-analyses/open");
    for (name, path) in [
        ("k1-8cpu", "k1-8cpu"),
        ("k1-ctx", "k1-ctx"),
        ("k1-mix", "k1-mix"),
        ("k1-multi", "k1-multi"),
        ("k1-tfc", "k1-tfc"),
        ("uneven-streams", "tc-uneven-streams"),
    ] {
        let (output, path) = (outputs.join(name).join("cputop.json.gz"), ctf.join(path));
        let (Ok(output), true) = (std::fs::File::open(output), path.is_dir()) else {
            support::report(&format!("skipped: no cputop of {name}"));
            continue;
        };
        let output: serde_json::Value =
            serde_json::from_reader(GzDecoder::new(output)).expect("JSON");
        let found = read(&Traceset::open(path).expect("a trace"))
            .threads(1)
            .run(UsageAnalysis::new(UsageOptions::new()))
            .output;
        let kernel =
            found.traces().iter().find(|of| !of.cpus().is_empty()).expect("a kernel trace");
        let mut times: BTreeMap<i64, u64> = BTreeMap::new();
        for thread in kernel.threads() {
            let facts = kernel.thread_facts().get(thread.thread.index());
            if let Some(tid) = facts.and_then(|of| of.tid) {
                *times.entry(tid.into()).or_default() += thread.cpu_time;
            }
        }
        let tables = output["results"].as_array().expect("tables");
        let table = tables.iter().find(|table| table["class"] == "per-process").expect("a table");
        let mut compared = 0;
        for row in table["data"].as_array().expect("rows") {
            let tid = row[0]["tid"].as_i64().expect("a thread id");
            if tid != 0 {
                let share = times.get(&tid).map_or(0.0, |time| *time as f64 / kernel.time() as f64);
                let expected = row[3]["value"].as_f64().expect("a ratio");
                assert!((share - expected).abs() < 1e-9, "{name} {tid}: {share} {expected}");
                compared += 1;
            }
        }
        assert!(compared > 30, "{name}: {compared}");
    }
}

/// Time of which nothing is known is that of its CPU, and of no thread.
#[test]
fn unknown_time_is_that_of_no_thread() {
    let switch = |time, from, to| {
        format!(
            "[0.{time:09}] h sched_switch: {{ cpu_id = 0 }}, {{ prev_comm = \"a\", prev_tid = {from}, \
             prev_state = 1, next_comm = \"b\", next_tid = {to} }}"
        )
    };
    let lines = [
        switch(10, 0, 1),
        switch(20, 1, 2),
        "[0.000000025] h lost: { cpu_id = 0 }, {}".to_owned(),
        switch(90, 3, 0),
        switch(95, 0, 1),
    ];
    let traceset =
        Traceset::from(vec![support::event_text::trace_of(lines.iter().map(String::as_str))]);
    let options = UsageOptions::new().every(Duration::from_nanos(1000));
    let found = read(&traceset).run(UsageAnalysis::new(options)).output;
    let found = &found.traces()[0];
    let cpu = &found.cpus()[0].sum;
    assert!(cpu.unknown_time > 0, "{cpu:?}");
    let threads: u64 = found.threads().iter().map(|of| of.cpu_time).sum();
    assert_eq!(threads, cpu.busy_time);
    let intervals = found.intervals();
    let threads: u64 = intervals.iter().flat_map(|of| &of.threads).map(|(_, time)| time).sum();
    assert_eq!(threads, cpu.busy_time);
}
