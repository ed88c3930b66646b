//! A submitted request on its way from its begin to its end.

use std::mem::{replace, take};
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_context::{
    Bounds, HookSet, Level, LevelCall, ReadId, Subscription, TracesetContext, TracesetPosition,
};
use lttv_hooks::Priority;

use crate::control::{Control, Queue, Shared};
use crate::cut::Cut;
use crate::finish::{FinishReason, Finished};
use crate::identity::{Owner, RequestId};
use crate::request::{EventsRequest, RequestHooks};
use crate::urgency::Urgency;

/// A submitted request.
pub(crate) struct Served<'h> {
    pub(crate) id: RequestId,
    pub(crate) owner: Owner,
    pub(crate) urgency: Urgency,
    /// Where its next event is.
    pub(crate) cut: Cut,
    pub(crate) bounds: Bounds,
    pub(crate) trace: Option<usize>,
    /// The time before which no event is for it.
    since: Timestamp,
    /// Whether its times are those of delivery.
    by_delivery: bool,
    /// The time of delivery at which it has all events before its end time, once it has
    /// begun.
    delivered_by: Option<Timestamp>,
    /// Whether a hook counts its events.
    is_counted: bool,
    /// Events that it went through, if none does.
    events: u64,
    /// Events that were counted as delivered.
    told: u64,
    hooks: RequestHooks<'h>,
    shared: Rc<Shared<'h>>,
    is_started: bool,
    /// What has begun, and has to end.
    request: Option<ReadId>,
    installed: Option<ReadId>,
    chunk: Option<[Option<ReadId>; 2]>,
}

impl<'h> Served<'h> {
    pub(crate) fn new(
        id: RequestId,
        mut request: EventsRequest<'h>,
        queue: &Rc<Queue<'h>>,
    ) -> Self {
        request.close();
        let EventsRequest { owner, urgency, start, bounds, by_delivery, trace, hooks, shared } =
            request;
        shared.link(id, owner, queue);
        let since = match start {
            Cut::Time(time) if !by_delivery => time,
            _ => Timestamp::MIN,
        };
        Served {
            id,
            owner,
            urgency,
            cut: start,
            bounds,
            trace,
            since,
            by_delivery,
            delivered_by: None,
            is_counted: trace.is_some(),
            events: 0,
            told: 0,
            hooks,
            shared,
            is_started: false,
            request: None,
            installed: None,
            chunk: None,
        }
    }

    /// Whether its first hook was called.
    pub(crate) fn is_started(&self) -> bool {
        self.is_started
    }

    /// How many events it went through.
    pub(crate) fn events(&self) -> u64 {
        if self.is_counted { self.shared.counted.get() } else { self.events }
    }

    /// Whether it means something in its traceset only.
    pub(crate) fn knows_position(&self) -> bool {
        self.is_started
            || matches!(self.cut, Cut::Position(_))
            || self.bounds.end_position().is_some()
    }

    /// How many more it may get, as far as the reader has to see to that.
    pub(crate) fn events_left(&self) -> Option<u64> {
        let most = self.bounds.max_events().filter(|_| !self.is_counted)?;
        Some(most.saturating_sub(self.events))
    }

    /// Makes it get events from here on, in a chunk. Tells whether it began. If one of its
    /// hooks panics, it goes no further.
    pub(crate) fn activate(&mut self, context: &mut TracesetContext<'h>) -> bool {
        let begins = !self.is_started;
        if begins {
            self.is_started = true;
            self.settle_times(context);
            self.request = take(&mut self.hooks.request).map(|set| context.begin(set));
        }
        if self.chunk.is_none() && !self.has_panicked() {
            let chunk = take(&mut self.hooks.chunk).map(|set| context.begin(set));
            let parts = take(&mut self.hooks.parts).filter(|_| !self.has_panicked());
            self.chunk = Some([chunk, parts.map(|set| context.begin(set))]);
        }
        if self.installed.is_none() && !self.has_panicked() {
            self.installed = Some(context.begin(take(&mut self.hooks.events)));
        }
        begins
    }

