//! Calls in recordings of ftrace: functions of the kernel, and the markers of programs.

use std::collections::BTreeMap;

use ltt_read::{Event, Merge};
use lttv_context::Traceset;
use lttv_state::call_stacks::{
    CallRules, CallTarget, ThreadId, call_stacks, declares_calls, declares_markers,
};
use lttv_state::symbols::{KernelSymbols, Symbols};

use crate::support;

fn number(event: &Event<'_>, name: &str) -> u64 {
    event.field(name).and_then(|of| of.as_u64()).unwrap_or_else(|| panic!("{name}"))
}

/// Returns the number and the time of the calls of each function, from stacks that are followed plainly.
fn model(traceset: &Traceset) -> BTreeMap<u64, (u64, u64)> {
    let mut stacks: BTreeMap<_, Vec<(u64, i64)>> = BTreeMap::new();
    let mut calls: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let mut merge = Merge::new(traceset.traces());
    while let Some(event) = merge.next() {
        let time = event.timestamp().expect("a time").as_ns();
        let tid = event.field("common_pid").and_then(|of| of.as_i64()).expect("a thread");
        let cpu = if tid == 0 { event.tracefile().cpu() } else { None };
        let stack = stacks.entry((tid, cpu)).or_default();
        match event.event_type().name() {
            "ftrace:funcgraph_entry" => stack.push((number(&event, "func"), time)),
            "ftrace:funcgraph_exit" => {
                let function = number(&event, "func");
                let Some(at) = stack.iter().rposition(|(of, _)| *of == function) else { continue };
                for (function, entered) in stack.drain(at..) {
                    let of = calls.entry(function).or_default();
                    *of = (of.0 + 1, of.1 + (time - entered) as u64);
                }
            }
            _ => {}
        }
    }
    calls
}

#[test]
fn functions_of_the_kernel_are_followed() {
    let Some(path) = support::shared("ftrace/fgraph") else { return };
    let traceset = Traceset::open(path).expect("a recording");
    assert!(declares_calls(&traceset.traces()[0]));
    let expected = model(&traceset);
    assert!(expected.values().map(|(calls, _)| calls).sum::<u64>() > 400);
    for threads in [1, 2] {
        let computed = call_stacks(&traceset, &CallRules::default(), threads);
        let trace = &computed.calls.traces()[0];
        let mut found: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for of in trace.function_figures() {
            let CallTarget::Address(address) = of.function.code else { panic!("{of:?}") };
            if of.calls.count() > 0 {
                found.insert(address, (of.calls.count(), of.calls.total()));
            }
        }
        assert_eq!(found, expected);
        assert!(trace.missing().is_empty(), "{:?}", trace.missing());
        assert!(trace.threads().iter().all(|of| of.key.thread != ThreadId::Tid(0)));
    }
}

#[test]
fn functions_of_the_kernel_have_the_names_of_the_recording() {
    let Some(path) = support::shared("ftrace/fgraph") else { return };
    let traceset = Traceset::open(path).expect("a recording");
    let computed = call_stacks(&traceset, &CallRules::default(), 1);
    let calls = &computed.calls.traces()[0];
    let text = traceset.traces()[0].kernel_symbols().expect("a sound text").expect("a text");
    // The last line at or before an address, searched plainly.
    let text = String::from_utf8(text).expect("plain names");
    let lines = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        let kind = words.next()?;
        Some((address, kind, words.next()?))
    });
    let lines: Vec<_> = lines.collect();
    let mut symbols = Symbols::default();
    let mut named = 0;
    for function in calls.functions() {
        let CallTarget::Address(address) = function.code else { panic!("{function:?}") };
        let nearest = lines.iter().map(|line| line.0).filter(|at| *at <= address).max();
        let names: Vec<&str> = lines
            .iter()
            .filter(|line| Some(line.0) == nearest && "tTwW".contains(line.1))
            .map(|line| line.2)
            .collect();
        let symbol = symbols.symbol(&computed.calls, calls, function);
        match symbol.function {
            Some(name) => {
                let name = name.split(' ').next().expect("a word");
                assert!(names.contains(&name), "{address:x}: {name} {names:?}");
                named += 1;
            }
            None => assert!(names.is_empty(), "{address:x}: {names:?}"),
        }
    }
    assert!(named > 3, "{named}");
    assert!(symbols.problems().is_empty(), "{:?}", symbols.problems());
    assert_eq!(KernelSymbols::parse(b"").function(1), None);
}

