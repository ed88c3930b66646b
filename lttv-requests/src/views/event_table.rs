//! A table of consecutive events.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_context::{EventCall, TracesetPosition};

use crate::chunk::FinishReason;
use crate::identity::Owner;
use crate::request::request_filter::{EventFilter, SharedFilter};
use crate::request::request_start::Start;
use crate::request::{EventsRequest, Urgency};

/// A table that shows a page of consecutive events, starting at a time or position, and
/// that can be scrolled in both directions by events.
///
/// The application decides how an event is shown: it provides a function that creates a
/// `T` for each event, which is called once per event, while the event's fields are
/// accessible. Requests of the table have [`Urgency::HIGH`], because a user waits for
/// them. A new request stops the previous ones.
///
/// ```
/// use lttv_context::{Traceset, TracesetContext};
/// use lttv_requests::{Budget, Owner, Scheduler, Start};
/// use lttv_requests::views::EventTable;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut scheduler = Scheduler::new(TracesetContext::new(Traceset::open(path)?));
/// let table = EventTable::new(Owner::unique(), 20, |call| {
///     call.event.event_type().name().to_owned()
/// });
/// scheduler.submit(table.show(Start::Begin))?;
/// while scheduler.service_chunk(Budget::default()).has_more() {}
/// assert_eq!(table.rows().len(), 20);
///
/// let fifth = table.rows()[5].position.clone();
/// scheduler.submit(table.scroll(5).expect("there are rows"))?;
/// while scheduler.service_chunk(Budget::default()).has_more() {}
/// assert_eq!(table.rows()[0].position, fifth);
/// assert_eq!(table.find(&fifth), Some(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EventTable<T> {
    inner: Rc<RefCell<Inner<T>>>,
    owner: Owner,
}

/// A row of an [`EventTable`]: one event.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TableRow<T> {
    /// The position before the event, for
    /// [`SharedView::set_position`](super::SharedView::set_position).
    pub position: TracesetPosition,
    /// The [time of the event](EventCall::event_time). Where a clock goes back, a row has an earlier time
    /// than the row before.
    pub time: Timestamp,
    /// The [time of its delivery](EventCall::delivery_time), by which rows are in order.
    pub delivery_time: Timestamp,
    /// The value that the application has created for the event.
    pub content: T,
}

struct Inner<T> {
    /// The rows, shared with the snapshots that [`EventTable::rows`] has returned.
    rows: Rc<VecDeque<TableRow<T>>>,
    page: usize,
    describe: Box<Describe<T>>,
    filter: Option<SharedFilter<'static>>,
    /// `true` if there is no event before the first row.
    has_begin: bool,
    /// `true` if there is no event after the last row.
    has_end: bool,
    /// The number of requests so far, not counting continuations of other requests.
    epoch: u64,
    /// The number of running requests of this epoch.
    busy: Cell<usize>,
    /// The rows that the requests of this epoch have still to find.
    unfinished: Option<Unfinished>,
}

/// Rows that have been requested and not found yet.
#[derive(Debug, Clone)]
enum Unfinished {
    /// A number of rows from a start on. If the flag is set, the first event has a row.
    Append(Start, u64, bool),
    /// A number of rows before a position.
    Back(u64, TracesetPosition),
}

type Describe<T> = dyn FnMut(&EventCall<'_, '_>) -> T;

/// The length in ns of the first interval to search backwards, and the factor by which
/// each further interval is longer.
const FIRST_STEP: i64 = 16_000;
const LONGER: i64 = 4;
/// The length that stands for all earlier times.
const ALL: i64 = i64::MAX;

