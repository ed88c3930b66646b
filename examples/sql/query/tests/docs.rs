//! The questions of `docs/sql.md`: each output is the one that is printed.
//!
//! With `LTTV_UPDATE_DOCS` set, the outputs in the page are replaced.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Runs a query on the bundled kernel trace, or on others named in its first line.
fn answer(query: &str) -> String {
    let (traces, query) = match query.strip_prefix("-- ").and_then(|rest| rest.split_once('\n')) {
        Some((traces, query)) => (traces.split_whitespace().collect(), query),
        None => (vec!["kernel"], query),
    };
    let output = Command::new(env!("CARGO_BIN_EXE_lttv-sql"))
        .arg(query)
        .args(traces.iter().map(|name| root().join("examples/traces").join(name)))
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
