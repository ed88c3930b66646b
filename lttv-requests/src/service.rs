//! Serving requests, a chunk at a time.

use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ltt_read::Timestamp;
use lttv_context::{Bounds, EndReason, SlowSeek, TracesetPosition};

use crate::budget::{Budget, Meter};
use crate::chunk::{Chunk, Replay, Status};
use crate::cut::Cut;
use crate::scheduler::Scheduler;
use crate::served::Served;
use crate::urgency::Urgency;

impl<'h> Scheduler<'h> {
    /// Serves requests for as long as the budget allows, and tells what that came
    /// to.
    ///
    /// Each call gets on: it delivers an event, begins or ends a request, or comes
    /// nearer to where a request is, or brings state nearer to that. No call does more
    /// than its budget allows, but for what hooks do. (A seek counts as some events,
    /// however many it passes over, unless there is a time: that interrupts it.) A request
    /// that begins, ends, or is submitted or cancelled by a hook counts as an event. Of
    /// what hooks ask for a call does not do more than some 65536 things, whatever its
    /// budget: the next call goes on with the rest.
    ///
    /// # Panics
    ///
    /// If a hook does: see [the type](Scheduler#panics-of-hooks).
    pub fn service_chunk(&mut self, budget: Budget) -> Chunk {
        if self.is_paused() {
            return Chunk { status: Status::Paused, ..Chunk::default() };
        }
        let mut chunk = Chunk { replay: None, ..take(&mut self.untold) };
        let mut meter = Meter::new(budget);
        self.serve(&mut meter, &mut chunk);
        for served in &mut self.active {
            served.end_chunk(&mut self.context);
        }
        self.end_failed();
        if self.has_no_requests() {
            self.get_on_in_background(&mut meter, &mut chunk);
        }
        // What hooks asked for may end requests, whose last hooks may ask for more.
        let mut accepted = 0;
        while !Meter::is_enough_at_end(accepted) {
            match self.accept_queued() {
                0 => break,
                commands => accepted += commands,
            }
            self.end_failed();
        }
        chunk.finished.append(&mut self.untold.finished);
        if self.has_no_requests() {
            self.resume.clear();
            self.seek = None;
        }
        let is_idle = self.has_no_requests()
            && self.background.as_ref().is_none_or(|background| background.is_idle());
        chunk.status = if is_idle { Status::Idle } else { Status::More };
        if self.queue.has_panic() {
            self.untold = chunk;
            self.pass_on_panic();
            return Chunk::default(); // It does not come to that.
        }
        chunk
    }

    /// Serves requests until the budget is spent, a hook wants the chunk to end, or none is
    /// left.
    fn serve(&mut self, meter: &mut Meter, chunk: &mut Chunk) {
        loop {
            meter.accept(self.accept_queued());
            self.end_failed();
            chunk.finished.append(&mut self.untold.finished);
            let Some(goal) = self.goal() else { return };
            if meter.is_spent() || self.queue.has_panic() {
                return;
            }
            let least = self.least_urgency();
            if !self.is_at(&goal) {
                self.interrupt(chunk);
                self.approach(&goal, meter, chunk);
                continue;
            }
            chunk.interrupted.extend(self.suspend_where(|served| served.urgency < least));
            self.activate(least, meter, chunk);
            let here = self.context.position();
            let is_over = self.finish_over(&here, meter, chunk);
            if is_over || !self.queue.is_empty() {
                continue; // It may be others' turn now.
            }
            if meter.is_late() {
                return; // Not all may be ready yet.
            }
            if self.read(&here, least, meter, chunk) {
                return;
            }
        }
    }

    /// Uses what is left of the budget.
    fn get_on_in_background(&mut self, meter: &mut Meter, chunk: &mut Chunk) {
        let Some(background) = &mut self.background else { return };
        if !meter.is_spent() && !background.is_idle() {
            let context = &mut self.context;
            let service = AssertUnwindSafe(|| background.service(meter.left(), context));
            match catch_unwind(service) {
                Ok(computed) => chunk.computed += computed,
                Err(panic) => self.queue.note_panic(panic),
            }
        }
        chunk.reached.extend(background.take_reached());
    }

