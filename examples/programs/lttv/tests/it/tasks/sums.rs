//! Sums of calls, wake-ups, disks, losses and samples, computed from what `lttv dump` prints.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::{TRACES, cells, number, run};
use crate::support;

/// An event of the bundled trace with all its fields.
struct Record {
    time: i64,
    cpu: i64,
    tid: i64,
    name: String,
    fields: Value,
}

impl Record {
    fn of(line: &str) -> Record {
        let event: Value = serde_json::from_str(line).expect("JSON");
        Record {
            time: event["timestamp"].as_i64().expect("a time"),
            cpu: event["cpu"].as_i64().expect("a CPU"),
            tid: event["common_context"]["tid"].as_i64().expect("a thread"),
            name: event["name"].as_str().expect("a name").to_owned(),
            fields: event["fields"].clone(),
        }
    }

    fn field(&self, name: &str) -> i64 {
        self.fields[name].as_i64().unwrap_or_else(|| panic!("{} has no {name}", self.name))
    }

    fn text(&self, name: &str) -> String {
        self.fields[name].as_str().expect("a text").to_owned()
    }
}

fn records() -> Vec<Record> {
    run("dump --format json", "kernel").lines().map(Record::of).collect()
}

/// Returns the pairs of entries and exits of system calls, in order of their exits, with the names of the calls.
fn pairs(records: &[Record]) -> Vec<(&str, &Record, &Record)> {
    let mut open = BTreeMap::<i64, (&str, &Record)>::new();
    let mut pairs = Vec::new();
    for record in records {
        if let Some(name) = record.name.strip_prefix("syscall_entry_") {
            open.insert(record.tid, (name, record));
        } else if let Some(name) = record.name.strip_prefix("syscall_exit_")
            && let Some((entered, begin)) = open.remove(&record.tid)
            && entered == name
        {
            pairs.push((name, begin, record));
        }
    }
    pairs
}

/// Returns the rows of a table: the texts of some columns, and the numbers of the ones after them.
fn rows(command: &str, texts: usize) -> BTreeMap<Vec<String>, Vec<i64>> {
    let row = |cells: Vec<String>| {
        (cells[..texts].to_vec(), cells[texts..].iter().map(|cell| number(cell)).collect())
    };
    cells(command).into_iter().map(row).collect()
}

const READS: [&str; 5] = ["read", "pread64", "recvmsg", "recvfrom", COPY];
const WRITES: [&str; 5] = ["write", "pwrite64", "sendmsg", "sendto", COPY];
/// The call that reads from one file and writes to another.
const COPY: &str = "splice";

#[test]
fn reads_by_size_are_those_of_results() {
    let records = records();
    let mut sizes = BTreeMap::<Vec<String>, Vec<i64>>::new();
    for (_, begin, end) in pairs(&records).iter().filter(|of| READS.contains(&of.0)) {
        let bytes = end.field("ret").max(0);
        let from = if bytes == 0 { 0 } else { 1 << bytes.ilog2() };
        let row = sizes.entry(vec![from.to_string()]).or_insert_with(|| vec![0; 3]);
        for (sum, value) in row.iter_mut().zip([1, bytes, end.time - begin.time]) {
            *sum += value;
        }
    }
    assert!(sizes.len() > 8);
    let columns = "size_from,count,bytes,total_ns";
    let found = rows(
        &format!("latency --family read --by size --table read --top 0 --columns {columns}"),
        1,
    );
    assert_eq!(found, sizes);
}

#[test]
fn writers_are_the_threads_of_writes() {
    let records = records();
    let mut writers = BTreeMap::<Vec<String>, Vec<i64>>::new();
    for (_, _, end) in pairs(&records).iter().filter(|of| WRITES.contains(&of.0)) {
        let row = writers.entry(vec![end.tid.to_string()]).or_insert_with(|| vec![0; 2]);
        (row[0], row[1]) = (row[0] + 1, row[1] + end.field("ret").max(0));
    }
    assert!(writers.len() > 8);
    let found = rows(
        "latency --family write --by thread --table write --top 0 --columns tid,count,bytes",
        1,
    );
    assert_eq!(found, writers);
}

