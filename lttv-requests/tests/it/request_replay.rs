//! Tests the example `request_replay` with random scripts: each request must receive the
//! events that it would receive alone, as read by cursors.

#[path = "../../examples/request_replay/log.rs"]
mod log;
#[path = "../../examples/request_replay/replay.rs"]
mod replay;
#[path = "../../examples/request_replay/script.rs"]
mod script;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ltt_read::{Trace, TracefileIndex, open_all};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use self::replay::{ReplayError, replay};
use self::script::Script;

/// The properties of an event that requests depend on.
#[derive(Debug, Clone)]
struct Known {
    time: i64,
    name: String,
    cpu: Option<u32>,
    next_tid: Option<i64>,
}

/// Traces, and all their events in order.
struct Sample {
    paths: Vec<PathBuf>,
    traces: Vec<Arc<Trace>>,
    events: Vec<Known>,
}

fn bundled(names: &[&str]) -> Sample {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces");
    let paths: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    let mut traces = Vec::new();
    for path in &paths {
        traces.extend(open_all(path).expect("a bundled trace"));
    }
    let mut events = Vec::new();
    for (index, trace) in traces.iter().enumerate() {
        for (number, tracefile) in trace.tracefiles().iter().enumerate() {
            let mut cursor = trace.cursor(TracefileIndex(number));
            while let Some(event) = cursor.next().expect("sound events") {
                let known = Known {
                    time: event.timestamp().expect("events with a time").as_ns(),
                    name: event.event_type().name().to_owned(),
                    cpu: tracefile.cpu(),
                    next_tid: event.field("next_tid").and_then(|tid| tid.as_i64()),
                };
                events.push((known.time, index, number, known));
            }
        }
    }
    // A stable sort: events of one tracefile stay in order.
    events.sort_by_key(|(time, trace, tracefile, _)| (*time, *trace, *tracefile));
    let events = events.into_iter().map(|(_, _, _, known)| known).collect();
    Sample { paths, traces, events }
}

fn samples() -> Vec<Sample> {
    // The same trace twice, so that all times occur twice.
    vec![bundled(&["kernel", "kernel"]), bundled(&["kernel", "ust"]), bundled(&["ust-ctf2", "ust"])]
}

type Predicate = fn(&Known) -> bool;

/// Filters, and equivalent predicates.
const FILTERS: [(&str, Predicate); 5] = [
    ("event.name == sched_switch", |event| event.name == "sched_switch"),
    ("event.name != sched_switch", |event| event.name != "sched_switch"),
    ("!(event.name =~ \"sched_*\")", |event| !event.name.starts_with("sched_")),
    ("tracefile.cpu == 1 || tracefile.cpu == 0", |event| matches!(event.cpu, Some(0 | 1))),
    ("event.name == \"no such event\"", |_| false),
];
/// A filter of a field that only kernel traces have.
const KERNEL: (&str, Predicate) = ("next_tid > 1000", |event| event.next_tid > Some(1000));

#[derive(Debug, Clone)]
struct Asked {
    high: bool,
    start: Option<Result<Index, Index>>,
    end_time: Option<(Index, i64)>,
    end_event: Option<Index>,
    num_events: Option<u64>,
    filter: Option<Index>,
    stop_after: Option<u64>,
    submit_at: Option<u64>,
    cancel_at: Option<u64>,
}

/// The expected events of a request, by number, and the reason of its end.
#[derive(Debug)]
struct Share {
    first: usize,
    end: usize,
    events: Vec<usize>,
    reason: &'static str,
}

fn asked() -> impl Strategy<Value = Asked> {
    let index = any::<Index>;
    let start = prop::option::of(prop_oneof![index().prop_map(Ok), index().prop_map(Err)]);
    let some = prop::option::weighted::<BoxedStrategy<u64>>;
    let count = || prop_oneof![0..4u64, 0..3000u64].boxed();
    let ends = (
        prop::option::weighted(0.4, (index(), -1..2i64)),
        prop::option::weighted(0.3, index()),
        some(0.3, count()),
        prop::option::weighted(0.4, index()),
        some(0.3, count()),
    );
    let calls = (some(0.4, (0..12u64).boxed()), some(0.2, (0..20u64).boxed()));
    (any::<bool>(), start, ends, calls).prop_map(
        |(high, start, (end_time, end_event, num_events, filter, stop_after), calls)| Asked {
            high,
            start,
            end_time,
            end_event,
            num_events,
            filter,
            stop_after,
            submit_at: calls.0,
            cancel_at: calls.1,
        },
    )
}

impl Asked {
    fn filter(&self, sample: &Sample) -> Option<(&'static str, Predicate)> {
        let has_kernel = sample.events.iter().any(|event| event.next_tid.is_some());
        let filters = FILTERS.into_iter().chain(has_kernel.then_some(KERNEL));
        let filters: Vec<_> = filters.collect();
        self.filter.map(|index| *index.get(&filters))
    }