    /// Where to read: at the first of the most urgent requests.
    fn goal(&self) -> Option<Cut> {
        // All that are served are at one place.
        let served = self.active.iter().max_by_key(|served| served.urgency);
        let served = served.map(|served| (served.urgency, &served.cut));
        let goal = match (served, self.waiting.first()) {
            (Some(served), Some(waiting)) => {
                let is_first = served.0.cmp(&waiting.0).then_with(|| waiting.1.order(served.1));
                if is_first.is_ge() { served } else { waiting }
            }
            (served, waiting) => served.or(waiting)?,
        };
        Some(goal.1.clone())
    }

    /// Whether the context is at a place, and so is the state.
    fn is_at(&mut self, goal: &Cut) -> bool {
        let keeps_state = self.context.extensions().keep_state();
        (!keeps_state || self.context.is_state_current()) && goal.is_at(&self.context.position())
    }

    /// Interrupts all that are served, since the next stretch is elsewhere.
    fn interrupt(&mut self, chunk: &mut Chunk) {
        let interrupted = self.suspend_where(|_| true);
        if interrupted.is_empty() {
            return;
        }
        chunk.interrupted.extend(interrupted);
        let waiting = &self.waiting;
        self.resume.retain(|position| waiting.has_one_at(position));
    }

    /// Goes to a place, or gets nearer to it if state has to be brought there and
    /// that takes long.
    fn approach(&mut self, goal: &Cut, meter: &mut Meter, chunk: &mut Chunk) {
        chunk.replay = None;
        if !self.context.extensions().keep_state() {
            let sought = match goal {
                Cut::Time(time) => match self.seek_some(*time, meter, chunk) {
                    Some(found) => self.context.seek_found(found),
                    None => return,
                },
                Cut::Position(position) => self.context.seek_position(position),
            };
            debug_assert!(sought.is_ok(), "it was checked");
            chunk.seeks += 1;
            meter.seek();
            self.arrive(goal);
            return;
        }
        if self.restore_before(goal) {
            chunk.seeks += 1;
            meter.seek();
        }
        let slice = meter.begin_slice();
        let bounds = goal.bounds().events(slice);
        let Some(read) = self.read_guarded(|context| context.replay(&bounds)) else { return };
        let (events, reason) = match read {
            Ok(read) => (read.events, read.reason),
            Err(_) => (0, EndReason::EndPosition), // It was checked.
        };
        meter.end_slice(events);
        chunk.replayed += events;
        match reason {
            EndReason::EventCount | EndReason::LookCount | EndReason::Stopped => {
                let at = self.context.position().time();
                let to = match goal {
                    Cut::Time(time) => Some(*time),
                    Cut::Position(position) => position.time(),
                };
                chunk.replay = at.filter(|_| !self.is_at(goal)).map(|at| Replay { at, to });
            }
            EndReason::EndOfTraceset | EndReason::EndPosition | EndReason::EndTime => {
                self.arrive(goal);
            }
        }
    }

    /// Seeks a time for as long as a slice takes, or gets on with that. Gives the seek
    /// once it is through.
    fn seek_some(
        &mut self,
        time: Timestamp,
        meter: &mut Meter,
        chunk: &mut Chunk,
    ) -> Option<SlowSeek> {
        let begun = self.seek.take().filter(|seek| seek.time() == time);
        let mut seek = begun.unwrap_or_else(|| self.context.search_time(time));
        let slice = meter.search_slice();
        if seek.go_on(slice) {
            return Some(seek);
        }
        meter.searched();
        chunk.sought += slice;
        self.seek = Some(seek);
        None
    }

    /// Restores the state that is nearest before a place, unless the current one is.
    /// Whether it had to.
    fn restore_before(&mut self, goal: &Cut) -> bool {
        let here = self.context.position();
        let own = self.resume.nearest(&self.context, goal);
        let checkpoints = self.context.checkpoints();
        let general = match goal {
            Cut::Time(time) => checkpoints.nearest(*time),
            Cut::Position(position) => checkpoints.nearest_position(position),
        };
        let best = match (own, general) {
            (Some(own), Some(general)) if own.position() < general.position() => Some(general),
            (Some(own), _) => Some(own),
            (None, general) => general,
        };
        let is_best = |position: &TracesetPosition| *position <= here;
        if self.context.is_state_current()
            && goal.is_reached_from(&here)
            && best.is_none_or(|best| is_best(best.position()))
        {
            return false;
        }
        match best.cloned() {
            // Since it was saved, an extension may have been attached.
            Some(best) if self.context.restore(&best).is_ok() => {}
            _ => self.context.seek_begin(),
        }
        true
    }