/// Files whose descriptors were opened and written to by the same thread.
#[test]
fn files_of_writes_are_those_that_were_opened() {
    let records = records();
    let mut open = BTreeMap::<(i64, i64), String>::new();
    let mut files = BTreeMap::<Vec<String>, Vec<i64>>::new();
    for (name, begin, end) in pairs(&records) {
        if name == "openat" && end.field("ret") >= 0 {
            open.insert((end.tid, end.field("ret")), begin.text("filename"));
        } else if name == "close" {
            open.remove(&(end.tid, begin.field("fd")));
        } else if WRITES.contains(&name)
            && let fd = begin.field(if name == COPY { "fd_out" } else { "fd" })
            && let Some(file) = open.get(&(end.tid, fd))
        {
            let row = files.entry(vec![file.clone()]).or_insert_with(|| vec![0; 2]);
            (row[0], row[1]) = (row[0] + 1, row[1] + end.field("ret").max(0));
        }
    }
    assert!(files.len() > 5);
    let mut found = rows(
        "latency --family write --by file --table write --top 0 --columns file,count,bytes",
        1,
    );
    found.retain(|file, _| files.contains_key(file));
    assert_eq!(found, files);
}

#[test]
fn a_disk_is_busy_while_it_has_requests() {
    const WRITE: i64 = 1;
    let mut issued = BTreeMap::<(i64, i64), u32>::new();
    let (mut depth, mut since, mut busy, mut completed) = (0, 0, 0, 0);
    let mut counts = BTreeMap::from([("read", (0, 0)), ("write", (0, 0)), ("other", (0, 0))]);
    for record in records() {
        if !matches!(&*record.name, "block_rq_issue" | "block_rq_complete") {
            continue;
        }
        let sectors = record.field("nr_sector");
        // A flush has no place on the disk.
        let key = if sectors == 0 { (0, -1) } else { (1, record.field("sector")) };
        let requests = issued.entry(key).or_default();
        if record.name == "block_rq_issue" {
            let kind = match (sectors, record.field("rwbs") & WRITE) {
                (0, _) => "other",
                (_, WRITE) => "write",
                _ => "read",
            };
            let of = counts.get_mut(kind).expect("a kind");
            *of = (of.0 + 1, of.1 + record.field("bytes"));
            since = if depth == 0 { record.time } else { since };
            (*requests, depth) = (*requests + 1, depth + 1);
        } else if *requests > 0 {
            (*requests, depth, completed) = (*requests - 1, depth - 1, completed + 1);
            busy += if depth == 0 { record.time - since } else { 0 };
        }
    }
    let columns = "name,reads,bytes_read,writes,bytes_written,others,issued,completed,busy_ns";
    let found = rows(&format!("disk --columns {columns}"), 1);
    let (reads, writes, others) = (counts["read"], counts["write"], counts["other"]);
    let issued = reads.0 + writes.0 + others.0;
    let expected = vec![reads.0, reads.1, writes.0, writes.1, others.0, issued, completed, busy];
    assert!(reads.0 > 5 && writes.0 > 20);
    assert_eq!(found[&vec!["vdb".to_owned()]], expected);
}

