//! Reads that continue from saved states have the results of reads from the start.

use std::collections::BTreeMap;

use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{Bounds, Extension, Traceset, TracesetContext};
use lttv_state::analysis::{Analyzed, read};
use lttv_state::kernel::{KernelState, SavedStates};
use lttv_state::latency::{Family, GroupBy, Latency, LatencyAnalysis, Settings};
use lttv_state::spans::{SpanAnalysis, SpanSettings};
use lttv_state::stats::{Statistics, StatisticsAnalysis};
use lttv_state::waits::{WaitAnalysis, WaitGraph};

use crate::spans::All;
use crate::support;

type Both = Analyzed<(Statistics, WaitGraph)>;

fn window(
    traceset: &Traceset,
    (start, end): (i64, i64),
    states: Option<&mut SavedStates>,
    threads: usize,
) -> Both {
    let window = Timestamp::from_ns(start)..Timestamp::from_ns(end);
    let of = (StatisticsAnalysis::new(), WaitAnalysis::new());
    read(traceset).saved(states).window(window).threads(threads).run(of)
}

/// Returns the results as text.
fn digest(found: &Both) -> String {
    let (statistics, graph) = &found.output;
    let mut text =
        format!("{} events, {:?}, {:?}", found.events, found.errors, found.kernel.save());
    for of in statistics.traces() {
        let leaves: BTreeMap<_, _> =
            of.leaves().map(|(key, counts)| (format!("{key:?}"), format!("{counts:?}"))).collect();
        text += &format!("{leaves:?} {:?} ", of.process_facts());
        text += &format!("{:?}", of.events());
    }
    for (id, of) in graph.timelines() {
        let intervals: Vec<_> = graph.intervals(id, Timestamp::MIN..Timestamp::MAX).collect();
        text += &format!("{} {intervals:?}", of.cpu());
    }
    text
}

fn times(traceset: &Traceset) -> Vec<i64> {
    let mut context = TracesetContext::new(traceset);
    let span = context.contexts().time_span().expect("events");
    let (start, length) = (span.start.as_ns(), span.end.as_ns() - span.start.as_ns());
    assert_eq!(context.read(&Bounds::all().events(1)).expect("no position").errors, 0);
    (0..=7).map(|part| start + length / 7 * part).collect()
}

#[test]
fn windows_are_the_same_with_states_in_memory_and_in_bytes() {
    for (name, traceset) in support::kernel_traces() {
        let mut states = SavedStates::every(700);
        let all = read(&traceset).saved(&mut states).threads(2).run(WaitAnalysis::new());
        let count = states.len();
        assert!(count > 0 || all.events < 700 || !all.errors.is_empty(), "{name}");
        let mut stored = SavedStates::every(u64::MAX);
        for trace in (0..traceset.traces().len()).map(TraceIndex) {
            stored.set_bytes(trace, states.to_bytes(trace));
        }
        stored.set_bytes_of_analyses(&states.bytes_of_analyses());
        let times = times(&traceset);
        for (at, start) in times.iter().enumerate() {
            let span = (*start, times.get(at + 1).map_or(i64::MAX, |end| *end));
            let expected = window(&traceset, span, None, 1);
            let mut again = states.clone();
            for (states, threads) in [(&mut again, 2), (&mut stored, 1)] {
                let found = window(&traceset, span, Some(states), threads);
                assert_eq!(digest(&found), digest(&expected), "{name} from {start}");
                assert!(found.events_before <= expected.events_before, "{name}");
                if count > 0 && expected.events_before > 1400 {
                    assert!(
                        found.events_before <= 1400,
                        "{name} on {threads} threads: {} of {}",
                        found.events_before,
                        states.len()
                    );
                }
            }
        }
    }
}

/// Returns latencies as text.
fn figures(latency: &Latency) -> String {
    let mut text = String::new();
    for of in latency.traces() {
        for family in Family::ALL {
            let rows = of.rows(family, GroupBy::Thread);
            text += &format!("{family:?} {rows:?} {:?}", of.top(family));
        }
        text += &format!("{:?} {:?} {:?}", of.open(), of.unmatched(), of.began_before());
        text += &format!("{:?}", of.futexes().collect::<Vec<_>>());
        text += &format!("{:?}", of.disks().collect::<Vec<_>>());
    }
    text
}

#[test]
fn latencies_of_windows_are_the_same_with_saved_states() {
    for (name, traceset) in support::kernel_traces() {
        let latency = || LatencyAnalysis::new(Settings::new());
        let mut states = SavedStates::every(600);
        let all = read(&traceset).saved(&mut states).threads(2).run(latency());
        let mut stored = SavedStates::every(u64::MAX);
        for trace in (0..traceset.traces().len()).map(TraceIndex) {
            stored.set_bytes(trace, states.to_bytes(trace));
        }
        stored.set_bytes_of_analyses(&states.bytes_of_analyses());
        for start in times(&traceset) {
            let of_window = |states: Option<&mut SavedStates>| {
                read(&traceset).saved(states).window(Timestamp::from_ns(start)..).run(latency())
            };
            let (expected, found) = (of_window(None), of_window(Some(&mut stored)));
            assert_eq!(figures(&found.output), figures(&expected.output), "{name} from {start}");
            assert_eq!(found.events, expected.events, "{name} from {start}");
            if all.errors.is_empty() && expected.events_before > 1200 {
                assert!(found.events_before <= 1200, "{name}: {}", found.events_before);
            }
        }
    }
}

