//! Spans of markers against a plain computation over the events.

use std::collections::BTreeMap;

use lttv_context::Traceset;
use lttv_state::analysis::read;
use lttv_state::latency::{LatencyAnalysis, Settings};
use lttv_state::spans::{Completeness, Family, SpanAnalysis, SpanSettings};

use crate::spans::All;
use crate::support;
use crate::support::scheduling::{Content, KernelEvent, Machine, trace};

/// A marker of a thread at a time on a CPU.
fn print(time: i64, cpu: u32, text: &str) -> KernelEvent {
    let mut event = KernelEvent::new(time, cpu, "ftrace:print", &[]);
    event.fields.push(("buf".to_owned(), Content::Text(text.to_owned())));
    event
}

/// A span as a line: name, thread, begin and end, and whether it has an end.
type Line = (String, Option<i32>, i64, i64, bool);

fn found(traceset: &Traceset, threads: usize) -> Vec<Line> {
    let settings = SpanSettings::new().families([Family::Marker]);
    let read = read(traceset).threads(threads).run(SpanAnalysis::new(settings, All::default()));
    assert!(read.errors.is_empty(), "{:?}", read.errors);
    let mut lines: Vec<Line> = read
        .output
        .visitor
        .0
        .iter()
        .map(|of| {
            let span = of.span;
            let is_whole = span.completeness == Completeness::Whole;
            assert!(is_whole || span.completeness == Completeness::NoEnd);
            let ended = if is_whole { span.end.as_ns() } else { 0 };
            (of.label.clone(), span.thread.tid, span.begin.as_ns(), ended, is_whole)
        })
        .collect();
    lines.sort();
    lines
}

/// The spans of events, and the numbers of malformed texts, of ends without a begin, and of sections that began again.
fn expected(events: &[KernelEvent], running: &mut BTreeMap<u32, i64>) -> (Vec<Line>, [u64; 3]) {
    let mut nested: BTreeMap<i64, Vec<(String, i64)>> = BTreeMap::new();
    let mut apart: BTreeMap<(String, String, String), (i64, i64)> = BTreeMap::new();
    let (mut lines, mut counts) = (Vec::new(), [0; 3]);
    let line = |name: &str, tid: i64, begin: i64, end: Option<i64>| {
        (name.to_owned(), Some(tid as i32), begin, end.unwrap_or(0), end.is_some())
    };
    for event in events {
        let number = |name: &str| {
            let field = event.fields.iter().find(|field| field.0 == name);
            match field.map(|field| &field.1) {
                Some(Content::Number(number)) => *number,
                _ => panic!("{name}"),
            }
        };
        if event.name == "sched_switch" {
            running.insert(event.cpu, number("next_tid"));
            continue;
        }
        let Some((_, Content::Text(text))) = event.fields.iter().find(|field| field.0 == "buf")
        else {
            continue;
        };
        let tid = running[&event.cpu];
        let parts: Vec<&str> = text.trim_end().split('|').collect();
        match parts[..] {
            ["B", pid, name] if pid.parse::<u32>().is_ok() && !name.is_empty() => {
                nested.entry(tid).or_default().push((name.to_owned(), event.time));
            }
            ["E"] | ["E", ""] => match nested.entry(tid).or_default().pop() {
                Some((name, begin)) => lines.push(line(&name, tid, begin, Some(event.time))),
                None => counts[1] += 1,
            },
            ["E", pid] if pid.parse::<u32>().is_ok() => {
                match nested.entry(tid).or_default().pop() {
                    Some((name, begin)) => lines.push(line(&name, tid, begin, Some(event.time))),
                    None => counts[1] += 1,
                }
            }
            [kind @ ("S" | "F"), pid, name, cookie]
                if pid.parse::<u32>().is_ok()
                    && cookie.parse::<i64>().is_ok()
                    && !name.is_empty() =>
            {
                let key = (pid.to_owned(), name.to_owned(), cookie.to_owned());
                if kind == "S" {
                    if let Some((tid, begin)) = apart.insert(key, (tid, event.time)) {
                        counts[2] += 1;
                        lines.push(line(name, tid, begin, None));
                    }
                } else {
                    match apart.remove(&key) {
                        Some((tid, begin)) => lines.push(line(name, tid, begin, Some(event.time))),
                        None => counts[1] += 1,
                    }
                }
            }
            ["B" | "E" | "S" | "F", _, ..] => counts[0] += 1,
            _ => {}
        }
    }
    for (tid, open) in nested {
        lines.extend(open.into_iter().map(|(name, begin)| line(&name, tid, begin, None)));
    }
    lines.extend(
        apart.into_iter().map(|((_, name, _), (tid, begin))| line(&name, tid, begin, None)),
    );
    lines.sort();
    (lines, counts)
}

