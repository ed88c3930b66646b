//! The effects of keys on the screen, and the propagation of changes between viewers.

use crate::support::Screen;
use lttv_tui::look::Look;
use ratatui::crossterm::event::KeyCode;

const BEGIN: &str = "1795233416.237946824";

fn screen() -> Screen {
    Screen::open(160, 50, Look::True)
}

/// Returns the lines of the event list below its headings.
fn list(screen: &Screen) -> Vec<String> {
    let lines = screen.lines();
    let heading = lines.iter().position(|line| line.contains("TRACEFILE")).expect("a list");
    let rest = lines.into_iter().skip(heading + 1);
    rest.take_while(|line| !line.starts_with(" 2 ")).collect()
}

/// Returns the column in which charts mark the current time.
fn marked(screen: &Screen) -> Option<u16> {
    let buffer = screen.buffer();
    let y = screen.lines().iter().position(|line| line.starts_with("CPU 0"))? as u16;
    let marker = Look::True.marker().bg;
    (0..buffer.area.width).find(|x| Some(buffer[(*x, y)].bg) == marker)
}

#[test]
fn the_list_moves_the_marker_of_charts() {
    let mut screen = screen();
    assert_eq!(screen.status("current"), BEGIN);
    let first = marked(&screen).expect("the begin is in the window");
    screen.press(KeyCode::BackTab); // to the list
    (0..5).for_each(|_| screen.press(KeyCode::PageDown));
    let time = screen.status("current");
    assert!(*time > *BEGIN, "{time}");
    let (seconds, ns) = time.split_once('.').expect("seconds and ns");
    let is_there = |line: &String| line.contains(&format!("{seconds} {ns}"));
    assert!(list(&screen).iter().any(is_there), "{}", screen.text());
    screen.press(KeyCode::End);
    assert!(marked(&screen).is_none_or(|column| column > first), "{}", screen.text());
}

#[test]
fn the_marker_moves_the_list() {
    let mut screen = screen();
    let before = list(&screen);
    screen.type_text("}}");
    assert_ne!(list(&screen), before);
    let (seconds, ns) = {
        let time = screen.status("current");
        let (seconds, ns) = time.split_once('.').expect("seconds and ns");
        (seconds.to_owned(), ns.to_owned())
    };
    // The selected event is the first one at that time or later.
    let time = |line: &str| {
        let at = line.find(&seconds).expect("a time");
        line[at + seconds.len() + 1..at + seconds.len() + 10].to_owned()
    };
    let rows = list(&screen);
    assert!(rows.iter().any(|row| time(row) >= ns), "{}", screen.text());
    assert!(rows.iter().any(|row| time(row) < ns), "what came before is there, too");
}

#[test]
fn zooming_keeps_the_current_time_in_sight() {
    let mut screen = screen();
    assert_eq!(screen.status("width"), "964.9 ms");
    screen.type_text("}+++");
    assert_eq!(screen.status("width"), "120.6 ms");
    assert!(marked(&screen).is_some());
    screen.type_text("L");
    assert!(marked(&screen).is_none(), "the window moved on");
    screen.type_text("0");
    assert_eq!(screen.status("width"), "3.67 s");
}

#[test]
fn a_filter_is_for_list_and_histogram() {
    let mut screen = screen();
    assert!(screen.line_with("6087 in all").is_some());
    screen.type_text("/event.name == \"sched_switch\"");
    screen.press(KeyCode::Enter);
    assert!(screen.line_with("497 in all").is_some(), "{}", screen.text());
    let rows = list(&screen);
    assert!(rows.iter().all(|row| row.contains(" sched_switch ")), "{rows:#?}");
    // Remove the filter.
    screen.press(KeyCode::Char('/'));
    screen.control('u');
    screen.press(KeyCode::Enter);
    assert!(screen.line_with("6087 in all").is_some());
}

#[test]
fn an_invalid_filter_shows_its_error_and_place() {
    let mut screen = screen();
    screen.type_text("/cpu < < 2");
    screen.press(KeyCode::Enter);
    let line = screen.line_with("filter: cpu < < 2").expect("it can be edited");
    assert!(line.contains("expected a value"), "{line}");
    screen.press(KeyCode::Esc);
    assert_eq!(screen.status("filter"), "-");
}

#[test]
fn a_filter_that_matches_nothing_is_noted() {
    let mut screen = screen();
    screen.type_text("/next_tid == 3000000000");
    screen.press(KeyCode::Enter);
    let line = screen.line_with("nothing passes this filter").expect("it is used");
    assert!(line.starts_with("filter: "), "{line}");
    assert_eq!(screen.status("filter"), "next_tid == 3000000000");
    // The message stays until the next key.
    screen.press(KeyCode::BackTab);
    assert!(screen.line_with("nothing passes").is_none());
}

