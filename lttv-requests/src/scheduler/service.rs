//! The work of one call of [`Scheduler::service_chunk`].

use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ltt_read::Timestamp;
use lttv_context::{
    Bounds, Checkpoint, Checkpoints, EndReason, IncrementalSeek, ReadEnd, ReadError,
    TracesetPosition,
};

use crate::budget::{Budget, Meter};
use crate::chunk::{ChunkReport, Replay, Status};
use crate::request::Urgency;
use crate::request::request_start::RequestStart;
use crate::scheduler::Scheduler;
use crate::scheduler::active_request::ActiveRequest;

impl<'h> Scheduler<'h> {
    /// Reads events and calls the hooks of requests until the budget is spent. Returns
    /// the results.
    ///
    /// Each call makes progress: it delivers an event, starts or ends a request, moves
    /// closer to the position of a request, or brings state closer to it. No call does
    /// more than its budget allows, apart from the work of hooks. A seek counts as a
    /// fixed number of events, however many it passes over, unless the budget has a time
    /// limit, which interrupts a seek. Each request that starts, ends, or is submitted or
    /// cancelled by a hook counts as one event. A call executes at most about 65536
    /// commands of hooks, whatever its budget; the next call executes the rest.
    ///
    /// # Panics
    ///
    /// Panics if a hook panics, with its payload: see [the
    /// type](Scheduler#panics-of-hooks).
    pub fn service_chunk(&mut self, budget: Budget) -> ChunkReport {
        if self.is_paused() {
            return ChunkReport { status: Status::Paused, ..ChunkReport::default() };
        }
        let mut chunk = ChunkReport { replay: None, ..take(&mut self.unreported) };
        let mut meter = Meter::new(budget);
        self.borrow_checkpoints();
        self.serve(&mut meter, &mut chunk);
        for request in &mut self.running {
            request.end_chunk(&mut self.context);
        }
        self.end_failed();
        if self.has_no_requests() {
            self.service_background(&mut meter, &mut chunk);
        }
        // Commands of hooks may end requests, whose last hooks may add commands.
        let mut executed = 0;
        while !Meter::is_final_limit(executed) {
            match self.run_commands() {
                0 => break,
                commands => executed += commands,
            }
            self.end_failed();
        }
        chunk.finished.append(&mut self.unreported.finished);
        if let Some(background) = &self.background {
            chunk.notifications.extend(background.take_news());
        }
        if self.has_no_requests() {
            self.seek = None;
            if self.parked.is_empty() {
                self.resume.clear();
            }
        }
        chunk.final_until = self.final_until();
        let has_work = !self.has_no_requests()
            || self.background.as_ref().is_some_and(|background| background.has_work());
        let waits = !self.parked.is_empty()
            || self.background.as_ref().is_some_and(|background| background.waits());
        chunk.status = match has_work {
            true => Status::More,
            false if waits => Status::Waiting,
            false => Status::Idle,
        };
        if self.queue.has_panic() {
            self.unreported = chunk;
            self.resume_panic();
            return ChunkReport::default(); // Not reached: the panic resumes.
        }
        chunk
    }

