//! Hooks before and after requests and chunks at all levels, compared with nested loops.

use std::cell::RefCell;
use std::rc::Rc;

use crate::support::tracesets::config::cases;
use crate::support::tracesets::{Sample, sample};
use ltt_read::TraceIndex;
use lttv_context::{Level, ReadCall, TracesetContext};
use lttv_hooks::Priority;
use lttv_requests::{Budget, EventsRequest, FinishReason, HookPlace, Owner, Scheduler};
use proptest::prelude::*;
use proptest::sample::Index;

/// A moment at which hooks are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    BeforeRequest,
    BeforeChunk,
    AfterChunk,
    AfterRequest,
}

use Moment::{AfterChunk, AfterRequest, BeforeChunk, BeforeRequest};

/// A hook: its moment, level and priority.
type Hook = (Moment, usize, u8);

const LEVELS: [Level; 3] = [Level::Traceset, Level::Trace, Level::Tracefile];

#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    /// The call of a hook of this number for a trace and a tracefile.
    Call(Moment, usize, Option<usize>, Option<usize>),
    Event,
}

/// Computes the calls at a moment.
fn calls(hooks: &[Hook], moment: Moment, sample: &Sample, only: Option<usize>) -> Vec<Entry> {
    let at = |level: usize, trace: Option<usize>, tracefile: Option<usize>| {
        let own = hooks.iter().enumerate().filter(|(_, (m, l, _))| (*m, *l) == (moment, level));
        let mut own: Vec<_> = own.map(|(number, (_, _, priority))| (*priority, number)).collect();
        own.sort_unstable();
        own.into_iter().map(move |(_, number)| Entry::Call(moment, number, trace, tracefile))
    };
    let is_before = matches!(moment, BeforeRequest | BeforeChunk);
    let mut all = Vec::new();
    let around = |all: &mut Vec<Entry>, whole: Vec<Entry>, inner: Vec<Entry>| {
        let (first, second) = if is_before { (whole, inner) } else { (inner, whole) };
        all.extend(first);
        all.extend(second);
    };
    let mut traces = Vec::new();
    for (number, trace) in sample.traceset.traces().iter().enumerate() {
        if only.is_some_and(|only| only != number) {
            continue;
        }
        let tracefiles = 0..trace.tracefiles().len();
        let inner = tracefiles.flat_map(|tracefile| at(2, Some(number), Some(tracefile)));
        around(&mut traces, at(1, Some(number), None).collect(), inner.collect());
    }
    around(&mut all, at(0, None, None).collect(), traces);
    all
}

fn hook() -> impl Strategy<Value = Hook> {
    let moment = prop::sample::select(vec![BeforeRequest, BeforeChunk, AfterChunk, AfterRequest]);
    (moment, 0..3usize, prop::sample::select(vec![0, 49, 50, 99]))
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn hooks_are_called_by_level_and_priority(
        sample in sample(),
        hooks in prop::collection::vec(hook(), 0..12),
        trace in prop::option::weighted(0.3, any::<Index>()),
        budget in 1..20u64,
        cancelled in prop::option::weighted(0.2, 0..4usize),
    ) {
        let traces = sample.traceset.traces().len();
        let trace = trace.filter(|_| traces > 0).map(|index| index.index(traces));
        let log: Rc<RefCell<Vec<Entry>>> = Rc::default();
        let mut request = EventsRequest::new(Owner::unique());
        for (number, (moment, level, priority)) in hooks.iter().copied().enumerate() {
            let place = HookPlace::at(LEVELS[level]);
            let place = place.priority(Priority::new(priority).expect("a priority"));
            let log = log.clone();
            let note = move |call: &ReadCall<'_, '_>| {
                let trace = call.trace.map(|trace| trace.index().0);
                let tracefile = call.tracefile.map(|tracefile| tracefile.index().0);
                log.borrow_mut().push(Entry::Call(moment, number, trace, tracefile));
            };
            request = match moment {
                BeforeRequest => request.before_request_at(place, move |call, _| note(call)),
                BeforeChunk => request.before_chunk(place, move |call, _| note(call)),
                AfterChunk => request.after_chunk(place, move |call, _| note(call)),
                AfterRequest => request.after_request_at(place, move |call, _, _| note(call)),
            };
        }
        let events = log.clone();
        request = request.on_every_event(move |_, _| events.borrow_mut().push(Entry::Event));
        if let Some(trace) = trace {
            request = request.in_trace(TraceIndex(trace));
        }
        let mut scheduler = Scheduler::new(TracesetContext::new(&sample.traceset));
        let id = scheduler.submit(request).expect("a valid request");
        let (mut chunks, mut reason, mut is_cancelled) = (0, None, false);
        while reason.is_none() {
            if cancelled == Some(chunks) {
                let end = scheduler.cancel(id).expect("it has not ended");
                prop_assert_eq!(end.started, chunks > 0);
                (reason, is_cancelled) = (Some(end.reason), true);
                break;
            }
            let chunk = scheduler.service_chunk(Budget::events(budget));
            chunks += 1;
            reason = chunk.finished.first().map(|end| end.reason);
        }
        let expected = match is_cancelled {
            true => FinishReason::Cancelled,
            false => FinishReason::EndOfTraceset,
        };
        prop_assert_eq!(reason, Some(expected));
        let log = log.take();
        let mut rest = &log[..];
        let expect = |rest: &mut &[Entry], moment| {
            let wanted = calls(&hooks, moment, &sample, trace);
            let (now, later) = rest.split_at(wanted.len().min(rest.len()));
            *rest = later;
            (now.to_vec(), wanted)
        };
        if chunks > 0 {
            let (now, wanted) = expect(&mut rest, BeforeRequest);
            prop_assert_eq!(now, wanted);
            for _ in 0..chunks {
                let (now, wanted) = expect(&mut rest, BeforeChunk);
                prop_assert_eq!(now, wanted);
                let events = rest.iter().take_while(|entry| **entry == Entry::Event).count();
                rest = &rest[events..];
                let (now, wanted) = expect(&mut rest, AfterChunk);
                prop_assert_eq!(now, wanted);
            }
            let (now, wanted) = expect(&mut rest, AfterRequest);
            prop_assert_eq!(now, wanted);
        }
        prop_assert!(rest.is_empty(), "{:?}", rest);
    }
}
