//! Runs: successive events with headers of the usual form and bodies of fixed size, whose fields are
//! read column by column.

use super::column::{Column, ColumnValues};
use super::{Chosen, Columns};
use crate::base::bits::word_le;
use crate::cursor::{Cursor, Run};
use crate::event::{Event, Field, scalar_at};
use crate::report::Error;
use crate::schema::EventTypeId;
use crate::trace::Trace;

/// The starts of the bodies of a run of events.
#[derive(Debug, Clone)]
pub(crate) struct RunStarts {
    /// `true` if the fields of all columns are at constant distances from the start of the body.
    are_enough: bool,
    /// The starts in bits from the start of the packet, of the rows whose fields are to be read.
    starts: Vec<u64>,
}

impl RunStarts {
    pub(super) fn new<'f>(
        trace: &Trace,
        event_type: EventTypeId,
        mut fields: impl Iterator<Item = &'f Field>,
    ) -> Self {
        let decoder = trace.decoder();
        let body = decoder.tables.body(&decoder.schema, event_type).ok();
        let are_enough = body.is_some_and(|body| {
            let is_scalar = |field: &Field| !body.region.nodes[field.node as usize].is_compound();
            body.region.fixed.is_some()
                && fields.all(|field| field.is_at(body.region.start.anchor) && is_scalar(field))
        });
        RunStarts { are_enough, starts: Vec::new() }
    }

    /// Creates the starts for columns without fields.
    pub(super) fn everywhere() -> Self {
        RunStarts { are_enough: true, starts: Vec::new() }
    }
}

impl Cursor {
    /// Reads at most `most` events, and adds those of the type of the columns to them. Returns the
    /// number of events read, which is less than `most` only at the end of the tracefile.
    ///
    /// Equivalent to calling [`advance`](Self::advance) and [`Columns::push`] for each event, but
    /// faster if the events have a fixed size: the headers of successive events are decoded in one
    /// loop, and each field of all these events in another. The trace of the cursor must be that of
    /// the columns.
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
        let Columns { event_type, times, types, run, .. } = columns;
        let RunStarts { are_enough, starts } = run;
        let (wanted, are_enough) = (*event_type, *are_enough);
        starts.clear();
        let read = match wanted {
            None => self.read_run(most, |event| {
                times.push(event.time.as_ns());
                types.push(event.event_type);
                true
            }),
            Some(wanted) => self.read_run(most, |event| {
                if event.event_type != wanted {
                    return true;
                }
                if are_enough {
                    times.push(event.time.as_ns());
                    starts.push(event.body);
                }
                are_enough
            }),
        };
        if !columns.run.starts.is_empty() {
            columns.add_run(&self.event());
        }
        read
    }
}

impl Columns {
    /// Adds the fields of the events of a run, of which `last` is the last one.
    fn add_run(&mut self, last: &Event<'_>) {
        let Columns { event_type, chosen, columns, run, .. } = self;
        let Some(run_of) = event_type.and_then(|event_type| last.run_of(event_type)) else {
            return;
        };
        for (column, chosen) in columns.iter_mut().zip(chosen) {
            add_column(column, chosen, &run_of, &run.starts);
        }
    }
}

/// Adds one field of the events of a run to its column.
fn add_column(column: &mut Column, chosen: &Chosen, run: &Run<'_>, starts: &[u64]) {
    let Chosen { field, .. } = chosen;
    let (data, offset) = (run.window.data, field.place.offset);
    if let Some(read) = field.plain {
        let integers = starts.iter().map(|start| read.value(word_le(data, start + offset)));
        match column.values_mut() {
            ColumnValues::Unsigned(values) => return values.extend(integers),
            ColumnValues::Signed(values) => {
                return values.extend(integers.map(|value| value as i64));
            }
            _ => {}
        }
    }
    let node = &run.body.region.nodes[field.node as usize];
    for start in starts {
        column.push(Some(scalar_at(node, start + offset, run.window)));
    }
}
