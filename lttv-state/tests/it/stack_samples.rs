//! Sums of stacks are those of a plain model, which follows the events one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ltt_read::schema::{ByteOrder::Little, EventTypeId, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, MemoryTrace, Record, presets};
use ltt_read::{Event, Merge, Timestamp, Trace, Value};
use lttv_context::{SliceThreads, Traceset};
use lttv_filter::{Environment, Expression};
use lttv_state::analysis::read;
use lttv_state::call_stacks::ThreadId;
use lttv_state::filter::KernelFilters;
use lttv_state::flame_graph::FlameGraph;
use lttv_state::stack_samples::{
    Frame, SampleSettings, SampledEvents, StackEventKind, StackSampleAnalysis, StackSamples,
    TraceSamples, Weight, WeightUnit, stack_events,
};
use lttv_state::symbols::Symbol;

use crate::ftrace_file::{FtraceFile, Machine, format};
use crate::packed::unpacked;
use crate::support;

/// Returns the recording of perf in the repository: samples of a clock.
fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces/perf/perf.data")
}

/// Opens a shared recording of perf, if it exists.
fn shared_recording(name: &str) -> Option<Arc<Trace>> {
    let path = support::shared("perf-data")?.join(name).join("perf.data.zst");
    Some(ltt_read::perf::from_memory(unpacked(&path)).expect("a recording"))
}

fn settings(events: SampledEvents, weight: Weight) -> SampleSettings {
    SampleSettings { events, weight }
}

fn named(name: &str) -> SampledEvents {
    SampledEvents::Named(name.into())
}

fn stacks(traceset: &Traceset, settings: SampleSettings) -> StackSamples {
    let found = read(traceset).threads(2).run(StackSampleAnalysis::new(settings));
    assert!(found.errors.is_empty(), "{:?}", found.errors);
    found.output
}

/// Weights and numbers of samples, by the name of the thread, its ids and its stack.
type Sums = BTreeMap<String, (u64, u64)>;

fn frame_text(samples: &TraceSamples, frame: &Frame) -> String {
    Symbol::of_frame(samples, frame).to_string()
}

/// Returns the sums of a trace with the whole stacks as texts.
fn sums(samples: &TraceSamples) -> Sums {
    let mut texts: BTreeMap<_, String> = BTreeMap::new();
    let mut sums = Sums::new();
    for path in samples.paths() {
        let thread = &samples.threads()[path.thread];
        let base = match path.caller {
            Some(caller) => texts[&caller].clone(),
            None => {
                let tid = match thread.key.thread {
                    ThreadId::Tid(tid) => tid.to_string(),
                    other => format!("{other:?}"),
                };
                let pid = thread.key.process.map_or("-1".to_owned(), |pid| pid.to_string());
                format!("{} {pid}/{tid}", thread.name)
            }
        };
        let text = format!("{base};{}", frame_text(samples, &samples.frames()[path.frame.index()]));
        texts.insert(path.id, text.clone());
        if path.samples > 0 {
            assert_eq!(sums.insert(text, (path.weight, path.samples)), None);
        }
    }
    sums
}

/// The state of a plain reader of perf's records.
#[derive(Default)]
struct Model {
    /// The mappings of all processes in order: process, first address, size, position in the file, path.
    maps: Vec<(i64, u64, u64, u64, String)>,
    names: BTreeMap<i64, String>,
    off_cpu: BTreeMap<i64, (i64, String)>,
    sums: Sums,
}

fn number(event: &Event<'_>, name: &str) -> i64 {
    let number = |value: Value<'_>| value.as_i64().or(value.as_u64().map(|of| of as i64));
    event.field(name).and_then(number).unwrap_or_else(|| panic!("{name}"))
}

/// Returns an id of 32 bits in the context of an event, whose payload may have the same name; -1 for none.
fn id(event: &Event<'_>, name: &str) -> i64 {
    let context = event.scope(ltt_read::schema::Scope::SpecificContext).expect("a context");
    let id = context.get(name).and_then(|id| id.as_u64());
    i64::from(id.unwrap_or_else(|| panic!("{name}")) as i32)
}

/// Returns a field of the payload of a record, whose context has some of the same names.
fn of_payload<'e>(event: &Event<'e>, name: &str) -> Value<'e> {
    let payload = event.scope(ltt_read::schema::Scope::Payload).expect("a payload");
    payload.get(name).unwrap_or_else(|| panic!("{name}"))
}

