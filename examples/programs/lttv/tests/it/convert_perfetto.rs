//! `lttv convert --to perfetto`: states and events as trace events.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::support::convert::{Random, converted, dump, kernel, seconds, span};
use lttv_context::{Bounds, EventCall, Subscription, Traceset, TracesetContext};
use lttv_hooks::Priority;
use lttv_state::kernel::{KernelState, Transition};
use serde_json::Value;

/// The ids of a process and a thread.
type Track = (i64, i64);

/// A slice with a name, a start and an end in ns.
type Slice = (String, i64, i64);

/// The trace events of a file, as a viewer shows them.
#[derive(Debug, Default)]
struct Shown {
    slices: BTreeMap<Track, Vec<Slice>>,
    /// The starts of slices without an end.
    open: Vec<(Track, String, i64)>,
    marks: usize,
    names: BTreeMap<Track, String>,
    /// By number: the start of an arrow, and its end.
    arrows: BTreeMap<i64, [Option<(Track, i64)>; 2]>,
}

/// Converts a window of the bundled kernel trace, and reads the result as a viewer does: trace
/// events in the order of time, those of equal times in the order of the file.
fn shown(folder: &Path, name: &str, args: &[&str]) -> Shown {
    let file = converted(folder, name, &[&["--to", "perfetto"], args].concat());
    let json: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let zero: i64 = json["otherData"]["zero_ns"].as_str().unwrap().parse().unwrap();
    let mut events: Vec<&Value> = json["traceEvents"].as_array().unwrap().iter().collect();
    events.sort_by_key(|event| event.get("ts").map_or(0, ns));
    let mut shown = Shown::default();
    let mut started: BTreeMap<Track, Vec<(String, i64)>> = BTreeMap::new();
    for event in events {
        let track = (event["pid"].as_i64().unwrap(), event["tid"].as_i64().unwrap());
        let name = event["name"].as_str().unwrap().to_owned();
        let time = zero + event.get("ts").map_or(0, ns);
        match event["ph"].as_str().unwrap() {
            "X" => {
                let end = time + ns(&event["dur"]);
                shown.slices.entry(track).or_default().push((name, time, end));
            }
            "B" => started.entry(track).or_default().push((name, time)),
            "E" => {
                let (name, since) = started.get_mut(&track).and_then(Vec::pop).expect("a start");
                shown.slices.entry(track).or_default().push((name, since, time));
            }
            "i" => shown.marks += 1,
            "s" => {
                shown.arrows.entry(event["id"].as_i64().unwrap()).or_default()[0] =
                    Some((track, time))
            }
            "f" => {
                shown.arrows.entry(event["id"].as_i64().unwrap()).or_default()[1] =
                    Some((track, time))
            }
            "M" if name == "thread_name" => {
                let name = event["args"]["name"].as_str().unwrap().to_owned();
                shown.names.insert(track, name);
            }
            "M" => {}
            other => panic!("{other}"),
        }
    }
    for (track, started) in started {
        shown.open.extend(started.into_iter().map(|(name, time)| (track, name, time)));
    }
    shown
}

/// Returns a time in ns. The format has microseconds, which viewers read as floating-point numbers.
fn ns(time: &Value) -> i64 {
    (time.as_f64().unwrap() * 1000.0).round() as i64
}

/// The facts of the kernel state in a window, counted event by event.
#[derive(Debug, Default)]
struct Facts {
    /// By CPU, the ids of the processes that run, each once for each time.
    runs: BTreeMap<u32, Vec<i32>>,
    /// The system calls that start and end in the window.
    calls: usize,
    interrupts: usize,
    /// The threads that were woken up in the window and ran then.
    wakeups: usize,
    last: i64,
}

