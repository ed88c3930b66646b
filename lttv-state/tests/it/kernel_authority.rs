//! Events are right where they contradict the state before them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use crate::support;
use crate::support::event_text::{trace_by, trace_of};
use ltt_read::TraceIndex;
use lttv_context::{Bounds, Subscription, Traceset, TracesetContext};
use lttv_hooks::Priority;
use lttv_state::analysis::read;
use lttv_state::kernel::needs::{EventKind, RecordedEvents};
use lttv_state::kernel::{
    CpuMode, ExecutionMode, KernelState, OpenFile, ProcessStatus, TraceState, Transition,
};
use lttv_state::kernel_history::Snapshot;
use lttv_state::latency::{Family, GroupBy, LatencyAnalysis, Settings};
use lttv_state::stats::StatisticsAnalysis;
use lttv_state::waits::{self, ThreadState, WaitAnalysis};

const FIRST: &str = "[0.000000010] h sched_switch: { cpu_id = 0 }, { prev_comm = \"swapper/0\", \
                     prev_tid = 0, prev_state = 0, next_comm = \"main\", next_tid = 100 }";
const OUT: &str = "[0.000000020] h sched_switch: { cpu_id = 0 }, { prev_comm = \"main\", \
                   prev_tid = 100, prev_state = 1, next_comm = \"swapper/0\", next_tid = 0 }";

fn traceset(lines: &[&str]) -> Traceset {
    Traceset::from(vec![trace_of(lines.iter().copied())])
}

/// Calls a function with the state after all events.
fn after<R>(lines: &[&str], look: impl FnOnce(&TraceState) -> R) -> R {
    let mut context = TracesetContext::new(traceset(lines));
    let kernel = context.attach(KernelState::new());
    assert_eq!(context.read(&Bounds::all()).unwrap().errors, 0);
    look(context.extensions()[kernel].trace(TraceIndex(0)).unwrap())
}

fn name_after(lines: &[&str]) -> String {
    after(lines, |state| {
        let (_, process) = state.find(100).expect("a thread");
        state.name(process.name()).to_owned()
    })
}

#[test]
fn a_thread_has_the_last_name_that_any_event_tells() {
    let wake = "[0.000000030] h sched_waking: { cpu_id = 0 }, { comm = \"writer\", tid = 100, target_cpu = 0 }";
    let migrate = "[0.000000030] h sched_migrate_task: { cpu_id = 0 }, { comm = \"writer\", tid = 100, dest_cpu = 0 }";
    let rename = "[0.000000030] h task_rename: { cpu_id = 0 }, { tid = 100, newcomm = \"writer\" }";
    let switch = "[0.000000030] h sched_switch: { cpu_id = 0 }, { prev_comm = \"swapper/0\", \
                  prev_tid = 0, prev_state = 0, next_comm = \"writer\", next_tid = 100 }";
    let out = "[0.000000040] h sched_switch: { cpu_id = 0 }, { prev_comm = \"late\", \
               prev_tid = 100, prev_state = 1, next_comm = \"swapper/0\", next_tid = 0 }";
    assert_eq!(name_after(&[FIRST, OUT]), "main");
    for told in [wake, migrate, rename, switch] {
        assert_eq!(name_after(&[FIRST, OUT, told]), "writer", "{told}");
    }
    assert_eq!(name_after(&[FIRST, OUT, switch, out]), "late");
}

#[test]
fn the_exit_of_another_call_ends_no_call_and_has_its_own_bytes() {
    let lines = [
        FIRST,
        "[0.000000011] h syscall_entry_read: { cpu_id = 0 }, { fd = 3 }",
        "[0.000000015] h syscall_exit_write: { cpu_id = 0 }, { ret = 10 }",
        "[0.000000016] h syscall_entry_read: { cpu_id = 0 }, { fd = 3 }",
        "[0.000000018] h syscall_exit_read: { cpu_id = 0 }, { ret = 7 }",
        OUT,
    ];
    let found = read(&traceset(&lines)).run(StatisticsAnalysis::new()).output;
    let trace = &found.traces()[0];
    let facts = trace.process_facts().iter().find(|of| of.tid == Some(100)).expect("a thread");
    assert_eq!((facts.bytes_read, facts.bytes_written), (7, 10));
    let calls = trace.syscalls();
    let calls: Vec<_> = calls.values().flatten().collect();
    let [(name, durations)] = &*calls else { panic!("{calls:?}") };
    assert_eq!((**name, durations.count(), durations.longest()), ("read", 1, Some(2)));
    assert_eq!(after(&lines, |state| state.anomalies().unmatched_exits), 1);

    let found = read(&traceset(&lines)).run(LatencyAnalysis::new(Settings::new())).output;
    let of = &found.traces()[0];
    let bytes = |family| (of.total(family).durations().count(), of.total(family).bytes());
    assert_eq!((bytes(Family::FileRead), bytes(Family::FileWrite)), ((1, 7), (0, 10)));
}

