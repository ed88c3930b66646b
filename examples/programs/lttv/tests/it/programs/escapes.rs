//! Control characters of traces are never printed unescaped.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use lttv_common::escape::is_control;

use super::traces::{self, HOSTILE, hostile};
use super::{COMMANDS, reading, run, text};

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
    let mut programs: Vec<_> = COMMANDS.map(<[_]>::to_vec).into();
    programs.extend([
        vec!["dump", "--format=json"],
        vec!["dump", "--count"],
        lttv(&["-m", "textDump", "-m", "statistics", "-m", "interrupts"]),
        lttv(&["-m", "eventCounts", "-m", "statistics", "-a"]),
        lttv(&["-m", "eventCounts", "-m", "statistics", "--json"]),
        lttv(&["-m", "depAnalysis", "-m", "diskPerformance"]),
        vec!["stats", "--format=json"],
        vec!["stats", "--top=5"],
        vec!["stats", "--tree"],
        vec!["wait", "--format=json"],
        vec!["wait", "--comm=*"],
        vec!["irq", "--format=csv"],
        vec!["disk"],
        vec!["state", "--format=json", "--method=checkpoint", "--at=-0s"],
        vec!["info", "--format=json", "--events"],
        vec!["history", "range", "--each=1000000"],
        vec!["history", "range", "--format=json"],
        vec!["chart", "flow"],
        vec!["chart", "usage", "-o", "OUT"],
    ]);
    for args in programs {
        for trace in [&trace, &metadata] {
            let mut args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
            args.iter_mut().filter(|arg| **arg == "OUT").for_each(|arg| *arg = output.as_ref());
            args.push(trace.as_os_str());
            if args.get(1).is_some_and(|arg| *arg == "range") {
                args.push("**".as_ref());
            }
            let done = run(&args);
            let what = format!("{args:?}");
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
    let built =
        run(&["history".as_ref(), "build".as_ref(), trace.as_os_str(), history.as_os_str()]);
    assert_clean("history build", &built.stderr);
    let shown = run(&["history".as_ref(), "info".as_ref(), history.as_os_str()]);
    assert_clean("history info", &shown.stdout);
    // An argument of the command line may contain them, too.
    let done = run(&[format!("--{}", hostile("option"))]);
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    assert_clean("an option", &done.stderr);
    let done =
        run(&["dump".as_ref(), OsStr::new("-e"), hostile("x < ").as_ref(), trace.as_os_str()]);
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
    let piped = run(&reading(&args, &trace));
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
    let program = crate::support::lttv();
    let words: Vec<_> = [program.as_os_str()].into_iter().chain(args.iter().copied()).collect();
    let command: Vec<_> = words.into_iter().map(quoted).collect();
    let mut script = std::process::Command::new("script");
    script.args(["-q", "-e", "-c", &command.join(" "), "/dev/null"]);
    script.stdin(std::process::Stdio::null());
    script.output().ok().map(|output| output.stdout)
}