/// Makes switches and texts without a pattern.
fn random_events(seed: u64) -> Vec<KernelEvent> {
    let mut state = seed;
    let mut below = |limit: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let mut on = [0_i64; 2];
    let mut events = Vec::new();
    for (cpu, tid) in (0..).zip(&mut on) {
        *tid = 10 + i64::from(cpu);
        events.push(KernelEvent::switch(1 + i64::from(cpu), cpu, 0, 0, *tid));
    }
    for step in 0..400 {
        let (time, cpu) = (10 * (step + 1) + below(9) as i64, below(2) as usize);
        let pid = 100 + below(2);
        let name = ["draw", "load", "a b", "x.y"][below(4) as usize];
        let cookie = below(3);
        let text = match below(12) {
            0..=2 => format!("B|{pid}|{name}\n"),
            3 => "E\n".to_owned(),
            4 => "E|".to_owned(),
            5 => format!("E|{pid}"),
            6 | 7 => format!("S|{pid}|{name}|{cookie}\n"),
            8 => format!("F|{pid}|{name}|{cookie}"),
            9 => ["plain\n", "", "C|1|n|4", "Begin", "Error|x"][below(5) as usize].to_owned(),
            10 => ["B|1", "B||x", "S|1|x", "F|1|x|y", "E|z", "B|1|", "S|1||2"][below(7) as usize]
                .to_owned(),
            _ => {
                // Threads move between the CPUs, but none is on both.
                let next = 10 + below(6) as i64;
                if !on.contains(&next) {
                    events.push(KernelEvent::switch(time, cpu as u32, on[cpu], 1, next));
                    on[cpu] = next;
                }
                continue;
            }
        };
        events.push(print(time, cpu as u32, &text));
    }
    events
}

#[test]
fn markers_are_those_of_a_plain_computation() {
    let mut all = 0;
    for seed in 1..60 {
        let events = random_events(seed);
        let (expected, [malformed, without_begin, again]) = expected(&events, &mut BTreeMap::new());
        let traceset = Traceset::from(vec![trace(Machine::default(), &events)]);
        assert_eq!(found(&traceset, 1), expected, "{seed}");
        assert_eq!(found(&traceset, 3), expected, "{seed}");
        let settings = Settings::new().families([Family::Marker]);
        let latency = read(&traceset).run(LatencyAnalysis::new(settings)).output;
        let of = &latency.traces()[0];
        let unmatched = of.unmatched();
        assert_eq!(unmatched.malformed_markers, malformed, "{seed}");
        assert_eq!(unmatched.marker_ends_without_begin, without_begin, "{seed}");
        assert_eq!(unmatched.markers_without_end, again, "{seed}");
        let whole = expected.iter().filter(|line| line.4);
        let figures = of.total(Family::Marker);
        let durations = figures.durations();
        assert_eq!(durations.count(), whole.clone().count() as u64, "{seed}");
        assert_eq!(
            durations.spread().total(),
            whole.map(|line| (line.3 - line.2) as u64).sum::<u64>(),
            "{seed}"
        );
        all += durations.count();
    }
    assert!(all > 2000, "{all}");
}

#[test]
fn a_thread_that_exits_leaves_its_markers_open() {
    let mut events = vec![
        KernelEvent::switch(1, 0, 0, 0, 7),
        print(10, 0, "B|7|outer"),
        print(20, 0, "B|7|inner"),
        print(25, 0, "S|7|apart|1"),
        KernelEvent::new(30, 0, "sched_process_exit", &[("tid", 7)]),
        KernelEvent::switch(40, 0, 7, 64, 8),
        print(50, 0, "E|7"),
        print(60, 0, "F|7|apart|1"),
    ];
    events[5].fields[1].1 = Content::Number(64);
    let traceset = Traceset::from(vec![trace(Machine::default(), &events)]);
    let lines = found(&traceset, 1);
    let of = |name: &str| lines.iter().filter(|line| line.0 == name).collect::<Vec<_>>();
    assert_eq!(of("outer").len(), 1);
    assert!(!of("outer")[0].4 && !of("inner")[0].4, "{lines:?}");
    assert_eq!((of("apart")[0].2, of("apart")[0].3), (25, 60));
}

/// A recording of texts of all kinds has one section.
#[test]
fn markers_of_a_recording() {
    let Some(path) = support::shared("ftrace/marker") else { return };
    let traceset = Traceset::open(path).expect("a recording");
    let lines = found(&traceset, 2);
    let expected = ("section".to_owned(), Some(1591), 331_494_625_523, 331_494_757_951, true);
    assert_eq!(lines, [expected]);
}
