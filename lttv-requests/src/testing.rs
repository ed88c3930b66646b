//! Tools for tests of programs that serve requests.
//!
//! A [`Journal`] records the calls of a request's hooks. [`Journal::assert_whole`] checks
//! their order, and [`assert_alone_is_together`] checks that a program's requests receive
//! the same events regardless of other requests.
//!
//! ```
//! use lttv_context::{Traceset, TracesetContext};
//! use lttv_requests::testing::{Journal, serve_all};
//! use lttv_requests::{Budget, EventsRequest, FinishReason, Owner, Scheduler};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let mut scheduler = Scheduler::new(TracesetContext::new(Traceset::open(path)?));
//! let journal = Journal::new();
//! scheduler.submit(journal.watch(EventsRequest::new(Owner::unique()).max_events(3)))?;
//! serve_all(&mut scheduler, Budget::events(2));
//!
//! journal.assert_whole();
//! assert_eq!(journal.events().count(), 3);
//! assert_eq!(journal.reason(), Some(FinishReason::EventCount));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use ltt_read::{Timestamp, TraceIndex, TracefileIndex};
use lttv_context::{Level, TracesetContext};

use crate::{Budget, EventsRequest, FinishReason, Owner, Scheduler, Status};

/// A call of a request's hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Call {
    /// The call before the request.
    BeforeRequest,
    /// The call before a chunk.
    BeforeChunk,
    /// The call for an event.
    Event {
        /// The time of the event.
        time: Timestamp,
        /// The index of its trace in the traceset.
        trace: TraceIndex,
        /// The index of its tracefile in the trace.
        tracefile: TracefileIndex,
        /// The name of its type.
        name: String,
    },
    /// The call after a chunk.
    AfterChunk,
    /// The call after the request, with the reason of its end.
    AfterRequest(FinishReason),
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Call::BeforeRequest => f.write_str("before_request"),
            Call::BeforeChunk => f.write_str("before_chunk"),
            Call::Event { time, name, .. } => write!(f, "event {} {name}", time.as_ns()),
            Call::AfterChunk => f.write_str("after_chunk"),
            Call::AfterRequest(reason) => write!(f, "after_request {}", reason.name()),
        }
    }
}

/// A record of the calls of a request's hooks. Clones share one record.
#[derive(Debug, Clone, Default)]
pub struct Journal(Rc<RefCell<Vec<Call>>>);

impl Journal {
    /// Creates an empty journal.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds hooks to a request that record its calls. Events are recorded after the hooks
    /// that the request already has.
    pub fn watch<'h>(&self, request: EventsRequest<'h>) -> EventsRequest<'h> {
        let note = |call: Call| {
            let journal = self.clone();
            move || journal.0.borrow_mut().push(call.clone())
        };
        let (begin, enter, leave) =
            (note(Call::BeforeRequest), note(Call::BeforeChunk), note(Call::AfterChunk));
        let (events, end) = (self.clone(), self.clone());
        request
            .before_request(move |_, _| begin())
            .before_chunk(Level::Traceset, move |_, _| enter())
            .on_every_event(move |call, _| {
                let (trace, tracefile) = (call.trace.index(), call.tracefile.index());
                let name = call.event.event_type().name().to_owned();
                let time = call.event_time();
                events.0.borrow_mut().push(Call::Event { time, trace, tracefile, name });
            })
            .after_chunk(Level::Traceset, move |_, _| leave())
            .after_request(move |_, _, reason| {
                end.0.borrow_mut().push(Call::AfterRequest(reason));
            })
    }

    /// Returns all calls so far, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.0.borrow().clone()
    }

    /// Iterates over the calls for events so far.
    pub fn events(&self) -> impl Iterator<Item = Call> + use<> {
        self.calls().into_iter().filter(|call| matches!(call, Call::Event { .. }))
    }

    /// Returns the reason why the request has ended. `None` if it has not.
    pub fn reason(&self) -> Option<FinishReason> {
        match self.0.borrow().last() {
            Some(Call::AfterRequest(reason)) => Some(*reason),
            _ => None,
        }
    }

    /// Finds the first call that is out of order, and returns it with its index. In a
    /// valid record, a request starts once, before all other calls, and ends once, after
    /// all other calls; each chunk that starts between them ends; events are part of
    /// chunks, in the order of their times. A request that was cancelled before it
    /// started receives only the last call.
    fn misplaced(&self) -> Option<(usize, Call)> {
        let calls = self.0.borrow();
        let mut place = Phase::Before;
        let mut latest = None;
        for (number, call) in calls.iter().enumerate() {
            place = match (place, call) {
                (Phase::Before, Call::BeforeRequest) => Phase::Between,
                (Phase::Between, Call::BeforeChunk) => Phase::Within,
                (Phase::Within, Call::Event { time, .. }) if latest <= Some(*time) => {
                    latest = Some(*time);
                    Phase::Within
                }
                (Phase::Within, Call::AfterChunk) => Phase::Between,
                (Phase::Between, Call::AfterRequest(_)) => Phase::After,
                (Phase::Before, Call::AfterRequest(FinishReason::Cancelled)) => Phase::After,
                _ => return Some((number, call.clone())),
            };
        }
        None
    }

    /// Checks that no call is out of order, and that the request has ended. A request
    /// starts once, before all other calls, and ends once, after all other calls; each
    /// chunk that starts between them ends; events are part of chunks, in the order of
    /// their times.
    ///
    /// # Panics
    ///
    /// Panics if either condition does not hold.
    #[track_caller]
    pub fn assert_whole(&self) {
        if let Some((number, call)) = self.misplaced() {
            panic!("call {number}, `{call}`, is out of order in:\n{self}");
        }
        assert!(self.reason().is_some(), "the request has not ended:\n{self}");
    }
}

