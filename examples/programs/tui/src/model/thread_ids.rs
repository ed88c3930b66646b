//! The thread of an event, from the contexts of the event.

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Field, Trace, TraceIndex};
use lttv_filter::recorded_word;

/// Finds the thread of events by their contexts, such as `vtid`, `vpid` and `procname` of
/// user-space traces.
#[derive(Debug, Default)]
pub struct ThreadIds {
    /// The fields of each event type, by the index of its trace.
    traces: Vec<Vec<Option<Fields>>>,
}

/// The contexts of an event type.
#[derive(Debug, Clone)]
struct Fields {
    tid: Option<Field>,
    pid: Option<Field>,
    name: Option<Field>,
}

/// The thread of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventThread<'e> {
    /// The id of the thread, if the event has such a context.
    pub tid: Option<i64>,
    /// The id of its process.
    pub pid: Option<i64>,
    /// The name of its process.
    pub name: Option<&'e str>,
}

impl ThreadIds {
    /// Returns the thread of an event of a trace, as far as its contexts contain it.
    pub fn of<'e>(&mut self, trace: TraceIndex, event: &Event<'e>) -> EventThread<'e> {
        let Some(fields) = self.fields(trace, event.trace(), event.type_id()) else {
            return EventThread::default();
        };
        let integer = |field: &Option<Field>| event.get(field.as_ref()?)?.as_i64();
        let name = fields.name.as_ref().and_then(|field| event.get(field)?.as_str()?.to_str());
        EventThread { tid: integer(&fields.tid), pid: integer(&fields.pid), name }
    }

    /// Returns the contexts of an event type.
    fn fields(&mut self, index: TraceIndex, trace: &Trace, id: EventTypeId) -> Option<&Fields> {
        if self.traces.len() <= index.0 {
            self.traces.resize_with(index.0 + 1, Vec::new);
        }
        let types = &mut self.traces[index.0];
        if types.len() <= id.index() {
            types.resize(id.index() + 1, None);
        }
        Some(types[id.index()].get_or_insert_with(|| Fields::new(trace, id)))
    }
}

impl Fields {
    fn new(trace: &Trace, id: EventTypeId) -> Self {
        let find = |word| recorded_word(trace, id, word);
        Fields { tid: find("tid"), pid: find("pid"), name: find("comm") }
    }
}

/// Returns `true` if an event type of a trace has a context with the id of the thread.
pub fn has_thread_ids(trace: &Trace) -> bool {
    let types = 0..trace.schema().event_types.len() as u32;
    types.map(EventTypeId).any(|id| Fields::new(trace, id).tid.is_some())
}
