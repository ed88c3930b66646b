//! CTF 2 metadata against the shared conformance cases: which texts are
//! accepted, and where errors are found.

use std::path::{Path, PathBuf};

use ltt_read::metadata::{self, MetadataError};
use proptest::prelude::*;
use serde_json::Value;

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared")
}

/// The cases of a manifest for which `wanted` holds.
fn cases(manifest: &str, wanted: impl Fn(&str, &Value) -> bool) -> Vec<(String, Value)> {
    let path = shared().join("expected").join(manifest).join("manifest.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: all cases of {manifest}, since {} is absent", path.display());
        return Vec::new();
    };
    let all: Vec<Value> = serde_json::from_str(&text).expect("the manifest is JSON");
    let named = all.into_iter().map(|c| (c["name"].as_str().expect("a name").to_owned(), c));
    named.filter(|(name, case)| wanted(name, case)).collect()
}

/// Cases where our error is on another line than yactfr's, and why.
const OTHER_LINE: &[(&str, &str)] = &[
    ("ctf2-fail-dl-array-type-len-after-1", "ours is at the path, theirs at the whole class"),
    ("ctf2-fail-dl-array-type-len-inval", "ours is at the path, theirs at the class it leads to"),
];

/// The line of the first error within its fragment: this is how yactfr counts.
fn line_in_fragment(text: &[u8], error: &MetadataError) -> usize {
    let before = &text[..error.diagnostics[0].span.start as usize];
    let start = before.iter().rposition(|&b| b == 0x1e).map_or(0, |n| n + 1);
    before[start..].iter().filter(|&&b| b == b'\n').count() + 1
}

/// The line of the innermost place in a message like "[2:3] …\n[4:5] …".
fn innermost_line(message: &str) -> Option<usize> {
    let last = message.lines().rev().find(|l| l.starts_with('['))?;
    last.strip_prefix('[')?.split(':').next()?.parse().ok()
}

#[test]
fn verdicts_and_places_of_the_shared_cases() {
    let cases = cases("ctf-metadata", |name, _| name.starts_with("ctf2"));
    let mut wrong = Vec::new();
    for (name, case) in &cases {
        let path = shared().join("traces/ctf-metadata").join(name).join("metadata");
        let text = std::fs::read(path).expect("the case has metadata");
        match (case["expect"].as_str(), metadata::parse(&text)) {
            (Some("ok"), Err(e)) => wrong.push(format!("{name}: refused: {e}")),
            (Some("error"), Ok(_)) => wrong.push(format!("{name}: accepted")),
            (Some("error"), Err(e)) => {
                let theirs = case["yactfr_error"].as_str().and_then(innermost_line);
                let ours = line_in_fragment(&text, &e);
                let excused = OTHER_LINE.iter().any(|(n, _)| n == name);
                if theirs.is_some_and(|t| t != ours) && !excused {
                    wrong.push(format!("{name}: line {ours}, not {theirs:?}: {e}"));
                }
            }
            _ => {}
        }
    }
    println!("{} cases checked", cases.len());
    assert!(wrong.is_empty(), "{}\n{} of {} wrong", wrong.join("\n"), wrong.len(), cases.len());
}

#[test]
fn metadata_of_the_shared_traces() {
    // A mutation may be of the metadata. Drafts of CTF 2 are read although
    // they need not be.
    let cases = cases("ctf", |name, case| {
        let wanted = case["expect"] != "either" || name.starts_with("tc-CTF2-7.0-");
        case["ctf"] == 2 && wanted && !name.starts_with("gen-mut-")
    });
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (name, _) in &cases {
        for path in metadata_files(&shared().join("traces/ctf").join(name)) {
            let text = std::fs::read(&path).expect("metadata can be read");
            // Of those in packets, others' tests take care.
            if text.trim_ascii_start().first() != Some(&0x1e) {
                continue;
            }
            checked += 1;
            match (name.starts_with("bt2-fail-meta"), metadata::parse(&text)) {
                (false, Err(e)) => wrong.push(format!("{}: {e}", path.display())),
                (true, Ok(_)) => wrong.push(format!("{}: accepted", path.display())),
                _ => {}
            }
        }
    }
    println!("metadata of {checked} traces checked");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn metadata_files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(metadata_files(&path));
        } else if path.ends_with("metadata") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A metadata stream with every kind of fragment and field class.
const EVERYTHING: &str = include_str!("data/everything.ctf2");

/// Pieces of text that matter to the parser.
const PIECES: &[&str] = &[
    "\u{1e}",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u",
    "null",
    "true",
    "-",
    "0",
    "1e9",
    "18446744073709551615",
    "-9223372036854775808",
    "999999999999999999999",
    "\"type\"",
    "\"path\"",
    "\"n\"",
    "\"u8\"",
    "\"structure\"",
    "\u{0}",
    "é",
];

/// Replaces `len` bytes at a place by a piece of text.
fn mutate(text: &mut Vec<u8>, at: usize, len: usize, piece: usize) {
    let at = at % (text.len() + 1);
    let end = (at + len).min(text.len());
    text.splice(at..end, PIECES[piece % PIECES.len()].bytes());
}

#[test]
fn the_text_with_everything_is_accepted() {
    let parsed = metadata::parse(EVERYTHING.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(parsed.warnings, []);
    assert!(parsed.schema.event_types.iter().any(|e| e.event_slots > 4));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever is done to metadata, it is accepted or refused with a place.
    #[test]
    fn mutated_metadata_is_handled(
        edits in prop::collection::vec((any::<usize>(), 0usize..12, any::<usize>()), 1..4)
    ) {
        let mut text = EVERYTHING.as_bytes().to_vec();
        for (at, len, piece) in edits {
            mutate(&mut text, at, len, piece);
        }
        if let Err(e) = metadata::parse(&text) {
            let first = &e.diagnostics[0];
            prop_assert!(first.span.start as usize <= text.len() * 3);
            prop_assert!(!e.to_string().is_empty());
        }
    }
}
