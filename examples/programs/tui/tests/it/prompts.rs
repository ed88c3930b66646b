//! Prompts: earlier answers, and the completion of paths.

use std::fs;

use crate::support::Screen;
use lttv_tui::look::Look;
use lttv_tui::prompt::History;
use ratatui::crossterm::event::KeyCode;

fn screen() -> Screen {
    Screen::open(120, 40, Look::True)
}

/// Returns the line that the user edits.
fn line(screen: &Screen) -> String {
    screen.lines().pop().expect("a line").trim_end().to_owned()
}

#[test]
fn earlier_answers_are_shown_again() {
    let mut screen = screen();
    for text in ["+20ms", "+40ms"] {
        screen.type_text(&format!("g{text}"));
        screen.press(KeyCode::Enter);
    }
    screen.type_text("g+5");
    let title = "go to a time or FROM..TO: ";
    let shown = |screen: &mut Screen, code| {
        screen.press(code);
        line(screen).strip_prefix(title.trim_end()).expect("the title").trim().to_owned()
    };
    assert_eq!(shown(&mut screen, KeyCode::Up), "+40ms");
    assert_eq!(shown(&mut screen, KeyCode::Up), "+20ms");
    assert_eq!(shown(&mut screen, KeyCode::Up), "+20ms");
    assert_eq!(shown(&mut screen, KeyCode::Down), "+40ms");
    // What the user has typed is not lost.
    assert_eq!(shown(&mut screen, KeyCode::Down), "+5");
    screen.press(KeyCode::Esc);
    // Filters have candidates for the arrows, so that other keys show earlier ones there.
    screen.type_text("/tracefile.cpu == 1");
    screen.press(KeyCode::Enter);
    screen.type_text("/ && event.name == ");
    screen.control('p');
    screen.settle();
    assert_eq!(line(&screen), "filter: tracefile.cpu == 1");
    screen.control('n');
    screen.settle();
    assert_eq!(line(&screen), "filter: tracefile.cpu == 1 && event.name ==");
    // In an empty line, the arrows show earlier answers.
    screen.control('u');
    screen.press(KeyCode::Up);
    assert_eq!(line(&screen), "filter: tracefile.cpu == 1");
    screen.press(KeyCode::Esc);
    // The texts of notes are not answers.
    screen.type_text("b");
    screen.press(KeyCode::Up);
    assert_eq!(line(&screen), "note:");
}

#[test]
fn the_history_is_kept_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("prompts.json");
    let mut screen = screen();
    screen.app.keep_history(History::open(&path).expect("no file"));
    screen.type_text("g+20ms");
    screen.press(KeyCode::Enter);
    // An answer that is refused is not kept.
    screen.type_text("gnonsense");
    screen.press(KeyCode::Enter);
    screen.press(KeyCode::Esc);
    assert!(screen.app.save_history().expect("it can be written"));
    let text = fs::read_to_string(&path).expect("a file");
    assert!(text.contains("+20ms") && !text.contains("nonsense"), "{text}");
    let mut other = self::screen();
    other.app.keep_history(History::open(&path).expect("a history"));
    other.type_text("g");
    other.press(KeyCode::Up);
    assert!(line(&other).ends_with(": +20ms"), "{}", other.text());
    assert!(!other.app.save_history().expect("nothing is new"));
}

#[test]
fn paths_are_completed() {
    let mut screen = screen();
    let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces");
    screen.type_text(&format!("o{traces}/ker"));
    assert!(screen.line_with("kernel/").is_some(), "{}", screen.text());
    screen.press(KeyCode::Tab);
    assert_eq!(line(&screen), format!("open: {traces}/kernel/"));
    screen.press(KeyCode::Tab);
    assert!(line(&screen).starts_with(&format!("open: {traces}/kernel/")), "{}", screen.text());
    screen.press(KeyCode::Enter);
    assert!(screen.line_with(" kernel ").is_some(), "{}", screen.text());
}
