//! Serving requests, a chunk at a time.

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
    /// however many it passes over, unless there is a time: that interrupts it.)
    pub fn service_chunk(&mut self, budget: Budget) -> Chunk {
        let mut chunk = Chunk::default();
        if self.is_paused() {
            chunk.status = Status::Paused;
            return chunk;
        }
        let mut meter = Meter::new(budget);
        loop {
            (0..self.accept_queued()).for_each(|_| meter.step());
            chunk.finished.append(&mut self.untold);
            let Some(goal) = self.goal() else { break };
            if meter.is_spent() {
                break;
            }
            let least = self.least_urgency();
            if !self.is_at(&goal) {
                self.interrupt(&mut chunk);
                self.approach(&goal, &mut meter, &mut chunk);
                continue;
            }
            chunk.interrupted.extend(self.suspend_where(|served| served.urgency < least));
            self.activate(least, &mut meter, &mut chunk);
            let here = self.context.position();
            let is_over = self.finish_over(&here, &mut meter, &mut chunk);
            if is_over || !self.queue.is_empty() {
                continue; // It may be others' turn now.
            }
            if meter.is_late() {
                break; // Not all may be ready yet.
            }
            if self.read(&here, least, &mut meter, &mut chunk) {
                break;
            }
        }
        for served in &mut self.requests {
            served.end_chunk(&mut self.context);
        }
        if self.requests.is_empty() && self.queue.is_empty() {
            self.get_on_in_background(&mut meter, &mut chunk);
        }
        // What hooks asked for may end requests, whose last hooks may ask for more.
        while self.accept_queued() > 0 {}
        chunk.finished.append(&mut self.untold);
        if self.requests.is_empty() {
            self.resume.clear();
            self.seek = None;
        }
        let is_idle = self.requests.is_empty()
            && self.background.as_ref().is_none_or(|background| background.is_idle());
        chunk.status = if is_idle { Status::Idle } else { Status::More };
        chunk
    }

    /// Uses what is left of the budget.
    fn get_on_in_background(&mut self, meter: &mut Meter, chunk: &mut Chunk) {
        let Some(background) = &mut self.background else { return };
        if !meter.is_spent() && !background.is_idle() {
            chunk.computed = background.service(meter.left(), &mut self.context);
        }
        chunk.reached = background.take_reached();
    }

    /// Where to read: at the first of the most urgent requests.
    fn goal(&self) -> Option<Cut> {
        let urgency = self.requests.iter().map(|served| served.urgency).max()?;
        let urgent = self.requests.iter().filter(|served| served.urgency == urgency);
        urgent.map(|served| &served.cut).min_by(|a, b| a.order(b)).cloned()
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
        let requests = &self.requests;
        self.resume.retain(|position| {
            let waits = |cut: &Cut| matches!(cut, Cut::Position(own) if own == position);
            requests.iter().any(|served| waits(&served.cut))
        });
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
        let read = self.context.replay(&goal.bounds().events(slice));
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
        for served in self.requests.iter_mut().filter(|served| served.cut.is_same(goal)) {
            served.cut = Cut::Position(here.clone());
        }
    }

    /// How urgent a request has to be to be served now.
    fn least_urgency(&self) -> Urgency {
        let all = Urgency::new(0);
        let most = self.requests.iter().map(|served| served.urgency).max();
        if self.shares { all } else { most.unwrap_or(all) }
    }

    /// Makes all who are here get events; as many of them as there is time for.
    fn activate(&mut self, least: Urgency, meter: &mut Meter, chunk: &mut Chunk) {
        let here = self.context.position();
        let is_next = |served: &&mut Served<'h>| served.cut.is_at(&here) && served.urgency >= least;
        for served in self.requests.iter_mut().filter(is_next) {
            if !served.is_active() {
                if meter.is_late() {
                    break;
                }
                meter.prepare();
            }
            served.cut = Cut::Position(here.clone());
            if served.activate(&mut self.context) {
                chunk.started.push(served.id);
                meter.step();
            }
        }
    }

    /// Ends those of the active that have got all, or as many of them as there is
    /// time for. Whether there were any.
    fn finish_over(
        &mut self,
        here: &TracesetPosition,
        meter: &mut Meter,
        chunk: &mut Chunk,
    ) -> bool {
        let before = self.requests.len();
        let mut at = 0;
        while let Some(served) = self.requests.get(at).filter(|_| !meter.is_late()) {
            match served.reason(here).filter(|_| served.is_active()) {
                Some(reason) => {
                    let served = self.requests.remove(at);
                    chunk.finished.push(served.finish(&mut self.context, reason, true));
                    meter.step();
                }
                None => at += 1,
            }
        }
        self.requests.len() < before
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
        let read = match self.context.middle(&bounds) {
            Ok(read) => read,
            Err(_) => return true, // It was checked.
        };
        meter.end_slice(read.events);
        chunk.read += read.events;
        let here = self.context.position();
        let mut yields = false;
        for served in self.requests.iter_mut().filter(|served| served.is_active()) {
            chunk.delivered += served.passed(read.events, &here);
            yields |= served.take_yield();
        }
        self.finish_over(&here, meter, chunk);
        yields
    }

    /// The nearest of all ends of the active, places where others wait, and so many
    /// events.
    fn bounds(&self, here: &TracesetPosition, least: Urgency, mut events: u64) -> Bounds {
        let (mut time, mut position) = (None, None);
        for served in self.requests.iter().filter(|served| served.urgency >= least) {
            if served.is_active() {
                time = earlier(time, served.bounds.end_time());
                position = earlier(position, served.bounds.end_position());
                events = events.min(served.events_left().unwrap_or(u64::MAX));
                continue;
            }
            match &served.cut {
                cut if !cut.is_behind(here) => {}
                Cut::Time(start) => time = earlier(time, Some(*start)),
                Cut::Position(start) => position = earlier(position, Some(start)),
            }
        }
        let mut bounds = Bounds::all().events(events);
        if let Some(time) = time {
            bounds = bounds.until(time);
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
