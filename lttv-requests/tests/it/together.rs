//! Requests that are served together receive the same events as each would alone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::Duration;

use crate::support::digest::Digest;
use crate::support::script::{
    Between, Hooks, ModelRequest, Share, Submit, between, is_dynamic, model_request, plain,
};
use crate::support::tracesets::config::cases;
use crate::support::tracesets::{Sample, sample};
use crate::support::world::{Entry, Planned, World};
use lttv_context::{CheckpointPolicy, TracesetContext};
use lttv_requests::{Budget, ChunkReport, FinishReason, Scheduler, Status};
use proptest::prelude::*;

/// The configuration and budget of the scheduler.
#[derive(Debug, Clone)]
struct Run {
    state: bool,
    checkpoints: Option<(u64, usize)>,
    resume_states: usize,
    shares: bool,
    budgets: Vec<(u64, bool)>,
    between: Vec<Between>,
}

fn run() -> impl Strategy<Value = Run> {
    let budget = (prop_oneof![1..4u64, 1..40u64, Just(6000)], prop::bool::weighted(0.1));
    let checkpoints = prop::option::of((1..10u64, 1..8usize));
    (
        any::<bool>(),
        checkpoints,
        0..4usize,
        prop::bool::weighted(0.7),
        prop::collection::vec(budget, 1..8),
        prop::collection::vec(between(), 1..20),
    )
        .prop_map(|(state, checkpoints, resume_states, shares, budgets, between)| Run {
            state,
            checkpoints,
            resume_states,
            shares,
            budgets,
            between,
        })
}