#[test]
fn what_is_copied_is_read_from_one_file_and_written_to_another() {
    for call in ["splice", "sendfile", "sendfile64", "tee", "copy_file_range"] {
        let lines = [
            FIRST,
            &format!(
                "[0.000000011] h syscall_entry_{call}: {{ cpu_id = 0 }}, {{ fd_in = 3, fd_out = 4 }}"
            ),
            &format!("[0.000000015] h syscall_exit_{call}: {{ cpu_id = 0 }}, {{ ret = 9 }}"),
            OUT,
        ];
        let found = read(&traceset(&lines)).run(StatisticsAnalysis::new()).output;
        let facts = found.traces()[0]
            .process_facts()
            .iter()
            .find(|of| of.tid == Some(100))
            .expect("a thread");
        assert_eq!((facts.bytes_read, facts.bytes_written), (9, 9), "{call}");
        let found = read(&traceset(&lines)).run(LatencyAnalysis::new(Settings::new())).output;
        let bytes =
            [Family::FileRead, Family::FileWrite].map(|of| found.traces()[0].total(of).bytes());
        assert_eq!(bytes, [9, 9], "{call}");
        let calls = [Family::FileRead, Family::FileWrite];
        let calls = calls.map(|of| found.traces()[0].total(of).durations().count());
        assert_eq!(calls, [1, 1], "{call}");
    }
    // These return numbers of messages.
    for call in ["recvmmsg", "sendmmsg"] {
        let lines = [
            FIRST,
            &format!("[0.000000011] h syscall_entry_{call}: {{ cpu_id = 0 }}, {{ fd = 3 }}"),
            &format!("[0.000000015] h syscall_exit_{call}: {{ cpu_id = 0 }}, {{ ret = 9 }}"),
            OUT,
        ];
        let found = read(&traceset(&lines)).run(LatencyAnalysis::new(Settings::new())).output;
        let bytes =
            [Family::FileRead, Family::FileWrite].map(|of| found.traces()[0].total(of).bytes());
        assert_eq!(bytes, [0, 0], "{call}");
    }
}

#[test]
fn handlers_of_a_shared_interrupt_have_their_own_names() {
    let names = RefCell::new(Vec::new());
    let seen = &names;
    let mut context = TracesetContext::new(traceset(&[
        FIRST,
        "[0.000000011] h irq_handler_entry: { cpu_id = 0 }, { irq = 16, name = \"usb1\" }",
        "[0.000000012] h irq_handler_exit: { cpu_id = 0 }, { irq = 16, ret = 0 }",
        "[0.000000013] h irq_handler_entry: { cpu_id = 0 }, { irq = 16, name = \"eth0\" }",
        "[0.000000016] h irq_handler_exit: { cpu_id = 0 }, { irq = 16, ret = 1 }",
        OUT,
    ]));
    let kernel = context.attach(KernelState::new());
    let after =
        Subscription::to("irq_handler_exit").priority(Priority::new(30).expect("a priority"));
    context.on_event(after, move |call| {
        let state = call.extensions[kernel].trace(TraceIndex(0)).unwrap();
        if let Some(ended) = state.effect().ended() {
            seen.borrow_mut().push((state.name(ended.submode).to_owned(), ended.elapsed));
        }
    });
    assert_eq!(context.read(&Bounds::all()).unwrap().errors, 0);
    drop(context);
    assert_eq!(names.into_inner(), [("usb1".to_owned(), 1), ("eth0".to_owned(), 3)]);
}

#[test]
fn parents_are_processes_whether_a_fork_or_a_dump_tells_them() {
    let fork = |time: u32, parent: (u32, u32), child: (u32, u32)| {
        format!(
            "[0.0000000{time}] h sched_process_fork: {{ cpu_id = 0 }}, {{ parent_comm = \"p\", \
             parent_tid = {}, parent_pid = {}, child_comm = \"c\", child_tid = {}, child_pid = {} }}",
            parent.0, parent.1, child.0, child.1
        )
    };
    // Process 20 is a child of 10; its thread 21 starts thread 22 and process 30.
    let lines = [
        FIRST.to_owned(),
        fork(11, (10, 10), (20, 20)),
        fork(12, (20, 20), (21, 20)),
        fork(13, (21, 20), (22, 20)),
        fork(14, (21, 20), (30, 30)),
    ];
    let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
    after(&lines, |state| {
        let parent = |tid| state.find(tid).and_then(|(_, process)| process.parent());
        assert_eq!([20, 21, 22, 30].map(parent), [10, 10, 10, 20].map(Some));
    });
}

