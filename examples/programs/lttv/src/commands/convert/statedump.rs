//! State dumps at the begin of a window, made from the kernel state there.

use std::collections::BTreeSet;
use std::ptr;
use std::sync::Arc;

use ltt_read::schema::{EventTypeId, Schema, StreamClassId};
use ltt_read::writer::{FieldValue, Record, StreamCopier, StreamFile, WriteError};
use ltt_read::{NoticeKind, Timestamp, Trace, TraceIndex, TracefileIndex};
use lttv_common::report::Report;
use lttv_common::time::Window;
use lttv_state::kernel::{KernelState, Process, ProcessStatus, ProcessType, TraceState};

use super::Conversion;
use super::anonymise::Known;
use super::clock::cycles_at;
use super::dump_types::DumpTypes;
use super::in_order::InOrder;

/// The flag of `open` that the execution of a program closes the file.
const O_CLOEXEC: u32 = 0o2_000_000;

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

/// Computes the state dump of each trace at the begin of a window; `None` for traces without
/// kernel state, and for those that cannot have one, which are reported.
pub(super) fn at(
    conversion: &Conversion<'_>,
    begin: Timestamp,
    report: &Report,
) -> Vec<Option<StateDump>> {
    let reading = InOrder::new(conversion, Window { begin: Some(begin), end: None });
    let all = conversion.traces().iter().zip((0..).map(TraceIndex));
    let followed = |(trace, index): (&Arc<Trace>, TraceIndex)| {
        let state = reading.state().trace(index).filter(|_| KernelState::follows(trace))?;
        let dump = of_trace(conversion, index, state, begin);
        let missing = match &dump {
            None => "no state dump: the trace has no place for its events",
            Some((_, Completeness::NoFiles)) => {
                "no open files in the state dump: the trace has no place for its events"
            }
            Some((_, Completeness::Complete)) => return dump.map(|(dump, _)| dump),
        };
        report.warning(format_args!("{}: {missing}", trace.path().display()));
        dump.map(|(dump, _)| dump)
    };
    all.map(followed).collect()
}

/// The extent of a state dump.
enum Completeness {
    Complete,
    /// The trace cannot have events of open files.
    NoFiles,
}

fn of_trace(
    conversion: &Conversion<'_>,
    index: TraceIndex,
    state: &TraceState,
    begin: Timestamp,
) -> Option<(StateDump, Completeness)> {
    let schema = conversion.targets[index.0].transfer.target();
    let types = DumpTypes::of(schema)?;
    let trace = &conversion.traces()[index.0];
    let mut files = conversion.wanted[index.0].tracefiles();
    let in_class = |file: &_| trace.tracefile(*file).stream_class() == Some(types.class);
    let tracefile = files.find(in_class)?;
    let class = &schema.stream_classes[types.class.index()];
    let clock = schema.clocks.get(class.default_clock? as usize)?;
    let context = class.packet_context.as_deref();
    let members = context.map_or(&[][..], |context| context.members());
    let has_cpu = members.iter().any(|member| &*member.name == "cpu_id");
    let has_files = state.processes().any(|(_, process)| !process.files().is_empty());
    let completeness = match types.file {
        None if has_files => Completeness::NoFiles,
        _ => Completeness::Complete,
    };
    let lossy = losing_cpus(trace, begin);
    let events = events(schema, types, state, &lossy);
    let (time, class) = (cycles_at(clock, begin), types.class);
    Some((StateDump { tracefile, class, has_cpu, time, events }, completeness))
}

impl StateDump {
    /// Writes the events into a packet of their own, before the first one of a stream.
    pub(super) fn write(
        &self,
        copier: &mut StreamCopier<StreamFile>,
        sequence: Option<u64>,
        cpu: Option<u32>,
        mut anonymised: Option<(&mut Known<'_>, &Schema)>,
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
            let mut record =
                Record { payload: payload.clone(), ..Record::new(*event_type, self.time) };
            if let Some((known, schema)) = &mut anonymised {
                known.payload(schema, *event_type, &mut record.payload);
            }
            stream.record(record)?;
        }
        stream.end_packet(self.time)
    }
}

/// Returns the CPUs whose events of a time are lost: what they run then is unknown.
fn losing_cpus(trace: &Arc<Trace>, time: Timestamp) -> BTreeSet<u32> {
    let loses = |tracefile: &TracefileIndex| {
        trace.losses(*tracefile).iter().any(|loss| match loss.kind {
            NoticeKind::DiscardedEvents { start, end, .. }
            | NoticeKind::LostPackets { start, end, .. } => {
                start.is_none_or(|start| start <= time) && end.is_none_or(|end| time <= end)
            }
            _ => false,
        })
    };
    let all = (0..trace.tracefiles().len()).map(TracefileIndex);
    all.filter(loses).filter_map(|tracefile| trace.tracefile(tracefile).cpu()).collect()
}

/// Returns the events that describe a state. The CPUs of `lossy` lose events at its time.
fn events(
    schema: &Schema,
    types: DumpTypes,
    state: &TraceState,
    lossy: &BTreeSet<u32>,
) -> Vec<(EventTypeId, FieldValue)> {
    let mut events = Vec::new();
    events.extend(types.start.map(|start| (start, FieldValue::Auto)));
    let has = |event: EventTypeId, field: &str| {
        let payload = schema.event_types[event.index()].payload.as_deref();
        payload.is_some_and(|class| class.members().iter().any(|member| &*member.name == field))
    };
    for (number, (_, process)) in (0_u64..).zip(state.processes()) {
        let Some(tid) = process.tid() else { continue };
        let status = match process.cpu().is_some_and(|cpu| lossy.contains(&cpu)) {
            true => status_after_loss(process),
            false => status(state, process),
        };
        let values = process_fields(state, process, tid, status, table_address(number));
        let values = values.into_iter().filter(|(name, _)| has(types.process, name));
        events.push((types.process, FieldValue::fields(values)));
        let Some(file) = types.file else { continue };
        for open in process.files() {
            let flags = if open.closes_on_exec { O_CLOEXEC } else { 0 };
            let values = [
                ("pid", FieldValue::from(tid)),
                ("tid", tid.into()),
                ("file_table_address", table_address(number).into()),
                ("fd", open.descriptor.into()),
                ("flags", flags.into()),
                ("filename", text(state.name(open.name), usize::MAX)),
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

/// Returns the number that LTTng's enumeration has for the status of a process.
fn status(state: &TraceState, process: &Process) -> i32 {
    let runs = process
        .cpu()
        .and_then(|cpu| state.running(cpu))
        .is_some_and(|running| ptr::eq(running, process));
    match process.status() {
        ProcessStatus::Exit => 3,
        _ if runs => 6,
        ProcessStatus::Unknown => 0,
        ProcessStatus::WaitFork => 1,
        ProcessStatus::WaitCpu => 2,
        ProcessStatus::Zombie => 4,
        ProcessStatus::Wait => 5,
        // The CPU is known to run another process.
        ProcessStatus::Run => 2,
        ProcessStatus::Dead => 7,
    }
}

/// Returns the number of the status of a process whose CPU loses events.
fn status_after_loss(process: &Process) -> i32 {
    match process.status() {
        ProcessStatus::Zombie => 4,
        ProcessStatus::Dead => 7,
        _ => 0,
    }
}

fn process_fields(
    state: &TraceState,
    process: &Process,
    tid: i32,
    status: i32,
    files: u64,
) -> [(&'static str, FieldValue); 10] {
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
