//! Columns of several event types, filled together.

use std::ops::ControlFlow;

use super::{Bodies, Columns};
use crate::cursor::{Cursor, RunEvents};
use crate::event::Event;
use crate::merge::{EventSink, Merge};
use crate::report::Error;
use crate::trace::TracefileNumber;

/// The [`Columns`] of several event types, which are filled in one pass over the events.
///
/// ```
/// use ltt_read::schema::Scope;
/// use ltt_read::{ColumnSet, Columns, Trace};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
/// let trace = Trace::open(path)?;
/// let columns_of = |name: &str, field: &str| {
///     let event_type = trace.event_types_named(name).next()?;
///     let field = trace.field(event_type, Scope::Payload, field)?;
///     Columns::new(&trace, event_type, [field]).ok()
/// };
/// let wanted = [("sched_switch", "next_tid"), ("sched_waking", "tid")];
/// let mut set = ColumnSet::new(wanted.iter().filter_map(|(name, field)| columns_of(name, field)));
/// let mut rows = 0;
/// for mut cursor in trace.cursors() {
///     while cursor.read_column_set(&mut set, 1 << 16)? > 0 {
///         rows += set.columns().iter().map(Columns::len).sum::<usize>();
///         set.clear();
///     }
/// }
/// # assert!(rows > 497);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ColumnSet {
    columns: Vec<Columns>,
    /// For each event type, the number of its columns, or [`NONE`].
    of_type: Vec<u32>,
    /// For each of the columns, the events of a run that are of its type.
    rows: Vec<Vec<Row>>,
    run: Option<Box<RunEvents>>,
    places: Places,
}

/// An event of a run: its time, and the start and end of its body in bytes from the start of the
/// packet.
type Row = (i64, usize, usize);

/// The starts and ends of rows of one type.
#[derive(Debug, Clone, Default)]
struct Places {
    starts: Vec<usize>,
    ends: Vec<usize>,
}

/// The number of the columns of an event type that has none.
const NONE: u32 = u32::MAX;

impl ColumnSet {
    /// Creates the set of some columns, all of one trace. Where several are of the same event type,
    /// the last ones receive its events; columns of [all types](Columns::of_all_types) receive none.
    pub fn new(columns: impl IntoIterator<Item = Columns>) -> Self {
        let columns: Vec<Columns> = columns.into_iter().collect();
        let mut of_type = Vec::new();
        for (columns, number) in columns.iter().zip(0..) {
            let Some(event_type) = columns.event_type() else { continue };
            if of_type.len() <= event_type.index() {
                of_type.resize(event_type.index() + 1, NONE);
            }
            of_type[event_type.index()] = number;
        }
        let rows = vec![Vec::new(); columns.len()];
        ColumnSet { columns, of_type, rows, run: None, places: Places::default() }
    }

    /// Returns the columns, in the order in which they were given.
    pub fn columns(&self) -> &[Columns] {
        &self.columns
    }

    /// Returns the columns, from which rows can be [taken](Columns::take).
    pub fn columns_mut(&mut self) -> &mut [Columns] {
        &mut self.columns
    }

    /// Removes all rows of all columns.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Columns::clear);
    }

    /// Adds a row with an event to the columns of its type. Returns `false`, and adds nothing, if
    /// there are none.
    #[inline]
    pub fn push(&mut self, event: &Event<'_>) -> bool {
        let number = self.of_type.get(event.type_id().index()).copied().unwrap_or(NONE);
        self.columns.get_mut(number as usize).is_some_and(|columns| columns.push(event))
    }

    /// Adds the first `count` events of a run, of which `last` is the last one.
    fn add_run(&mut self, last: &Event<'_>, run: &RunEvents, count: usize) {
        let places = run.bodies.iter().zip(&run.ends);
        let events = run.types.iter().zip(&run.times).zip(places);
        for ((event_type, time), (start, end)) in events.take(count) {
            let number = self.of_type.get(event_type.index()).copied().unwrap_or(NONE);
            if let Some(rows) = self.rows.get_mut(number as usize) {
                rows.push((*time, *start, *end));
            }
        }
        for (columns, rows) in self.columns.iter_mut().zip(&mut self.rows) {
            if !rows.is_empty() {
                let Places { starts, ends } = &mut self.places;
                starts.clear();
                ends.clear();
                starts.extend(rows.iter().map(|(_, start, _)| start));
                ends.extend(rows.iter().map(|(_, _, end)| end));
                columns.add_rows(
                    last,
                    rows.iter().map(|(time, ..)| *time),
                    Bodies::new(starts, ends),
                );
                rows.clear();
            }
        }
    }
}

impl Cursor {
    /// Reads at most `most` events, and adds each to the columns of its type, if there are some.
    /// Returns the number of events read, which is less than `most` only at the end of the
    /// tracefile.
    ///
    /// Equivalent to [`read_columns`](Self::read_columns) for each of the columns, but all events
    /// are read once.
    ///
    /// # Errors
    ///
    /// [`Error::Decode`] as for [`read_columns`](Self::read_columns).
    pub fn read_column_set(&mut self, set: &mut ColumnSet, most: u64) -> Result<u64, Error> {
        let mut run = set.run.take().unwrap_or_default();
        let read = self.read_set_with(set, &mut run, most);
        set.run = Some(run);
        read
    }

    fn read_set_with(
        &mut self,
        set: &mut ColumnSet,
        run: &mut RunEvents,
        most: u64,
    ) -> Result<u64, Error> {
        let mut read = 0;
        let read_all = set.columns.iter().all(|columns| columns.reads_runs);
        while read < most {
            let count = self.read_run(most - read, run, |event_type| {
                if read_all {
                    return true;
                }
                let number = set.of_type.get(event_type.index()).copied().unwrap_or(NONE);
                set.columns.get(number as usize).is_none_or(|columns| columns.reads_runs)
            });
            if count > 0 {
                set.add_run(&self.event(), run, count);
                read += count as u64;
                continue;
            }
            if !self.advance()? {
                break;
            }
            set.push(&self.event());
            read += 1;
        }
        Ok(read)
    }
}

/// A sink that adds all events of a merge of one trace, and receives none.
impl EventSink for ColumnSet {
    #[inline]
    fn accepts(&mut self, _: TracefileNumber, event: &Event<'_>) -> bool {
        self.push(event);
        false
    }

    fn receive(&mut self, _: &Merge, _: TracefileNumber, _: &Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