#[test]
fn dumped_files_belong_to_their_process_also_before_it_is_dumped() {
    let lines = [
        "[0.000000001] h lttng_statedump_file_descriptor: { cpu_id = 0 }, { pid = 100, fd = 7, filename = \"/data/early\" }",
        FIRST,
        "[0.000000011] h syscall_entry_read: { cpu_id = 0 }, { fd = 7 }",
        "[0.000000015] h syscall_exit_read: { cpu_id = 0 }, { ret = 10 }",
        OUT,
    ];
    after(&lines, |state| {
        let (_, process) = state.find(100).expect("a thread");
        let file = process.files().iter().find(|file| file.descriptor == 7);
        let file = file.map(|file| state.name(file.name));
        assert_eq!(file, Some("/data/early"));
    });
}

#[test]
fn the_name_of_a_file_belongs_to_the_call_that_opens_it() {
    let open = "[0.000000011] h syscall_entry_openat: { cpu_id = 0 }, { filename = \"/data/a\" }";
    let opened = "[0.000000013] h syscall_exit_openat: { cpu_id = 0 }, { ret = 3 }";
    let files = |lines: &[&str]| {
        after(lines, |state| {
            let (_, process) = state.find(100).expect("a thread");
            let name = |file: &OpenFile| (file.descriptor, state.name(file.name).to_owned());
            process.files().iter().map(name).collect::<Vec<_>>()
        })
    };
    let named = [(3, "/data/a".to_owned())];
    assert_eq!(files(&[FIRST, open, opened]), named);
    // The exit of the first call was lost, or has no result; nothing tells what the second one opens.
    let without_result = "[0.000000012] h syscall_exit_openat: { cpu_id = 0 }, { flags = 0 }";
    for call in ["dup", "openat2"] {
        let entry =
            format!("[0.000000014] h syscall_entry_{call}: {{ cpu_id = 0 }}, {{ how = 9 }}");
        let exit = format!("[0.000000015] h syscall_exit_{call}: {{ cpu_id = 0 }}, {{ ret = 3 }}");
        assert_eq!(files(&[FIRST, open, &entry, &exit]), [], "{call}");
        assert_eq!(files(&[FIRST, open, without_result, &entry, &exit]), [], "{call}");
    }
}

/// Returns the names of the open files of a thread after all events.
fn open_files(lines: &[&str], tid: i32) -> Vec<(i32, String)> {
    after(lines, |state| {
        let (_, process) = state.find(tid).expect("a thread");
        let name = |file: &OpenFile| (file.descriptor, state.name(file.name).to_owned());
        process.files().iter().map(name).collect()
    })
}

/// Returns the events of a system call with arguments and results.
fn call(ns: u32, name: &str, arguments: &str, results: &str) -> [String; 2] {
    [
        format!("[0.{ns:09}] h syscall_entry_{name}: {{ cpu_id = 0 }}, {{ {arguments} }}"),
        format!("[0.{:09}] h syscall_exit_{name}: {{ cpu_id = 0 }}, {{ {results} }}", ns + 1),
    ]
}

/// Returns the open files of the first thread after system calls.
fn files_after(calls: &[(&str, &str, &str)]) -> Vec<(i32, String)> {
    let calls = calls.iter().zip((20..).step_by(2));
    let calls: Vec<String> = calls.flat_map(|(of, ns)| call(ns, of.0, of.1, of.2)).collect();
    let lines: Vec<&str> = [FIRST].into_iter().chain(calls.iter().map(|line| &**line)).collect();
    open_files(&lines, 100)
}

#[test]
fn descriptors_without_a_path_have_the_name_of_their_object() {
    let cases = [
        (("socket", "family = 2, type = 1", "ret = 3"), "socket"),
        (("accept4", "fd = 9, flags = 0", "ret = 3"), "socket"),
        (("epoll_create1", "flags = 0", "ret = 3"), "anon_inode:[eventpoll]"),
        (("eventfd2", "count = 0, flags = 0", "ret = 3"), "anon_inode:[eventfd]"),
        (("timerfd_create", "clockid = 1, flags = 0", "ret = 3"), "anon_inode:[timerfd]"),
    ];
    for (call, name) in cases {
        assert_eq!(files_after(&[call]), [(3, name.to_owned())], "{call:?}");
        assert_eq!(files_after(&[(call.0, call.1, "ret = -24")]), [], "{call:?}");
        // The exit alone tells it, too.
        let [_, exit] = self::call(20, call.0, call.1, call.2);
        assert_eq!(open_files(&[FIRST, &exit], 100), [(3, name.to_owned())], "{call:?}");
    }
    for (call, array) in [("pipe2", "fildes"), ("pipe", "fildes"), ("socketpair", "socket")] {
        let name = if call == "socketpair" { "socket" } else { "pipe" };
        let results = format!("ret = 0, {array} = [5 6]");
        let both = [(5, name.to_owned()), (6, name.to_owned())];
        assert_eq!(files_after(&[(call, "flags = 0", &results)]), both, "{call}");
        let failed = results.replace("ret = 0", "ret = -24");
        assert_eq!(files_after(&[(call, "flags = 0", &failed)]), [], "{call}");
        assert_eq!(files_after(&[(call, "flags = 0", "ret = 0")]), [], "{call}");
    }
}