impl Model {
    fn follow(&mut self, event: &Event<'_>) {
        let number = |name: &str| of_payload(event, name).as_u64().expect("a number");
        let id = |name: &str| i64::from(number(name) as i32);
        let text = |name: &str| {
            of_payload(event, name).as_str().expect("a text").to_str_lossy().into_owned()
        };
        match event.event_type().name() {
            "perf:mmap" | "perf:mmap2" => {
                let map =
                    (id("pid"), number("addr"), number("len"), number("pgoff"), text("filename"));
                self.maps.push(map);
            }
            "perf:comm" => {
                if number("misc") & 0x2000 != 0 {
                    self.maps.retain(|map| map.0 != id("pid"));
                }
                self.names.insert(id("tid"), text("comm"));
            }
            "perf:fork" => {
                let (pid, parent) = (id("pid"), id("ppid"));
                if pid != parent {
                    self.maps.retain(|map| map.0 != pid);
                    let inherited: Vec<_> =
                        self.maps.iter().filter(|map| map.0 == parent).cloned().collect();
                    self.maps
                        .extend(inherited.into_iter().map(|map| (pid, map.1, map.2, map.3, map.4)));
                }
                if let Some(name) = self.names.get(&id("ptid")).cloned() {
                    self.names.insert(id("tid"), name);
                }
            }
            _ => {}
        }
    }

    fn frame(&self, pid: i64, is_kernel: bool, address: u64) -> String {
        let owner = if is_kernel { -1 } else { pid };
        let has = |map: &&(i64, u64, u64, u64, String)| {
            map.0 == owner && (map.1..map.1.saturating_add(map.2)).contains(&address)
        };
        let Some((_, start, _, offset, path)) = self.maps.iter().rev().find(has) else {
            let is_known = !is_kernel && self.maps.iter().any(|map| map.0 == pid);
            return if is_known { "[unknown]".to_owned() } else { format!("{address:#x}") };
        };
        if is_kernel {
            let name = path.rsplit('/').next().unwrap().trim_end_matches("_text");
            return format!("{name}+{:#x}", address - start);
        }
        match path.starts_with("//") || !path.starts_with('/') && path != "[vdso]" {
            true => "[unknown]".to_owned(),
            false => {
                format!("{}+{:#x}", path.rsplit('/').next().unwrap(), address - start + offset)
            }
        }
    }

    /// Returns the thread and the stack of an event as a text.
    fn stack(&self, event: &Event<'_>) -> String {
        let (pid, mut tid) = (id(event, "pid"), id(event, "tid"));
        if tid < 0 && event.field("common_pid").is_some() {
            tid = number(event, "common_pid");
        }
        let mut frames = Vec::new();
        let Some(Value::Array(chain)) = event.field("callchain") else { panic!("no chain") };
        let (mut is_kernel, mut is_first) = (false, true);
        for word in chain.iter().filter_map(|word| word.as_u64()) {
            match word as i64 {
                -128 => (is_kernel, is_first) = (true, true),
                -512 => (is_kernel, is_first) = (false, true),
                -4095..0 => panic!("another marker"),
                _ => {
                    let address = word.saturating_sub(u64::from(!is_first));
                    is_first = false;
                    frames.push(self.frame(pid, is_kernel, address));
                }
            }
        }
        if frames.is_empty() {
            frames.push("[unknown]".to_owned());
        }
        let name = match (self.names.get(&tid), tid) {
            (Some(name), _) => name,
            (None, 0) => "swapper",
            (None, _) => "?",
        };
        let tid = if tid < 0 { format!("Cpu({})", number(event, "cpu")) } else { tid.to_string() };
        frames.push(format!("{name} {pid}/{tid}"));
        frames.reverse();
        frames.join(";")
    }
}

/// Computes the sums of the samples of events of a name.
fn model_of(trace: &Arc<Trace>, name: &str, by_period: bool) -> Sums {
    let mut model = Model::default();
    let mut merge = Merge::new(std::slice::from_ref(trace));
    while let Some(event) = merge.next() {
        model.follow(&event);
        if event.event_type().name() == name {
            let weight = if by_period { number(&event, "period") as u64 } else { 1 };
            let sum = model.sums.entry(model.stack(&event)).or_default();
            *sum = (sum.0 + weight, sum.1 + 1);
        }
    }
    model.sums
}

