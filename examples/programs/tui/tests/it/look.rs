//! Snapshots of screens.

use crate::support::Screen;
use lttv_tui::look::Look;
use ratatui::crossterm::event::KeyCode;

#[test]
fn all_viewers_of_the_first_screen() {
    insta::assert_snapshot!(Screen::open(140, 44, Look::True).text());
}

#[test]
fn signs_stand_for_colours_where_there_are_none() {
    insta::assert_snapshot!(Screen::open(100, 30, Look::Mono).text());
}

#[test]
fn help() {
    let mut screen = Screen::open(100, 50, Look::True);
    screen.press(KeyCode::Char('?'));
    insta::assert_snapshot!(screen.text());
}

/// All general keys are on the first screen. Those of the viewers follow.
#[test]
fn keys_are_on_one_screen_after_another() {
    let mut screen = Screen::open(80, 24, Look::True);
    screen.press(KeyCode::Char('?'));
    let text = screen.text();
    for (keys, meaning) in lttv_tui::keys::help() {
        assert!(text.contains(keys) && text.contains(meaning), "{keys} {meaning}\n{text}");
    }
    // A text that does not fit would run into the next one.
    let cells = |line: &String| {
        let chars: Vec<char> = line.chars().collect();
        [39, 77].map(|end| chars.get(end).is_none_or(|c| *c == ' '))
    };
    let keys = screen.lines().into_iter().take_while(|line| !line.contains("Mouse: "));
    keys.for_each(|line| assert_eq!(cells(&line), [true; 2], "{line}"));
    insta::assert_snapshot!(text);
    screen.press(KeyCode::End);
    let text = text + &screen.text();
    for kind in screen.app.kinds().iter().filter(|kind| !kind.actions().is_empty()) {
        assert!(text.contains(kind.title()), "{}\n{text}", kind.title());
        for action in kind.actions() {
            let keys: Vec<String> = action.keys().iter().map(ToString::to_string).collect();
            let expected = format!("{} {}", keys.join(" "), action.text());
            assert!(text.contains(&expected), "{expected}\n{text}");
        }
    }
}

#[test]
fn each_viewer_alone() {
    let mut screen = Screen::open(120, 30, Look::True);
    screen.press(KeyCode::Char('m'));
    for name in ["control_flow", "resources", "histogram", "event_list"] {
        insta::assert_snapshot!(name, screen.text());
        screen.press(KeyCode::Tab);
    }
}

#[test]
fn no_screen_is_too_small() {
    for look in [Look::Mono, Look::Sixteen, Look::True] {
        let mut screen = Screen::open(80, 24, look);
        for (width, height) in (1..=20).flat_map(|w| (1..=12).map(move |h| (w, h))) {
            screen.resize(width, height);
        }
        for keys in ["?", "/abc", "\\", "g1"] {
            for (width, height) in [(1, 1), (2, 1), (1, 2), (7, 3), (30, 9)] {
                screen.resize(width, height);
                screen.type_text(keys);
                screen.press(KeyCode::Esc);
            }
        }
    }
}

/// A part of a number would be read as another number.
#[test]
fn columns_that_do_not_fit_are_left_out() {
    let mut screen = Screen::open(80, 24, Look::True);
    for (keys, title, last) in [
        ("7m", "DISK ", "WRITTEN bytes"),
        ("m6m", "INTERRUPT ", "DEVIATION"),
        ("m5mS", "COMMAND ", "SYSTEM"),
    ] {
        screen.type_text(keys);
        let headings = screen.line_with(title).expect("headings");
        assert!(headings.ends_with(last), "{headings}");
    }
}
