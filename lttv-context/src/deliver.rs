//! Events on their way to hooks.

use std::hint::select_unpredictable;
use std::marker::PhantomData;

use ltt_read::{Event, Merge};
use lttv_hooks::Flow;

use crate::bounds::{EndReason, Limit};
use crate::call::EventCall;
use crate::check::{Check, Looks};
use crate::commands::Commands;
use crate::contexts::Contexts;
use crate::dispatch::Ready;
use crate::extension::Extensions;
use crate::position::{Key, Latest, time_of};

/// Delivers events that a merge gives, one after the other.
pub(crate) struct Delivery<'d, 'h, M> {
    pub(crate) contexts: &'d Contexts,
    pub(crate) dispatch: Ready<'d, 'h>,
    pub(crate) extensions: &'d mut Extensions,
    pub(crate) commands: &'d mut Commands<'h>,
    pub(crate) check: Option<&'d mut Check<'h>>,
    pub(crate) limit: &'d Limit<'d>,
    /// Time of delivery of the last event.
    pub(crate) time: i64,
    pub(crate) latest: Latest,
    /// How many events may be delivered yet, and how many of them may pass the check.
    pub(crate) left: u64,
    pub(crate) left_passing: u64,
    pub(crate) mode: PhantomData<M>,
}

/// Why no more is delivered for now.
pub(crate) enum Pause {
    /// The event that the merge has come to is not to be delivered.
    Before(EndReason),
    /// A hook wants it.
    Stopped,
    /// A hook asked for something.
    Changed,
    /// As much has been delivered as wanted.
    Full,
}

/// Ways to deliver events.
pub(crate) trait Mode {
    /// Only hooks of extensions are called.
    const STATE_ONLY: bool = false;
    /// Events are checked as they are delivered.
    const CHECKS: bool = false;
    /// Only events that pass the check are read.
    const LEAVES_OUT: bool = false;
}

pub(crate) struct ToAll;
pub(crate) struct ToState;
pub(crate) struct Checked;
pub(crate) struct ToSome;

impl Mode for ToAll {}

impl Mode for ToState {
    const STATE_ONLY: bool = true;
}

impl Mode for Checked {
    const CHECKS: bool = true;
}

impl Mode for ToSome {
    const LEAVES_OUT: bool = true;
}

impl<M: Mode> Delivery<'_, '_, M> {
    /// Delivers from where a merge is. `None` if there is no more.
    pub(crate) fn deliver(&mut self, merge: &mut Merge, looks: &mut Looks) -> Option<Pause> {
        loop {
            if self.left == 0 || M::CHECKS && self.left_passing == 0 {
                return Some(Pause::Full);
            }
            let (time, key) = match M::LEAVES_OUT || M::CHECKS {
                true => self.next_checked(merge, looks)?,
                false => self.next_heard(merge),
            };
            if !M::CHECKS && self.left == 0 {
                return Some(Pause::Full);
            }
            let (tracefile, event) = (merge.current_tracefile(), merge.current()?);
            if M::LEAVES_OUT && looks.spent {
                return Some(Pause::Before(EndReason::LookCount));
            }
            self.time = time;
            if time >= self.limit.time {
                if let Some(reason) = self.limit.met((time, tracefile as u32), &event) {
                    return Some(Pause::Before(reason));
                }
                // Only before the limit has it been asked already.
                if M::LEAVES_OUT
                    && let Some(check) = &mut self.check
                    && !check.passes(&event, self.extensions)
                {
                    continue;
                }
            }
            self.left -= 1;
            let latest = self.latest.replace(time);
            if let Some(pause) = self.call(merge, event, key, (time, tracefile as u32), latest) {
                return Some(pause);
            }
        }
    }

    /// Goes to the next event, or to the next that passes the check if others are
    /// left out. Gives its time of delivery, and its key for hooks.
    #[inline(always)]
    fn next_checked(&mut self, merge: &mut Merge, looks: &mut Looks) -> Option<(i64, usize)> {
        match &mut self.check {
            Some(check) if M::LEAVES_OUT => {
                check.advance(merge, self.extensions, self.limit.time, looks).then_some(())?;
            }
            _ => _ = merge.next()?,
        }
        let (tracefile, event) = (merge.current_tracefile(), merge.current()?);
        let key = self.dispatch.key(tracefile, event.type_id());
        Some((self.time.max(time_of(&event)), key))
    }

    /// Goes to the next event that there are hooks for, or that is not before the
    /// limit, if there is one among those that may be delivered. All before it are
    /// delivered: to nobody, so that the merge need not leave its loop for them.
    #[inline(always)]
    fn next_heard(&mut self, merge: &mut Merge) -> (i64, usize) {
        let (mut time, mut next, mut key) = (self.time, self.time, 0);
        let passed = merge.pass(self.left, |tracefile, event| {
            next = time.max(time_of(event));
            key = self.dispatch.key(tracefile, event.type_id());
            let passes = next < self.limit.time && !self.dispatch.is_heard(key);
            if passes {
                time = next;
            }
            passes
        });
        (self.left, self.time) = (self.left - passed, time);
        // Which it is would be too hard to predict where every other event is heard.
        self.latest = select_unpredictable(passed > 0, Some(time), self.latest);
        (next, key)
    }

    /// Calls the hooks of `at` for an event.
    #[inline(always)]
    fn call(
        &mut self,
        merge: &Merge,
        event: Event<'_>,
        at: usize,
        key: Key,
        latest: Latest,
    ) -> Option<Pause> {
        let tracefile = &self.contexts.tracefiles()[key.1 as usize];
        let mut call = EventCall {
            event,
            trace: &self.contexts.traces()[tracefile.trace_index()],
            tracefile,
            contexts: self.contexts,
            fields: &[],
            extensions: self.extensions,
            commands: self.commands,
            merge,
            key,
            latest: if M::LEAVES_OUT { Some(key.0) } else { latest },
            is_partial: M::LEAVES_OUT,
            is_heard: (!M::CHECKS).then_some(!M::STATE_ONLY),
            check: if M::CHECKS { self.check.as_deref_mut() } else { None },
        };
        let flow = self.dispatch.at(at).call_runs(|run, found| {
            if (M::STATE_ONLY || M::CHECKS) && !found.keeps_state && !call.is_heard() {
                return Flow::Continue(());
            }
            let fields = found.fields();
            run.call_each(|hook| {
                call.fields = fields;
                hook(&mut call)
            })
        });
        if M::CHECKS {
            self.left_passing -= u64::from(call.is_heard());
        }
        match flow {
            Flow::Break(()) => Some(Pause::Stopped),
            Flow::Continue(()) => (!self.commands.pending.is_empty()).then_some(Pause::Changed),
        }
    }
}
