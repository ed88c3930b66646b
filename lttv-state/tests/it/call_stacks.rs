//! Call stacks are those of a naive model, whatever the events, and however a trace is divided.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::ust::{UstEvent, ust_trace};
use ltt_read::Timestamp;
use lttv_context::{Bounds, CheckpointPolicy, Traceset, TracesetContext};
use lttv_state::call_stacks::{
    CallAnomalies, CallRules, CallStackState, CallStacks, CallTarget, EventPair, Function, PairId,
    ThreadCalls, ThreadId, TraceCalls, call_stacks,
};
use lttv_state::flame_graph::FlameGraph;
use proptest::prelude::*;

/// The figures of a path: calls, sum, minimum and maximum of durations, and self time.
type Figures = (u64, u64, Option<u64>, Option<u64>, u64);

/// The figures by which the library and the model are compared.
#[derive(Debug, Default, PartialEq)]
struct Result {
    /// The figures by process, thread and path.
    paths: BTreeMap<(i64, i64, Vec<CallTarget>), Figures>,
    /// The open calls by process and thread, with the times of their entries.
    open: BTreeMap<(i64, i64), Vec<(CallTarget, i64)>>,
    depths: BTreeMap<(i64, i64), usize>,
    at_empty_stack: u64,
    not_on_stack: u64,
    by_callers: u64,
}

impl Result {
    fn of(calls: &TraceCalls) -> Self {
        let threads = calls.threads();
        let id = |thread: usize| match threads[thread].key.thread {
            ThreadId::Tid(tid) => (threads[thread].key.process.expect("a process"), tid),
            other => panic!("{other:?}"),
        };
        let mut result = Result::default();
        for path in calls.paths() {
            let (vpid, vtid) = id(path.thread);
            let functions = calls.path_functions(path.id);
            let codes = functions.iter().map(|id| calls.functions()[id.index()].code).collect();
            let of = path.figures.calls;
            let figures =
                (of.count(), of.total(), of.shortest(), of.longest(), path.figures.self_time);
            if figures.0 > 0 || figures.4 > 0 {
                result.paths.insert((vpid, vtid, codes), figures);
            }
        }
        for (at, thread) in threads.iter().enumerate() {
            let open = thread.open.iter().map(|call| (call.code, call.entered.as_ns()));
            result.open.insert(id(at), open.collect());
            result.depths.insert(id(at), thread.max_depth);
        }
        let CallAnomalies { exits_at_empty_stack, exits_not_on_stack, ended_by_callers, .. } =
            calls.anomalies();
        result.at_empty_stack = exits_at_empty_stack;
        result.not_on_stack = exits_not_on_stack;
        result.by_callers = ended_by_callers;
        result
    }
}

/// The stack of a thread, and the time of its last event.
type ModelStack = (Vec<(CallTarget, i64)>, i64);

/// The model: paths are lists, and everything is looked up by them.
#[derive(Debug, Default)]
struct Model {
    stacks: BTreeMap<(i64, i64), ModelStack>,
    result: Result,
    /// The bounds of the window: of times, and of the events that count.
    window: Option<(i64, i64)>,
}

impl Model {
    fn charge(&mut self, thread: (i64, i64), time: i64) {
        let (stack, last) = self.stacks.get_mut(&thread).expect("a thread");
        let (mut from, mut to) = (*last, time);
        *last = time;
        if let Some((start, end)) = self.window {
            (from, to) = (from.max(start), to.min(end));
        }
        if !stack.is_empty() && from < to {
            let path = stack.iter().map(|(code, _)| *code).collect();
            self.result.paths.entry((thread.0, thread.1, path)).or_default().4 += from.abs_diff(to);
        }
    }

    fn counts(&self, time: i64) -> bool {
        self.window.is_none_or(|(start, end)| (start..end).contains(&time))
    }

