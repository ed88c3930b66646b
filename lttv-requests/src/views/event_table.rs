//! A page of events.

use std::cell::{Cell, Ref, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_context::{EventCall, TracesetPosition};

use crate::filter::EventFilter;
use crate::finish::FinishReason;
use crate::identity::Owner;
use crate::request::EventsRequest;
use crate::start::Start;
use crate::urgency::Urgency;

/// A page of events: those from a time or a position on, to be scrolled by events
/// in both directions.
///
/// What is shown of an event, the application decides: a `T` is made of each, once,
/// while its fields are at hand. Requests of the table are of
/// [`Urgency::HIGH`]: somebody looks at it. A later one makes those before it
/// stop.
///
/// ```
/// use lttv_context::{Traceset, TracesetContext};
/// use lttv_requests::{Budget, Owner, Scheduler};
/// use lttv_requests::views::EventTable;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut scheduler = Scheduler::new(TracesetContext::new(Traceset::open(path)?));
/// let table = EventTable::new(Owner::fresh(), 20, |call| {
///     call.event.event_type().name().to_owned()
/// });
/// scheduler.submit(table.show_begin())?;
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

/// An event of an [`EventTable`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TableRow<T> {
    /// The position before the event: what a tab gets when it is selected.
    pub position: TracesetPosition,
    /// Its time.
    pub time: Timestamp,
    /// What is shown of it.
    pub content: T,
}

struct Inner<T> {
    rows: VecDeque<TableRow<T>>,
    page: usize,
    describe: Box<Describe<T>>,
    filter: Option<Rc<RefCell<dyn EventFilter>>>,
    /// Whether no event comes before the first row.
    has_begin: bool,
    /// Whether none comes after the last row.
    has_end: bool,
    /// Counts requests but for those that go on with another one.
    epoch: u64,
    /// How many requests of this epoch there are.
    busy: Cell<usize>,
}

type Describe<T> = dyn FnMut(&EventCall<'_, '_>) -> T;

/// How far to look back first, in ns; then so many times as far, again and again.
const FIRST_STEP: i64 = 16_000;
const LONGER: i64 = 4;
/// As far as there is anything.
const ALL: i64 = i64::MAX;

