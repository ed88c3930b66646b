//! The table of all events, with searches.

mod passing_lines;
mod row;
mod table;

use ltt_read::Timestamp;

use self::row::COLUMNS;
use self::table::Table;
use super::Output;
use super::line_query::{Direction, Query, Start};
use super::work::Work;
use crate::dataset::{Counted, Dataset};
use crate::error::Result;
use crate::protocol::models::{Answer, DataProvider, Kind, Lines};
use crate::protocol::parameters::Parameters;

/// The table of all events.
#[derive(Debug)]
pub(super) struct EventsTable;

impl Output for EventsTable {
    fn description(&self) -> DataProvider {
        DataProvider {
            id: "org.eclipse.tracecompass.internal.provisional.tmf.core.model.events.\
                 TmfEventTableDataProvider",
            name: "Events Table",
            description: "All events with their fields",
            kind: Kind::Table,
        }
    }

    fn columns(&self, _: &Dataset, _: &Parameters, work: &mut Work<'_>) -> Result {
        work.json(&Answer::complete(COLUMNS))
    }

    fn lines(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let mut query = Query::parse(parameters, &COLUMNS)?;
        query.search.sort_by_cost(row::cost);
        let passing = super::passing(dataset, parameters)?.map(|passed| passed.numbers);
        let counted = dataset.events().snapshot();
        let size = passing.as_ref().unwrap_or(&counted).len();
        let start = match query.start {
            Start::Index(index) => index,
            Start::Time(time) => {
                let event = counted.delivered_before(time);
                let number =
                    |passing: &Counted| passing.delivered_before(Timestamp::from_ns(event as i64));
                passing.as_ref().map_or(event, number).min(size.saturating_sub(1))
            }
        };
        let columns = query.ids(&COLUMNS);
        let table = Table { dataset, counted: &counted, passing: passing.as_ref(), query: &query };
        let found = match query.direction {
            None => Some(start),
            Some(Direction::Next) => table.next(start, work)?,
            Some(Direction::Previous) => table.previous(start, work)?,
        };
        let lines = match found {
            Some(index) => table.lines(index, work)?,
            None => Vec::new(),
        };
        let low = lines.first().map_or(found.unwrap_or(start), |line| line.index);
        let lines = Lines { low, size, columns, lines };
        let all_passing = passing.is_none_or(|passing| passing.is_complete);
        work.json(&Answer::of(lines, counted.is_complete && all_passing))
    }
}
