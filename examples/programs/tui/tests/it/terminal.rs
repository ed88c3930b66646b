//! The program in a real terminal, tmux.

use crate::support::tmux::{PROGRAM, Tmux, status};

/// The first current time, as in the list.
const BEGIN: &str = "1795233416 237946824";

#[test]
fn keys_in_a_terminal() {
    let command = format!("{PROGRAM} --no-layout kernel; echo ENDED with $?; sleep 60");
    let Some(tmux) = Tmux::start("keys", (150, 44), &command) else { return };
    tmux.wait_for("6087 in all");
    // Zoom and move: the marks of the axis follow.
    tmux.keys(&["+"]);
    let before = tmux.wait_for("width 482.4 ms");
    tmux.keys(&["l", "l", "l"]);
    let window = |screen: &str| status(screen, "window");
    tmux.wait_until("the window moves", |screen| window(screen) > window(&before));
    // Filter: list and histogram follow.
    tmux.keys(&["-l", "/event.name == \"sched_switch\""]);
    tmux.keys(&["Enter", "0"]);
    let screen = tmux.wait_for("497 in all");
    let rows = || screen.lines().skip_while(|line| !line.contains("TRACEFILE")).skip(1);
    assert!(rows().take(5).all(|row| row.contains(" sched_switch ")), "{screen}");
    // The error of an invalid filter is shown next to it.
    tmux.keys(&["-l", "/ && state.pid < "]);
    tmux.keys(&["Enter"]);
    tmux.wait_for("expected a value");
    tmux.keys(&["Escape"]);
    tmux.keys(&["/", "C-u", "Enter"]);
    tmux.wait_for("6087 in all");
    // Select a process and search for its next event: list and marker follow.
    tmux.keys(&["Home", "Down", "n"]);
    tmux.wait_for("process kworker/0:0 (7)");
    let screen = tmux.wait_until("the list follows", |screen| {
        let current = status(screen, "current").replace('.', " ");
        current != BEGIN && screen.lines().any(|line| line.contains(&current))
    });
    // Select in the list: the time follows.
    tmux.keys(&["BTab", "PPage"]);
    let current = |screen: &str| status(screen, "current");
    tmux.wait_until("the time follows", |now| current(now) != current(&screen));
    tmux.keys(&["q"]);
    tmux.wait_for("ENDED with 0");
}

/// Returns the number of lines that contain a text.
fn count(screen: &str, text: &str) -> usize {
    screen.lines().filter(|line| line.contains(text)).count()
}

#[test]
fn a_session_in_a_terminal_and_its_layout_and_notes_after_a_restart() {
    let files = r#"--layout "$XDG_STATE_HOME/layout.json" --notes "$XDG_STATE_HOME/notes.json""#;
    let command = format!("{PROGRAM} {files} kernel; echo ENDED with $?");
    let twice = format!("{command}; read line; {command}; sleep 60");
    let Some(tmux) = Tmux::start("session", (150, 60), &twice) else { return };
    tmux.wait_for("6087 in all");
    // A second list of events.
    tmux.keys(&["v"]);
    tmux.wait_for("Open a viewer");
    tmux.keys(&["1"]);
    tmux.wait_until("two lists", |screen| count(screen, "TRACEFILE") == 2);
    // A trace is added and removed.
    tmux.ask("O", "add:", "ust");
    tmux.wait_for("kernel+ust");
    tmux.keys(&["D"]);
    tmux.wait_for("Remove a trace");
    tmux.keys(&["2"]);
    tmux.wait_until("one trace", |screen| !screen.contains("kernel+ust"));
    // A click on the time axis, and a drag over it, both above the two last lines.
    let current = |screen: &str| status(screen, "current");
    let before = current(&tmux.screen());
    tmux.keys(&["-l", "\x1b[<0;91;58M\x1b[<0;91;58m"]);
    tmux.wait_until("the time moves", |screen| current(screen) != before);
    tmux.keys(&["-l", "\x1b[<0;101;58M\x1b[<32;105;58M\x1b[<32;111;58M\x1b[<0;111;58m"]);
    tmux.wait_for("selected ");
    // A note on the range.
    tmux.ask("b", "note:", "the disk is busy");
    tmux.wait_for("the note is added");
    // While the traces are read, Esc would stop that.
    tmux.wait_until("all is read", |screen| !screen.contains(" %"));
    tmux.escape("selected ");
    // A filter is completed.
    tmux.keys(&["/"]);
    tmux.wait_for("filter:");
    tmux.keys(&["-l", "event.name == sched_sw"]);
    tmux.wait_for("497 events");
    tmux.keys(&["Tab"]);
    tmux.wait_for("filter: event.name == \"sched_switch\"");
    tmux.keys(&["Enter", "0"]);
    tmux.wait_for("497 in all");
    tmux.keys(&["q"]);
    tmux.wait_for("ENDED with 0");
    // The program starts again with both lists, and with the note.
    tmux.keys(&["Enter"]);
    tmux.wait_until("two lists", |screen| {
        count(screen, "TRACEFILE") == 2 && screen.contains(" in all")
    });
    tmux.keys(&["B"]);
    tmux.wait_for("the disk is busy");
    tmux.keys(&["Enter"]);
    tmux.wait_for("selected ");
    tmux.wait_for("note: the disk is busy");
    tmux.keys(&["q"]);
    tmux.wait_until("the end", |screen| !screen.contains("TRACEFILE"));
}