fn facts(begin: i64, end: i64) -> Facts {
    let mut context = TracesetContext::new(Traceset::open(kernel()).unwrap());
    let kernel = context.attach(KernelState::new());
    let sets = (BTreeSet::<i32>::new(), BTreeSet::<i32>::new());
    let facts = context.attach_data((Facts::default(), sets));
    let every = Subscription::to_every_event().priority(Priority::new(30).unwrap());
    context.on_event(every, move |call: &mut EventCall<'_, '_>| {
        let time = call.event.timestamp().unwrap().as_ns();
        let cpu = call.extensions[kernel].cpu_of(call).unwrap();
        let (trace, id) = (call.event.trace_index(), call.event.type_id());
        let Some((facts, kernel)) = call.extensions.get_pair_mut(facts, kernel) else { return };
        let (facts, (woken, calling)) = facts;
        let (Some(transition), state) =
            (kernel.transition(trace, id), kernel.trace(trace).unwrap())
        else {
            return;
        };
        if time > end {
            return;
        }
        let tid = state.running(cpu).and_then(|process| process.tid());
        let runs = facts.runs.entry(cpu).or_default();
        match time < begin {
            true => *runs = tid.into_iter().collect(),
            false if tid != runs.last().copied() => runs.extend(tid),
            false => {}
        }
        if time < begin {
            return;
        }
        facts.last = time;
        facts.interrupts +=
            usize::from(state.effect().ended().is_some_and(|ended| ended.source.is_some()));
        let subject = state.effect().subject().and_then(|subject| state.process(subject)?.tid());
        let ends = match transition {
            Transition::SyscallEntry => {
                // A call without an exit, such as `execve` in another thread, ends here.
                let is_open = tid.is_some_and(|tid| calling.contains(&tid));
                calling.extend(tid.filter(|tid| *tid != 0));
                is_open
            }
            Transition::SyscallExit => tid.is_some_and(|tid| calling.remove(&tid)),
            Transition::Exit => subject.is_some_and(|tid| calling.remove(&tid)),
            _ => false,
        };
        facts.calls += usize::from(ends);
        if transition == Transition::Switch && woken.remove(&tid.unwrap_or(0)) {
            facts.wakeups += 1;
        }
        if transition == Transition::Wakeup {
            woken.extend(subject.filter(|tid| *tid != 0));
        }
    });
    assert_eq!(context.read(&Bounds::all()).unwrap().errors, 0);
    std::mem::take(&mut context.extensions_mut()[facts].0)
}

#[test]
fn the_whole_trace_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let (first, last) = span(&dump(&kernel(), &[]));
    check(&shown(folder.path(), "all.json", &[]), first, last, true);
}

#[test]
fn windows_show_what_is_open_at_their_begin_and_end() {
    let folder = tempfile::tempdir().unwrap();
    let (first, last) = span(&dump(&kernel(), &[]));
    let mut random = Random(11);
    let mut open = 0;
    for number in 0..10 {
        let begin = first + random.below(last - first);
        let end = begin + random.below(last - begin);
        let args = ["--begin", &seconds(begin), "--end", &seconds(end)];
        let shown = shown(folder.path(), &format!("{number}.json"), &args);
        open += shown.slices.values().flatten().filter(|(_, from, _)| *from == begin).count();
        check(&shown, begin, end, false);
    }
    assert!(open > 10, "nothing is open at the begin of a window");
}

/// Compares what is shown with the facts.
fn check(shown: &Shown, begin: i64, end: i64, is_whole: bool) {
    let facts = facts(begin, end);
    for (cpu, runs) in &facts.runs {
        let slices = shown.slices.get(&(0, i64::from(*cpu))).map_or(&[][..], Vec::as_slice);
        let found: Vec<i32> = slices.iter().map(|(name, ..)| tid(name)).collect();
        assert_eq!(&found, runs, "CPU {cpu}");
        for pair in slices.windows(2) {
            assert!(pair[0].2 <= pair[1].1, "CPU {cpu}: {pair:?} overlap");
        }
        let is_open = slices.last().is_some_and(|(_, _, to)| *to == facts.last);
        assert!(is_open, "CPU {cpu}: the last slice does not reach the end of the window");
    }
    // Exceptions are on the tracks of threads, which have slices of the page faults.
    let inside = |(_, from, to): &Slice| *from >= begin && from <= to && *to <= end;
    assert!(shown.slices.values().flatten().all(inside));
    let interrupts = shown.slices.iter().filter(|(track, _)| track.1 >= 1_000_000 && track.0 == 0);
    let interrupts: usize = interrupts.map(|(_, slices)| slices.len()).sum();
    let open_interrupts = interrupts.saturating_sub(facts.interrupts);
    assert!(interrupts >= facts.interrupts && open_interrupts <= 2 * facts.runs.len());
    let is_thread = |track: &Track| track.0 != 0;
    let calls = shown.slices.iter().filter(|(track, _)| is_thread(track)).flat_map(|(_, of)| of);
    let calls = calls.filter(|(name, ..)| !name.starts_with("trap")).count();
    match is_whole {
        true => assert_eq!(calls, facts.calls),
        false => assert!(calls >= facts.calls),
    }
    let arrived = shown.arrows.values().filter(|ends| ends[1].is_some()).count();
    assert_eq!(arrived, facts.wakeups);
    for [from, to] in shown.arrows.values() {
        let (_, since) = from.expect("an arrow has a start");
        if let Some((track, time)) = to {
            assert!(since <= *time);
            let starts = |(_, from, _): &Slice| from == time;
            assert!(shown.slices[track].iter().any(starts), "an arrow leads to no slice");
        }
    }
}

fn tid(name: &str) -> i32 {
    match name {
        "idle" => 0,
        name => name.rsplit(['(', ')']).nth(1).unwrap().parse().unwrap(),
    }
}

