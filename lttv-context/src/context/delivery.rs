//! The delivery of events to hooks.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use ltt_read::order::DeliveryKey;
use ltt_read::tuning::EventSink;
use ltt_read::{Event, Merge, Timestamp, TracefileNumber};
use lttv_hooks::{Flow, HooksFound};

use super::time_filter::TimeFilter;
use crate::bounds::{EndReason, Limit};
use crate::hooks::{Check, Commands, EventCall, Looks, Ready};
use crate::state::Extensions;
use crate::traceset::{Contexts, time_of};

/// A loop that delivers the events of a merge one after the other.
pub(super) struct Delivery<'d, 'h, M> {
    pub(super) contexts: &'d Contexts,
    pub(super) dispatch: Ready<'d, 'h>,
    pub(super) extensions: &'d mut Extensions,
    pub(super) commands: &'d mut Commands<'h>,
    pub(super) check: Option<&'d mut Check<'h>>,
    pub(super) limit: &'d Limit<'d>,
    /// The filter that decides about events by their times, in modes that use one.
    pub(super) time_filter: Option<&'d mut TimeFilter>,
    /// The time of delivery of the last event.
    pub(super) time: Timestamp,
    /// A bound on the times of the events before the next one.
    pub(super) latest: Option<Timestamp>,
    /// The number of events that may still be delivered, and how many of them may pass the check.
    pub(super) left: u64,
    pub(super) left_passing: u64,
    /// `true` if hooks of extensions are not called, in modes that may leave them out.
    pub(super) leaves_state: bool,
    pub(super) mode: PhantomData<M>,
}

/// A receiver of all events that are delivered to hooks.
pub(crate) trait EventRecorder {
    /// Receives an event with its time of delivery, after the hooks. `is_heard` is `false` if
    /// only extensions got the event.
    fn record(
        &mut self,
        tracefile: TracefileNumber,
        time: Timestamp,
        event: &Event<'_>,
        is_heard: bool,
    );
}

/// No receiver.
impl EventRecorder for () {
    #[inline(always)]
    fn record(&mut self, _: TracefileNumber, _: Timestamp, _: &Event<'_>, _: bool) {}
}

/// The reason why the delivery paused.
pub(super) enum Pause {
    /// The current event of the merge must not be delivered.
    Before(EndReason),
    /// A hook returned `Break`.
    Stopped,
    /// A hook has requested changes of hooks.
    Changed,
    /// The requested number of events has been delivered.
    Full,
}

/// A way to deliver events.
pub(super) trait Mode {
    /// Only hooks of extensions are called.
    const STATE_ONLY: bool = false;
    /// Each event is delivered to extensions, and to the other hooks if it passes the check.
    const CHECKS: bool = false;
    /// The merge skips the events that do not pass the check.
    const SKIPS: bool = false;
    /// The time of each event decides about it, and not only its place in the order.
    const BY_TIME: bool = false;
    /// Hooks of extensions are not called.
    const WITHOUT_STATE: bool = false;
}

/// The mode without a check: all hooks are called for all events.
pub(super) struct AllHooks;

/// The mode without a check and without hooks of extensions.
pub(super) struct PlainHooks;

/// The mode of a replay.
pub(super) struct StateHooks;

/// The mode with a check while extensions keep state.
pub(super) struct Checked;

/// The mode with a check while no extension keeps state, or while their state is left aside.
pub(super) struct PassingOnly;

/// The mode of a read with a [`TimeFilter`].
pub(super) struct ByTime;

impl Mode for AllHooks {}

impl Mode for PlainHooks {
    const WITHOUT_STATE: bool = true;
}

impl Mode for StateHooks {
    const STATE_ONLY: bool = true;
}

impl Mode for Checked {
    const CHECKS: bool = true;
}

impl Mode for ByTime {
    const CHECKS: bool = true;
    const BY_TIME: bool = true;
}

impl Mode for PassingOnly {
    const SKIPS: bool = true;
    const WITHOUT_STATE: bool = true;
}

impl<M: Mode> Delivery<'_, '_, M> {
    /// Delivers events from the current position of the merge on. Returns `None` at the end of the
    /// traceset.
    pub(super) fn deliver(
        &mut self,
        merge: &mut Merge,
        looks: &mut Looks,
        recorder: &mut impl EventRecorder,
    ) -> Option<Pause> {
        match M::SKIPS || M::CHECKS {
            true => self.deliver_checked(merge, looks, recorder),
            false => self.deliver_all(merge, recorder),
        }
    }

    /// Delivers all events. Events without hooks are skipped.
    #[inline(always)]
    fn deliver_all(
        &mut self,
        merge: &mut Merge,
        recorder: &mut impl EventRecorder,
    ) -> Option<Pause> {
        let most = self.left;
        let time = self.time;
        let (found, pause) = (None, None);
        let mut hooks = HookSink { delivery: self, recorder, time, found, is_first: true, pause };
        let seen = merge.drive(most, &mut hooks);
        let HookSink { is_first, pause, .. } = hooks;
        if !is_first {
            self.latest = Some(self.time);
        }
        // An event that meets a limit was passed to the sink but not delivered.
        self.left -= seen - u64::from(matches!(pause, Some(Pause::Before(_))));
        match pause {
            None if self.left == 0 => Some(Pause::Full),
            pause => pause,
        }
    }

