//! The page docs/user/terminal.md agrees with the program.

use std::collections::BTreeSet;

use crate::support::Screen;
use lttv_tui::keys;
use lttv_tui::look::Look;
use ratatui::crossterm::event::KeyCode;

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/user/terminal.md");
    std::fs::read_to_string(path).expect("the page")
}

/// Returns the part of the page below a heading, up to the next heading of any level.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| {
        panic!("no heading {heading}");
    });
    rest.split("\n#").next().unwrap_or_default()
}

/// Returns the keys of a table, by row.
fn keys_of(section: &str) -> BTreeSet<String> {
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| row.split('`').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_page_has_the_keys_of_the_help() {
    let page = page();
    let all: BTreeSet<String> = keys::help().map(|(keys, _)| keys.to_owned()).collect();
    assert_eq!(keys_of(section(&page, "## Keys in all viewers")), all);
}

#[test]
fn the_page_has_the_keys_of_each_viewer() {
    let page = page();
    let screen = Screen::open(80, 24, Look::True);
    for (kind, number) in screen.app.kinds().iter().zip(1..) {
        let row = format!("| {number} {} |", kind.title());
        assert!(page.contains(&row), "{row}");
        let keys = |keys: &[keys::Key]| {
            let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
            keys.join(" ")
        };
        let all: BTreeSet<String> = kind.actions().iter().map(|of| keys(of.keys())).collect();
        if !all.is_empty() {
            let found = keys_of(section(&page, &format!("### {}", kind.title())));
            assert_eq!(found, all, "{}", kind.title());
        }
    }
}

/// The keys that docs/user/tasks.md names for its second task, in the window of the walk-through.
#[test]
fn eight_keys_tell_why_a_thread_was_blocked() {
    let mut screen = Screen::open(150, 46, Look::True);
    screen.type_text("g+200ms..+260ms");
    screen.press(KeyCode::Enter);
    screen.type_text("F210");
    screen.press(KeyCode::Enter);
    screen.type_text("}}");
    screen.press(KeyCode::Enter);
    for (name, value) in [
        ("state", "blocked in openat"),
        ("duration", "28.71 ms (28714899 ns)"),
        ("woken by", "IRQ virtio1-req.1 on CPU 1"),
    ] {
        let found = screen.lines().iter().any(|line| line.contains(name) && line.contains(value));
        assert!(found, "{name}\n{}", screen.text());
    }
}

/// The keys that docs/user/tasks.md names for its last task.
#[test]
fn two_keys_go_to_the_longest_gap_of_a_thread() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/ust-threads");
    let session = lttv_tui::session::Session::open(&[path]).expect("a trace");
    let mut screen = Screen::of(session, 160, 40, Look::True);
    screen.type_text("j");
    screen.press(KeyCode::Enter);
    assert_eq!(screen.status("process"), "wrk-1 (5326)");
    // The first gap of 2.26 ms ends at 1795230127.790906135.
    assert_eq!(screen.status("current"), "1795230127.788649559");
}

/// The first task: the busiest threads come first.
#[test]
fn three_keys_sort_threads_by_activity() {
    let mut screen = Screen::open(150, 46, Look::True);
    screen.type_text("g+150ms..+250ms");
    screen.press(KeyCode::Enter);
    screen.type_text("RRR");
    let title = screen.line_with("2 Control flow").expect("the viewer");
    assert!(title.contains("busiest first"), "{title}");
}
