//! Columns: times and fields of many events, each in a vector of its own.
//!
//! A program that computes with some fields of very many events (a histogram, a sum, an export)
//! need not look at each event. [`Columns`] are filled with whole runs of events, and the program
//! then works on slices of numbers.

mod column;
mod kind;
mod run;

use std::ops::ControlFlow;

use crate::event::{Event, Field};
use crate::merge::{EventSink, Merge};
use crate::schema::EventTypeId;
use crate::trace::{Trace, TracefileNumber};

pub use column::{Column, ColumnValues};
pub use kind::ColumnError;
use kind::Kind;
pub(crate) use run::RunStarts;

/// The times of events of one type, or of all types, and some of their fields, as columns.
///
/// Fill them with the events of a tracefile by [`Cursor::read_columns`](crate::Cursor::read_columns),
/// which is fastest, with those of several traces in time order by [`Merge::drive`], which takes them
/// as a sink, or event by event with [`push`](Self::push). Rows are added to those that are there;
/// [`clear`](Self::clear) removes them, and keeps the memory for the next batch.
///
/// ```
/// use ltt_read::schema::Scope;
/// use ltt_read::{Columns, ColumnValues, Trace};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
/// let trace = Trace::open(path)?;
/// let switch = trace.event_types_named("sched_switch").next().expect("a kernel trace");
/// let next = trace.field(switch, Scope::Payload, "next_tid").expect("a field of it");
/// let mut columns = Columns::new(&trace, switch, [next])?;
/// let mut to_idle = 0;
/// for mut cursor in trace.cursors() {
///     while cursor.read_columns(&mut columns, 1 << 16)? > 0 {
///         if let ColumnValues::Signed(tids) = columns.columns()[0].values() {
///             to_idle += tids.iter().filter(|tid| **tid == 0).count();
///         }
///         columns.clear();
///     }
/// }
/// # assert!(to_idle > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Columns {
    /// `None` for all types.
    event_type: Option<EventTypeId>,
    times: Vec<i64>,
    /// The types of the events; empty if all have the same.
    types: Vec<EventTypeId>,
    chosen: Box<[Chosen]>,
    columns: Box<[Column]>,
    run: RunStarts,
}

/// A field, and the way to read it.
#[derive(Debug, Clone)]
struct Chosen {
    field: Field,
    kind: Kind,
}

impl Columns {
    /// The time in [`times`](Self::times) of an event without a timestamp.
    pub const NO_TIME: i64 = i64::MIN;

    /// Creates empty columns for events of one type: one for each field, in their order.
    ///
    /// # Errors
    ///
    /// Returns a [`ColumnError`] if a field belongs to another event type, is in the event header,
    /// or has values that do not fit in one vector: a structure, a variant, an array of these, or
    /// a field whose place has to be searched in each event. Their members can be columns.
    pub fn new(
        trace: &Trace,
        event_type: EventTypeId,
        fields: impl IntoIterator<Item = Field>,
    ) -> Result<Self, ColumnError> {
        let choose = |field: Field| {
            let kind = Kind::of(trace, event_type, &field)?;
            Ok(Chosen { field, kind })
        };
        let chosen = fields.into_iter().map(choose).collect::<Result<Box<[_]>, _>>()?;
        let columns = chosen.iter().map(|chosen| Column::new(&chosen.kind)).collect();
        let run = RunStarts::new(trace, event_type, chosen.iter().map(|chosen| &chosen.field));
        let (times, types) = (Vec::new(), Vec::new());
        Ok(Columns { event_type: Some(event_type), times, types, chosen, columns, run })
    }

    /// Creates empty columns for events of all types, of which only times and types are kept.
    pub fn of_all_types() -> Self {
        Columns {
            event_type: None,
            times: Vec::new(),
            types: Vec::new(),
            chosen: [].into(),
            columns: [].into(),
            run: RunStarts::everywhere(),
        }
    }

    /// Returns the event type of all rows; `None` if they may have any.
    pub fn event_type(&self) -> Option<EventTypeId> {
        self.event_type
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Returns `true` if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Returns the times of the events in ns, or [`NO_TIME`](Self::NO_TIME).
    pub fn times(&self) -> &[i64] {
        &self.times
    }

    /// Returns the types of the events, if the columns are for [all types](Self::of_all_types);
    /// otherwise an empty slice.
    pub fn types(&self) -> &[EventTypeId] {
        &self.types
    }

    /// Returns the columns of the fields, in the order in which they were given.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.times.clear();
        self.types.clear();
        self.columns.iter_mut().for_each(Column::clear);
    }

    /// Removes all rows and returns the vector of times and the columns, which can be taken apart
    /// without copying: see [`Column::into_parts`].
    pub fn take(&mut self) -> (Vec<i64>, Vec<Column>) {
        let empty = self.chosen.iter().map(|chosen| Column::new(&chosen.kind)).collect();
        let columns = std::mem::replace(&mut self.columns, empty);
        self.types.clear();
        (std::mem::take(&mut self.times), columns.into_vec())
    }

    /// Adds a row with the time and the fields of an event, which is of the trace of these columns.
    /// Returns `false`, and adds nothing, if the event has another type.
    #[inline]
    pub fn push(&mut self, event: &Event<'_>) -> bool {
        match self.event_type {
            None => self.types.push(event.type_id()),
            Some(event_type) if event_type != event.type_id() => return false,
            Some(_) => {}
        }
        self.times.push(event.timestamp().map_or(Self::NO_TIME, |time| time.as_ns()));
        for (column, Chosen { field, .. }) in self.columns.iter_mut().zip(&self.chosen) {
            match field.is_plain_integer() {
                true => column.push_integer(event.integer(field)),
                false => column.push(event.get(field)),
            }
        }
        true
    }
}

/// A sink that adds all events of a merge of one trace to the columns, and receives none.
impl EventSink for Columns {
    #[inline]
    fn accepts(&mut self, _: TracefileNumber, event: &Event<'_>) -> bool {
        self.push(event);
        false
    }

    fn receive(&mut self, _: &Merge, _: TracefileNumber, _: &Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
