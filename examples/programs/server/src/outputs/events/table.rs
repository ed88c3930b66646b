//! Reading the events of lines, and searching them.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use ltt_read::Timestamp;
use lttv_requests::{EventsRequest, FinishReason, Owner, RequestId, Urgency};

use super::passing_lines::{Run, runs};
use super::row::Row;
use crate::dataset::{Counted, Dataset, EventReader};
use crate::error::OutputError;
use crate::outputs::line_query::Query;
use crate::outputs::work::Work;
use crate::protocol::models::{Cell, Line};

/// The greatest number of bytes of text in an answer; longer answers have fewer lines.
const MOST_BYTES: usize = 16 << 20;
/// The number of events in the first step of a search backward.
const FIRST_STEP: u64 = 4096;
/// The greatest number of events in a step of a search backward.
const LONGEST_STEP: u64 = 1 << 18;
/// The time after which a waiting answer looks whether its client is still there.
const PATIENCE: Duration = Duration::from_millis(20);

/// The table of one dataset, for one request.
pub(super) struct Table<'t> {
    pub(super) dataset: &'t Dataset,
    pub(super) counted: &'t Counted,
    /// The numbers of the events that are lines; `None` if all are.
    pub(super) passing: Option<&'t Counted>,
    pub(super) query: &'t Query,
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
    pub(super) fn lines(
        &self,
        start: u64,
        work: &Work<'_>,
    ) -> std::result::Result<Vec<Line>, OutputError> {
        let count = (self.query.count as u64).min(self.len().saturating_sub(start));
        if count == 0 {
            return Ok(Vec::new());
        }
        let (search, columns) = (self.query.search.clone(), self.query.columns.clone());
        let bytes = Arc::new(AtomicUsize::new(0));
        let line = move |index: u64, row: &mut Row<'_, '_, '_>, lines: &mut Vec<Line>| {
            let tags = if row.is_found_by(&search) { Line::FOUND } else { 0 };
            let cells = columns.iter().map(|column| row.cell(*column).to_owned());
            let cells: Vec<Cell> = cells.map(|content| Cell { content }).collect();
            let length = cells.iter().map(|cell| cell.content.len()).sum::<usize>();
            lines.push(Line { index, cells, tags });
            bytes.fetch_add(length, Ordering::Relaxed) + length < MOST_BYTES
        };
        self.collect(Part { start, count, urgency: Urgency::HIGH }, line, work)
    }

    /// Returns the number of the first matching event from one on.
    pub(super) fn next(
        &self,
        start: u64,
        work: &Work<'_>,
    ) -> std::result::Result<Option<u64>, OutputError> {
        let count = self.len().saturating_sub(start);
        let search = self.query.search.clone();
        let found = move |index: u64, row: &mut Row<'_, '_, '_>, found: &mut Option<u64>| {
            *found = row.is_found_by(&search).then_some(index);
            found.is_none()
        };
        self.collect(Part { start, count, urgency: Urgency::NORMAL }, found, work)
    }

    /// Returns the number of the last matching event up to one.
    pub(super) fn previous(
        &self,
        start: u64,
        work: &Work<'_>,
    ) -> std::result::Result<Option<u64>, OutputError> {
        let (mut end, mut step) = (start.saturating_add(1).min(self.len()), FIRST_STEP);
        while end > 0 {
            let begin = end.saturating_sub(step);
            let search = self.query.search.clone();
            let found = move |index: u64, row: &mut Row<'_, '_, '_>, found: &mut Option<u64>| {
                if row.is_found_by(&search) {
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
            let submit =
                move |reader: &mut _| submit(reader, (id, urgency), run, place, each, send);
            match urgency {
                Urgency::HIGH => self.dataset.reader().submit_in_turn(&owner, submit),
                _ => self.dataset.reader().run(move |reader| _ = submit(reader)),
            }
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
) -> Option<RequestId> {
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
    reader.scheduler.submit(request).ok()
}

/// Waits for a result, while the client does.
fn wait<T>(receive: &Receiver<T>, work: &Work<'_>) -> std::result::Result<T, OutputError> {
    work.end_turn();
    loop {
        match receive.recv_timeout(PATIENCE) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => work.check()?,
            Err(RecvTimeoutError::Disconnected) => return Err(OutputError::Stopped),
        }
    }
}