#[test]
fn descriptors_are_duplicated_and_closed_by_every_call_that_does() {
    let open = ("openat", "filename = \"/a\", flags = 0", "ret = 3");
    let of = |descriptors: &[i32]| -> Vec<_> {
        descriptors.iter().map(|descriptor| (*descriptor, "/a".to_owned())).collect()
    };
    let copies = [
        ("dup", "fildes = 3", "ret = 4"),
        ("dup3", "oldfd = 3, newfd = 4, flags = 0", "ret = 4"),
        ("fcntl", "fd = 3, cmd = 0, arg = 4", "ret = 4"),
        ("fcntl", "fd = 3, cmd = 1030, arg = 4", "ret = 4"),
    ];
    for copy in copies {
        assert_eq!(files_after(&[open, copy]), of(&[3, 4]), "{copy:?}");
    }
    // Other commands return no descriptors.
    assert_eq!(files_after(&[open, ("fcntl", "fd = 3, cmd = 1, arg = 0", "ret = 1")]), of(&[3]));
    let closed = [
        ("close", "fd = 3", &[4][..]),
        ("close_range", "fd = 0, max_fd = 3, flags = 0", &[4]),
        ("close_range", "fd = 3, max_fd = 4294967295, flags = 0", &[]),
        ("close_range", "fd = 3, max_fd = 4294967295, flags = 4", &[3, 4]),
        ("close_range", "fd = 5, max_fd = 4, flags = 0", &[3, 4]),
    ];
    for (close, arguments, rest) in closed {
        let found = files_after(&[open, copies[0], (close, arguments, "ret = 0")]);
        assert_eq!(found, of(rest), "{close} {arguments}");
    }
}

#[test]
fn an_executed_program_has_the_files_that_stay_open() {
    let after_exec = |calls: &[(&str, &str, &str)]| {
        let calls = calls.iter().zip((20..).step_by(2));
        let calls: Vec<String> = calls.flat_map(|(of, ns)| call(ns, of.0, of.1, of.2)).collect();
        let exec = "[0.000000090] h sched_process_exec: { cpu_id = 0 }, \
                    { filename = \"/usr/bin/work\", tid = 100, old_tid = 100 }";
        let lines = [FIRST].into_iter().chain(calls.iter().map(|line| &**line)).chain([exec]);
        let found = open_files(&lines.collect::<Vec<_>>(), 100);
        found.into_iter().map(|(descriptor, _)| descriptor).collect::<Vec<_>>()
    };
    let stays = ("openat", "filename = \"/a\", flags = 0", "ret = 3");
    let closes = ("openat", "filename = \"/a\", flags = 524288", "ret = 3");
    assert_eq!(after_exec(&[stays]), [3]);
    assert_eq!(after_exec(&[closes]), [0; 0]);
    assert_eq!(after_exec(&[("socket", "type = 524289", "ret = 3")]), [0; 0]);
    assert_eq!(after_exec(&[closes, ("dup", "fildes = 3", "ret = 4")]), [4]);
    assert_eq!(after_exec(&[stays, ("fcntl", "fd = 3, cmd = 1030, arg = 0", "ret = 4")]), [3]);
    assert_eq!(after_exec(&[stays, ("fcntl", "fd = 3, cmd = 2, arg = 1", "ret = 0")]), [0; 0]);
    assert_eq!(after_exec(&[closes, ("fcntl", "fd = 3, cmd = 2, arg = 0", "ret = 0")]), [3]);
    let range = ("close_range", "fd = 0, max_fd = 9, flags = 4", "ret = 0");
    assert_eq!(after_exec(&[stays, range]), [0; 0]);
    // The state dump tells the flags, too.
    let dumped = |flags: u32| {
        let dump = format!(
            "[0.000000001] h lttng_statedump_file_descriptor: {{ cpu_id = 0 }}, \
             {{ pid = 100, fd = 7, flags = {flags}, filename = \"/b\" }}"
        );
        open_files(&[&dump, FIRST, EXEC], 100).len()
    };
    assert_eq!((dumped(0), dumped(0o2_000_002)), (1, 0));
    // A thread that executes a program takes the place of its process, with the files.
    let calls = call(20, "openat", "filename = \"/a\", flags = 0", "ret = 3");
    let threads = [
        FIRST,
        &calls[0],
        &calls[1],
        "[0.000000030] h sched_process_fork: { cpu_id = 0 }, { parent_comm = \"main\", parent_tid = 100, \
         parent_pid = 100, child_comm = \"main\", child_tid = 101, child_pid = 100 }",
        "[0.000000040] h sched_switch: { cpu_id = 0 }, { prev_comm = \"main\", prev_tid = 100, \
         prev_state = 1, next_comm = \"main\", next_tid = 101 }",
        "[0.000000050] h sched_process_exec: { cpu_id = 0 }, \
         { filename = \"/usr/bin/work\", tid = 100, old_tid = 101 }",
    ];
    assert_eq!(open_files(&threads, 100), [(3, "/a".to_owned())]);
}

