//! A list of events around a position of a traceset. Only the rows near the visible part
//! are in memory.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use ltt_read::{Timestamp, Trace};
use lttv_common::text::Text;
use lttv_common::text::clock_text::{ClockStyle, ClockText};
use lttv_common::text_dump::EventText as _;
use lttv_common::text_dump::lttv::Lttv;
use lttv_context::{EventCall, TracesetPosition};
use lttv_filter::Zone;
use lttv_requests::views::{EventTable, TableRow};
use lttv_requests::{EventsRequest, Owner, Scheduler, Start, SubmitError};
use lttv_state::filter::KernelFilters;

use super::conjunction::Conjunction;
use super::thread_ids::ThreadIds;

/// The visible contents of an event.
#[derive(Debug, Clone)]
pub struct EventText {
    /// The index of its trace.
    pub trace: usize,
    /// The number of its tracefile in the traceset.
    pub tracefile: usize,
    /// The number of the CPU that recorded it, if known.
    pub cpu: Option<u32>,
    /// The name of the event.
    pub name: String,
    /// The id of the thread that caused it, if its contexts have it.
    pub tid: Option<i64>,
    /// The id of the process that caused it, if its contexts have it.
    pub pid: Option<i64>,
    /// The fields as text.
    pub fields: String,
}

/// A row of the list.
pub type EventRow = TableRow<EventText>;

/// The number of rows in memory.
const PAGE: usize = 512;
/// The number of rows in memory on either side of the visible ones.
const MARGIN: usize = 100;
/// The greatest number of rows in one request.
const MOST: usize = PAGE / 2;

/// The schedulers of requests: one that follows the kernel state, and one that only reads,
/// which is faster.
#[derive(Debug)]
pub struct Servers<'s> {
    /// A scheduler without the kernel state.
    pub reader: &'s mut Scheduler<'static>,
    /// A scheduler that follows the kernel state.
    pub follower: &'s mut Scheduler<'static>,
}

/// The rows around a position.
#[derive(Debug)]
pub struct EventList {
    table: EventTable<EventText>,
    /// The format of rows to come.
    format: Rc<RefCell<Lttv>>,
    owner: Owner,
    /// The position of the selected row.
    selected: Option<TracesetPosition>,
    /// The row to select when rows arrive.
    edge: Edge,
    /// The number of visible rows above the selected one.
    above: usize,
    /// The number of rows on the screen.
    height: usize,
    /// The number of rows by which the selection moves when they arrive.
    pending: isize,
    /// `true` if the filters use the kernel state.
    asks_state: bool,
    /// The last place that the list was asked to show.
    place: Place,
    /// `true` if the user has stopped the requests.
    is_stopped: bool,
    /// `true` if only events that pass filters are shown.
    is_filtered: bool,
    /// The rows that are shown until the last ones of traces that grow have arrived.
    before: Option<Rc<VecDeque<EventRow>>>,
    /// `true` if the last row is to be selected when rows of traces that grow have arrived.
    is_following: bool,
}

/// An end of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    First,
    Last,
}

/// A place in the traceset.
#[derive(Debug, Clone)]
enum Place {
    Start(Start),
    End,
}

impl EventList {
    /// Creates an empty list for the events of traces, whose requests are of an owner.
    pub fn new(owner: Owner, traces: &[std::sync::Arc<Trace>]) -> Self {
        let clock = ClockText::new(ClockStyle::Seconds, Zone::local());
        let format = Rc::new(RefCell::new(Lttv::new(traces, clock, false)));
        let (of_rows, mut ids) = (format.clone(), ThreadIds::default());
        let table = EventTable::new(owner, PAGE, move |call| {
            describe(call, &mut of_rows.borrow_mut(), &mut ids)
        });
        EventList {
            table,
            format,
            owner,
            selected: None,
            edge: Edge::First,
            above: 0,
            height: 1,
            pending: 0,
            asks_state: false,
            place: Place::Start(Start::Begin),
            is_stopped: false,
            is_filtered: false,
            before: None,
            is_following: false,
        }
    }

