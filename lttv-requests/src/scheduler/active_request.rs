//! The state of a submitted request, from submission to its end.

use std::mem::{replace, take};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use ltt_read::{Timestamp, Trace, TraceIndex};
use lttv_context::{
    Bounds, ReadCall, ReadId, Scope, Subscription, TracesetContext, TracesetPosition,
};
use lttv_hooks::Priority;

use crate::chunk::{FinishReason, Finished};
use crate::identity::{Owner, RequestId};
use crate::request::control::{Control, Queue, Shared};
use crate::request::request_filter::SharedFilter;
use crate::request::request_hooks::{BegunHooks, LevelHooks, RequestHooks};
use crate::request::request_start::RequestStart;
use crate::request::{EventsRequest, Urgency};

/// A submitted request that has not ended. It is either running or waiting.
pub(crate) struct ActiveRequest<'h> {
    pub(crate) id: RequestId,
    pub(crate) owner: Owner,
    pub(crate) urgency: Urgency,
    /// The position at which reading for the request starts or continues.
    pub(crate) start: RequestStart,
    pub(crate) bounds: Bounds,
    pub(crate) trace: Option<TraceIndex>,
    /// The time before which no event is delivered to the request.
    since: Timestamp,
    /// `true` if start and end times are times of delivery.
    by_delivery: bool,
    /// `true` if the request waits where the traceset is growing.
    pub(crate) waits: bool,
    /// `true` if hooks or the filter use the state of extensions.
    pub(crate) uses_state: bool,
    /// The time of delivery by which all events before the end time have been delivered.
    /// Known once the request has started.
    delivered_by: Option<Timestamp>,
    /// `true` if events that the filter excludes in advance need not be read. Then only
    /// events that pass are counted.
    is_selecting: bool,
    /// `true` if a hook counts the request's events.
    is_counted: bool,
    /// The number of events that the request has gone through, if no hook counts them.
    events: u64,
    /// The number of events that have been reported as delivered.
    reported: u64,
    hooks: RequestHooks<'h>,
    shared: Rc<Shared<'h>>,
    is_started: bool,
    /// The hooks that are attached to the context and have to be detached.
    request_hooks: Option<BegunHooks>,
    event_hooks: Option<ReadId>,
    column_hooks: Option<ReadId>,
    chunk_hooks: Option<BegunHooks>,
}

impl<'h> ActiveRequest<'h> {
    pub(crate) fn new(
        id: RequestId,
        mut request: EventsRequest<'h>,
        queue: &Rc<Queue<'h>>,
    ) -> Self {
        request.restrict_to_trace();
        let is_selecting = request.is_selecting();
        let EventsRequest {
            owner,
            urgency,
            start,
            bounds,
            by_delivery,
            waits,
            uses_state,
            trace,
            hooks,
            shared,
        } = request;
        let filter_uses_state = shared
            .filter
            .borrow()
            .filter
            .as_ref()
            .is_some_and(|of| !of.borrow().is_selection_exact());
        shared.link(id, owner, queue);
        let since = match start {
            RequestStart::Time(time) if !by_delivery => time,
            _ => Timestamp::MIN,
        };
        ActiveRequest {
            id,
            owner,
            urgency,
            start,
            bounds,
            trace,
            since,
            by_delivery,
            waits,
            uses_state: uses_state || filter_uses_state,
            delivered_by: None,
            is_selecting,
            is_counted: trace.is_some() && !is_selecting,
            events: 0,
            reported: 0,
            hooks,
            shared,
            is_started: false,
            request_hooks: None,
            event_hooks: None,
            column_hooks: None,
            chunk_hooks: None,
        }
    }

    /// Returns whether the request has started.
    pub(crate) fn is_started(&self) -> bool {
        self.is_started
    }

    /// Returns the number of events that the request has gone through.
    pub(crate) fn events(&self) -> u64 {
        match (self.is_selecting, self.is_counted) {
            (true, _) => self.shared.filter.borrow().passed(),
            (false, true) => self.shared.counted.get(),
            (false, false) => self.events,
        }
    }

    /// Extends the filter to later versions of the traces. Returns `false` if it cannot be
    /// extended.
    pub(crate) fn grow_filter(&self, traces: &[Arc<Trace>]) -> bool {
        let filter = self.shared.filter.borrow();
        filter.filter.as_ref().is_none_or(|filter| filter.borrow_mut().grow(traces))
    }