    fn end_time(&self, sample: &Sample) -> Option<i64> {
        self.end_time.map(|(index, by)| index.get(&sample.events).time + by)
    }

    fn json(&self, id: usize, sample: &Sample) -> Value {
        let number = |index: Index| index.index(sample.events.len() + 1);
        json!({
            "id": format!("r{id}"),
            "owner": format!("v{}", id % 3),
            "priority": if self.high { "high" } else { "low" },
            "start": match self.start {
                None => Value::Null,
                Some(Ok(index)) => json!({"time": index.get(&sample.events).time}),
                Some(Err(index)) => json!({"event": number(index)}),
            },
            "end_time": self.end_time(sample),
            "end_event": self.end_event.map(number),
            "num_events": self.num_events,
            "filter": self.filter(sample).map(|(text, _)| text),
            "stop_after": self.stop_after,
            "submit_at": self.submit_at,
            "cancel_at": self.cancel_at,
        })
    }

    fn alone(&self, sample: &Sample) -> Share {
        let events = &sample.events;
        let number = |index: Index| index.index(events.len() + 1);
        let first = match self.start {
            None => 0,
            Some(Ok(index)) => {
                let time = index.get(events).time;
                events.iter().take_while(|event| event.time < time).count()
            }
            Some(Err(index)) => number(index),
        };
        let passes = self.filter(sample).map(|(_, passes)| passes);
        let mut share = Share { first, end: first, events: Vec::new(), reason: "" };
        loop {
            let calls = share.events.len() as u64;
            let next = events.get(share.end);
            share.reason = if calls > 0
                && self.stop_after == Some(calls)
                && share.events.last() == Some(&(share.end - 1))
            {
                "stopped"
            } else if self.num_events.is_some_and(|most| (share.end - first) as u64 >= most) {
                "num_events"
            } else if next.is_none() {
                "end_of_traceset"
            } else if self.end_event.is_some_and(|end| number(end) <= share.end) {
                "end_position"
            } else if self.end_time(sample).is_some_and(|end| end <= events[share.end].time) {
                "end_time"
            } else {
                if passes.is_none_or(|passes| passes(&events[share.end])) {
                    share.events.push(share.end);
                }
                share.end += 1;
                continue;
            };
            return share;
        }
    }
}

/// Parses the lines of each request, and the last line.
fn parse(out: &str) -> (BTreeMap<&str, Vec<&str>>, &str) {
    let (lines, last) = out.trim_end().rsplit_once('\n').unwrap_or(("", out.trim_end()));
    let mut requests: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in lines.lines() {
        let (id, what) = line.split_once(' ').expect("an id");
        requests.entry(id).or_default().push(what);
    }
    (requests, last)
}

fn check(
    lines: &[&str],
    asked: &Asked,
    share: &Share,
    sample: &Sample,
) -> Result<u64, TestCaseError> {
    let Some(((begin, chunks), end)) = lines
        .split_first()
        .and_then(|(begin, rest)| Some((begin, rest.split_last()?)))
        .map(|(begin, (end, chunks))| ((begin, chunks), end))
    else {
        prop_assert!(lines.is_empty() && asked.cancel_at.is_some(), "{:?}", lines);
        return Ok(0);
    };
    prop_assert_eq!(*begin, "before_request");
    let mut events = Vec::new();
    let (mut inside, mut counted) = (false, 0);
    for line in chunks {
        match *line {
            "before_chunk" => prop_assert!(!std::mem::replace(&mut inside, true)),
            "after_chunk" => prop_assert!(std::mem::replace(&mut inside, false)),
            event => {
                prop_assert!(inside, "{} outside a chunk", event);
                events.push(event);
            }
        }
        counted += u32::from(*line == "before_chunk");
    }
    prop_assert!(!inside && counted > 0);
    let expected = |number: &usize| {
        let event = &sample.events[*number];
        format!("event {} {}", event.time, event.name)
    };
    let mut expected: Vec<String> = share.events.iter().map(expected).collect();
    let delivered = events.len() as u64;
    let reason = end.strip_prefix("after_request ").expect("the last call");
    if reason == "cancelled" {
        prop_assert!(asked.cancel_at.is_some());
        expected.truncate(events.len());
    } else {
        prop_assert_eq!(reason, share.reason);
    }
    prop_assert_eq!(events, expected);
    Ok(delivered)
}

