//! The program `lttv-sql`: formats, commands, messages and exit statuses.

#[path = "../../arrow/tests/common/mod.rs"]
mod common;

use std::fs::File;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lttv-sql"));
    command.args(args).arg(common::bundled("kernel"));
    command
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn run(args: &[&str]) -> Output {
    command(args).output().expect("the program runs")
}

const QUERY: &str =
    "select cpu, count(*) as n from sched_switch group by cpu order by n desc, cpu limit 2";

#[test]
fn formats() {
    let csv = text(&run(&[QUERY, "-f", "csv"]));
    assert_eq!(csv.lines().next(), Some("cpu,n"));
    assert_eq!(csv.lines().count(), 3);
    let json = text(&run(&[QUERY, "-f", "json"]));
    let rows: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(rows.len() == 2 && rows[0]["n"].as_i64() >= rows[1]["n"].as_i64());
    let table = text(&run(&[QUERY]));
    assert!(table.starts_with("+--") && table.contains("| cpu | n "), "{table}");
    let empty = text(&run(&["select ts from events where cpu = 99"]));
    assert!(empty.contains("| ts |"), "{empty}");
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("out.parquet");
    let path = file.to_str().expect("a path");
    text(&run(&[QUERY, "-f", "parquet", "-o", path]));
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&file).expect("a file"));
    let batches = reader.expect("Parquet").build().expect("a reader");
    assert_eq!(batches.map(|batch| batch.expect("rows").num_rows()).sum::<usize>(), 2);
}

#[test]
fn commands() {
    let tables = text(&run(&[".tables sched_"]));
    assert!(tables.lines().any(|line| line == "sched_switch"), "{tables}");
    let schema = text(&run(&[".schema sched_switch"]));
    assert!(schema.contains("next_tid Int32"), "{schema}");
    assert!(schema.starts_with("timestamp Timestamp(ns) not null"), "{schema}");
    let plan = text(&run(&["explain select ts from sched_switch where cpu = 1 order by ts"]));
    assert!(plan.contains("tracefile.cpu == 1") && !plan.contains("SortExec"), "{plan}");
    let columns = "select column_name from information_schema.columns where table_name = 'errors'";
    assert!(text(&run(&[columns])).contains("message"));
}

#[test]
fn queries_of_standard_input() {
    let mut child = command(&["-f", "csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let input =
        "select count(*) as n\nfrom events;\nselect nothing;\n.tables statist\n.quit\nselect 1;";
    child.stdin.take().expect("an input").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "n\n6087\nstatistics\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("nothing"));
    assert_eq!(output.status.code(), Some(1), "a wrong query");
}

#[test]
fn windows_and_filters_are_those_of_other_programs() {
    let count = |args: &[&str]| -> u64 {
        let all = [&["select count(*) as n from events", "-f", "csv"], args].concat();
        let text = text(&run(&all));
        text.lines().nth(1).and_then(|n| n.parse().ok()).expect("a number")
    };
    let (all, switches) = (count(&[]), count(&["--filter", "sched_switch"]));
    assert_eq!((all, switches), (6087, 497));
    let millisecond = count(&["--end", "+1ms"]);
    assert!(millisecond > 0 && millisecond < all);
}

#[test]
fn faults_have_messages_and_statuses() {
    for (args, status, message) in [
        (&["select x from events"][..], 2, "x"),
        (&["selekt"], 2, "selekt"),
        (&["select 1", "--filter", "nothing == 1"], 2, "nothing"),
        (&["select 1", "-f", "parquet"], 2, "-o FILE"),
        (&[".what"], 2, ".help"),
        (&[".schema nothing"], 2, "nothing"),
    ] {
        let output = run(args);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{args:?}: {errors}");
        assert!(errors.starts_with("lttv-sql: error: ") && errors.contains(message), "{errors}");
    }
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let folder = tempfile::tempdir().expect("a directory");
    let names = || {
        let entries = std::fs::read_dir(folder.path()).expect("a directory");
        entries.map(|entry| entry.expect("an entry").file_name()).collect::<Vec<_>>()
    };
    let file = folder.path().join("out");
    let path = file.to_str().expect("a path");
    // The division fails after thousands of rows.
    let query = "select ts, 1 / (cpu - 7) from events where cpu <> 7 union all \
                 select ts, 1 / (cpu - 7) from events where cpu = 7";
    for format in ["table", "csv", "json", "parquet"] {
        let output = run(&[query, "-f", format, "-o", path]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{format}: {errors}");
        assert!(names().is_empty(), "{format}: {:?}", names());
    }
    std::fs::write(&file, "before").expect("a file");
    run(&[query, "-f", "csv", "-o", path]);
    assert_eq!(std::fs::read(&file).expect("a file"), b"before", "a failure replaces nothing");
    text(&run(&[QUERY, "-f", "csv", "-o", path]));
    assert!(std::fs::read(&file).expect("a file").starts_with(b"cpu,n\n"));
    assert_eq!(names(), ["out"]);
    let none = folder.path().join("none/out");
    let output = run(&[QUERY, "-o", none.to_str().expect("a path")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("none/out"));
}

#[test]
fn columns_of_the_kernel_state() {
    let query = "select count(*) as n from sched_switch where next_tid <> state_tid or next_prio <> state_prio";
    let none = run(&[query, "-f", "csv"]);
    assert_eq!(none.status.code(), Some(2), "only on request");
    assert_eq!(text(&run(&[query, "-f", "csv", "--kernel-state"])), "n\n0\n");
    let modes = "select count(distinct state_mode) > 3 as several from events";
    assert_eq!(text(&run(&[modes, "-f", "csv", "--kernel-state"])), "several\ntrue\n");
    let plan = "explain select state_name, count(*) from events where cpu = 1 group by state_name";
    let plan = text(&run(&[plan, "--kernel-state", "--threads", "4"]));
    assert!(plan.contains("1 group"), "the state is followed by one thread:\n{plan}");
}
