//! The layout of tabs, kept in a file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Screen;
use lttv_requests::SubmitError;
use lttv_tui::layout::LayoutFile;
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use lttv_tui::traceset_change::TracesetChange;
use lttv_tui::viewer::{Pane, Reply, Viewer, ViewerKind};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use tempfile::TempDir;

/// A folder with a layout file, which is removed with its test.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Folder(TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder for tests"))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("new").join("layout.json")
    }

    fn write(&self, text: &str) {
        fs::create_dir_all(self.0.path().join("new")).expect("a folder for tests");
        fs::write(self.path(), text).expect("room");
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).expect("a layout")
    }

    /// Opens the bundled trace with this layout. Returns the screen and the messages.
    fn open(&self) -> (Screen, Vec<String>) {
        self.restore(Screen::open(140, 80, Look::True))
    }

    fn restore(&self, mut screen: Screen) -> (Screen, Vec<String>) {
        let notes = screen.app.restore_layout(LayoutFile::new(self.path()));
        screen.settle();
        (screen, notes)
    }
}

fn trace(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces").join(name)
}

/// Returns the names of the viewers of the current tab.
fn names(screen: &Screen) -> Vec<&'static str> {
    screen.app.viewers().map(|(_, name)| name).collect()
}

#[test]
fn the_scale_of_the_histogram_and_the_part_of_statistics_are_restored() {
    let folder = Folder::new();
    let (mut screen, _) = folder.open();
    screen.type_text("5SeS"); // the statistics of processes, then of CPUs; higher columns
    let scale = screen.line_with("scale 0–").expect("a scale");
    assert!(screen.line_with("of the whole traceset: CPUs").is_some(), "{}", screen.text());
    screen.app.save_layout().expect("it can be written");
    let (screen, notes) = folder.open();
    assert_eq!(notes, [""; 0]);
    assert_eq!(screen.line_with("scale 0–"), Some(scale), "{}", screen.text());
    assert!(screen.line_with("of the whole traceset: CPUs").is_some(), "{}", screen.text());
    // Values that are not valid are reported.
    let text = folder.text().replace("\"CPUs\"", "\"tea\"");
    folder.write(&text);
    let (_, notes) = folder.open();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("there is no part `tea`"), "{notes:?}");
}

#[test]
fn the_scope_of_statistics_is_restored() {
    let folder = Folder::new();
    let (mut screen, _) = folder.open();
    screen.type_text("5AS");
    screen.app.save_layout().expect("it can be written");
    let (screen, notes) = folder.open();
    assert_eq!(notes, [""; 0]);
    assert!(screen.line_with("of the window: processes").is_some(), "{}", screen.text());
    let text = folder.text().replace("\"window\"", "\"tea\"");
    folder.write(&text);
    let (screen, notes) = folder.open();
    assert!(screen.line_with("of the whole traceset: processes").is_some(), "{}", screen.text());
    assert!(notes[0].contains("`tea` is neither the window nor all"), "{notes:?}");
}