/// A recording of one tracefile with the texts that threads have written at times.
fn marked(texts: &[(u32, u32, &str)]) -> Traceset {
    let metadata = br#"/* CTF 1.8 */
        typealias integer { size = 32; align = 8; signed = false; } := u32;
        typealias integer { size = 32; align = 8; signed = false; map = clock.c.value; } := t32;
        trace { major = 1; minor = 8; byte_order = le; };
        env { domain = "kernel"; tracer_name = "lttng-modules"; };
        clock { name = c; freq = 1000000000; };
        stream {
            event.header := struct { t32 timestamp; };
            event.context := struct { u32 common_pid; };
        };
        event { name = "ftrace:print"; fields := struct { string buf; }; };"#;
    let mut bytes = Vec::new();
    for (time, thread, text) in texts {
        bytes.extend([time.to_le_bytes(), thread.to_le_bytes()].concat());
        bytes.extend([text.as_bytes(), b"\n\0"].concat());
    }
    let trace = ltt_read::Trace::from_memory(metadata, [("cpu_0".to_owned(), bytes)]);
    Traceset::from(vec![trace.expect("a trace")])
}

/// Sections of markers are calls, nested in those of the same thread, and parts of a trace are joined.
#[test]
fn sections_of_markers_are_calls() {
    let texts = [
        (10, 1, "E|7"),
        (20, 1, "B|7|draw"),
        (25, 2, "B|8|draw"),
        (30, 1, "B|7|layout"),
        (40, 1, "S|7|load|1"),
        (50, 1, "E|7"),
        (60, 1, "C|7|frames|3"),
        (70, 1, "B|7|layout"),
        (75, 2, "E"),
        (80, 1, "B|7|text"),
        (85, 1, "hello"),
        (90, 1, "E"),
        (100, 1, "E|7"),
        (120, 1, "E|7"),
        (130, 1, "B|7|open"),
    ];
    let traceset = marked(&texts);
    assert!(declares_markers(&traceset.traces()[0]) && !declares_calls(&traceset.traces()[0]));
    for threads in [1, 2, 3] {
        let computed = call_stacks(&traceset, &CallRules::of_markers(), threads);
        let trace = &computed.calls.traces()[0];
        assert!(trace.missing().is_empty(), "{:?}", trace.missing());
        let mut symbols = Symbols::default();
        let mut name = |number: usize| {
            let symbol = symbols.symbol(&computed.calls, trace, &trace.functions()[number]);
            symbol.function.expect("a name").to_string()
        };
        let mut found = BTreeMap::new();
        for path in trace.paths() {
            let names: Vec<String> =
                trace.path_functions(path.id).iter().map(|id| name(id.index())).collect();
            let key = (format!("{:?}", trace.threads()[path.thread].key.thread), names.join(";"));
            let figures = (path.figures.calls.count(), path.total_time, path.figures.self_time);
            found.insert(key, figures);
        }
        let key = |thread: u32, names: &str| (format!("Tid({thread})"), names.to_owned());
        let expected = BTreeMap::from([
            (key(1, "draw"), (1, 100, 50)),
            (key(1, "draw;layout"), (2, 50, 40)),
            (key(1, "draw;layout;text"), (1, 10, 10)),
            (key(1, "open"), (0, 0, 0)),
            (key(2, "draw"), (1, 50, 50)),
        ]);
        assert_eq!(found, expected, "{threads} threads");
        assert_eq!(trace.anomalies().exits_at_empty_stack, 1);
        assert_eq!(trace.threads()[0].open.len(), 1);
    }
}