const EXEC: &str = "[0.000000012] h sched_process_exec: { cpu_id = 0 }, \
                    { filename = \"/usr/bin/work\", tid = 100, old_tid = 100 }";

/// Returns the name and the executable of a thread after all events.
fn executed(lines: &[&str], tid: i32) -> (String, String) {
    after(lines, |state| {
        let (_, process) = state.find(tid).expect("a thread");
        (state.name(process.name()).to_owned(), state.name(process.executable()).to_owned())
    })
}

#[test]
fn an_executed_file_keeps_its_path_beside_the_command() {
    let own = |path: &str| ("work".to_owned(), path.to_owned());
    assert_eq!(executed(&[FIRST], 100), ("main".to_owned(), String::new()));
    assert_eq!(executed(&[FIRST, EXEC], 100), own("/usr/bin/work"));
    // Another name is not another file.
    let rename = "[0.000000013] h task_rename: { cpu_id = 0 }, { tid = 100, newcomm = \"loop\" }";
    let renamed = executed(&[FIRST, EXEC, rename], 100);
    assert_eq!(renamed, ("loop".to_owned(), "/usr/bin/work".to_owned()));
    // Children execute the same file until they execute another one.
    let fork = "[0.000000014] h sched_process_fork: { cpu_id = 0 }, { parent_comm = \"work\", \
                parent_tid = 100, parent_pid = 100, child_comm = \"work\", child_tid = 101, \
                child_pid = 101 }";
    assert_eq!(executed(&[FIRST, EXEC, fork], 101), own("/usr/bin/work"));
    let again = "[0.000000015] h sched_process_exec: { cpu_id = 0 }, \
                 { filename = \"./work\", tid = 100, old_tid = 100 }";
    assert_eq!(executed(&[FIRST, EXEC, fork, again], 100), own("./work"));
    assert_eq!(executed(&[FIRST, EXEC, fork, again], 101), own("/usr/bin/work"));
}

#[test]
fn the_first_name_of_a_thread_is_no_better_than_later_ones() {
    let fork = "[0.000000014] h sched_process_fork: { cpu_id = 0 }, { parent_comm = \"main\", \
                parent_tid = 100, parent_pid = 100, child_comm = \"main\", child_tid = 101, \
                child_pid = 101 }";
    let of_child = |told: &str| executed(&[FIRST, fork, told], 101).0;
    let told = [
        "[0.000000030] h sched_wakeup: { cpu_id = 1 }, { comm = \"child\", tid = 101, target_cpu = 1 }",
        "[0.000000030] h sched_wakeup_new: { cpu_id = 1 }, { comm = \"child\", tid = 101, target_cpu = 1 }",
        "[0.000000030] h sched_switch: { cpu_id = 1 }, { prev_comm = \"swapper/1\", \
         prev_tid = 0, prev_state = 0, next_comm = \"child\", next_tid = 101 }",
        "[0.000000030] h sched_switch: { cpu_id = 1 }, { prev_comm = \"child\", \
         prev_tid = 101, prev_state = 1, next_comm = \"swapper/1\", next_tid = 0 }",
        "[0.000000030] h sched_process_exit: { cpu_id = 1 }, { comm = \"child\", tid = 101 }",
    ];
    for told in told {
        assert_eq!(of_child(told), "child", "{told}");
    }
}

/// perf records the ids with the payload, and its recordings need no context switches.
#[test]
fn calls_belong_to_the_thread_that_their_events_name() {
    let lines = [
        "[0.000000010] h raw_syscalls:sys_enter: { cpu_id = 0 }, { perf_tid = 7, perf_pid = 7, id = 0 }",
        "[0.000000012] h raw_syscalls:sys_enter: { cpu_id = 0 }, { perf_tid = 8, perf_pid = 7, id = 1 }",
        "[0.000000013] h raw_syscalls:sys_exit: { cpu_id = 0 }, { perf_tid = 7, perf_pid = 7, id = 0, ret = 5 }",
        "[0.000000017] h raw_syscalls:sys_exit: { cpu_id = 0 }, { perf_tid = 8, perf_pid = 7, id = 1, ret = 6 }",
    ];
    let found = read(&traceset(&lines)).run(LatencyAnalysis::new(Settings::new())).output;
    let total = found.traces()[0].total(Family::Syscall);
    let calls = total.durations();
    assert_eq!((calls.count(), calls.spread().total()), (2, 3 + 5));
}

