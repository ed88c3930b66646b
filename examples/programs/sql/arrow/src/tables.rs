//! The catalogue of the tables of a traceset.

use std::collections::HashMap;
use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Trace, TraceIndex};
use lttv_context::Traceset;

use crate::table::{EVENTS, EventTable};

/// The tables of a traceset: one for each name of event types, and one for all events. A table is
/// created when it is requested.
#[derive(Debug, Clone)]
pub struct Tables {
    traceset: Traceset,
    by_name: HashMap<String, Vec<(TraceIndex, EventTypeId)>>,
    names: Vec<String>,
}

impl Tables {
    /// Creates the catalogue of a traceset.
    pub fn new(traceset: &Traceset) -> Tables {
        let mut by_name: HashMap<String, Vec<(TraceIndex, EventTypeId)>> = HashMap::new();
        for (trace, of) in (0..).map(TraceIndex).zip(traceset.traces()) {
            for (id, event_type) in (0..).map(EventTypeId).zip(&of.schema().event_types) {
                let ids = by_name.entry(event_type.name().to_owned()).or_default();
                ids.push((trace, id));
            }
        }
        let mut names: Vec<String> = by_name.keys().cloned().collect();
        names.sort_unstable();
        Tables { traceset: traceset.clone(), by_name, names }
    }

    /// Returns the traces.
    pub fn traceset(&self) -> &Traceset {
        &self.traceset
    }

    /// Returns the names of event types, in alphabetical order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the table of the event types of a name; `None` if there is none.
    pub fn of(&self, name: &str) -> Option<EventTable> {
        Some(EventTable::new(name, self.traceset.traces(), self.by_name.get(name)?))
    }

    /// Returns the table of all events.
    pub fn all(&self) -> EventTable {
        let types = |(trace, of): (usize, &Arc<Trace>)| {
            let ids = 0..of.schema().event_types.len() as u32;
            ids.map(move |id| (TraceIndex(trace), EventTypeId(id))).collect::<Vec<_>>()
        };
        let ids: Vec<_> = self.traceset.traces().iter().enumerate().flat_map(types).collect();
        EventTable::new(EVENTS, self.traceset.traces(), &ids)
    }

    /// Returns `true` if all events have times.
    pub fn has_times(&self) -> bool {
        let traces = self.traceset.traces().iter();
        let mut streams = traces.flat_map(|trace| &trace.schema().stream_classes);
        streams.all(|stream| stream.default_clock.is_some())
    }
}
