//! Compares statistics of legacy traces with LTTV's own output, process by process.
//! docs/kernel-state.md explains the differences.

use crate::support;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use ltt_read::Trace;
use ltt_read::schema::EventTypeId;
use lttv_context::Traceset;
use lttv_state::analysis::read;
use lttv_state::kernel::ExecutionMode;
use lttv_state::stats::{StatisticsAnalysis, TraceStatistics};

/// The sums of a process id.
#[derive(Debug, Default, Clone, PartialEq)]
struct Sum {
    /// The number of events by name.
    events: BTreeMap<String, u64>,
    /// The time on a CPU in a known mode, in ns.
    cpu_time: u64,
    /// `true` if its mode was ever unknown.
    was_unknown: bool,
}

/// Parses the processes of LTTV's tree, by id; `None` is its unknown process.
fn original(text: &str) -> BTreeMap<Option<i32>, Sum> {
    let mut processes: BTreeMap<Option<i32>, Sum> = BTreeMap::new();
    let lines = text.lines().skip_while(|line| !line.starts_with("  processes")).skip(1);
    let (mut process, mut in_types) = (None, false);
    for line in lines.take_while(|line| line.starts_with("    ")) {
        let depth = line.len() - line.trim_start().len();
        let Some((name, value)) = line.trim().rsplit_once(':') else { continue };
        let value = value.trim();
        match depth {
            // A process is named by its id and its creation time.
            4 => process = name.split_once('-').and_then(|(tid, _)| tid.parse().ok()),
            6 => in_types = name == "event_types",
            _ => {}
        }
        let sum = processes.entry(process).or_default();
        sum.was_unknown |= depth == 8 && name == "MODE_UNKNOWN";
        if depth == 8 && in_types {
            *sum.events.entry(name.to_owned()).or_default() += value.parse::<u64>().unwrap();
        } else if depth == 6 && name == "cpu time" {
            sum.cpu_time += value.replace('.', "").parse::<u64>().unwrap();
        }
    }
    processes
}

fn ours(statistics: &TraceStatistics) -> BTreeMap<Option<i32>, Sum> {
    let mut processes: BTreeMap<Option<i32>, Sum> = BTreeMap::new();
    for (key, counts) in statistics.leaves() {
        let facts = &statistics.process_facts()[key.process.index()];
        let sum = processes.entry(facts.tid).or_default();
        for (event_type, events) in counts.events.iter() {
            let name = statistics.event_name(event_type).to_owned();
            *sum.events.entry(name).or_default() += events;
        }
        if key.mode != ExecutionMode::Unknown {
            sum.cpu_time += counts.cpu_time;
        }
    }
    processes
}

/// Returns `true` if all events of a name are in the channel with the switches.
fn is_in_kernel_channel(trace: &Trace, name: &str) -> bool {
    let schema = trace.schema();
    let mut types = (0..).map(EventTypeId).zip(&schema.event_types);
    types.all(|(_, event_type)| {
        let class = schema.stream_classes.get(event_type.stream.index());
        let channel = class.and_then(|class| class.identity.name.as_deref());
        event_type.name() != name || channel == Some("kernel")
    })
}

/// The events and times that were compared, and those that were equal.
#[derive(Debug, Default, PartialEq)]
struct Compared {
    processes: usize,
    same_time: usize,
}

fn compare(name: &str, path: &Path, text: &str) -> Compared {
    let traceset = Traceset::open(path).expect("a trace");
    let trace = &traceset.traces()[0];
    let statistics = read(&traceset).threads(1).run(StatisticsAnalysis::new()).output;
    let (original, ours) = (original(text), ours(&statistics.traces()[0]));
    let all = |of: &BTreeMap<Option<i32>, Sum>| -> u64 {
        of.values().flat_map(|sum| sum.events.values()).sum()
    };
    assert_eq!(all(&original), all(&ours), "{name}");
    // LTTV's own programs ran before their state was known, and took the snapshot.
    let at_begin = statistics.traces()[0].leaves().next().map(|(key, _)| key.process);
    let at_begin = at_begin.map(|of| statistics.traces()[0].process_facts()[of.index()].tid);
    let mut compared = Compared::default();
    for (tid, theirs) in &original {
        if tid.is_none() || *tid == Some(0) || Some(*tid) == at_begin {
            continue;
        }
        let at = format!("{name}: process {tid:?}");
        let ours = ours.get(tid).unwrap_or_else(|| panic!("{at} is missing"));
        let of_kernel = |sum: &Sum| -> BTreeMap<String, u64> {
            let events = sum.events.iter().filter(|(name, _)| is_in_kernel_channel(trace, name));
            events.map(|(name, count)| (name.clone(), *count)).collect()
        };
        assert_eq!(of_kernel(ours), of_kernel(theirs), "{at}");
        compared.processes += 1;
        if ours.cpu_time == theirs.cpu_time {
            compared.same_time += 1;
            continue;
        }
        // LTTV loses the time before a page fault and the time of exiting processes, and
        // does not know some modes for long.
        assert!(ours.cpu_time > theirs.cpu_time, "{at}: {ours:?} {theirs:?}");
        let mut names = ours.events.keys();
        let loses = names.any(|name| name.starts_with("page_fault") || name == "process_exit");
        assert!(loses || theirs.was_unknown, "{at}: {ours:?} {theirs:?}");
    }
    compared
}

#[test]
fn processes_have_the_sums_of_lttv() {
    let Some(shared) = support::shared().filter(|it| it.join("expected/legacy").is_dir()) else {
        return support::print_note("SKIPPED: there is no ../shared/expected/legacy");
    };
    for name in [
        "trace-1021events-nolost-1cpu",
        "trace-15316events_nolost_newformat",
        "trace-2.6",
        "trace-618339events-1293lost-1cpu",
    ] {
        let file = shared.join(format!("expected/legacy/{name}.stats.txt.gz"));
        let mut text = Vec::new();
        GzDecoder::new(File::open(file).expect("a text")).read_to_end(&mut text).expect("sound");
        let path = shared.join("traces/legacy").join(name);
        let compared = compare(name, &path, &String::from_utf8_lossy(&text));
        support::print_note(&format!("legacy statistics: {name}: {compared:?}"));
        assert!(compared.processes > 10 && compared.same_time > 0, "{name}");
    }
}
