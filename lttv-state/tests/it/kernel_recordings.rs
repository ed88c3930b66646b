//! Kernel state and CPU times of recordings of ftrace and perf, against the text of other decoders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ltt_read::{Timestamp, Trace, TraceIndex, ftrace, perf};
use lttv_context::{Traceset, TracesetContext};
use lttv_state::analysis::read;
use lttv_state::kernel::KernelState;
use lttv_state::stats::StatisticsAnalysis;

use crate::packed::unpacked;
use crate::support;

/// A switch in the text of a recording.
#[derive(Debug, Clone, Copy)]
struct Switch {
    time: i64,
    prev: i32,
    next: i32,
}

/// The text of the events of a recording, as another decoder prints it.
struct Expected {
    /// The switches of each CPU.
    switches: BTreeMap<u32, Vec<Switch>>,
    begin: i64,
    end: i64,
    has_losses: bool,
}

impl Expected {
    /// Reads the text of the main buffer.
    fn read(text: &str) -> Expected {
        let mut found = Expected {
            switches: BTreeMap::new(),
            begin: i64::MAX,
            end: i64::MIN,
            has_losses: text.contains(" lost=") || text.contains("perf:lost "),
        };
        for line in text.lines() {
            let mut words = line.split(' ');
            let Some(Ok(time)) = words.next().map(str::parse::<i64>) else { continue };
            let Some(Ok(cpu)) = words.next().map(str::parse::<u32>) else { continue };
            if time <= 0 {
                continue;
            }
            (found.begin, found.end) = (found.begin.min(time), found.end.max(time));
            if words.next() != Some("sched:sched_switch") {
                continue;
            }
            let number = |name: &str| {
                let at = line.find(&format!(" {name}=")).expect("a field") + name.len() + 2;
                let digits: String = line[at..].chars().take_while(|c| *c != ' ').collect();
                digits.parse().expect("a number")
            };
            let (prev, next) = (number("prev_pid"), number("next_pid"));
            found.switches.entry(cpu).or_default().push(Switch { time, prev, next });
        }
        found
    }

    /// Returns the thread that runs on a CPU before the events at a time; `None` before the first switch.
    fn running(&self, cpu: u32, time: i64) -> Option<i32> {
        let switches = self.switches.get(&cpu)?;
        let before = switches.partition_point(|switch| switch.time < time);
        Some(switches[before.checked_sub(1)?].next)
    }

    /// Returns the CPU time of each thread between switches, and how much more there may be of it, before the first
    /// and after the last switch of a CPU.
    fn cpu_times(&self) -> BTreeMap<i32, (u64, u64)> {
        let mut times: BTreeMap<i32, (u64, u64)> = BTreeMap::new();
        for switches in self.switches.values() {
            for pair in switches.windows(2) {
                let time = pair[0].time.abs_diff(pair[1].time);
                match pair[0].next == pair[1].prev {
                    true => times.entry(pair[0].next).or_default().0 += time,
                    // A switch between them was not recorded.
                    false => {
                        times.entry(pair[0].next).or_default().1 += time;
                        times.entry(pair[1].prev).or_default().1 += time;
                    }
                }
            }
            let (first, last) = (switches[0], switches[switches.len() - 1]);
            times.entry(first.prev).or_default().1 += first.time.abs_diff(self.begin);
            times.entry(last.next).or_default().1 += self.end.abs_diff(last.time);
        }
        times
    }
}

/// Returns a recording of the shared folder, and the text of the events.
pub(crate) fn recording(kind: &str, folder: &Path) -> Option<(Arc<Trace>, String)> {
    let name = folder.file_name()?.to_str()?;
    let texts = folder.parent()?.parent()?.parent()?.join("expected").join(kind);
    let ends = [".dump.txt.zst", ".dump.txt.gz"];
    let text =
        ends.map(|end| texts.join(format!("{name}{end}"))).into_iter().find(|it| it.is_file())?;
    let text = String::from_utf8_lossy(&unpacked(&text)).into_owned();
    let files = ["trace.dat", "trace.dat.zst", "perf.data", "perf.data.zst"];
    let file = files.map(|file| folder.join(file)).into_iter().find(|it| it.is_file())?;
    let bytes = unpacked(&file);
    let trace = match kind {
        "ftrace" => ftrace::from_memory(bytes).ok()?.swap_remove(0),
        _ => perf::from_memory(bytes).ok()?,
    };
    Some((trace, text))
}

/// Returns the folders of recordings of a kind.
fn folders(kind: &str) -> Vec<PathBuf> {
    let Some(folder) = support::shared(kind) else { return Vec::new() };
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    folders.sort();
    folders
}

/// Sequences of numbers without a pattern, the same in each run.
fn numbers(count: usize) -> impl Iterator<Item = u64> {
    (1..=count as u64).map(|number| {
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11
    })
}

