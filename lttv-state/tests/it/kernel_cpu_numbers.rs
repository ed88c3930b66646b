//! Unusual CPU numbers: replay, checkpoints, histories, statistics and filters agree, and
//! every event is counted.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, Schema, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use ltt_read::{Event, Timestamp, TraceIndex};
use lttv_context::{Bounds, CheckpointPolicy, Traceset, TracesetContext};
use lttv_filter::{Environment, Expression};
use lttv_state::analysis::read;
use lttv_state::filter::KernelFilters;
use lttv_state::kernel::KernelState;
use lttv_state::kernel_history::{HistoryTarget, Snapshot, record};
use lttv_state::stats::{Statistics, StatisticsAnalysis};
use proptest::prelude::*;

/// The location of the CPU number in the events of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CpuLocation {
    /// In the packet context, as in traces of LTTng.
    ByPacket,
    /// In each event, as in traces of perf.
    ByEvent,
}

/// An event of a stream.
#[derive(Debug, Clone)]
struct Case {
    stream: usize,
    /// The CPU, if events contain it.
    cpu: u32,
    kind: usize,
    tid: i64,
    other: i64,
    /// Another CPU that the event names.
    about: u32,
    irq: i64,
    passed: u64,
}

const STREAMS: usize = 3;
/// The number of events in a packet.
const PACKET: usize = 7;

fn cpu() -> impl Strategy<Value = u32> + Clone {
    prop_oneof![
        4 => 0..4u32,
        2 => prop::sample::select(vec![
            63, 64, 4095, 8191, 16383, 16384, 65535, 65536, 1 << 22, i32::MAX as u32,
            i32::MAX as u32 + 1, u32::MAX - 1, u32::MAX,
        ]),
        1 => any::<u32>(),
    ]
}

fn tid() -> impl Strategy<Value = i64> {
    let extremes =
        vec![-1, i32::MIN.into(), i32::MAX.into(), (1 << 22) - 1, 1 << 22, u32::MAX.into()];
    prop_oneof![5 => 0..9i64, 1 => prop::sample::select(extremes)]
}

fn case() -> impl Strategy<Value = Case> {
    let irqs = vec![-1, 0, 65535, 65536, i32::MAX.into(), i32::MIN.into()];
    let irq = prop_oneof![3 => 0..5i64, 1 => prop::sample::select(irqs)];
    let times = prop_oneof![Just(0), 1..1000u64];
    (0..STREAMS, cpu(), 0..KINDS, tid(), tid(), cpu(), irq, times).prop_map(
        |(stream, cpu, kind, tid, other, about, irq, passed)| Case {
            stream,
            cpu,
            kind,
            tid,
            other,
            about,
            irq,
            passed,
        },
    )
}

/// Returns the event types of a trace, in the order of [`Case::kind`].
const KINDS: usize = 14;

fn schema(location: CpuLocation, format: Format) -> (Schema, Vec<EventTypeId>) {
    let mut schema = presets::lttng_kernel(format);
    let unsigned = || FieldClass::uint(32, ByteOrder::Little);
    let signed = || FieldClass::sint(64, ByteOrder::Little);
    let text = || presets::text_array(16);
    let types: [(&str, Vec<(&str, FieldClass)>); KINDS] = [
        // Events of types that change no state must be counted, too.
        ("plain", vec![("tid", signed())]),
        ("kmem_kmalloc", vec![("tid", signed())]),
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
        ("sched_wakeup", vec![("comm", text()), ("tid", signed()), ("target_cpu", unsigned())]),
        ("sched_migrate_task", vec![("tid", signed()), ("dest_cpu", unsigned())]),
        (
            "sched_process_fork",
            vec![
                ("parent_tid", signed()),
                ("child_comm", text()),
                ("child_tid", signed()),
                ("child_pid", signed()),
            ],
        ),
        ("irq_handler_entry", vec![("irq", signed()), ("name", text())]),
        ("irq_handler_exit", vec![("irq", signed())]),
        (
            "lttng_statedump_process_state",
            vec![
                ("tid", signed()),
                ("pid", signed()),
                ("ppid", signed()),
                ("name", text()),
                ("type", signed()),
                ("status", signed()),
                ("cpu", unsigned()),
            ],
        ),
        ("power_cpu_frequency", vec![("state", unsigned()), ("cpu_id", unsigned())]),
        ("syscall_entry_read", vec![("fd", unsigned())]),
        (
            "sched_process_exec",
            vec![("filename", text()), ("tid", signed()), ("old_tid", signed())],
        ),
        ("sched_process_exit", vec![("tid", signed())]),
        ("sched_process_free", vec![("tid", signed())]),
    ];
    let types = types.into_iter().map(|(name, mut fields)| {
        if location == CpuLocation::ByEvent {
            fields.push(("perf_cpu", unsigned()));
        }
        schema.add_event_type(StreamClassId(0), name, FieldClass::structure(fields))
    });
    let types = types.collect();
    if location == CpuLocation::ByEvent {
        // The CPU number is in the events only.
        let context = schema.stream_classes[0].packet_context.as_mut().expect("a packet context");
        *context = std::sync::Arc::new(without(context, "cpu_id"));
    }
    (schema, types)
}

