//! Stopping the requests of a tab, and continuing them.

use std::time::Duration;

use crate::support::Screen;
use lttv_tui::look::Look;
use ratatui::crossterm::event::KeyCode;

/// Opens all viewers, with the focus on the control flow.
fn screen() -> Screen {
    let mut screen = Screen::open(160, 100, Look::True);
    screen.type_text("567");
    screen.press(KeyCode::Tab);
    screen.press(KeyCode::Tab);
    screen
}

/// Serves requests a little.
fn serve(screen: &mut Screen, times: usize) {
    (0..times).for_each(|_| _ = screen.app.service(Duration::ZERO));
}

#[test]
fn stopped_viewers_say_so_and_continue_with_what_is_missing() {
    let mut whole = screen();
    whole.type_text("0");
    let expected = whole.lines();
    for times in [0, 1, 2, 5, 20, 100, 400] {
        let mut screen = screen();
        screen.press_only(KeyCode::Char('0'));
        serve(&mut screen, times);
        assert!(screen.pending() > 0, "{times}");
        screen.press_only(KeyCode::Esc);
        assert_eq!(screen.pending(), 0);
        // Requests start again only after a key.
        screen.settle();
        assert_eq!(screen.pending(), 0);
        assert!(screen.line_with("stopped: r continues").is_some());
        let signs = screen.lines().into_iter().filter(|line| line.contains("r continues"));
        let signs: Vec<_> = signs.filter(|line| line.contains("incomplete")).collect();
        assert!(!signs.is_empty(), "{times}\n{}", screen.text());
        assert!(signs.iter().all(|line| line.contains("stopped")), "{signs:#?}");
        assert_ne!(screen.lines(), expected);
        // The background is not stopped.
        assert_eq!(screen.app.session().background_progress(), 1.0);
        // Continue, stop again, continue.
        screen.press_only(KeyCode::Char('r'));
        assert!(screen.pending() > 0);
        serve(&mut screen, times);
        screen.press_only(KeyCode::Esc);
        screen.type_text("r");
        for (line, expected) in screen.lines().iter().zip(&expected) {
            assert_eq!(line, expected, "{times}");
        }
    }
}

#[test]
fn another_window_is_read_after_a_stop() {
    let mut screen = screen();
    screen.press_only(KeyCode::Char('0'));
    serve(&mut screen, 3);
    screen.press_only(KeyCode::Esc);
    assert!(screen.line_with("incomplete").is_some());
    screen.type_text("+");
    assert!(screen.line_with("incomplete").is_none(), "{}", screen.text());
    assert_eq!(screen.lines(), {
        let mut whole = self::screen();
        whole.type_text("0+");
        whole.lines()
    });
    screen.type_text("r");
    assert!(screen.line_with("nothing was stopped").is_some());
}

/// Returns `true` if the heading of the event list says that it is stopped.
fn list_is_stopped(screen: &Screen) -> bool {
    let heading = screen.line_with(" 1 Events").expect("a list");
    heading.contains("stopped: incomplete, r continues")
}

#[test]
fn a_list_that_searches_matches_is_stopped_and_continued() {
    let nothing = "no event matches this filter";
    let mut screen = screen();
    "/event.name == \"sched_swicth\"".chars().for_each(|c| screen.press_only(KeyCode::Char(c)));
    screen.press_only(KeyCode::Enter);
    assert!(screen.line_with(" 1 Events  searching").is_some(), "{}", screen.text());
    screen.press_only(KeyCode::Esc);
    screen.settle();
    assert!(list_is_stopped(&screen), "{}", screen.text());
    screen.press(KeyCode::BackTab);
    assert!(screen.line_with("no event matches").is_none());
    screen.type_text("r");
    screen.press(KeyCode::Tab);
    assert!(screen.line_with(nothing).is_some(), "{}", screen.text());
    // Moving in a stopped list asks for rows, too.
    screen.press_only(KeyCode::Char('/'));
    screen.control('u');
    screen.press_only(KeyCode::Enter);
    screen.press_only(KeyCode::Esc);
    screen.settle();
    assert!(list_is_stopped(&screen), "{}", screen.text());
    screen.press(KeyCode::BackTab);
    screen.press(KeyCode::End);
    assert!(!list_is_stopped(&screen), "{}", screen.text());
}

#[test]
fn a_search_is_stopped_and_continued() {
    let mut screen = screen();
    screen.press(KeyCode::Home);
    screen.press(KeyCode::Down);
    let mut other = self::screen();
    other.press(KeyCode::Home);
    other.press(KeyCode::Down);
    other.type_text("n");
    let before = screen.status("current");
    screen.press_only(KeyCode::Char('n'));
    serve(&mut screen, 1);
    screen.press_only(KeyCode::Esc);
    screen.settle();
    assert_eq!(screen.status("current"), before);
    screen.type_text("r");
    assert_eq!(screen.status("current"), other.status("current"));
    assert_ne!(screen.status("current"), before);
}

#[test]
fn escape_without_requests_stops_nothing() {
    let mut screen = screen();
    screen.press(KeyCode::Esc);
    assert!(screen.line_with("stopped").is_none());
    screen.type_text("r");
    assert!(screen.line_with("nothing was stopped").is_some());
}
