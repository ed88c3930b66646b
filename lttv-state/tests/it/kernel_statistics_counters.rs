//! Bytes and requests to block devices: in the leaves and in all sums,
//! compared with plain counts of random events.

use std::collections::BTreeMap;
use std::path::Path;

use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, Schema, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use ltt_read::{Merge, TraceIndex};
use lttv_context::attributes::{AttributeId, Attributes};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::analysis::{attach, read};
use lttv_state::kernel::{KernelState, RequestStep};
use lttv_state::stats::{RequestCounts, StatisticsAnalysis, TraceStatistics};
use proptest::prelude::*;

use crate::support;

const CPUS: usize = 2;

/// A step of one CPU.
#[derive(Debug, Clone)]
enum Step {
    Switch(i64),
    Read {
        result: i64,
    },
    Write {
        result: i64,
    },
    /// A system call that moves no data, whatever its result.
    Other {
        result: i64,
    },
    Softirq(Vec<Block>),
    Block(Block),
    Plain(u64),
}

/// A block event: number of the event type, device, bits of `rwbs`, sectors.
type Block = (usize, u64, u64, u64);

const BLOCK: [&str; 6] = [
    "block_rq_insert",
    "block_rq_merge",
    "block_bio_backmerge",
    "block_bio_frontmerge",
    "block_rq_issue",
    "block_rq_complete",
];
const DEVICES: [u64; 3] = [8 << 20, 8 << 20 | 16, 253 << 20];

fn block() -> impl Strategy<Value = Block> {
    let kinds = prop::sample::select(vec![1u64, 4, 2, 0, 33]);
    (0..BLOCK.len(), prop::sample::select(DEVICES.to_vec()), kinds, 0..9u64)
}

fn step() -> impl Strategy<Value = Step> {
    let result = || prop_oneof![4 => 1..5000i64, 1 => -20..=0i64];
    prop_oneof![
        2 => (0..4i64).prop_map(Step::Switch),
        3 => result().prop_map(|result| Step::Read { result }),
        3 => result().prop_map(|result| Step::Write { result }),
        1 => result().prop_map(|result| Step::Other { result }),
        1 => prop::collection::vec(block(), 0..3).prop_map(Step::Softirq),
        2 => block().prop_map(Step::Block),
        1 => (1..9u64).prop_map(Step::Plain),
    ]
}

/// The names of the event types with their fields; those of [`BLOCK`] follow.
fn schema() -> (Schema, BTreeMap<String, EventTypeId>) {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let unsigned = || FieldClass::uint(32, ByteOrder::Little);
    let long = || FieldClass::uint(64, ByteOrder::Little);
    let signed = || FieldClass::sint(64, ByteOrder::Little);
    let text = || presets::text_array(16);
    let mut types: Vec<(&str, Vec<(&str, FieldClass)>)> = vec![
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
        ("syscall_entry_read", vec![("fd", unsigned())]),
        ("syscall_exit_read", vec![("ret", signed())]),
        ("syscall_entry_sendto", vec![("fd", unsigned())]),
        ("syscall_exit_sendto", vec![("ret", signed())]),
        ("syscall_entry_getpid", vec![("fd", unsigned())]),
        ("syscall_exit_getpid", vec![("ret", signed())]),
        ("irq_softirq_entry", vec![("vec", unsigned())]),
        ("irq_softirq_exit", vec![("vec", unsigned())]),
        ("net_dev_queue", vec![("len", long())]),
    ];
    for name in BLOCK {
        let fields = vec![("dev", unsigned()), ("nr_sector", unsigned()), ("rwbs", unsigned())];
        types.push((name, fields));
    }
    let ids = types.into_iter().map(|(name, fields)| {
        let class = FieldClass::structure(fields);
        (name.to_owned(), schema.add_event_type(StreamClassId(0), name, class))
    });
    let ids = ids.collect();
    (schema, ids)
}

/// The sums of the plain model, by CPU, thread, mode and submode. A thread 0 is that of its
/// CPU.
type Key = (u32, i64, &'static str, &'static str);

#[derive(Debug, Default, Clone, PartialEq)]
struct Sum {
    read: u64,
    written: u64,
    requests: BTreeMap<u64, RequestCountsOf>,
}

/// Inserted, merged, issued, completed, bytes read, bytes written.
type RequestCountsOf = [u64; 6];

fn of_counts(of: &RequestCounts) -> RequestCountsOf {
    [of.inserted, of.merged, of.issued, of.completed, of.bytes_read, of.bytes_written]
}