impl<T: Clone + 'static> EventTable<T> {
    /// Creates a table without rows. The table has at most `page` rows, and a page has at
    /// least one.
    pub fn new(
        owner: Owner,
        page: usize,
        describe: impl FnMut(&EventCall<'_, '_>) -> T + 'static,
    ) -> Self {
        let inner = Inner {
            rows: Rc::default(),
            page: page.max(1),
            describe: Box::new(describe),
            filter: None,
            has_begin: false,
            has_end: false,
            epoch: 0,
            busy: Cell::new(0),
            unfinished: None,
        };
        EventTable { inner: Rc::new(RefCell::new(inner)), owner }
    }

    /// Returns a snapshot of the rows, as far as they are known. Later requests do not
    /// change it.
    ///
    /// The snapshot shares its memory with the table: the rows are copied only if it
    /// still exists when they change.
    pub fn rows(&self) -> Rc<VecDeque<TableRow<T>>> {
        self.inner.borrow().rows.clone()
    }

    /// Returns whether requests of the table are pending.
    pub fn is_busy(&self) -> bool {
        self.inner.borrow().busy.get() > 0
    }

    /// Returns `true` if the first row is known to contain the first event that passes
    /// the filter. This is determined by requests that start at the first event or scroll
    /// back.
    pub fn has_start(&self) -> bool {
        self.inner.borrow().has_begin
    }

    /// Returns `true` if the last row is known to contain the last event that passes the
    /// filter: in a growing traceset, the last one up to the latest
    /// [`note_growth`](Self::note_growth). This is determined by requests that read forward.
    pub fn has_end(&self) -> bool {
        self.inner.borrow().has_end
    }

    /// Takes note that the traceset has grown, so that events may follow the last row. A
    /// [`scroll`](Self::scroll) finds them.
    pub fn note_growth(&self) {
        self.inner.borrow_mut().has_end = false;
    }

    /// Sets the filter, from the next request on.
    pub fn set_filter(&self, filter: impl EventFilter + 'static) {
        self.inner.borrow_mut().filter = Some(Rc::new(RefCell::new(filter)));
    }

    /// Removes the filter, from the next request on.
    pub fn clear_filter(&self) {
        self.inner.borrow_mut().filter = None;
    }

    /// Finds the row of a position. `None` if it is not shown.
    pub fn find(&self, position: &TracesetPosition) -> Option<usize> {
        self.rows().iter().position(|row| row.position == *position)
    }

    /// Finds the first row that is delivered at a time or later. `None` if it is not shown, or if it is the
    /// first row and there may be an earlier event at this time or later.
    pub fn find_time(&self, time: Timestamp) -> Option<usize> {
        let rows = self.rows();
        let at = rows.partition_point(|row| row.delivery_time < time);
        (at < rows.len() && (at > 0 || rows[0].position.is_start_of(time))).then_some(at)
    }

    /// Creates a request that shows the first events from a start on: a [`Timestamp`], a
    /// [`TracesetPosition`], or [`Start::Begin`].
    pub fn show<'h>(&self, start: impl Into<Start>) -> EventsRequest<'h> {
        let page = self.inner.borrow().page as u64;
        self.append(start.into(), page, false)
    }

    /// Creates a request that shows the last events before a position, such as [the
    /// end](TracesetPosition::end).
    pub fn show_before<'h>(&self, position: &TracesetPosition) -> EventsRequest<'h> {
        let mut inner = self.inner.borrow_mut();
        let (epoch, count) = (inner.begin(), inner.page as u64);
        inner.rows = Rc::default();
        (inner.has_begin, inner.has_end) = (false, position.is_end());
        drop(inner);
        self.back(epoch, count, position.clone())
    }

    /// Creates a request that scrolls forward by a number of events, or back if it is
    /// negative, as far as there are events. A full page stays full. Returns `None` if
    /// there are no rows to start from, or the number is 0.
    pub fn scroll<'h>(&self, events: i64) -> Option<EventsRequest<'h>> {
        let count = events.unsigned_abs();
        if events < 0 {
            let first = self.rows().front()?.position.clone();
            let epoch = self.inner.borrow_mut().begin();
            return Some(self.back(epoch, count, first));
        }
        let last = self.rows().back()?.position.clone();
        (events > 0).then(|| self.append(Start::Position(last), count.saturating_add(1), true))
    }

    /// Creates a request that finds the rows that are missing because the last request was
    /// cancelled. `None` if none was, or if the table is busy. The rows so far stay.
    pub fn resume<'h>(&self) -> Option<EventsRequest<'h>> {
        let unfinished = self.inner.borrow().unfinished.clone().filter(|_| !self.is_busy())?;
        Some(match unfinished {
            Unfinished::Append(start, rows, continues) => {
                self.append(start, rows.saturating_add(u64::from(continues)), continues)
            }
            Unfinished::Back(count, first) => {
                let epoch = self.inner.borrow_mut().begin();
                self.back(epoch, count, first)
            }
        })
    }

    /// Creates a request that inserts a number of events before the first row, whose
    /// position is given.
    fn back<'h>(&self, epoch: u64, count: u64, first: TracesetPosition) -> EventsRequest<'h> {
        self.inner.borrow_mut().unfinished = Some(Unfinished::Back(count, first.clone()));
        ScrollBack { table: self.share(), epoch, count, first, found: 0 }.begin()
    }

    /// Creates a request that appends rows and drops the first ones if there are too
    /// many. If it `continues`, the first event already has a row.
    fn append<'h>(&self, start: Start, count: u64, continues: bool) -> EventsRequest<'h> {
        let epoch = self.inner.borrow_mut().begin();
        let (at_begin, at_end) = (self.inner.clone(), self.inner.clone());
        let busy = Busy::new(&self.inner, epoch);
        let mut has_row = continues;
        let rows = count.saturating_sub(u64::from(continues));
        self.inner.borrow_mut().unfinished =
            Some(Unfinished::Append(start.clone(), rows, continues));
        let is_begin = matches!(start, Start::Begin);
        let request = self.request().starting_at(start).max_matches(count);
        request
            .before_request(move |_, _| {
                let mut inner = at_begin.borrow_mut();
                if inner.epoch == epoch && !continues {
                    inner.rows = Rc::default();
                    (inner.has_begin, inner.has_end) = (is_begin, false);
                }
            })
            .after_request(move |_, _, reason| {
                let mut inner = at_end.borrow_mut();
                if inner.epoch == epoch {
                    inner.has_end = is_end(reason);
                    if is_read(reason) || reason == FinishReason::MatchCount {
                        inner.unfinished = None;
                    }
                }
            })
            .on_every_event(move |call, request| {
                let mut inner = busy.inner.borrow_mut();
                if inner.epoch != epoch {
                    return request.stop();
                }
                if std::mem::take(&mut has_row) {
                    return;
                }
                let row = inner.row(call);
                if let Some(Unfinished::Append(start, missing, continues)) = &mut inner.unfinished {
                    *start = Start::Position(row.position.clone());
                    (*missing, *continues) = (missing.saturating_sub(1), true);
                }
                let Inner { rows, page, has_begin, .. } = &mut *inner;
                let rows = Rc::make_mut(rows);
                rows.push_back(row);
                if rows.len() > *page {
                    rows.pop_front();
                    *has_begin = false;
                }
            })
    }

    /// Creates a request for events that pass the filter.
    fn request<'h>(&self) -> EventsRequest<'h> {
        let request = EventsRequest::new(self.owner).urgency(Urgency::HIGH).by_delivery();
        match self.inner.borrow().filter.clone() {
            Some(filter) => request.shared_filter(filter),
            None => request,
        }
    }

    fn share(&self) -> Self {
        EventTable { inner: self.inner.clone(), owner: self.owner }
    }
}

