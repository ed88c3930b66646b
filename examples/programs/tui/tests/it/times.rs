//! Times that the user types, marks, and notations of times.

use crate::support;
use crate::support::Screen;
use lttv_filter::Zone;
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use ratatui::crossterm::event::KeyCode;

/// The first and the last event of the bundled trace.
const FIRST: i64 = 1_795_233_416_237_946_824;

fn screen() -> Screen {
    Screen::open(160, 45, Look::True)
}

/// Returns the current time and the time window, in ns.
fn place(screen: &Screen) -> (i64, i64, i64) {
    let tab = &screen.app.session().tab;
    (tab.time().as_ns(), tab.window().start().as_ns(), tab.window().end().as_ns())
}

#[test]
fn all_notations_of_times_lead_to_the_same_event() {
    let mut screen = screen();
    let events = screen.app.session().events();
    assert_eq!(events.start.as_ns(), FIRST);
    let before_last = (events.end.as_ns() - FIRST - 20_000_000) as f64 / 1e6;
    for text in [
        "1795233416.257946824",
        "1795233416 257946824",
        "+20ms",
        "+0.02",
        "+20000 us",
        &format!("-{before_last:.6}ms"),
        "2026-11-21 03:56:56.257946824Z",
        "03:56:56.257946824Z",
    ] {
        screen.go_to("+0");
        assert_eq!(place(&screen).0, FIRST);
        screen.go_to(text);
        assert_eq!(place(&screen).0, FIRST + 20_000_000, "{text}\n{}", screen.text());
    }
}

#[test]
fn a_range_is_shown_exactly() {
    let mut screen = screen();
    for text in ["+20ms..+120ms", "[+20ms, +120ms]", "+0.02,+0.12", "+20ms .. +120ms"] {
        screen.go_to("..");
        assert_ne!(screen.status("width"), "100 ms");
        screen.go_to(text);
        let (from, to) = (FIRST + 20_000_000, FIRST + 120_000_000);
        // The window contains events at its last time.
        assert_eq!(place(&screen), (from, from, to + 1), "{text}\n{}", screen.text());
        assert_eq!(screen.status("width"), "100 ms");
        assert_eq!(screen.status("window"), "1795233416.257946824 – 1795233416.357946824");
    }
    // An open range ends at the last event, which it contains.
    let events = screen.app.session().events();
    screen.go_to("+20ms..");
    assert_eq!(place(&screen).2, events.end.as_ns() + 1);
    screen.go_to("..+20ms");
    assert_eq!(place(&screen), (FIRST, FIRST, FIRST + 20_000_001));
    // A range over the ends is fine, and limited to the traces.
    screen.go_to("5s..1795233416.257946824");
    let span = screen.app.session().span();
    assert_eq!(place(&screen), (FIRST, span.start.as_ns(), FIRST + 20_000_001));
    // A key shows the previous range.
    screen.type_text("u");
    assert_eq!(place(&screen).1, FIRST);
}

#[test]
fn a_time_outside_of_the_traces_is_reported_and_nothing_moves() {
    let mut screen = screen();
    let before = place(&screen);
    for text in ["5", "+1h", "2026-11-21", "1..2", "+1h..+2h", "-1h"] {
        screen.go_to(text);
        assert_eq!(place(&screen), before, "{text}");
        let lines = screen.text().replace('\n', " ");
        assert!(lines.contains("outside of the traces"), "{text}\n{}", screen.text());
        assert!(lines.contains("1795233416.237946824 to "), "{text}\n{}", screen.text());
        screen.press(KeyCode::Esc);
    }
    screen.go_to("+30ms..+20ms");
    assert!(screen.text().contains("which is before its start"), "{}", screen.text());
    screen.press(KeyCode::Esc);
    assert_eq!(place(&screen), before);
}

/// The option `--timerange` of the programs does the same.
#[test]
fn a_range_from_an_event_to_another_contains_both() {
    let mut screen = screen();
    // The statistics of the window.
    screen.type_text("5mA");
    let events = |screen: &Screen| {
        let line = screen.line_with("events count").expect("statistics");
        let number = line.split_once("events count").and_then(|(_, rest)| rest.trim().parse().ok());
        number.unwrap_or_else(|| panic!("no number in {line}"))
    };
    // The times of the first three events.
    let [first, second, third] =
        ["1795233416.237946824", "1795233416.238326610", "1795233416.238428412"];
    for (from, to, expected) in
        [(first, third, 3), (first, second, 2), (second, third, 2), (second, second, 1)]
    {
        screen.go_to(&format!("{from}..{to}"));
        let found: u64 = events(&screen);
        assert_eq!(found, expected, "{from} {to}\n{}", screen.text());
        assert_eq!(screen.status("window"), format!("{from} – {to}"));
    }
    screen.go_to("1795233416.238326611..1795233416.238428411");
    assert_eq!(events(&screen), 0);
}