/// Counts an event of a block device as the documentation says.
fn count_block(sum: &mut Sum, (event, device, rwbs, sectors): Block) {
    // The bits of `rwbs`: 1 writes, 2 discards, 4 reads.
    let is_other = rwbs & 2 != 0 || rwbs & 5 == 0;
    // The end of a flush.
    if BLOCK[event] == "block_rq_complete" && sectors == 0 && !is_other {
        return;
    }
    let counts = sum.requests.entry(device).or_default();
    counts[[0, 1, 1, 1, 2, 3][event]] += 1;
    if BLOCK[event] == "block_rq_complete" && !is_other {
        counts[if rwbs & 1 != 0 { 5 } else { 4 }] += 512 * sectors;
    }
}

/// Writes a trace, and returns the sums of a plain model.
fn write(dir: &Path, steps: &[(usize, Step)]) -> BTreeMap<Key, Sum> {
    let (schema, ids) = schema();
    let writer = TraceWriter::create(dir, schema).unwrap();
    let mut time = 1_000_000;
    let mut streams: Vec<_> = (0..CPUS)
        .map(|cpu| {
            let stream = writer.stream(StreamClassId(0), &format!("channel_{cpu}")).unwrap();
            let context = FieldValue::fields([("cpu_id", cpu as u64)]);
            let mut stream = stream.with_stream_id(cpu as u64).with_packet_context(context);
            stream.begin_packet(time).unwrap();
            stream
        })
        .collect();
    let mut running = [0i64; CPUS];
    let mut sums: BTreeMap<Key, Sum> = BTreeMap::new();
    // Each CPU starts with a switch, which tells what ran before.
    let starts = (0..CPUS).map(|cpu| (cpu, Step::Switch(0)));
    for (cpu, step) in starts.chain(steps.iter().cloned()) {
        let mut event = |name: &str, fields: Vec<(&'static str, FieldValue)>| {
            time += 10;
            streams[cpu].event(ids[name], time, FieldValue::fields(fields)).unwrap();
        };
        let ret = |result: i64| vec![("ret", FieldValue::from(result))];
        let block = |(at, device, rwbs, sectors): Block| {
            let fields = [("dev", device), ("nr_sector", sectors), ("rwbs", rwbs)];
            (BLOCK[at], fields.map(|(name, value)| (name, FieldValue::from(value))).to_vec())
        };
        let tid = running[cpu];
        // Idle processes make no system calls.
        let own = if tid == 0 { ("SYSCALL", "NONE") } else { ("USER_MODE", "NONE") };
        let key = |(mode, submode)| (cpu as u32, tid, mode, submode);
        match step {
            Step::Switch(next) => {
                // A thread runs on one CPU at a time.
                let next = if next == 0 { 0 } else { next * CPUS as i64 + cpu as i64 };
                let text = |text: String| FieldValue::Str(text);
                let fields = vec![
                    ("prev_comm", text(format!("t{tid}"))),
                    ("prev_tid", tid.into()),
                    ("prev_state", 0i64.into()),
                    ("next_comm", text(format!("t{next}"))),
                    ("next_tid", next.into()),
                ];
                event("sched_switch", fields);
                running[cpu] = next;
                if next != 0 {
                    // Its mode is known from its first system call on.
                    event("syscall_entry_getpid", vec![("fd", 0u64.into())]);
                    event("syscall_exit_getpid", ret(0));
                }
            }
            Step::Read { .. } | Step::Write { .. } | Step::Other { .. } if tid == 0 => {}
            Step::Read { result } => {
                event("syscall_entry_read", vec![("fd", 0u64.into())]);
                event("syscall_exit_read", ret(result));
                sums.entry(key(("SYSCALL", "read"))).or_default().read += result.max(0) as u64;
            }
            Step::Write { result } => {
                event("syscall_entry_sendto", vec![("fd", 0u64.into())]);
                event("syscall_exit_sendto", ret(result));
                sums.entry(key(("SYSCALL", "sendto"))).or_default().written += result.max(0) as u64;
            }
            Step::Other { result } => {
                event("syscall_entry_getpid", vec![("fd", 0u64.into())]);
                event("syscall_exit_getpid", ret(result));
            }
            Step::Softirq(blocks) => {
                event("irq_softirq_entry", vec![("vec", 4u64.into())]);
                for of in blocks {
                    let (name, fields) = block(of);
                    event(name, fields);
                    count_block(sums.entry(key(("SOFTIRQ", "softirq 4"))).or_default(), of);
                }
                event("irq_softirq_exit", vec![("vec", 4u64.into())]);
            }
            Step::Block(of) => {
                let (name, fields) = block(of);
                event(name, fields);
                count_block(sums.entry(key(own)).or_default(), of);
            }
            Step::Plain(length) => {
                event("net_dev_queue", vec![("len", length.into())]);
            }
        }
    }
    streams.into_iter().for_each(|stream| drop(stream.finish().unwrap()));
    sums.retain(|_, sum| *sum != Sum::default());
    sums
}

