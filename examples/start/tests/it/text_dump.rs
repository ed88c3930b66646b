//! `text_dump`: its events are those that a merge of the trace gives.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use ltt_read::{Merge, Timestamp, open_all};

use crate::{output, program, run, text, trace};

/// An event as `ltt_read` reads it.
struct Read {
    time: Timestamp,
    cpu: u32,
    name: String,
}

fn events(name: &str) -> Vec<Read> {
    let traces = open_all(trace(name)).expect("a bundled trace");
    let (mut merge, mut events) = (Merge::new(&traces), Vec::new());
    while let Some(event) = merge.next() {
        events.push(Read {
            time: event.timestamp().expect("a time"),
            cpu: event.tracefile().cpu().expect("a CPU"),
            name: event.event_type().name().to_owned(),
        });
    }
    merge.finish().expect("a sound trace");
    events
}

fn heads<'e>(events: impl Iterator<Item = &'e Read>) -> Vec<String> {
    events.map(|event| format!("{} {} {}", event.time, event.cpu, event.name)).collect()
}

/// Returns the first three words of each line.
fn printed(args: &[&str]) -> Vec<String> {
    let words = |line: &str| line.split(' ').take(3).collect::<Vec<_>>().join(" ");
    output("text_dump", args).lines().map(words).collect()
}

#[test]
fn all_events_of_a_trace_are_printed_in_time_order() {
    for name in ["kernel", "ust", "ust-ctf2"] {
        assert!(printed(&[&trace(name)]) == heads(events(name).iter()), "{name}");
    }
    // Without an argument, those of the bundled trace.
    let all = output("text_dump", &[]);
    assert_eq!(all.lines().count(), 6087);
    assert!(
        all.starts_with("1795233416.237946824 0 irq_softirq_raise { vec: 7, name: 7 }\n"),
        "{all:.100}"
    );
}

#[test]
fn windows_and_filters_select_events() {
    let kernel = events("kernel");
    let (begin, end) = (kernel[1000].time, kernel[4000].time);
    let window = |event: &&Read| (begin..=end).contains(&event.time);
    let of_window = heads(kernel.iter().filter(window));
    assert!(of_window.len() >= 3001);
    let (from, to) = (begin.to_string(), end.to_string());
    assert!(printed(&["--begin", &from, "--end", &to]) == of_window);
    let after = |time: Timestamp| {
        let ns = time.since(kernel[0].time);
        format!("+{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
    };
    let (from, to) = (format!("--begin={}", after(begin)), format!("--end={}", after(end)));
    assert!(printed(&[&from, &to]) == of_window);
    let is_switch = |event: &&Read| event.name == "sched_switch" && event.cpu != 1;
    let filter = "--filter=sched_switch && cpu != 1";
    assert!(printed(&[filter]) == heads(kernel.iter().filter(is_switch)));
    let of_both = heads(kernel.iter().filter(window).filter(is_switch));
    assert!(!of_both.is_empty() && printed(&[filter, &from, &to]) == of_both);
}

#[test]
fn wrong_command_lines_and_traces_are_refused() {
    for (args, status, why) in [
        (&["--begin"][..], 2, "--begin needs a value"),
        (&["--begin", "noon"], 2, "not a timestamp"),
        (&["--no-such-option"], 2, "unknown option"),
        (&["-e", "cpu ="], 1, "column 6"),
        (&["-e", "nxt_tid == 1"], 1, "perhaps `next_tid`"),
        (&["/nowhere/at/all"], 1, "/nowhere/at/all"),
    ] {
        let done = run("text_dump", args);
        let stderr = text(&done.stderr);
        assert_eq!((done.status.code(), done.stdout.len()), (Some(status), 0), "{stderr}");
        assert!(stderr.contains(why), "{args:?}: {stderr}");
    }
    assert!(output("text_dump", &["--help"]).contains("--filter EXPR"));
}

#[test]
fn a_closed_pipe_ends_the_program_quietly() {
    let mut child = Command::new(program("text_dump"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut first = String::new();
    // The pipe is closed after one line.
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut first).expect("a line");
    let done = child.wait_with_output().expect("an end");
    assert_eq!((done.status.code(), text(&done.stderr).as_str()), (Some(0), ""), "{first}");
}
