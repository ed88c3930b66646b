//! The waits of threads.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::support::time_of_day;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Run,
    Ready,
    Blocked,
    Gone,
}

/// Returns the time spans of each kind, by TID.
fn spans_of_threads() -> BTreeMap<(i64, Kind), Vec<(i64, i64)>> {
    let (lines, (first, last)) = (lines(), all());
    let mut now: BTreeMap<i64, (Kind, i64)> = BTreeMap::new();
    let mut spans: BTreeMap<(i64, Kind), Vec<(i64, i64)>> = BTreeMap::new();
    let mut change = |now: &mut BTreeMap<i64, (Kind, i64)>, tid, kind, time| {
        if let Some((then, since)) = now.insert(tid, (kind, time)) {
            spans.entry((tid, then)).or_default().push((since, time));
        }
    };
    // Threads that were woken while they ran did not wait when they were switched out.
    let mut woken_early: BTreeSet<i64> = BTreeSet::new();
    // The first switch of a CPU tells which thread ran there before.
    let mut cpus: Vec<u32> = Vec::new();
    for line in lines.iter().filter(|line| line.name == "sched_switch") {
        if !cpus.contains(&line.cpu) {
            cpus.push(line.cpu);
            change(&mut now, line.number("prev_tid"), Kind::Run, first);
        }
    }
    for line in lines {
        match &*line.name {
            "sched_switch" => {
                let out = match line.number("prev_state") & 0xff {
                    0 => Kind::Ready,
                    state if state & (16 | 32) != 0 => Kind::Gone,
                    _ => Kind::Blocked,
                };
                change(&mut now, line.number("prev_tid"), out, line.time);
                let next = line.number("next_tid");
                let is_early = woken_early.remove(&next);
                if let Some((kind @ Kind::Blocked, _)) = now.get_mut(&next).filter(|_| is_early) {
                    *kind = Kind::Ready;
                }
                change(&mut now, next, Kind::Run, line.time);
            }
            "sched_process_fork" => {
                change(&mut now, line.number("child_tid"), Kind::Ready, line.time);
            }
            "sched_waking" | "sched_wakeup" | "sched_wakeup_new" => {
                let tid = line.number("tid");
                match now.entry(tid).or_insert((Kind::Blocked, first)).0 {
                    Kind::Blocked => change(&mut now, tid, Kind::Ready, line.time),
                    Kind::Run => _ = woken_early.insert(tid),
                    Kind::Ready | Kind::Gone => {}
                }
            }
            "lttng_statedump_process_state" => {
                let (tid, status) = (line.number("tid"), line.number("status"));
                if status == 5 && !now.contains_key(&tid) {
                    // What a dump shows asleep has slept since the start.
                    change(&mut now, tid, Kind::Blocked, first);
                }
            }
            _ => {}
        }
    }
    let tids: Vec<i64> = now.keys().copied().collect();
    tids.into_iter().for_each(|tid| change(&mut now, tid, Kind::Gone, last));
    spans
}

/// Returns the time of the first event that names each thread.
fn first_mentions() -> BTreeMap<i64, i64> {
    let mut mentions = BTreeMap::new();
    for line in lines() {
        let fields: &[&str] = match &*line.name {
            "sched_switch" => &["prev_tid", "next_tid"],
            "sched_process_fork" => &["child_tid"],
            "sched_waking" | "sched_wakeup" | "sched_wakeup_new" => &["tid"],
            "lttng_statedump_process_state" => &["tid"],
            _ => &[],
        };
        for field in fields {
            mentions.entry(line.number(field)).or_insert(line.time);
        }
    }
    mentions
}

