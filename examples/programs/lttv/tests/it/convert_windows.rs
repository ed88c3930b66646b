//! Windows of traces: `lttv convert --begin --end` keeps the events of the window, and with a state
//! dump the state of all that they touch.
//!
//! Ten windows of every eighth shared trace, or with `LTTV_CONVERT_ALL=1` a hundred of all.

use crate::support;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::support::convert::{Random, convert_here, events, kernel, seconds, try_convert_here};
use crate::support::print_note;
use ltt_read::schema::Format;
use ltt_read::{NoticeKind, Timestamp, Trace, TracefileIndex};
use lttv_context::{EventCall, Subscription, Traceset, TracesetContext};
use lttv_hooks::{Flow, Priority};
use lttv_state::kernel::{ExecutionMode, KernelState};

fn is_all() -> bool {
    std::env::var_os("LTTV_CONVERT_ALL").is_some()
}

/// Returns the bundled traces, and shared ones.
fn folders() -> Vec<PathBuf> {
    let within = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        let mut all: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        all.sort();
        all
    };
    let mut all = within(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces"));
    match support::shared() {
        Some(shared) => {
            let shared: Vec<_> = ["traces/ctf", "traces/legacy"]
                .iter()
                .flat_map(|f| within(&shared.join(f)))
                .collect();
            all.extend(shared.into_iter().step_by(if is_all() { 1 } else { 8 }));
        }
        None => print_note("SKIPPED: there is no ../shared/traces/ctf"),
    }
    all
}

/// Returns the events of a folder with their times, sorted; `None` if it cannot be read whole or has
/// events without time.
fn sound(folder: &Path) -> Option<Vec<(i64, String)>> {
    let traces = ltt_read::open_all(folder).ok()?;
    let is_sound = traces.iter().flat_map(|trace| trace.cursors()).all(|mut cursor| {
        loop {
            match cursor.advance() {
                Ok(true) => {}
                Ok(false) => return true,
                Err(_) => return false,
            }
        }
    });
    is_sound.then(|| sorted(folder))?
}

fn sorted(folder: &Path) -> Option<Vec<(i64, String)>> {
    let traces = ltt_read::open_all(folder).ok()?;
    let all = traces.iter().flat_map(events).map(|(time, text)| Some((time?, text)));
    let mut all = all.collect::<Option<Vec<_>>>()?;
    all.sort();
    Some(all)
}

