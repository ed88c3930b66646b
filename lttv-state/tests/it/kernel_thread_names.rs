//! Names and groups of threads in recordings of ftrace and perf, of which no switch tells, against plain readers of
//! what the recordings contain.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use ltt_read::schema::{ByteOrder::Little, Scope};
use ltt_read::{Event, Trace, TraceIndex};
use lttv_context::{Bounds, Subscription, Traceset, TracesetContext};
use lttv_hooks::Priority;
use lttv_state::kernel::KernelState;

use crate::ftrace_file::{FtraceFile, Machine, format};
use crate::packed::unpacked;
use crate::support;

/// The names and the thread groups of threads by their numbers.
type Threads = BTreeMap<i32, (String, Option<i32>)>;

fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces/perf/perf.data")
}

/// Returns the bytes of a shared recording, if it exists.
fn recording(kind: &str, name: &str, file: &str) -> Option<Vec<u8>> {
    let path = support::shared(kind)?.join(name).join(file);
    match path.extension().is_some_and(|extension| extension == "zst") {
        true => path.is_file().then(|| unpacked(&path)),
        false => std::fs::read(path).ok(),
    }
}

/// Follows the records of perf about threads.
fn follow(threads: &mut Threads, event: &Event<'_>) {
    let Some(payload) = event.scope(Scope::Payload) else { return };
    let number =
        |name: &str| payload.get(name).and_then(|of| of.as_u64()).expect("a number") as i32;
    match event.event_type().name() {
        "perf:comm" => {
            let name = payload.get("comm").and_then(|name| name.as_str()).expect("a text");
            let name = name.to_str_lossy().into_owned();
            threads.insert(number("tid"), (name, Some(number("pid"))));
        }
        "perf:fork" => {
            let name = threads.get(&number("ptid")).map(|thread| thread.0.clone());
            threads.insert(number("tid"), (name.unwrap_or_default(), Some(number("pid"))));
        }
        _ => {}
    }
}

/// Compares all threads that a state knows with those of records, after each event.
fn check_records(trace: Arc<Trace>, name: &str) -> usize {
    let compared = Rc::new(RefCell::new(0));
    let threads = Rc::new(RefCell::new(Threads::new()));
    let mut context = TracesetContext::new(Traceset::from(vec![trace]));
    let kernel = context.attach(KernelState::new());
    let after = Priority::new(30).expect("a priority");
    let (known, count, of) = (threads.clone(), compared.clone(), name.to_owned());
    context.on_event(Subscription::to_every_event().priority(after), move |call| {
        let threads = &mut known.borrow_mut();
        follow(threads, &call.event);
        if call.event.timestamp().is_none() {
            return;
        }
        let state = call.extensions[kernel].trace(TraceIndex(0)).expect("a trace");
        for (_, process) in state.processes() {
            let Some(tid) = process.tid().filter(|tid| *tid > 0) else { continue };
            let found = (state.name(process.name()).to_owned(), process.pid());
            // A thread without a record is in samples alone.
            let expected = threads.get(&tid).cloned().unwrap_or((String::new(), process.pid()));
            assert_eq!(found, expected, "{of}: thread {tid}");
            *count.borrow_mut() += 1;
        }
    });
    assert_eq!(context.read(&Bounds::all()).expect("a sound recording").errors, 0);
    drop(context);
    *compared.borrow()
}

#[test]
fn records_of_perf_name_threads() {
    let bundled = Trace::open(bundled()).expect("a recording");
    assert!(check_records(bundled, "bundled") > 500);
    for name in ["cpu-clock", "task-raw-syscalls", "trace-record", "switch-events"] {
        for file in ["perf.data.zst", "perf.data"] {
            if let Some(bytes) = recording("perf-data", name, file) {
                let trace = ltt_read::perf::from_memory(bytes).expect("a recording");
                assert!(check_records(trace, name) > 20, "{name}");
            }
        }
    }
}

/// Returns the states of all threads at the end of a recording.
fn at_end(trace: &Arc<Trace>) -> Threads {
    let mut context = TracesetContext::new(Traceset::from(vec![trace.clone()]));
    let kernel = context.attach(KernelState::new());
    assert_eq!(context.read(&Bounds::all()).expect("a sound recording").errors, 0);
    let state = context.extensions()[kernel].trace(TraceIndex(0)).expect("a trace");
    let threads = state.processes().filter_map(|(_, process)| {
        let tid = process.tid().filter(|tid| *tid > 0)?;
        Some((tid, (state.name(process.name()).to_owned(), process.pid())))
    });
    threads.collect()
}

#[test]
fn saved_names_of_ftrace_name_threads_of_which_no_event_tells() {
    for (name, file) in
        [("marker", "trace.dat"), ("sched-v6", "trace.dat.zst"), ("sched-v7", "trace.dat.zst")]
    {
        let Some(bytes) = recording("ftrace", name, file) else { return };
        let trace = ltt_read::ftrace::from_memory(bytes).expect("a recording").swap_remove(0);
        let text = trace.thread_names().expect("a sound text").expect("a text");
        let text = String::from_utf8(text).expect("names");
        let saved: BTreeMap<i32, &str> = text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .filter_map(|(tid, name)| Some((tid.parse().ok()?, name)))
            .collect();
        assert!(saved.len() > 5, "{name}");
        // The names that events tell.
        let mut told: BTreeMap<i32, String> = BTreeMap::new();
        let mut merge = ltt_read::Merge::new(std::slice::from_ref(&trace));
        while let Some(event) = merge.next() {
            for (tid, comm) in [
                ("pid", "comm"),
                ("prev_pid", "prev_comm"),
                ("next_pid", "next_comm"),
                ("child_pid", "child_comm"),
                ("pid", "newcomm"),
            ] {
                let tid = event.field(tid).and_then(|of| of.as_i64());
                let comm = event.field(comm);
                if let (Some(tid), Some(comm)) = (tid, comm.and_then(|of| of.as_str())) {
                    told.insert(tid as i32, comm.to_str_lossy().into_owned());
                }
            }
        }
        drop(merge);
        let (mut by_text, mut by_events) = (0, 0);
        for (tid, (found, _)) in at_end(&trace) {
            match (told.get(&tid), saved.get(&tid)) {
                (Some(told), _) => by_events += usize::from(found == *told),
                (None, Some(saved)) => {
                    assert_eq!(found, *saved, "{name}: thread {tid}");
                    by_text += 1;
                }
                (None, None) => assert_eq!(found, "", "{name}: thread {tid}"),
            }
        }
        assert!(by_text + by_events > 0, "{name}: {by_text} {by_events}");
    }
}

/// Without switches, each event tells its thread, and only the saved names tell what it is called.
#[test]
fn saved_names_are_those_of_threads_of_events() {
    let machine = Machine { order: Little, long: 8, page_size: 256 };
    let event = |pid| machine.event(1, &[machine.common(9, pid), vec![0; 4]].concat());
    let page = machine.page(1000, &[event(7), event(8)], None);
    let formats = vec![format("x", 9, &[("int n", 8, 4, 1)])];
    let file = FtraceFile { machine, system: "test", formats, cpus: vec![(0, page)] };
    let trace =
        ltt_read::ftrace::from_memory(file.version_6()).expect("a recording").swap_remove(0);
    assert_eq!(trace.thread_names().expect("a text").as_deref(), Some(&b"7 comm\n"[..]));
    let expected = [(7, ("comm".to_owned(), None)), (8, (String::new(), None))];
    assert_eq!(at_end(&trace), Threads::from(expected));
}
