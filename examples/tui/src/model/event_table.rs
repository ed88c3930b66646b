//! A list of events around a place in a traceset, of which there is only as much
//! in memory as is looked at.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_context::{EventCall, Handle, TimeSpan, TracesetPosition};
use lttv_examples::text_dump::clock_text::{ClockStyle, ClockText};
use lttv_examples::text_dump::lttv::Lttv;
use lttv_examples::text_dump::text::Text;
use lttv_filter::Filters;
use lttv_requests::{EventsRequest, Owner, Scheduler, Start, SubmitError, Urgency};
use lttv_state::kernel::KernelState;

use super::search::after_state;
use super::stretch::Stretches;

/// An event.
#[derive(Debug, Clone)]
pub struct EventRow {
    /// Where it is.
    pub position: TracesetPosition,
    /// Its time of delivery.
    pub time: Timestamp,
    /// The index of its trace.
    pub trace: usize,
    /// The number of its tracefile in the traceset.
    pub tracefile: usize,
    /// The CPU that its tracefile is of.
    pub cpu: Option<u32>,
    /// Its name.
    pub name: String,
    /// Its fields.
    pub fields: String,
    /// Who ran, once that is known: the process's number in its trace, and its id.
    pub process: Option<(u32, Option<i32>)>,
}

/// Rows beyond those on the screen that are kept at hand, on either side.
const MARGIN: usize = 100;
/// More are dropped at the far end.
const MOST: usize = 2_000;

/// The rows around a place.
#[derive(Debug)]
pub struct EventTable {
    rows: VecDeque<EventRow>,
    /// The row that is selected.
    selected: usize,
    /// The first row on the screen.
    top: usize,
    height: usize,
    has_begin: bool,
    has_end: bool,
    span: TimeSpan,
    filters: Vec<Rc<Filters>>,
    text: Rc<RefCell<Lttv>>,
    fetch: Option<Fetch>,
    /// Who asks for events, and who asks for the state at them.
    owners: (Owner, Owner),
    asked: Rc<RefCell<Asked>>,
    /// What is to be done with the selection when more rows come: so many rows to go.
    pending_move: isize,
}

/// Rows on their way.
#[derive(Debug)]
struct Fetch {
    /// Where to look next, if it goes back.
    back: Option<Stretches>,
    wanted: usize,
    inbox: Rc<RefCell<Inbox>>,
}

#[derive(Debug, Default)]
struct Inbox {
    rows: VecDeque<EventRow>,
    is_over: bool,
}

/// Events of which it is asked who ran, in order.
#[derive(Debug, Default)]
struct Asked {
    events: Vec<(Timestamp, usize)>,
    answers: Vec<(u32, Option<i32>)>,
    is_pending: bool,
}

impl EventTable {
    /// An empty one, for traces that can be told.
    pub fn new(traces: &[std::sync::Arc<ltt_read::Trace>], span: TimeSpan) -> Self {
        let clock =
            ClockText::new(ClockStyle::Seconds, lttv_examples::text_dump::zone::local_zone());
        EventTable {
            rows: VecDeque::new(),
            selected: 0,
            top: 0,
            height: 1,
            has_begin: false,
            has_end: false,
            span,
            filters: Vec::new(),
            text: Rc::new(RefCell::new(Lttv::new(traces, clock, false))),
            fetch: None,
            owners: (Owner::fresh(), Owner::fresh()),
            asked: Rc::default(),
            pending_move: 0,
        }
    }

    /// The rows on the screen, and which of them is selected.
    pub fn visible(&self) -> (impl Iterator<Item = &EventRow>, usize) {
        let rows = self.rows.iter().skip(self.top).take(self.height);
        (rows, self.selected.saturating_sub(self.top))
    }

    /// The selected row.
    pub fn selected(&self) -> Option<&EventRow> {
        self.rows.get(self.selected)
    }

    /// Whether rows are on their way.
    pub fn is_busy(&self) -> bool {
        self.fetch.is_some()
    }

