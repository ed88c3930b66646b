//! The threads of user-space traces.

use ltt_read::schema::{EventTypeId, Scope};
use ltt_read::{Event, Field, Trace};

use super::json::Track;

/// For each event type, the fields with the ids of process and thread.
pub(super) struct Threads(Vec<(Option<Field>, Option<Field>)>);

impl Threads {
    pub(super) fn of(trace: &Trace) -> Self {
        let types = (0..trace.schema().event_types.len() as u32).map(EventTypeId);
        let fields = types.map(|id| {
            let context = |name: &str| {
                let scopes = [Scope::SpecificContext, Scope::CommonContext];
                scopes.iter().find_map(|scope| trace.field(id, *scope, name))
            };
            let (process, thread) = (context("vpid"), context("vtid"));
            (process.or_else(|| context("pid")), thread.or_else(|| context("tid")))
        });
        Threads(fields.collect())
    }

    /// Returns the track of an event; `None` if the event contains no thread.
    pub(super) fn track(&self, event: &Event<'_>, host: i64) -> Option<Track> {
        let (process, thread) = self.0.get(event.type_id().index())?;
        let id = |field: &Option<Field>| event.integer(field.as_ref()?).map(|id| id as i64);
        let tid = id(thread).or(id(process))?;
        Some(Track { pid: host + id(process).unwrap_or(tid), tid: host + tid })
    }
}
