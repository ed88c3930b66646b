//! `lttv chart flame` and `lttv calls` of samples agree with each other, in all formats.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::support;

/// A recording of perf: 338 samples of a clock with call chains.
const PERF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/perf/perf.data");

/// Runs the program, which must end without errors, and returns what it printed.
fn run(args: &[&str]) -> String {
    let run = support::run(&support::lttv(), args, None, Duration::from_secs(60));
    assert_eq!(run.status, Some(0), "{args:?}: {run:?}");
    String::from_utf8(run.stdout).expect("UTF-8")
}

/// Runs the program, which must fail, and returns its errors.
fn errors(args: &[&str]) -> String {
    let run = support::run(&support::lttv(), args, None, Duration::from_secs(60));
    assert_ne!(run.status, Some(0), "{args:?}");
    run.stderr
}

/// Returns the weights of stacks.
fn folded(args: &[&str]) -> BTreeMap<String, u64> {
    let args = [&["chart", "flame", "--no-symbols", "--format", "folded"], args].concat();
    let text = run(&args);
    let lines = text.lines().map(|line| {
        let (stack, weight) = line.rsplit_once(' ').expect("a weight");
        (stack.to_owned(), weight.parse().expect("a number"))
    });
    lines.collect()
}

fn functions(args: &[&str]) -> Vec<Value> {
    let args = [&["calls", "--no-symbols", "--format", "json"], args].concat();
    let tables: Value = serde_json::from_str(&run(&args)).expect("JSON");
    tables["functions"].as_array().expect("a table").clone()
}

fn number(row: &Value, column: &str) -> u64 {
    row[column].as_u64().unwrap_or_else(|| panic!("no {column} in {row}"))
}

#[test]
fn threads_have_the_names_of_records_in_all_commands() {
    // The samples of each thread under each name.
    let mut of_dump: BTreeMap<(u64, String), u64> = BTreeMap::new();
    let text = run(&["dump", "--format=csv", "--columns=tid,comm,name", PERF]);
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    for row in rows.records() {
        let row = row.expect("a row");
        let tid: u64 = row[0].parse().unwrap_or(0);
        // 0 is idle, and -1 a thread that has just exited.
        if row[2] == *"cpu-clock" && (1..u64::from(u32::MAX)).contains(&tid) {
            *of_dump.entry((tid, row[1].to_owned())).or_default() += 1;
        }
    }
    let calls = run(&["calls", "--no-symbols", "--format", "json", PERF]);
    let calls: Value = serde_json::from_str(&calls).expect("JSON");
    let threads = calls["threads"].as_array().expect("a table");
    let of_flames: BTreeMap<(u64, String), u64> = threads
        .iter()
        .filter_map(|row| {
            let tid = row["thread"].as_str()?.parse().ok().filter(|tid| *tid > 0)?;
            Some(((tid, row["name"].as_str()?.to_owned()), number(row, "samples")))
        })
        .collect();
    assert_eq!(of_dump, of_flames);
    // `w.sh` runs `ls` and `dd`, each in a process that has its name at first.
    let of = |tid: u64, name: &str| of_dump.get(&(tid, name.to_owned())).copied();
    assert_eq!((of(575, "w.sh"), of(575, "ls")), (Some(5), Some(53)));
    let stats: Value =
        serde_json::from_str(&run(&["stats", "--format=json", "--table=processes", PERF]))
            .expect("JSON");
    let last: BTreeMap<u64, &str> = stats["processes"]
        .as_array()
        .expect("a table")
        .iter()
        .filter_map(|row| Some((row["tid"].as_u64()?, row["command"].as_str()?)))
        .collect();
    for (tid, _) in of_dump.keys() {
        let name = last.get(tid).unwrap_or_else(|| panic!("thread {tid}"));
        assert!(of(*tid, name).is_some(), "thread {tid} is {name}");
    }
    assert_eq!((last[&575], last[&576], last[&18]), ("ls", "dd", "rcu_preempt"));
}

#[test]
fn tables_of_functions_are_the_sums_of_stacks() {
    for options in [&[][..], &["--weight", "samples"], &["--pid", "575,576"]] {
        let args = [options, &[PERF]].concat();
        let mut expected: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for (stack, weight) in folded(&args) {
            let mut frames: Vec<&str> = stack.split(';').collect();
            expected.entry(frames[frames.len() - 1].to_owned()).or_default().1 += weight;
            frames.sort_unstable();
            frames.dedup();
            for frame in frames {
                expected.entry(frame.to_owned()).or_default().0 += weight;
            }
        }
        let rows = functions(&args);
        let found = rows.iter().map(|row| {
            let name = row["function"].as_str().expect("a name").to_owned();
            (name, (number(row, "total"), number(row, "self")))
        });
        assert_eq!(found.collect::<BTreeMap<_, _>>(), expected, "{options:?}");
        let unit = if options.contains(&"samples") { "samples" } else { "ns" };
        assert!(rows.iter().all(|row| row["unit"] == unit), "{options:?}");
    }
}

