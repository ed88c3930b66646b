//! The event types of state dumps.

use std::io;
use std::sync::Arc;

use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Schema, StreamClassId};
use ltt_read::writer::{FieldValue, StreamWriter, metadata_text, presets};

const START: &str = "lttng_statedump_start";
const PROCESS: &str = "lttng_statedump_process_state";
const FILE: &str = "lttng_statedump_file_descriptor";
const END: &str = "lttng_statedump_end";

/// The event types of a state dump, all of one stream class.
#[derive(Debug, Clone, Copy)]
pub(super) struct DumpTypes {
    pub(super) class: StreamClassId,
    pub(super) start: Option<EventTypeId>,
    pub(super) process: EventTypeId,
    pub(super) file: Option<EventTypeId>,
    pub(super) end: Option<EventTypeId>,
}

impl DumpTypes {
    /// Finds the event types in a schema; `None` if it lacks that of processes.
    pub(super) fn of(schema: &Schema) -> Option<DumpTypes> {
        let process = find(schema, PROCESS, None)?;
        let class = schema.event_types[process.index()].stream;
        let same = |name| find(schema, name, Some(class));
        Some(DumpTypes { class, process, start: same(START), file: same(FILE), end: same(END) })
    }
}

/// Finds an event type by its name, in a stream class if one is given.
fn find(schema: &Schema, name: &str, class: Option<StreamClassId>) -> Option<EventTypeId> {
    let at = schema.event_types.iter().position(|event| {
        event.name() == name && class.is_none_or(|class| event.stream == class)
    })?;
    Some(EventTypeId(at as u32))
}

/// Adds the event types that a schema lacks, if their ids fit in its event headers and its format
/// can express the result. Returns `true` if some were added.
pub(super) fn add_missing(schema: &mut Schema) -> bool {
    let process = find(schema, PROCESS, None);
    let candidates: Vec<StreamClassId> = match process {
        Some(process) => vec![schema.event_types[process.index()].stream],
        None => (0..schema.stream_classes.len() as u32).map(StreamClassId).collect(),
    };
    for class in candidates {
        let missing = |(name, _): &(&str, _)| find(schema, name, Some(class)).is_none();
        let missing: Vec<_> = classes().into_iter().filter(missing).collect();
        if missing.is_empty() {
            return false;
        }
        let mut extended = schema.clone();
        for (name, fields) in missing {
            extended.add_event_type(class, name, fields);
        }
        let added = schema.event_types.len()..extended.event_types.len();
        if added.into_iter().all(|id| is_writable(&extended, class, EventTypeId(id as u32)))
            && metadata_text(&extended).is_ok()
        {
            *schema = extended;
            return true;
        }
    }
    false
}

/// Returns `true` if a stream can contain events of a type.
fn is_writable(schema: &Schema, class: StreamClassId, event_type: EventTypeId) -> bool {
    let schema = Arc::new(schema.clone());
    let has_clock = schema.stream_classes[class.index()].default_clock.is_some();
    has_clock
        && StreamWriter::new(schema, class, "state dump", io::sink())
            .and_then(|mut stream| stream.event(event_type, 0, FieldValue::Auto))
            .is_ok()
}

/// Returns the names and fields of the event types, as LTTng has them.
fn classes() -> [(&'static str, FieldClass); 4] {
    let id = || FieldClass::sint(32, ByteOrder::Little);
    let table = || FieldClass::uint(64, ByteOrder::Little);
    let process = FieldClass::structure([
        ("tid", id()),
        ("pid", id()),
        ("ppid", id()),
        ("name", presets::text_array(16)),
        ("type", id()),
        ("mode", id()),
        ("submode", id()),
        ("status", id()),
        ("cpu", FieldClass::uint(32, ByteOrder::Little)),
        ("file_table_address", table()),
    ]);
    let file = FieldClass::structure([
        ("pid", id()),
        ("file_table_address", table()),
        ("fd", id()),
        ("flags", FieldClass::uint(32, ByteOrder::Little)),
        ("filename", FieldClass::string()),
    ]);
    let empty = || FieldClass::structure([]);
    [(START, empty()), (PROCESS, process), (FILE, file), (END, empty())]
}