    /// Delivers all events and checks them, or delivers only the events that pass the check.
    #[inline(always)]
    fn deliver_checked(
        &mut self,
        merge: &mut Merge,
        looks: &mut Looks,
        recorder: &mut impl EventRecorder,
    ) -> Option<Pause> {
        loop {
            if self.left == 0 || M::CHECKS && self.left_passing == 0 {
                return Some(Pause::Full);
            }
            let time = match &mut self.check {
                Some(check) if M::SKIPS => {
                    // The clock may have gone back after an event that was skipped.
                    check.advance(merge, self.extensions, self.limit.time, looks)?
                }
                _ => time_of(&merge.next()?),
            };
            let (tracefile, event) = (merge.current_tracefile()?, merge.current()?);
            let time = self.time.max(time);
            if M::SKIPS && looks.spent && time < self.limit.time {
                self.time = time;
                return Some(Pause::Before(EndReason::ExaminedCount));
            }
            let found = self.dispatch.find(self.dispatch.key(tracefile, event.type_id()));
            let mut is_skipped = false;
            if M::BY_TIME
                && let Some(time_filter) = &mut self.time_filter
            {
                match time_filter.admits(DeliveryKey::new(time, tracefile), &event, self.limit) {
                    Ok(is_in_time) => is_skipped = !is_in_time,
                    Err(reason) => return Some(Pause::Before(reason)),
                }
            } else if time >= self.limit.time {
                if let Some(reason) = self.limit.met(DeliveryKey::new(time, tracefile), &event) {
                    return Some(Pause::Before(reason));
                }
                // The merge evaluates the check only for events before the limit.
                if M::SKIPS
                    && let Some(check) = &mut self.check
                    && !check.passes(&event, self.extensions)
                {
                    continue;
                }
            }
            self.time = time;
            self.left -= 1;
            let latest = self.latest.replace(self.time);
            let key = DeliveryKey::new(self.time, tracefile);
            let left_passing = self.left_passing;
            let pause = self.call(merge, &event, found, key, latest, is_skipped);
            let is_heard = !M::CHECKS || self.left_passing < left_passing;
            recorder.record(tracefile, self.time, &event, is_heard);
            if pause.is_some() {
                return pause;
            }
        }
    }

    /// Calls the hooks for an event.
    #[inline(always)]
    fn call(
        &mut self,
        merge: &Merge,
        event: &Event<'_>,
        hooks: HooksFound,
        key: DeliveryKey,
        latest: Option<Timestamp>,
        is_skipped: bool,
    ) -> Option<Pause> {
        let tracefile = &self.contexts.tracefiles()[key.tracefile().0];
        let mut call = EventCall {
            event: *event,
            trace: tracefile.trace_context(),
            tracefile,
            contexts: self.contexts,
            fields: &[],
            extensions: self.extensions,
            commands: self.commands,
            merge,
            delivery_time: key.time(),
            latest: if M::SKIPS { Some(key.time()) } else { latest },
            is_filtered: M::SKIPS,
            is_heard: match M::CHECKS {
                true => is_skipped.then_some(false),
                false => Some(!M::STATE_ONLY),
            },
            check: if M::CHECKS { self.check.as_deref_mut() } else { None },
        };
        let leaves_state = self.leaves_state;
        let flow = self.dispatch.at(hooks).call_runs(|run, info| {
            if (M::STATE_ONLY || M::CHECKS) && !info.keeps_state && !call.reaches_all_hooks() {
                return Flow::Continue(());
            }
            if (M::WITHOUT_STATE || M::CHECKS && leaves_state) && info.keeps_state {
                return Flow::Continue(());
            }
            let fields = info.fields();
            run.call_each(|hook| {
                call.fields = fields;
                hook(&mut call)
            })
        });
        if M::CHECKS {
            self.left_passing -= u64::from(call.reaches_all_hooks());
        }
        match flow {
            Flow::Break(()) => Some(Pause::Stopped),
            Flow::Continue(()) => (!self.commands.is_empty()).then_some(Pause::Changed),
        }
    }
}

/// The sink of a merge that counts the events without hooks as delivered.
struct HookSink<'d, D, R> {
    delivery: &'d mut D,
    recorder: &'d mut R,
    /// The time of delivery of the event that `accepts` was called for last, and its hooks.
    time: Timestamp,
    found: Option<HooksFound>,
    /// `true` until an event has been delivered.
    is_first: bool,
    pause: Option<Pause>,
}

impl<M: Mode, R: EventRecorder> EventSink for HookSink<'_, Delivery<'_, '_, M>, R> {
    #[inline(always)]
    fn accepts(&mut self, tracefile: TracefileNumber, event: &Event<'_>) -> bool {
        let delivery = &mut *self.delivery;
        self.time = delivery.time.max(time_of(event));
        let key = delivery.dispatch.key(tracefile, event.type_id());
        let is_over = self.time >= delivery.limit.time;
        if is_over || delivery.dispatch.may_have_hooks(key) {
            let found = delivery.dispatch.find(key);
            self.found = Some(found);
            if is_over || delivery.dispatch.has_hooks(found) {
                return true;
            }
        }
        self.recorder.record(tracefile, self.time, event, true);
        (delivery.time, self.is_first) = (self.time, false);
        false
    }

    #[inline(always)]
    fn receive(
        &mut self,
        merge: &Merge,
        tracefile: TracefileNumber,
        event: &Event<'_>,
    ) -> ControlFlow<()> {
        let delivery = &mut *self.delivery;
        let Some(found) = self.found else { return ControlFlow::Continue(()) };
        let key = DeliveryKey::new(self.time, tracefile);
        if self.time >= delivery.limit.time
            && let Some(reason) = delivery.limit.met(key, event)
        {
            self.pause = Some(Pause::Before(reason));
            return ControlFlow::Break(());
        }
        let latest = if self.is_first { delivery.latest } else { Some(delivery.time) };
        (delivery.time, self.is_first) = (self.time, false);
        self.pause = delivery.call(merge, event, found, key, latest, false);
        self.recorder.record(tracefile, self.time, event, true);
        if self.pause.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
