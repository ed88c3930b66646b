//! State dumps at the begin of a window, made from the kernel state there.

use std::fs::File;

use ltt_read::schema::{EventTypeId, Schema, StreamClassId};
use ltt_read::writer::{FieldValue, Record, StreamCopier, WriteError};
use ltt_read::{Timestamp, TraceIndex, TracefileIndex};
use lttv_context::TracesetContext;
use lttv_state::kernel::{Process, ProcessStatus, ProcessType, TraceState};

use super::Conversion;
use super::clock::cycles_at;
use crate::kernel_hooks::kernel_state;
use crate::report::Report;

/// The events of a state dump for one trace.
#[derive(Debug, Clone)]
pub(super) struct StateDump {
    /// The tracefile into which they are written.
    pub(super) tracefile: TracefileIndex,
    pub(super) class: StreamClassId,
    /// `true` if packets record their CPU.
    has_cpu: bool,
    time: u64,
    events: Vec<(EventTypeId, FieldValue)>,
}

/// The event types of a state dump.
#[derive(Debug, Clone, Copy)]
struct Types {
    class: StreamClassId,
    start: Option<EventTypeId>,
    process: EventTypeId,
    file: Option<EventTypeId>,
    end: Option<EventTypeId>,
}

impl Types {
    /// Finds the event types in a schema; `None` if it lacks that of processes.
    fn of(schema: &Schema) -> Option<Types> {
        let find = |name: &str| {
            let at = schema.event_types.iter().position(|event| event.name() == name)?;
            Some(EventTypeId(at as u32))
        };
        let process = find("lttng_statedump_process_state")?;
        let class = schema.event_types[process.index()].stream;
        let same = |id: &EventTypeId| schema.event_types[id.index()].stream == class;
        Some(Types {
            class,
            process,
            start: find("lttng_statedump_start").filter(same),
            file: find("lttng_statedump_file_descriptor").filter(same),
            end: find("lttng_statedump_end").filter(same),
        })
    }
}

/// Computes the state dump of each trace at a time; `None` for traces that cannot have one, which
/// are reported.
pub(super) fn at(
    conversion: &Conversion<'_>,
    begin: Timestamp,
    report: &Report,
) -> Vec<Option<StateDump>> {
    let mut context = TracesetContext::new(&conversion.traceset);
    let kernel = context.attach(kernel_state(conversion.traces()));
    context.seek_time_with_state(begin);
    let state = &context.extensions()[kernel];
    let all = conversion.traces().iter().zip(&conversion.targets).zip((0..).map(TraceIndex));
    all.map(|((trace, target), index)| {
        let schema = target.transfer.target();
        let types = Types::of(schema);
        let wanted = &conversion.wanted[index.0].tracefiles;
        let in_class = |class| {
            let mut files = wanted.iter().copied();
            files.find(|file| trace.tracefile(*file).stream_class() == Some(class))
        };
        let found = types.and_then(|types| Some((types, in_class(types.class)?)));
        let Some((types, tracefile)) = found else {
            report.warning(format_args!(
                "{}: no state dump, since the trace has no event type or no stream for it",
                trace.path().display()
            ));
            return None;
        };
        let clock = schema.stream_classes[types.class.index()].default_clock;
        let clock = schema.clocks.get(clock? as usize)?;
        let events = events(schema, types, state.trace(index)?);
        let time = cycles_at(clock, begin);
        let context = schema.stream_classes[types.class.index()].packet_context.as_deref();
        let members = context.map_or(&[][..], |context| context.members());
        let has_cpu = members.iter().any(|member| &*member.name == "cpu_id");
        Some(StateDump { tracefile, class: types.class, has_cpu, time, events })
    })
    .collect()
}

impl StateDump {
    /// Writes the events into a packet of their own, before the first one of a stream.
    pub(super) fn write(
        &self,
        copier: &mut StreamCopier<File>,
        sequence: Option<u64>,
        cpu: Option<u32>,
    ) -> Result<(), WriteError> {
        let stream = copier.stream();
        if let Some(next) = sequence {
            stream.set_packet_sequence(next.wrapping_sub(1));
        }
        if let Some(cpu) = cpu.filter(|_| self.has_cpu) {
            stream.set_packet_context(FieldValue::fields([("cpu_id", cpu)]));
        }
        stream.begin_packet(self.time)?;
        for (event_type, payload) in &self.events {
            let record = Record::new(*event_type, self.time);
            stream.record(Record { payload: payload.clone(), ..record })?;
        }
        stream.end_packet(self.time)
    }
}

/// Returns the events that describe a state.
fn events(schema: &Schema, types: Types, state: &TraceState) -> Vec<(EventTypeId, FieldValue)> {
    let mut events = Vec::new();
    events.extend(types.start.map(|start| (start, FieldValue::Auto)));
    let has = |event: EventTypeId, field: &str| {
        let payload = schema.event_types[event.index()].payload.as_deref();
        payload.is_some_and(|class| class.members().iter().any(|member| &*member.name == field))
    };
    let mut known = (0_u64..).zip(state.processes().map(|(_, process)| process));
    let processes: Vec<(u64, &Process)> = known.by_ref().collect();
    for (number, process) in &processes {
        let Some(tid) = process.tid() else { continue };
        let values = process_fields(state, process, tid, table_address(*number));
        let values = values.into_iter().filter(|(name, _)| has(types.process, name));
        events.push((types.process, FieldValue::fields(values)));
        let Some(file) = types.file else { continue };
        for (fd, name) in process.files() {
            let values = [
                ("pid", FieldValue::from(tid)),
                ("tid", tid.into()),
                ("file_table_address", table_address(*number).into()),
                ("fd", (*fd).into()),
                ("filename", text(state.name(*name), usize::MAX)),
            ];
            let values = values.into_iter().filter(|(name, _)| has(file, name));
            events.push((file, FieldValue::fields(values)));
        }
    }
    events.extend(types.end.map(|end| (end, FieldValue::Auto)));
    events
}

/// Returns a number that no other process has, in place of the address of its file table.
fn table_address(number: u64) -> u64 {
    number + 1
}

fn process_fields(
    state: &TraceState,
    process: &Process,
    tid: i32,
    files: u64,
) -> [(&'static str, FieldValue); 10] {
    // The numbers of LTTng's enumerations.
    let status = match process.status() {
        ProcessStatus::Unknown => 0,
        ProcessStatus::WaitFork => 1,
        ProcessStatus::WaitCpu => 2,
        ProcessStatus::Exit => 3,
        ProcessStatus::Zombie => 4,
        ProcessStatus::Wait => 5,
        ProcessStatus::Run => 6,
        ProcessStatus::Dead => 7,
    };
    let kind = i32::from(process.kind() == Some(ProcessType::Kernel));
    // LTTng, too, records neither mode nor submode of processes.
    let unknown_mode = 5;
    [
        ("tid", tid.into()),
        ("pid", process.pid().unwrap_or(tid).into()),
        ("ppid", process.parent().unwrap_or(0).into()),
        ("name", text(state.name(process.name()), 15)),
        ("type", kind.into()),
        ("mode", unknown_mode.into()),
        ("submode", 0.into()),
        ("status", status.into()),
        ("cpu", process.cpu().unwrap_or(0).into()),
        ("file_table_address", files.into()),
    ]
}

/// Returns the text of a field of a limited number of bytes.
fn text(name: &str, limit: usize) -> FieldValue {
    let mut end = name.len().min(limit);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    FieldValue::from(&name[..end])
}
