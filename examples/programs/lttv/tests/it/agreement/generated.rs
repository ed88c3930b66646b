//! Traces that the test makes: one for each kind of input that recordings seldom contain.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};

use crate::lossy;

/// The event types, each with its texts (`$`) and numbers.
const TYPES: &[(&str, &[&str])] = &[
    (
        "sched_switch",
        &[
            "$prev_comm",
            "prev_tid",
            "prev_prio",
            "prev_state",
            "$next_comm",
            "next_tid",
            "next_prio",
        ],
    ),
    ("sched_waking", &["$comm", "tid", "prio", "target_cpu"]),
    (
        "sched_process_fork",
        &["$parent_comm", "parent_tid", "parent_pid", "$child_comm", "child_tid", "child_pid"],
    ),
    ("syscall_entry_read", &["fd", "count"]),
    ("syscall_exit_read", &["ret"]),
    ("syscall_entry_write", &["fd", "count"]),
    ("syscall_exit_write", &["ret"]),
    ("irq_handler_entry", &["irq", "$name"]),
    ("irq_handler_exit", &["irq", "ret"]),
    ("irq_softirq_entry", &["vec"]),
    ("irq_softirq_exit", &["vec"]),
    ("block_rq_issue", &["dev", "sector", "nr_sector"]),
    ("block_rq_complete", &["dev", "sector", "nr_sector"]),
];

/// One packet of events in order of time.
struct Packet {
    cpu: u64,
    events: Vec<(u64, &'static str, Vec<FieldValue>)>,
    /// Number of events lost in the stream up to the end of the packet.
    lost: u64,
}

impl Packet {
    fn new(cpu: u64) -> Self {
        Packet { cpu, events: Vec::new(), lost: 0 }
    }

    /// Adds an event at a time in microseconds.
    fn event(mut self, us: u64, name: &'static str, values: impl Into<Vec<FieldValue>>) -> Self {
        self.events.push((1_000_000 + us * 1_000, name, values.into()));
        self
    }

    fn switch(self, us: u64, from: (&str, i64), state: i64, to: (&str, i64)) -> Self {
        let values = [
            from.0.into(),
            from.1.into(),
            20.into(),
            state.into(),
            to.0.into(),
            to.1.into(),
            20.into(),
        ];
        self.event(us, "sched_switch", values)
    }

    fn waking(self, us: u64, thread: (&str, i64)) -> Self {
        self.event(us, "sched_waking", [thread.0.into(), thread.1.into(), 20.into(), 0.into()])
    }

    /// Adds a handler of an interrupt between two times.
    fn irq(self, from: u64, to: u64, irq: i64, name: &str) -> Self {
        self.event(from, "irq_handler_entry", [irq.into(), name.into()]).event(
            to,
            "irq_handler_exit",
            [irq.into(), 1.into()],
        )
    }