fn run(sample: &Sample, script: &[Asked], chunk: u64) -> Result<(), TestCaseError> {
    let requests: Vec<Value> = script.iter().enumerate().map(|(n, a)| a.json(n, sample)).collect();
    let text = json!({"traces": sample.paths, "chunk_events": chunk, "requests": requests});
    let parsed: Script = serde_json::from_str(&text.to_string()).expect("a sound script");
    let mut out = Vec::new();
    replay(&parsed, &sample.traces, &mut out).expect("a script that can be run");
    let out = String::from_utf8(out).expect("text");
    let (requests, last) = parse(&out);
    let mut delivered = 0;
    let mut stretches: Vec<(bool, Share)> = Vec::new();
    for (number, asked) in script.iter().enumerate() {
        let share = asked.alone(sample);
        let lines = requests.get(format!("r{number}").as_str()).cloned().unwrap_or_default();
        delivered += check(&lines, asked, &share, sample)?;
        stretches.push((asked.high, share));
    }
    let last: Vec<&str> = last.split(' ').collect();
    prop_assert_eq!((last[0], last[2], last[4]), ("read", "delivered", "seeks"));
    prop_assert_eq!(last[3].parse(), Ok(delivered));
    // With one level and all requests pending from the start, each event is read once. If
    // events that pass no filter are left out, those looked at in advance count as read.
    let one_level = |high| stretches.iter().all(|(level, _)| *level == high);
    let all_there = |asked: &Asked| asked.submit_at.unwrap_or(0) == 0 && asked.cancel_at.is_none();
    let read: u64 = last[1].parse().expect("a number");
    let mut in_any = vec![false; sample.events.len()];
    for (_, share) in &stretches {
        in_any[share.first..share.end].fill(true);
    }
    let union = in_any.iter().filter(|is| **is).count() as u64;
    let is_filtered = script.iter().any(|asked| asked.filter.is_some());
    if !is_filtered && (one_level(true) || one_level(false)) && script.iter().all(all_there) {
        prop_assert_eq!(read, union);
    }
    Ok(())
}

#[test]
fn requests_of_random_scripts_get_what_they_get_alone() {
    let samples = samples();
    let script = prop::collection::vec(asked(), 0..7);
    let simple = prop::bool::weighted(0.3);
    let chunk = prop_oneof![2 => 20..500u64, 2 => 500..7000u64, 1 => 1..5u64];
    let config = ProptestConfig { cases: 192, failure_persistence: None, ..Default::default() };
    proptest!(config, |(which in 0..3usize, script in script, simple in simple, chunk in chunk)| {
        let mut script = script;
        if simple {
            for asked in &mut script {
                (asked.high, asked.submit_at, asked.cancel_at) = (false, None, None);
            }
        }
        run(&samples[which], &script, chunk)?;
    });
}

/// Runs a script. Returns its output.
fn output(script: &Value, traces: &[Arc<Trace>]) -> Result<String, ReplayError> {
    let parsed: Script = serde_json::from_value(script.clone()).expect("a script");
    let mut out = Vec::new();
    let read = replay(&parsed, traces, &mut out)?;
    assert!(read.errors.is_empty() && read.errors_omitted == 0, "{read:?}");
    Ok(String::from_utf8(out).expect("text"))
}

#[test]
fn lines_of_a_small_script() {
    let kernel = bundled(&["kernel"]);
    let request =
        |id, start: Value| json!({"id": id, "owner": "v", "start": start, "num_events": 2});
    let last = kernel.events.len() - 2;
    let script = json!({
        "traces": kernel.paths,
        "chunk_events": 1,
        "requests": [request("late", json!({"event": last})), request("early", Value::Null)],
    });
    let parsed: Script = serde_json::from_value(script.clone()).expect("a script");
    assert_eq!(parsed.traces, kernel.paths);
    let found = output(&script, &kernel.traces).expect("a sound script");
    let event = |number: usize| {
        let event = &kernel.events[number];
        format!("event {} {}", event.time, event.name)
    };
    let calls = |id, number| {
        format!(
            "{id} before_request\n{id} before_chunk\n{id} {}\n{id} after_chunk\n\
             {id} before_chunk\n{id} {}\n{id} after_chunk\n{id} after_request num_events\n",
            event(number),
            event(number + 1)
        )
    };
    let expected = calls("early", 0) + &calls("late", last) + "read 4 delivered 4 seeks 1\n";
    assert_eq!(found, expected);
}

#[test]
fn wrong_scripts_are_refused() {
    let kernel = bundled(&["kernel"]);
    let script =
        |request: Value| json!({"traces": kernel.paths, "chunk_events": 10, "requests": [request]});
    for (request, why) in [
        (json!({"id": "a", "end_event": 1_000_000}), "event 1000000 does not exist"),
        (json!({"id": "a", "filter": "event.nmae == x"}), "request a: invalid filter"),
    ] {
        let error = output(&script(request), &kernel.traces).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let wrong = script(json!({"id": "a", "priority": "highest"}));
    let error = serde_json::from_value::<Script>(wrong).unwrap_err().to_string();
    assert!(error.contains("highest"), "{error}");
}