#[test]
fn a_filter_that_matches_nothing_is_reported_when_all_is_read() {
    let nothing = "no event matches this filter";
    let mut screen = screen();
    assert!(screen.line_with("no event matches").is_none());
    screen.type_text("/event.name == \"sched_swicth\"");
    screen.press(KeyCode::Enter);
    // The note on the filter has precedence until the next key.
    screen.press(KeyCode::BackTab);
    assert!(screen.line_with(nothing).is_some(), "{}", screen.text());
    // The message stays at any place until the filter changes.
    screen.type_text("}}");
    assert!(screen.line_with(nothing).is_some(), "{}", screen.text());
    screen.press(KeyCode::BackTab);
    screen.press(KeyCode::End);
    assert!(screen.line_with(nothing).is_some(), "{}", screen.text());
    screen.press(KeyCode::Char('/'));
    screen.control('u');
    screen.press(KeyCode::Enter);
    assert!(screen.line_with("no event matches").is_none(), "{}", screen.text());
    // A filter of the list only, and one that uses the state.
    screen.type_text("\\state.tid == 99999");
    screen.press(KeyCode::Enter);
    let own = "no event matches the filter of the list";
    assert!(screen.line_with(own).is_some(), "{}", screen.text());
    screen.type_text("/event.name == \"nothing\"");
    screen.press(KeyCode::Enter);
    screen.press(KeyCode::BackTab);
    assert!(screen.line_with("no event matches this filter and").is_some(), "{}", screen.text());
}

#[test]
fn the_list_has_a_filter_of_its_own() {
    let mut screen = screen();
    screen.type_text("\\event.name =~ \"sched_wak*\" && tracefile.cpu == 6");
    screen.press(KeyCode::Enter);
    let rows = list(&screen);
    assert!(rows.iter().all(|row| row.contains(" sched_wak")), "{rows:#?}");
    assert!(screen.line_with("own filter: event.name").is_some());
    assert!(screen.line_with("6087 in all").is_some(), "the histogram has not");
}

#[test]
fn filters_may_use_the_kernel_state() {
    let mut screen = screen();
    screen.type_text("/state.tid == 146 && state.execution_mode == SYSCALL");
    screen.press(KeyCode::Enter);
    let counted = screen.line_with(" in all").expect("a histogram");
    let counted: u64 = counted.split_whitespace().next().unwrap().parse().expect("a number");
    assert!((1..6087).contains(&counted), "{counted}");
    screen.press(KeyCode::BackTab); // to the list
    screen.press(KeyCode::End);
    // Scroll back as far as possible: the list contains all of them.
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..counted {
        let rows = list(&screen);
        // The state after a switch to it passes, too; the switch is an event of another thread.
        let is_of_it = |row: &String| row.contains(" 146 ") || row.contains(" sched_switch ");
        assert!(rows.iter().all(is_of_it), "{rows:#?}");
        seen.extend(rows);
        screen.press(KeyCode::PageUp);
    }
    assert_eq!(seen.len() as u64, counted);
    // The same filter for the list only.
    screen.type_text("/");
    screen.control('u');
    screen.press(KeyCode::Enter);
    screen.type_text("\\state.tid == 7");
    screen.press(KeyCode::Enter);
    let rows = list(&screen);
    let is_of_it = |row: &String| row.contains(" 7 ") || row.contains(" sched_switch ");
    assert!(!rows.is_empty() && rows.iter().all(is_of_it), "{rows:#?}");
    assert!(screen.line_with("6087 in all").is_some(), "the histogram has not");
    screen.type_text("\\");
    screen.control('u');
    screen.type_text("state.nonsense == 7");
    screen.press(KeyCode::Enter);
    let line = screen.line_with("state.nonsense").expect("it can be edited");
    assert!(line.contains("there is no `nonsense`"), "{line}");
}

#[test]
fn events_of_a_process_are_found_in_both_directions() {
    let mut screen = screen();
    screen.type_text("n");
    assert!(screen.line_with("select a process in the control flow first").is_some());
    screen.press(KeyCode::Home);
    screen.press(KeyCode::Down);
    let process = screen.status("process");
    assert!(process.starts_with("kworker/0:0"), "{process}");
    let mut times = vec![screen.status("current")];
    for _ in 0..4 {
        screen.type_text("n");
        times.push(screen.status("current"));
    }
    assert!(times.is_sorted() && times[0] < times[1], "{times:?}");
    for time in times[1..4].iter().rev() {
        screen.type_text("N");
        assert_eq!(screen.status("current"), **time);
    }
}

