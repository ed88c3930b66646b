//! Control characters of traces are never printed unescaped.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use lttv_common::escape::is_control;

use super::traces::{self, HOSTILE, hostile};
use super::{PROGRAMS, reading, run, text};

/// Checks that there are no control characters, except line breaks and tabs, and only UTF-8.
fn assert_clean(what: &str, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes);
    let text = text.unwrap_or_else(|error| panic!("{what}: {error}"));
    let found = text.split('\n').find(|line| line.contains(|c| c != '\t' && is_control(c)));
    assert!(found.is_none(), "{what}: {found:?}");
}

#[test]
fn no_program_prints_control_characters_of_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join(hostile("trace"));
    traces::hostile_kernel(&trace);
    let metadata = folder.path().join(hostile("metadata"));
    traces::hostile_metadata(&metadata);
    let (output, history) = (folder.path().join("out"), folder.path().join("history"));
    let lttv = |more: &[&'static str]| [&["run"], more, &["-t"]].concat();
    let mut programs: Vec<_> = PROGRAMS.map(|(program, args)| (program, args.to_vec())).into();
    programs.extend([
        ("lttv", vec!["dump", "--format=json"]),
        ("lttv", vec!["dump", "--count"]),
        ("lttv", lttv(&["-m", "textDump", "-m", "statistics", "-m", "interrupts"])),
        ("lttv", lttv(&["-m", "eventCounts", "-m", "statistics", "-a"])),
        ("lttv", lttv(&["-m", "eventCounts", "-m", "statistics", "--json"])),
        ("lttv", lttv(&["-m", "depAnalysis", "-m", "diskPerformance"])),
        ("lttv", vec!["stats", "--format=json"]),
        ("lttv", vec!["stats", "--top=5"]),
        ("lttv", vec!["stats", "--tree"]),
        ("lttv", vec!["wait", "--format=json"]),
        ("lttv", vec!["wait", "--comm=*"]),
        ("lttv", vec!["irq", "--format=csv"]),
        ("lttv", vec!["disk"]),
        ("lttv", vec!["state", "--format=json", "--method=checkpoint", "--at=-0s"]),
        ("lttv", vec!["info", "--format=json", "--events"]),
        ("lttv", vec!["history", "range", "--each=1000000"]),
        ("lttv", vec!["history", "range", "--format=json"]),
        ("lttv", vec!["chart", "flow"]),
        ("lttv", vec!["chart", "usage", "-o", "OUT"]),
    ]);
    for (program, args) in programs {
        for trace in [&trace, &metadata] {
            let mut args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
            args.iter_mut().filter(|arg| **arg == "OUT").for_each(|arg| *arg = output.as_ref());
            args.push(trace.as_os_str());
            if args.get(1).is_some_and(|arg| *arg == "range") {
                args.push("**".as_ref());
            }
            let done = run(program, &args);
            let what = format!("{program} {args:?}");
            assert_eq!(done.status.code(), Some(1), "{what}: {}", text(&done.stderr));
            assert_clean(&what, &done.stdout);
            assert_clean(&what, &done.stderr);
            let is_json = args.iter().any(|arg| text(arg.as_encoded_bytes()).contains("json"));
            if is_json && trace.ends_with(hostile("trace")) {
                for line in text(&done.stdout).lines().filter(|line| line.starts_with("{\"t")) {
                    let object: serde_json::Value = serde_json::from_str(line).unwrap();
                    assert!(object["trace"].as_str().unwrap().ends_with(HOSTILE));
                }
            }
        }
    }
    assert_clean("chart usage -o", &fs::read(&output).unwrap());
    let built = run(
        "lttv",
        &["history".as_ref(), "build".as_ref(), trace.as_os_str(), history.as_os_str()],
    );
    assert_clean("history build", &built.stderr);
    let shown = run("lttv", &["history".as_ref(), "info".as_ref(), history.as_os_str()]);
    assert_clean("history info", &shown.stdout);
    // An argument of the command line may contain them, too.
    for program in PROGRAMS.map(|of| of.0) {
        let done = run(program, &[format!("--{}", hostile("option"))]);
        assert_eq!(done.status.code(), Some(2), "{program}");
        assert_clean(program, &done.stderr);
    }
    let done = run(
        "lttv",
        &["dump".as_ref(), OsStr::new("-e"), hostile("x < ").as_ref(), trace.as_os_str()],
    );
    assert_eq!(done.status.code(), Some(2), "{}", text(&done.stderr));
    assert_clean("lttv dump -e", &done.stderr);
}

/// To a file or a pipe the text equals that of babeltrace2; to a terminal it is escaped.
#[test]
fn babeltrace_text_is_escaped_on_terminals_only() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    traces::hostile_kernel(&trace);
    let args = ["dump", "--format=babeltrace", "--color=never", "--names=all", "--fields=all"];
    let piped = run("lttv", &reading(&args, &trace));
    let name = hostile("event");
    assert!(piped.stdout.windows(name.len()).any(|part| part == name.as_bytes()));
    let Some(shown) = in_terminal(&reading(&args, &trace)) else {
        crate::support::print_note("SKIPPED: there is no `script` here");
        return;
    };
    // The terminal adds carriage returns.
    let shown = text(&shown).replace("\r\n", "\n");
    assert!(
        shown.contains("event\\x1b[31m\\r\\x07\\x7f\\u{9b}1m\\u{202e}\\u{2066}\\u{61c}é"),
        "{shown}"
    );
    assert_clean("lttv dump in a terminal", shown.as_bytes());
}

/// Returns the output of `lttv` to a terminal.
fn in_terminal(args: &[&OsStr]) -> Option<Vec<u8>> {
    let quoted = |word: &OsStr| format!("'{}'", Path::new(word).display());
    let program = crate::support::program("lttv");
    let words: Vec<_> = [program.as_os_str()].into_iter().chain(args.iter().copied()).collect();
    let command: Vec<_> = words.into_iter().map(quoted).collect();
    let mut script = std::process::Command::new("script");
    script.args(["-q", "-e", "-c", &command.join(" "), "/dev/null"]);
    script.stdin(std::process::Stdio::null());
    script.output().ok().map(|output| output.stdout)
}