    /// Returns the owner of the requests.
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// Returns the rows in memory.
    pub fn rows(&self) -> Rc<VecDeque<EventRow>> {
        self.before.clone().unwrap_or_else(|| self.table.rows())
    }

    /// Returns the indices of the visible rows.
    pub fn visible(&self) -> Range<usize> {
        let rows = self.rows().len();
        let top = self.selected_at().unwrap_or(0).saturating_sub(self.above);
        let top = top.min(rows.saturating_sub(self.height));
        top..(top + self.height).min(rows)
    }

    /// Returns the index of the selected row.
    pub fn selected_at(&self) -> Option<usize> {
        let (rows, selected) = (self.rows(), self.selected.as_ref()?);
        let at = rows.partition_point(|row| row.position < *selected);
        Some(at.min(rows.len().checked_sub(1)?))
    }

    /// Returns the selected row.
    pub fn selected(&self) -> Option<EventRow> {
        self.rows().get(self.selected_at()?).cloned()
    }

    /// Returns `true` if requested rows have not arrived yet.
    pub fn is_busy(&self) -> bool {
        self.table.is_busy() || self.pending != 0
    }

    /// Returns `true` if it is known that no event passes the filters.
    pub fn found_nothing(&self) -> bool {
        let is_all = self.table.has_start() && self.table.has_end() && !self.is_busy();
        self.is_filtered && is_all && self.rows().is_empty()
    }

    /// Returns the number of rows of a page: one less than on the screen.
    pub fn page(&self) -> isize {
        self.height.saturating_sub(1).max(1) as isize
    }

    /// Sets the number of rows on the screen.
    pub fn set_height(&mut self, height: usize) {
        self.height = height.clamp(1, PAGE - 2 * MARGIN);
    }

    /// Shows only events that pass all filters, starting at a place.
    ///
    /// # Errors
    ///
    /// If the place is a position of another traceset.
    pub fn set_filters(
        &mut self,
        servers: &mut Servers<'_>,
        filters: Vec<Rc<KernelFilters>>,
        place: Start,
    ) -> Result<(), SubmitError> {
        servers.reader.cancel_owner(self.owner);
        servers.follower.cancel_owner(self.owner);
        self.is_filtered = !filters.is_empty();
        let filters = Conjunction::new(filters);
        self.asks_state = filters.uses_state();
        if self.is_filtered {
            self.table.set_filter(filters);
        } else {
            self.table.clear_filter();
        }
        self.show(servers, place)
    }

    /// Takes note that the requests were cancelled. The list requests no rows until it is moved.
    pub fn stop(&mut self) {
        (self.is_stopped, self.pending) = (true, 0);
    }

    /// Returns `true` if the requests were stopped.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Requests the rows that are missing, after the list was stopped.
    ///
    /// # Errors
    ///
    /// Never while the traceset stays the same.
    pub fn resume(&mut self, servers: &mut Servers<'_>) -> Result<(), SubmitError> {
        self.is_stopped = false;
        // Without a selection, the rows are those of an earlier request or not complete.
        if self.selected.is_some() || self.found_nothing() {
            return self.get_on(servers);
        }
        match self.place.clone() {
            Place::Start(place) => self.show(servers, place),
            Place::End => self.go_to_end(servers),
        }
    }

    /// Shows the events from a place on.
    fn show(&mut self, servers: &mut Servers<'_>, place: Start) -> Result<(), SubmitError> {
        let request = self.table.show(place.clone());
        self.place = Place::Start(place);
        self.restart(servers, request, Edge::First)
    }

