//! Random queries, compared with a plain evaluation, and with DuckDB where it is installed.
//!
//! The traces have equal times, clocks that go back, and damage.

#[path = "../../arrow/tests/common/mod.rs"]
mod common;
mod duckdb;
mod queries;

use std::path::Path;

use common::generated;
use lttv_context::Traceset;
use lttv_sql::{SessionOptions, TraceSession};
use queries::{Query, found, of_seed, rows, shapes};

#[test]
fn two_hundred_queries() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (mut queries, mut with_rows, mut of_duckdb) = (0, 0, 0);
    let has_duckdb = duckdb::is_installed();
    let folder = tempfile::tempdir().expect("a directory");
    for (seed, shape) in shapes() {
        let path = folder.path().join(seed.to_string());
        generated::write(&path, seed, shape);
        let traceset = Traceset::open(&path).expect("traces");
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
            compare_with_duckdb(&path, &queries_of_trace);
            of_duckdb += queries_of_trace.len();
        }
    }
    println!("{queries} queries, {with_rows} results with rows; {of_duckdb} compared with DuckDB");
    assert!(queries == 200 && with_rows > 200);
}

/// Compares the answers of DuckDB, over files of the same trace.
fn compare_with_duckdb(trace: &Path, queries: &[Query]) {
    let folder = tempfile::tempdir().expect("a directory");
    let files = folder.path().join("files");
    duckdb::exported(&[trace.to_owned()], &files, "events");
    let asked: Vec<&str> = queries.iter().map(|query| query.sql.as_str()).collect();
    for (found, query) in duckdb::ask(&files, &asked).iter().zip(queries) {
        assert_eq!(found, &query.expected, "DuckDB: {}", query.sql);
    }
}
