//! The table of all events.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use ltt_read::Timestamp;
use lttv_context::EventCall;
use lttv_examples::text_dump::lttv::Lttv;
use lttv_examples::text_dump::text::Text;
use lttv_requests::{EventsRequest, FinishReason, Owner, Urgency};
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::passing_lines::{Run, runs};
use super::work::Work;
use super::{Output, OutputError, Result};
use crate::dataset::{Counted, Dataset, EventReader};
use crate::protocol::models::{Answer, Cell, Column, DataProvider, DataType, Kind, Line, Lines};
use crate::protocol::parameters::{ParameterError, Parameters};

/// The table of all events, with searches.
#[derive(Debug)]
pub(super) struct EventsTable;

/// The greatest number of lines in an answer.
const MOST_LINES: i64 = 10_000;
/// The greatest number of bytes of text in an answer; longer answers have fewer lines.
const MOST_BYTES: usize = 16 << 20;
/// The number of events in the first step of a search backward.
const FIRST_STEP: u64 = 4096;
/// The greatest number of events in a step of a search backward.
const LONGEST_STEP: u64 = 1 << 18;
/// The mark of lines that a search has found.
const FOUND: u32 = 8;
/// The time after which a waiting answer looks whether its client is still there.
const PATIENCE: Duration = Duration::from_millis(20);

const COLUMNS: [Column; 6] = [
    column(0, "Timestamp", "Time of the event, in ns", DataType::Timestamp),
    column(1, "Trace", "Name of the trace's directory", DataType::String),
    column(2, "Tracefile", "Channel and CPU that recorded the event", DataType::String),
    column(3, "CPU", "Number of the CPU", DataType::Number),
    column(4, "Event type", "Name of the event", DataType::String),
    column(5, "Contents", "Contexts and fields", DataType::String),
];

const fn column(
    id: i64,
    name: &'static str,
    description: &'static str,
    data_type: DataType,
) -> Column {
    Column { id, name, description, data_type }
}

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
        let query = Query::parse(parameters)?;
        let passing = super::passing(dataset, parameters)?;
        let counted = dataset.events().snapshot();
        let size = passing.as_ref().unwrap_or(&counted).len();
        let start = match query.start {
            Start::Index(index) => index,
            Start::Time(time) => {
                let event = counted.before(time);
                let number = |passing: &Counted| passing.before(Timestamp::from_ns(event as i64));
                passing.as_ref().map_or(event, number).min(size.saturating_sub(1))
            }
        };
        let columns: Vec<i64> = query.columns.iter().map(|at| COLUMNS[*at].id).collect();
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

/// The parameters of a request for lines.
#[derive(Debug)]
struct Query {
    start: Start,
    count: usize,
    /// The indices of the columns.
    columns: Vec<usize>,
    search: Search,
    direction: Option<Direction>,
}

#[derive(Debug, Clone, Copy)]
enum Start {
    Index(u64),
    Time(Timestamp),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Direction {
    Next,
    Previous,
}

/// The conditions of a search: columns with expressions, all of which must match.
#[derive(Debug, Clone, Default)]
struct Search(Vec<(usize, Regex)>);

impl Query {
    fn parse(parameters: &Parameters) -> std::result::Result<Query, ParameterError> {
        const INDEX: &str = "requested_table_index";
        const COUNT: &str = "requested_table_count";
        const DIRECTION: &str = "table_search_direction";
        let start = match parameters.integer(INDEX)? {
            Some(index) => match u64::try_from(index) {
                Ok(index) => Start::Index(index),
                Err(_) => return Err(ParameterError::invalid(INDEX, "negative")),
            },
            None => match parameters.optional_samples("nbTimes")? {
                Some(times) => Start::Time(Timestamp::from_ns(times.start())),
                None => return Err(ParameterError::Missing(INDEX)),
            },
        };
        let count = parameters.integer(COUNT)?.ok_or(ParameterError::Missing(COUNT))?;
        if count < 0 {
            return Err(ParameterError::invalid(COUNT, "negative"));
        }
        let ids = parameters.ids("requested_table_column_ids")?.unwrap_or_default();
        let known = |id: &i64| COLUMNS.iter().position(|column| column.id == *id);
        let columns = match ids.is_empty() {
            true => (0..COLUMNS.len()).collect(),
            // More columns than there are repeat some of them.
            false => ids.iter().filter_map(known).take(2 * COLUMNS.len()).collect(),
        };
        let search = Search::parse(parameters)?;
        let direction = match parameters.text(DIRECTION)? {
            None => None,
            Some("NEXT") => Some(Direction::Next),
            Some("PREVIOUS") => Some(Direction::Previous),
            Some(_) => return Err(ParameterError::invalid(DIRECTION, "unknown")),
        };
        Ok(Query {
            start,
            count: count.min(MOST_LINES) as usize,
            columns,
            direction: direction.filter(|_| !search.0.is_empty()),
            search,
        })
    }
}

impl Search {
    fn parse(parameters: &Parameters) -> std::result::Result<Search, ParameterError> {
        const NAME: &str = "table_search_expressions";
        let Some(value) = parameters.get(NAME) else { return Ok(Search::default()) };
        let Value::Object(expressions) = value else {
            return Err(ParameterError::invalid(NAME, "not an object"));
        };
        let mut search = Vec::new();
        for (id, expression) in expressions {
            let expression = expression
                .as_str()
                .ok_or_else(|| ParameterError::invalid(NAME, "an expression is not a text"))?;
            let column = id
                .parse()
                .ok()
                .and_then(|id: i64| COLUMNS.iter().position(|column| column.id == id));
            // A search over an unknown column is ignored.
            let Some(column) = column else { continue };
            let limited = RegexBuilder::new(expression).size_limit(1 << 20).build();
            let regex =
                limited.map_err(|error| ParameterError::invalid(NAME, error.to_string()))?;
            search.push((column, regex));
        }
        // The cheapest columns decide first.
        search.sort_by_key(|(column, _)| (*column == 5, *column != 4));
        Ok(Search(search))
    }

