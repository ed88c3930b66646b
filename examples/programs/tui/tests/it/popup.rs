//! All fields of an event, copying, and messages.

use crate::support::Screen;
use lttv_tui::look::Look;
use ratatui::crossterm::event::KeyCode;

/// Opens the first event of a name, with all its fields.
fn open(width: u16, height: u16, name: &str) -> Screen {
    let mut screen = Screen::open(width, height, Look::True);
    screen.type_text(&format!("\\event.name == \"{name}\""));
    screen.press(KeyCode::Enter);
    screen.press(KeyCode::BackTab); // to the list
    screen.press(KeyCode::Home);
    screen.press(KeyCode::Enter);
    screen
}

#[test]
fn enter_shows_all_fields_of_an_event() {
    let screen = open(120, 60, "sched_switch");
    // Without the path of the trace, which depends on the machine.
    let lines = screen.lines().into_iter().filter(|line| !line.contains(" trace  "));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
    for part in [
        "packet context",
        "cpu_id",
        "event header",
        "payload",
        "next_comm",
        "uint",
        "string",
        "(0x",
    ] {
        assert!(screen.line_with(part).is_some(), "{part}\n{}", screen.text());
    }
}

#[test]
fn a_long_event_is_scrolled_on_a_small_screen_and_copied() {
    let mut screen = open(80, 24, "sched_switch");
    assert!(screen.line_with("lines 1–").is_some(), "{}", screen.text());
    assert!(screen.line_with("magic ").is_none(), "{}", screen.text());
    screen.press(KeyCode::End);
    assert!(screen.line_with("magic ").is_some(), "{}", screen.text());
    // The whole text is copied, also the part that is not visible.
    assert_eq!(screen.app.take_copied(), None);
    screen.press(KeyCode::Char('y'));
    let text = copied(&mut screen);
    for part in ["sched_switch\n", "packet context\n", "  next_prio: ", "  cpu_id: "] {
        assert!(text.contains(part), "{part} in {text}");
    }
    // Esc closes it, and the keys of the program work again.
    screen.press(KeyCode::Esc);
    assert!(screen.line_with("magic ").is_none(), "{}", screen.text());
    screen.press(KeyCode::Char('q'));
    assert!(screen.app.is_over());
}

/// Returns the copied text.
fn copied(screen: &mut Screen) -> String {
    use base64::Engine;
    let sequence = screen.app.take_copied().expect("a copied text");
    let coded = sequence.strip_prefix("\x1b]52;c;").and_then(|rest| rest.strip_suffix('\x07'));
    let decoded = base64::engine::general_purpose::STANDARD.decode(coded.expect("OSC 52"));
    String::from_utf8(decoded.expect("base64")).expect("text")
}

#[test]
fn the_selected_row_of_each_viewer_is_copied() {
    let mut screen = Screen::open(140, 60, Look::True);
    screen.type_text("567");
    screen.settle();
    for _ in 0..7 {
        screen.press(KeyCode::Tab);
        screen.press(KeyCode::Home);
        screen.press(KeyCode::Char('y'));
        let heading = screen.lines().into_iter().find(|line| line.starts_with(" 4 "));
        assert!(heading.is_some());
        match screen.line_with("there is no row to copy") {
            Some(_) => assert_eq!(screen.app.take_copied(), None),
            None => assert!(!copied(&mut screen).trim().is_empty()),
        }
    }
    // The list has the time, the thread and the fields.
    screen.type_text("1");
    screen.type_text("1");
    screen.press(KeyCode::Home);
    screen.press(KeyCode::Char('y'));
    let text = copied(&mut screen);
    assert!(text.starts_with("1795233416.237946824 kernel/"), "{text}");
    assert!(text.contains(" tid ") && text.contains(" cpu "), "{text}");
}

#[test]
fn a_long_message_is_wrapped_and_can_be_read_again() {
    let mut screen = Screen::open(80, 24, Look::True);
    let long = format!("/nowhere/{}/trace", "a-long-folder/".repeat(12));
    screen.type_text(&format!("o{long}"));
    screen.press(KeyCode::Enter);
    // The whole error is visible, above the line that the user edits.
    let lines = screen.lines();
    let shown: String = lines[lines.len() - 6..].iter().map(|line| line.trim()).collect();
    assert!(shown.contains("No such file or directory"), "{}", screen.text());
    assert!(lines.last().is_some_and(|line| line.starts_with("open: ")), "{}", screen.text());
    screen.press(KeyCode::Esc);
    let told = format!("first {} last", "word ".repeat(40));
    screen.app.tell(&told);
    screen.settle();
    let text = screen.lines().join(" ");
    assert!(text.contains("first word") && text.contains(" last"), "{}", screen.text());
    screen.press(KeyCode::Char('j'));
    assert!(!screen.text().contains("first word"));
    screen.press(KeyCode::Char('!'));
    assert!(screen.text().contains("Messages") && screen.text().contains("first word"));
    screen.press(KeyCode::Esc);
}