#[test]
fn viewers_order_filters_focus_and_tabs_are_restored() {
    let folder = Folder::new();
    let (mut screen, notes) = folder.open();
    assert_eq!(notes, [""; 0]);
    // Another list with a filter, at the top; no resources; sorted processes; a divider.
    screen.type_text("v1KK\\event.name =~ \"irq_*\"");
    screen.press(KeyCode::Enter);
    screen.type_text("4"); // hide the resources
    screen.press(KeyCode::Tab);
    screen.press(KeyCode::Tab);
    screen.type_text("S))");
    let first = screen.text();
    // Another tab of the same trace.
    screen.type_text("cXv7m");
    let second = screen.text();
    assert!(screen.app.save_layout().expect("a writable folder"));
    assert!(!screen.app.save_layout().expect("a writable folder"), "it is saved");

    let (mut screen, notes) = folder.open();
    assert_eq!(notes, [""; 0]);
    // The names of tabs, the process and the progress of the background are no part of it.
    let without_status = |text: &str| {
        let lines = text
            .lines()
            .filter(|line| !line.starts_with("window ") && !line.starts_with(" kernel"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let restored = without_status(&screen.text());
    for (line, expected) in restored.iter().zip(without_status(&first)) {
        assert_eq!(*line, expected);
    }
    screen.type_text(">");
    let restored = without_status(&screen.text());
    for (line, expected) in restored.iter().zip(without_status(&second)) {
        assert_eq!(*line, expected);
    }
    assert!(!screen.app.save_layout().expect("a writable folder"), "nothing has changed");
}

#[test]
fn an_unchanged_layout_is_not_written() {
    let folder = Folder::new();
    let (mut screen, _) = folder.open();
    // Moving, selecting and zooming is no change of the layout.
    screen.type_text("+lj}");
    screen.press(KeyCode::Down);
    assert!(!screen.app.save_layout().expect("nothing to write"));
    assert!(!folder.path().exists());
    screen.type_text("1");
    assert!(screen.app.save_layout().expect("a writable folder"));
    assert!(folder.path().exists());
}

#[test]
fn a_damaged_or_newer_file_is_told_and_stays_until_the_layout_changes() {
    let newer = "{\"version\": 2, \"tabs\": \"of another kind\"}";
    let many = format!("{{\"version\":1,\"tabs\":[{}]}}", vec!["{}"; 100].join(","));
    let long = format!("{{\"version\":1,\"tabs\":[]{}}}", " ".repeat(2 << 20));
    let deep = "[".repeat(100_000);
    for (text, expected) in [
        ("", "is damaged: EOF"),
        ("{\"version\": 1, \"tabs\": [", "is damaged: EOF"),
        ("{\"version\": 1}", "is damaged: missing field `tabs`"),
        ("{\"version\": -1, \"tabs\": []}", "is damaged: invalid value"),
        (&*many, "is damaged: missing field"),
        (&*long, "is damaged: it is too long"),
        (&*deep, "is damaged: "),
        (newer, "is of a newer version of the program: format 2"),
    ] {
        let folder = Folder::new();
        folder.write(text);
        let (mut screen, notes) = folder.open();
        assert!(notes.len() == 1 && notes[0].contains(expected), "{notes:?}");
        assert_eq!(names(&screen).len(), 8, "the default layout");
        assert!(!screen.app.save_layout().expect("nothing to write"));
        assert_eq!(folder.text(), text);
        screen.type_text("X");
        assert!(screen.app.save_layout().expect("a writable folder"));
        let old = fs::read_to_string(folder.path().with_extension("old"));
        assert_eq!(old.expect("the old file"), text);
        let (screen, notes) = folder.open();
        assert_eq!((names(&screen).len(), notes), (7, vec![]));
    }
    // The message is on the screen until the next key.
    let folder = Folder::new();
    folder.write("?");
    let (mut screen, _) = folder.open();
    let last = screen.lines().into_iter().rfind(|line| !line.is_empty()).unwrap_or_default();
    assert!(last.starts_with("the layout "), "{last}");
    screen.press(KeyCode::Down);
    assert!(screen.line_with("the layout ").is_none());
    // A folder is in the place of the file.
    fs::remove_file(folder.path()).expect("it exists");
    fs::create_dir(folder.path()).expect("a folder for tests");
    let (mut screen, notes) = folder.open();
    assert!(notes[0].contains("cannot be read"), "{notes:?}");
    screen.type_text("X");
    assert!(screen.app.save_layout().is_err());
}

/// A viewer with a setting.
#[derive(Debug, Default)]
struct Switch(bool);

impl Viewer for Switch {
    fn height(&self) -> (u16, u16) {
        (1, 0)
    }

    fn reset(&mut self, _: &mut Session, _: &TracesetChange) {}

    fn draw(&self, _: &Session, _: Pane, _: &mut Buffer) {}

    fn act(&mut self, _: &str, _: &mut Session) -> Result<Reply, SubmitError> {
        Ok(Reply::Done)
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![("is-on", self.0.to_string())]
    }

    fn restore(
        &mut self,
        name: &str,
        value: &str,
        _: &mut Session,
    ) -> Result<(), lttv_tui::viewer::Fault> {
        assert_eq!(name, "is-on");
        self.0 = lttv_tui::viewer::switch(value)?;
        Ok(())
    }

    fn note(&self, _: &Session) -> String {
        format!("is on: {}", self.0)
    }
}

#[test]
fn viewers_of_unknown_kinds_are_kept_and_told() {
    let folder = Folder::new();
    folder.write(
        r#"{"version": 1, "tabs": [{"traces": [], "focus": 2, "viewers": [
            {"kind": "histogram", "shown": true},
            {"kind": "switch", "shown": true, "settings": [["is-on", "true"]]},
            {"kind": "resources", "shown": true, "unknown": 7},
            {"kind": "switch", "shown": false, "settings": [["is-on", "perhaps"]]}
        ]}]}"#,
    );
    let (mut screen, notes) = folder.open();
    assert_eq!(names(&screen), ["histogram", "resources"]);
    assert_eq!(notes, ["layout: there is no viewer `switch`; it is kept"; 2]);
    assert!(screen.line_with("no viewer `switch`; it is kept (and 1 more)").is_some());
    // They stay in the file, at their places.
    screen.type_text("K");
    assert!(screen.app.save_layout().expect("a writable folder"));
    assert!(folder.text().contains("\"perhaps\""), "{}", folder.text());
    screen.type_text("J");
    // A program that knows them opens them, and tells which settings are not valid.
    let kind = ViewerKind::new("switch", "Switch", |_| Box::<Switch>::default());
    screen.app.register(kind).expect("a new kind");
    screen.settle();
    assert_eq!(names(&screen), ["histogram", "switch", "resources", "switch"]);
    assert!(screen.line_with(" 2 Switch  is on: true").is_some(), "{}", screen.text());
    let fault = "layout: is-on of switch: `perhaps` is neither true nor false";
    assert!(screen.line_with(fault).is_some());
    // The focus is still on the same viewer.
    screen.type_text("X");
    assert_eq!(names(&screen), ["histogram", "switch", "switch"]);
}