    fn matches(&self, row: &mut Row<'_, '_, '_>) -> bool {
        !self.0.is_empty() && self.0.iter().all(|(column, regex)| regex.is_match(row.cell(*column)))
    }
}

/// The cells of an event, each of which is written when it is first needed.
struct Row<'r, 'a, 'h> {
    call: &'r EventCall<'a, 'h>,
    format: &'r mut Lttv,
    cells: [Option<String>; COLUMNS.len()],
}

impl<'r, 'a, 'h> Row<'r, 'a, 'h> {
    fn new(call: &'r EventCall<'a, 'h>, format: &'r mut Lttv) -> Self {
        Row { call, format, cells: [const { None }; COLUMNS.len()] }
    }

    fn cell(&mut self, column: usize) -> &str {
        if self.cells[column].is_none() {
            self.cells[column] = Some(self.text(column));
        }
        self.cells[column].as_deref().unwrap_or_default()
    }

    fn text(&mut self, column: usize) -> String {
        let tracefile = self.call.tracefile.tracefile();
        match column {
            0 => self.call.time().as_ns().to_string(),
            1 => {
                let path = self.call.trace.trace().path().file_name();
                path.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
            }
            2 => tracefile.name().to_owned(),
            3 => tracefile.cpu().map_or_else(String::new, |cpu| cpu.to_string()),
            4 => self.call.event.event_type().name().to_owned(),
            _ => {
                let mut fields = Text::default();
                self.format.fields(&self.call.event, &mut fields);
                let text = String::from_utf8_lossy(fields.as_bytes());
                text.trim_start_matches([',', ' ']).trim_end().to_owned()
            }
        }
    }
}

/// The table of one dataset, for one request.
struct Table<'t> {
    dataset: &'t Dataset,
    counted: &'t Counted,
    /// The numbers of the events that are lines; `None` if all are.
    passing: Option<&'t Counted>,
    query: &'t Query,
}

/// The events to examine: from a number on, up to a number of them.
#[derive(Debug, Clone, Copy)]
struct Part {
    start: u64,
    count: u64,
    urgency: Urgency,
}

/// The result of examining events, joined from several runs of them.
trait Found: Default + Send + 'static {
    /// Adds the result of later events.
    fn join(&mut self, later: Self);
}

impl Found for Vec<Line> {
    fn join(&mut self, later: Self) {
        self.extend(later);
    }
}

impl Found for Option<u64> {
    fn join(&mut self, later: Self) {
        *self = later.or(*self);
    }
}