    /// Whether the first event is among the rows.
    pub fn has_begin(&self) -> bool {
        self.has_begin
    }

    /// How many rows a page is: one less than there are on the screen.
    pub fn page(&self) -> isize {
        self.height.saturating_sub(1).max(1) as isize
    }

    /// How many rows there are on the screen.
    pub fn set_height(&mut self, height: usize) {
        self.height = height.max(1);
        self.follow();
    }

    /// Shows only events that pass all of these, from a place on.
    pub fn set_filters(
        &mut self,
        reader: &mut Scheduler<'static>,
        filters: Vec<Rc<Filters>>,
        place: Start,
    ) -> Result<(), SubmitError> {
        self.filters = filters;
        self.restart(reader, place)
    }

    /// Selects the first event at a time or later.
    pub fn go_to_time(
        &mut self,
        reader: &mut Scheduler<'static>,
        time: Timestamp,
    ) -> Result<(), SubmitError> {
        let after = self.rows.partition_point(|row| row.time < time);
        let is_known = after > 0 || self.has_begin;
        if is_known && after < self.rows.len() {
            self.select(after);
            return Ok(());
        }
        self.restart(reader, time.into())
    }

    /// Selects the event at a position, or the first one behind it.
    pub fn go_to_position(
        &mut self,
        reader: &mut Scheduler<'static>,
        position: &TracesetPosition,
    ) -> Result<(), SubmitError> {
        let after = self.rows.partition_point(|row| row.position < *position);
        let is_known = after > 0 || self.has_begin;
        if is_known && after < self.rows.len() {
            self.select(after);
            return Ok(());
        }
        self.restart(reader, position.into())
    }

    /// Selects the last event.
    pub fn go_to_end(&mut self, reader: &mut Scheduler<'static>) -> Result<(), SubmitError> {
        if self.has_end {
            self.select(self.rows.len().saturating_sub(1));
            return Ok(());
        }
        let end = TracesetPosition::end(reader.context().traceset());
        self.clear(reader);
        self.has_end = true;
        self.fetch_back(reader, end)
    }

    /// Selects an event so many rows on, or back. What is not at hand yet is gone
    /// to when it is.
    pub fn go_by(&mut self, rows: isize) {
        let target = self.selected as isize + rows + self.pending_move;
        let last = self.rows.len() as isize - 1;
        let reached = target.clamp(0, last.max(0));
        self.pending_move = match target - reached {
            beyond if beyond < 0 && !self.has_begin => beyond,
            beyond if beyond > 0 && !self.has_end => beyond,
            _ => 0,
        };
        self.select_keeping(reached as usize);
    }

    /// Takes in what has come, and asks for more if more is needed.
    ///
    /// # Errors
    ///
    /// None while the traceset stays the same.
    pub fn get_on(
        &mut self,
        reader: &mut Scheduler<'static>,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
    ) -> Result<(), SubmitError> {
        if let Some(fetch) = &self.fetch {
            if !fetch.inbox.borrow().is_over {
                return Ok(());
            }
            self.take_in(reader)?;
        }
        if self.fetch.is_none()
            && !self.has_end
            && self.rows.len() < self.top + self.height + MARGIN
        {
            let from = self.rows.back().map(|row| row.position.clone());
            if let Some(from) = from {
                self.fetch_on(reader, from.into(), true)?;
            }
        }
        if self.fetch.is_none() && !self.has_begin && self.top < MARGIN {
            let to = self.rows.front().map(|row| row.position.clone());
            if let Some(to) = to {
                self.fetch_back(reader, to)?;
            }
        }
        if self.fetch.is_none() {
            self.ask_who_ran(scheduler, kernel)?;
        }
        Ok(())
    }

    fn clear(&mut self, reader: &mut Scheduler<'static>) {
        reader.cancel_owner(self.owners.0);
        self.fetch = None;
        self.rows.clear();
        (self.selected, self.top, self.pending_move) = (0, 0, 0);
        (self.has_begin, self.has_end) = (false, false);
    }