    /// Returns the filter if events that it excludes in advance need not be read.
    pub(crate) fn selecting_filter(&self) -> Option<SharedFilter<'h>> {
        let filter = self.shared.filter.borrow();
        filter.selecting().filter(|_| self.is_selecting).cloned()
    }

    /// Returns whether the request only counts events in columns.
    pub(crate) fn is_counter(&self) -> bool {
        self.hooks.columns.is_some() && self.hooks.event_hooks == 0
    }

    /// Returns the state that the request's hooks share.
    pub(crate) fn shared(&self) -> &Rc<Shared<'h>> {
        &self.shared
    }

    /// Returns the column of a time, if the request only counts events in columns, and all
    /// events read at that time are its own if they pass `filter`.
    pub(crate) fn column_of(&self, time: Timestamp) -> Option<Range<Timestamp>> {
        let filter = self.shared.filter.borrow();
        let is_exact = filter.filter.is_none()
            || self.is_selecting && filter.filter.as_ref()?.borrow().is_selection_exact();
        let only_counts = self.hooks.event_hooks == 0
            && !self.is_counted
            && !self.has_panicked()
            && filter.max_matches.is_none()
            && filter.window.is_none();
        let columns = self.hooks.columns.as_ref().filter(|_| is_exact && only_counts)?;
        columns.column_of(time)
    }

    /// Adds events at a time, without calls of the hook that counts each by itself.
    /// Returns `false` if the request has ended.
    pub(crate) fn add_to_column(&mut self, time: Timestamp, events: u64) -> bool {
        if let Some(columns) = &mut self.hooks.columns {
            let control = Control(self.shared.clone());
            self.shared.guard(|| (columns.add)(time, events, &control));
        }
        if self.is_selecting {
            self.shared.filter.borrow_mut().count(events);
        }
        !self.shared.stopped.get() && !self.has_panicked()
    }

    /// Notes that all events in the column of a time have been counted.
    pub(crate) fn complete_column(&mut self, time: Timestamp) {
        if let Some(columns) = &mut self.hooks.columns {
            self.shared.guard(|| (columns.complete)(time));
        }
    }

    /// Attaches or detaches the hook that counts each event by itself.
    pub(crate) fn count_by_hook(&mut self, by_hook: bool, context: &mut TracesetContext<'h>) {
        let Some(columns) = &mut self.hooks.columns else { return };
        if let Some(id) = self.column_hooks.take_if(|_| !by_hook) {
            columns.by_hook = context.end_read(id).unwrap_or_default();
        } else if by_hook && self.column_hooks.is_none() && !self.shared.has_panicked() {
            self.column_hooks = Some(context.begin_read(take(&mut columns.by_hook)));
        }
    }

    /// Returns `true` if the request depends on a position of its traceset.
    pub(crate) fn has_position(&self) -> bool {
        self.is_started
            || matches!(self.start, RequestStart::Position(_))
            || self.bounds.end_position().is_some()
    }

    /// Returns the remaining number of events that the reader may read for the request.
    /// `None` if there is no limit, or if a hook counts.
    pub(crate) fn events_left(&self) -> Option<u64> {
        let limit = self.bounds.max_events().filter(|_| !self.is_counted)?;
        Some(limit.saturating_sub(self.events))
    }

    /// Attaches the hooks to the context, so that the request receives events from the
    /// current position on. Returns `true` if the request starts with this call. If a
    /// hook panics, no further hooks are attached.
    pub(crate) fn attach(&mut self, context: &mut TracesetContext<'h>) -> bool {
        let starts = !self.is_started;
        if starts {
            self.is_started = true;
            self.resolve_times(context);
            let shared = &self.shared;
            let begun = self.hooks.request.begin(context, || !shared.has_panicked());
            self.request_hooks = Some(begun);
        }
        if self.chunk_hooks.is_none() && !self.has_panicked() {
            let shared = &self.shared;
            self.chunk_hooks = Some(self.hooks.chunk.begin(context, || !shared.has_panicked()));
        }
        if self.event_hooks.is_none() && !self.has_panicked() {
            self.event_hooks = Some(context.begin_read(take(&mut self.hooks.events)));
        }
        starts
    }

    /// Computes the time of delivery of the end, and installs a time filter if events
    /// outside of the request's interval are mixed with those inside.
    fn resolve_times(&mut self, context: &mut TracesetContext<'h>) {
        let end = self.bounds.end_time();
        if self.by_delivery {
            self.delivered_by = end;
            return;
        }
        self.delivered_by = end.and_then(|end| context.scheduling().delivered_by(end));
        // A seek stops at events whose type is not declared yet, and tracefiles may join later, so
        // that events before the start may follow. Columns go by times of delivery anyway.
        let is_growing =
            self.since > Timestamp::MIN && context.traceset().is_growing() && !self.is_counter();
        let is_mixed = is_growing
            || self.delivered_by != end
            || self.since > Timestamp::MIN
                && context.scheduling().delivered_by(self.since) != Some(self.since);
        if !is_mixed {
            return;
        }
        self.shared.filter.borrow_mut().window = Some((self.since, end));
        self.shared.is_filtered.set(true);
        if !self.is_selecting && !replace(&mut self.is_counted, true) {
            self.shared.max_counted.set(self.bounds.max_events().unwrap_or(u64::MAX));
            let all = Subscription::to_every_event().priority(Priority::LAST);
            self.hooks.events.on_event(all, self.shared.count_hook());
        }
    }

    /// Returns the time of delivery at which the request ends.
    pub(crate) fn end_time(&self) -> Option<Timestamp> {
        self.delivered_by
    }

    /// Ends the chunk: calls the hooks after it, and detaches the hooks around it. Event
    /// hooks stay attached for the next chunk.
    pub(crate) fn end_chunk(&mut self, context: &mut TracesetContext<'h>) {
        if let Some(begun) = self.chunk_hooks.take() {
            self.hooks.chunk.end(begun, context);
        }
    }

    /// Ends the chunk and detaches the event hooks, so that the request receives no
    /// events until it is attached again.
    pub(crate) fn suspend(&mut self, context: &mut TracesetContext<'h>) {
        self.count_by_hook(false, context);
        if let Some(id) = self.event_hooks.take() {
            self.hooks.events = context.end_read(id).unwrap_or_default();
        }
        self.end_chunk(context);
    }

    /// Ends the request. Calls the counterparts of the hooks called before, and the
    /// `after_request` hooks if the request has started or `always` is set.
    pub(crate) fn finish(
        mut self,
        context: &mut TracesetContext<'h>,
        reason: FinishReason,
        always: bool,
    ) -> Finished {
        self.suspend(context);
        let reason = if self.has_panicked() { FinishReason::Panicked } else { reason };
        if self.is_started || always {
            if let Some(begun) = self.request_hooks.take() {
                self.hooks.request.end(begun, context);
            }
            let mut after = LevelHooks::default();
            for (place, mut hook) in take(&mut self.hooks.after_request) {
                let control = Control(self.shared.clone());
                let guarded = move |call: &mut ReadCall<'_, 'h>| {
                    control.0.guard(|| hook(call, &control, reason));
                };
                after.at(place.level).after_with(place.level, place.priority, guarded);
            }
            if let Some(trace) = self.trace {
                after.set_scope(Scope::Trace(trace));
            }
            let begun = after.begin(context, || true);
            after.end(begun, context);
        }
        let reason = if self.has_panicked() { FinishReason::Panicked } else { reason };
        Finished {
            request: self.id,
            owner: self.owner,
            reason,
            started: self.is_started,
            events: self.events(),
        }
    }

    /// Records that a number of events was read up to a position. Returns how many of
    /// them were delivered to the request.
    pub(crate) fn record_read(&mut self, events: u64, here: &TracesetPosition) -> u64 {
        self.start = RequestStart::Position(here.clone());
        self.shared.interrupt.set(false);
        self.events += if self.is_counted { 0 } else { events };
        let events = self.events();
        let before = replace(&mut self.reported, events);
        self.reported - before
    }

    /// Returns whether a hook of the request has panicked.
    fn has_panicked(&self) -> bool {
        self.shared.has_panicked()
    }

    /// Marks the request as one whose hook has panicked.
    pub(crate) fn fail(&self) {
        self.shared.mark_failed();
    }

    /// Returns whether a hook has ended the chunk since the last call.
    pub(crate) fn take_yield(&self) -> bool {
        self.shared.yielded.replace(false)
    }

    /// Returns the reason if the request ends at a position up to which all of its events
    /// have been delivered. `None` if it continues.
    pub(crate) fn reason(&self, here: &TracesetPosition) -> Option<FinishReason> {
        if self.has_panicked() {
            return Some(FinishReason::Panicked);
        }
        if self.shared.stopped.get() {
            return Some(FinishReason::Stopped);
        }
        if self.bounds.max_events().is_some_and(|limit| self.events() >= limit) {
            return Some(FinishReason::EventCount);
        }
        if self.shared.filter.borrow().is_exhausted() {
            return Some(FinishReason::MatchCount);
        }
        let Some(next) = here.time() else { return Some(FinishReason::EndOfTraceset) };
        if self.bounds.end_position().is_some_and(|end| end <= here) {
            return Some(FinishReason::EndPosition);
        }
        self.delivered_by.is_some_and(|end| end <= next).then_some(FinishReason::EndTime)
    }
}