/// Computes the sums of the times off CPU.
fn off_cpu_model(trace: &Arc<Trace>) -> Sums {
    let mut model = Model::default();
    let mut merge = Merge::new(std::slice::from_ref(trace));
    while let Some(event) = merge.next() {
        model.follow(&event);
        if event.event_type().name() != "sched:sched_switch" {
            continue;
        }
        let time = event.timestamp().expect("a time").as_ns();
        let (prev, next) = (number(&event, "prev_pid"), number(&event, "next_pid"));
        if let Some((since, stack)) = model.off_cpu.remove(&next) {
            let sum = model.sums.entry(stack).or_default();
            *sum = (sum.0 + (time - since) as u64, sum.1 + 1);
        }
        if prev != 0 {
            let stack = model.stack(&event);
            model.off_cpu.insert(prev, (time, stack));
        }
    }
    model.sums
}

/// Removes the names of threads, which the kernel state and the records of perf may tell differently, and adds up.
fn without_names(sums: &Sums) -> Sums {
    let mut all = Sums::new();
    for (text, of) in sums {
        let (thread, stack) = text.split_once(';').expect("a frame");
        let ids = thread.rsplit_once(' ').expect("ids").1;
        // An exiting thread has lost its process.
        let ids = ids.rsplit_once('/').expect("a thread").1;
        let sum = all.entry(format!("{ids};{stack}")).or_default();
        *sum = (sum.0 + of.0, sum.1 + of.1);
    }
    all
}

/// Compares sums without the names of threads.
fn compare(name: &str, found: &Sums, expected: &Sums) {
    let (found, expected) = (without_names(found), without_names(expected));
    let only = |of: &Sums, other: &Sums| {
        let only = of.iter().filter(|(stack, sum)| other.get(*stack) != Some(sum));
        only.map(|(stack, sum)| format!("{stack} {sum:?}")).take(5).collect::<Vec<_>>()
    };
    assert_eq!(only(&found, &expected), only(&expected, &found), "{name}");
}

#[test]
fn samples_of_a_clock_add_up() {
    let traceset = Traceset::open(bundled()).expect("the bundled recording");
    let trace = &traceset.traces()[0];
    let events = stack_events(trace);
    assert_eq!(events.len(), 1);
    assert_eq!(
        (events[0].kind, &events[0].unit),
        (StackEventKind::Counter, &WeightUnit::Nanoseconds)
    );
    let found = stacks(&traceset, settings(named("cpu-clock"), Weight::Period));
    let found = &found.traces()[0];
    let expected = model_of(trace, "cpu-clock", true);
    assert_eq!(found.samples(), 338);
    compare("period", &sums(found), &expected);
    // Names of threads that end are those of the kernel state.
    let known = |sums: Sums| {
        let is_known = |text: &String| !text.starts_with("? ") && !text.starts_with(' ');
        sums.into_iter().filter(|(text, _)| is_known(text)).collect::<Sums>()
    };
    assert_eq!(known(sums(found)), known(expected));
    let counted = stacks(&traceset, settings(named("cpu-clock"), Weight::Samples));
    assert_eq!(counted.traces()[0].unit(), &WeightUnit::Samples);
    let expected = model_of(trace, "cpu-clock", false);
    compare("samples", &sums(&counted.traces()[0]), &expected);
}

#[test]
fn samples_of_shared_recordings_add_up() {
    for (name, event) in [
        ("cpu-clock", "cpu-clock"),
        ("callgraph", "sched:sched_waking"),
        ("many-raw", "page-faults"),
    ] {
        let Some(trace) = shared_recording(name) else { return };
        let traceset = Traceset::from(vec![trace.clone()]);
        let found = stacks(&traceset, settings(named(event), Weight::Period));
        let expected = model_of(&trace, event, true);
        assert!(!expected.is_empty());
        compare(name, &sums(&found.traces()[0]), &expected);
    }
}

#[test]
fn waits_of_shared_recordings_add_up() {
    let Some(trace) = shared_recording("callgraph") else { return };
    let traceset = Traceset::from(vec![trace.clone()]);
    let found = stacks(&traceset, settings(SampledEvents::OffCpu, Weight::Period));
    let expected = off_cpu_model(&trace);
    assert!(expected.len() > 100);
    compare("off CPU", &sums(&found.traces()[0]), &expected);
}