    fn restart(
        &mut self,
        reader: &mut Scheduler<'static>,
        place: Start,
    ) -> Result<(), SubmitError> {
        self.clear(reader);
        self.fetch_on(reader, place, false)
    }

    fn request(&self) -> EventsRequest<'static> {
        let filters = self.filters.clone();
        let request = EventsRequest::new(self.owners.0).urgency(Urgency::HIGH);
        if filters.is_empty() {
            return request;
        }
        request.filter(move |call: &EventCall<'_, '_>| {
            filters.iter().all(|filters| filters.matches(&call.event))
        })
    }

    /// Asks for rows from a place on; the first is at hand already if it is one's
    /// own.
    fn fetch_on(
        &mut self,
        reader: &mut Scheduler<'static>,
        place: Start,
        has_first: bool,
    ) -> Result<(), SubmitError> {
        let wanted = self.height + 2 * MARGIN;
        let inbox: Rc<RefCell<Inbox>> = Rc::default();
        let (rows, over, text) = (inbox.clone(), inbox.clone(), self.text.clone());
        let mut skip = has_first;
        let request = self.request().from(place).matches((wanted + usize::from(has_first)) as u64);
        let request = request
            .on_every_event(move |call, _| {
                if !std::mem::take(&mut skip) {
                    rows.borrow_mut().rows.push_back(row(call, &text));
                }
            })
            .after_request(move |_, _, _| over.borrow_mut().is_over = true);
        reader.submit(request)?;
        self.fetch = Some(Fetch { back: None, wanted, inbox });
        Ok(())
    }

    /// Asks for rows before a position.
    fn fetch_back(
        &mut self,
        reader: &mut Scheduler<'static>,
        position: TracesetPosition,
    ) -> Result<(), SubmitError> {
        let stretches = Stretches::before(position, self.span);
        let wanted = self.height + 2 * MARGIN;
        self.fetch = Some(Fetch { back: Some(stretches), wanted, inbox: Rc::default() });
        self.fetch_further_back(reader)
    }

    fn fetch_further_back(&mut self, reader: &mut Scheduler<'static>) -> Result<(), SubmitError> {
        let request = self.request();
        let Some(fetch) = &mut self.fetch else { return Ok(()) };
        let Some(request) = fetch.back.as_mut().and_then(|back| back.next(request)) else {
            return Ok(());
        };
        fetch.inbox = Rc::default();
        let (rows, over, text) = (fetch.inbox.clone(), fetch.inbox.clone(), self.text.clone());
        let wanted = fetch.wanted;
        let request = request
            .on_every_event(move |call, _| {
                let rows = &mut rows.borrow_mut().rows;
                if rows.len() >= wanted {
                    rows.pop_front();
                }
                rows.push_back(row(call, &text));
            })
            .after_request(move |_, _, _| over.borrow_mut().is_over = true);
        reader.submit(request)?;
        Ok(())
    }

    /// Takes in rows that have come.
    fn take_in(&mut self, reader: &mut Scheduler<'static>) -> Result<(), SubmitError> {
        let Some(fetch) = &mut self.fetch else { return Ok(()) };
        let rows = std::mem::take(&mut fetch.inbox.borrow_mut().rows);
        let came = rows.len();
        let Some(back) = &fetch.back else {
            self.has_end = came < fetch.wanted;
            self.rows.extend(rows);
            self.fetch = None;
            while self.rows.len() > MOST && self.top > MARGIN + self.height {
                self.rows.pop_front();
                (self.top, self.selected) = (self.top - 1, self.selected.saturating_sub(1));
                self.has_begin = false;
            }
            self.go_by(0);
            return Ok(());
        };
        let is_over = back.is_over();
        fetch.wanted -= came.min(fetch.wanted);
        let is_enough = fetch.wanted == 0;
        let was_empty = self.rows.is_empty();
        for row in rows.into_iter().rev() {
            self.rows.push_front(row);
        }
        if was_empty {
            self.select(came.saturating_sub(1));
        } else {
            (self.top, self.selected) = (self.top + came, self.selected + came);
        }
        if is_enough || is_over {
            self.has_begin = is_over && !is_enough;
            self.fetch = None;
            if self.rows.len() > MOST {
                let keep = (self.top + self.height + MARGIN).max(MOST / 2);
                self.has_end &= self.rows.len() <= keep;
                self.rows.truncate(keep);
            }
            self.go_by(0);
            return Ok(());
        }
        self.fetch_further_back(reader)
    }

    /// Asks who ran at the events on the screen, as far as it is not known.
    fn ask_who_ran(
        &mut self,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
    ) -> Result<(), SubmitError> {
        let visible = self.top..(self.top + self.height).min(self.rows.len());
        self.take_answers();
        let rows = || visible.clone().filter_map(|at| self.rows.get(at));
        let is_asked = {
            let asked = self.asked.borrow();
            let mut unknown = rows().filter(|row| row.process.is_none());
            let is_asked = |row: &EventRow| asked.events.contains(&(row.time, row.tracefile));
            unknown.all(is_asked)
        };
        if is_asked {
            return Ok(());
        }
        scheduler.cancel_owner(self.owners.1);
        let events: Vec<_> = rows().map(|row| (row.time, row.tracefile)).collect();
        let (Some(first), Some(last)) = (rows().next(), rows().next_back()) else { return Ok(()) };
        let asked = Asked { events, answers: Vec::new(), is_pending: true };
        self.asked = Rc::new(RefCell::new(asked));
        let (asked, over) = (self.asked.clone(), self.asked.clone());
        let request = EventsRequest::new(self.owners.1).from(&first.position).through(last.time);
        let request = request
            .on_event(after_state(), move |call, control| {
                let asked = &mut *asked.borrow_mut();
                let next = asked.events.get(asked.answers.len());
                if next == Some(&(call.time(), call.tracefile.number())) {
                    let running =
                        call.extensions.get(kernel).and_then(|kernel| kernel.running_at(call));
                    let running = running.map_or((u32::MAX, None), |p| (p.serial().0, p.tid()));
                    asked.answers.push(running);
                    if asked.answers.len() == asked.events.len() {
                        control.stop();
                    }
                }
            })
            .after_request(move |_, _, _| over.borrow_mut().is_pending = false);
        scheduler.submit(request)?;
        Ok(())
    }

    fn take_answers(&mut self) {
        let asked = self.asked.borrow();
        let Some((first, _)) = asked.events.first() else { return };
        let mut at = self.rows.partition_point(|row| row.time < *first);
        for (event, answer) in asked.events.iter().zip(&asked.answers) {
            while let Some(row) = self.rows.get_mut(at) {
                at += 1;
                if (row.time, row.tracefile) == *event {
                    row.process = Some(*answer);
                    break;
                }
                if row.time > event.0 {
                    return;
                }
            }
        }
    }

    fn select(&mut self, row: usize) {
        self.pending_move = 0;
        self.select_keeping(row);
    }

    fn select_keeping(&mut self, row: usize) {
        self.selected = row;
        self.follow();
    }

    /// Scrolls so that the selected row is on the screen, with some around it.
    fn follow(&mut self) {
        let around = (self.height / 4).min(3);
        let last_top = self.selected.saturating_sub(around);
        let first_top = (self.selected + around + 1).saturating_sub(self.height);
        self.top = self.top.clamp(first_top, last_top.max(first_top));
    }
}

fn row(call: &EventCall<'_, '_>, text: &RefCell<Lttv>) -> EventRow {
    let mut fields = Text::default();
    text.borrow_mut().fields(&call.event, &mut fields);
    EventRow {
        position: call.position(),
        time: call.time(),
        trace: call.trace.index(),
        tracefile: call.tracefile.number(),
        cpu: call.tracefile.tracefile().cpu(),
        name: call.event.event_type().name().to_owned(),
        fields: String::from_utf8_lossy(fields.as_bytes()).into_owned(),
        process: None,
    }
}
