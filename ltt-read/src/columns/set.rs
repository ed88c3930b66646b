//! Columns of several event types, filled together.

use super::Columns;
use super::sorted::Sorted;
use crate::cursor::{Cursor, RunEvents};
use crate::event::Event;
use crate::merge::EventSink;
use crate::report::Error;
use crate::schema::EventTypeId;
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
    /// For each event type, the number of its columns, or the number of columns if it has none.
    of_type: Vec<u32>,
    runs: Option<Box<Runs>>,
}

/// The memory for events of a run.
#[derive(Debug, Clone)]
struct Runs {
    run: RunEvents,
    sorted: Sorted,
    /// `true` if the last run had events of one type, which are found faster by `run`.
    is_alike: bool,
}

impl ColumnSet {
    /// Creates the set of some columns, all of one trace. Where several are of the same event type,
    /// the last ones receive its events; columns of [all types](Columns::of_all_types) receive none.
    pub fn new(columns: impl IntoIterator<Item = Columns>) -> Self {
        let columns: Vec<Columns> = columns.into_iter().collect();
        let none = columns.len() as u32;
        let mut of_type = Vec::new();
        for (columns, number) in columns.iter().zip(0..) {
            let Some(event_type) = columns.event_type() else { continue };
            if of_type.len() <= event_type.index() {
                of_type.resize(event_type.index() + 1, none);
            }
            of_type[event_type.index()] = number;
        }
        ColumnSet { columns, of_type, runs: None }
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
        self.columns.iter_mut().filter(|columns| !columns.is_empty()).for_each(Columns::clear);
    }

    /// Adds a row with an event to the columns of its type. Returns `false`, and adds nothing, if
    /// there are none.
    #[inline]
    pub fn push(&mut self, event: &Event<'_>) -> bool {
        let number = self.number_of(event.type_id());
        self.columns.get_mut(number as usize).is_some_and(|columns| columns.push(event))
    }

    /// Returns the number of the columns of an event type, or the number of columns if it has none.
    #[inline(always)]
    fn number_of(&self, event_type: EventTypeId) -> u32 {
        let number = self.of_type.get(event_type.index()).copied();
        number.unwrap_or(self.columns.len() as u32)
    }

    /// Adds the first `count` events of a run, of which `last` is the last one. Returns `true` if all are
    /// of one type.
    #[inline(never)] // leaves the registers to the loop that finds events
    fn add_run(&mut self, last: &Event<'_>, runs: &mut Runs, count: usize) -> bool {
        let Runs { run, sorted, .. } = runs;
        let count = count.min(run.types.len());
        let Some(first) = run.types[..count].first().copied() else { return true };
        let is_first = |event_type: &EventTypeId| *event_type == first;
        if run.are_alike(count) || run.types[..count].iter().all(is_first) {
            let number = self.number_of(first);
            if let Some(columns) = self.columns.get_mut(number as usize) {
                columns.add_run(last, run, count);
            }
            return true;
        }
        let places = run.bodies[..count].iter().zip(&run.ends[..count]);
        for ((event_type, time), (start, end)) in run.types.iter().zip(&run.times).zip(places) {
            if !sorted.add(*event_type, *time, *start, *end) {
                sorted.move_to(&mut self.columns, last);
            }
        }
        sorted.move_to(&mut self.columns, last);
        false
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
        let mut runs = set.runs.take().unwrap_or_else(|| {
            let sorted = Sorted::new(&set.of_type, set.columns.len() as u32);
            Box::new(Runs { run: RunEvents::default(), sorted, is_alike: true })
        });
        let read = self.read_set_with(set, &mut runs, most);
        set.runs = Some(runs);
        read
    }

    fn read_set_with(
        &mut self,
        set: &mut ColumnSet,
        runs: &mut Runs,
        most: u64,
    ) -> Result<u64, Error> {
        let mut read = 0;
        let read_all = set.columns.iter().all(|columns| columns.reads_runs);
        while read < most {
            let accepts = |event_type| {
                let columns = set.columns.get(set.number_of(event_type) as usize);
                read_all || columns.is_none_or(|columns| columns.reads_runs)
            };
            let count = match runs.is_alike {
                true => self.read_run(most - read, &mut runs.run, accepts),
                false => self.read_run(most - read, &mut runs.sorted, accepts),
            };
            if count > 0 {
                runs.is_alike = match runs.is_alike {
                    true => set.add_run(&self.event(), runs, count),
                    false => runs.sorted.move_to(&mut set.columns, &self.event()) <= 1,
                };
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
}