    /// What was sought is here, by definition: were it not quite, for a file that
    /// changed, nobody would ever get there.
    fn arrive(&mut self, goal: &Cut) {
        let here = self.context.position();
        self.waiting.arrive(goal, &here);
    }

    /// How urgent a request has to be to be served now.
    fn least_urgency(&self) -> Urgency {
        let all = Urgency::new(0);
        if self.shares {
            return all;
        }
        let served = self.active.iter().map(|served| served.urgency);
        served.chain(self.waiting.first().map(|first| first.0)).max().unwrap_or(all)
    }

    /// Makes all who are here get events; as many of them as there is time for.
    fn activate(&mut self, least: Urgency, meter: &mut Meter, chunk: &mut Chunk) {
        let here = self.context.position();
        let mut joining = self.waiting.at(&here, least).into_iter().peekable();
        let before = self.active.len();
        let mut served = take(&mut self.active).into_iter().peekable();
        self.active.reserve(before + joining.len());
        // In the order of their ids, whether they were served before or not.
        loop {
            let joins = match (joining.peek(), served.peek()) {
                (Some(id), Some(served)) => *id < served.id,
                (joining, _) => joining.is_some(),
            };
            if joins && meter.is_late() {
                break;
            }
            let next = match joins {
                true => joining.next().and_then(|id| self.waiting.remove(id)),
                false => served.next(),
            };
            let Some(mut next) = next else { break };
            if joins {
                meter.prepare();
                next.cut = Cut::Position(here.clone());
            }
            if next.activate(&mut self.context) {
                chunk.started.push(next.id);
                meter.step();
            }
            self.active.push(next);
        }
        self.active.extend(served);
    }

    /// Ends those of the active that have got all, or as many of them as there is
    /// time for. Whether there were any.
    fn finish_over(
        &mut self,
        here: &TracesetPosition,
        meter: &mut Meter,
        chunk: &mut Chunk,
    ) -> bool {
        let is_over = |served: &mut Box<Served<'h>>| served.reason(here).is_some();
        let over: Vec<_> = self.active.extract_if(.., is_over).collect();
        if over.is_empty() {
            return false;
        }
        let mut over = over.into_iter();
        let mut has_ended = false;
        while !meter.is_late()
            && let Some(served) = over.next()
        {
            if let Some(reason) = served.reason(here) {
                chunk.finished.push(served.finish(&mut self.context, reason, true));
                meter.step();
                has_ended = true;
            }
        }
        self.active.extend(over);
        self.active.sort_by_key(|served| served.id);
        has_ended
    }

    /// Reads on from here, for all who are active, up to where the first of them
    /// ends or another one waits. Whether a hook wants the chunk to end.
    fn read(
        &mut self,
        here: &TracesetPosition,
        least: Urgency,
        meter: &mut Meter,
        chunk: &mut Chunk,
    ) -> bool {
        let bounds = self.bounds(here, least, meter.begin_slice());
        let read = match self.read_guarded(|context| context.middle(&bounds)) {
            Some(Ok(read)) => read,
            Some(Err(_)) | None => return true, // It was checked, or a hook panicked.
        };
        meter.end_slice(read.events);
        chunk.read += read.events;
        let here = self.context.position();
        let mut yields = false;
        for served in &mut self.active {
            chunk.delivered += served.passed(read.events, &here);
            yields |= served.take_yield();
        }
        self.finish_over(&here, meter, chunk);
        yields
    }

    /// The nearest of all ends of the active, the place where another waits, and so many
    /// events.
    fn bounds(&self, here: &TracesetPosition, least: Urgency, mut events: u64) -> Bounds {
        let (mut time, mut position) = (None, None);
        for served in &self.active {
            time = earlier(time, served.end_time());
            position = earlier(position, served.bounds.end_position());
            events = events.min(served.events_left().unwrap_or(u64::MAX));
        }
        match self.waiting.next_after(here, least) {
            Some(Cut::Time(start)) => time = earlier(time, Some(*start)),
            Some(Cut::Position(start)) => position = earlier(position, Some(start)),
            None => {}
        }
        let mut bounds = Bounds::all().events(events);
        if let Some(time) = time {
            bounds = bounds.until_start_of(time);
        }
        if let Some(position) = position {
            bounds = bounds.until_position(position);
        }
        bounds
    }
}

/// The earlier of two that may not be there.
fn earlier<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b < a { b } else { a }),
        (a, b) => a.or(b),
    }
}
