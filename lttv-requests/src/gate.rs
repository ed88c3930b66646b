//! A request's filter and its limit on matching events.

use ltt_read::{Position, Timestamp};
use lttv_context::EventCall;

use crate::filter::EventFilter;

/// Decides, once an event, whether the request's hooks are called for it.
#[derive(Default)]
pub(crate) struct Gate<'h> {
    pub(crate) filter: Option<Box<dyn EventFilter + 'h>>,
    /// From which time on and before which one events are for the request, if their order
    /// does not tell.
    pub(crate) window: Option<(Timestamp, Option<Timestamp>)>,
    /// How many events may pass.
    pub(crate) most: Option<u64>,
    /// Whether there are several hooks, so that one event comes several times.
    pub(crate) several: bool,
    passed: u64,
    /// The event of the last decision (by number of tracefile and position in it),
    /// and what that was.
    last: Option<(usize, Position, bool)>,
}

impl Gate<'_> {
    /// Whether an event is at a time for which the request is.
    pub(crate) fn is_in_window(&self, call: &EventCall<'_, '_>) -> bool {
        self.window.is_none_or(|(since, until)| {
            let time = call.event.timestamp().unwrap_or(Timestamp::MIN);
            since <= time && until.is_none_or(|until| time < until)
        })
    }

    pub(crate) fn admits(&mut self, call: &EventCall<'_, '_>) -> bool {
        if !self.several {
            return self.decide(call);
        }
        let event = (call.tracefile.number(), call.event.position());
        if let Some((tracefile, position, passes)) = self.last
            && (tracefile, position) == event
        {
            return passes;
        }
        let passes = self.decide(call);
        self.last = Some((event.0, event.1, passes));
        passes
    }

    fn decide(&mut self, call: &EventCall<'_, '_>) -> bool {
        let passes = self.is_in_window(call)
            && self.filter.as_mut().is_none_or(|filter| filter.passes(call));
        self.passed += u64::from(passes);
        passes
    }

    /// Whether as many events have passed as may.
    pub(crate) fn is_full(&self) -> bool {
        self.most.is_some_and(|most| self.passed >= most)
    }
}