#[test]
fn a_time_can_be_typed() {
    let mut screen = screen();
    screen.type_text("g1795233416.5");
    screen.press(KeyCode::Enter);
    assert_eq!(screen.status("current"), "1795233416.500000000");
    screen.type_text("gnonsense");
    screen.press(KeyCode::Enter);
    assert!(screen.line_with("expected `YYYY-MM-DD").is_some(), "{}", screen.text());
}

/// Returns the time window, as the status line shows it.
fn window(screen: &Screen) -> String {
    screen.status("window")
}

#[test]
fn w_a_s_d_zoom_and_scroll_as_in_other_viewers_of_traces() {
    let (mut letters, mut others) = (screen(), screen());
    for (letter, other) in [("w", "+"), ("d", "l"), ("w", "="), ("a", "h"), ("s", "-")] {
        letters.type_text(letter);
        others.type_text(other);
        assert_eq!(window(&letters), window(&others), "{letter}");
    }
    assert_eq!(letters.status("width"), "482.4 ms");
    // They work in each viewer, since no viewer uses these letters.
    for _ in 0..7 {
        letters.press(KeyCode::Tab);
        let before = letters.status("width");
        letters.type_text("w");
        assert_ne!(letters.status("width"), before);
        letters.type_text("s");
        assert_eq!(letters.status("width"), before);
    }
    // The time in the middle of zooming is the current one.
    let (mut screen, at) = (screen(), "1795233416.500000000");
    screen.type_text(&format!("g{at}"));
    screen.press(KeyCode::Enter);
    screen.type_text("wwwwwwwwww");
    let window = window(&screen);
    let (start, end) = window.split_once(" – ").expect("two times");
    assert!(start <= at && at < end, "{window}");
}

#[test]
fn a_key_can_have_the_action_of_another_one() {
    use lttv_tui::keys::Key;
    let mut screen = screen();
    screen.app.bind("F5".parse().expect("a key"), Some(Key::char('w')));
    screen.app.bind(Key::char('q'), None);
    screen.press(KeyCode::F(5));
    assert_eq!(screen.status("width"), "482.4 ms");
    screen.type_text("q");
    assert!(!screen.app.is_over());
    screen.app.bind(Key::control('c'), None);
    screen.control('c');
    assert!(screen.app.is_over());
}

#[test]
fn zooms_are_undone_and_repeated() {
    let mut screen = screen();
    let first = window(&screen);
    screen.type_text("u");
    assert!(screen.line_with("no previous time window").is_some(), "{}", screen.text());
    screen.type_text("w");
    let second = window(&screen);
    screen.type_text("ddd");
    let third = window(&screen);
    screen.type_text("0");
    screen.type_text("u");
    assert_eq!(window(&screen), third);
    // Scrolling is one step.
    screen.type_text("u");
    assert_eq!(window(&screen), second);
    screen.type_text("u");
    assert_eq!(window(&screen), first);
    screen.type_text("UU");
    assert_eq!(window(&screen), third);
    // A drag is one step, too.
    let (_, y) = screen.find("CPU 2");
    screen.drag(ratatui::crossterm::event::MouseButton::Right, (80, y), (100, y));
    assert_ne!(window(&screen), third);
    screen.type_text("u");
    assert_eq!(window(&screen), third);
}

#[test]
fn tabs_are_apart() {
    let mut screen = screen();
    screen.type_text("c++");
    let narrow = screen.status("width");
    screen.type_text("<");
    assert_eq!(screen.status("width"), "964.9 ms");
    screen.type_text(">");
    assert_eq!(screen.status("width"), narrow);
    screen.type_text("x");
    assert_eq!(screen.status("width"), "964.9 ms");
    screen.type_text("x");
    assert!(screen.app.is_over());
}

#[test]
fn more_viewers_can_be_shown() {
    let mut screen = Screen::open(140, 60, Look::True);
    screen.type_text("1234567");
    for title in [" 5 Statistics", " 6 Interrupts", " 7 Disk performance"] {
        assert!(screen.line_with(title).is_some(), "{title}\n{}", screen.text());
    }
    assert!(screen.line_with(" 1 Events").is_none());
    insta::assert_snapshot!(screen.text());
}

#[test]
fn the_last_event_and_the_first_are_at_hand() {
    let mut screen = screen();
    screen.press(KeyCode::BackTab);
    screen.press(KeyCode::End);
    let last = screen.status("current");
    screen.press(KeyCode::Down);
    assert_eq!(screen.status("current"), last);
    screen.press(KeyCode::Home);
    assert_eq!(screen.status("current"), BEGIN);
    screen.press(KeyCode::Up);
    assert_eq!(screen.status("current"), BEGIN);
}