/// Packets may start long before the first event.
#[test]
fn times_from_the_start_count_from_the_first_event() {
    let mut screen = screen();
    let session = screen.app.session();
    assert!(session.span().start < session.first());
    screen.go_to("+0..+100ms");
    let axis = screen.line_with("TIME from the start").expect("a time axis");
    assert!(axis.contains("╵0 ms"), "{axis}");
    // The whole traces start before it.
    screen.type_text("0");
    let session = screen.app.session();
    let axis = screen.line_with("TIME from the start").expect("a time axis");
    let is_early = session.first().as_ns() - session.span().start.as_ns() > 1_000_000_000;
    assert_eq!(axis.contains("╵-"), is_early, "{axis}");
}

#[test]
fn marks_show_their_exact_difference() {
    let mut screen = screen();
    screen.go_to("+20ms");
    screen.type_text(".");
    screen.go_to("+0.021234567");
    screen.type_text(".");
    assert_eq!(screen.status("selected"), "1.234567 ms");
    screen.type_text("z");
    let from = FIRST + 20_000_000;
    assert_eq!(place(&screen), (from + 1_234_567, from, from + 1_234_567));
    screen.type_text("u");
    assert_ne!(place(&screen).1, from);
    // Esc removes the marks.
    screen.press(KeyCode::Esc);
    assert!(!screen.text().contains("selected "), "{}", screen.text());
    assert_eq!(screen.app.session().mark(), None);
}

/// Returns the selected row of the list of events.
fn row(screen: &Screen) -> String {
    let buffer = screen.buffer();
    let reversed =
        |y: &u16| buffer[(1, *y)].modifier.contains(ratatui::style::Modifier::REVERSED) && *y > 2;
    let y = (0..buffer.area.height).find(reversed).expect("a selected row");
    screen.lines()[usize::from(y)].clone()
}

#[test]
fn a_key_shows_the_times_of_the_list_in_another_notation() {
    let mut screen = screen();
    screen.go_to("+0");
    screen.type_text(".");
    screen.press(KeyCode::BackTab); // to the list
    assert!(row(&screen).contains(" 1795233416 237946824 "), "{}", screen.text());
    screen.press(KeyCode::Down);
    let second = screen.app.session().tab.time().as_ns() - FIRST;
    let delta = format!(" +0.{second:09} ");
    for (heading, expected) in [
        ("FROM START s", &*delta),
        ("SINCE ROW s", &delta),
        ("SINCE MARK s", &delta),
        ("DATE AND TIME", "2026-11-"),
        ("TIME  ", " 03:56:56.238326610 "),
    ] {
        screen.type_text("T");
        assert!(screen.line_with(heading).is_some(), "{heading}\n{}", screen.text());
        assert!(row(&screen).contains(expected), "{expected}\n{}", screen.text());
    }
    screen.type_text("T");
    assert!(screen.line_with("TIME ns").is_some(), "{}", screen.text());
    // The columns fit a small screen, too.
    screen.resize(80, 24);
    for _ in 0..6 {
        screen.type_text("T");
        let list = screen.line_with("EVENT ").expect("headings");
        assert!(list.contains("PID") || list.contains("TID"), "{list}");
    }
}

#[test]
fn dates_in_filters_are_those_of_the_zone_of_the_tab() {
    let spans = |zone: Zone, text: &str| {
        let mut session = Session::open(&[support::KERNEL]).expect("a trace");
        session.set_zone(zone);
        let filters = session.compile(text).expect("a filter").expect("not empty");
        filters.filters().spans()
    };
    let tokyo = Zone::named("Asia/Tokyo").expect("a zone");
    let expected = spans(Zone::UTC, "event.time >= 2026-11-21T03:56:56.5");
    assert_eq!(spans(tokyo, "event.time >= 2026-11-21T12:56:56.5"), expected);
}
