//! User-space traces: the viewers that have something to show, and what the others need.

use std::path::{Path, PathBuf};

use crate::support::Screen;
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use ratatui::crossterm::event::KeyCode;

fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/ust")
}

/// Returns a recording with the contexts vtid, vpid and procname, if it is here.
fn with_threads() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/traces/ctf/u1-all");
    let found = path.exists().then_some(path);
    if found.is_none() {
        println!("SKIPPED: the recording u1-all is not here");
    }
    found
}

fn screen(path: &Path, width: u16, height: u16) -> Screen {
    Screen::of(Session::open(&[path]).expect("a trace"), width, height, Look::True)
}

#[test]
fn each_viewer_of_a_user_space_trace_shows_something_or_says_what_it_needs() {
    for (width, height) in [(160, 45), (80, 24)] {
        let mut screen = screen(&bundled(), width, height);
        assert!(screen.line_with(" 2 Threads").is_some(), "{}", screen.text());
        // Each viewer alone.
        let mut seen = Vec::new();
        for number in 1..=8 {
            if screen.line_with(&format!(" {number} ")).is_some() {
                screen.type_text(&number.to_string());
            }
            screen.type_text(&format!("{number}m"));
            seen.push(screen.lines()[1].clone());
            screen.type_text("m");
        }
        let has = |title: &str, text: &str| {
            let line = seen.iter().find(|line| line.contains(title)).expect("each viewer");
            assert!(line.contains(text), "{line}");
        };
        has("Threads", "needs thread ids: lttng add-context -u -t vtid");
        has("Control flow", "needs sched_switch events of the kernel");
        has("Resources", "needs sched_switch, irq_handler or block_rq events of the kernel");
        has("Interrupts", "needs irq_handler_exit or softirq_exit events of the kernel");
        has("Disk", "needs block_rq_complete events of the kernel");
    }
}

#[test]
fn a_kernel_trace_has_no_rows_of_threads() {
    let mut screen = Screen::open(160, 45, Look::True);
    screen.type_text("8");
    let line = screen.line_with(" 8 Threads").expect("the viewer");
    assert!(line.contains("needs a user-space trace"), "{line}");
}

#[test]
fn threads_of_a_user_space_trace_have_rows() {
    let Some(path) = with_threads() else { return };
    let mut screen = screen(&path, 160, 45);
    screen.type_text("0");
    let title = screen.line_with(" 2 Threads").expect("the viewer");
    assert!(title.contains("with events in the window, by number"), "{title}");
    // The ids of events are those of their contexts.
    let row = screen.line_with(" wrk").or_else(|| screen.line_with("vtid = ")).expect("an event");
    assert!(row.contains(" 532"), "{row}");
    // A thread is found by its TID, and its next event from there on.
    screen.type_text("F5327");
    screen.press(KeyCode::Enter);
    assert_eq!(screen.status("process"), "wrk-2 (5327)");
    let before = screen.status("current");
    screen.type_text("n");
    let after = screen.status("current");
    assert!(after > before, "{before} {after}");
    let (_, ns) = after.split_once('.').expect("a time");
    let row = screen.line_with(ns).expect("the event");
    assert!(row.contains(" 5327 ") && row.contains(" 5320 "), "{row}");
    // The longest gap of the thread.
    screen.type_text("m");
    screen.press(KeyCode::Enter);
    let gap = screen.status("current");
    screen.type_text("n");
    let next = screen.status("current");
    let seconds = |text: &str| -> f64 { text[5..].parse().expect("a number") };
    let found = (seconds(&next) - seconds(&gap)) * 1e3;
    assert!((found - 9.54).abs() < 0.01, "{gap} {next}");
    insta::assert_snapshot!(screen.text());
}
