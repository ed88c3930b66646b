//! Kernel traces that tests write: any events of a few CPUs.

use std::collections::BTreeMap;
use std::sync::Arc;

use ltt_read::Trace;
use ltt_read::schema::{
    ByteOrder, ClockClass, EnvValue, EventTypeId, FieldClass, Format, StreamClassId,
};
use ltt_read::writer::{FieldValue, MemoryTrace, presets};

/// An event of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KernelEvent {
    pub(crate) time: i64,
    pub(crate) cpu: u32,
    pub(crate) name: String,
    pub(crate) fields: Vec<(String, Content)>,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    Number(i64),
    Text(String),
}

impl KernelEvent {
    /// Creates an event with numbers as fields.
    pub(crate) fn new(time: i64, cpu: u32, name: &str, fields: &[(&str, i64)]) -> Self {
        let fields = fields.iter().map(|(name, of)| ((*name).to_owned(), Content::Number(*of)));
        KernelEvent { time, cpu, name: name.to_owned(), fields: fields.collect() }
    }

    /// Creates a context switch.
    pub(crate) fn switch(time: i64, cpu: u32, from: i64, state: i64, to: i64) -> Self {
        let fields = [("prev_tid", from), ("prev_state", state), ("next_tid", to)];
        KernelEvent::new(time, cpu, "sched_switch", &fields)
    }

    /// Creates a wake-up on the CPU of the waker.
    pub(crate) fn waking(time: i64, cpu: u32, tid: i64) -> Self {
        KernelEvent::new(time, cpu, "sched_waking", &[("tid", tid), ("target_cpu", 0)])
    }
}

/// The options of a trace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine<'a> {
    pub(crate) host: &'a str,
    /// The release of its kernel.
    pub(crate) release: &'a str,
    /// The greatest size of a packet, in bytes.
    pub(crate) packet: u64,
    /// The number of the packet before which the tracer discarded events, on each CPU.
    pub(crate) discards_before: Option<u64>,
}

impl Default for Machine<'_> {
    fn default() -> Self {
        Machine { host: "h", release: "6.1.0", packet: 1 << 16, discards_before: None }
    }
}

/// Writes the events of a machine, one tracefile for each CPU. Events of one CPU keep their order.
/// All event types that occur are declared, and those of `declared`.
pub(crate) fn trace(of: Machine<'_>, events: &[KernelEvent]) -> Arc<Trace> {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    schema.clocks = vec![ClockClass { frequency: 1_000_000_000, ..ClockClass::new("monotonic") }];
    schema.env.retain(|(name, _)| !matches!(&**name, "hostname" | "kernel_release"));
    for (name, value) in [("hostname", of.host), ("kernel_release", of.release)] {
        schema.env.push((name.into(), EnvValue::Str(value.into())));
    }
    let mut ids: BTreeMap<&str, EventTypeId> = BTreeMap::new();
    for event in events {
        ids.entry(&event.name).or_insert_with(|| {
            let fields = event.fields.iter().map(|(name, content)| match content {
                Content::Number(_) => (name.as_str(), FieldClass::sint(64, ByteOrder::Little)),
                Content::Text(_) => (name.as_str(), presets::text_array(16)),
            });
            let class = FieldClass::structure(fields.collect::<Vec<_>>());
            schema.add_event_type(StreamClassId(0), &event.name, class)
        });
    }
    let mut by_cpu: BTreeMap<u32, Vec<&KernelEvent>> = BTreeMap::new();
    events.iter().for_each(|event| by_cpu.entry(event.cpu).or_default().push(event));
    let mut trace = MemoryTrace::new(schema);
    for (cpu, events) in by_cpu {
        let stream = trace.stream(StreamClassId(0), &format!("channel0_{cpu}")).expect("a stream");
        let context = FieldValue::fields([("cpu_id", u64::from(cpu))]);
        let mut stream = stream
            .with_stream_id(cpu.into())
            .with_packet_context(context)
            .with_packet_limit(of.packet);
        for event in events {
            if of.discards_before.is_some_and(|number| stream.packets() >= number) {
                stream.set_discarded(5);
            }
            let value = |content: &Content| match content {
                Content::Number(number) => FieldValue::from(*number),
                Content::Text(text) => FieldValue::Str(text.clone()),
            };
            let fields = event.fields.iter().map(|(name, of)| (name.clone(), value(of)));
            let fields = FieldValue::fields(fields.collect::<Vec<(String, FieldValue)>>());
            stream.event(ids[&*event.name], event.time as u64, fields).expect("an event");
        }
        trace.add(stream).expect("a stream");
    }
    trace.open().expect("a sound trace")
}