/// A guard owned by the hooks of a request. The table is busy until all guards are
/// dropped.
struct Busy<T> {
    inner: Rc<RefCell<Inner<T>>>,
    epoch: u64,
}

impl<T> Busy<T> {
    fn new(inner: &Rc<RefCell<Inner<T>>>, epoch: u64) -> Self {
        let busy = Busy { inner: inner.clone(), epoch };
        busy.add(1);
        busy
    }

    fn add(&self, more: isize) {
        let inner = self.inner.borrow();
        if inner.epoch == self.epoch {
            inner.busy.set(inner.busy.get().saturating_add_signed(more));
        }
    }
}

impl<T> Drop for Busy<T> {
    fn drop(&mut self) {
        self.add(-1);
    }
}

impl<T> Inner<T> {
    /// Starts a new epoch, which stops previous requests. Returns its number.
    fn begin(&mut self) -> u64 {
        self.epoch += 1;
        self.busy.set(0);
        self.epoch
    }

    fn row(&mut self, call: &EventCall<'_, '_>) -> TableRow<T> {
        TableRow {
            position: call.position(),
            time: call.event_time(),
            delivery_time: call.delivery_time(),
            content: (self.describe)(call),
        }
    }
}

/// Returns `true` if a request has read up to the end of its interval, or of what is final.
fn is_read(reason: FinishReason) -> bool {
    is_end(reason) || matches!(reason, FinishReason::EndPosition | FinishReason::EndTime)
}

/// Returns `true` if a request has read up to the last event so far.
fn is_end(reason: FinishReason) -> bool {
    matches!(reason, FinishReason::EndOfTraceset | FinishReason::Pending)
}

/// The state of scrolling back. Events can only be read forward, so successive intervals
/// of growing length, each before the previous one, are searched until they contain
/// enough events.
struct ScrollBack<T> {
    table: EventTable<T>,
    epoch: u64,
    count: u64,
    first: TracesetPosition,
    /// The number of events in the intervals so far.
    found: u64,
}