#[test]
fn spans_of_windows_are_the_same_with_saved_states_also_of_fewer_families() {
    for (name, traceset) in support::kernel_traces() {
        let of = |families: &[Family]| {
            let settings = SpanSettings::new().families(families.iter().copied());
            SpanAnalysis::new(settings, All::default())
        };
        let mut states = SavedStates::every(600);
        let all = read(&traceset).saved(&mut states).threads(2).run(of(&SpanSettings::FAMILIES));
        let mut stored = SavedStates::every(u64::MAX);
        for trace in (0..traceset.traces().len()).map(TraceIndex) {
            stored.set_bytes(trace, states.to_bytes(trace));
        }
        stored.set_bytes_of_analyses(&states.bytes_of_analyses());
        let some = [Family::Syscall, Family::HardIrq, Family::DiskDevice];
        for start in times(&traceset) {
            for families in [&SpanSettings::FAMILIES[..], &some, &[Family::WakeUp]] {
                let of_window = |states: Option<&mut SavedStates>| {
                    let window = Timestamp::from_ns(start)..;
                    read(&traceset).saved(states).window(window).run(of(families))
                };
                let (expected, found) = (of_window(None), of_window(Some(&mut stored)));
                let (found_all, expected_all) =
                    (found.output.visitor.visible(), expected.output.visitor.visible());
                let same = found_all.iter().zip(&expected_all).take_while(|(a, b)| a == b).count();
                assert!(
                    found_all == expected_all,
                    "{name} from {start}: {:?}, expected {:?}",
                    found_all.get(same),
                    expected_all.get(same)
                );
                if all.errors.is_empty() && expected.events_before > 1200 {
                    assert!(found.events_before <= 1200, "{name}: {}", found.events_before);
                }
            }
        }
    }
}

#[test]
fn states_of_a_trace_serve_it_beside_others() {
    let traces = support::kernel_traces();
    let (_, first) = &traces[0];
    let mut states = SavedStates::every(500);
    let alone = read(first).saved(&mut states).run(StatisticsAnalysis::new());
    assert!(alone.errors.is_empty() && states.len() > 3);
    for (name, other) in traces.iter().skip(1).take(4) {
        let mut both = Traceset::new();
        first.traces().iter().chain(other.traces()).for_each(|trace| {
            both.add(trace.clone());
        });
        let span = TracesetContext::new(first).contexts().time_span().expect("events");
        let window = Timestamp::from_ns(span.end.as_ns() - 1_000_000)..;
        let of_window = |states: Option<&mut SavedStates>| {
            read(&both).saved(states).window(window.clone()).run(StatisticsAnalysis::new())
        };
        let (expected, found) = (of_window(None), of_window(Some(&mut states.clone())));
        assert!(found.kernel.save() == expected.kernel.save(), "beside {name}");
        assert_eq!(found.events, expected.events, "beside {name}");
        assert!(found.events_before < expected.events_before, "beside {name}");
    }
}

#[test]
fn damaged_bytes_of_states_are_ignored() {
    let (_, traceset) = support::kernel_traces().remove(0);
    let mut states = SavedStates::every(1000);
    let all = read(&traceset).saved(&mut states).run(StatisticsAnalysis::new());
    let bytes = states.to_bytes(TraceIndex(0));
    let last = all.kernel.traces().next().expect("a trace").effect().time().as_ns();
    let span = (last - 1_000_000, i64::MAX);
    let expected = window(&traceset, span, None, 1);
    for length in (0..bytes.len()).step_by(bytes.len() / 20) {
        let mut cut = SavedStates::default();
        cut.set_bytes(TraceIndex(0), bytes[..length].to_vec());
        let found = window(&traceset, span, Some(&mut cut), 1);
        assert_eq!(digest(&found), digest(&expected), "cut to {length} bytes");
    }
    // A changed byte may be another valid state; nothing else may happen.
    for at in (0..bytes.len()).step_by(bytes.len() / 60) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x41;
        let mut damaged = SavedStates::default();
        damaged.set_bytes(TraceIndex(0), changed);
        assert_eq!(window(&traceset, span, Some(&mut damaged), 1).events, expected.events);
    }
}

#[test]
fn states_are_not_those_of_other_options() {
    let (_, traceset) = support::kernel_traces().remove(0);
    let mut states = SavedStates::every(500);
    assert!(read(&traceset).saved(&mut states).run(StatisticsAnalysis::new()).errors.is_empty());
    let span = TracesetContext::new(&traceset).contexts().time_span().expect("events");
    let found = read(&traceset)
        .kernel(KernelState::new().without_looking_ahead())
        .saved(&mut states)
        .window(Timestamp::from_ns(span.end.as_ns() - 1_000_000)..)
        .run(StatisticsAnalysis::new());
    assert!(found.events_before > 1000, "{}", found.events_before);
}