/// Zooms, goes to an exact range, shows, copies and exports events, and recalls a prompt.
fn questions_of_an_engineer(size: (u16, u16)) {
    let program = format!("{PROGRAM} --utc kernel");
    let command = format!("{program}; echo ENDED with $?; read line; {program}; sleep 60");
    let Some(tmux) = Tmux::start("engineer", size, &command) else { return };
    tmux.wait_for("? keys");
    // The event list has the focus.
    tmux.wait_for("Control flow");
    tmux.keys(&["BTab"]);
    // Zoom and move as in other viewers of traces, and back.
    tmux.wait_for("964.9 ms");
    tmux.keys(&["w", "d", "d"]);
    tmux.wait_for("482.4 ms");
    tmux.keys(&["s"]);
    tmux.wait_for("964.9 ms");
    tmux.keys(&["w", "u"]);
    tmux.wait_for("964.9 ms");
    // Exactly 100 ms.
    tmux.ask("g", "FROM..TO:", "+100ms..+200ms");
    tmux.wait_for("width 100 ms");
    // A time outside of the traces is reported in full, and does not move.
    tmux.ask("g", "FROM..TO:", "03:00");
    let screen = tmux.wait_for("outside of the traces");
    let all: String = screen.lines().map(|line| format!("{} ", line.trim())).collect();
    assert!(all.contains("2026-11-21T03:56:56.237946824 to"), "{screen}");
    assert!(tmux.escape("FROM..TO:").contains("width 100 ms"));
    // The time from the first event.
    tmux.keys(&["T"]);
    tmux.wait_until("times from the start", |screen| {
        screen.contains("FROM START s") && screen.contains(" +0.1")
    });
    // All fields of an event, copied.
    tmux.keys(&["Enter"]);
    tmux.wait_for("payload");
    tmux.wait_for("Esc closes");
    tmux.keys(&["y"]);
    tmux.wait_for("copied ");
    tmux.wait_for_copy("all fields", |copied| {
        copied.contains("payload") && copied.contains("since the epoch: 1795233416.")
    });
    tmux.escape("Esc closes");
    // The events of the window in a file.
    tmux.keys(&["W"]);
    tmux.wait_for("write to:");
    tmux.keys(&["C-u"]);
    let file = tmux.folder.join("window.csv");
    tmux.answer(file.to_str().expect("a path"));
    tmux.wait_until("the file", |_| file.exists());
    let text = std::fs::read_to_string(&file).expect("a file");
    assert!(text.lines().count() > 100, "{text}");
    tmux.keys(&["q"]);
    tmux.wait_for("ENDED with 0");
    // Another session has the answers of this one.
    tmux.keys(&["Enter"]);
    tmux.wait_for("? keys");
    tmux.keys(&["g"]);
    tmux.wait_for("FROM..TO:");
    tmux.keys(&["Up"]);
    tmux.wait_for("FROM..TO: +100ms..+200ms");
    tmux.keys(&["Enter"]);
    tmux.wait_for("width 100 ms");
    // The sheet of keys.
    tmux.keys(&["?"]);
    for keys in ["w s + -", "← → h l a d", "0 u U", "W y", "all fields", "notation of times"] {
        tmux.wait_for(keys);
    }
    tmux.keys(&["q"]);
}

#[test]
fn questions_of_an_engineer_in_a_large_terminal() {
    questions_of_an_engineer((160, 45));
}

#[test]
fn questions_of_an_engineer_in_a_small_terminal() {
    questions_of_an_engineer((80, 24));
}