/// Serves requests. `None` if a hook panics by its script.
fn service_chunk(scheduler: &mut Scheduler<'static>, budget: Budget) -> Option<ChunkReport> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !panic.payload().is::<Planned>() {
                others(panic);
            }
        }));
    });
    match catch_unwind(AssertUnwindSafe(|| scheduler.service_chunk(budget))) {
        Ok(chunk) => Some(chunk),
        Err(panic) if panic.is::<Planned>() => None,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The sums of the results of all calls.
#[derive(Debug, Default)]
struct Total {
    read: u64,
    delivered: u64,
    calls: usize,
}

fn serve(
    sample: &Sample,
    script: &[ModelRequest],
    run: &Run,
) -> Result<(std::rc::Rc<World>, Total), TestCaseError> {
    let mut context = TracesetContext::new(&sample.traceset);
    let digest = run.state.then(|| context.attach(Digest::default()));
    if let Some((every, most)) = run.checkpoints {
        context.state().set_policy(CheckpointPolicy::every(every).memory(most * 400));
    }
    let mut scheduler = Scheduler::new(context);
    scheduler.set_resume_states(run.resume_states);
    scheduler.set_sharing(run.shares);
    let world = World::new(sample.clone(), script.to_vec(), digest);
    let mut total = Total::default();
    let mut finished = Vec::new();
    // The number of calls that panicked; the next chunk contains their results.
    let (mut panicked, mut panicked_events) = (0, 0);
    let most_calls = 100 + 10 * (sample.events.len() + 10) * (script.len() + 1);
    for call in 0.. {
        prop_assert!(call < most_calls, "requests do not end");
        for (request, model) in script.iter().enumerate() {
            if matches!(model.submit, Submit::Call(at) if at == call) {
                let id = scheduler.submit(world.request(request)).expect("a valid request");
                world.ids.borrow_mut()[request] = Some(id);
            }
        }
        let act = run.between.get(call).unwrap_or(&Between::Nothing);
        interfere(&mut scheduler, &world, act);
        let (events, timed) = run.budgets[call % run.budgets.len()];
        let budget = if timed {
            Budget::time(Duration::ZERO).and_events(events)
        } else {
            Budget::events(events)
        };
        let paused = matches!(act, Between::Pause);
        let pending = scheduler.pending().len();
        let Some(chunk) = service_chunk(&mut scheduler, budget) else {
            (panicked, panicked_events) = (panicked + 1, panicked_events + events);
            continue;
        };
        if paused {
            prop_assert_eq!(chunk.status, Status::Paused);
            prop_assert_eq!(scheduler.pending().len(), pending);
            prop_assert!(scheduler.resume());
            continue;
        }
        let events = events + std::mem::take(&mut panicked_events);
        let calls = 1 + std::mem::take(&mut panicked);
        prop_assert!(chunk.read + chunk.replayed <= events, "{:?} of {}", chunk, events);
        prop_assert!(chunk.seeks <= 2 * calls + events / 256);
        prop_assert_eq!(chunk.status == Status::Idle, scheduler.pending().len() == 0);
        if pending > 0 {
            let progress = chunk.read + chunk.replayed + chunk.seeks > 0;
            let changes = !chunk.started.is_empty() || !chunk.finished.is_empty();
            prop_assert!(progress || changes, "nothing done: {:?}", chunk);
        }
        total.read += chunk.read;
        total.delivered += chunk.delivered;
        finished.extend(chunk.finished);
        let later = script.iter().any(|a| matches!(a.submit, Submit::Call(at) if at > call));
        if chunk.status == Status::Idle && !later && call >= run.between.len() {
            total.calls = call;
            break;
        }
    }
    for end in finished {
        let at = world.ids.borrow().iter().position(|id| *id == Some(end.request));
        let at = at.expect("one that was submitted");
        prop_assert_eq!(end.owner, world.owners[script[at].owner]);
        let told = Entry::AfterRequest(end.reason);
        prop_assert_eq!(world.logs.borrow()[at].last().cloned(), Some(told));
        let share = script[at].alone(sample, &world.times);
        if end.reason == FinishReason::Cancelled {
            prop_assert!(end.events <= share.events);
        } else {
            prop_assert_eq!(end.events, share.events);
        }
    }
    Ok((world, total))
}

fn interfere(scheduler: &mut Scheduler<'static>, world: &World, act: &Between) {
    match act {
        Between::Nothing => {}
        Between::Cancel(index) => {
            let id = *index.get(&world.ids.borrow());
            if let Some(id) = id {
                scheduler.cancel(id);
                assert!(scheduler.pending().all(|pending| pending.request != id));
            }
        }
        Between::CancelOwner(owner) => {
            let owner = world.owners[*owner];
            let before = scheduler.pending().filter(|p| p.owner == owner).count();
            assert!(scheduler.cancel_owner(owner).len() >= before);
            assert!(scheduler.pending().all(|pending| pending.owner != owner));
        }
        Between::StopAll => {
            scheduler.stop_all();
            assert_eq!(scheduler.pending().len(), 0);
        }
        Between::Pause => scheduler.pause(),
        Between::Seek(index) => {
            if !world.times.is_empty() {
                scheduler.context_mut().seek_time(*index.get(&world.times));
            }
        }
        Between::ResumeStates(most) => scheduler.set_resume_states(*most),
    }
}

/// Checks the log of a request against its events when served alone.
fn check(
    model: &ModelRequest,
    share: &Share,
    log: &[Entry],
    sample: &Sample,
) -> Result<(), TestCaseError> {
    let traces: Vec<usize> = match model.trace(sample) {
        Some(trace) => vec![trace],
        None => (0..sample.traceset.traces().len()).collect(),
    };
    // The open levels, innermost last.
    let mut open: Vec<&Entry> = Vec::new();
    let mut calls = Vec::new();
    let mut second = Vec::new();
    let mut reason = None;
    for entry in log {
        prop_assert!(reason.is_none(), "call after the end");
        match entry {
            Entry::BeforeRequest => {
                prop_assert!(open.is_empty());
                open.push(entry);
            }
            Entry::BeforeChunk => {
                prop_assert_eq!(&open, &[&Entry::BeforeRequest]);
                open.push(entry);
            }
            Entry::BeforeTrace(trace) => {
                prop_assert_eq!(traces.get(open.len() - 2), Some(trace));
                open.push(entry);
            }
            Entry::Event(number, is_second) => {
                prop_assert_eq!(open.len(), 2 + traces.len());
                if *is_second { second.push(*number) } else { calls.push(*number) }
            }
            // Tracefiles come in the order of their traces.
            Entry::AfterTrace(trace) => {
                let at = open.iter().position(|o| **o == Entry::BeforeTrace(*trace));
                prop_assert!(at == Some(2));
                open.remove(2);
            }
            Entry::AfterChunk => prop_assert_eq!(open.pop(), Some(&Entry::BeforeChunk)),
            Entry::AfterRequest(why) => {
                prop_assert_eq!(open.pop(), Some(&Entry::BeforeRequest));
                prop_assert!(open.is_empty());
                reason = Some(*why);
            }
        }
    }
    if log.is_empty() {
        return Ok(());
    }
    prop_assert!(reason.is_some(), "request has not ended");
    prop_assert!(log.contains(&Entry::BeforeChunk));
    if reason == Some(FinishReason::Cancelled) {
        prop_assert!(share.calls.starts_with(&calls), "{:?}, alone {:?}", calls, share.calls);
    } else {
        prop_assert_eq!(&calls, &share.calls);
        prop_assert_eq!(reason, Some(share.reason));
    }
    // The other hook receives the same events, as far as its subscription includes them.
    if model.hooks == Hooks::Both {
        if reason == Some(FinishReason::Panicked) {
            // The first hook panicked at the last event.
            calls.pop();
        }
        calls.retain(|number| is_dynamic(sample.events[*number]));
        prop_assert_eq!(second, calls);
    }
    Ok(())
}

/// Returns the number of events that are in at least one of several ranges.
fn union<'a>(shares: impl Iterator<Item = &'a Share>, events: usize) -> u64 {
    let mut in_any = vec![false; events];
    for share in shares {
        in_any[share.first..share.end.max(share.first)].fill(true);
    }
    in_any.iter().filter(|is| **is).count() as u64
}