    fn lost(mut self, events: u64) -> Self {
        self.lost = events;
        self
    }
}

/// Writes a kernel trace; each inner list is one file, whose packets are written in its order.
fn write(path: &Path, files: Vec<Vec<Packet>>) {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let mut types: BTreeMap<&str, EventTypeId> = BTreeMap::new();
    for (name, fields) in TYPES {
        let fields = fields.iter().map(|field| match field.strip_prefix('$') {
            Some(name) => (name, FieldClass::string()),
            None => (*field, FieldClass::sint(64, ByteOrder::Little)),
        });
        let payload = FieldClass::structure(fields);
        types.insert(name, schema.add_event_type(StreamClassId(0), name, payload));
    }
    let trace = TraceWriter::create(path, schema).expect("a new folder");
    for (file, packets) in files.into_iter().enumerate() {
        // Each packet is a stream of its own, and joined to the file afterwards, since a writer
        // refuses packets of other CPUs and clocks that go back.
        let mut parts = Vec::new();
        for (number, packet) in packets.into_iter().enumerate() {
            let name = format!("part_{file}_{number}");
            let stream = trace.stream(StreamClassId(0), &name).expect("a new stream");
            let context = FieldValue::fields([("cpu_id", packet.cpu)]);
            let mut stream = stream.with_packet_context(context).with_stream_id(file as u64);
            let begin = packet.events.first().expect("no packet is empty").0;
            let end = packet.events.last().expect("no packet is empty").0;
            stream.begin_packet(begin).expect("a packet");
            for (time, name, values) in packet.events {
                let payload = FieldValue::structure(values);
                stream.event(types[name], time, payload).expect("an event");
            }
            stream.set_discarded(packet.lost);
            stream.end_packet(end).expect("a packet");
            stream.finish().expect("a stream");
            parts.push(path.join(name));
        }
        let bytes: Vec<u8> =
            parts.iter().flat_map(|part| fs::read(part).expect("written before")).collect();
        parts.iter().for_each(|part| fs::remove_file(part).expect("written before"));
        fs::write(path.join(format!("channel_{file}")), bytes).expect("a writable folder");
    }
}

const IDLE: (&str, i64) = ("swapper/0", 0);
const A: (&str, i64) = ("alpha", 101);
const B: (&str, i64) = ("beta", 102);

/// Two threads in turn, with system calls.
fn calls(cpu: u64, from: u64) -> Packet {
    let read = |ret: i64| -> [FieldValue; 1] { [ret.into()] };
    Packet::new(cpu)
        .switch(from, IDLE, 0, A)
        .event(from + 10, "syscall_entry_read", [3.into(), 100.into()])
        .event(from + 30, "syscall_exit_read", read(70))
        .event(from + 40, "syscall_entry_write", [4.into(), 50.into()])
        .waking(from + 50, B)
        .switch(from + 60, A, 1, B)
        .waking(from + 80, A)
        .switch(from + 90, B, 0, A)
        .event(from + 100, "syscall_exit_write", read(50))
        .switch(from + 120, A, 1, B)
        .switch(from + 200, B, 1, IDLE)
}

/// Writes all generated traces into a folder. Returns them with their names.
pub(crate) fn write_all(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut traces = Vec::new();
    let mut add = |name: &str, files: Vec<Vec<Packet>>| {
        let path = folder.join(name);
        write(&path, files);
        traces.push((format!("made:{name}"), path));
    };
    let idle1 = ("swapper/1", 0);
    let other = || {
        Packet::new(1)
            .switch(5, idle1, 0, ("gamma", 103))
            .irq(20, 25, 9, "disk")
            .switch(150, ("gamma", 103), 1, idle1)
            .switch(420, idle1, 0, ("gamma", 103))
            .switch(460, ("gamma", 103), 1, idle1)
    };
    add("calls", vec![vec![calls(0, 0)], vec![other()]]);
    add("lost-events", vec![vec![calls(0, 0), calls(0, 1_000).lost(7)], vec![other()]]);
    let renames = Packet::new(0)
        .event(
            0,
            "sched_process_fork",
            ["main".into(), 100.into(), 100.into(), "main".into(), 101.into(), 100.into()],
        )
        .switch(10, ("main", 100), 1, ("main", 101))
        .switch(20, ("main", 101), 1, ("main", 100))
        .waking(30, ("db-writer", 101))
        .switch(40, ("main", 100), 1, ("db-writer", 101))
        .event(50, "syscall_entry_read", [3.into(), 100.into()])
        .event(60, "syscall_exit_read", [9.into()])
        .switch(70, ("db-writer", 101), 1, IDLE);
    add("renamed", vec![vec![renames]]);
    let nested = Packet::new(0)
        .switch(0, IDLE, 0, A)
        .event(10, "irq_softirq_entry", [3.into()])
        .irq(12, 20, 16, "usb1")
        .irq(22, 50, 16, "eth0")
        .waking(55, B)
        .event(60, "irq_softirq_exit", [3.into()])
        .event(70, "irq_handler_entry", [17.into(), "disk".into()])
        .irq(75, 80, 18, "timer")
        .event(90, "irq_handler_exit", [17.into(), 1.into()])
        .switch(100, A, 1, B)
        .switch(130, B, 1, IDLE);
    add("interrupts", vec![vec![nested]]);
    add("cpus-in-one-file", vec![vec![calls(0, 0), calls(1, 300), calls(0, 600), calls(1, 900)]]);
    add("clock-back", vec![vec![calls(0, 500), calls(0, 0)], vec![other()]]);
    let exits = Packet::new(0)
        .event(0, "syscall_entry_read", [3.into(), 10.into()])
        .switch(10, A, 1, B)
        .switch(50, B, 1, A)
        .event(60, "syscall_exit_write", [10.into()])
        .event(70, "syscall_entry_read", [3.into(), 10.into()])
        .event(80, "syscall_exit_read", [10.into()])
        .switch(90, A, 1, IDLE);
    add("exit-of-another-call", vec![vec![exits]]);
    let snapshot = |cpu, from: u64| {
        Packet::new(cpu)
            .event(from, "syscall_exit_read", [12.into()])
            .event(from + 5, "irq_handler_exit", [9.into(), 1.into()])
            .event(from + 10, "syscall_entry_write", [4.into(), 8.into()])
            .event(from + 20, "syscall_exit_write", [8.into()])
            .switch(from + 30, A, 1, IDLE)
            .event(from + 40, "irq_handler_entry", [9.into(), "disk".into()])
    };
    add("snapshot", vec![vec![snapshot(0, 0)], vec![snapshot(1, 70)]]);
    let path = folder.join("lost-packets");
    lossy::kernel_trace(&path);
    traces.push(("made:lost-packets".to_owned(), path));
    traces
}
