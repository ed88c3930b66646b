//! Notes in the viewers.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{LABELS, Screen};
use lttv_tui::look::Look;
use lttv_tui::tab_notes::NotesPlace;
use ratatui::crossterm::event::{KeyCode, MouseButton};

/// Returns the path of a file of notes that does not exist yet.
fn file(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.notes.json"));
    _ = std::fs::remove_file(&path);
    path
}

/// Opens the bundled trace with the notes of a file, and focuses the list of events.
fn screen(file: &Path) -> Screen {
    let mut screen = Screen::open(150, 50, Look::True);
    screen.app.keep_notes(NotesPlace::File(file.to_owned()));
    screen.press(KeyCode::BackTab);
    screen
}

fn add(screen: &mut Screen, text: &str) {
    screen.type_text("b");
    assert!(screen.line_with("note:").is_some(), "{}", screen.text());
    screen.type_text(text);
    screen.press(KeyCode::Enter);
    assert!(screen.line_with("the note is added").is_some(), "{}", screen.text());
}

/// Returns the lines of the list with this sign.
fn marked(screen: &Screen, sign: char) -> Vec<String> {
    let list = screen.lines().into_iter().take_while(|line| !line.starts_with(" 2 "));
    list.filter(|line| line.starts_with(sign)).collect()
}

#[test]
fn a_note_on_an_event_is_marked_and_kept() {
    let file = file("event");
    let mut screen = screen(&file);
    (0..3).for_each(|_| screen.press(KeyCode::Down));
    let time = screen.status("current");
    assert!(marked(&screen, '◆').is_empty());
    add(&mut screen, "who wakes it?");
    screen.press(KeyCode::Up);
    assert!(screen.line_with("note:").is_none(), "another event is current");
    screen.press(KeyCode::Down);
    assert!(screen.line_with("note: who wakes it?").is_some(), "{}", screen.text());
    // Exactly one row is marked, and one column of the axis and of charts.
    let check = |screen: &Screen| {
        let rows = marked(screen, '◆');
        assert_eq!(rows.len(), 1, "{}", screen.text());
        assert!(rows[0].contains(&time.replace('.', " ")), "{rows:?} {time}");
        let (_, y) = screen.find("TIME from the start");
        let axis = screen.app.session().axis();
        let ns = time.replace('.', "").parse().expect("a time");
        let column = axis.column(ltt_read::Timestamp::from_ns(ns)).expect("it is visible");
        assert_eq!(screen.buffer()[(LABELS + column as u16, y)].symbol(), "◆");
    };
    check(&screen);
    // Another tab, and another start of the program.
    screen.type_text("c");
    check(&screen);
    let mut again = self::screen(&file);
    again.settle();
    check(&again);
    let json = std::fs::read_to_string(&file).expect("a file of notes");
    assert!(json.contains("who wakes it?") && json.contains("\"place\""), "{json}");
}

#[test]
fn a_note_on_a_time_range_is_marked() {
    let file = file("range");
    let mut screen = screen(&file);
    let (_, y) = screen.find("CPU 2");
    screen.drag(MouseButton::Left, (LABELS, y), (LABELS + 9, y));
    let range = screen.app.session().selection.expect("a range");
    add(&mut screen, "start of the recording");
    screen.press(KeyCode::Esc);
    screen.press(KeyCode::Home);
    assert_eq!(marked(&screen, '◆').len(), 1, "{}", screen.text());
    assert!(marked(&screen, '│').len() > 5, "{}", screen.text());
    // The boundaries in charts and the extent on the axis.
    let style = Look::True.note_column().bg;
    let at = |x: u16| Some(screen.buffer()[(LABELS + x, y)].bg) == style;
    assert!(at(9) && !at(5) && !at(10));
    // Jump to it.
    screen.press(KeyCode::End);
    screen.type_text("B");
    assert!(screen.line_with("start of the recording").is_some(), "{}", screen.text());
    screen.press(KeyCode::Enter);
    assert_eq!(screen.app.session().selection, Some(range));
    assert_eq!(screen.app.session().tab.time(), range.start());
}

