//! Columns: times and fields of many events, each in a vector of its own.
//!
//! A program that computes with some fields of very many events (a histogram, a sum, an export)
//! need not look at each event. [`Columns`] are filled with whole runs of events, and the program
//! then works on slices of numbers.

mod column;
mod kind;
mod run;

use crate::cursor::{Cursor, RunEvents};
use crate::event::{Event, Field};
use crate::format::SchemaId;
use crate::merge::EventSink;
use crate::report::Error;
use crate::schema::{EventTypeId, Scope};
use crate::trace::{Trace, TracefileNumber};

pub use column::{Column, ColumnValues};
pub use kind::ColumnError;
use kind::Kind;
use run::{Bodies, Gather, Parts, RunLayout};

/// The times of events of one type, or of all types, and some of their fields, as columns.
///
/// Fill them with the events of a tracefile by [`Cursor::read_columns`](crate::Cursor::read_columns),
/// which is fastest, with those of several traces in time order by
/// [`Merge::drive`](crate::Merge::drive), which takes them as a sink, or event by event with
/// [`push`](Self::push). Rows are added to those that are there; [`clear`](Self::clear) removes them,
/// and keeps the memory for the next batch.
///
/// ```
/// use ltt_read::schema::Scope;
/// use ltt_read::Trace;
/// use ltt_read::columns::{Columns, ColumnValues};
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
    /// The trace of that type.
    schema: SchemaId,
    times: Vec<i64>,
    /// The types of the events; empty if all have the same.
    types: Vec<EventTypeId>,
    chosen: Box<[Chosen]>,
    columns: Box<[Column]>,
    /// `true` if the events of a run need not be read one by one: if all fields are at constant
    /// distances from the start or the end of the body, or of a dynamic part of it.
    reads_runs: bool,
    /// `true` if the place of each body in a run is needed although all have the same distance.
    needs_places: bool,
    run: Option<Box<RunEvents>>,
    parts: Parts,
}

/// A field, and the ways to read it.
#[derive(Debug, Clone)]
struct Chosen {
    field: Field,
    kind: Kind,
    /// The way to read it in runs; `None` if they cannot be read so.
    gather: Option<Gather>,
    /// `true` if it is in each event and contains no fields, so that its node suffices to read it.
    is_simple: bool,
}

impl Columns {
    /// The time in [`times`](Self::times) of an event without a timestamp.
    pub const NO_TIME: i64 = i64::MIN;

    /// Creates empty columns for events of one type: one for each field, in their order.
    ///
    /// # Errors
    ///
    /// Returns a [`ColumnError`] if there is no such event type, if a field belongs to another one, is in the event header,
    /// or has values that do not fit in one vector: a structure, a variant, an array of these, or
    /// a field whose place has to be searched in each event. Their members can be columns.
    pub fn new(
        trace: &Trace,
        event_type: EventTypeId,
        fields: impl IntoIterator<Item = Field>,
    ) -> Result<Self, ColumnError> {
        let decoder = trace.decoder();
        if event_type.index() >= decoder.schema.event_types.len() {
            return Err(ColumnError::NoEventType { event_type });
        }
        let body = decoder.tables.body(&decoder.schema, event_type).ok();
        let layout = body.and_then(|body| RunLayout::new(&body.region));
        let choose = |field: Field| {
            let kind = Kind::of(trace, event_type, &field)?;
            let gather = layout.as_ref().and_then(|layout| layout.gather(&field));
            let in_body = matches!(
                field.scope(),
                Scope::CommonContext | Scope::SpecificContext | Scope::Payload
            );
            let nodes = body.filter(|_| in_body).map(|body| &body.region.nodes);
            let node = nodes.and_then(|nodes| nodes.get(field.node as usize));
            let is_simple = field.is_always_there() && node.is_some_and(|node| !node.is_compound());
            Ok(Chosen { field, kind, gather, is_simple })
        };
        let chosen = fields.into_iter().map(choose).collect::<Result<Box<[_]>, _>>()?;
        let reads_runs = layout.is_some() && chosen.iter().all(|chosen| chosen.gather.is_some());
        let gathers = chosen.iter().filter_map(|chosen| chosen.gather.as_ref());
        let needs_places = !gathers.clone().all(Gather::needs_no_places);
        let parts = Parts::new(gathers);
        Ok(Columns {
            event_type: Some(event_type),
            schema: decoder.id,
            times: Vec::new(),
            types: Vec::new(),
            columns: chosen.iter().map(|chosen| Column::new(&chosen.kind)).collect(),
            chosen,
            reads_runs,
            needs_places,
            run: None,
            parts,
        })
    }