/// Formats one call per line.
impl fmt::Display for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.borrow().iter().try_for_each(|call| writeln!(f, "{call}"))
    }
}

/// The phase of a request between two of its calls.
#[derive(Debug, Clone, Copy)]
enum Phase {
    Before,
    Between,
    Within,
    After,
}

/// Calls [`Scheduler::service_chunk`] until no work remains, or until requests wait for events to be
/// recorded. Returns the number of calls.
///
/// # Panics
///
/// Panics if a call makes no progress although work remains, for example because the
/// scheduler is paused.
#[track_caller]
pub fn serve_all(scheduler: &mut Scheduler<'_>, budget: Budget) -> usize {
    let mut calls = 0;
    loop {
        let chunk = scheduler.service_chunk(budget);
        calls += 1;
        match chunk.status {
            Status::Idle | Status::Waiting => return calls,
            Status::Paused => panic!("the scheduler is paused"),
            Status::More => {
                let done = chunk.read + chunk.replayed + chunk.computed + chunk.seeks;
                let changed = chunk.started.len() + chunk.finished.len();
                assert!(done > 0 || changed > 0, "no progress with {budget:?}");
            }
        }
    }
}

/// Checks that requests receive the same events and end for the same reasons whether they
/// are served alone or together. Serves all requests together in a context of their own,
/// then each one alone. Returns the journals of the requests served together.
///
/// The function `request` creates the request of a number below `requests`. Its hooks
/// should not depend on those of other requests.
///
/// # Panics
///
/// Panics if a request receives different events, ends for a different reason, or cannot
/// be submitted.
#[track_caller]
pub fn assert_alone_is_together<'h>(
    context: impl Fn() -> TracesetContext<'h>,
    requests: usize,
    request: impl Fn(usize, Owner) -> EventsRequest<'h>,
    budget: Budget,
) -> Vec<Journal> {
    let serve = |numbers: std::ops::Range<usize>| -> Vec<Journal> {
        let mut scheduler = Scheduler::new(context());
        let journals = numbers.map(|number| {
            let journal = Journal::new();
            let watched = journal.watch(request(number, Owner::unique()));
            scheduler.submit(watched).expect("the request is valid");
            journal
        });
        let journals = journals.collect();
        serve_all(&mut scheduler, budget);
        journals
    };
    let together = serve(0..requests);
    for (number, among) in together.iter().enumerate() {
        let alone = &serve(number..number + 1)[0];
        alone.assert_whole();
        among.assert_whole();
        let (wanted, got): (Vec<_>, Vec<_>) = (alone.events().collect(), among.events().collect());
        let differs = wanted.iter().zip(&got).position(|(wanted, got)| wanted != got);
        let differs = differs.unwrap_or(wanted.len().min(got.len()));
        assert!(
            wanted == got,
            "request {number}: event {differs} is {:?} alone, {:?} among others",
            wanted.get(differs),
            got.get(differs),
        );
        assert_eq!(
            alone.reason(),
            among.reason(),
            "request {number} ends for a different reason among others"
        );
    }
    together
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(ns: i64) -> Call {
        Call::Event {
            time: Timestamp::from_ns(ns),
            trace: TraceIndex(0),
            tracefile: TracefileIndex(0),
            name: "e".into(),
        }
    }

    fn misplaced(calls: &[Call]) -> Option<usize> {
        let journal = Journal(Rc::new(RefCell::new(calls.to_vec())));
        journal.misplaced().map(|(number, _)| number)
    }

    #[test]
    fn misplaced_finds_calls_out_of_order() {
        use Call::*;
        let end = AfterRequest(FinishReason::EndTime);
        let cancelled = AfterRequest(FinishReason::Cancelled);
        let (begin, enter, leave) = (BeforeRequest, BeforeChunk, AfterChunk);
        let all = |calls: &[&Call]| {
            misplaced(&calls.iter().map(|call| (*call).clone()).collect::<Vec<_>>())
        };
        assert_eq!(all(&[]), None);
        assert_eq!(all(&[&begin, &enter, &event(1), &event(1), &leave, &end]), None);
        assert_eq!(all(&[&begin, &enter, &leave, &enter, &event(1), &leave, &end]), None);
        assert_eq!(all(&[&cancelled]), None);
        assert_eq!(all(&[&end]), Some(0));
        assert_eq!(all(&[&enter]), Some(0));
        assert_eq!(all(&[&begin, &event(1)]), Some(1));
        assert_eq!(all(&[&begin, &begin]), Some(1));
        assert_eq!(all(&[&begin, &enter, &end]), Some(2));
        assert_eq!(all(&[&begin, &enter, &event(2), &event(1)]), Some(3));
        assert_eq!(all(&[&begin, &end, &enter]), Some(2));
    }
}