/// Contexts tell who runs at each event, and nothing about the time between events.
#[test]
fn threads_without_switches_are_those_of_contexts() {
    let lines = [
        "[0.000000010] h raw_syscalls:sys_enter: { cpu_id = 0 }, { perf_tid = 7, perf_pid = 6, id = 0 }",
        "[0.000000012] h raw_syscalls:sys_enter: { cpu_id = 0 }, { perf_tid = 8, perf_pid = 6, id = 1 }",
        "[0.000000013] h other: { cpu_id = 1 }, { perf_tid = 9, perf_comm = \"alone\" }",
        "[0.000000014] h raw_syscalls:sys_exit: { cpu_id = 1 }, { perf_tid = 7, perf_pid = 6, id = 0, ret = 5 }",
        "[0.000000017] h raw_syscalls:sys_exit: { cpu_id = 0 }, { perf_tid = 8, perf_pid = 6, id = 1, ret = 6 }",
        "[0.000000020] h other: { cpu_id = 0 }, { perf_tid = 8, perf_comm = \"worker\" }",
        "[0.000000090] h other: { cpu_id = 1 }, { perf_tid = 0, perf_comm = \"swapper\" }",
    ];
    let traceset = traceset(&lines);
    let kinds = KernelState::kinds(&traceset.traces()[0]);
    assert!(kinds.contains(&Transition::Context), "{kinds:?}");
    for threads in [1, 2] {
        let found = read(&traceset).threads(threads).run(StatisticsAnalysis::new()).output;
        let of = &found.traces()[0];
        let mut threads = BTreeMap::new();
        for (key, counts) in of.leaves() {
            let facts = &of.process_facts()[key.process.index()];
            let (events, time) = threads.entry(facts.tid).or_insert((0, 0));
            *events += counts.events.total();
            *time += counts.cpu_time;
        }
        let events = |tid| threads.get(&tid).map(|of: &(u64, u64)| of.0);
        let counted = [7, 8, 9, 0].map(|tid| events(Some(tid)));
        assert_eq!(counted, [Some(2), Some(3), Some(1), Some(1)], "{threads:?}");
        // All CPU time is unknown: that of two CPUs from the first event to the last one.
        assert!(threads.iter().all(|(tid, (_, time))| tid.is_none() || *time == 0), "{threads:?}");
        assert_eq!(threads[&None].1, 2 * 80, "{threads:?}");
        let ended: u64 = of.syscalls().values().flatten().map(|(_, of)| of.count()).sum();
        assert_eq!(ended, 2);
        let worker = of.process_facts().iter().find(|of| of.tid == Some(8)).expect("a thread");
        assert_eq!((worker.pid, &*worker.name), (Some(6), "worker"));
    }
}

/// Threads are known with what they do, and run nowhere between events.
#[test]
fn a_state_without_switches_has_threads_that_run_nowhere() {
    let lines = [
        "[0.000000010] h raw_syscalls:sys_enter: { cpu_id = 0 }, { perf_tid = 7, perf_pid = 6, id = 0 }",
        "[0.000000012] h other: { cpu_id = 0 }, { perf_tid = 8, perf_comm = \"alone\" }",
    ];
    let state = after(&lines, Snapshot::from_state);
    let cpu = &state.cpus[0];
    assert_eq!((cpu.thread, cpu.mode), (None, CpuMode::Unknown));
    let threads = state.threads.iter().filter(|of| of.tid > 0);
    let threads: Vec<_> =
        threads.map(|of| (of.tid, of.pid, &*of.name, of.mode, of.status)).collect();
    let unknown = ProcessStatus::Unknown;
    assert_eq!(
        threads,
        [
            (7, Some(6), "", ExecutionMode::Syscall, unknown),
            (8, None, "alone", ExecutionMode::Unknown, unknown)
        ]
    );
}