impl<T: Clone + 'static> ScrollBack<T> {
    fn begin<'h>(self) -> EventsRequest<'h> {
        if let Some(time) = self.first.time() {
            return self.search(time, FIRST_STEP, true);
        }
        // The time of the last event is not known before the request is served.
        let busy = Busy::new(&self.table.inner, self.epoch);
        let request = self.table.request().starting_at(&self.first);
        let mut back = Some(self);
        request.after_request(move |call, control, reason| {
            _ = &busy;
            let Some(back) = back.take().filter(|back| back.continues(reason)) else {
                return;
            };
            let end = call.contexts.time_span().map_or(Timestamp::MAX, |span| span.end);
            // Submitting cannot fail: the position is known to belong to the traceset.
            _ = control.submit(back.search(end, FIRST_STEP, true));
        })
    }

    /// Creates a request that counts the events in an interval of length `step` before a
    /// time (up to the first row for the first interval), and that continues with the
    /// next interval or inserts the events. The interval is longer if it is known that no
    /// event passes before this time.
    fn search<'h>(self, end: Timestamp, step: i64, is_first: bool) -> EventsRequest<'h> {
        let wanted = match step {
            ALL => Timestamp::MIN,
            _ => end.saturating_sub(step.unsigned_abs()),
        };
        let begin = self.gap_before(end).map_or(wanted, |start| wanted.min(start));
        let epoch = self.epoch;
        let busy = Busy::new(&self.table.inner, epoch);
        let found = Rc::new(Cell::new(self.found));
        let counted = found.clone();
        let request = self.table.request().starting_at(begin);
        let request = match is_first {
            true => request.until_position(&self.first),
            false => request.until(end),
        };
        let mut back = Some(self);
        request
            .on_every_event(move |_, request| {
                if busy.inner.borrow().epoch != epoch {
                    request.stop();
                }
                found.set(found.get() + 1);
            })
            .after_request(move |call, control, reason| {
                let Some(back) = back.take().filter(|back| back.continues(reason)) else {
                    return;
                };
                let back = ScrollBack { found: counted.get(), ..back };
                let is_all = begin == Timestamp::MIN;
                if is_all && back.found == 0 {
                    // No event was found, and this was the last interval.
                    let mut inner = back.table.inner.borrow_mut();
                    (inner.has_begin, inner.unfinished) = (true, None);
                    return;
                }
                let next = if back.found >= back.count || is_all {
                    back.insert_rows(begin, is_all)
                } else {
                    let longer =
                        if begin < wanted { FIRST_STEP } else { step.saturating_mul(LONGER) };
                    let span = call.contexts.time_span();
                    // Events may lie before the start of their packets.
                    let is_last = span.is_none_or(|span| begin.since(span.start) < longer as u64);
                    back.search(begin, if is_last { ALL } else { longer }, false)
                };
                // Submitting cannot fail, as in `begin`.
                _ = control.submit(next);
            })
    }

    /// Returns the start of the stretch before a time that contains no event that passes
    /// the filter. `None` if events may pass directly before this time.
    fn gap_before(&self, end: Timestamp) -> Option<Timestamp> {
        let inner = self.table.inner.borrow();
        let filter = inner.filter.as_ref()?.borrow();
        let spans = filter.selection()?.spans();
        match spans.iter().rfind(|span| span.start < end) {
            Some(span) if span.end < end => Some(span.end.saturating_add(1)),
            Some(_) => None,
            None => Some(Timestamp::MIN),
        }
    }

    /// Returns whether an interval was read to its end, and the request was not replaced
    /// by another one.
    fn continues(&self, reason: FinishReason) -> bool {
        is_read(reason) && self.table.inner.borrow().epoch == self.epoch
    }

    /// Creates a request that inserts the last of the events found before the first row.
    fn insert_rows<'h>(self, begin: Timestamp, is_all: bool) -> EventsRequest<'h> {
        let ScrollBack { table, epoch, count, first, found } = self;
        let mut skip = found.saturating_sub(count);
        let has_begin = is_all && skip == 0;
        let wanted = (table.inner.borrow().page as u64).min(count);
        let rows = Rc::new(RefCell::new(VecDeque::new()));
        let taken = rows.clone();
        let (at_end, busy) = (table.inner.clone(), Busy::new(&table.inner, epoch));
        table
            .request()
            .starting_at(begin)
            .until_position(&first)
            .max_matches(skip.saturating_add(wanted))
            .on_every_event(move |call, request| {
                let mut inner = busy.inner.borrow_mut();
                if inner.epoch != epoch {
                    request.stop();
                } else if skip > 0 {
                    skip -= 1;
                } else {
                    rows.borrow_mut().push_back(inner.row(call));
                }
            })
            .after_request(move |_, _, reason| {
                let inner = &mut *at_end.borrow_mut();
                if inner.epoch != epoch || !is_read(reason) && reason != FinishReason::MatchCount {
                    return;
                }
                inner.unfinished = None;
                let mut rows = taken.take();
                rows.append(Rc::make_mut(&mut inner.rows));
                inner.has_begin = has_begin;
                inner.has_end &= rows.len() <= inner.page;
                rows.truncate(inner.page);
                inner.rows = Rc::new(rows);
            })
    }
}

impl<T> fmt::Debug for EventTable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.inner.borrow();
        f.debug_struct("EventTable")
            .field("owner", &self.owner)
            .field("rows", &inner.rows.len())
            .field("page", &inner.page)
            .field("busy", &inner.busy)
            .finish_non_exhaustive()
    }
}