/// Returns a structure without one of its fields.
fn without(class: &FieldClass, name: &str) -> FieldClass {
    let mut class = class.clone();
    if let ltt_read::schema::FieldKind::Struct(of) = &mut class.kind {
        let kept = of.members.iter().filter(|member| &*member.name != name).cloned();
        of.members = kept.collect();
    }
    class
}

fn payload(case: &Case, location: CpuLocation) -> FieldValue {
    let text = |text: &str| FieldValue::Str(text.into());
    let mut fields: Vec<(&str, FieldValue)> = match case.kind {
        0 | 1 => vec![("tid", case.tid.into())],
        2 => vec![
            ("prev_comm", text("p")),
            ("prev_tid", case.other.into()),
            ("prev_state", 0i64.into()),
            ("next_comm", text("n")),
            ("next_tid", case.tid.into()),
        ],
        3 => vec![
            ("comm", text("w")),
            ("tid", case.tid.into()),
            ("target_cpu", u64::from(case.about).into()),
        ],
        4 => vec![("tid", case.tid.into()), ("dest_cpu", u64::from(case.about).into())],
        5 => vec![
            ("parent_tid", case.other.into()),
            ("child_comm", text("c")),
            ("child_tid", case.tid.into()),
            ("child_pid", case.other.into()),
        ],
        6 => vec![("irq", case.irq.into()), ("name", text("i"))],
        7 => vec![("irq", case.irq.into())],
        8 => vec![
            ("tid", case.tid.into()),
            ("pid", case.other.into()),
            ("ppid", case.other.into()),
            ("name", text("d")),
            ("type", 0i64.into()),
            ("status", 5i64.into()),
            ("cpu", u64::from(case.about).into()),
        ],
        9 => vec![("state", 1000u64.into()), ("cpu_id", u64::from(case.about).into())],
        10 => vec![("fd", u64::from(u32::MAX).into())],
        11 => {
            vec![("filename", text("e")), ("tid", case.tid.into()), ("old_tid", case.other.into())]
        }
        _ => vec![("tid", case.tid.into())],
    };
    if location == CpuLocation::ByEvent {
        fields.push(("perf_cpu", u64::from(case.cpu).into()));
    }
    FieldValue::fields(fields)
}

/// Writes a trace whose streams change their CPU with a new packet.
fn write(dir: &Path, location: CpuLocation, cpus: &[Vec<u32>], cases: &[Case]) {
    let (schema, types) = schema(location, Format::Ctf2);
    let writer = TraceWriter::create(dir, schema).unwrap();
    // The tracefile's name contains a CPU number as well, which must be ignored if a field
    // has it.
    let stream = |at: usize| {
        writer.stream(StreamClassId(0), &format!("channel_{at}")).unwrap().with_stream_id(at as u64)
    };
    let mut streams: Vec<_> = (0..STREAMS).map(|at| (Some(stream(at)), 0)).collect();
    let mut time = 1_000_000;
    for case in cases {
        time += case.passed;
        let (stream, events) = &mut streams[case.stream];
        if *events % PACKET == 0 {
            let mut open = stream.take().unwrap();
            if *events > 0 {
                open.end_packet(time).unwrap();
            }
            if location == CpuLocation::ByPacket {
                let cpus = &cpus[case.stream];
                let cpu = u64::from(cpus[*events / PACKET % cpus.len()]);
                open = open.with_packet_context(FieldValue::fields([("cpu_id", cpu)]));
            }
            open.begin_packet(time).unwrap();
            *stream = Some(open);
        }
        *events += 1;
        let stream = stream.as_mut().unwrap();
        stream.event(types[case.kind], time, payload(case, location)).unwrap();
    }
    streams.into_iter().for_each(|(stream, _)| drop(stream.unwrap().finish().unwrap()));
}