    fn step(&mut self, event: &UstEvent) {
        let thread = (event.vpid, event.vtid);
        let time = event.time as i64;
        let counts = self.counts(time);
        self.stacks.entry(thread).or_insert((Vec::new(), time));
        let address = event.fields.first().map(|(_, value)| *value as u64);
        let (is_entry, code) = match event.name {
            "app:begin" => (true, Some(CallTarget::EventPair(PairId(0)))),
            "app:end" => (false, Some(CallTarget::EventPair(PairId(0)))),
            name => (name.ends_with("entry"), address.map(CallTarget::Address)),
        };
        let stack = self.stacks[&thread].0.clone();
        if is_entry {
            self.charge(thread, time);
            let stack = &mut self.stacks.get_mut(&thread).expect("a thread").0;
            stack.push((code.expect("an address"), time));
            if counts {
                let depth = self.result.depths.entry(thread).or_default();
                *depth = (*depth).max(stack.len());
            }
            return;
        }
        let Some((top, _)) = stack.last() else {
            self.result.at_empty_stack += u64::from(counts);
            return;
        };
        let code = code.unwrap_or(*top);
        if !stack.iter().any(|(of, _)| *of == code) {
            self.result.not_on_stack += u64::from(counts);
            return;
        }
        self.charge(thread, time);
        loop {
            let stack = &mut self.stacks.get_mut(&thread).expect("a thread").0;
            let mut path: Vec<CallTarget> = stack.iter().map(|(code, _)| *code).collect();
            let Some((ended, entered)) = stack.pop() else { return };
            let (duration, path) = (time.abs_diff(entered), std::mem::take(&mut path));
            if counts {
                let of = self.result.paths.entry((thread.0, thread.1, path)).or_default();
                of.0 += 1;
                of.1 += duration;
                of.2 = Some(of.2.map_or(duration, |min| min.min(duration)));
                of.3 = Some(of.3.map_or(duration, |max| max.max(duration)));
            }
            if ended == code {
                return;
            }
            self.result.by_callers += u64::from(counts);
        }
    }

    fn result(events: &[UstEvent]) -> Result {
        let mut model = Model::default();
        events.iter().for_each(|event| model.step(event));
        model.finish()
    }

    fn finish(mut self) -> Result {
        for (thread, (stack, _)) in self.stacks {
            self.result.open.insert(thread, stack);
            self.result.depths.entry(thread).or_default();
        }
        self.result
    }

    /// The events before the window move the stacks, and those after it are left out.
    fn window(events: &[UstEvent], start: i64, end: i64) -> Result {
        let mut model = Model { window: Some((start, start)), ..Model::default() };
        let (before, rest): (Vec<_>, Vec<_>) =
            events.iter().cloned().partition(|event| (event.time as i64) < start);
        before.iter().for_each(|event| model.step(event));
        model.window = Some((start, end));
        for (thread, (stack, _)) in &model.stacks {
            model.result.depths.insert(*thread, stack.len());
        }
        rest.iter().filter(|event| (event.time as i64) < end).for_each(|event| model.step(event));
        let threads: Vec<_> = model.stacks.keys().copied().collect();
        let last = events.last().map_or(start, |event| event.time as i64);
        threads.into_iter().for_each(|thread| model.charge(thread, end.min(last).max(start)));
        model.finish()
    }
}

fn rules(traceset: &Traceset) -> CallRules {
    let pair =
        EventPair::of_events("request", "app:begin", "name == app:end").expect("expressions");
    CallRules::with_pairs(&[pair], traceset.traces()).expect("the events are declared")
}

