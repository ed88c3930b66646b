//! State dumps that tell which processes run, such as those of trimmed traces.

use crate::support::scheduling::{Content, KernelEvent, Machine, trace};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::kernel::{ExecutionMode, KernelState, Process, ProcessStatus, TraceState};

/// The numbers of LTTng's enumeration of states.
const WAIT_CPU: i64 = 2;
const EXIT: i64 = 3;
const RUN: i64 = 6;

/// Creates an event of a process in a state dump.
fn dumped(time: i64, tid: i64, status: i64, cpu: i64) -> KernelEvent {
    let numbers = [("tid", tid), ("pid", tid), ("ppid", 0), ("type", 0)];
    let mut event = KernelEvent::new(time, 0, "lttng_statedump_process_state", &numbers);
    event.fields.insert(3, ("name".to_owned(), Content::Text(format!("p{tid}"))));
    let rest = [("status", status), ("cpu", cpu), ("file_table_address", tid)];
    event.fields.extend(rest.map(|(name, of)| (name.to_owned(), Content::Number(of))));
    event
}

fn end(time: i64) -> KernelEvent {
    KernelEvent::new(time, 0, "lttng_statedump_end", &[])
}

fn openat(time: i64, cpu: u32, name: &str) -> KernelEvent {
    let mut event = KernelEvent::new(time, cpu, "syscall_entry_openat", &[("dfd", -100)]);
    event.fields.push(("filename".to_owned(), Content::Text(name.to_owned())));
    event
}

fn openat_returns(time: i64, cpu: u32, fd: i64) -> KernelEvent {
    KernelEvent::new(time, cpu, "syscall_exit_openat", &[("ret", fd)])
}

/// Calls a function with the state at the end of a trace.
fn at_end(events: &[KernelEvent], check: impl FnOnce(&TraceState)) {
    let traceset: Traceset = vec![trace(Machine::default(), events)].into();
    let mut context = TracesetContext::new(&traceset);
    let kernel = context.attach(KernelState::new());
    _ = context.read(&Bounds::all()).expect("bounds have no position");
    check(context.extensions()[kernel].traces().next().expect("a trace"));
}

fn files(state: &TraceState, tid: i32) -> Vec<(i32, &str)> {
    let (_, process) = state.find(tid).expect("a process");
    process.files().iter().map(|file| (file.descriptor, state.name(file.name))).collect()
}

fn running(state: &TraceState, cpu: u32) -> Option<i32> {
    state.running(cpu).and_then(Process::tid)
}

#[test]
fn a_running_process_opens_files_before_any_switch() {
    let events = [
        dumped(10, 7, RUN, 0),
        dumped(10, 8, RUN, 1),
        dumped(10, 9, WAIT_CPU, 1),
        end(10),
        openat(11, 1, "/a"),
        openat_returns(12, 1, 3),
        openat(13, 0, "/b"),
        openat_returns(14, 0, 4),
    ];
    at_end(&events, |state| {
        assert_eq!((running(state, 0), running(state, 1)), (Some(7), Some(8)));
        assert_eq!((files(state, 7), files(state, 8)), (vec![(4, "/b")], vec![(3, "/a")]));
        let status = |tid| state.find(tid).map(|(_, process)| process.status());
        assert_eq!(status(8), Some(ProcessStatus::Run));
        assert_eq!(status(9), Some(ProcessStatus::WaitCpu));
    });
}

#[test]
fn what_preceded_the_dump_on_a_cpu_belongs_to_its_process() {
    // The other CPU is in a system call before the dump arrives.
    let events = [openat(9, 1, "/a"), dumped(10, 8, RUN, 1), end(11)];
    at_end(&events, |state| {
        assert_eq!(running(state, 1), Some(8));
        let (_, process) = state.find(8).expect("a process");
        assert_eq!(
            (process.mode(), process.status()),
            (ExecutionMode::Syscall, ProcessStatus::Run)
        );
    });
}

#[test]
fn switches_take_precedence_over_dumps() {
    let events = [
        KernelEvent::switch(9, 0, 1, 1, 5),
        dumped(10, 7, RUN, 0),
        // It runs on CPU 0, as the switch tells.
        dumped(10, 5, RUN, 1),
        dumped(10, 6, RUN, 1),
        end(10),
    ];
    at_end(&events, |state| {
        assert_eq!((running(state, 0), running(state, 1)), (Some(5), Some(6)));
        let status = |tid| state.find(tid).map(|(_, process)| process.status());
        assert_eq!(status(7), Some(ProcessStatus::WaitCpu));
        assert_eq!(status(5), Some(ProcessStatus::Run));
    });
}

#[test]
fn idle_and_exiting_processes_run() {
    let events = [
        dumped(10, 0, RUN, 2),
        dumped(10, 7, EXIT, 1),
        end(10),
        KernelEvent::switch(20, 0, 3, 1, 4),
    ];
    at_end(&events, |state| {
        assert_eq!((running(state, 2), running(state, 1)), (Some(0), Some(7)));
        let (_, process) = state.find(7).expect("a process");
        assert_eq!(process.status(), ProcessStatus::Exit);
    });
}

#[test]
fn numbers_of_dumps_are_not_trusted() {
    let events = [
        dumped(10, i64::from(i32::MAX), RUN, 0),
        dumped(10, -4, RUN, 0),
        dumped(10, 7, RUN, i64::from(u32::MAX)),
        dumped(10, 8, RUN, -1),
        dumped(10, 8, RUN, 0),
        dumped(10, 8, RUN, 1),
        end(10),
    ];
    at_end(&events, |state| {
        assert_eq!(running(state, 0), Some(8));
        assert_ne!(running(state, 1), Some(8));
    });
}