    /// Serves requests until the budget is spent, a hook ends the chunk, or no request
    /// remains.
    fn serve(&mut self, meter: &mut Meter, chunk: &mut ChunkReport) {
        loop {
            meter.count_commands(self.run_commands());
            self.end_failed();
            chunk.finished.append(&mut self.unreported.finished);
            let Some((goal, with_state)) = self.goal() else { return };
            if meter.is_spent() || self.queue.has_panic() {
                return;
            }
            if self.park_beyond(&goal, chunk) {
                continue;
            }
            let min_urgency = self.min_urgency();
            if !self.is_at(&goal, with_state) {
                self.interrupt(chunk);
                self.move_towards(&goal, with_state, meter, chunk);
                continue;
            }
            // Where the state is that of the position, all requests are served together.
            let with_state =
                !self.context.extensions().keep_state() || self.context.is_state_current();
            let is_left = |request: &ActiveRequest<'h>| {
                request.urgency < min_urgency || request.uses_state && !with_state
            };
            chunk.interrupted.extend(self.suspend_where(is_left));
            self.context.scheduling().leave_state_aside(!with_state);
            self.attach_waiting((min_urgency, with_state), meter, chunk);
            if self.running.is_empty() {
                // A request that was parked before the traceset has grown is at an earlier position,
                // without an event between. It hides those that start at a time.
                self.mark_reached(&goal);
                continue;
            }
            let here = self.context.position();
            let is_complete = self.finish_complete(&here, meter, chunk);
            if is_complete || !self.queue.is_empty() {
                continue; // Other requests may come first now.
            }
            if meter.is_out_of_time() {
                return; // Some requests here may not be attached yet.
            }
            if self.read(&here, (min_urgency, with_state), meter, chunk) {
                return;
            }
        }
    }

    /// Runs background computations with the rest of the budget.
    fn service_background(&mut self, meter: &mut Meter, chunk: &mut ChunkReport) {
        let Some(background) = &self.background else { return };
        if !meter.is_spent() && background.has_work() {
            match catch_unwind(AssertUnwindSafe(|| background.service(meter.remaining()))) {
                Ok(computed) => chunk.computed += computed,
                Err(panic) => self.queue.note_panic(panic),
            }
            self.borrow_checkpoints();
        }
    }

    /// Takes over the checkpoints that the background has made so far.
    fn borrow_checkpoints(&mut self) {
        if let Some(background) = &self.background {
            background.lend_to(&mut self.context);
        }
    }

    /// Returns the position to read at, and whether state is needed there: that of the first of the most
    /// urgent requests, or, if state has to be replayed for it, that of the first one without state.
    fn goal(&mut self) -> Option<(RequestStart, bool)> {
        let (urgency, goal) = self.first_goal()?;
        if !self.context.extensions().keep_state()
            || self.is_at(&goal, true)
            || self.has_state_at(&goal)
        {
            return Some((goal, true));
        }
        let running = self.running.iter().find(|of| !of.uses_state && of.urgency == urgency);
        let running = running.map(|request| &request.start);
        let waiting = self.waiting.first_without_state(urgency);
        match running.into_iter().chain(waiting).min_by(|a, b| a.order(b)) {
            Some(plain) => Some((plain.clone(), false)),
            None => Some((goal, true)),
        }
    }

    /// Returns whether the state at a position is there without a replay.
    fn has_state_at(&mut self, goal: &RequestStart) -> bool {
        let is_there =
            |saved: Option<&Checkpoint>| saved.is_some_and(|saved| goal.is_at(saved.position()));
        matches!(goal, RequestStart::Time(Timestamp::MIN))
            || is_there(self.resume.nearest(&self.context, goal))
            || is_there(nearest(self.context.checkpoints(), goal))
    }

    /// Returns the position and the urgency of the first of the most urgent requests.
    fn first_goal(&self) -> Option<(Urgency, RequestStart)> {
        // All running requests are at one position.
        let running = self.running.iter().max_by_key(|request| request.urgency);
        let running = running.map(|request| (request.urgency, &request.start));
        let goal = match (running, self.waiting.first()) {
            (Some(running), Some(waiting)) => {
                let is_first = running.0.cmp(&waiting.0).then_with(|| waiting.1.order(running.1));
                if is_first.is_ge() { running } else { waiting }
            }
            (running, waiting) => running.or(waiting)?,
        };
        Some((goal.0, goal.1.clone()))
    }

    /// Returns whether the context is at a position, and its state if that is needed.
    fn is_at(&mut self, goal: &RequestStart, with_state: bool) -> bool {
        let keeps_state = with_state && self.context.extensions().keep_state();
        (!keeps_state || self.context.is_state_current()) && goal.is_at(&self.context.position())
    }

    /// Interrupts all running requests, because the next stretch is elsewhere.
    fn interrupt(&mut self, chunk: &mut ChunkReport) {
        let interrupted = self.suspend_where(|_| true);
        if interrupted.is_empty() {
            return;
        }
        chunk.interrupted.extend(interrupted);
        let waiting = &self.waiting;
        self.resume.retain(|position| waiting.contains_position(position));
    }

    /// Moves the context to a position. If state has to be replayed there and the budget
    /// ends first, the context stops on the way.
    fn move_towards(
        &mut self,
        goal: &RequestStart,
        with_state: bool,
        meter: &mut Meter,
        chunk: &mut ChunkReport,
    ) {
        chunk.replay = None;
        if !with_state || !self.context.extensions().keep_state() {
            let sought = match goal {
                RequestStart::Time(time) => match self.continue_seek(*time, meter, chunk) {
                    Some(found) => self.context.scheduling().seek_result(found),
                    None => return,
                },
                RequestStart::Position(position) => self.context.seek_position(position),
            };
            debug_assert!(sought.is_ok(), "positions were checked on submission");
            chunk.seeks += 1;
            meter.count_seek();
            self.mark_reached_or_park(goal, chunk);
            return;
        }
        if self.restore_before(goal) {
            chunk.seeks += 1;
            meter.count_seek();
        }
        let slice = meter.start_slice();
        let bounds = goal.bounds().events(slice);
        let Some(read) = self.read_guarded(|context| context.state().replay(&bounds)) else {
            return;
        };
        let (events, reason) = match read {
            Ok(read) => (read.events, read.reason),
            Err(ReadError::Hook(error)) => (self.note_hook_error(error).events, EndReason::Stopped),
            // Positions were checked on submission.
            Err(_) => (0, EndReason::EndPosition),
        };
        meter.end_slice(events);
        chunk.replayed += events;
        match reason {
            EndReason::EventCount | EndReason::ExaminedCount | EndReason::Stopped => {
                let at = self.context.position().time();
                let to = match goal {
                    RequestStart::Time(time) => Some(*time),
                    RequestStart::Position(position) => position.time(),
                };
                chunk.replay = at.filter(|_| !self.is_at(goal, true)).map(|at| Replay { at, to });
            }
            EndReason::Pending => self.mark_reached_or_park(goal, chunk),
            EndReason::EndOfTraceset | EndReason::EndPosition | EndReason::EndTime => {
                self.mark_reached(goal);
            }
        }
    }

    /// Records that the context has arrived where requests wait, unless they wait at a time that
    /// has turned out not to be final (only reading finds events whose type is not declared yet), or at
    /// a position before which more may follow now, since a tracefile has joined.
    fn mark_reached_or_park(&mut self, goal: &RequestStart, chunk: &mut ChunkReport) {
        if self.context.scheduling().is_pending() {
            let here = self.context.position();
            if matches!(goal, RequestStart::Position(_)) && goal.is_after(&here) {
                return self.park_at(goal, chunk);
            }
            if self.park_beyond(goal, chunk) {
                return;
            }
        }
        self.mark_reached(goal);
    }

    /// Seeks a time for one slice, continuing a seek of the previous call. Returns the
    /// seek when it is complete.
    fn continue_seek(
        &mut self,
        time: Timestamp,
        meter: &mut Meter,
        chunk: &mut ChunkReport,
    ) -> Option<IncrementalSeek> {
        let started = self.seek.take().filter(|seek| seek.time() == time);
        let mut seek = started.unwrap_or_else(|| self.context.scheduling().search_time(time));
        let slice = meter.search_slice();
        if seek.run(slice) {
            return Some(seek);
        }
        meter.count_search();
        chunk.passed_over += slice;
        self.seek = Some(seek);
        None
    }

    /// Restores the nearest state before a position, unless the current state is at least
    /// as near. Returns whether a state was restored.
    fn restore_before(&mut self, goal: &RequestStart) -> bool {
        let here = self.context.position();
        let own = self.resume.nearest(&self.context, goal);
        let general = nearest(self.context.checkpoints(), goal);
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
            // An extension may have been attached after the checkpoint was saved.
            Some(best) if self.context.state().restore(&best).is_ok() => {}
            _ => self.context.seek_time(Timestamp::MIN),
        }
        true
    }

    /// Records that the context has arrived at a position that requests wait for. The
    /// arrival is not verified: if a file has changed, comparing positions could fail
    /// forever, and the requests would never be served.
    fn mark_reached(&mut self, goal: &RequestStart) {
        let here = self.context.position();
        self.waiting.set_position(goal, &here);
    }

    /// Returns the lowest urgency that is served now.
    fn min_urgency(&self) -> Urgency {
        let all = Urgency::new(0);
        if self.shares {
            return all;
        }
        let running = self.running.iter().map(|request| request.urgency);
        running.chain(self.waiting.first().map(|first| first.0)).max().unwrap_or(all)
    }

    /// Attaches the requests that wait at the current position, as many as time allows.
    fn attach_waiting(
        &mut self,
        (min_urgency, with_state): (Urgency, bool),
        meter: &mut Meter,
        chunk: &mut ChunkReport,
    ) {
        let here = self.context.position();
        let joining = self.waiting.at(&here, min_urgency, with_state);
        let mut joining = joining.into_iter().peekable();
        let total = self.running.len() + joining.len();
        let mut at_least = Meter::min_steps(total);
        let mut running = take(&mut self.running).into_iter().peekable();
        self.running.reserve(total);
        // Merges both by id: `running` stays in the order of ids.
        loop {
            let joins = match (joining.peek(), running.peek()) {
                (Some(id), Some(request)) => *id < request.id,
                (joining, _) => joining.is_some(),
            };
            if joins && at_least == 0 && meter.is_out_of_time() {
                break;
            }
            let next = match joins {
                true => joining.next().and_then(|id| self.waiting.remove(id)),
                false => running.next(),
            };
            let Some(mut next) = next else { break };
            if joins {
                at_least = at_least.saturating_sub(1);
                meter.restart_slices();
                next.start = RequestStart::Position(here.clone());
            }
            if next.attach(&mut self.context) {
                chunk.started.push(next.id);
                meter.count_step();
            }
            self.running.push(next);
        }
        self.running.extend(running);
    }

    /// Ends the running requests that are complete, as many as time allows. Returns
    /// whether any ended.
    fn finish_complete(
        &mut self,
        here: &TracesetPosition,
        meter: &mut Meter,
        chunk: &mut ChunkReport,
    ) -> bool {
        let mut at_least = Meter::min_steps(self.running.len());
        let is_complete = |request: &mut Box<ActiveRequest<'h>>| request.reason(here).is_some();
        let complete: Vec<_> = self.running.extract_if(.., is_complete).collect();
        if complete.is_empty() {
            return false;
        }
        self.read_all();
        let mut complete = complete.into_iter();
        let mut has_ended = false;
        while (at_least > 0 || !meter.is_out_of_time())
            && let Some(request) = complete.next()
        {
            at_least = at_least.saturating_sub(1);
            if let Some(reason) = request.reason(here) {
                chunk.finished.push(request.finish(&mut self.context, reason, true));
                meter.count_step();
                has_ended = true;
            }
        }
        self.running.extend(complete);
        self.running.sort_by_key(|request| request.id);
        has_ended
    }

    /// Reads from the current position for all running requests, up to the first position
    /// where one of them ends or a waiting request joins. Returns `true` if a hook ends
    /// the chunk.
    fn read(
        &mut self,
        here: &TracesetPosition,
        served: (Urgency, bool),
        meter: &mut Meter,
        chunk: &mut ChunkReport,
    ) -> bool {
        let leaves_out = self.select_wanted();
        let mut limits = self.limits(here, served, meter.start_slice());
        limits.is_examined = leaves_out;
        let read = match self.read_columns(here, &limits, meter) {
            Some(read) => Some(read),
            None => self.read_events(&limits),
        };
        let Some(events) = read else { return true }; // A hook panicked.
        meter.end_slice(events);
        chunk.read += events;
        let before = here;
        let here = self.context.position();
        if leaves_out && events == 0 && here != *before {
            // Everything up to here was left out.
            chunk.seeks += 1;
            meter.count_seek();
        }
        let mut yields = false;
        for request in &mut self.running {
            chunk.delivered += request.record_read(events, &here);
            yields |= request.take_yield();
        }
        self.finish_complete(&here, meter, chunk);
        if !yields {
            self.park_pending(chunk);
        }
        yields
    }

    /// Reads with all hooks. Returns the number of events read, or `None` if a hook
    /// panicked that belongs to no request.
    fn read_events(&mut self, limits: &Limits) -> Option<u64> {
        let bounds = limits.bounds(limits.time, limits.events);
        let read = self.read_guarded(|context| context.read(&bounds))?;
        Some(match read {
            Ok(read) => limits.events_of(&read),
            Err(ReadError::Hook(error)) => {
                let read = self.note_hook_error(error);
                limits.events_of(&read)
            }
            // Positions were checked on submission.
            Err(_) => 0,
        })
    }

    /// Returns the limits of the next read: the nearest of the ends of all running
    /// requests, the position of the next waiting request, and a number of events.
    fn limits(
        &self,
        here: &TracesetPosition,
        (min_urgency, with_state): (Urgency, bool),
        mut events: u64,
    ) -> Limits {
        let (mut time, mut position) = (None, None);
        for request in &self.running {
            time = earlier(time, request.end_time());
            position = earlier(position, request.bounds.end_position());
            events = events.min(request.events_left().unwrap_or(u64::MAX));
        }
        match self.waiting.next_after(here, min_urgency, with_state) {
            Some(RequestStart::Time(start)) => time = earlier(time, Some(*start)),
            Some(RequestStart::Position(start)) => position = earlier(position, Some(start)),
            None => {}
        }
        Limits { time, position: position.cloned(), events, is_examined: false }
    }
}