/// Adds up the CPU time of each thread.
fn statistics(trace: &Arc<Trace>) -> BTreeMap<i32, u64> {
    let traceset = Traceset::from(vec![trace.clone()]);
    let statistics = read(&traceset).threads(1).run(StatisticsAnalysis::new()).output;
    let of = &statistics.traces()[0];
    let mut times = BTreeMap::new();
    for sum in of.processes() {
        let facts = of.process_facts().get(sum.process.index());
        if let Some(tid) = facts.and_then(|facts| facts.tid) {
            *times.entry(tid).or_insert(0) += sum.cpu_time;
        }
    }
    times
}

/// The thread that runs on each CPU at 200 times, and the CPU time of each thread, of all recordings with switches.
#[test]
fn running_threads_and_cpu_times_are_those_of_the_switches() {
    let (mut recordings, mut compared, mut threads) = (0, 0, 0);
    for kind in ["ftrace", "perf-data"] {
        for folder in folders(kind) {
            let Some((trace, text)) = recording(kind, &folder) else { continue };
            let expected = Expected::read(&text);
            if expected.switches.values().map(Vec::len).sum::<usize>() < 20 {
                continue;
            }
            let name = folder.display();
            recordings += 1;
            let offset = {
                let clock = &trace.schema().clocks[0];
                clock.offset_seconds * 1_000_000_000 + clock.offset_cycles
            };
            // Times of the text of perf have no date.
            let offset = if kind == "perf-data" { offset } else { 0 };
            let mut context = TracesetContext::new(Traceset::from(vec![trace.clone()]));
            let kernel = context.attach(KernelState::new());
            let mut times: Vec<i64> = numbers(200)
                .map(|number| {
                    let span = expected.end.abs_diff(expected.begin).max(1);
                    expected.begin + (number % span) as i64
                })
                .collect();
            times.sort_unstable();
            for time in times {
                context.state().seek_time(Timestamp::from_ns(time + offset));
                let state = context.extensions()[kernel].trace(TraceIndex(0)).expect("a state");
                for cpu in expected.switches.keys() {
                    let Some(running) = expected.running(*cpu, time) else { continue };
                    let found = state.running(*cpu).and_then(|process| process.tid());
                    // After a loss, nobody knows who runs until the next switch, nor if the switch is missing by
                    // which a thread left the CPU that runs on another one since.
                    let mut others = expected.switches.keys().filter(|other| *other != cpu);
                    let moved = others.any(|of| expected.running(*of, time) == Some(running));
                    if found.is_none() && (expected.has_losses || moved) {
                        continue;
                    }
                    assert_eq!(found, Some(running), "{name}: CPU {cpu} at {time}");
                    compared += 1;
                }
            }
            if expected.has_losses {
                continue;
            }
            let found = statistics(&trace);
            for (tid, (least, more)) in expected.cpu_times() {
                // The idle task of each CPU is a thread of its own.
                let time = found.get(&tid).copied().unwrap_or(0);
                let most = least + more;
                assert!((least..=most).contains(&time), "{name}: {tid}: {least} {time} {most}");
                threads += 1;
            }
        }
    }
    if recordings > 0 {
        assert!(
            recordings > 20 && compared > 10_000 && threads > 500,
            "{recordings} {compared} {threads}"
        );
        support::report(&format!(
            "{recordings} recordings: {compared} running threads, CPU times of {threads} threads"
        ));
    }
}

/// The run times of `perf sched timehist` are the CPU times of threads.
#[test]
fn times_of_perf_sched_are_cpu_times() {
    let Some(folder) = support::shared("perf-data/sched-record") else { return };
    let (trace, text) = recording("perf-data", &folder).expect("the recording");
    let outside = Expected::read(&text).cpu_times();
    let texts = folder.ancestors().nth(3).expect("a folder").join("expected/perf-data");
    let text = unpacked(&texts.join("sched-record.timehist.txt.gz"));
    let text = String::from_utf8_lossy(&text).into_owned();
    // The sum in µs and the number of runs, each of which is rounded.
    let mut runs: BTreeMap<i32, (f64, u64)> = BTreeMap::new();
    for line in text.lines().filter(|line| line.contains(" [000")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let task = words[2..words.len() - 3].join(" ");
        let ids = task.rsplit_once('[').and_then(|(_, ids)| ids.strip_suffix(']'));
        let Some(tid) = ids.and_then(|ids| ids.split('/').next()?.parse().ok()) else { continue };
        let run: f64 = words[words.len() - 1].parse().expect("a number");
        let of = runs.entry(tid).or_default();
        *of = (of.0 + 1000.0 * run, of.1 + 1);
    }
    assert!(runs.len() > 80, "{}", runs.len());
    let found = statistics(&trace);
    for (tid, (us, count)) in &runs {
        let time = found.get(tid).copied().unwrap_or(0) as f64 / 1000.0;
        // What runs before the first and after the last switch of a CPU is not in the text.
        let outside = outside.get(tid).map_or(0, |(_, more)| *more) as f64 / 1000.0;
        let slack = 1.0 * *count as f64 + 50.0 + outside;
        assert!((time - us).abs() <= slack, "{tid}: {us} µs in {count} runs, found {time}");
    }
}