#[test]
fn samples_count_as_many_as_there_are() {
    let sum = |args: &[&str]| folded(args).values().sum::<u64>();
    assert_eq!(sum(&["--weight", "samples", PERF]), 338);
    assert_eq!(sum(&["--of", "cpu-clock", "--weight", "samples", PERF]), 338);
    assert_eq!(sum(&["--of", "samples", "--weight", "samples", "-e", "pid == 575", PERF]), 58);
    // Each sample stands for 1003009 ns.
    assert_eq!(sum(&[PERF]), 338 * 1_003_009);
    let stacks = folded(&["--by", "process", "--pid", "575", PERF]);
    assert!(!stacks.is_empty() && stacks.keys().all(|stack| stack.contains(" (575);")));
}

#[test]
fn speedscope_has_the_same_stacks() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.speedscope.json");
    let path = path.to_str().expect("UTF-8");
    run(&["chart", "flame", "--no-symbols", "-o", path, PERF]);
    let text = std::fs::read_to_string(path).expect("a file");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(file["$schema"], "https://www.speedscope.app/file-format-schema.json");
    let profile = &file["profiles"][0];
    assert_eq!(
        (profile["type"].as_str(), profile["unit"].as_str()),
        (Some("sampled"), Some("nanoseconds"))
    );
    let frames = file["shared"]["frames"].as_array().expect("frames");
    let samples = profile["samples"].as_array().expect("samples");
    let weights = profile["weights"].as_array().expect("weights");
    assert_eq!(samples.len(), weights.len());
    let mut found = BTreeMap::new();
    for (stack, weight) in samples.iter().zip(weights) {
        let names = stack.as_array().expect("a stack").iter().map(|frame| {
            frames[frame.as_u64().expect("a number") as usize]["name"].as_str().expect("a name")
        });
        found.insert(names.collect::<Vec<_>>().join(";"), weight.as_u64().expect("a weight"));
    }
    assert_eq!(found, folded(&[PERF]));
    assert_eq!(profile["endValue"].as_u64(), Some(found.values().sum()));
}

#[test]
fn extensions_choose_formats() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let read = |path: &str| std::fs::read_to_string(path).expect("a file");
    let (svg, lines) = (file("a.svg"), file("a.folded"));
    run(&["chart", "flame", "--no-symbols", "-o", &svg, PERF]);
    assert!(read(&svg).starts_with("<svg ") && read(&svg).contains("Flame graph of cpu-clock"));
    run(&["chart", "flame", "--no-symbols", "-o", &lines, PERF]);
    assert_eq!(read(&lines).lines().count(), folded(&[PERF]).len());
    let error = errors(&["chart", "flame", "--format", "svg", "-o", &file("b.json"), PERF]);
    assert!(error.contains("the extension says json"), "{error}");
}

#[test]
fn sources_that_are_missing_are_named() {
    for (of, expected) in [
        ("off-cpu", "no switches of threads have stacks; these have: cpu-clock"),
        ("sched_waking", "no events `sched_waking` have stacks; these have: cpu-clock"),
    ] {
        let error = errors(&["chart", "flame", "--of", of, PERF]);
        assert!(error.contains(expected) && error.contains("perf record -g"), "{error}");
    }
    let error = errors(&["calls", "--of", "calls", PERF]);
    assert!(error.contains("neither calls of functions"), "{error}");
}

#[test]
fn tables_of_other_kernels_are_not_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("kallsyms");
    let table = table.to_str().expect("UTF-8");
    let of = |text: &str| {
        std::fs::write(table, text).expect("a file");
        let args = ["chart", "flame", "--kallsyms", table, "--format", "folded", PERF];
        support::run(&support::lttv(), &args, None, Duration::from_secs(60))
    };
    // The kernel of the recording begins at this address.
    let own = of("ffffffff9be00000 T _text\nffffffff9be3e400 T start\nffffffff9be3f000 T end\n");
    assert!(String::from_utf8_lossy(&own.stdout).contains("start;"), "{own:?}");
    let other = of("ffffffff81000000 T _text\nffffffff9be3e400 T start\n");
    assert!(!String::from_utf8_lossy(&other.stdout).contains("start;"), "{other:?}");
    assert!(other.stderr.contains("or of another boot"), "{}", other.stderr);
    let hidden = of("0000000000000000 T _text\n");
    assert!(hidden.stderr.contains("read /proc/kallsyms as root"), "{}", hidden.stderr);
}

#[test]
fn functions_of_the_kernel_have_names() {
    let Some(shared) = support::shared() else {
        support::print_note("skipped: there is no folder of shared traces");
        return;
    };
    let trace = shared.join("traces/ftrace/fgraph/trace.dat");
    let trace = Path::new(&trace).to_str().expect("UTF-8");
    let graph = run(&["chart", "flame", "--format", "folded", trace]);
    // As trace-cmd prints them.
    assert!(graph.lines().any(|line| line.starts_with("vfs_tmpfile;vfs_open ")), "{graph}");
    let stacks = shared.join("traces/ftrace/stack/trace.dat");
    let stacks = run(&["chart", "flame", "--format", "folded", stacks.to_str().expect("UTF-8")]);
    assert!(stacks.lines().count() > 20, "{stacks}");
}
