//! Tables for people: they fit the terminal, and options choose their columns, rows and digits.

use std::ffi::OsStr;

use super::{KERNEL, UST, assert_refused, lttv, lttv_with, text};

/// Definitions of periods and counters.
const WRITES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../definitions/writes.toml");

/// Commands that print all of their tables.
const COMMANDS: [&[&str]; 19] = [
    &["info"],
    &["info", "--events"],
    &["stats"],
    &["stats", "--table=cpus,cpu_processes,processes,groups,commands,devices,events"],
    &["stats", "--longest=openat"],
    &["state", "--at=+0.2"],
    &["wait"],
    &["wait", "--tid=210"],
    &["critical-path", "--tid=210"],
    &["irq"],
    &["disk"],
    &["usage"],
    &["usage", "--every=100ms"],
    &["latency"],
    &["latency", "--every=100ms"],
    &["counters", "--define", WRITES],
    &["counters", "--define", WRITES, "--every=100ms"],
    &["latency", "--family=syscall,wake-up,irq,softirq,disk,open,read,futex", "--by=both"],
    &["compare", "--window=+0..+0.2", "--window=+0.2..+0.4"],
];

/// Runs a command on the bundled trace in a terminal of a width.
fn printed(args: &[&str], columns: &str) -> String {
    let args = [args, &[KERNEL]].concat();
    let args: Vec<&str> = match args[0] {
        "compare" => [&args[..], &[KERNEL]].concat(),
        _ => args,
    };
    text(&lttv_with(&args, &[("COLUMNS", OsStr::new(columns))]))
}

#[test]
fn no_line_of_a_table_is_longer_than_the_terminal() {
    let (mut checked, mut shortened) = (0, 0);
    for args in COMMANDS {
        for columns in ["80", "100", "160"] {
            let width = columns.parse().expect("a number");
            for line in printed(args, columns).lines() {
                assert!(line.chars().count() <= width, "{args:?} {columns}: {line}");
                shortened += usize::from(line.contains("with --wide: "));
                checked += 1;
            }
        }
    }
    assert!(checked > 1000 && shortened > 20, "{checked} lines, {shortened} shortened tables");
}

#[test]
fn wide_text_and_files_have_all_columns() {
    for args in COMMANDS {
        let wide = printed(&[args, &["--wide"][..]].concat(), "40");
        assert!(!wide.contains("with --wide"), "{args:?}: {wide}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("stats.txt");
    let option = format!("--output={}", file.display());
    assert_eq!(printed(&["stats", &option], "40"), "");
    let written = std::fs::read_to_string(file).expect("a file");
    assert_eq!(written, printed(&["stats", "--wide"], "40"));
}

#[test]
fn a_trace_of_programs_is_described_in_25_lines() {
    let described = text(&lttv_with(&["info", UST], &[("COLUMNS", OsStr::new("100"))]));
    let traces = described.lines().filter(|line| line.starts_with("Trace ")).count();
    assert!(traces > 0 && described.lines().count() <= 25 * traces, "{described}");
    assert!(described.lines().all(|line| line.chars().count() <= 100), "{described}");
}

#[test]
fn other_formats_refuse_the_options_of_text() {
    for args in [["--wide", "--format=csv"], ["--exact", "--format=json"]] {
        assert_refused(&[&["irq", KERNEL], &args[..]].concat(), "need --format text");
    }
}

#[test]
fn exact_text_has_the_digits_of_csv() {
    let csv = printed(&["disk", "--format=csv", "--columns=name,bytes_read,busy_ns"], "");
    let row = csv.lines().find(|line| line.starts_with("vdb,")).expect("a disk");
    let cells: Vec<&str> = row.split(',').collect();
    let busy: u64 = cells[2].parse().expect("a number");
    let (ms, ns) = (busy / 1_000_000, busy % 1_000_000);
    let exact = printed(&["disk", "--exact", "--columns=name,bytes_read,busy_ns"], "");
    let row = exact.lines().find(|line| line.trim_start().starts_with("vdb")).expect("a disk");
    let digits: String = row.chars().filter(|c| *c != ',').collect();
    assert!(digits.contains(&format!(" {} ", cells[1])), "{row}");
    assert!(digits.trim_end().ends_with(&format!("{ms}.{ns:06} ms")), "{row}");
}

#[test]
fn rows_are_sorted_before_the_first_ones_are_taken() {
    let all =
        printed(&["stats", "--table=processes", "--format=csv", "--columns=bytes_written,tid"], "");
    let mut expected: Vec<(u64, &str)> = all
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(','))
        .map(|(bytes, tid)| (bytes.parse().expect("a number"), tid))
        .collect();
    expected.sort_by_key(|row| std::cmp::Reverse(row.0));
    let expected: Vec<String> =
        expected.iter().take(3).map(|(bytes, tid)| format!("{bytes},{tid}")).collect();
    let three = printed(
        &[
            "stats",
            "--table=processes",
            "--sort=bytes_written",
            "--top=3",
            "--format=csv",
            "--columns=bytes_written,tid",
        ],
        "",
    );
    assert_eq!(three.lines().skip(1).collect::<Vec<_>>(), expected);
    let refused = lttv(&["stats", KERNEL, "--sort=written"]);
    assert!(refused.stderr.contains("--sort: there is no column `written`"), "{}", refused.stderr);
    assert_refused(&["stats", KERNEL, "--sort=tid", "--format=json"], "--sort needs --table");
}

#[test]
fn help_lists_tables_and_columns() {
    let listed = printed(&["irq", "--table=help"], "60");
    let csv = printed(&["irq", "--table=interrupts", "--format=csv"], "");
    let columns: Vec<&str> = csv.lines().next().expect("a head").split(',').collect();
    assert!(listed.contains("  interrupts  ") && listed.contains("  extremes  "), "{listed}");
    let words: Vec<&str> = listed.split_whitespace().collect();
    assert!(columns.iter().all(|column| words.contains(column)), "{listed}");
}
