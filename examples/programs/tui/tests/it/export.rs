//! Writing the contents of viewers to files.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::support::{KERNEL, Screen, event_times};
use lttv_tui::look::Look;
use lttv_tui::session::Session;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

fn screen() -> Screen {
    Screen::open(120, 40, Look::True)
}

/// Answers the prompt for the name of a file.
fn export(screen: &mut Screen, path: &Path) {
    screen.type_text("W");
    screen.control('u');
    screen.type_text(path.to_str().expect("a path"));
    screen.press(KeyCode::Enter);
}

#[test]
fn the_events_of_the_window_are_written_in_each_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut screen = screen();
    screen.type_text("/event.name == \"sched_switch\"");
    screen.press(KeyCode::Enter);
    screen.type_text("g+100ms..+400ms");
    screen.press(KeyCode::Enter);
    screen.press(KeyCode::BackTab); // to the list
    let expected = {
        let window = screen.app.session().tab.window();
        event_times("sched_switch", move |time| window.contains(time))
    };
    assert!(expected.len() > 50, "{}", expected.len());

    let csv = folder.path().join("events.csv");
    export(&mut screen, &csv);
    let count = expected.len();
    assert!(screen.text().contains(&format!("({count} events)")), "{}", screen.text());
    let text = fs::read_to_string(&csv).expect("a file");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("time,time_ns,trace,tracefile,cpu,tid,pid,comm,event,fields"));
    let found: Vec<i64> = lines
        .map(|line| {
            assert!(line.contains(",sched_switch,\""), "{line}");
            line.split(',').nth(1).expect("a time").parse().expect("a number")
        })
        .collect();
    assert_eq!(found, expected);

    let json = folder.path().join("events.json");
    export(&mut screen, &json);
    let text = fs::read_to_string(&json).expect("a file");
    let objects: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(objects.len(), count);
    assert!(objects.iter().all(|object| object["name"] == "sched_switch"), "{}", objects[0]);

    let lines = folder.path().join("events.txt");
    export(&mut screen, &lines);
    let text = fs::read_to_string(&lines).expect("a file");
    assert_eq!(text.lines().count(), count);
    assert!(text.lines().all(|line| line.contains("sched_switch: 17952334")), "{text}");
}

#[test]
fn viewers_are_written_as_pictures_and_tables() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut screen = screen();
    screen.type_text("567");
    let mut seen = 0;
    for number in 0..7 {
        screen.press(KeyCode::Tab);
        for extension in ["svg", "html", "csv", "json", "txt"] {
            let path = folder.path().join(format!("{number}.{extension}"));
            export(&mut screen, &path);
            let text = fs::read_to_string(&path).unwrap_or_else(|error| {
                panic!("{}: {error}\n{}", path.display(), screen.text());
            });
            match extension {
                "svg" => assert!(text.starts_with("<svg") && text.ends_with("</svg>"), "{text}"),
                "html" => assert!(text.contains("<svg") && text.ends_with("</html>\n"), "{text}"),
                "json" if text.lines().count() > 1 && !text.starts_with("{\"timestamp") => {
                    _ = serde_json::from_str::<serde_json::Value>(&text).or_else(|_| {
                        let first = text.lines().next().expect("a line");
                        serde_json::from_str(first)
                    });
                }
                _ => assert!(!text.is_empty(), "{}", path.display()),
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 35);
    let of = |name: &str| fs::read_to_string(folder.path().join(name)).expect("a file");
    // One of the viewers has written each kind of table.
    let tables: String = (0..7).map(|number| of(&format!("{number}.csv"))).collect();
    for heading in ["comm,tid,pid,start_ns", "resource,start_ns", "start_ns,width_ns,events"] {
        assert_eq!(tables.matches(heading).count(), 1, "{heading}");
    }
}

/// Pictures have the same colours, whatever the terminal can show.
#[test]
fn pictures_of_any_terminal_with_colours_are_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let pictures = [Look::True, Look::Indexed, Look::Sixteen].map(|look| {
        let mut screen = Screen::open(120, 40, look);
        screen.press(KeyCode::Tab);
        let path = folder.path().join(format!("{look:?}.svg"));
        export(&mut screen, &path);
        fs::read_to_string(&path).expect("a file")
    });
    assert!(pictures[0].matches("fill=").count() > 50, "{}", pictures[0]);
    assert!(pictures.iter().all(|picture| *picture == pictures[0]));
}

#[test]
fn an_export_never_replaces_an_input_and_asks_before_it_replaces_another_file() {
    let folder = tempfile::tempdir().expect("a folder");
    // A copy of the trace, so that a failure of the test does no harm.
    let trace = folder.path().join("trace");
    fs::create_dir(&trace).expect("a folder");
    let mut stream = None;
    for entry in fs::read_dir(Path::new(KERNEL).join("kernel")).expect("a folder") {
        let from = entry.expect("an entry").path();
        if from.is_file() {
            let to = trace.join(from.file_name().expect("a name"));
            fs::copy(&from, &to).expect("a copy");
            if !to.ends_with("metadata") {
                stream = Some(to);
            }
        }
    }
    let stream = stream.expect("a stream file");
    let link = folder.path().join("link.csv");
    std::os::unix::fs::symlink(&stream, &link).expect("a link");
    let before = fs::read(&stream).expect("a file");
    let session = Session::open(&[&trace]).expect("a trace");
    let mut screen = Screen::of(session, 120, 40, Look::True);
    screen.press(KeyCode::BackTab);
    export(&mut screen, &link);
    assert!(screen.text().contains("cannot write to an input"), "{}", screen.text());
    screen.press(KeyCode::Enter);
    assert_eq!(fs::read(&stream).expect("a file"), before);
    screen.press(KeyCode::Esc);

    let path = folder.path().join("events.csv");
    fs::write(&path, "mine").expect("a file");
    export(&mut screen, &path);
    assert!(screen.text().contains("the file exists"), "{}", screen.text());
    assert_eq!(fs::read_to_string(&path).expect("a file"), "mine");
    screen.press(KeyCode::Enter);
    assert!(fs::read_to_string(&path).expect("a file").starts_with("time,"));
    // Folders, unknown formats and places that do not exist are refused.
    for (path, expected) in [
        (folder.path().join("a.csv/b.csv"), "No such file"),
        (folder.path().join("events"), "the extension selects the format"),
    ] {
        export(&mut screen, &path);
        assert!(screen.text().replace('\n', " ").contains(expected), "{}", screen.text());
        screen.press(KeyCode::Esc);
    }
}

#[test]
fn a_long_export_shows_its_progress_and_is_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("events.json");
    let mut screen = screen();
    screen.type_text("0");
    screen.press(KeyCode::BackTab);
    screen.type_text("W");
    screen.control('u');
    screen.type_text(path.to_str().expect("a path"));
    // The key does not wait for the end of the export.
    screen.app.key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE));
    screen.draw();
    screen.app.service(Duration::from_micros(100));
    screen.draw();
    let line = screen.line_with("writing ").expect("progress");
    assert!(line.contains(" % ") || line.contains(" %,"), "{line}");
    assert_eq!(screen.app.unfinished_exports(), [path]);
    screen.press(KeyCode::Esc);
    assert!(screen.text().contains("is not written"), "{}", screen.text());
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing is left");
}