impl<T: 'static> EventTable<T> {
    /// No rows yet, and never more than a page of them, which is one at least.
    pub fn new(
        owner: Owner,
        page: usize,
        describe: impl FnMut(&EventCall<'_, '_>) -> T + 'static,
    ) -> Self {
        let inner = Inner {
            rows: VecDeque::new(),
            page: page.max(1),
            describe: Box::new(describe),
            filter: None,
            has_begin: false,
            has_end: false,
            epoch: 0,
            busy: Cell::new(0),
        };
        EventTable { inner: Rc::new(RefCell::new(inner)), owner }
    }

    /// The rows, as far as they are known. To be let go before the scheduler works
    /// again.
    pub fn rows(&self) -> Ref<'_, VecDeque<TableRow<T>>> {
        Ref::map(self.inner.borrow(), |inner| &inner.rows)
    }

    /// Whether rows are still to come.
    pub fn is_busy(&self) -> bool {
        self.inner.borrow().busy.get() > 0
    }

    /// Whether the first row is known to be of the first event that passes the filter:
    /// requests that go back tell.
    pub fn has_begin(&self) -> bool {
        self.inner.borrow().has_begin
    }

    /// Whether the last row is known to be of the last event that passes the filter:
    /// requests that go forward tell.
    pub fn has_end(&self) -> bool {
        self.inner.borrow().has_end
    }

    /// Only events that pass a filter from the next request on.
    pub fn set_filter(&self, filter: impl EventFilter + 'static) {
        self.inner.borrow_mut().filter = Some(Rc::new(RefCell::new(filter)));
    }

    /// All events from the next request on.
    pub fn clear_filter(&self) {
        self.inner.borrow_mut().filter = None;
    }

    /// The row of a position, if it is shown.
    pub fn find(&self, position: &TracesetPosition) -> Option<usize> {
        self.rows().iter().position(|row| row.position == *position)
    }

    /// The first row at a time or later, if it is shown: a row that is earlier, or
    /// at that time, has to be shown too, unless it is the first of all events.
    pub fn find_time(&self, time: Timestamp) -> Option<usize> {
        let rows = self.rows();
        let at = rows.partition_point(|row| row.time < time);
        (at < rows.len() && (at > 0 || rows[0].position.is_start_of(time))).then_some(at)
    }

    /// Shows the first events of the traceset.
    pub fn show_begin<'h>(&self) -> EventsRequest<'h> {
        self.show(Start::Begin)
    }

    /// Shows the first events at a time or later.
    pub fn show_time<'h>(&self, time: Timestamp) -> EventsRequest<'h> {
        self.show(Start::Time(time))
    }

    /// Shows the events from a position on.
    pub fn show_position<'h>(&self, position: &TracesetPosition) -> EventsRequest<'h> {
        self.show(Start::from(position))
    }

    /// Shows the last events before a position: that of [the end](TracesetPosition::end),
    /// say.
    pub fn show_before<'h>(&self, position: &TracesetPosition) -> EventsRequest<'h> {
        let mut inner = self.inner.borrow_mut();
        let (epoch, count) = (inner.begin(), inner.page as u64);
        inner.rows.clear();
        (inner.has_begin, inner.has_end) = (false, position.is_end());
        drop(inner);
        self.back(epoch, count, position.clone())
    }

    /// Goes so many events forward, or back if that is negative; as far as there
    /// are any. The page stays full if it was. `None` if there are no rows to
    /// start from, or it is 0.
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

    /// Puts so many events before the first row, which is at a position.
    fn back<'h>(&self, epoch: u64, count: u64, first: TracesetPosition) -> EventsRequest<'h> {
        Back { table: self.again(), epoch, count, first, found: 0 }.begin()
    }

    fn show<'h>(&self, start: Start) -> EventsRequest<'h> {
        let page = self.inner.borrow().page as u64;
        self.append(start, page, false)
    }

    /// Appends rows, dropping those that do not fit any more; the first event has a
    /// row already if it `continues`.
    fn append<'h>(&self, start: Start, count: u64, continues: bool) -> EventsRequest<'h> {
        let epoch = self.inner.borrow_mut().begin();
        let (at_begin, at_end) = (self.inner.clone(), self.inner.clone());
        let busy = Busy::new(&self.inner, epoch);
        let mut has_row = continues;
        let is_begin = matches!(start, Start::Begin);
        let request = self.request().from(start).matches(count);
        request
            .before_request(move |_, _| {
                let mut inner = at_begin.borrow_mut();
                if inner.epoch == epoch && !continues {
                    inner.rows.clear();
                    (inner.has_begin, inner.has_end) = (is_begin, false);
                }
            })
            .after_request(move |_, _, reason| {
                let mut inner = at_end.borrow_mut();
                if inner.epoch == epoch {
                    inner.has_end = reason == FinishReason::EndOfTraceset;
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
                inner.rows.push_back(row);
                if inner.rows.len() > inner.page {
                    inner.rows.pop_front();
                    inner.has_begin = false;
                }
            })
    }

    /// A request for events that pass the filter.
    fn request<'h>(&self) -> EventsRequest<'h> {
        let request = EventsRequest::new(self.owner).urgency(Urgency::HIGH).by_delivery();
        match self.inner.borrow().filter.clone() {
            Some(filter) => {
                request.filter(move |call: &EventCall<'_, '_>| filter.borrow_mut().passes(call))
            }
            None => request,
        }
    }

    fn again(&self) -> Self {
        EventTable { inner: self.inner.clone(), owner: self.owner }
    }
}

/// Owned by the hooks of a request: the table is busy until they go.
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
    /// Another request replaces those of before.
    fn begin(&mut self) -> u64 {
        self.epoch += 1;
        self.busy.set(0);
        self.epoch
    }

    fn row(&mut self, call: &EventCall<'_, '_>) -> TableRow<T> {
        TableRow { position: call.position(), time: call.time(), content: (self.describe)(call) }
    }
}

