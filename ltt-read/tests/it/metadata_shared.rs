//! Metadata of the shared test data. Each case must be accepted or rejected as its
//! manifest says, with errors at the given lines. P Errors that we place at another line
//! than the manifest does, and why. Errors with another line than in the manifest, with
//! the reasons.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use ltt_read::metadata::{self, MetadataError, Severity};
use serde_json::Value;

/// Errors that we place at another line than the manifest does, and why.
const OTHER_LINE: &[(&str, usize, &str)] = &[
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
    (
        "ctf1-fail-trace-type-ph-type-missing-stream-id-member",
        19,
        "the event, which does not say its stream class either",
    ),
    ("ctf1-fail-ert-empty-2", 12, "the event, whose name is missing too"),
    ("ctf1-fail-ert-empty-3", 12, "the event, whose name is missing too"),
    ("ctf1-fail-ert-empty-5", 12, "the event, whose name is missing too"),
    ("ctf2-fail-dl-array-type-len-after-1", 12, "the path, not the whole class"),
    ("ctf2-fail-dl-array-type-len-inval", 26, "the path, not the class it leads to"),
];

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared")
}

/// Returns the cases of a manifest by name. Without the manifest, prints this and returns
/// none.
fn cases(manifest: &str) -> Vec<(String, Value)> {
    let path = shared().join("expected").join(manifest).join("manifest.json");
    let Ok(text) = fs::read_to_string(&path) else {
        // The output of `println!` is shown only for failed tests.
        let line = format!("all cases of {manifest} skipped: {} is absent\n", path.display());
        let _ = std::io::stderr().write_all(line.as_bytes());
        return Vec::new();
    };
    let all: Vec<Value> = serde_json::from_str(&text).expect("the manifest is JSON");
    all.into_iter().map(|c| (c["name"].as_str().expect("a name").to_owned(), c)).collect()
}

/// Returns the line in the last `[LINE:COLUMN]` of a list of nested messages. Errors
/// about locations may also have the line of the location itself, which is in the
/// previous message.
fn lines(messages: &str) -> Vec<usize> {
    let line = |message: &str| message.strip_prefix('[')?.split(':').next()?.parse().ok();
    let count = messages.lines().count();
    let places = messages
        .lines()
        .enumerate()
        .filter(|(n, message)| n + 1 == count || message.contains("Invalid data location"));
    places.filter_map(|(_, message)| line(message)).collect()
}

/// Returns the lines of all errors. Lines of CTF 2 count from the start of the fragment,
/// as in the manifest.
fn error_lines(text: &[u8], error: &MetadataError) -> Vec<usize> {
    let errors = error.diagnostics.iter().filter(|d| d.diagnostic.severity == Severity::Error);
    let line = |metadata::LocatedDiagnostic { diagnostic, place, .. }: &_| {
        let before = &text[..(diagnostic.span.start as usize).min(text.len())];
        let Some(fragment) = before.iter().rposition(|&b| b == 0x1e) else {
            return place.line as usize;
        };
        1 + before[fragment..].iter().filter(|&&b| b == b'\n').count()
    };
    errors.map(line).collect()
}

/// Returns the difference between the outcome of a case and the manifest, if any.
fn judge(name: &str, case: &Value, text: &[u8]) -> Option<String> {
    match (case["expect"].as_str(), metadata::parse(text)) {
        (Some("ok"), Err(error)) => Some(format!("refused: {error}")),
        (Some("error"), Ok(_)) => Some("accepted".into()),
        (_, Err(error)) => {
            let other = OTHER_LINE.iter().find(|(other, ..)| *other == name);
            let messages = case["yactfr_error"].as_str().unwrap_or("");
            let wanted = other.map_or(lines(messages), |(_, line, _)| vec![*line]);
            let found = error_lines(text, &error);
            (!wanted.is_empty() && !found.iter().any(|line| wanted.contains(line)))
                .then(|| format!("an error at line {found:?}, not {wanted:?}: {error}"))
        }
        _ => None,
    }
}

#[test]
fn results_and_error_lines_agree_with_the_manifest() {
    let cases = cases("ctf-metadata");
    let mut wrong = Vec::new();
    for (name, case) in &cases {
        let path = shared().join("traces/ctf-metadata").join(name).join("metadata");
        let text = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        wrong.extend(judge(name, case, &text).map(|what| format!("{name}: {what}")));
    }
    println!("{} cases checked", cases.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn metadata_of_the_shared_traces() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (name, case) in cases("ctf") {
        let sound = match (case["expect"].as_str(), case["error_class"].as_str()) {
            (Some("ok"), _) => true,
            (Some("error"), Some("metadata")) => false,
            // Drafts of CTF 2 are accepted, although this is not required.
            _ if name.starts_with("tc-CTF2-7.0-") => true,
            _ => continue,
        };
        let files = metadata_files(&shared().join("traces/ctf").join(&name));
        let refused = |path: &PathBuf| {
            let text = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            metadata::parse(&text).is_err()
        };
        checked += files.len();
        if files.iter().any(refused) == sound {
            wrong.push(name);
        }
    }
    println!("{checked} files checked");
    assert!(wrong.is_empty(), "wrong verdict: {wrong:#?}");
}

fn metadata_files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(metadata_files(&path));
        } else if path.ends_with("metadata") {
            found.push(path);
        }
    }
    found
}
