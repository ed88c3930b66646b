//! Help for tests of programs that serve requests.
//!
//! A [`Journal`] notes what a request is told; [`Journal::assert_whole`] checks
//! that its calls are in order, and [`assert_alone_is_together`] that a program's
//! requests get the same whatever else is served beside them.
//!
//! ```
//! use lttv_context::{Traceset, TracesetContext};
//! use lttv_requests::testing::{Journal, serve_all};
//! use lttv_requests::{Budget, EventsRequest, FinishReason, Owner, Scheduler};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let mut scheduler = Scheduler::new(TracesetContext::new(Traceset::open(path)?));
//! let journal = Journal::new();
//! scheduler.submit(journal.watch(EventsRequest::new(Owner::fresh()).events(3)))?;
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

use ltt_read::Timestamp;
use lttv_context::{Level, TracesetContext};

use crate::{Budget, EventsRequest, FinishReason, Owner, Scheduler, Status};

/// One call of a request's hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Call {
    /// The hooks before the request.
    BeforeRequest,
    /// The hooks before a chunk.
    BeforeChunk,
    /// An event.
    Event {
        /// Its time.
        time: Timestamp,
        /// Index of its trace in the traceset.
        trace: usize,
        /// Index of its tracefile in the trace.
        tracefile: usize,
        /// Name of its type.
        name: String,
    },
    /// The hooks after a chunk.
    AfterChunk,
    /// The hooks after the request.
    AfterRequest(FinishReason),
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Call::BeforeRequest => f.write_str("before_request"),
            Call::BeforeChunk => f.write_str("before_chunk"),
            Call::Event { time, name, .. } => write!(f, "event {} {name}", time.ns()),
            Call::AfterChunk => f.write_str("after_chunk"),
            Call::AfterRequest(reason) => write!(f, "after_request {}", reason.name()),
        }
    }
}

/// Notes what a request is told. Clones share their notes.
#[derive(Debug, Clone, Default)]
pub struct Journal(Rc<RefCell<Vec<Call>>>);

impl Journal {
    /// With nothing noted.
    pub fn new() -> Self {
        Self::default()
    }

    /// The request, with hooks that note all that it is told. Events are noted
    /// after hooks that it has already.
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
                let time = call.event.timestamp().unwrap_or(call.time());
                events.0.borrow_mut().push(Call::Event { time, trace, tracefile, name });
            })
            .after_chunk(Level::Traceset, move |_, _| leave())
            .after_request(move |_, _, reason| {
                end.0.borrow_mut().push(Call::AfterRequest(reason));
            })
    }

    /// All calls so far, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.0.borrow().clone()
    }

    /// The events so far, without the calls around them.
    pub fn events(&self) -> impl Iterator<Item = Call> + use<> {
        self.calls().into_iter().filter(|call| matches!(call, Call::Event { .. }))
    }

    /// Why the request has ended; none if it has not.
    pub fn reason(&self) -> Option<FinishReason> {
        match self.0.borrow().last() {
            Some(Call::AfterRequest(reason)) => Some(*reason),
            _ => None,
        }
    }

    /// The first call that is not where it belongs: a request begins once,
    /// before all else, and ends once, after all else; each chunk between them
    /// that begins ends, events come in chunks only, and never in reverse order
    /// of time. A request that was cancelled before it began gets no call but
    /// the last.
    pub fn misplaced(&self) -> Option<(usize, Call)> {
        let calls = self.0.borrow();
        let mut place = Place::Before;
        let mut latest = None;
        for (number, call) in calls.iter().enumerate() {
            place = match (place, call) {
                (Place::Before, Call::BeforeRequest) => Place::Between,
                (Place::Between, Call::BeforeChunk) => Place::Within,
                (Place::Within, Call::Event { time, .. }) if latest <= Some(*time) => {
                    latest = Some(*time);
                    Place::Within
                }
                (Place::Within, Call::AfterChunk) => Place::Between,
                (Place::Between, Call::AfterRequest(_)) => Place::After,
                (Place::Before, Call::AfterRequest(FinishReason::Cancelled)) => Place::After,
                _ => return Some((number, call.clone())),
            };
        }
        None
    }

    /// Panics if a call is [misplaced](Journal::misplaced), or the request has
    /// not ended.
    ///
    /// # Panics
    ///
    /// As said; that is what it is for.
    #[track_caller]
    pub fn assert_whole(&self) {
        if let Some((number, call)) = self.misplaced() {
            panic!("call {number}, `{call}`, is out of place in:\n{self}");
        }
        assert!(self.reason().is_some(), "the request has not ended:\n{self}");
    }
}

/// One call a line.
impl fmt::Display for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.borrow().iter().try_for_each(|call| writeln!(f, "{call}"))
    }
}

/// Where a request is, between its calls.
#[derive(Debug, Clone, Copy)]
enum Place {
    Before,
    Between,
    Within,
    After,
}

/// Calls [`Scheduler::service_chunk`] until nothing is left to do, and returns
/// how often.
///
/// # Panics
///
/// If a call neither does anything nor ends the work: the scheduler is paused,
/// or the budget allows nothing.
#[track_caller]
pub fn serve_all(scheduler: &mut Scheduler<'_>, budget: Budget) -> usize {
    let mut calls = 0;
    loop {
        let chunk = scheduler.service_chunk(budget);
        calls += 1;
        match chunk.status {
            Status::Idle => return calls,
            Status::Paused => panic!("the scheduler is paused"),
            Status::More => {
                let done = chunk.read + chunk.replayed + chunk.computed + chunk.seeks;
                let changed = chunk.started.len() + chunk.finished.len();
                assert!(done > 0 || changed > 0, "nothing done with {budget:?}");
            }
        }
    }
}

/// Serves requests one by one, then all together, each time in a context of its
/// own, and panics if one gets other events, or ends for another reason. Returns
/// their journals.
///
/// `request` makes the request of a number below `requests`; its hooks should
/// not depend on those of others.
///
/// # Panics
///
/// As said; and if a request cannot be submitted.
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
            let watched = journal.watch(request(number, Owner::fresh()));
            scheduler.submit(watched).expect("a request that can be submitted");
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
            "request {number}: its event {differs} is {:?} if alone, {:?} among others",
            wanted.get(differs),
            got.get(differs),
        );
        assert_eq!(alone.reason(), among.reason(), "request {number} ends for another reason");
    }
    together
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(ns: i64) -> Call {
        Call::Event { time: Timestamp::from_ns(ns), trace: 0, tracefile: 0, name: "e".into() }
    }

    fn misplaced(calls: &[Call]) -> Option<usize> {
        let journal = Journal(Rc::new(RefCell::new(calls.to_vec())));
        journal.misplaced().map(|(number, _)| number)
    }

    #[test]
    fn calls_out_of_place_are_found() {
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
