//! Recordings from standard input: `-` gives what the file gives.

use std::path::Path;
use std::time::Duration;

use crate::support::{self, Run};

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces");
/// A recording that `perf record -o -` wrote to a pipe, with compressed records.
const PIPE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../ltt-read/tests/data/perf/pipe-z.data");

/// Runs a line of shell, in which `lttv` is the program.
fn shell(line: &str) -> Run {
    let line = format!("lttv() {{ {} \"$@\"; }}; {line}", support::lttv().display());
    support::run(Path::new("sh"), &["-c", &line], None, Duration::from_secs(60))
}

/// Returns what a line prints, which must end without errors.
fn printed(line: &str) -> String {
    let run = shell(line);
    assert_eq!(run.status, Some(0), "{line}: {}", run.stderr);
    String::from_utf8(run.stdout).expect("UTF-8")
}

#[test]
fn commands_print_the_same_of_a_pipe() {
    let [perf, ftrace] = ["perf/perf.data", "ftrace/trace.dat"].map(|of| format!("{TRACES}/{of}"));
    let of_switches = [
        "wait --table waits --format csv",
        "spans --limit 20",
        "latency --family run --format csv --table run",
        "history range {} '*/CPUs/*/Thread' --format csv",
        "critical-path --format csv --table states",
    ];
    let of_all =
        ["dump", "stats --table processes --format csv", "info --events --table event_types"];
    let of_stacks =
        ["chart flame --no-symbols --format folded", "calls --no-symbols --table functions"];
    let all = [
        (&perf, [&of_all[..], &of_stacks].concat()),
        (&ftrace, [&of_all[..], &of_switches, &of_stacks].concat()),
        (&PIPE.to_owned(), of_all.to_vec()),
    ];
    let mut lines = 0;
    for (file, commands) in all {
        for command in commands {
            let full = |path: &str| match command.contains("{}") {
                true => command.replace("{}", path),
                false => format!("{command} {path}"),
            };
            let expected = printed(&format!("lttv {}", full(file)));
            let found = printed(&format!("cat {file} | lttv {}", full("-")));
            assert_eq!(
                found.replace("(-)", ""),
                expected.replace("(-)", ""),
                "{command} of {file}"
            );
            lines += found.lines().count();
        }
    }
    assert!(lines > 5000, "{lines}");
}

#[test]
fn a_pipe_is_read_beside_files() {
    let both = printed(&format!("lttv dump --count {TRACES}/kernel - < {TRACES}/perf/perf.data"));
    let count = |text: &str| {
        text.split_whitespace().find_map(|word| word.replace(',', "").parse::<u64>().ok())
    };
    assert_eq!(count(&both), Some(6087 + 521), "{both}");
}

#[test]
fn other_streams_are_refused() {
    for (line, reason) in [
        ("lttv dump - < /dev/null", "no recording of perf or ftrace"),
        ("echo text | lttv stats -", "no recording of perf or ftrace"),
        ("yes | lttv info -", "no recording of perf or ftrace"),
        (&format!("lttv dump --follow - < {PIPE}"), "--follow"),
        (&format!("lttv dump --follow {PIPE}"), "--follow"),
    ] {
        let run = shell(line);
        assert!(run.status.is_some_and(|status| status != 0), "{line}: {run:?}");
        assert!(run.stderr.contains(reason), "{line}: {}", run.stderr);
    }
    let twice = shell(&format!("lttv dump --count - - < {PIPE}"));
    assert_eq!(twice.status, Some(1), "{twice:?}");
    assert!(twice.stderr.contains("only once"), "{}", twice.stderr);
}