/// Returns the wake-ups of threads: begin, end, the waker, and the thread. An idle thread wakes none: then
/// an interrupt was not recorded.
fn wake_ups() -> Vec<(i64, i64, String, i64)> {
    let (mut woken, mut handlers) = (BTreeMap::new(), BTreeMap::<i64, u32>::new());
    let mut found = Vec::new();
    for record in records() {
        let depth = handlers.entry(record.cpu).or_default();
        match &*record.name {
            "irq_handler_entry" | "irq_softirq_entry" => *depth += 1,
            "irq_handler_exit" | "irq_softirq_exit" => *depth = depth.saturating_sub(1),
            "sched_waking" | "sched_wakeup_new" => {
                let by = match (*depth, record.tid) {
                    (0, 1..) => record.tid.to_string(),
                    _ => "interrupt".to_owned(),
                };
                woken.entry(record.field("tid")).or_insert((record.time, by));
            }
            "sched_switch" => {
                let tid = record.field("next_tid");
                let wait = woken.remove(&tid);
                found.extend(wait.map(|(begin, by)| (begin, record.time, by, tid)));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn who_wakes_whom_is_known_from_the_first_event() {
    let mut wakes = BTreeMap::<Vec<String>, Vec<i64>>::new();
    for (begin, end, by, tid) in wake_ups() {
        let row = wakes.entry(vec![by, tid.to_string()]).or_insert_with(|| vec![0; 3]);
        let delay = end - begin;
        (row[0], row[1], row[2]) = (row[0] + 1, row[1] + delay, row[2].max(delay));
    }
    assert!(wakes.len() > 50);
    let columns = "waker_tid,waker,tid,count,total_ns,max_ns";
    let found =
        rows(&format!("latency --family wake-up --table wakes --top 0 --columns {columns}"), 3);
    let named = |(mut texts, numbers): (Vec<String>, Vec<i64>)| {
        let by = if texts[1] == "interrupt" { texts[1].clone() } else { texts[0].clone() };
        texts.splice(..2, [by]);
        (texts, numbers)
    };
    assert_eq!(found.into_iter().map(named).collect::<BTreeMap<_, _>>(), wakes);
}

#[test]
fn a_distribution_counts_delays() {
    let mut counts = BTreeMap::<Vec<String>, Vec<i64>>::new();
    for (begin, end, ..) in wake_ups() {
        let from = 1_i64 << (end - begin).ilog2();
        counts.entry(vec![from.to_string(), (2 * from).to_string()]).or_insert_with(|| vec![0])
            [0] += 1;
    }
    assert!(counts.len() > 10);
    let found = rows("latency --family wake-up --table histogram --columns from_ns,to_ns,count", 2);
    assert_eq!(found, counts);
}

/// The other form of the events tells each loss as well; babeltrace2 tells the same of the same trace.
#[test]
fn lost_events_are_those_that_babeltrace_tells() {
    let table = run("info --table losses --format csv --columns events", "ust-lost");
    let mut found: Vec<i64> = table.lines().skip(1).map(number).collect();
    let trace = Path::new(TRACES).join("ust-lost");
    let words = ["dump", "--format", "babeltrace"];
    let printed = support::run(&support::lttv(), &words, Some(&trace), Duration::from_secs(60));
    let warnings = printed.stderr;
    let lost = |line: &str| {
        let (_, rest) = line.split_once("Tracer discarded ")?;
        rest.split(' ').next().map(number)
    };
    let mut expected: Vec<i64> = warnings.lines().filter_map(lost).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(expected.len(), 6);
    assert_eq!(found, expected);
}

#[test]
fn samples_of_threads_are_those_of_their_events() {
    let mut samples = BTreeMap::<i64, (i64, i64)>::new();
    for line in run("dump --format json", "perf/perf.data").lines() {
        let event: Value = serde_json::from_str(line).expect("JSON");
        let context = &event["specific_context"];
        if event["name"] == "cpu-clock" {
            let tid = context["tid"].as_i64().expect("a thread");
            let of = samples.entry(tid).or_default();
            *of = (of.0 + 1, of.1 + context["period"].as_i64().expect("a period"));
        }
    }
    // A thread that has ended has no number.
    samples.remove(&i64::from(u32::MAX));
    let columns = "--columns thread,samples,total";
    let table = run(
        &format!("calls --no-symbols --table threads --format csv {columns}"),
        "perf/perf.data",
    );
    let mut found = BTreeMap::<i64, (i64, i64)>::new();
    for line in table.lines().skip(1).filter(|line| !line.starts_with("CPU")) {
        let cells: Vec<i64> = line.split(',').map(number).collect();
        let of = found.entry(cells[0]).or_default();
        *of = (of.0 + cells[1], of.1 + cells[2]);
    }
    assert!(samples.len() > 3);
    assert_eq!(found, samples);
}

/// The time of a wake-up is that of the threads that ran on its CPU instead.
#[test]
fn threads_in_the_place_of_another_are_those_of_switches() {
    let (begin, end, _, tid) = wake_ups()
        .into_iter()
        .filter(|(begin, end, _, tid)| *tid == 210 && end - begin > 30_000_000)
        .max_by_key(|(begin, end, ..)| end - begin)
        .expect("a wake-up");
    let records = records();
    let switches = || records.iter().filter(|record| record.name == "sched_switch");
    let ran = switches().find(|of| of.time == end).expect("the switch").cpu;
    let mut times = BTreeMap::<i64, i64>::new();
    let (mut current, mut since) = (None, begin);
    for record in switches().filter(|of| of.cpu == ran && of.time <= end) {
        if record.time > begin {
            let previous = current.unwrap_or_else(|| record.field("prev_tid"));
            *times.entry(previous).or_default() += record.time - since;
            since = record.time;
        }
        current = Some(record.field("next_tid"));
    }
    assert_eq!(times.values().sum::<i64>(), end - begin);
    let command = format!("why --at {begin} --tid {tid} --family wake-up --format json");
    let answer: Value = serde_json::from_str(&run(&command, "kernel")).expect("JSON");
    assert_eq!(answer["duration_ns"].as_i64(), Some(end - begin));
    let found: BTreeMap<i64, i64> = answer["instead"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| {
            let of = |value: &Value| value.as_i64().expect("a number");
            (of(&row["thread"]["tid"]), of(&row["time_ns"]))
        })
        .collect();
    assert_eq!(found, times);
}

/// The parts of a critical path follow one another, and its threads run where switches say so.
#[test]
fn critical_paths_have_the_times_of_switches() {
    let records = records();
    let mut runs = BTreeMap::<i64, Vec<(i64, i64)>>::new();
    let mut current = BTreeMap::<i64, (i64, i64)>::new();
    let first = records[0].time;
    for record in records.iter().filter(|record| record.name == "sched_switch") {
        let (tid, since) =
            current.get(&record.cpu).copied().unwrap_or((record.field("prev_tid"), first));
        runs.entry(tid).or_default().push((since, record.time));
        current.insert(record.cpu, (record.field("next_tid"), record.time));
    }
    let last = records.last().expect("events").time;
    for (tid, since) in current.into_values() {
        runs.entry(tid).or_default().push((since, last));
    }
    let columns = "begin_ns,end_ns,thread,state,depth";
    let rows = cells(&format!("critical-path --tid 210 --table segments --columns {columns}"));
    let mut checked = 0;
    for row in &rows {
        let (begin, end) = (number(&row[0]), number(&row[1]));
        assert!(begin <= end, "{row:?}");
        let tid = row[2].rsplit(['(', ')']).nth(1).map(number);
        if row[3] == "running" {
            let of_thread = &runs[&tid.expect("a thread")];
            let ran: i64 =
                of_thread.iter().map(|run| (run.1.min(end) - run.0.max(begin)).max(0)).sum();
            assert_eq!(ran, end - begin, "{row:?}");
            checked += 1;
        }
    }
    assert!(checked > 20);
    let mut ends: Vec<_> = rows.iter().map(|row| (number(&row[0]), number(&row[1]))).collect();
    ends.sort_unstable();
    assert!(ends.windows(2).all(|pair| pair[0].1 == pair[1].0), "{ends:?}");
}
