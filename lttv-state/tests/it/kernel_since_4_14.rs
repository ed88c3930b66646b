//! Cases that other analyses get wrong for kernels since 4.14, on real traces of Linux 6.1:
//! processes that are switched out preempted, dead or parked; interrupts that several CPUs
//! handle at once; processes that exit; processes that ran before a CPU's first switch.

use std::collections::BTreeMap;
use std::path::Path;

use ltt_read::{Event, TraceIndex};
use lttv_context::{Bounds, EventCall, Traceset, TracesetContext};
use lttv_hooks::Flow;
use lttv_state::analysis::attach;
use lttv_state::kernel::{IrqMode, KernelState, ProcessStatus, Serial, SourceKind, TraceState};
use lttv_state::stats::StatisticsAnalysis;

use crate::support;

const PREEMPTED: i64 = 0x100;
const DEAD: i64 = 0x10;
const ZOMBIE: i64 = 0x20;
const PARKED: i64 = 0x40;

/// Returns the bundled trace, and those of the shared folder that exist.
fn traces() -> Vec<(String, Traceset)> {
    let names = ["k1-multi", "k1-8cpu", "k1-ctx", "k1-tfc", "k2-8cpu", "k2-multi", "k2-rot"];
    let shared = names.iter().filter_map(|name| {
        let path = support::shared(&format!("ctf/{name}"))?;
        Some((name.to_string(), Traceset::open(path).expect("a trace")))
    });
    let bundled = Traceset::open(support::bundled()).expect("a trace");
    [("bundled".to_owned(), bundled)].into_iter().chain(shared).collect()
}

fn assert_linux_6_1(name: &str, traceset: &Traceset) {
    let release = traceset.traces()[0].schema().env_str("kernel_release").expect("a release");
    assert!(release.starts_with("6.1."), "{name}: {release}");
}

/// Calls a function for each event, with the state after it.
fn watch(name: &str, traceset: &Traceset, mut on: impl FnMut(&EventCall<'_, '_>, &TraceState)) {
    assert_linux_6_1(name, traceset);
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    context.on_event("*", move |call| {
        on(call, call.extensions[kernel].trace(TraceIndex(0)).expect("one"))
    });
    _ = context.read(&Bounds::all()).expect("bounds without a position");
}

/// Returns an integer field of an event; -1 if there is no field of this name.
fn number(event: &Event<'_>, field: &str) -> i64 {
    event.field(field).and_then(|value| value.as_i64()).unwrap_or(-1)
}

/// Returns the process and its state, if the event is a switch.
fn switched_out(event: &Event<'_>) -> Option<(i32, i64)> {
    let is_switch = event.event_type().name() == "sched_switch";
    is_switch.then(|| (number(event, "prev_tid") as i32, number(event, "prev_state")))
}

#[test]
fn preempted_tasks_wait_for_a_cpu() {
    for (name, traceset) in traces() {
        let mut seen = 0;
        watch(&name, &traceset, |call, state| {
            let Some((tid @ 1.., PREEMPTED)) = switched_out(&call.event) else { return };
            let (_, process) = state.find(tid).expect("it is alive");
            assert_eq!(process.status(), ProcessStatus::WaitCpu, "{name}: {tid}");
            let cpu = number(&call.event, "cpu_id");
            assert_eq!(process.cpu().map(i64::from), Some(cpu), "{name}: {tid}");
            seen += 1;
        });
        assert!(seen > 0, "{name}: none was preempted");
    }
}

#[test]
fn dead_tasks_are_dead_and_then_gone() {
    let mut freed = 0;
    for (name, traceset) in traces() {
        let (mut zombies, mut dead) = (0, 0);
        let mut gone: BTreeMap<i32, Serial> = BTreeMap::new();
        watch(&name, &traceset, |call, state| {
            for process in state.effect().removed() {
                gone.insert(process.tid().expect("known"), process.serial());
            }
            let (tid, expected) = match switched_out(&call.event) {
                Some((tid @ 1.., ZOMBIE)) => (tid, ProcessStatus::Zombie),
                Some((tid @ 1.., DEAD)) => (tid, ProcessStatus::Dead),
                _ => return,
            };
            match expected {
                ProcessStatus::Zombie => zombies += 1,
                _ => dead += 1,
            }
            match state.find(tid) {
                Some((_, process)) => assert_eq!(process.status(), expected, "{name}: {tid}"),
                // The kernel had already freed its data.
                None => assert!(gone.contains_key(&tid), "{name}: {tid}"),
            }
        });
        assert!(zombies > 0 && dead > 0, "{name}: {zombies} {dead}");
        freed += gone.len();
    }
    support::report(&format!("{freed} processes are gone in the end"));
}