    /// Selects the first event at a time or later.
    ///
    /// # Errors
    ///
    /// Never: the request contains no position.
    pub fn go_to_time(
        &mut self,
        servers: &mut Servers<'_>,
        time: Timestamp,
    ) -> Result<(), SubmitError> {
        if self.found_nothing() {
            return Ok(()); // No event passes at any other place either.
        }
        let after = self.rows().partition_point(|row| row.delivery_time < time);
        if self.knows(after) {
            self.select(after);
            return Ok(());
        }
        self.show(servers, Start::from(time))
    }

    /// Selects the event at a position, or the first one after it.
    ///
    /// # Errors
    ///
    /// If the position is of another traceset.
    pub fn go_to_position(
        &mut self,
        servers: &mut Servers<'_>,
        position: &TracesetPosition,
    ) -> Result<(), SubmitError> {
        if self.found_nothing() {
            return Ok(());
        }
        let after = self.rows().partition_point(|row| row.position < *position);
        if self.knows(after) {
            self.select(after);
            return Ok(());
        }
        self.show(servers, Start::from(position))
    }

    /// Selects the last event.
    ///
    /// # Errors
    ///
    /// Never while the traceset stays the same.
    pub fn go_to_end(&mut self, servers: &mut Servers<'_>) -> Result<(), SubmitError> {
        let end = TracesetPosition::end(servers.reader.context().traceset());
        let request = self.table.show_before(&end);
        self.place = Place::End;
        self.restart(servers, request, Edge::Last)
    }

    /// Requests the events that were recorded since the last request, if they are near the visible
    /// ones, or if the list `follows` the last event.
    ///
    /// # Errors
    ///
    /// Never while the traceset stays the same.
    pub fn grow(&mut self, servers: &mut Servers<'_>, follows: bool) -> Result<(), SubmitError> {
        let traces = servers.reader.context().traceset().traces();
        self.format.borrow_mut().continue_with(traces, &[]);
        self.table.note_growth();
        if self.table.is_busy() || self.is_stopped {
            return Ok(());
        }
        if self.rows().is_empty() {
            return match self.place.clone() {
                Place::Start(place) => self.show(servers, place),
                Place::End => self.go_to_end(servers),
            };
        }
        if !follows {
            return self.get_on(servers);
        }
        self.is_following = true;
        match self.table.scroll(PAGE as i64) {
            Some(request) => self.submit(servers, request),
            None => Ok(()),
        }
    }

    /// Selects the last row after the list has followed the recording. If there are too many new
    /// events, the rows are replaced by the last ones.
    fn end_following(&mut self, servers: &mut Servers<'_>) -> Result<(), SubmitError> {
        self.is_following = false;
        if self.before.take().is_none() && !self.table.has_end() {
            let (rows, above) = (self.rows(), self.above);
            self.go_to_end(servers)?;
            (self.selected, self.above) = (rows.back().map(|row| row.position.clone()), above);
            (self.before, self.is_following) = (Some(rows), true);
            return Ok(());
        }
        let last = self.rows().len().saturating_sub(1);
        self.select(last);
        Ok(())
    }

    /// Returns the row at a line of the screen.
    pub fn row(&self, line: usize) -> Option<usize> {
        let visible = self.visible();
        Some(visible.start + line).filter(|row| visible.contains(row))
    }

    /// Selects a row without scrolling, if it is visible.
    pub fn go_to_row(&mut self, row: usize) {
        let visible = self.visible();
        let Some(position) = self.rows().get(row).map(|row| row.position.clone()) else { return };
        (self.selected, self.pending) = (Some(position), 0);
        self.above = row.saturating_sub(visible.start);
    }

    /// Moves the selection by this many rows. If they are not in memory, it moves when they
    /// arrive.
    pub fn go_by(&mut self, rows: isize) {
        let pending = std::mem::take(&mut self.pending);
        let Some(at) = self.selected_at() else { return };
        self.is_stopped &= rows == 0;
        let target = (at as isize).saturating_add(rows).saturating_add(pending);
        let last = self.rows().len() as isize - 1;
        let reached = target.clamp(0, last.max(0));
        self.select(reached as usize);
        self.pending = match target - reached {
            beyond if beyond < 0 && !self.table.has_start() => beyond,
            beyond if beyond > 0 && !self.table.has_end() => beyond,
            _ => 0,
        };
    }