/// Returns the text of a window without what is another in the other format, for traces of formats
/// before CTF: names that are no identifiers, and the facility in the name of the event; of ftrace, a length.
fn plain(text: &str, format: Format) -> String {
    match format {
        Format::Legacy => {}
        // CTF 1.8 has the length of an array in a member before it; in recordings of ftrace, it follows from the size
        // of the event.
        Format::Ftrace => {
            let (before, rest) = text.split_once(" caller_length: ").unwrap_or((text, ""));
            return format!("{before}{}", rest.split_once(',').map_or("", |(_, rest)| rest));
        }
        _ => return text.to_owned(),
    }
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let text = format!("{} {rest}", name.rsplit('.').next().unwrap_or_default());
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

#[test]
fn random_windows_are_slices_of_the_text() {
    let count = if is_all() { 100 } else { 10 };
    let mut random = Random(11);
    let (mut traces, mut windows, mut copied, mut refused) = (0, 0, 0, 0);
    let mut failed = BTreeMap::new();
    for folder in folders() {
        let Some(all) = sound(&folder).filter(|all| !all.is_empty()) else { continue };
        let opened = ltt_read::open_all(&folder).unwrap();
        let format = opened[0].schema().format;
        let (first, last) = (all[0].0, all[all.len() - 1].0);
        if first < 0 || last - first > i64::MAX / 4 {
            continue;
        }
        let target = tempfile::tempdir().unwrap();
        for number in 0..count {
            // Half of the windows start and end at events.
            let mut time = || match number % 2 {
                0 => all[random.below(all.len() as i64) as usize].0,
                _ => first + random.below(last - first + 1),
            };
            let (a, b) = (time(), time());
            let (begin, end) = (a.min(b), a.max(b));
            let output = target.path().join(format!("{number}"));
            let window = ["--begin", &seconds(begin), "--end", &seconds(end)];
            match try_convert_here(&folder, &output, &window) {
                Ok(()) => {}
                // The times of the events follow from packets before the window.
                Err(error) if error.contains("headers cannot carry timestamp") => {
                    refused += 1;
                    continue;
                }
                Err(error) => panic!("{}: {window:?}: {error}", folder.display()),
            }
            let expected = all.iter().filter(|(time, _)| (begin..=end).contains(time));
            let mut expected: Vec<_> =
                expected.map(|(time, text)| (*time, plain(text, format))).collect();
            let found = sorted(&output).unwrap_or_default();
            let mut found: Vec<_> =
                found.iter().map(|(time, text)| (*time, plain(text, format))).collect();
            expected.sort();
            found.sort();
            let place = format!("{}: {begin} to {end}", folder.display());
            let different = found.iter().zip(&expected).find(|(found, expected)| found != expected);
            if different.is_some() || found.len() != expected.len() {
                let lengths = (found.len(), expected.len());
                failed.insert(folder.clone(), format!("{place}: {lengths:?}, {different:?}"));
            }
            copied += found.len();
            windows += 1;
        }
        traces += 1;
    }
    assert!(failed.is_empty(), "{failed:#?}");
    print_note(&format!(
        "{windows} windows of {traces} traces, {copied} events; {refused} windows cannot be written"
    ));
    assert!(windows > 30 && copied > 10_000);
}

/// The CPU and the threads that an event touches.
#[derive(Debug, Default, Clone)]
struct Touched {
    time: i64,
    cpu: Option<u32>,
    tids: Vec<i32>,
    is_switch: bool,
}

/// Returns what each event of a trace touches: the process that ran, and those in its fields.
fn touched(folder: &Path) -> Vec<Touched> {
    let mut context = TracesetContext::new(Traceset::open(folder).unwrap());
    let kernel = context.attach(KernelState::new());
    let all = Rc::new(RefCell::new(Vec::new()));
    let of_hook = all.clone();
    // Before the kernel state changes.
    let early = Subscription::to_every_event().priority(Priority::FIRST);
    context.on_event(early, move |call: &mut EventCall<'_, '_>| {
        let mut touched = Touched {
            time: call.event.timestamp().map_or(0, Timestamp::as_ns),
            cpu: call.extensions[kernel].cpu_of(call),
            is_switch: call.event.event_type().name() == "sched_switch",
            ..Touched::default()
        };
        let running = call.extensions[kernel].running_at(call).and_then(|process| process.tid());
        touched.tids.extend(running);
        for field in ["tid", "prev_tid", "next_tid", "child_tid"] {
            let value = call.event.field(field).and_then(|value| value.as_i64());
            let tid = value.and_then(|tid| i32::try_from(tid).ok()).filter(|tid| *tid > 0);
            touched.tids.extend(tid);
        }
        of_hook.borrow_mut().push(touched);
        Flow::Continue(())
    });
    _ = context.read(&lttv_context::Bounds::all()).unwrap();
    drop(context);
    Rc::try_unwrap(all).unwrap().into_inner()
}

/// A loss of events on a CPU.
struct Lost {
    cpu: u32,
    start: i64,
    /// The time of the next event of the CPU, at which the kernel state takes note of the loss.
    noted: i64,
}

fn lost(trace: &Arc<Trace>, events: &[Touched]) -> Vec<Lost> {
    let mut all = Vec::new();
    for index in (0..trace.tracefiles().len()).map(TracefileIndex) {
        let Some(cpu) = trace.tracefile(index).cpu() else { continue };
        for loss in trace.losses(index) {
            let (NoticeKind::DiscardedEvents { start, end, .. }
            | NoticeKind::LostPackets { start, end, .. }) = loss.kind
            else {
                continue;
            };
            let [start, end] = [start, end].map(|time| time.map_or(i64::MIN, Timestamp::as_ns));
            let next = events.iter().find(|event| event.cpu == Some(cpu) && event.time >= end);
            all.push(Lost { cpu, start, noted: next.map_or(i64::MAX, |event| event.time) });
        }
    }
    all
}

/// The state of a thread: name, process, parent, and the names of open files.
type Thread = (String, i32, i32, BTreeMap<i32, String>);

/// The states of threads, and the thread that each CPU runs.
#[derive(Debug)]
struct State {
    threads: BTreeMap<i32, Thread>,
    /// The threads that are in a system call.
    in_call: BTreeSet<i32>,
    status: BTreeMap<i32, String>,
    running: BTreeMap<u32, Option<i32>>,
}

/// Returns the state of threads and CPUs.
fn state(folder: &Path, time: i64, tids: &BTreeSet<i32>, cpus: &BTreeSet<u32>) -> State {
    let mut context = TracesetContext::new(Traceset::open(folder).unwrap());
    let kernel = context.attach(KernelState::new());
    context.state().seek_time(Timestamp::from_ns(time));
    let state = context.extensions()[kernel].traces().next().unwrap();
    let thread = |tid: &i32| {
        let (_, process) = state.find(*tid)?;
        let name = |name| state.name(name).to_owned();
        let files = process.files().iter().map(|file| (file.descriptor, name(file.name))).collect();
        // A state dump shows a thread of an unknown process as its own, and an unknown parent as 0.
        let (pid, parent) = (process.pid().unwrap_or(*tid), process.parent().unwrap_or(0));
        Some((*tid, (name(process.name()), pid, parent, files)))
    };
    let is_in_call = |tid: &&i32| {
        state.find(**tid).is_some_and(|(_, process)| process.mode() == ExecutionMode::Syscall)
    };
    let status = |tid: &i32| Some((*tid, state.find(*tid)?.1.status().to_string()));
    let running = |cpu: &u32| (*cpu, state.running(*cpu).and_then(|process| process.tid()));
    State {
        threads: tids.iter().filter_map(thread).collect(),
        in_call: tids.iter().filter(is_in_call).copied().collect(),
        status: tids.iter().filter_map(status).collect(),
        running: cpus.iter().map(running).collect(),
    }
}

#[test]
fn a_state_dump_gives_all_that_events_touch_its_state() {
    let mut sources = vec![kernel()];
    if let Some(shared) = support::shared() {
        let shared = shared.join("traces/ctf");
        let entries = fs::read_dir(shared).unwrap().map(|entry| entry.unwrap());
        let recorded = entries.filter(|entry| {
            let name = entry.file_name().into_string().unwrap();
            name.starts_with("k1-") || name.starts_with("k2-")
        });
        let recorded: BTreeSet<_> = recorded.map(|entry| entry.path()).collect();
        sources.extend(recorded.into_iter().step_by(if is_all() { 1 } else { 4 }));
    }
    let windows = if is_all() { 20 } else { 3 };
    let mut random = Random(5);
    let (mut threads, mut cpus) = (0, 0);
    for source in sources {
        let traces = ltt_read::open_all(&source).unwrap();
        if traces.len() != 1 || !KernelState::follows(&traces[0]) {
            continue;
        }
        let all = touched(&source);
        if all.is_empty() {
            continue;
        }
        let (first, last) = (all[0].time, all[all.len() - 1].time);
        let lost = lost(&traces[0], &all);
        let target = tempfile::tempdir().unwrap();
        for number in 0..windows {
            let begin = first + random.below((last - first) * 9 / 10);
            let end = begin + random.below(last - begin);
            let output = target.path().join(format!("{number}"));
            let args = ["--begin", &seconds(begin), "--end", &seconds(end), "--with-statedump"];
            convert_here(&source, &output, &args);
            for _ in 0..20 {
                let time = begin + 1 + random.below(end - begin);
                let inside = all.iter().filter(|event| (begin..time).contains(&event.time));
                let tids = inside.clone().flat_map(|event| event.tids.iter().copied());
                let tids: BTreeSet<i32> = tids.filter(|tid| *tid > 0).collect();
                // The state after lost events is known again from the first context switch on.
                let is_cpu_known = |cpu: u32| {
                    let is_lost =
                        |lost: &Lost| lost.cpu == cpu && lost.start < time && lost.noted >= begin;
                    let mut switches = inside.clone().filter(|event| event.is_switch);
                    !lost.iter().any(is_lost) || switches.any(|event| event.cpu == Some(cpu))
                };
                let of_cpus: BTreeSet<u32> = all.iter().filter_map(|event| event.cpu).collect();
                let known = of_cpus.iter().filter(|cpu| is_cpu_known(**cpu));
                let known: BTreeSet<u32> = known.copied().collect();
                // So is the status of threads that may have run on other CPUs.
                let switched = inside.clone().filter(|event| event.is_switch);
                let switched: BTreeSet<_> = switched.flat_map(|event| &event.tids).collect();
                let found = state(&output, time, &tids, &known);
                let expected = state(&source, time, &tids, &known);
                let place = format!("{}, {begin} to {end}, at {time}", source.display());
                let at_begin = state(&source, begin, &tids, &known);
                for (tid, thread) in &expected.threads {
                    let mut thread = thread.clone();
                    let mut found = found.threads.get(tid).cloned();
                    // A state dump does not tell that a file is being opened or closed at the begin.
                    if let Some(found) = &mut found
                        && at_begin.in_call.contains(tid)
                    {
                        let (a, b) = (&mut thread.3, &mut found.3);
                        let other = |fd: &i32, of: &BTreeMap<i32, _>| !of.contains_key(fd);
                        let opened: Vec<i32> =
                            a.keys().filter(|fd| other(fd, b)).copied().collect();
                        let closed: Vec<i32> =
                            b.keys().filter(|fd| other(fd, a)).copied().collect();
                        if opened.len() + closed.len() == 1 {
                            a.retain(|fd, _| !opened.contains(fd));
                            b.retain(|fd, _| !closed.contains(fd));
                        }
                    }
                    assert_eq!(found, Some(thread), "{place}: thread {tid}");
                }
                let is_running_known =
                    known.len() == of_cpus.len() && expected.running.values().all(Option::is_some);
                let is_known = |(tid, status): &(&i32, &String)| {
                    !status.is_empty() && (is_running_known || switched.contains(tid))
                };
                for (tid, status) in expected.status.iter().filter(is_known) {
                    assert_eq!(found.status.get(tid), Some(status), "{place}: thread {tid}");
                }
                for (cpu, running) in expected.running.iter().filter(|(_, known)| known.is_some()) {
                    assert_eq!(found.running.get(cpu), Some(running), "{place}: CPU {cpu}");
                }
                threads += expected.threads.len();
                cpus += expected.running.len();
            }
        }
    }
    print_note(&format!("{threads} states of threads, {cpus} of CPUs"));
    assert!(threads > 500 && cpus > 50);
}
