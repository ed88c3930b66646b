//! Queries in DuckDB, over the files that `export` writes.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Parser;
use lttv_arrow::export::{self, ExportArgs};
use lttv_common::report::Report;

/// Makes the tables of an export, and the functions of `lttv-sql`, and answers queries.
const PROGRAM: &str = r#"
import duckdb, json, pathlib, sys
from urllib.parse import unquote

def format_duration(ns):
    units = [(1, "ns"), (1000, "µs"), (10**6, "ms"), (10**9, "s")]
    unit, name = [of for of in units if abs(ns) >= of[0]][-1] if ns else units[0]
    sign, size = "-" if ns < 0 else "", abs(ns)
    if unit == 1:
        return f"{sign}{size} ns"
    digits = 2 if size < 10 * unit else 1 if size < 100 * unit else 0
    whole, rest = divmod(size, unit)
    text = str(whole) + ("." + str(rest * 10**digits // unit).zfill(digits) if digits else "")
    return f"{sign}{text} {name}"

def syscall_name(name):
    name = name.removeprefix("compat_")
    for prefix in ("syscall_entry_", "syscall_exit_", "sys_enter_", "sys_exit_"):
        if name.startswith(prefix):
            return name[len(prefix):]

duckdb.sql("set integer_division = true")
duckdb.create_function("format_duration", format_duration, ["BIGINT"], "VARCHAR")
duckdb.create_function("syscall_name", syscall_name, ["VARCHAR"], "VARCHAR", null_handling="special")
duckdb.create_function("bucket", lambda n, width: n // width * width, ["BIGINT", "BIGINT"], "BIGINT")
duckdb.create_function("log2_bucket", lambda n: 1 << n.bit_length() - 1 if n > 0 else 0, ["BIGINT"], "BIGINT")
for name, columns in (("errors", "message varchar"), ("notices", "message varchar, is_loss boolean")):
    duckdb.sql(f"create table {name} ({columns})")
for folder in pathlib.Path(sys.argv[1]).iterdir():
    table = unquote(folder.name.removeprefix("name="))
    source = f"read_parquet('{folder}/*.parquet', hive_partitioning = false, union_by_name = true)"
    names = [row[0] for row in duckdb.sql(f"describe select * from {source}").fetchall()]
    ts = ", epoch_ns(timestamp) as ts" if "timestamp" in names and "ts" not in names else ""
    if table in ("errors", "notices"):
        duckdb.sql(f"drop table {table}")
    duckdb.sql(f'create view "{table}" as select *{ts} from {source}')
for line in sys.stdin:
    rows = duckdb.sql(f"select cast(columns(*) as varchar) from ({json.loads(line)}) as q").fetchall()
    print(json.dumps([["" if value is None else value for value in row] for row in rows]))
"#;

/// Returns `true` if DuckDB is there. Otherwise the test says that it is skipped.
pub(crate) fn is_installed() -> bool {
    let python =
        Command::new("python3").args(["-c", "import duckdb"]).stderr(Stdio::null()).status();
    let is_installed = python.is_ok_and(|status| status.success());
    if !is_installed {
        println!("SKIPPED: DuckDB is not installed for python3");
    }
    is_installed
}

/// Exports traces, with all tables.
pub(crate) fn exported(traces: &[PathBuf], folder: &Path, with: &str) {
    let output = ["export", "--with", with, "-o"].map(PathBuf::from);
    let args = output.into_iter().chain([folder.to_owned()]).chain(traces.iter().cloned());
    let args = ExportArgs::try_parse_from(args).expect("arguments");
    export::run(&args, &mut Report::new("export")).expect("files");
}

/// Runs queries over the files of a folder, and returns the rows of each as texts.
pub(crate) fn ask(folder: &Path, queries: &[&str]) -> Vec<Vec<Vec<String>>> {
    let mut python = Command::new("python3")
        .args(["-c", PROGRAM])
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 runs");
    let mut input = String::new();
    for query in queries {
        writeln!(input, "{}", serde_json::Value::from(*query)).expect("a line");
    }
    python.stdin.take().expect("an input").write_all(input.as_bytes()).expect("python3 reads");
    let output = python.wait_with_output().expect("python3 ends");
    assert!(output.status.success(), "DuckDB does not answer");
    let lines = String::from_utf8(output.stdout).expect("text");
    let rows: Vec<_> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rows.len(), queries.len());
    rows
}