    /// Accepts rows that have arrived, and requests more if necessary.
    ///
    /// # Errors
    ///
    /// Never while the traceset stays the same.
    pub fn get_on(&mut self, servers: &mut Servers<'_>) -> Result<(), SubmitError> {
        if self.table.is_busy() || self.is_stopped {
            return Ok(());
        }
        if self.is_following {
            self.end_following(servers)?;
        }
        let rows = self.rows().len();
        if rows == 0 {
            // After the last event, show the events before it.
            let is_after_end = self.edge == Edge::First && self.table.has_end();
            return if is_after_end { self.go_to_end(servers) } else { Ok(()) };
        }
        if self.selected.is_none() {
            self.select(if self.edge == Edge::First { 0 } else { rows - 1 });
        }
        self.go_by(0);
        let Range { start, end } = self.visible();
        let pending = self.pending.unsigned_abs();
        let is_short = |rows: usize| rows < MARGIN / 2;
        let more = if self.pending > 0 || !self.table.has_end() && is_short(rows - end) {
            (pending + MARGIN).min(MOST) as i64
        } else if self.pending < 0 || !self.table.has_start() && is_short(start) {
            -((pending + MARGIN).min(MOST) as i64)
        } else {
            return Ok(());
        };
        match self.table.scroll(more) {
            Some(request) => self.submit(servers, request),
            None => Ok(()),
        }
    }

    /// Returns `true` if the row at an index is known to be the first one at or after a place,
    /// without reading more.
    fn knows(&self, at: usize) -> bool {
        (at > 0 || self.table.has_start()) && at < self.rows().len() && !self.table.is_busy()
    }

    /// Selects a row, and scrolls so that it is visible.
    fn select(&mut self, row: usize) {
        let moved = row as isize - self.selected_at().unwrap_or(row) as isize;
        let Some(position) = self.rows().get(row).map(|row| row.position.clone()) else { return };
        (self.selected, self.pending) = (Some(position), 0);
        // Keep some rows around it visible.
        let around = (self.height / 4).min(3);
        let above = self.above.saturating_add_signed(moved);
        self.above = above.clamp(around, (self.height - 1).saturating_sub(around).max(around));
    }

    /// Fills the list again, by a request.
    fn restart(
        &mut self,
        servers: &mut Servers<'_>,
        request: EventsRequest<'static>,
        edge: Edge,
    ) -> Result<(), SubmitError> {
        (self.selected, self.edge, self.pending, self.above) = (None, edge, 0, 0);
        (self.before, self.is_following) = (None, false);
        self.is_stopped = false;
        self.submit(servers, request)
    }

    /// Submits a request to the suitable scheduler.
    fn submit(
        &self,
        servers: &mut Servers<'_>,
        request: EventsRequest<'static>,
    ) -> Result<(), SubmitError> {
        match self.asks_state {
            true => servers.follower.submit(request)?,
            false => servers.reader.submit(request)?,
        };
        Ok(())
    }
}

/// Returns the contents of an event.
fn describe(call: &EventCall<'_, '_>, format: &mut Lttv, ids: &mut ThreadIds) -> EventText {
    let thread = ids.of(call.trace.index(), &call.event);
    let mut fields = Text::default();
    format.fields(&call.event, &mut fields);
    EventText {
        trace: call.trace.index().0,
        tracefile: call.tracefile.number().0,
        cpu: call.tracefile.tracefile().cpu(),
        name: call.event.event_type().name().to_owned(),
        tid: thread.tid,
        pid: thread.pid,
        fields: String::from_utf8_lossy(fields.as_bytes()).into_owned(),
    }
}
