//! Adding traces to a tab and removing them, while its viewers stay.

use std::path::{Path, PathBuf};

use crate::support::Screen;
use ltt_read::ClockTransform;
use lttv_common::clocks::Corrections;
use lttv_common::report::Report;
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use ratatui::crossterm::event::KeyCode;

fn trace(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces").join(name)
}

fn screen(names: &[&str]) -> Screen {
    let paths: Vec<_> = names.iter().map(|name| trace(name)).collect();
    Screen::of(Session::open(&paths).expect("bundled traces"), 160, 60, Look::True)
}

/// Returns the number of all events of the traceset that pass the filter.
fn count(screen: &mut Screen) -> u64 {
    screen.type_text("0");
    let line = screen.line_with(" in all").expect("a histogram");
    line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
}

/// Returns the selected row of the event list, without the name of the trace.
fn selected(screen: &Screen) -> String {
    let buffer = screen.buffer();
    let lines = screen.lines();
    let heading = lines.iter().position(|line| line.contains("TRACEFILE")).expect("a list") as u16;
    let style = Look::True.selected().add_modifier;
    let is_selected = |y: &u16| buffer[(9, *y)].modifier.contains(style);
    let row = (heading + 1..heading + 25).find(is_selected).expect("a selected row");
    lines[usize::from(row)][9..].to_owned()
}

#[test]
fn a_trace_is_added_and_removed_while_the_viewers_stay() {
    let ust = count(&mut screen(&["ust"]));
    let mut screen = screen(&["kernel"]);
    // A filter of the list, one of the tab, a selected process, event and time window.
    screen.type_text("\\tracefile.cpu >= 0");
    screen.press(KeyCode::Enter);
    screen.type_text("/event.name != \"sched_waking\"");
    screen.press(KeyCode::Enter);
    screen.press(KeyCode::Home);
    screen.press(KeyCode::Down);
    let process = screen.status("process");
    let without = count(&mut screen);
    assert_eq!(without, 6087 - 247);
    screen.type_text("++ll");
    screen.press(KeyCode::BackTab);
    (0..9).for_each(|_| screen.press(KeyCode::PageDown));
    let viewers: Vec<_> = screen.app.viewers().collect();
    let (window, current, row) =
        (screen.status("window"), screen.status("current"), selected(&screen));

    screen.type_text("O");
    screen.answer(trace("ust").to_str().expect("a path"));
    assert!(screen.line_with("added 1 trace").is_some(), "{}", screen.text());
    assert!(screen.line_with(" kernel+ust ").is_some());
    let same = |screen: &Screen| {
        assert_eq!(screen.app.viewers().collect::<Vec<_>>(), viewers);
        assert_eq!(screen.status("window"), window);
        assert_eq!(screen.status("current"), current);
        assert_eq!(screen.status("process"), process);
        assert_eq!(screen.status("filter"), "event.name != \"sched_waking\"");
        assert!(screen.line_with("own filter: tracefile.cpu >= 0").is_some());
        assert_eq!(selected(screen), row);
        assert!(screen.line_with(" 2 Control flow  ").is_some());
    };
    same(&screen);
    let both = count(&mut screen);
    assert_eq!(both, without + ust);
    // The process is still found, and resources tell the trace.
    assert!(screen.line_with("0: CPU 0").is_some());
    screen.type_text("n");
    let before = screen.status("current");
    screen.type_text("n");
    assert_ne!(screen.status("current"), before);
    screen.type_text("N");
    assert_eq!(screen.status("current"), before);
    let row = selected(&screen);

    screen.type_text("D");
    assert!(screen.line_with("Remove a trace").is_some());
    screen.press(KeyCode::Down);
    screen.press(KeyCode::Enter);
    assert!(screen.line_with("removed ").is_some(), "{}", screen.text());
    assert_eq!(screen.app.session().traceset().traces().len(), 1);
    assert_eq!(count(&mut screen), without);
    assert!(screen.line_with("0: CPU 0").is_none());
    assert_eq!((screen.status("current"), screen.status("process")), (before, process));
    assert_eq!(selected(&screen), row);
    // Statistics and tables are those of the traces, too.
    screen.type_text("5");
    screen.settle();
    assert_eq!(screen.app.session().background_progress(), 1.0);
    let (number, statistics) = screen.app.session().statistics();
    assert_eq!((number, statistics.map(|all| all.traces().len())), (1, Some(1)));
}