    /// Creates empty columns for events of all types, of which only times and types are kept.
    pub fn of_all_types() -> Self {
        Columns {
            event_type: None,
            schema: SchemaId::default(),
            times: Vec::new(),
            types: Vec::new(),
            chosen: [].into(),
            columns: [].into(),
            reads_runs: true,
            needs_places: false,
            run: None,
            parts: Parts::default(),
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

    /// Adds a row with the time and the fields of an event. Returns `false`, and adds nothing, if the event
    /// has another type, or is of another trace than the fields.
    #[inline]
    pub fn push(&mut self, event: &Event<'_>) -> bool {
        match self.event_type {
            None => self.types.push(event.type_id()),
            Some(event_type) if !event.is_of(self.schema, event_type) => return false,
            Some(_) => {}
        }
        self.times.push(event.timestamp().map_or(Self::NO_TIME, |time| time.as_ns()));
        for (column, Chosen { field, is_simple, .. }) in self.columns.iter_mut().zip(&self.chosen) {
            match () {
                () if field.is_plain_integer() => column.push_integer(event.integer(field)),
                () if *is_simple => column.push(event.scalar(field)),
                () => column.push(event.get(field)),
            }
        }
        true
    }
}

impl Columns {
    /// Adds the first `count` events of a run, which are of the type of the columns. `last` is the last
    /// event.
    fn add_run(&mut self, last: &Event<'_>, run: &mut RunEvents, count: usize) {
        let Some(of) = self.event_type.and_then(|event_type| last.run_of(event_type)) else {
            return;
        };
        if self.needs_places {
            run.set_all_places();
        }
        self.times.extend_from_slice(&run.times[..count]);
        let bodies = Bodies::of_run(run, count);
        let skip = of.body.region.byte_aligned_skip.as_ref();
        self.parts.find(skip, of.window.data, bodies.starts());
        let bodies = bodies.with_parts(&self.parts);
        for (column, chosen) in self.columns.iter_mut().zip(&self.chosen) {
            if let Some(gather) = chosen.gather {
                gather.add(column, chosen.field.node, &of, bodies);
            }
        }
    }
}

impl Cursor {
    /// Reads at most `most` events, and adds those of the type of the columns to them. Returns the
    /// number of events read, which is less than `most` only at the end of the tracefile.
    ///
    /// Equivalent to calling [`advance`](Self::advance) and [`Columns::push`] for each event, but
    /// faster if the events have a fixed size, or texts and sequences of numbers as their only dynamic parts: the headers of successive events
    /// are decoded in one loop, and each field of all these events in another. If the columns are of another trace, no
    /// event has their type.
    ///
    /// # Errors
    ///
    /// [`Error::Decode`] if the bytes that follow are not a sound event record or packet: see
    /// [`next`](Self::next). The rows of the events before the damage have been added.
    pub fn read_columns(&mut self, columns: &mut Columns, most: u64) -> Result<u64, Error> {
        let mut read = 0;
        while read < most {
            read += self.read_run_to(columns, most - read);
            if read == most || !self.advance()? {
                break;
            }
            columns.push(&self.event());
            read += 1;
        }
        Ok(read)
    }

    /// Reads a run of at most `most` events. Returns their number, which is 0 if the next event is
    /// not of the usual form.
    fn read_run_to(&mut self, columns: &mut Columns, most: u64) -> u64 {
        let mut run = columns.run.take().unwrap_or_default();
        let (wanted, reads_runs) = (columns.event_type, columns.reads_runs);
        let is_foreign = wanted.is_some() && columns.schema != self.schema_id();
        let mut read = 0;
        loop {
            let accepts = |event_type, _| reads_runs || is_foreign || Some(event_type) != wanted;
            let count = self.read_run(most - read, &mut *run, accepts);
            if count == 0 {
                break;
            }
            read += count as u64;
            match wanted {
                None => {
                    columns.times.extend_from_slice(&run.times[..count]);
                    columns.types.extend_from_slice(&run.types[..count]);
                }
                Some(_) if is_foreign => {}
                Some(wanted) => {
                    let count = run.keep_only(wanted, count);
                    columns.add_run(&self.event(), &mut run, count);
                }
            }
        }
        columns.run = Some(run);
        read
    }
}

/// A sink that adds all events of a merge to the columns, as [`push`](Columns::push) does, and receives none.
impl EventSink for Columns {
    #[inline]
    fn accepts(&mut self, _: TracefileNumber, event: &Event<'_>) -> bool {
        self.push(event);
        false
    }
}
