//! Random requests, and the events that each receives alone.

use ltt_read::{Merge, Timestamp};
use lttv_requests::{FinishReason, Urgency};
use proptest::prelude::*;
use proptest::sample::Index;

use super::sieve::{Sieve, SieveModel, sieve_model};
use super::tracesets::{Known, Sample};

/// A request in terms of the model: events are given by their numbers in order.
#[derive(Debug, Clone)]
pub(crate) struct ModelRequest {
    pub(crate) owner: usize,
    pub(crate) urgency: Urgency,
    pub(crate) start: Begin,
    pub(crate) end_time: Option<Index>,
    pub(crate) end_event: Option<Index>,
    pub(crate) most: Option<u64>,
    pub(crate) most_matches: Option<u64>,
    pub(crate) trace: Option<Index>,
    pub(crate) filter: FilterModel,
    pub(crate) hooks: Hooks,
    pub(crate) acts: Vec<(u64, Act)>,
    pub(crate) submit: Submit,
    /// `false` if the hooks do not use the state of extensions.
    pub(crate) uses_state: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum FilterModel {
    None,
    /// A function for events of even numbers.
    Even,
    /// A filter that tells in advance which events cannot pass.
    Sieve(SieveModel),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Begin {
    First,
    Time(Index),
    /// The position before an event, saved between reads if the flag is set, else in a
    /// hook.
    Event(Index, bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hooks {
    All,
    Dynamic,
    /// One hook for all events, and one for some.
    Both,
}

/// An action of an event hook at one of its calls.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Act {
    Stop,
    Yield,
    Cancel(Index),
    CancelOwner(usize),
    Panic,
}

/// The time of submission.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Submit {
    /// Before a call of the scheduler.
    Call(usize),
    /// By a hook of another request, at an event of that request.
    By(Index, u64),
    /// By the hook before another request.
    ByBefore(Index),
    /// By the hook after another request.
    ByAfter(Index),
}

/// An action between calls.
#[derive(Debug, Clone)]
pub(crate) enum Between {
    Nothing,
    Cancel(Index),
    CancelOwner(usize),
    StopAll,
    Pause,
    /// The application uses the context.
    Seek(Index),
    ResumeStates(usize),
}

pub(crate) fn model_request() -> impl Strategy<Value = ModelRequest> {
    let index = any::<Index>;
    let rarely = || prop::option::weighted(0.2, any::<Index>());
    let start = prop_oneof![
        2 => Just(Begin::First),
        3 => index().prop_map(Begin::Time),
        3 => (index(), any::<bool>()).prop_map(|(event, by_hook)| Begin::Event(event, by_hook)),
    ];
    let hooks = prop_oneof![Just(Hooks::All), Just(Hooks::Dynamic), Just(Hooks::Both)];
    let act = prop_oneof![
        3 => Just(Act::Stop),
        3 => Just(Act::Yield),
        1 => index().prop_map(Act::Cancel),
        1 => (0..3usize).prop_map(Act::CancelOwner),
        1 => Just(Act::Panic),
    ];
    let acts = prop::collection::vec((0..8u64, act), 0..2);
    let submit = prop_oneof![
        6 => Just(Submit::Call(0)),
        3 => (0..12usize).prop_map(Submit::Call),
        1 => (index(), 0..4u64).prop_map(|(by, call)| Submit::By(by, call)),
        1 => index().prop_map(Submit::ByBefore),
        1 => index().prop_map(Submit::ByAfter),
    ];
    let urgency = prop_oneof![Just(Urgency::LOW), Just(Urgency::NORMAL), Just(Urgency::HIGH)];
    let ends = (
        prop::option::weighted(0.5, index()),
        prop::option::weighted(0.3, index()),
        prop::option::weighted(0.3, 0..20u64),
        prop::option::weighted(0.2, 0..6u64),
    );
    let filter = prop_oneof![
        4 => Just(FilterModel::None),
        2 => Just(FilterModel::Even),
        6 => sieve_model().prop_map(FilterModel::Sieve),
    ];
    let what = (rarely(), filter, hooks, acts);
    let uses_state = prop::bool::weighted(0.6);
    (0..3usize, urgency, start, ends, what, submit, uses_state).prop_map(
        |(owner, urgency, start, ends, (trace, filter, hooks, acts), submit, uses_state)| {
            let (end_time, end_event, most, most_matches) = ends;
            ModelRequest {
                owner,
                urgency,
                start,
                end_time,
                end_event,
                most,
                most_matches,
                trace,
                filter,
                hooks,
                acts,
                submit,
                uses_state,
            }
        },
    )
}

/// Removes all actions that depend on other requests, and the difference between requests with and
/// without state, which are not read together.
pub(crate) fn plain(mut model: ModelRequest) -> ModelRequest {
    model.uses_state = true;
    model.submit = Submit::Call(0);
    model.acts.retain(|(_, act)| matches!(act, Act::Stop));
    model
}

pub(crate) fn between() -> impl Strategy<Value = Between> {
    let index = any::<Index>;
    prop_oneof![
        20 => Just(Between::Nothing),
        2 => index().prop_map(Between::Cancel),
        1 => (0..3usize).prop_map(Between::CancelOwner),
        1 => Just(Between::StopAll),
        2 => Just(Between::Pause),
        2 => index().prop_map(Between::Seek),
        1 => (0..3usize).prop_map(Between::ResumeStates),
    ]
}

/// Returns whether an event is of the type that some hooks subscribe to.
pub(crate) fn is_dynamic(event: Known) -> bool {
    event.number.is_multiple_of(3)
}

/// The calls that a request receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) first: usize,
    /// The number after the last event that had to be read for the request.
    pub(crate) end: usize,
    /// The events for which its hooks are called.
    pub(crate) calls: Vec<usize>,
    /// The events that the request goes through.
    pub(crate) events: u64,
    pub(crate) reason: FinishReason,
}

impl ModelRequest {
    pub(crate) fn trace(&self, sample: &Sample) -> Option<usize> {
        let traces = sample.traceset.traces().len();
        self.trace.filter(|_| traces > 0).map(|index| index.index(traces))
    }