#[test]
fn a_process_and_an_event_keep_their_trace_when_an_earlier_one_is_removed() {
    let mut screen = self::screen(&["ust", "kernel"]);
    screen.type_text("0");
    screen.press(KeyCode::Home);
    screen.press(KeyCode::Down);
    (0..3).for_each(|_| screen.type_text("n"));
    let (process, current) = (screen.status("process"), screen.status("current"));
    assert!(process.starts_with("kworker"), "{process}");
    let row = selected(&screen);
    // A second list at the start, which stays there.
    screen.press(KeyCode::BackTab);
    screen.type_text("v1f");
    screen.press(KeyCode::Home);
    screen.type_text("D1");
    assert_eq!((screen.status("process"), screen.status("current")), (process, current.clone()));
    assert_eq!(selected(&screen), row);
    assert!(screen.line_with("stays here").is_some());
    // The search goes on with the same process.
    screen.type_text("n");
    assert!(screen.status("current") > current);
    screen.type_text("N");
    assert_eq!(screen.status("current"), current);
    // A process of the removed trace is no longer selected.
    let mut of_kernel = self::screen(&["kernel", "ust"]);
    of_kernel.type_text("0");
    of_kernel.press(KeyCode::Home);
    of_kernel.press(KeyCode::Down);
    assert_ne!(of_kernel.status("process"), "-");
    of_kernel.type_text("D1");
    assert_eq!(of_kernel.status("process"), "-");
}

#[test]
fn failures_to_add_or_remove_are_told_and_change_nothing() {
    let mut screen = screen(&["kernel"]);
    let before = count(&mut screen);
    screen.type_text("O");
    screen.answer("/no/such/trace");
    let line = screen.line_with("add: /no/such/trace").expect("it can be edited");
    assert!(line.contains("No such file"), "{line}");
    screen.press(KeyCode::Esc);
    screen.type_text("O");
    screen.answer(trace("kernel").to_str().expect("a path"));
    assert!(screen.line_with("kernel is already in this tab").is_some(), "{}", screen.text());
    screen.press(KeyCode::Esc);
    screen.type_text("D1");
    assert!(screen.line_with("the only trace of a tab stays").is_some());
    assert_eq!((screen.app.session().traceset().traces().len(), count(&mut screen)), (1, before));
}

#[test]
fn clocks_of_added_traces_are_corrected_as_those_of_the_others() {
    let offsets = Corrections {
        clock_offsets: vec!["vm=-1ms".parse().expect("an offset")],
        ..Corrections::default()
    };
    let report = Report::new("test");
    let correct = |traceset| offsets.corrected(traceset, &report);
    let session = Session::open_with(&[trace("kernel"), trace("ust")], correct);
    let mut screen = Screen::of(session.expect("bundled traces"), 200, 60, Look::True);
    assert_eq!(screen.status("clock"), "corrected");
    screen.app.add_traces(trace("ust-ctf2")).expect("a bundled trace");
    assert_eq!(screen.app.session().message.as_deref(), Some("added 1 trace"));
    screen.app.add_traces(trace("legacy")).expect("a bundled trace");
    let told = "added 1 trace; the clock of legacy is not corrected; added 1 trace";
    assert_eq!(screen.app.session().message.as_deref(), Some(told));
    let traces = screen.app.session().traceset().traces();
    let transforms: Vec<_> = traces.iter().map(|trace| trace.clock_transforms()[0]).collect();
    let (same, earlier) = (ClockTransform::IDENTITY, ClockTransform::from_offset(-1_000_000));
    assert_eq!(transforms, [same, earlier, earlier, same]);
    // In other tabs, too.
    screen.type_text("o");
    screen.answer(trace("ust").to_str().expect("a path"));
    let transforms =
        |screen: &Screen| screen.app.session().traceset().traces()[0].clock_transforms()[0];
    assert_eq!((transforms(&screen), &*screen.status("clock")), (earlier, "corrected"));
    screen.type_text("o");
    screen.answer(trace("kernel").to_str().expect("a path"));
    assert_eq!(transforms(&screen), same);
    let told = "the clock of kernel is not corrected";
    assert_eq!(screen.app.session().message.as_deref(), Some(told));
    assert!(screen.app.session().clocks.is_empty());
}