/// Returns the sums of statistics in the form of the model.
fn sums_of(trace: &TraceStatistics) -> BTreeMap<(u32, i64, String, String), Sum> {
    let mut sums: BTreeMap<(u32, i64, String, String), Sum> = BTreeMap::new();
    for (key, counts) in trace.leaves() {
        let tid = trace.process_facts()[key.process.index()].tid.expect("all are known");
        let place = (key.cpu, tid.into(), key.mode.to_string(), trace.name(key.submode).to_owned());
        let requests = counts.requests_by_device().map(|(device, of)| {
            let number = trace.devices()[device.expect("a device")].number;
            (u64::from(number.major) << 20 | u64::from(number.minor), of_counts(&of))
        });
        let sum = Sum {
            read: counts.bytes_read(),
            written: counts.bytes_written(),
            requests: requests.collect(),
        };
        if sum != Sum::default() {
            assert!(sums.insert(place, sum).is_none());
        }
    }
    sums
}

fn number(tree: &Attributes, path: &str) -> u64 {
    let found = tree.find_path(path).expect("a path").and_then(|id| tree.key::<u64>(id));
    found.map_or(0, |key| *tree.get(key).expect("a value"))
}

/// Checks the sums at a place of the tree; `of` selects the leaves of the model.
fn check_place(
    tree: &Attributes,
    at: &str,
    model: &BTreeMap<Key, Sum>,
    has_devices: bool,
    of: impl Fn(&Key) -> bool,
) {
    let all = || model.iter().filter(|(key, _)| of(key)).map(|(_, sum)| sum);
    let total = |of: fn(&Sum) -> u64| all().map(of).sum::<u64>();
    let at = |name: &str| number(tree, &format!("{at}{name}"));
    assert_eq!(at("bytes read"), total(|sum| sum.read));
    assert_eq!(at("bytes written"), total(|sum| sum.written));
    let steps = ["inserted", "merged", "issued", "completed"].map(|it| format!("requests {it}"));
    for (step, name) in steps.iter().enumerate() {
        let requests = all().flat_map(|sum| sum.requests.values());
        assert_eq!(at(name), requests.map(|of| of[step]).sum::<u64>(), "{name}");
    }
    let names = steps.iter().map(String::as_str).chain(["bytes read", "bytes written"]);
    for (step, name) in names.enumerate() {
        for device in DEVICES {
            let counts = all().filter_map(|sum| Some(sum.requests.get(&device)?[step]));
            let expected = if has_devices { counts.sum::<u64>() } else { 0 };
            let path = format!("devices/{},{}/{name}", device >> 20, device & 0xf_ffff);
            assert_eq!(at(&path), expected, "{path}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn all_sums_are_those_of_a_plain_model(
        steps in prop::collection::vec((0..CPUS, step()), 0..120),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let model = write(folder.path(), &steps);
        let traceset = Traceset::open(folder.path()).unwrap();
        let whole = read(&traceset).threads(3).run(StatisticsAnalysis::new()).output;
        let trace = &whole.traces()[0];
        let expected: BTreeMap<_, _> = model
            .iter()
            .map(|((cpu, tid, mode, submode), sum)| {
                ((*cpu, *tid, (*mode).to_owned(), (*submode).to_owned()), sum.clone())
            })
            .collect();
        prop_assert_eq!(sums_of(trace), expected.clone());

        // Devices and processes have the same figures.
        for device in trace.devices() {
            let number = u64::from(device.number.major) << 20 | u64::from(device.number.minor);
            let mut sum = RequestCountsOf::default();
            for counts in model.values().filter_map(|sum| sum.requests.get(&number)) {
                sum.iter_mut().zip(counts).for_each(|(sum, more)| *sum += more);
            }
            let (inserted, merged, issued) = (device.inserted, device.merged, device.issued);
            let completed = device.completed();
            let (read, written) = (device.bytes_read, device.bytes_written);
            prop_assert_eq!([inserted, merged, issued, completed, read, written], sum);
        }
        for of in trace.processes() {
            let facts = &trace.process_facts()[of.process.index()];
            let sum = trace.sum(|key| key.process == of.process);
            prop_assert_eq!(sum.bytes_read(), facts.bytes_read);
            prop_assert_eq!(sum.bytes_written(), facts.bytes_written);
        }

        // All levels of the tree: traceset, trace, CPU, process, mode, submode.
        let mut tree = Attributes::new();
        whole.export(&mut tree, AttributeId::ROOT).unwrap();
        check_place(&tree, "", &model, false, |_| true);
        check_place(&tree, "traces/[0]/", &model, true, |_| true);
        let in_mode = |mode: &str| format!("mode_types/{mode}/submodes/");
        check_place(&tree, "mode_types/SOFTIRQ/", &model, false, |key| key.2 == "SOFTIRQ");
        for cpu in 0..CPUS as u32 {
            let at = format!("traces/[0]/cpu/[{cpu}]/");
            check_place(&tree, &at, &model, true, |key| key.0 == cpu);
            let at = format!("{at}{}read/", in_mode("SYSCALL"));
            check_place(&tree, &at, &model, true, |key| key.0 == cpu && key.3 == "read");
            // An idle process has a mode of its own.
            let at = format!("traces/[0]/processes/swapper\\/{cpu}/{}NONE/", in_mode("IDLE"));
            let is_idle = |key: &Key| key.0 == cpu && key.1 == 0 && key.2 == "SYSCALL";
            check_place(&tree, &at, &model, true, is_idle);
        }
        for of in trace.processes() {
            let facts = &trace.process_facts()[of.process.index()];
            if let Some(tid @ 1..) = facts.tid {
                let at = format!("traces/[0]/processes/{tid}-0.0 [{}]/", of.process.0);
                check_place(&tree, &at, &model, true, |key| key.1 == i64::from(tid));
            }
        }

        // The same beside other hooks.
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(KernelState::new());
        let attached = attach(&mut context, kernel, .., StatisticsAnalysis::new());
        prop_assert_eq!(context.read(&Bounds::all()).unwrap().errors, 0);
        let attached = attached.take(context.extensions_mut());
        prop_assert_eq!(sums_of(&attached.traces()[0]), expected);
    }
}

/// In LTTng 0.x, events of reads and writes contain bytes, and those of requests name no
/// device.
#[test]
fn legacy_traces_have_bytes_and_requests() {
    for name in ["trace-2.6", "trace-618339events-1293lost-1cpu"] {
        let Some(path) = support::shared(&format!("legacy/{name}")) else { continue };
        let traceset = Traceset::open(path).expect("a trace");
        let mut merge = Merge::new(traceset.traces());
        let (mut bytes, mut steps) = ([0, 0], [0; 4]);
        while let Some(event) = merge.next() {
            let stream = &event.trace().schema().stream_classes[event.event_type().stream.index()];
            let channel = stream.identity.name.as_deref().unwrap_or_default();
            let count = event.field("count").and_then(|count| count.as_u64()).unwrap_or(0);
            match (channel, event.event_type().name()) {
                ("fs", "read" | "pread64") => bytes[0] += count,
                ("fs", "write" | "pwrite64") => bytes[1] += count,
                ("block", name) => {
                    let is_end = event.field("hard_nr_sectors").and_then(|of| of.as_u64());
                    match name.rsplit_once('_').map_or(name, |(name, _)| name) {
                        "rq_insert" => steps[0] += 1,
                        "bio" if name.ends_with("merge") => steps[1] += 1,
                        "rq_issue" => steps[2] += 1,
                        "rq_complete" if is_end != Some(0) => steps[3] += 1,
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        assert!(bytes[0] > 0 && steps.iter().all(|step| *step > 0), "{name}: {bytes:?} {steps:?}");
        let statistics = read(&traceset).threads(1).run(StatisticsAnalysis::new()).output;
        let total = statistics.traces()[0].total();
        assert_eq!([total.bytes_read(), total.bytes_written()], bytes, "{name}");
        let [inserted, merged, issued, completed, ..] = of_counts(&total.requests());
        assert_eq!([inserted, merged, issued, completed], steps, "{name}");
        assert!(statistics.traces()[0].devices().is_empty(), "{name}");
    }
}

/// The effect of an event tells the step of its request.
#[test]
fn requests_have_steps() {
    let folder = tempfile::tempdir().unwrap();
    let all = (0..BLOCK.len()).map(|at| (0, Step::Block((at, DEVICES[0], 1, 8))));
    write(folder.path(), &all.collect::<Vec<_>>());
    let mut context = TracesetContext::new(Traceset::open(folder.path()).unwrap());
    let kernel = context.attach(KernelState::new());
    let steps = context.attach_data(Vec::new());
    context.on_event("block_*", move |call| {
        let state = call.extensions[kernel].trace(TraceIndex(0)).expect("one trace");
        let request = state.effect().request().expect("each is about a request");
        assert_eq!(request.device.map(|at| state.devices()[at].number().major), Some(8));
        call.extensions[steps].push(request.step);
    });
    assert_eq!(context.read(&Bounds::all()).unwrap().errors, 0);
    use RequestStep::*;
    let expected = [Inserted, Merged, Merged, Merged, Issued, Completed];
    assert_eq!(context.extensions()[steps], expected);
}
