//! Losses of events: what is known of the state during one.

use lttv_context::{Traceset, TracesetContext};
use lttv_state::analysis::read;
use lttv_state::kernel::KernelState;
use lttv_state::ltt_read::{Timestamp, Trace, TraceIndex, TracefileIndex};
use lttv_state::stats::StatisticsAnalysis;
use std::sync::Arc;

use crate::support;
use crate::support::scheduling::{KernelEvent, Machine, trace};

/// Returns the time of the last event before a loss in a tracefile, and that of the next event.
fn loss_of(
    trace: &Arc<Trace>,
    packet: impl Fn(&lttv_state::ltt_read::Packet) -> bool,
) -> (i64, i64) {
    let mut cursor = trace.cursor(TracefileIndex(0));
    let mut last = None;
    while let Some(event) = cursor.next().expect("sound") {
        let time = event.timestamp().expect("a time").as_ns();
        match last {
            Some(last) if !packet(event.packet()) => return (last, time),
            _ => last = packet(event.packet()).then_some(time),
        }
    }
    panic!("no packet after the loss");
}

/// Returns the thread that runs on CPU 0 at a time.
fn running(traceset: &Traceset, time: i64) -> Option<i32> {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    context.state().seek_time(Timestamp::from_ns(time));
    let state = context.extensions()[kernel].trace(TraceIndex(0)).expect("a trace");
    state.running(0).expect("the CPU").tid()
}

/// A loss begins after the last event of its packet, whatever happens on other CPUs, and ends with the first
/// switch after it.
#[test]
fn nothing_runs_during_a_loss() {
    let mut events = Vec::new();
    for at in 0..400 {
        let (from, to) = (1 + at % 2, 2 - at % 2);
        events.push(KernelEvent::switch(1000 + 10 * at, 0, from, 1, to));
        events.push(KernelEvent::switch(1005 + 10 * at, 1, from + 2, 1, to + 2));
    }
    // CPU 0 is silent for some time, in which CPU 1 is not.
    events.retain(|event| event.cpu == 1 || !(2000..4000).contains(&event.time));
    let machine = Machine { packet: 1 << 12, discards_before: Some(0), ..Machine::default() };
    let trace = trace(machine, &events);
    let (last, next) = loss_of(&trace, |packet| packet.number == 0);
    let traceset = Traceset::from_iter([trace]);
    assert!(last < next);
    assert!(running(&traceset, last).is_some());
    for time in [last + 1, last + 2, (last + next) / 2, next - 1, next] {
        assert_eq!(running(&traceset, time), None, "at {time}, from {last} to {next}");
    }
    assert!(running(&traceset, next + 1).is_some());
    let unknown = |from: i64, to: i64| {
        let window = Timestamp::from_ns(from)..Timestamp::from_ns(to);
        let found = read(&traceset).window(window).run(StatisticsAnalysis::new());
        found.output.traces()[0].cpus()[0].unknown_time
    };
    let whole = (next - last) as u64;
    assert_eq!(unknown(1000, 5000), whole);
    // The parts of the time have the parts of the loss.
    for border in [last, last + 1, (last + next) / 2, next - 1, next] {
        assert_eq!(unknown(1000, border) + unknown(border, 5000), whole, "parted at {border}");
    }
}

/// Pages of ftrace tell themselves that events were lost before them.
#[test]
fn losses_of_ftrace_are_followed() {
    let Some(folder) = support::shared("ftrace/lost") else { return };
    let unpacked = tempfile::tempdir().expect("a folder");
    let path = unpacked.path().join("trace.dat");
    std::fs::write(&path, crate::packed::unpacked(&folder.join("trace.dat.zst"))).expect("written");
    let traceset = Traceset::open(path).expect("a trace");
    let found = read(&traceset).run(StatisticsAnalysis::new());
    let gaps: u64 = found.kernel.traces().map(|state| state.anomalies().gaps).sum();
    assert!(gaps > 0);
    let unknown: u64 =
        found.output.traces().iter().flat_map(|of| of.cpus()).map(|cpu| cpu.unknown_time).sum();
    assert!(unknown > 0, "{gaps} losses");
}