#[test]
fn notes_are_edited_and_removed() {
    let file = file("edit");
    let mut screen = screen(&file);
    add(&mut screen, "first");
    screen.type_text("}}");
    add(&mut screen, "");
    assert!(screen.line_with("the note is added").is_some());
    let second = screen.status("current");
    // The key edits the note that is there.
    screen.type_text("'");
    assert!(screen.line_with("no note after the current time").is_some(), "{}", screen.text());
    screen.type_text("\"");
    screen.type_text("b");
    assert!(screen.line_with("edit the note: first").is_some(), "{}", screen.text());
    screen.type_text("ly");
    screen.press(KeyCode::Enter);
    assert!(screen.line_with("the note is changed").is_some(), "{}", screen.text());
    screen.type_text("'");
    assert_eq!(screen.status("current"), second);
    // The list: edit the second, remove the first.
    screen.type_text("B");
    assert!(screen.line_with("firstly").is_some() && screen.line_with("(bookmark)").is_some());
    screen.press(KeyCode::Down);
    screen.type_text("e");
    screen.type_text("secondly");
    screen.press(KeyCode::Enter);
    screen.type_text("B");
    assert!(screen.line_with("secondly").is_some(), "{}", screen.text());
    screen.type_text("d");
    assert!(screen.line_with("firstly").is_none(), "{}", screen.text());
    screen.press(KeyCode::Enter);
    assert_eq!(screen.status("current"), second);
    let json = std::fs::read_to_string(&file).expect("a file of notes");
    assert!(json.contains("secondly") && !json.contains("first"), "{json}");
    screen.type_text("Bd");
    screen.type_text("B");
    assert!(screen.line_with("there are no notes").is_some(), "{}", screen.text());
}

#[test]
fn control_characters_in_notes_are_harmless() {
    let file = file("control");
    let mut screen = screen(&file);
    add(&mut screen, "\u{1b}[2Jx");
    screen.type_text("B");
    assert!(screen.line_with("\\x1b[2Jx").is_some(), "{}", screen.text());
    assert!(!screen.text().contains('\u{1b}'));
}

#[test]
fn faults_of_the_file_are_reported() {
    let mut screen = Screen::open(150, 50, Look::Mono);
    screen.type_text("bx");
    screen.press(KeyCode::Enter);
    assert!(screen.line_with("there is no file for notes").is_some(), "{}", screen.text());
    let file = file("damaged");
    std::fs::write(&file, "[").expect("room");
    screen.press(KeyCode::Esc);
    screen.app.keep_notes(NotesPlace::File(file.clone()));
    screen.settle();
    assert!(screen.line_with("notes cannot be read").is_some(), "{}", screen.text());
    screen.type_text("bx");
    screen.press(KeyCode::Enter);
    assert!(screen.line_with("notes cannot be read").is_some(), "{}", screen.text());
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "[");
}

#[test]
fn notes_are_exported_as_json() {
    let file = file("export");
    let mut screen = screen(&file);
    add(&mut screen, "for the report");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-notes");
    let export = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lttv-tui"));
        // Never the notes of the user who runs the tests.
        command.env("XDG_DATA_HOME", &folder).arg("--export-notes").args(arguments);
        let output = command.output().expect("the program");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let json = export(&["--notes", file.to_str().expect("text")]);
    let kept = std::fs::read_to_string(&file).expect("the file");
    // The path of the trace may be written in another way.
    let notes = |json: &str| json.split_once("\"notes\":").expect("notes").1.to_owned();
    assert_eq!(notes(&json), notes(&kept));
    assert!(json.contains("for the report"), "{json}");
    let none = export(&[]);
    assert!(none.contains("\"notes\": []"), "{none}");
    assert!(!folder.exists(), "an export writes nothing");
}

#[test]
fn notes_stay_when_a_trace_is_added() {
    // The data directory is set in the environment, which only another process may change.
    const CHILD: &str = "LTTV_TUI_TEST_DATA_DIRECTORY";
    if std::env::var_os(CHILD).is_none() {
        let directory = tempfile::tempdir().expect("a directory");
        let status = Command::new(std::env::current_exe().expect("the path of the test"))
            .args(["notes_stay_when_a_trace_is_added", "--exact"])
            .env("XDG_DATA_HOME", directory.path())
            .env(CHILD, "1")
            .status();
        assert!(status.expect("the test starts").success());
        return;
    }
    let mut screen = Screen::open(150, 50, Look::True);
    screen.app.keep_notes(NotesPlace::DataDirectory);
    screen.press(KeyCode::BackTab);
    add(&mut screen, "of the first trace");
    let notes = |screen: &Screen| screen.app.session().notes.all().map_or(0, |notes| notes.len());
    assert_eq!(notes(&screen), 1);
    screen.type_text("O");
    screen.type_text(concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/ust"));
    screen.press(KeyCode::Enter);
    assert_eq!(screen.app.session().traceset().traces().len(), 2);
    assert_eq!(notes(&screen), 1);
    // Elsewhere: the key edits a note that is at the current time.
    screen.press(KeyCode::Down);
    add(&mut screen, "of both");
    assert_eq!(notes(&screen), 2);
}
