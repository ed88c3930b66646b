//! Random queries, compared with a plain evaluation, and with DuckDB where it is installed.
//!
//! The traces have equal times, clocks that go back, and damage.

#[path = "../../arrow/tests/common/mod.rs"]
mod common;
mod queries;

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::process::{Command, Stdio};

use arrow_array::RecordBatch;
use common::generated::traceset;
use lttv_arrow::{Scan, Selection, Tables};
use lttv_context::Traceset;
use lttv_sql::{SessionOptions, TraceSession};
use parquet::arrow::ArrowWriter;
use queries::{Query, found, of_seed, rows, shapes};

#[test]
fn two_hundred_queries() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (mut queries, mut with_rows, mut of_duckdb) = (0, 0, 0);
    let has_duckdb = has_duckdb();
    for (seed, shape) in shapes() {
        let traceset = traceset(seed, shape);
        let queries_of_trace = of_seed(seed, &rows(&traceset));
        for threads in [1, 3] {
            let threads = std::num::NonZeroUsize::new(threads);
            let options = SessionOptions { threads, ..SessionOptions::default() };
            let session = TraceSession::new(traceset.clone(), options).expect("a session");
            for Query { sql, expected } in &queries_of_trace {
                let batches = runtime.block_on(async { session.sql(sql).await?.collect().await });
                let batches = batches.unwrap_or_else(|error| panic!("{sql}: {error}"));
                assert_eq!(&found(&batches), expected, "{sql}");
                with_rows += usize::from(!expected.is_empty());
            }
        }
        queries += queries_of_trace.len();
        if has_duckdb {
            compare_with_duckdb(&traceset, &queries_of_trace);
            of_duckdb += queries_of_trace.len();
        }
    }
    println!("{queries} queries, {with_rows} results with rows; {of_duckdb} compared with DuckDB");
    assert!(queries == 200 && with_rows > 200);
}

fn has_duckdb() -> bool {
    let python =
        Command::new("python3").args(["-c", "import duckdb"]).stderr(Stdio::null()).status();
    let has = python.is_ok_and(|status| status.success());
    if !has {
        println!("SKIPPED: DuckDB is not installed for python3");
    }
    has
}

/// Runs queries in DuckDB, over Parquet files with all columns.
fn compare_with_duckdb(traceset: &Traceset, queries: &[Query]) {
    const PROGRAM: &str = "
import sys, json, duckdb
folder, *_ = sys.argv[1:]
for table in ('even', 'odd', 'events'):
    duckdb.sql(f\"create view {table} as from '{folder}/{table}.parquet'\")
for line in sys.stdin:
    rows = duckdb.sql(json.loads(line)).fetchall()
    print(json.dumps([['' if value is None else str(value) for value in row] for row in rows]))
";
    let folder = tempfile::tempdir().expect("a directory");
    let tables = Tables::new(traceset);
    for name in ["even", "odd", "events"] {
        let table = if name == "events" { tables.all() } else { tables.of(name).expect("a table") };
        let selection = Selection::all(table);
        let file = File::create(folder.path().join(format!("{name}.parquet"))).expect("a file");
        let schema = selection.schema().expect("columns");
        let mut writer = ArrowWriter::try_new(file, schema, None).expect("a writer");
        let read =
            Scan::new(traceset, vec![selection]).read(&mut |_: usize, batch: RecordBatch| {
                writer.write(&batch).expect("rows are written");
                ControlFlow::Continue(())
            });
        read.expect("batches");
        writer.close().expect("a file");
    }
    let mut python = Command::new("python3")
        .args(["-c", PROGRAM])
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 runs");
    let mut input = String::new();
    for query in queries {
        writeln!(input, "{}", serde_json::Value::from(query.sql.as_str())).expect("a line");
    }
    python.stdin.take().expect("an input").write_all(input.as_bytes()).expect("python3 reads");
    let output = python.wait_with_output().expect("python3 ends");
    let lines = String::from_utf8(output.stdout).expect("text");
    assert_eq!(lines.lines().count(), queries.len());
    for (line, query) in lines.lines().zip(queries) {
        let found: Vec<Vec<String>> = serde_json::from_str(line).expect("JSON");
        assert_eq!(found, query.expected, "DuckDB: {}", query.sql);
    }
}