#[test]
fn the_layouts_of_other_traces_stay_in_the_file() {
    let folder = Folder::new();
    let (mut kernel, _) = folder.open();
    kernel.type_text("\\tracefile.cpu == 1");
    kernel.press(KeyCode::Enter);
    kernel.type_text("vX4");
    assert!(kernel.app.save_layout().expect("a writable folder"));
    // Other traces start with the layout of the first tab, as far as it suits them.
    let ust = |folder: &Folder| {
        let session = Session::open(&[trace("ust")]).expect("a trace");
        folder.restore(Screen::of(session, 140, 60, Look::True))
    };
    let (mut screen, notes) = ust(&folder);
    assert_eq!((notes, names(&screen)), (vec![], names(&kernel)));
    assert!(screen.line_with("own filter: tracefile.cpu == 1").is_some());
    screen.type_text("XX");
    assert!(screen.app.save_layout().expect("a writable folder"));
    let (same, _) = ust(&folder);
    assert_eq!(names(&same), names(&screen));
    let (same, _) = folder.open();
    assert_eq!(names(&same), names(&kernel));
}

#[test]
fn a_filter_that_does_not_suit_the_traces_is_told() {
    let folder = Folder::new();
    folder.write(
        r#"{"version": 1, "tabs": [{"traces": [], "viewers": [
            {"kind": "events", "shown": true, "settings": [["filter", "state.nonsense < 1"]]}
        ]}]}"#,
    );
    let (screen, notes) = folder.open();
    assert_eq!(names(&screen), ["events"]);
    assert!(notes[0].starts_with("layout: filter of events: there is no"), "{notes:?}");
    assert!(screen.line_with("own filter").is_none());
}

#[test]
fn the_file_is_in_the_state_folder_of_the_user() {
    let file = |state: Option<&str>, home: Option<&str>| {
        let variable = |name: &str| match name {
            "XDG_STATE_HOME" => state.map(Into::into),
            "HOME" => home.map(Into::into),
            _ => None,
        };
        LayoutFile::of_user(variable).map(|file| file.path().to_owned())
    };
    let expected = |path: &str| Some(PathBuf::from(path));
    let home = Some("/home/ada");
    assert_eq!(file(Some("/state"), home), expected("/state/lttv/layout.json"));
    assert_eq!(file(None, home), expected("/home/ada/.local/state/lttv/layout.json"));
    // A relative path is not valid.
    assert_eq!(file(Some("state"), home), expected("/home/ada/.local/state/lttv/layout.json"));
    assert_eq!(file(Some(""), None), None);
}