/// Reads the CPU number of an event by the name of its field.
fn cpu_of(event: &Event<'_>) -> u32 {
    ["perf_cpu", "cpu_id"]
        .iter()
        .find_map(|name| match *name {
            "cpu_id" => event.scope(ltt_read::schema::Scope::PacketContext)?.get("cpu_id"),
            name => event.field(name),
        })
        .and_then(|value| value.as_u64())
        .and_then(|cpu| u32::try_from(cpu).ok())
        .expect("events contain their CPU")
}

fn proceed(_: (u64, u64)) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The contents of a trace, counted directly from its events.
#[derive(Debug, Default)]
struct Naive {
    events: u64,
    by_name: BTreeMap<String, u64>,
    by_cpu: BTreeMap<u32, u64>,
    times: Vec<i64>,
}

fn naive(traceset: &Traceset) -> Naive {
    let naive = RefCell::new(Naive::default());
    let mut context = TracesetContext::new(traceset);
    context.on_event("*", |call| {
        let mut naive = naive.borrow_mut();
        naive.events += 1;
        *naive.by_name.entry(call.event.event_type().name().to_owned()).or_default() += 1;
        *naive.by_cpu.entry(cpu_of(&call.event)).or_default() += 1;
        naive.times.push(call.delivery_time().as_ns());
    });
    _ = context.read(&Bounds::all()).unwrap();
    drop(context);
    naive.into_inner()
}

/// Returns the CPUs that may have a row: those of events, and those of tracefiles without
/// events.
fn allowed(naive: &Naive, cases: &[Case]) -> BTreeSet<u32> {
    let empty = (0..STREAMS).filter(|at| cases.iter().all(|case| case.stream != *at));
    naive.by_cpu.keys().copied().chain(empty.map(|at| at as u32)).collect()
}

fn check_statistics(of: &Statistics, naive: &Naive, allowed: &BTreeSet<u32>) {
    let trace = &of.traces()[0];
    let by_name: BTreeMap<String, u64> =
        trace.events().into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    assert_eq!(by_name, naive.by_name);
    assert_eq!(trace.total().events.total(), naive.events);
    let rows = trace.cpus();
    let by_cpu: BTreeMap<u32, u64> =
        rows.iter().filter(|cpu| cpu.events > 0).map(|cpu| (cpu.number, cpu.events)).collect();
    assert_eq!(by_cpu, naive.by_cpu);
    for cpu in rows {
        assert!(allowed.contains(&cpu.number), "a row of CPU {}", cpu.number);
        let time = cpu.busy_time.wrapping_add(cpu.idle_time).wrapping_add(cpu.unknown_time);
        assert_eq!(time, trace.time(), "CPU {}", cpu.number);
    }
}