/// A recording of ftrace describes switches also if it has none. Then nothing tells who runs between events.
#[test]
fn event_types_that_are_only_described_tell_nothing() {
    let calls = [
        "[0.000000010] h raw_syscalls:sys_enter: { cpu_id = 0 }, { perf_tid = 7, perf_pid = 6, id = 0 }",
        "[0.000000014] h raw_syscalls:sys_exit: { cpu_id = 0 }, { perf_tid = 7, perf_pid = 6, id = 0, ret = 5 }",
        "[0.000000020] h irq_handler_entry: { cpu_id = 0 }, { perf_tid = 7, irq = 1, name = \"timer\" }",
    ];
    let irq_exit =
        "[0.000000020] h irq_handler_exit: { cpu_id = 0 }, { perf_tid = 7, irq = 1, ret = 1 }";
    let described = [FIRST, irq_exit];
    for (tracer, are_recorded) in [("lttng-modules", true), ("ftrace", false)] {
        let trace = trace_by(tracer, calls, &described);
        let recorded = RecordedEvents::of(&trace);
        let has = |transition| recorded.has(EventKind::Transition(transition));
        assert_eq!(has(Transition::Switch), are_recorded, "{tracer}");
        assert_eq!(has(Transition::IrqExit), are_recorded, "{tracer}");
        assert_eq!(has(Transition::Context), !are_recorded, "{tracer}");
        assert!(has(Transition::SyscallEntry) && has(Transition::IrqEntry), "{tracer}");
        assert_eq!(recorded.has(EventKind::Named(&["irq_handler_exit"])), are_recorded, "{tracer}");
        let missing: Vec<_> = recorded.missing(waits::NEEDS).map(|need| need.events).collect();
        assert_eq!(missing.contains(&"sched_switch"), !are_recorded, "{tracer}: {missing:?}");
        let found = read(&Traceset::from(vec![trace])).run(StatisticsAnalysis::new()).output;
        let events = found.traces()[0].leaves().map(|(key, counts)| {
            let facts = &found.traces()[0].process_facts()[key.process.index()];
            (facts.tid == Some(7)) as u64 * counts.events.total()
        });
        assert_eq!(events.sum::<u64>(), if are_recorded { 0 } else { 3 }, "{tracer}");
    }
    // With one switch, switches were recorded.
    let with_switch = [FIRST, OUT, calls[0]];
    let recorded = RecordedEvents::of(&trace_by("ftrace", with_switch, &[irq_exit]));
    assert!(recorded.has(EventKind::Transition(Transition::Switch)));
    assert!(!recorded.has(EventKind::Transition(Transition::IrqExit)));
}

/// Switches tell who runs: no event needs a rule for its contexts.
#[test]
fn contexts_change_no_state_beside_switches() {
    let lines = [FIRST, "[0.000000012] h other: { cpu_id = 0 }, { perf_tid = 9 }", OUT];
    let kinds = KernelState::kinds(&traceset(&lines).traces()[0]);
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), [Transition::Switch]);
    assert!(after(&lines, |state| state.find(9).is_none()));
}

/// The first switch of a CPU tells which thread ran there until then, unless a switch of another CPU tells that the
/// thread was elsewhere in the meantime. Where it ran before is unknown then.
#[test]
fn a_thread_ran_on_one_cpu_at_a_time_before_the_first_switches() {
    let switch = |time: u32, cpu: u32, previous: u32, next: u32| {
        format!(
            "[0.{time:09}] h sched_switch: {{ cpu_id = {cpu} }}, {{ prev_comm = \"t{previous}\", prev_tid = \
             {previous}, prev_state = 1, next_comm = \"t{next}\", next_tid = {next} }}"
        )
    };
    let times = |lines: &[String]| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let found = read(&traceset(&lines)).run(StatisticsAnalysis::new()).output;
        let of = &found.traces()[0];
        let mut times = BTreeMap::new();
        for (key, counts) in of.leaves() {
            let tid = of.process_facts()[key.process.index()].tid;
            *times.entry((key.cpu, tid)).or_insert(0) += counts.cpu_time;
        }
        times.retain(|(_, tid), time| *tid != Some(0) && *time > 0);
        let graph = read(&traceset(&lines)).run(WaitAnalysis::new()).output;
        let thread = graph.find(TraceIndex(0), 100, graph.end()).expect("a thread");
        let states = graph.times(thread, graph.begin()..graph.end());
        let running = states.of(ThreadState::Running);
        let of_statistics = times.iter().filter(|((_, tid), _)| *tid == Some(100));
        assert_eq!(running.total(), of_statistics.map(|(_, time)| *time).sum::<u64>());
        times.into_iter().collect::<Vec<_>>()
    };
    // It ran on CPU 0 from 10 to 20; CPU 1 has no earlier switch.
    let switched_in = [switch(10, 0, 0, 100), switch(20, 0, 100, 0), switch(1000, 1, 100, 0)];
    assert_eq!(times(&switched_in), [((0, Some(100)), 10), ((1, None), 990)]);
    // It ran on CPU 1 until 30; the first switch of CPU 0 is later.
    let switched_out = [switch(10, 2, 0, 7), switch(30, 1, 100, 0), switch(1000, 0, 100, 0)];
    assert_eq!(times(&switched_out), [((0, None), 990), ((1, Some(100)), 20), ((2, Some(7)), 990)]);
    // No other CPU had it.
    let alone = [switch(10, 0, 0, 7), switch(1000, 1, 100, 0)];
    assert_eq!(times(&alone), [((0, Some(7)), 990), ((1, Some(100)), 990)]);
}