#[test]
fn threads_and_slices_change_nothing() {
    let traceset = Traceset::open(bundled()).expect("the bundled recording");
    let of = |threads: SliceThreads| {
        let analysis = StackSampleAnalysis::new(settings(named("cpu-clock"), Weight::Period));
        let found = read(&traceset).in_slices(threads).run(analysis).output;
        format!("{:?} {:?}", found.traces()[0].paths(), found.traces()[0].threads())
    };
    let one = of(SliceThreads::new(1));
    for threads in [2, 3] {
        for events in [1, 7, 100] {
            assert_eq!(of(SliceThreads::new(threads).slice_events(events)), one);
        }
    }
}

#[test]
fn windows_add_up_with_the_mappings_before_them() {
    let traceset = Traceset::open(bundled()).expect("the bundled recording");
    let of = |from: Option<i64>, until: Option<i64>| {
        let analysis = StackSampleAnalysis::new(settings(named("cpu-clock"), Weight::Period));
        let read = read(&traceset);
        let time = Timestamp::from_ns;
        let read = match (from, until) {
            (None, None) => read,
            (Some(from), None) => read.window(time(from)..),
            (None, Some(until)) => read.window(..time(until)),
            (Some(from), Some(until)) => read.window(time(from)..time(until)),
        };
        sums(&read.run(analysis).output.traces()[0])
    };
    let (a, b) = (98_630_000_000, 98_660_000_000);
    let mut added = Sums::new();
    for part in [of(None, Some(a)), of(Some(a), Some(b)), of(Some(b), None)] {
        assert!(!part.is_empty());
        for (stack, (weight, samples)) in part {
            let sum = added.entry(stack).or_default();
            *sum = (sum.0 + weight, sum.1 + samples);
        }
    }
    assert_eq!(added, of(None, None));
}

#[test]
fn filters_select_samples() {
    let traceset = Traceset::open(bundled()).expect("the bundled recording");
    let expression = Expression::parse("pid == 575").expect("an expression");
    let filters = KernelFilters::new(&expression, traceset.traces(), &Environment::new());
    let analysis = StackSampleAnalysis::new(settings(named("cpu-clock"), Weight::Period));
    let found = read(&traceset).filter(filters.expect("filters")).run(analysis).output;
    assert_eq!(found.traces()[0].samples(), 58);
    assert!(found.traces()[0].threads().iter().all(|of| of.key.process == Some(575)));
}

/// Writes a kernel trace of switches on a CPU with stacks of four addresses.
fn trace_with_contexts(switches: &[(u64, i64, i64, [u64; 4])]) -> Arc<Trace> {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    schema.clocks[0].offset_seconds = 0;
    schema.clocks[0].offset_cycles = 0;
    let element = Arc::new(FieldClass::uint(64, Little));
    let array = ltt_read::schema::Array {
        element,
        length: ltt_read::schema::Length::Static(4),
        roles: ltt_read::schema::Roles::NONE,
    };
    let stack = FieldClass::new(ltt_read::schema::FieldKind::Array(array), 8);
    let context = FieldClass::structure([("callstack_kernel", stack)]);
    schema.stream_classes[0].common_context = Some(Arc::new(context));
    let number = || FieldClass::sint(64, Little);
    let fields = ["prev_tid", "prev_state", "next_tid"].map(|name| (name, number()));
    schema.add_event_type(StreamClassId(0), "sched_switch", FieldClass::structure(fields));
    let mut trace = MemoryTrace::new(schema);
    let stream = trace.stream(StreamClassId(0), "channel0_0").expect("a stream class");
    let mut stream =
        stream.with_stream_id(0).with_packet_context(FieldValue::fields([("cpu_id", 0_u64)]));
    for (time, prev, next, addresses) in switches {
        let mut record = Record::new(EventTypeId(0), *time);
        let words = addresses.iter().map(|word| FieldValue::from(*word)).collect();
        record.common_context =
            FieldValue::fields([("callstack_kernel", FieldValue::Array(words))]);
        record.payload =
            FieldValue::fields([("prev_tid", *prev), ("prev_state", 1), ("next_tid", *next)]);
        stream.record(record).expect("an event");
    }
    trace.add(stream).expect("a stream");
    trace.open().expect("a sound trace")
}