/// Random events: mostly entries and exits that match, of few functions and threads.
fn events() -> impl Strategy<Value = Vec<UstEvent>> {
    let event = (0..3_u64, 0..3_i64, 0..2_i64, 0..12_u32, 0..4_i64, 0..30_u64);
    proptest::collection::vec(event, 0..200).prop_map(|events| {
        let mut time = 1_000;
        let mut stacks: BTreeMap<(i64, i64), Vec<i64>> = BTreeMap::new();
        let mut make = |(cpu, vtid, vpid, kind, address, step)| {
            time += step;
            let thread = (cpu, vpid, vtid);
            let stack = stacks.entry((vpid, vtid)).or_default();
            let entry = "lttng_ust_cyg_profile:func_entry";
            let exit = "lttng_ust_cyg_profile:func_exit";
            let (name, fields): (_, Vec<(&'static str, i64)>) = match kind {
                0..=4 => {
                    stack.push(address);
                    (entry, vec![("addr", address)])
                }
                // An exit from the innermost function.
                5..=8 => match stack.pop() {
                    Some(top) => (exit, vec![("addr", top)]),
                    None => (exit, vec![("addr", address)]),
                },
                9 => (exit, vec![("addr", address)]),
                10 => ("lttng_ust_cyg_profile_fast:func_exit", vec![]),
                _ if address < 2 => ("app:begin", vec![("id", 1)]),
                _ => ("app:end", vec![("id", 1)]),
            };
            UstEvent::new(time, thread, name, &fields)
        };
        let mut events: Vec<_> = events.into_iter().map(&mut make).collect();
        // At equal times, events are in the order of CPUs.
        events.sort_by_key(|event| (event.time, event.cpu));
        events
    })
}

/// Reads a window.
fn window(traceset: &Traceset, start: i64, end: Option<i64>) -> CallStacks {
    let mut context = TracesetContext::new(traceset);
    let stacks = context.attach(CallStackState::new(rules(traceset)));
    context.state().set_policy(CheckpointPolicy::default());
    let (start, end) = (Timestamp::from_ns(start), end.map(Timestamp::from_ns));
    context.state().seek_time(start);
    let bounds = match end {
        Some(end) => {
            let calls = CallStacks::attach_window(&mut context, stacks, start..end);
            (calls, Bounds::all().until(end))
        }
        None => (CallStacks::attach_window(&mut context, stacks, start..), Bounds::all()),
    };
    let (calls, bounds) = bounds;
    assert_eq!(context.read(&bounds).expect("bounds without a position").errors, 0);
    calls.take(context.extensions())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn figures_are_those_of_the_model(events in events(), packet in 150..600_u64) {
        let traceset = ust_trace(&events, packet);
        let expected = Model::result(&events);
        for threads in [1, 2] {
            let found = call_stacks(&traceset, &rules(&traceset), threads).calls;
            prop_assert_eq!(&Result::of(&found.traces()[0]), &expected, "{} threads", threads);
        }
    }

    #[test]
    fn windows_are_those_of_the_model_and_add_up(
        events in events(),
        cuts in proptest::collection::vec(900..7_000_i64, 2),
    ) {
        let traceset = ust_trace(&events, 300);
        let (start, end) = (cuts[0].min(cuts[1]), cuts[0].max(cuts[1]));
        let found = window(&traceset, start, Some(end));
        prop_assert_eq!(&Result::of(&found.traces()[0]), &Model::window(&events, start, end));

        let mut parts = window(&traceset, 0, Some(start));
        parts.add(&window(&traceset, start, Some(end)));
        parts.add(&window(&traceset, end, Some(100_000)));
        let whole = window(&traceset, 0, Some(100_000));
        prop_assert_eq!(Result::of(&parts.traces()[0]), Result::of(&whole.traces()[0]));
    }
}

/// Returns the calls of one thread, whose events are a microsecond apart.
fn of_one_thread(events: &[(&'static str, i64)]) -> CallStacks {
    let event = |(at, (name, address)): (usize, &(&'static str, i64))| {
        UstEvent::new(1_000 * at as u64, (0, 1, 1), name, &[("addr", *address)])
    };
    let events: Vec<_> = events.iter().enumerate().map(event).collect();
    call_stacks(&ust_trace(&events, 1 << 16), &CallRules::default(), 1).calls
}

const ENTRY: &str = "lttng_ust_cyg_profile:func_entry";
const EXIT: &str = "lttng_ust_cyg_profile:func_exit";

#[test]
fn recursion_without_end_is_cut_and_counted() {
    let limit = 1 << 14;
    let mut events: Vec<_> = (0..3 * limit).map(|_| (ENTRY, 7)).collect();
    events.extend((0..3 * limit).map(|_| (EXIT, 7)));
    let calls = of_one_thread(&events);
    let [trace] = calls.traces() else { panic!("one trace") };
    let thread = &trace.threads()[0];
    assert_eq!((thread.max_depth, thread.calls), (limit, limit as u64));
    assert!(thread.open.is_empty(), "calls that do not fit end first");
    assert_eq!(trace.anomalies().too_deep, 2 * limit as u64);
    let function = trace.function_figures()[0];
    let time = 1_000 * (6 * limit as u64 - 1);
    assert_eq!((function.total_time, function.self_time), (time, time), "recursion counts once");

    let mut graph = FlameGraph::new();
    graph.add_calls(trace, |_| Some(Vec::new()), |_| "f".into());
    assert_eq!((graph.max_depth(), graph.node(0).total), (1 << 10, time));
}

#[test]
fn call_paths_beyond_the_limit_are_counted() {
    let limit = 1 << 20;
    let events: Vec<_> =
        (0..limit + 10).flat_map(|address| [(ENTRY, address), (EXIT, address)]).collect();
    let calls = of_one_thread(&events);
    let [trace] = calls.traces() else { panic!("one trace") };
    // The omitted path and the root of the thread are paths as well.
    assert_eq!((trace.paths().len(), trace.anomalies().omitted_calls), (limit as usize - 2, 12));
}

#[test]
fn times_that_go_back_count_as_no_time() {
    let event = |(cpu, time, name)| UstEvent::new(time, (cpu, 1, 1), name, &[("addr", 1)]);
    // Within a tracefile, an event comes after the previous one whatever its time.
    let events = [(0, 500, ENTRY), (0, 900, EXIT), (0, 300, ENTRY), (0, 400, EXIT)].map(event);
    let calls = call_stacks(&ust_trace(&events, 4096), &CallRules::default(), 1).calls;
    let function = calls.traces()[0].function_figures()[0];
    let durations = function.calls;
    assert_eq!(
        (durations.count(), durations.shortest(), durations.longest()),
        (2, Some(0), Some(400))
    );
    assert_eq!(function.self_time, 400);
}

#[test]
fn flame_graphs_put_threads_and_processes_together() {
    let mut events = Vec::new();
    for (at, (vpid, vtid)) in [(1, 1), (1, 2), (2, 3)].into_iter().enumerate() {
        let at = 10_000 * at as u64;
        events.push(UstEvent::new(at, (0, vpid, vtid), ENTRY, &[("addr", 1)]));
        events.push(UstEvent::new(at + 100, (0, vpid, vtid), ENTRY, &[("addr", 2)]));
        events.push(UstEvent::new(at + 250, (0, vpid, vtid), EXIT, &[("addr", 2)]));
        events.push(UstEvent::new(at + 300, (0, vpid, vtid), EXIT, &[("addr", 1)]));
    }
    let calls = call_stacks(&ust_trace(&events, 4096), &CallRules::default(), 1).calls;
    let folded = |place: fn(&ThreadCalls) -> Option<Vec<Arc<str>>>| {
        let name = |function: &Function| match function.code {
            CallTarget::Address(address) => format!("f;{address}\n").into(),
            other => unreachable!("there are only functions: {other:?}"),
        };
        let (mut graph, mut folded) = (FlameGraph::new(), Vec::new());
        graph.add_calls(&calls.traces()[0], place, name);
        graph.write_folded(&mut folded).expect("a vector");
        String::from_utf8(folded).expect("UTF-8")
    };
    assert_eq!(folded(|_| Some(Vec::new())), "f:1  450\nf:1 ;f:2  450\n");
    let of_process_1 = |thread: &ThreadCalls| {
        let process = thread.key.process.expect("a process");
        (process == 1).then(|| vec![format!("{process}").into()])
    };
    assert_eq!(folded(of_process_1), "1;f:1  300\n1;f:1 ;f:2  300\n");
}

#[test]
fn flame_charts_put_short_calls_together() {
    let mut events = vec![UstEvent::new(1_000, (0, 1, 1), ENTRY, &[("addr", 1)])];
    for at in 0..10 {
        events.push(UstEvent::new(1_100 + 10 * at, (0, 1, 1), ENTRY, &[("addr", 2)]));
        events.push(UstEvent::new(1_105 + 10 * at, (0, 1, 1), EXIT, &[("addr", 2)]));
    }
    events.push(UstEvent::new(1_500, (0, 1, 1), ENTRY, &[("addr", 3)]));
    events.push(UstEvent::new(1_900, (0, 1, 1), EXIT, &[("addr", 3)]));
    events.push(UstEvent::new(2_500, (0, 1, 1), EXIT, &[("addr", 1)]));
    let traceset = ust_trace(&events, 4096);
    let chart = |resolution: u64, limit: usize| {
        let mut context = TracesetContext::new(&traceset);
        let stacks = context.attach(CallStackState::new(CallRules::default()));
        let window = Timestamp::from_ns(1_050)..Timestamp::from_ns(2_000);
        context.state().seek_time(window.start);
        let calls = CallStacks::attach_window(&mut context, stacks, window.clone());
        calls.record_chart(context.extensions_mut(), resolution, limit);
        assert_eq!(context.read(&Bounds::all()).expect("no position").errors, 0);
        let calls = calls.take(context.extensions());
        let spans = calls.traces()[0].chart().into_iter().map(|span| {
            let (start, end) = (span.times.start.as_ns(), span.times.end.as_ns());
            (span.depth, start, end, span.calls, span.begins_before, span.is_open)
        });
        (spans.collect::<Vec<_>>(), calls.traces()[0].chart_omitted())
    };
    let spans = vec![
        (0, 1_050, 2_000, 1, true, true),
        (1, 1_100, 1_195, 10, false, false),
        (1, 1_500, 1_900, 1, false, false),
    ];
    assert_eq!(chart(50, 100), (spans, 0));
    assert_eq!(chart(0, 100).0.len(), 12);
    assert_eq!(chart(0, 5).1, 7);
}