/// No trace has a parked task: this test changes the state in a switch event of a copy of
/// the bundled one.
#[test]
fn parked_tasks_wait_and_run_again() {
    let original = Traceset::open(support::bundled()).expect("a trace");
    // A process that waited (in state 2) and ran again.
    let mut found: Option<(String, u64, i32)> = None;
    let mut waiting: BTreeMap<i32, (String, u64)> = BTreeMap::new();
    watch("bundled", &original, |call, _| {
        if let Some((tid @ 1.., 2)) = switched_out(&call.event) {
            let file = call.tracefile.tracefile().name().to_owned();
            waiting.insert(tid, (file, call.event.offset() / 8));
        }
        if switched_out(&call.event).is_some()
            && let tid = number(&call.event, "next_tid") as i32
            && let Some((file, offset)) = waiting.remove(&tid)
        {
            found.get_or_insert((file, offset, tid));
        }
    });
    let (file, offset, tid) = found.expect("some process waits and runs again");

    let copy = tempfile::tempdir().expect("a directory");
    copy_all(&support::bundled(), copy.path());
    let path = find(copy.path(), &file).expect("the tracefile");
    let mut bytes = std::fs::read(&path).expect("a file");
    // The event ends with: prev_state in 8 bytes, next_comm in 16, next_tid, next_prio.
    let from = offset as usize;
    let mut state = 2i64.to_le_bytes().to_vec();
    let event = &bytes[from..bytes.len().min(from + 160)];
    let at = event.windows(8).position(|window| window == state).expect("there");
    state = PARKED.to_le_bytes().to_vec();
    bytes[from + at..from + at + 8].copy_from_slice(&state);
    std::fs::write(&path, bytes).expect("writable");

    let changed = Traceset::open(copy.path()).expect("a trace");
    let (mut parked, mut ran_again, mut who) = (0, 0, None);
    watch("changed", &changed, |call, state| {
        if switched_out(&call.event) == Some((tid, PARKED)) {
            let (_, process) = state.find(tid).expect("it is alive");
            assert_eq!(process.status(), ProcessStatus::Wait);
            who = Some(process.serial());
            parked += 1;
        } else if who.is_some() && number(&call.event, "next_tid") == i64::from(tid) {
            assert_eq!(state.find(tid).map(|(_, process)| process.serial()), who);
            ran_again += 1;
        }
    });
    assert!(parked == 1 && ran_again > 0, "{parked} {ran_again}");
}

fn copy_all(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a directory").flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir_all(&to).expect("writable");
            copy_all(&entry.path(), &to);
        } else {
            std::fs::write(to, std::fs::read(entry.path()).expect("a file")).expect("writable");
        }
    }
}

fn find(dir: &Path, file: &str) -> Option<std::path::PathBuf> {
    let entries = || std::fs::read_dir(dir).expect("a directory").flatten();
    let here = entries().map(|entry| entry.path()).find(|path| path.ends_with(file));
    let deeper = || entries().filter(|e| e.path().is_dir()).find_map(|e| find(&e.path(), file));
    here.filter(|path| path.is_file()).or_else(deeper)
}