#[test]
fn wait_counts_what_is_open_at_the_borders() {
    let (spans, mentions) = (spans_of_threads(), first_mentions());
    let sum = |tid: i64, kind, window| -> i64 {
        let spans = spans.get(&(tid, kind)).map_or(&[][..], Vec::as_slice);
        spans.iter().map(|span| part(*span, window)).sum()
    };
    let mut compared = 0;
    for window in windows(25).into_iter().chain([all()]) {
        let found = json::<WaitArgs>(wait::run, &["--timerange", &range(window)]);
        let mut times: BTreeMap<i64, [i64; 3]> = BTreeMap::new();
        for row in rows(&found, "threads") {
            let sums = times.entry(ns(row, "tid")).or_default();
            sums[0] += ns(row, "running_ns") + ns(row, "interrupted_ns");
            sums[1] += ns(row, "ready_ns");
            sums[2] += ns(row, "blocked_ns");
        }
        times.remove(&0);
        let tids: Vec<i64> = spans.keys().map(|(tid, _)| *tid).filter(|tid| *tid != 0).collect();
        for tid in tids {
            let expected =
                [Kind::Run, Kind::Ready, Kind::Blocked].map(|kind| sum(tid, kind, window));
            // What only events after the window name may be unknown there.
            if !times.contains_key(&tid) && mentions[&tid] > window.1 {
                continue;
            }
            let found = times.get(&tid).copied().unwrap_or_default();
            assert_eq!(found, expected, "TID {tid} in {window:?}: running, ready, blocked");
            compared += usize::from(expected != [0; 3]);
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn waits_of_consecutive_windows_add_up() {
    type Sums = BTreeMap<(i64, &'static str), i64>;
    const KEYS: [&str; 4] = ["running_ns", "interrupted_ns", "ready_ns", "blocked_ns"];
    let sums = |into: &mut Sums, range: &str| {
        let found = json::<WaitArgs>(wait::run, &["--timerange", range]);
        for row in rows(&found, "threads") {
            for key in KEYS {
                *into.entry((ns(row, "tid"), key)).or_default() += ns(row, key);
            }
            // The causes are a division of the blocked time.
            let causes = rows(&found, "states").iter().filter(|of| of["tid"] == row["tid"]);
            let causes = causes.flat_map(|of| of.as_object().unwrap());
            let others = ["running_ns", "preempted_ns", "woken_ns", "unknown_ns", "asleep_ns"];
            let causes =
                causes.filter(|(key, _)| key.ends_with("_ns") && !others.contains(&key.as_str()));
            let of_tid = rows(&found, "threads").iter().filter(|of| of["tid"] == row["tid"]);
            let blocked: i64 = of_tid.map(|of| ns(of, "blocked_ns")).sum();
            assert_eq!(causes.map(|(_, time)| time.as_i64().unwrap()).sum::<i64>(), blocked);
        }
    };
    let (mut whole, mut parts) = (Sums::new(), Sums::new());
    sums(&mut whole, "..");
    cuts().windows(2).for_each(|cut| sums(&mut parts, &range((cut[0], cut[1]))));
    assert!(whole.len() > 100);
    // A thread without such times has no row.
    parts.retain(|_, time| *time > 0);
    whole.retain(|_, time| *time > 0);
    assert_eq!(parts, whole);
}

/// Returns a wait of a thread in the middle of the trace, which a known interrupt ended.
fn a_wait() -> Value {
    let (first, last) = all();
    let found = json::<WaitArgs>(wait::run, &["--tid", "180", "--limit", "0"]);
    let steps = rows(&found, "segments").iter().filter(|step| {
        step["state"].as_str().unwrap().starts_with("blocked:")
            && ns(step, "depth") == 0
            && step["source"].is_string()
            && ns(step, "begin_ns") > first + (last - first) / 4
    });
    steps.max_by_key(|step| ns(step, "duration_ns")).unwrap().clone()
}

#[test]
fn a_wait_that_is_open_at_the_start_counts_from_there() {
    let step = a_wait();
    let (begin, end) = (ns(&step, "begin_ns"), ns(&step, "end_ns"));
    let middle = begin + (end - begin) / 3;
    let waits = |window| {
        let args = ["--tid", "180", "--timerange", &range(window)];
        let found = json::<WaitArgs>(wait::run, &args);
        let row = rows(&found, "threads")[0].clone();
        (ns(&row, "blocked_ns"), ns(&row, "waits"), row["longest_cause"].clone(), row)
    };
    let (blocked, count, cause, row) = waits((middle, end));
    assert_eq!((blocked, count), (end - middle, 1), "{row}");
    assert_eq!(ns(&row, "longest_begin_ns"), middle);
    assert_eq!(row["longest_waker"], step["source"]);
    assert_eq!(format!("blocked:{}", cause.as_str().unwrap()), step["state"].as_str().unwrap());
    let (blocked, count, cause, row) = waits((middle, end - 1));
    assert_eq!((blocked, count), (end - 1 - middle, 1), "{row}");
    // Reading goes on until the waker is known.
    assert_eq!(format!("blocked:{}", cause.as_str().unwrap()), step["state"].as_str().unwrap());
    assert_eq!(row["longest_waker"], step["source"]);
}

#[test]
fn a_dependency_analysis_starts_with_what_is_open() {
    let step = a_wait();
    let (begin, end) = (ns(&step, "begin_ns"), ns(&step, "end_ns"));
    // The thread does not wait at the end: who ends that wait would be known only with --dep-time-end.
    let (from, to) = (time(begin + (end - begin) / 3), time(end + 1));
    let run = |words: &[&str]| {
        let words =
            [&["-m", "depAnalysis", "-t", KERNEL, "--dep-pid", "180", "--clock-gmt"], words]
                .concat();
        output::<RunArgs>(run::run, &words).unwrap()
    };
    let read = run(&["--begin", &from, "--end", &to]);
    assert_eq!(read, run(&["--dep-time-start", &from, "--dep-time-end", &to]));
    let first = format!("  {}  {}  ", time_of_day(begin + (end - begin) / 3), time_of_day(end));
    assert!(read.contains(&first), "{read}");
    // The command has the same path.
    let args = ["--tid", "180", "--begin", &from, "--end", &to];
    let found = json::<WaitArgs>(wait::run, &args);
    let (_, path) = read.split_once("Segments of the critical path").unwrap();
    let path: Vec<&str> = path.lines().skip(2).take_while(|line| !line.is_empty()).collect();
    let steps = rows(&found, "segments");
    assert!(steps.len() > 1 && steps.len() == path.len());
    for (step, line) in steps.iter().zip(path) {
        let times =
            format!("{}  {}", time_of_day(ns(step, "begin_ns")), time_of_day(ns(step, "end_ns")));
        assert!(line.contains(&times), "{line}: {times}");
        assert!(line.contains(step["thread"].as_str().unwrap()), "{line}: {step}");
    }
}

#[test]
fn waits_for_disks_are_those_that_an_interrupt_with_a_completion_ends() {
    // The handlers that run on the CPU of an event at its time.
    let running = |line: &EventLine| -> Vec<interrupts::Handler> {
        let runs = |((_, _, cpu), (begin, end)): &interrupts::Handler| {
            *cpu == line.cpu && (*begin..=*end).contains(&line.time)
        };
        interrupts::handlers().into_iter().filter(runs).collect()
    };
    let is_disk = |line: &EventLine| {
        let is_completed = |begin: i64| {
            lines().iter().any(|of| {
                of.name == "block_rq_complete"
                    && of.cpu == line.cpu
                    && (begin..=line.time).contains(&of.time)
            })
        };
        running(line).into_iter().any(|((kind, number, _), (begin, _))| {
            is_completed(begin) || kind == "softirq" && matches!(number, 4 | 5)
        })
    };
    let mut expected: BTreeMap<i64, i64> = BTreeMap::new();
    for ((tid, kind), spans) in spans_of_threads() {
        for (begin, end) in spans.into_iter().filter(|_| kind == Kind::Blocked && tid != 0) {
            let wakes = |of: &&EventLine| of.name.starts_with("sched_wak") && of.time == end;
            let mut wakes = lines().iter().filter(wakes).filter(|of| of.number("tid") == tid);
            if wakes.next().is_some_and(is_disk) {
                *expected.entry(tid).or_default() += end - begin;
            }
        }
    }
    assert!(expected.contains_key(&180) && expected.len() > 1, "{expected:?}");
    let found = json::<WaitArgs>(wait::run, &[]);
    let disk = rows(&found, "states").iter().map(|row| (ns(row, "tid"), ns(row, "block_ns")));
    assert_eq!(disk.filter(|(_, time)| *time > 0).collect::<BTreeMap<_, _>>(), expected);
}

#[test]
fn threads_are_chosen_by_tid_pid_and_command() {
    let threads = |args: &[&str]| -> Vec<(i64, Value, Value)> {
        let found = json::<WaitArgs>(wait::run, args);
        let rows = rows(&found, "threads").iter();
        rows.map(|row| (ns(row, "tid"), row["pid"].clone(), row["command"].clone())).collect()
    };
    let all = threads(&[]);
    let of = |wanted: &dyn Fn(&(i64, Value, Value)) -> bool| -> Vec<_> {
        all.iter().filter(|thread| wanted(thread)).cloned().collect()
    };
    let (_, pid, command) = of(&|thread| thread.0 == 180).remove(0);
    assert_eq!(command, "lttng-consumerd");
    assert_eq!(threads(&["--tid", "180,163"]), of(&|thread| matches!(thread.0, 180 | 163)));
    let pid_text = pid.to_string();
    let same_pid = of(&|thread| thread.1 == pid);
    assert_eq!(threads(&["--pid", &pid_text]), same_pid);
    assert!(!same_pid.is_empty());
    let is_worker =
        |thread: &(i64, Value, Value)| thread.2.as_str().unwrap().starts_with("kworker/");
    assert_eq!(threads(&["--comm", "kworker/*"]), of(&is_worker));
    // The idle thread of each CPU is shown if it is requested.
    assert!(all.iter().all(|thread| thread.0 != 0));
    assert_eq!(threads(&["--tid", "0"]).len(), 8);
    assert_eq!(
        threads(&["--comm", "lttng-*", "--pid", &pid_text]).len(),
        of(&|thread| { thread.1 == pid && thread.2.as_str().unwrap().starts_with("lttng-") }).len()
    );
}