/// The limits of a read.
pub(crate) struct Limits {
    /// The time at whose start the read ends.
    pub(crate) time: Option<Timestamp>,
    position: Option<TracesetPosition>,
    pub(crate) events: u64,
    /// `true` if events that are not wanted are left out, so that the number of events is
    /// that of the events looked at.
    is_examined: bool,
}

impl Limits {
    /// Returns the bounds for a time and a number of events within the limits.
    pub(crate) fn bounds(&self, time: Option<Timestamp>, events: u64) -> Bounds {
        let mut bounds = match self.is_examined {
            true => Bounds::all().max_examined(events),
            false => Bounds::all().events(events),
        };
        if let Some(time) = time {
            bounds = bounds.until_start_of(time);
        }
        if let Some(position) = &self.position {
            bounds = bounds.until_position(position);
        }
        bounds
    }

    /// Returns the number of events that count towards the limit.
    pub(crate) fn events_of(&self, read: &ReadEnd) -> u64 {
        if self.is_examined { read.examined } else { read.events }
    }
}

/// Returns the last checkpoint that is not after a position.
fn nearest<'c>(checkpoints: &'c Checkpoints, goal: &RequestStart) -> Option<&'c Checkpoint> {
    match goal {
        RequestStart::Time(time) => checkpoints.nearest(*time),
        RequestStart::Position(position) => checkpoints.nearest_position(position),
    }
}

/// Returns the earlier of two optional values, treating `None` as the latest.
pub(crate) fn earlier<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b < a { b } else { a }),
        (a, b) => a.or(b),
    }
}
