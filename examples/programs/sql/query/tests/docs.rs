//! The questions of `docs/sql.md`: each output is the one that is printed, and DuckDB gives the same rows over
//! exported files.
//!
//! With `LTTV_UPDATE_DOCS` set, the outputs in the page are replaced.

#[path = "../../arrow/tests/common/mod.rs"]
mod common;
mod duckdb;
#[allow(dead_code)] // other tests use the rest
mod queries;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ltt_read::OpenOptions;
use lttv_context::Traceset;
use lttv_sql::{SessionOptions, TraceSession};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../..")
}

/// Returns the traces of a question, which are named in its first line if it is not the bundled kernel
/// trace, and the query.
fn traces_of(question: &str) -> (Vec<PathBuf>, &str) {
    let named = question.strip_prefix("-- ").and_then(|rest| rest.split_once('\n'));
    let (names, query) = named.unwrap_or(("kernel", question));
    let path = |name| root().join("examples/traces").join(name);
    (names.split_whitespace().map(path).collect(), query)
}

/// Runs the query of a question.
fn answer(question: &str) -> String {
    let (traces, query) = traces_of(question);
    let output = Command::new(env!("CARGO_BIN_EXE_lttv-sql"))
        .arg(query)
        .args(traces)
        .output()
        .expect("the program runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{query}\n{errors}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn every_question_has_its_answer() {
    let path = root().join("docs/sql.md");
    let page = fs::read_to_string(&path).expect("a page");
    let (mut questions, mut updated, mut rest) = (0, String::new(), &*page);
    while let Some((before, after)) = rest.split_once("```sql\n") {
        let (query, after) = after.split_once("```\n").expect("an end of the query");
        let (between, after) = after.split_once("```text\n").expect("an output");
        assert!(between.trim().is_empty(), "{query} has no output");
        let (output, after) = after.split_once("```\n").expect("an end of the output");
        let found = answer(query.trim_end());
        if std::env::var_os("LTTV_UPDATE_DOCS").is_none() {
            assert_eq!(found, output, "{query}");
        }
        updated += &format!("{before}```sql\n{query}```\n{between}```text\n{found}```\n");
        rest = after;
        questions += 1;
    }
    updated += rest;
    if std::env::var_os("LTTV_UPDATE_DOCS").is_some() {
        fs::write(&path, updated).expect("the page is written");
    }
    assert!(questions >= 20, "{questions} questions");
}

#[test]
fn duckdb_gives_the_same_answers() {
    if !duckdb::is_installed() {
        return;
    }
    let page = fs::read_to_string(root().join("docs/sql.md")).expect("a page");
    let questions = page.split("```sql\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let questions: Vec<&str> = questions.map(|(question, _)| question.trim_end()).collect();
    let mut others = Vec::new();
    let folder = tempfile::tempdir().expect("a directory");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for (number, question) in (1..).zip(&questions) {
        let (traces, query) = traces_of(question);
        let files = folder.path().join(traces.len().to_string());
        if !files.exists() {
            duckdb::exported(&traces, &files, "events,states,statistics");
        }
        let found = duckdb::ask(&files, &[query]).remove(0);
        let opened = OpenOptions::new().open_all_of(&traces).expect("traces");
        let traceset = Traceset::from(opened.traces);
        let session = TraceSession::new(traceset, SessionOptions::default()).expect("a session");
        let batches = runtime.block_on(async { session.sql(query).await?.collect().await });
        let mut rows = queries::found(&batches.expect("rows"));
        rows.iter_mut().flatten().for_each(|text| *text = as_in_duckdb(text));
        assert!(!rows.is_empty());
        if found != rows {
            println!("question {number}: {question}\nDuckDB: {found:?}\nhere:   {rows:?}");
            others.push(number);
        }
    }
    assert!(others.is_empty() && questions.len() >= 20, "other answers: {others:?}");
}

/// Returns a text as DuckDB writes it: the date and the time of a timestamp are apart, and its zeros at the
/// end left out.
fn as_in_duckdb(text: &str) -> String {
    match text.split_once('T') {
        Some((date, time)) if date.len() == 10 && date.starts_with("20") => {
            let time = if time.contains('.') { time.trim_end_matches('0') } else { time };
            format!("{date} {}", time.trim_end_matches('.'))
        }
        _ => text.to_owned(),
    }
}