    /// Finds out where its last event comes, and whether events of other times come before
    /// that, which are not for it.
    fn settle_times(&mut self, context: &mut TracesetContext<'h>) {
        let end = self.bounds.end_time();
        if self.by_delivery {
            self.delivered_by = end;
            return;
        }
        self.delivered_by = end.and_then(|end| context.delivered_by(end));
        let is_mixed = self.delivered_by != end
            || self.since > Timestamp::MIN && context.delivered_by(self.since) != Some(self.since);
        if !is_mixed {
            return;
        }
        self.shared.gate.borrow_mut().window = Some((self.since, end));
        self.shared.gated.set(true);
        if !replace(&mut self.is_counted, true) {
            self.shared.most.set(self.bounds.max_events().unwrap_or(u64::MAX));
            let all = Subscription::to_every_event().priority(Priority::LAST);
            self.hooks.events.on_event(all, self.shared.count_hook());
        }
    }

    /// The time of delivery at which it is over.
    pub(crate) fn end_time(&self) -> Option<Timestamp> {
        self.delivered_by
    }

    /// The chunk is over; it stays ready for the next.
    pub(crate) fn end_chunk(&mut self, context: &mut TracesetContext<'h>) {
        let Some([chunk, parts]) = self.chunk.take() else { return };
        self.hooks.parts = parts.and_then(|id| context.end(id));
        self.hooks.chunk = chunk.and_then(|id| context.end(id));
    }

    /// It gets no events any more, until it is activated again.
    pub(crate) fn suspend(&mut self, context: &mut TracesetContext<'h>) {
        if let Some(id) = self.installed.take() {
            self.hooks.events = context.end(id).unwrap_or_default();
        }
        self.end_chunk(context);
    }

    /// Ends it. What began gets its counterpart. Its last hooks are called if it has
    /// started, or in any case if it is `always` told.
    pub(crate) fn finish(
        mut self,
        context: &mut TracesetContext<'h>,
        reason: FinishReason,
        always: bool,
    ) -> Finished {
        self.suspend(context);
        let reason = if self.has_panicked() { FinishReason::Panicked } else { reason };
        if self.is_started || always {
            if let Some(id) = self.request.take() {
                context.end(id);
            }
            let mut after = HookSet::new();
            for mut hook in take(&mut self.hooks.after_request) {
                let control = Control(self.shared.clone());
                let guarded = move |call: &mut LevelCall<'_, 'h>| {
                    control.0.guard(|| hook(call, &control, reason));
                };
                after.after(Level::Traceset, guarded);
            }
            let id = context.begin(after);
            context.end(id);
        }
        let reason = if self.has_panicked() { FinishReason::Panicked } else { reason };
        Finished { request: self.id, owner: self.owner, reason, events: self.events() }
    }

    /// So many events were read while it was active, up to here. Tells how many of
    /// them were for it.
    pub(crate) fn passed(&mut self, events: u64, here: &TracesetPosition) -> u64 {
        self.cut = Cut::Position(here.clone());
        self.shared.interrupt.set(false);
        self.events += if self.is_counted { 0 } else { events };
        let events = self.events();
        let before = replace(&mut self.told, events);
        self.told - before
    }

    /// Whether one of its hooks has panicked.
    fn has_panicked(&self) -> bool {
        self.shared.has_panicked()
    }

    /// Has it end as one of which a hook panicked.
    pub(crate) fn fail(&self) {
        self.shared.mark_failed();
    }

    /// Whether a hook wanted the chunk to end, since it was asked last.
    pub(crate) fn take_yield(&self) -> bool {
        self.shared.yielded.replace(false)
    }

    /// Why it is over, if it is, when it got all events up to here.
    pub(crate) fn reason(&self, here: &TracesetPosition) -> Option<FinishReason> {
        if self.has_panicked() {
            return Some(FinishReason::Panicked);
        }
        if self.shared.stopped.get() {
            return Some(FinishReason::Stopped);
        }
        if self.bounds.max_events().is_some_and(|most| self.events() >= most) {
            return Some(FinishReason::EventCount);
        }
        if self.shared.gate.borrow().is_full() {
            return Some(FinishReason::MatchCount);
        }
        let Some(next) = here.time() else { return Some(FinishReason::EndOfTraceset) };
        if self.bounds.end_position().is_some_and(|end| end <= here) {
            return Some(FinishReason::EndPosition);
        }
        self.delivered_by.is_some_and(|end| end <= next).then_some(FinishReason::EndTime)
    }
}
