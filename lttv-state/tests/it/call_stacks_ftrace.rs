//! Calls in recordings of ftrace: functions of the kernel, and the markers of programs.

use std::collections::BTreeMap;

use ltt_read::{Event, Merge};
use lttv_context::Traceset;
use lttv_state::call_stacks::{CallRules, CallTarget, ThreadId, call_stacks, declares_calls};
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