fn check(dir: &Path, cases: &[Case]) {
    let traceset = Traceset::open(dir).unwrap();
    let naive = naive(&traceset);
    assert_eq!(naive.events as usize, cases.len());
    let allowed = allowed(&naive, cases);

    let recorded = record(&traceset, HistoryTarget::Memory, proceed).unwrap();
    let mut replay = TracesetContext::new(&traceset);
    let replayed = replay.attach(KernelState::new());
    let mut saving = TracesetContext::new(&traceset);
    let saved = saving.attach(KernelState::new());
    saving.state().set_policy(CheckpointPolicy::every(11));
    _ = saving.state().replay(&Bounds::all()).unwrap();
    let file = dir.join("..").join("checkpoints");
    saving.state().store_checkpoints(&file).unwrap();
    let mut loading = TracesetContext::new(&traceset);
    let loaded = loading.attach(KernelState::new());
    loading.state().load_checkpoints(&file).unwrap();
    let (first, last) = (naive.times[0], naive.times[naive.times.len() - 1]);
    let step = (naive.times.len() / 20).max(1);
    let times = naive.times.iter().step_by(step).flat_map(|t| [*t, t + 1]);
    for t in times.chain([first - 1, first, last, last + 1, last + 1000, i64::MAX]) {
        let state = |context: &mut TracesetContext<'_>, kernel| {
            context.state().seek_time(Timestamp::from_ns(t));
            let kernel: &KernelState = &context.extensions()[kernel];
            Snapshot::from_state(kernel.trace(TraceIndex(0)).unwrap())
        };
        let expected = state(&mut replay, replayed);
        assert_eq!(state(&mut saving, saved), expected, "checkpoints at {t}");
        assert_eq!(state(&mut loading, loaded), expected, "stored checkpoints at {t}");
        let read = Snapshot::from_history(
            &recorded.history,
            TraceIndex(0),
            Timestamp::from_ns(t).saturating_sub(1),
        )
        .unwrap();
        assert_eq!(read, expected, "history at {t}");
        for cpu in &expected.cpus {
            assert!(allowed.contains(&cpu.number), "a row of CPU {} at {t}", cpu.number);
        }
        // Each CPU has an idle thread of its own, whatever events contain.
        let idle = expected.threads.iter().filter(|of| of.tid == 0);
        let idle: Vec<_> = idle.map(|of| of.cpu).collect();
        let cpus: Vec<_> = expected.cpus.iter().map(|cpu| Some(cpu.number)).collect();
        assert_eq!(idle, cpus, "idle threads at {t}");
        for of in expected.threads.iter().filter_map(|of| of.pid.or(of.parent)) {
            assert!(of >= 0, "process {of} at {t}");
        }
    }

    for threads in [1, 3] {
        check_statistics(
            &read(&traceset).threads(threads).run(StatisticsAnalysis::new()).output,
            &naive,
            &allowed,
        );
    }

    for (cpu, expected) in naive.by_cpu.iter().take(3) {
        let expression: Expression = format!("state.cpu = {cpu}").parse().unwrap();
        let filters = KernelFilters::new(&expression, traceset.traces(), &Environment::new());
        let passed = RefCell::new(0);
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(KernelState::new());
        let (filters, passed_in) = (filters.unwrap().with_state(kernel), &passed);
        context.on_event("*", move |call| {
            *passed_in.borrow_mut() += u64::from(filters.matches(call));
        });
        _ = context.read(&Bounds::all()).unwrap();
        drop(context);
        assert_eq!(passed.into_inner(), *expected, "state.cpu = {cpu}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 32,
        max_shrink_iters: 3000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn replay_checkpoints_history_and_statistics_agree_on_any_cpu_numbers(
        by_event in any::<bool>(),
        cpus in prop::collection::vec(prop::collection::vec(cpu(), 1..4), STREAMS),
        cases in prop::collection::vec(case(), 1..200),
    ) {
        let location = if by_event { CpuLocation::ByEvent } else { CpuLocation::ByPacket };
        let dir = tempfile::tempdir().unwrap();
        let trace = dir.path().join("trace");
        write(&trace, location, &cpus, &cases);
        check(&trace, &cases);
    }
}

/// Checks events that contain their CPU: kind, CPU, process and other process.
fn check_events(events: &[(usize, u32, i64, i64)]) {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("trace");
    let case = |&(kind, cpu, tid, other)| Case {
        stream: 0,
        cpu,
        kind,
        tid,
        other,
        about: 0,
        irq: 0,
        passed: 1,
    };
    let cases: Vec<_> = events.iter().map(case).collect();
    write(&trace, CpuLocation::ByEvent, &[vec![0], vec![0], vec![0]], &cases);
    check(&trace, &cases);
}

/// The idle process of the new CPU gets the place that process 7 had.
#[test]
fn a_cpu_that_appears_after_a_process_has_gone_is_stored() {
    check_events(&[(2, 0, 0, 7), (13, 0, 7, 0), (13, 0, 7, 0), (3, 1, 0, 0)]);
}

#[test]
fn an_exec_of_the_idle_process_renumbers_nothing() {
    check_events(&[(2, 0, 0, 7), (11, 0, 5, 0), (2, 0, 7, 5), (2, 0, 0, 7), (2, 1, 0, 5)]);
}

/// A trace of very many CPUs: memory is proportional to their number, and beyond some
/// thousands all others share one entry.
#[test]
fn events_of_cpus_beyond_the_limit_are_counted() {
    const CPUS: u32 = 20_000;
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("trace");
    let cases: Vec<Case> = (0..CPUS)
        .map(|at| Case {
            stream: 0,
            cpu: at * 7919,
            kind: 3,
            tid: 5,
            other: 5,
            about: 0,
            irq: 0,
            passed: 1,
        })
        .collect();
    write(&trace, CpuLocation::ByEvent, &[], &cases);
    let traceset = Traceset::open(&trace).unwrap();
    let statistics = read(&traceset).threads(1).run(StatisticsAnalysis::new()).output;
    let of = &statistics.traces()[0];
    assert_eq!(of.total().events.total(), u64::from(CPUS));
    let rows = of.cpus();
    assert!((10_000..=1 << 14).contains(&rows.len()), "{} rows", rows.len());
    assert_eq!(rows.iter().map(|cpu| cpu.events).sum::<u64>(), u64::from(CPUS));
    // The CPUs that share an entry count for the greatest number.
    assert_eq!(rows.last().map(|cpu| cpu.number), Some(u32::MAX));
}