#[test]
fn an_interrupt_is_busy_as_long_as_any_cpu_handles_it() {
    let kinds = [
        (SourceKind::Irq, "irq_handler_entry", "irq_handler_exit", "irq"),
        (SourceKind::Softirq, "irq_softirq_entry", "irq_softirq_exit", "vec"),
    ];
    let (mut at_once, mut all_entries) = (0, 0);
    for (name, traceset) in traces() {
        // The numbers of the interrupts being handled, by kind and CPU.
        let mut handled: BTreeMap<(SourceKind, i64), Vec<i64>> = BTreeMap::new();
        let mut entries = 0;
        watch(&name, &traceset, |call, state| {
            let event = call.event.event_type().name();
            let Some((kind, entry, _, field)) =
                kinds.iter().find(|(_, entry, exit, _)| event == *entry || event == *exit)
            else {
                return;
            };
            let (cpu, number) = (number(&call.event, "cpu_id"), number(&call.event, field));
            let on_cpu = handled.entry((*kind, cpu)).or_default();
            if event == *entry {
                on_cpu.push(number);
                entries += 1;
            } else if on_cpu.last() == Some(&number) {
                on_cpu.pop();
            }
            let cpus = handled.iter().filter(|((of, _), on)| of == kind && on.contains(&number));
            let cpus = cpus.count() as u32;
            let Some(source) = state.sources(*kind).get(number as usize) else { return };
            assert_eq!(source.running(), cpus, "{name}: {kind:?} {number}");
            assert_eq!(source.mode() == IrqMode::Busy, cpus > 0, "{name}: {kind:?} {number}");
            at_once += u32::from(cpus > 1);
        });
        all_entries += entries;
    }
    assert!(all_entries > 0 && at_once > 0, "no interrupt was handled by two CPUs at once");
}

#[test]
fn exiting_tasks_have_the_status_exit_until_freed() {
    let mut all_exits = 0;
    for (name, traceset) in traces() {
        assert_linux_6_1(&name, &traceset);
        let mut exits = Vec::new();
        let mut last_status: BTreeMap<i32, ProcessStatus> = BTreeMap::new();
        watch(&name, &traceset, |call, state| {
            if let Some((tid, _)) = switched_out(&call.event)
                && let Some(status) = last_status.remove(&tid)
            {
                assert_eq!(status, ProcessStatus::Exit);
                let now = state.find(tid).map(|(_, process)| process.status());
                let over = [None, Some(ProcessStatus::Zombie), Some(ProcessStatus::Dead)];
                // An exiting process may be switched out and back in.
                let on_its_way = [Some(ProcessStatus::Wait), Some(ProcessStatus::WaitCpu)];
                assert!(over.contains(&now) || on_its_way.contains(&now), "{name}: {tid} {now:?}");
            }
            if call.event.event_type().name() == "sched_process_exit" {
                let tid = number(&call.event, "tid") as i32;
                let (_, process) = state.find(tid).expect("it is alive");
                assert_eq!(process.status(), ProcessStatus::Exit, "{name}: {tid}");
                last_status.insert(tid, process.status());
                exits.push((process.serial(), call.delivery_time()));
            }
        });
        all_exits += exits.len();

        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(KernelState::new());
        let statistics = attach(&mut context, kernel, .., StatisticsAnalysis::new());
        _ = context.read(&Bounds::all()).expect("bounds without a position");
        let statistics = statistics.take(context.extensions_mut());
        for (serial, time) in exits {
            let facts = &statistics.traces()[0].process_facts()[serial.index()];
            assert_eq!(facts.end, Some(time), "{name}: {facts:?}");
        }
    }
    assert!(all_exits > 0);
}

#[test]
fn the_process_before_the_first_switch_is_known() {
    for (name, traceset) in traces() {
        let mut firsts: BTreeMap<i64, i32> = BTreeMap::new();
        let mut context = TracesetContext::new(&traceset);
        context.on_event("sched_switch", |call| -> Flow {
            let tid = number(&call.event, "prev_tid") as i32;
            firsts.entry(number(&call.event, "cpu_id")).or_insert(tid);
            Flow::Continue(())
        });
        _ = context.read(&Bounds::all()).expect("bounds without a position");
        drop(context);
        let (mut before, mut left) = (0, firsts.clone());
        watch(&name, &traceset, |call, state| {
            let cpu = number(&call.event, "cpu_id");
            if switched_out(&call.event).is_some() {
                left.remove(&cpu);
            } else if let Some(tid) = left.get(&cpu) {
                let running = state.running(cpu as u32).expect("a known CPU");
                assert_eq!(running.tid(), Some(*tid), "{name}: CPU {cpu}");
                before += 1;
            }
        });
        assert!(before > 0 && left.is_empty(), "{name}: {before} events before switches");
    }
}