/// Whether a request has read all up to its end.
fn is_read(reason: FinishReason) -> bool {
    matches!(
        reason,
        FinishReason::EndPosition | FinishReason::EndTime | FinishReason::EndOfTraceset
    )
}

/// Going back: events can only be read forward, so longer and longer stretches, each
/// before the last one, are looked at until they have enough events.
struct Back<T> {
    table: EventTable<T>,
    epoch: u64,
    count: u64,
    first: TracesetPosition,
    /// How many events the stretches so far have.
    found: u64,
}

impl<T: 'static> Back<T> {
    fn begin<'h>(self) -> EventsRequest<'h> {
        if let Some(time) = self.first.time() {
            return self.look(time, FIRST_STEP);
        }
        // When the last event is, is not known before the request is served.
        let busy = Busy::new(&self.table.inner, self.epoch);
        let request = self.table.request().from(&self.first);
        let mut back = Some(self);
        request.after_request(move |call, control, reason| {
            _ = &busy;
            let Some(back) = back.take().filter(|back| back.goes_on(reason)) else { return };
            let end = call.contexts.time_span().map_or(Timestamp::MAX, |span| span.end);
            // The traceset is that of the position, or there would be no end.
            _ = control.submit(back.look(end, FIRST_STEP));
        })
    }

    /// Counts events in the stretch so long before a time, up to the first row if it is
    /// the first stretch; and goes on from that.
    fn look<'h>(self, end: Timestamp, step: i64) -> EventsRequest<'h> {
        let begin = match step {
            ALL => Timestamp::MIN,
            _ => Timestamp::from_ns(end.ns().saturating_sub(step)),
        };
        let epoch = self.epoch;
        let busy = Busy::new(&self.table.inner, epoch);
        let found = Rc::new(Cell::new(self.found));
        let counted = found.clone();
        let request = self.table.request().from(begin);
        let request = match step {
            FIRST_STEP => request.until_position(&self.first),
            _ => request.until(end),
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
                let Some(back) = back.take().filter(|back| back.goes_on(reason)) else { return };
                let back = Back { found: counted.get(), ..back };
                let is_all = step == ALL;
                if is_all && back.found == 0 {
                    // There is nothing to take: this was the last look.
                    back.table.inner.borrow_mut().has_begin = true;
                    return;
                }
                let next = if back.found >= back.count || is_all {
                    back.take(begin, is_all)
                } else {
                    let longer = step.saturating_mul(LONGER);
                    let span = call.contexts.time_span();
                    // Events may lie before the times that their packets tell.
                    let is_last = span.is_none_or(|span| begin.since(span.begin) < longer as u64);
                    back.look(begin, if is_last { ALL } else { longer })
                };
                // As before.
                _ = control.submit(next);
            })
    }

    /// Whether a stretch was read to its end, and nobody wants anything else by now.
    fn goes_on(&self, reason: FinishReason) -> bool {
        is_read(reason) && self.table.inner.borrow().epoch == self.epoch
    }

    /// Puts the last of the events found before the first row.
    fn take<'h>(self, begin: Timestamp, is_all: bool) -> EventsRequest<'h> {
        let Back { table, epoch, count, first, found } = self;
        let mut skip = found.saturating_sub(count);
        let has_begin = is_all && skip == 0;
        let wanted = (table.inner.borrow().page as u64).min(count);
        let rows = Rc::new(RefCell::new(VecDeque::new()));
        let taken = rows.clone();
        let (at_end, busy) = (table.inner.clone(), Busy::new(&table.inner, epoch));
        table
            .request()
            .from(begin)
            .until_position(&first)
            .matches(skip.saturating_add(wanted))
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
                let mut rows = taken.take();
                rows.append(&mut inner.rows);
                inner.has_begin = has_begin;
                inner.has_end &= rows.len() <= inner.page;
                rows.truncate(inner.page);
                inner.rows = rows;
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