proptest! {
    #![proptest_config(cases(1024))]

    #[test]
    fn each_request_receives_what_it_receives_alone(
        sample in sample(),
        script in prop::collection::vec(model_request(), 1..8),
        run in run(),
    ) {
        let (world, _) = serve(&sample, &script, &run)?;
        for (model, log) in script.iter().zip(world.logs.borrow().iter()) {
            check(model, &model.alone(&sample, &world.times), log, &sample)?;
        }
    }

    #[test]
    fn each_stretch_is_read_once(
        sample in sample(),
        script in prop::collection::vec(model_request().prop_map(plain), 1..8),
        run in run(),
        one_level in any::<bool>(),
    ) {
        let mut script = script;
        if one_level {
            let urgency = script[0].urgency;
            script.iter_mut().for_each(|model| model.urgency = urgency);
        }
        let run = Run { between: vec![Between::Nothing], ..run };
        let (world, total) = serve(&sample, &script, &run)?;
        let shares: Vec<_> = script.iter().map(|a| a.alone(&sample, &world.times)).collect();
        for ((model, share), log) in script.iter().zip(&shares).zip(world.logs.borrow().iter()) {
            prop_assert!(!log.is_empty(), "request was not served");
            check(model, share, log, &sample)?;
        }
        prop_assert_eq!(total.delivered, shares.iter().map(|share| share.events).sum::<u64>());
        let events = sample.events.len();
        let mut levels: Vec<_> = script.iter().map(|model| model.urgency).collect();
        levels.sort();
        levels.dedup();
        let least: u64 = levels
            .iter()
            .map(|level| {
                let of_level = script.iter().zip(&shares).filter(|(model, _)| model.urgency == *level);
                union(of_level.map(|(_, share)| share), events)
            })
            .sum();
        // The context may look ahead where events are left out.
        let leaves_out = |model: &ModelRequest| model.leaves_out() || model.trace.is_some();
        if script.iter().any(leaves_out) {
            return Ok(());
        }
        if levels.len() == 1 {
            prop_assert_eq!(total.read, least);
        } else {
            prop_assert!(total.read <= least, "{} of {}", total.read, least);
        }
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn each_of_many_requests_receives_what_it_receives_alone(
        sample in sample(),
        script in prop::collection::vec(model_request(), 50..200),
        run in run(),
    ) {
        let (world, _) = serve(&sample, &script, &run)?;
        for (model, log) in script.iter().zip(world.logs.borrow().iter()) {
            check(model, &model.alone(&sample, &world.times), log, &sample)?;
        }
    }
}
