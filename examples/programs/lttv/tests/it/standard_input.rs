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
        ("lttv dump --follow - < /dev/null", "no recording of perf"),
        (&format!("lttv dump --follow - < {TRACES}/ftrace/trace.dat"), "no recording of perf"),
    ] {
        let run = shell(line);
        assert!(run.status.is_some_and(|status| status != 0), "{line}: {run:?}");
        assert!(run.stderr.contains(reason), "{line}: {}", run.stderr);
    }
    let twice = shell(&format!("lttv dump --count - - < {PIPE}"));
    assert_eq!(twice.status, Some(1), "{twice:?}");
    assert!(twice.stderr.contains("only once"), "{}", twice.stderr);
}

/// Returns the recording of a file as perf writes it to a pipe: attributes, descriptions and names, then the records,
/// with ends of rounds, and the number of bytes up to a place in the middle of them.
fn as_pipe(file: &[u8]) -> (Vec<u8>, usize) {
    let number =
        |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().expect("8 bytes")) as usize;
    let record = |kind: u32, body: &[u8]| {
        let size = (8 + body.len()) as u16;
        [&kind.to_le_bytes()[..], &[0; 2], &size.to_le_bytes(), body].concat()
    };
    let mut pipe = [&b"PERFILE2"[..], &16_u64.to_le_bytes()].concat();
    let (entry, attributes, size) = (number(16), number(24), number(32));
    for at in (attributes..attributes + size).step_by(entry) {
        let (ids, size) = (number(at + entry - 16), number(at + entry - 8));
        pipe.extend(record(64, &[&file[at..at + entry - 16], &file[ids..ids + size]].concat()));
    }
    let (begin, size) = (number(40), number(48));
    let mut place = begin + size;
    for feature in (0..256).filter(|bit| file[72 + bit / 8] >> (bit % 8) & 1 != 0) {
        let payload = &file[number(place)..][..number(place + 8)];
        place += 16;
        if payload.len() < 60_000 && matches!(feature, 3..=12) {
            pipe.extend(record(80, &[&(feature as u64).to_le_bytes(), payload].concat()));
        }
    }
    let (mut at, mut middle, mut rounds) = (begin, 0, 0);
    while at < begin + size {
        let size = usize::from(u16::from_le_bytes([file[at + 6], file[at + 7]]));
        pipe.extend(&file[at..at + size]);
        at += size;
        rounds += 1;
        if rounds % 100 == 0 {
            pipe.extend(record(68, &[]));
        }
        if middle == 0 && at > begin + number(48) * 3 / 4 {
            middle = pipe.len();
        }
    }
    (pipe, middle)
}

/// Events of a pipe are printed while others are still to come.
#[test]
fn a_pipe_is_printed_while_it_is_written() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    let path = format!("{TRACES}/perf/perf.data");
    let file = std::fs::read(&path).expect("the recording");
    let (pipe, middle) = as_pipe(&file);
    let sorted = |text: &str| {
        // While events come, nobody knows the names of threads nor the form of times.
        let of_event = |line: &str| line.split_once(" [").map_or(line, |(_, of)| of).to_owned();
        let mut lines: Vec<String> = text.lines().map(of_event).collect();
        lines.sort();
        lines
    };
    let expected = sorted(&printed(&format!("lttv dump {path}")));
    let args = ["dump", "--follow", "-"];
    let mut command = Command::new(support::lttv());
    command.args(args).env("HOME", "/nonexistent").env("TZ", "UTC");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("lttv");
    let mut input = child.stdin.take().expect("a pipe");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    input.write_all(&pipe[..middle]).expect("a reader");
    input.flush().expect("a reader");
    let mut text = String::new();
    for _ in 0..20 {
        output.read_line(&mut text).expect("a line, although the pipe is open");
    }
    input.write_all(&pipe[middle..]).expect("a reader");
    drop(input);
    std::io::Read::read_to_string(&mut output, &mut text).expect("text");
    assert!(child.wait().expect("an end").success());
    assert_eq!(sorted(&text), expected, "{args:?}");
    // A file in this form that is read as a whole gives the same.
    let directory = tempfile::tempdir().expect("a directory");
    let saved = directory.path().join("pipe.data");
    std::fs::write(&saved, &pipe).expect("room");
    assert_eq!(sorted(&printed(&format!("lttv dump {}", saved.display()))), expected);
}

/// A recording in a file that has ended is followed to its end.
#[test]
fn files_are_followed_to_their_end() {
    for file in ["perf/perf.data", "ftrace/trace.dat"] {
        let path = format!("{TRACES}/{file}");
        let count = |options: &str| printed(&format!("lttv dump --count {options} {path}"));
        assert_eq!(count("--follow"), count(""), "{file}");
    }
}
