//! Runs the metadata-only cases of the shared test data: each must be accepted
//! or refused as the manifest says, errors at the line that it names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ltt_read::metadata::{self, MetadataError, Severity};

/// Cases whose names start so are run.
const PREFIXES: &[&str] = &["ctf1-", "strm-"];

/// Parts of the names of cases that are not run, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("-len-loc-", "wants resolved locations"),
    ("-sel-loc-", "wants resolved locations"),
    ("-var-type-sel-type-not-fl-enum-type", "wants resolved locations"),
    ("-variant-tag-type-string", "wants resolved locations"),
];

/// Errors that we place at another line than the manifest does, and why.
const OTHER_LINE: &[(&str, u32, &str)] = &[
    ("ctf1-fail-ctf-testsuite-struct-duplicate-field-name", 8, "the second member"),
    ("ctf1-fail-struct-type-dup-member-type", 20, "the second member"),
    ("ctf1-fail-var-type-dup-opt", 17, "the second option"),
    ("ctf1-fail-dl-array-type-inval-len-loc-3", 24, "the location, not where it ends"),
    ("ctf1-fail-dl-str-type-inval-len-loc-3", 24, "the location, not where it ends"),
    ("ctf1-fail-var-type-inval-sel-loc-3", 23, "the location, not where it ends"),
    ("ctf1-fail-ert-dup-p-type", 17, "the second name, not its type"),
    ("ctf1-fail-ert-dup-sc-type", 21, "the second name, not its type"),
    ("ctf1-fail-fl-int-type-map-attr-unknown-clk-type-name", 13, "the clock's name"),
    ("ctf1-fail-ert-unknown-attr", 12, "the attribute is only warned of; the name is missing"),
    ("ctf1-fail-ert-empty-2", 12, "the event, whose name is missing too"),
    ("ctf1-fail-ert-empty-3", 12, "the event, whose name is missing too"),
    ("ctf1-fail-ert-empty-5", 12, "the event, whose name is missing too"),
];

struct Case {
    name: String,
    /// `ok`, `error`, or anything else for "readers disagree".
    expect: String,
    /// Lines at which the expected error may be placed.
    lines: Vec<u32>,
}

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared")
}

fn cases() -> Vec<Case> {
    let path = shared().join("expected/ctf-metadata/manifest.json");
    let Ok(text) = fs::read_to_string(&path) else { return Vec::new() };
    let manifest: serde_json::Value = serde_json::from_str(&text).expect("manifest is JSON");
    let string = |case: &serde_json::Value, key| case[key].as_str().unwrap_or("").to_owned();
    let entries = manifest.as_array().expect("manifest is a list").iter();
    entries
        .map(|case| Case {
            name: string(case, "name"),
            expect: string(case, "expect"),
            lines: lines(&string(case, "yactfr_error")),
        })
        .filter(|case| PREFIXES.iter().any(|p| case.name.starts_with(p)))
        .collect()
}

/// The line in the last `[LINE:COLUMN]` of a list of nested messages. Errors of
/// locations may also be placed where the location is written, which is the
/// message before.
fn lines(messages: &str) -> Vec<u32> {
    let line = |message: &str| message.strip_prefix('[')?.split(':').next()?.parse().ok();
    let count = messages.lines().count();
    let places = messages
        .lines()
        .enumerate()
        .filter(|(n, message)| n + 1 == count || message.contains("Invalid data location"));
    places.filter_map(|(_, message)| line(message)).collect()
}

/// What is wrong with the outcome of a case, if anything.
fn judge(case: &Case, outcome: &Result<metadata::Parsed, MetadataError>) -> Option<String> {
    match (case.expect.as_str(), outcome) {
        ("ok", Err(error)) => Some(format!("refused: {error}")),
        ("error", Ok(_)) => Some("accepted".into()),
        (_, Err(error)) => {
            let other = OTHER_LINE.iter().find(|(name, ..)| *name == case.name);
            let wanted = other.map_or(case.lines.clone(), |(_, line, _)| vec![*line]);
            let mut errors = error.diagnostics.iter().zip(&error.places);
            let placed = errors
                .any(|(d, place)| d.severity == Severity::Error && wanted.contains(&place.line));
            (!placed && !wanted.is_empty())
                .then(|| format!("expected an error at a line of {wanted:?}, got: {error}"))
        }
        _ => None,
    }
}

#[test]
fn verdicts_and_places() {
    let cases = cases();
    if cases.is_empty() {
        println!("skipped 1 test: there is no shared test data at {}", shared().display());
        return;
    }
    let mut not_run = BTreeMap::<_, usize>::new();
    let mut wrong = Vec::new();
    let mut run = 0;
    for case in &cases {
        if let Some((_, why)) = NOT_RUN.iter().find(|(part, _)| case.name.contains(part)) {
            *not_run.entry(why).or_default() += 1;
            continue;
        }
        let path = shared().join("traces/ctf-metadata").join(&case.name).join("metadata");
        let bytes = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        run += 1;
        if let Some(what) = judge(case, &metadata::parse(&bytes)) {
            wrong.push(format!("{}: {what}", case.name));
        }
    }
    for (why, count) in not_run {
        println!("skipped {count} cases: {why}");
    }
    println!("ran {run} cases");
    assert!(wrong.is_empty(), "{} of {run} cases:\n{}", wrong.len(), wrong.join("\n"));
}