#[test]
fn contexts_are_stacks_of_events_and_waits() {
    const END: u64 = u64::MAX;
    const BASE: u64 = 0xffff_ffff_8000_0000;
    let switches = [
        (100, 5, 0, [BASE + 0x11, BASE + 0x21, END, END]),
        (150, 0, 6, [BASE + 0x31, END, END, END]),
        (180, 6, 5, [BASE + 0x11, BASE + 0x41, END, END]),
        (200, 5, 6, [END, END, END, END]),
    ];
    let traceset = Traceset::from(vec![trace_with_contexts(&switches)]);
    let kind = stack_events(&traceset.traces()[0])[0].kind;
    assert_eq!(kind, StackEventKind::Switch);
    let of = |events| {
        let found = stacks(&traceset, settings(events, Weight::Period));
        sums(&found.traces()[0])
            .into_iter()
            .map(|(stack, (weight, _))| (stack.split_once(' ').unwrap().1.to_owned(), weight))
            .collect::<BTreeMap<_, _>>()
    };
    // Thread 5 is off from 100 to 180, thread 6 from 180 to 200, and the idle task never waits.
    let off_cpu = of(SampledEvents::OffCpu);
    let expected = [
        ("-1/5;0xffffffff80000020;0xffffffff80000010", 80),
        ("-1/6;0xffffffff80000040;0xffffffff80000010", 20),
    ];
    assert_eq!(off_cpu, expected.map(|(stack, time)| (stack.to_owned(), time)).into());
    // Each switch belongs to the thread that it takes from the CPU.
    let events = of(named("sched_switch"));
    assert_eq!(events.values().sum::<u64>(), 4);
    assert_eq!(events["-1/5;[unknown]"], 1);
    assert!(events.contains_key("0/0;0xffffffff80000030"), "{events:?}");
}

#[test]
fn flame_graphs_put_threads_together() {
    let traceset = Traceset::open(bundled()).expect("the bundled recording");
    let found = stacks(&traceset, settings(named("cpu-clock"), Weight::Period));
    let samples = &found.traces()[0];
    let mut graph = FlameGraph::with_unit(samples.unit().clone());
    let place = |thread: &lttv_state::stack_samples::SampledThread| {
        (thread.key.process == Some(575)).then(|| vec![thread.name.clone()])
    };
    graph.add_samples(samples, place, |frame| frame_text(samples, frame).into());
    let of_process: u64 = sums(samples)
        .iter()
        .filter(|(stack, _)| stack.contains(" 575/575;"))
        .map(|(_, (weight, _))| weight)
        .sum();
    assert!(of_process > 0);
    assert_eq!(graph.node(0).total, of_process);
    let own: u64 = graph.nodes().iter().map(|node| node.own).sum();
    assert_eq!(own, of_process);
}

#[test]
fn stacks_after_events_are_those_of_the_events() {
    let Some(path) = support::shared("ftrace/stack") else { return };
    let traceset = Traceset::open(path).expect("a recording");
    let trace = &traceset.traces()[0];
    // The event before each stack on its CPU.
    let mut last = BTreeMap::new();
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    let mut merge = Merge::new(std::slice::from_ref(trace));
    while let Some(event) = merge.next() {
        let name = event.event_type().name().to_owned();
        if name == "ftrace:kernel_stack" {
            let Some(before) = last.remove(&event.tracefile_index()) else { continue };
            *expected.entry(before).or_default() += 1;
        } else {
            last.insert(event.tracefile_index(), name);
        }
    }
    for event in ["sched:sched_switch", "sched:sched_waking"] {
        let found = stacks(&traceset, settings(named(event), Weight::Period));
        assert_eq!(found.traces()[0].samples(), expected[event], "{event}");
    }
    let waits = stacks(&traceset, settings(SampledEvents::OffCpu, Weight::Period));
    assert!(waits.traces()[0].samples() > 100);
}