/// The periods of the user are those of `lttv spans`, cut at the begin of the window.
#[test]
fn periods_are_those_of_spans() {
    let folder = tempfile::tempdir().unwrap();
    let define = concat!(env!("CARGO_MANIFEST_DIR"), "/../../definitions/writes.toml");
    for (name, window) in
        [("whole.json", &[][..]), ("part.json", &["--begin=1795233416.43", "--end=1795233416.56"])]
    {
        let args = [&["--to", "perfetto", "--define", define], window].concat();
        let file = converted(folder.path(), name, &args);
        let json: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        let zero: i64 = json["otherData"]["zero_ns"].as_str().unwrap().parse().unwrap();
        let mut slices: BTreeMap<i64, (i64, Option<i64>, String, Track, Value)> = BTreeMap::new();
        for event in json["traceEvents"].as_array().unwrap() {
            let (kind, id) = (event["ph"].as_str().unwrap(), event["id"].as_i64());
            let time = || zero + ns(&event["ts"]);
            match kind {
                "b" => {
                    assert_eq!(event["cat"], "write");
                    let name = event["name"].as_str().unwrap().to_owned();
                    let track = (event["pid"].as_i64().unwrap(), event["tid"].as_i64().unwrap());
                    let slice = (time(), None, name, track, event["args"].clone());
                    assert!(slices.insert(id.unwrap(), slice).is_none());
                }
                "e" => slices.get_mut(&id.unwrap()).unwrap().1 = Some(time()),
                _ => {}
            }
        }
        let mut found: Vec<_> = slices.into_values().map(|of| format!("{of:?}")).collect();
        let args = ["spans", "--no-cache", "--format=json", "--family=period", "--define", define];
        let args = [&args[..], window].concat();
        let run = crate::support::run(
            &crate::support::lttv(),
            &args,
            Some(&kernel()),
            std::time::Duration::from_secs(60),
        );
        let text = String::from_utf8(run.stdout).unwrap();
        let spans = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let begin = match window.is_empty() {
            true => i64::MIN,
            false => 1_795_233_416_430_000_000,
        };
        let mut expected: Vec<_> = spans
            .map(|span| {
                let number = |name: &str| span[name].as_i64();
                let end = number("end").filter(|_| span["completeness"] != "no-end");
                let track = (number("pid").unwrap(), number("tid").unwrap());
                let name = span["name"].as_str().unwrap().to_owned();
                let begin = number("begin").unwrap().max(begin);
                format!("{:?}", (begin, end, name, track, span["values"].clone()))
            })
            .collect();
        found.sort();
        expected.sort();
        assert!(found.len() > 10, "{name}: {}", found.len());
        assert_eq!(found, expected, "{name}");
    }
}

/// Returns the values of a counter in a file by series: each with its time in ns.
fn counters(file: &Path) -> BTreeMap<String, Vec<(i64, i64)>> {
    let json: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let zero: i64 = json["otherData"]["zero_ns"].as_str().unwrap().parse().unwrap();
    let mut found: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
    for event in json["traceEvents"].as_array().unwrap().iter().filter(|of| of["ph"] == "C") {
        let value = event["args"]["B"].as_i64().unwrap();
        let name = event["name"].as_str().unwrap().to_owned();
        found.entry(name).or_default().push((zero + ns(&event["ts"]), value));
    }
    found
}

#[test]
fn counters_have_each_value_of_their_events() {
    let folder = tempfile::tempdir().unwrap();
    let define = concat!(env!("CARGO_MANIFEST_DIR"), "/../../definitions/writes.toml");
    let mut sums: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
    let args = ["dump", "--no-cache", "--format=json", "-e", "syscall_exit_write && ret > 0"];
    let limit = std::time::Duration::from_secs(60);
    let run = crate::support::run(&crate::support::lttv(), &args, Some(&kernel()), limit);
    for line in String::from_utf8(run.stdout).unwrap().lines() {
        let event: Value = serde_json::from_str(line.trim_end_matches(',')).unwrap();
        let of = sums.entry(format!("written cpu={}", event["cpu"])).or_default();
        let before = of.last().map_or(0, |(_, sum)| *sum);
        let time = event["time"].as_i64().or(event["timestamp"].as_i64()).unwrap();
        of.push((time, before + event["fields"]["ret"].as_i64().unwrap()));
    }
    assert!(sums.len() > 2 && sums.values().any(|of| of.len() > 5), "{sums:?}");
    let args = ["--to", "perfetto", "--define", define];
    let file = converted(folder.path(), "whole.json", &args);
    assert_eq!(counters(&file), sums);
    // A window begins with the values that hold then.
    let (begin, end) = (1_795_233_416_430_000_000, 1_795_233_416_560_000_000);
    let window = ["--begin=1795233416.43", "--end=1795233416.56"];
    let file = converted(folder.path(), "part.json", &[&args[..], &window].concat());
    for of in sums.values_mut() {
        let before = of.iter().rfind(|(time, _)| *time < begin).map(|(_, value)| (begin, *value));
        of.retain(|(time, _)| (begin..=end).contains(time));
        of.splice(..0, before);
    }
    sums.retain(|_, of| !of.is_empty());
    assert_eq!(counters(&file), sums);
}