    pub(crate) fn end_time(&self, times: &[Timestamp]) -> Option<Timestamp> {
        self.end_time.filter(|_| !times.is_empty()).map(|index| *index.get(times))
    }

    pub(crate) fn end_event(&self, sample: &Sample) -> Option<usize> {
        self.end_event.map(|index| index.index(sample.events.len() + 1))
    }

    pub(crate) fn first(&self, sample: &Sample, times: &[Timestamp]) -> usize {
        match self.start {
            Begin::First => 0,
            Begin::Time(_) if times.is_empty() => 0,
            Begin::Time(index) => sample.at(*index.get(times)),
            Begin::Event(index, _) => index.index(sample.events.len() + 1),
        }
    }

    /// Returns the filter that tells in advance which events cannot pass.
    pub(crate) fn sieve(&self, sample: &Sample, times: &[Timestamp]) -> Option<Sieve> {
        match &self.filter {
            FilterModel::Sieve(model) => Some(model.sieve(&sample.traceset, times)),
            FilterModel::None | FilterModel::Even => None,
        }
    }

    /// Returns whether the request may leave out events.
    pub(crate) fn leaves_out(&self) -> bool {
        matches!(self.filter, FilterModel::Sieve(_)) && self.most.is_none()
    }

    /// Returns whether a hook stops the request at one more event.
    pub(crate) fn acts_at(&self, call: u64) -> impl Iterator<Item = Act> {
        self.acts.iter().filter(move |(at, _)| *at == call).map(|(_, act)| *act)
    }

    /// Computes the calls that the request receives alone.
    pub(crate) fn alone(&self, sample: &Sample, times: &[Timestamp]) -> Share {
        let first = self.first(sample, times);
        let (end_time, end_event) = (self.end_time(times), self.end_event(sample));
        let trace = self.trace(sample);
        // Events of other times are mixed with those of the request.
        let mut merge = Merge::new(sample.traceset.traces());
        let delivered_by = end_time.and_then(|end| merge.delivered_by(end));
        let since = match self.start {
            Begin::Time(index) if !times.is_empty() => *index.get(times),
            _ => Timestamp::MIN,
        };
        let mut share = Share {
            first,
            end: first,
            calls: Vec::new(),
            events: 0,
            reason: FinishReason::Stopped,
        };
        let (mut stopped, mut panicked) = (false, false);
        let sieve = self.sieve(sample, times);
        loop {
            let next = sample.events.get(share.end);
            let at_end_time = |end| next.is_some_and(|event| event.time >= end);
            let reasons = [
                (panicked, FinishReason::Panicked),
                (stopped, FinishReason::Stopped),
                (self.most.is_some_and(|most| share.events >= most), FinishReason::EventCount),
                (
                    self.most_matches.is_some_and(|most| share.calls.len() as u64 >= most),
                    FinishReason::MatchCount,
                ),
                (next.is_none(), FinishReason::EndOfTraceset),
                (end_event.is_some_and(|end| end <= share.end), FinishReason::EndPosition),
                (delivered_by.is_some_and(at_end_time), FinishReason::EndTime),
            ];
            if let Some((_, reason)) = reasons.into_iter().find(|(holds, _)| *holds) {
                share.reason = reason;
                return share;
            }
            let number = share.end;
            share.end += 1;
            let event = sample.events[number];
            let time = sample.own_times[number];
            if time < since || end_time.is_some_and(|end| time >= end) {
                continue;
            }
            if trace.is_some_and(|trace| trace != event.trace) {
                continue;
            }
            share.events += u64::from(!self.leaves_out());
            let passes = match &self.filter {
                FilterModel::None => true,
                FilterModel::Even => event.number.is_multiple_of(2),
                FilterModel::Sieve(_) => {
                    sieve.as_ref().is_some_and(|s| s.passes_known(sample, number))
                }
            };
            if self.hooks == Hooks::Dynamic && !is_dynamic(event) || !passes {
                continue;
            }
            share.events += u64::from(self.leaves_out());
            let call = share.calls.len() as u64;
            share.calls.push(number);
            stopped = self.acts_at(call).any(|act| matches!(act, Act::Stop));
            panicked = self.acts_at(call).any(|act| matches!(act, Act::Panic));
        }
    }
}