impl Table<'_> {
    /// Returns the number of lines of the whole table.
    fn len(&self) -> u64 {
        self.passing.unwrap_or(self.counted).len()
    }

    /// Returns the lines from a number on.
    fn lines(&self, start: u64, work: &Work<'_>) -> std::result::Result<Vec<Line>, OutputError> {
        let count = (self.query.count as u64).min(self.len().saturating_sub(start));
        if count == 0 {
            return Ok(Vec::new());
        }
        let (search, columns) = (self.query.search.clone(), self.query.columns.clone());
        let bytes = Arc::new(AtomicUsize::new(0));
        let line = move |index: u64, row: &mut Row<'_, '_, '_>, lines: &mut Vec<Line>| {
            let tags = if search.matches(row) { FOUND } else { 0 };
            let cells = columns.iter().map(|column| row.cell(*column).to_owned());
            let cells: Vec<Cell> = cells.map(|content| Cell { content }).collect();
            let length = cells.iter().map(|cell| cell.content.len()).sum::<usize>();
            lines.push(Line { index, cells, tags });
            bytes.fetch_add(length, Ordering::Relaxed) + length < MOST_BYTES
        };
        self.collect(Part { start, count, urgency: Urgency::HIGH }, line, work)
    }

    /// Returns the number of the first matching event from one on.
    fn next(&self, start: u64, work: &Work<'_>) -> std::result::Result<Option<u64>, OutputError> {
        let count = self.len().saturating_sub(start);
        let search = self.query.search.clone();
        let found = move |index: u64, row: &mut Row<'_, '_, '_>, found: &mut Option<u64>| {
            *found = search.matches(row).then_some(index);
            found.is_none()
        };
        self.collect(Part { start, count, urgency: Urgency::NORMAL }, found, work)
    }

    /// Returns the number of the last matching event up to one.
    fn previous(
        &self,
        start: u64,
        work: &Work<'_>,
    ) -> std::result::Result<Option<u64>, OutputError> {
        let (mut end, mut step) = (start.saturating_add(1).min(self.len()), FIRST_STEP);
        while end > 0 {
            let begin = end.saturating_sub(step);
            let search = self.query.search.clone();
            let found = move |index: u64, row: &mut Row<'_, '_, '_>, found: &mut Option<u64>| {
                if search.matches(row) {
                    *found = Some(index);
                }
                true
            };
            let part = Part { start: begin, count: end - begin, urgency: Urgency::NORMAL };
            if let Some(index) = self.collect(part, found, work)? {
                return Ok(Some(index));
            }
            (end, step) = (begin, (4 * step).min(LONGEST_STEP));
        }
        Ok(None)
    }

    /// Calls `each` with the events of a part until it returns `false`. Returns its result.
    fn collect<T: Found>(
        &self,
        part: Part,
        each: impl FnMut(u64, &mut Row<'_, '_, '_>, &mut T) -> bool + Clone + Send + 'static,
        work: &Work<'_>,
    ) -> std::result::Result<T, OutputError> {
        let mut result = T::default();
        for run in runs(self.passing, part.start, part.count) {
            let Some(place) = self.counted.place(run.event) else { break };
            let owner = self.dataset.reader().owner();
            let (send, receive) = channel();
            let (id, urgency, each) = (owner.owner(), part.urgency, each.clone());
            self.dataset.reader().run(move |reader| {
                submit(reader, (id, urgency), run, place, each, send);
            });
            let (found, goes_on) = wait(&receive, work)?;
            result.join(found);
            if !goes_on {
                break;
            }
        }
        Ok(result)
    }
}

/// Submits the request for a run of events. Its result is sent when it ends, with `true` if further
/// events should be examined.
fn submit<T: Default + 'static>(
    reader: &mut EventReader,
    (owner, urgency): (Owner, Urgency),
    mut run: Run,
    (time, skip): (Timestamp, u64),
    mut each: impl FnMut(u64, &mut Row<'_, '_, '_>, &mut T) -> bool + 'static,
    send: Sender<(T, bool)>,
) {
    let format = Rc::clone(&reader.format);
    let result = Rc::new(RefCell::new((T::default(), true)));
    let (of_end, mut number) = (Rc::clone(&result), 0);
    let request = EventsRequest::new(owner)
        .urgency(urgency)
        .starting_at(time)
        .by_delivery()
        .max_events(skip.saturating_add(run.events))
        .on_every_event(move |call, control| {
            number += 1;
            let Some(index) = (number > skip).then(|| run.next()).flatten() else { return };
            let mut format = format.borrow_mut();
            let mut row = Row::new(call, &mut format);
            let (result, goes_on) = &mut *result.borrow_mut();
            *goes_on = each(index, &mut row, result);
            if !*goes_on {
                control.stop();
            }
        })
        .after_request(move |_, _, reason| {
            if reason != FinishReason::Cancelled && reason != FinishReason::Panicked {
                // The client may have gone away.
                _ = send.send(std::mem::take(&mut *of_end.borrow_mut()));
            }
        });
    // Without a result, the receiver sees that the sender is gone.
    _ = reader.scheduler.submit(request);
}

/// Waits for a result, while the client does.
fn wait<T>(receive: &Receiver<T>, work: &Work<'_>) -> std::result::Result<T, OutputError> {
    loop {
        match receive.recv_timeout(PATIENCE) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => work.check()?,
            Err(RecvTimeoutError::Disconnected) => return Err(OutputError::Stopped),
        }
    }
}