/// Creates a recording of ftrace of events of which some have stacks of the kernel, of the program, or both.
fn recording_with_stacks(events: &[(&str, i32, &[u64])]) -> Arc<Trace> {
    let machine = Machine { order: Little, long: 8, page_size: 4096 };
    let caller = |declaration| [(declaration, 12, 64, 0)];
    let formats = vec![
        format("print", 5, &[("unsigned long ip", 8, 8, 0)]),
        format("kernel_stack", 4, &caller("unsigned long caller[8]")),
        format("user_stack", 12, &caller("unsigned long caller[8]")),
    ];
    let records = events.iter().map(|(name, pid, addresses)| {
        let (id, words) = match *name {
            "print" => (5, vec![0; 8]),
            name => {
                let (id, end) = if name == "kernel_stack" { (4, u64::MAX) } else { (12, 0) };
                let mut addresses = addresses.to_vec();
                addresses.resize(8, end);
                let words = addresses.iter().flat_map(|word| word.to_le_bytes());
                (id, [0; 4].into_iter().chain(words).collect())
            }
        };
        machine.event(1, &[machine.common(id, *pid), words].concat())
    });
    let page = machine.page(1000, &records.collect::<Vec<_>>(), None);
    let file = FtraceFile { machine, system: "ftrace", formats, cpus: vec![(0, page)] };
    ltt_read::ftrace::from_memory(file.version_6()).expect("a recording").swap_remove(0)
}

#[test]
fn stacks_of_programs_go_below_those_of_the_kernel() {
    const BASE: u64 = 0xffff_ffff_8000_0000;
    let kernel: &[u64] = &[BASE + 0x11, BASE + 0x21];
    let program: &[u64] = &[0x40, 0x51, 0x61];
    let events: [(&str, i32, &[u64]); 14] = [
        ("print", 5, &[]),
        ("kernel_stack", 5, kernel),
        ("user_stack", 5, program),
        ("print", 5, &[]),
        ("user_stack", 5, program),
        ("print", 5, &[]),
        ("kernel_stack", 5, kernel),
        ("print", 5, &[]),
        ("kernel_stack", 5, kernel),
        ("user_stack", 5, &[]),
        // These are of no event.
        ("kernel_stack", 5, kernel),
        ("user_stack", 5, program),
        ("print", 6, &[]),
        ("kernel_stack", 6, kernel),
    ];
    let traceset = Traceset::from(vec![recording_with_stacks(&events)]);
    let found = stacks(&traceset, settings(named("print"), Weight::Period));
    let found: BTreeMap<_, _> = sums(&found.traces()[0])
        .into_iter()
        .map(|(stack, (weight, _))| (stack.split_once(' ').unwrap().1.to_owned(), weight))
        .collect();
    // The first address of a program is the place itself, the others are those that calls return to.
    let (below, above) = ("0x60;0x50;0x40", "0xffffffff80000020;0xffffffff80000010");
    let expected = [
        (format!("-1/5;{below};{above}"), 1),
        (format!("-1/5;{below}"), 1),
        (format!("-1/5;{above}"), 2),
        (format!("-1/6;{above}"), 1),
    ];
    assert_eq!(found, expected.into());
}

#[test]
fn stacks_of_programs_in_a_recording() {
    let Some(path) = support::shared("ftrace/userstack") else { return };
    let traceset = Traceset::open(path).expect("a recording");
    let trace = &traceset.traces()[0];
    let mut last = BTreeMap::new();
    let mut expected: BTreeMap<String, (u64, BTreeSet<u64>)> = BTreeMap::new();
    let mut merge = Merge::new(std::slice::from_ref(trace));
    while let Some(event) = merge.next() {
        let name = event.event_type().name().to_owned();
        if name == "ftrace:user_stack" {
            let Some(before) = last.remove(&event.tracefile_index()) else { continue };
            let Some(Value::Array(words)) = event.field("caller") else { panic!("an array") };
            let (count, innermost) = expected.entry(before).or_default();
            *count += 1;
            innermost.extend(
                words.iter().next().and_then(|word| word.as_u64()).filter(|word| *word > 0),
            );
        } else {
            last.insert(event.tracefile_index(), name);
        }
    }
    for (event, (count, innermost)) in &expected {
        let found = stacks(&traceset, settings(named(event), Weight::Period));
        let of = &found.traces()[0];
        assert_eq!(of.samples(), *count, "{event}");
        let leaves = sums(of).into_keys().filter_map(|stack| {
            let leaf = stack.rsplit(';').next()?.strip_prefix("0x")?.to_owned();
            u64::from_str_radix(&leaf, 16).ok()
        });
        assert_eq!(leaves.collect::<BTreeSet<_>>(), *innermost, "{event}");
    }
    assert!(expected["raw_syscalls:sys_enter"].0 > 50, "{expected:?}");
}