/// The time of a thread on CPUs is the same in statistics and in waits.
#[test]
fn cpu_times_of_statistics_are_those_of_waits() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces");
    let bundled = ["kernel", "ftrace"].map(|name| Path::new(examples).join(name));
    let shared = ["ctf/k1-mix", "ctf/k1-8cpu"].into_iter().filter_map(support::shared);
    for path in bundled.into_iter().chain(shared) {
        let traceset = Traceset::open(&path).expect("traces");
        let found = read(&traceset).run(StatisticsAnalysis::new()).output;
        let graph = read(&traceset).run(WaitAnalysis::new()).output;
        for (number, of) in found.traces().iter().enumerate() {
            let mut expected = BTreeMap::new();
            for (key, counts) in of.leaves().filter(|(_, counts)| counts.cpu_time > 0) {
                let tid = of.process_facts()[key.process.index()].tid;
                if let Some(tid @ 1..) = tid {
                    *expected.entry(tid).or_insert(0) += counts.cpu_time;
                }
            }
            let mut times = BTreeMap::new();
            for (id, timeline) in graph.timelines() {
                if timeline.trace() == TraceIndex(number) && timeline.tid() > 0 {
                    let states = graph.times(id, graph.begin()..graph.end());
                    *times.entry(timeline.tid()).or_insert(0) +=
                        states.of(ThreadState::Running).total();
                }
            }
            times.retain(|_, time| *time > 0);
            assert_eq!(times, expected, "{}", path.display());
        }
    }
}

/// The entry of an open names the file, whether it is opened or not.
#[test]
fn files_that_cannot_be_opened_have_names() {
    let open = |time, file| {
        format!(
            "[0.{time:09}] h syscall_entry_openat: {{ cpu_id = 0 }}, {{ dfd = -100, filename = \"{file}\" }}"
        )
    };
    let exit = |time, ret| {
        format!("[0.{time:09}] h syscall_exit_openat: {{ cpu_id = 0 }}, {{ ret = {ret} }}")
    };
    let lines = [
        open(11, "/missing"),
        exit(12, -2),
        open(13, "/there"),
        exit(14, 5),
        // Its exit is lost; the next call opens no file, but a socket.
        open(15, "/lost"),
        "[0.000000016] h syscall_entry_accept: { cpu_id = 0 }, { fd = 5 }".to_owned(),
        "[0.000000017] h syscall_exit_accept: { cpu_id = 0 }, { ret = 6 }".to_owned(),
    ];
    let lines: Vec<&str> = [FIRST].into_iter().chain(lines.iter().map(String::as_str)).collect();
    let found = read(&traceset(&lines)).run(LatencyAnalysis::new(Settings::new())).output;
    let of = &found.traces()[0];
    let rows = of.rows(Family::FileOpen, GroupBy::Subject);
    let mut names: Vec<_> = rows.iter().filter_map(|row| Some(of.subject(row.subject?))).collect();
    names.sort();
    assert_eq!(names, ["/missing", "/there", "socket"]);
}

/// A thread that is switched in on one CPU no longer runs on another one, whose switch was not recorded.
#[test]
fn the_time_of_a_thread_ends_where_it_appears_on_another_cpu() {
    let lines = [
        FIRST,
        "[0.000000030] h sched_switch: { cpu_id = 1 }, { prev_comm = \"swapper/1\", \
         prev_tid = 0, prev_state = 0, next_comm = \"main\", next_tid = 100 }",
        "[0.000000050] h sched_switch: { cpu_id = 1 }, { prev_comm = \"main\", \
         prev_tid = 100, prev_state = 1, next_comm = \"swapper/1\", next_tid = 0 }",
    ];
    let found = read(&traceset(&lines)).run(StatisticsAnalysis::new()).output;
    let trace = &found.traces()[0];
    let of = |tid: i32| -> u64 {
        let tid_of = |serial: usize| trace.process_facts()[serial].tid;
        let all = trace.processes().into_iter();
        all.filter(|of| tid_of(of.process.index()) == Some(tid)).map(|of| of.cpu_time).sum()
    };
    assert_eq!(of(100), 40);
    let cpus = trace.cpus().into_iter().map(|cpu| (cpu.number, cpu.busy_time, cpu.unknown_time));
    assert_eq!(cpus.collect::<Vec<_>>(), [(0, 20, 20), (1, 20, 0)]);
}
