//! The program in a real terminal, tmux.

use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A terminal that ends with its test.
struct Tmux {
    socket: String,
}

impl Tmux {
    fn run(&self, arguments: &[&str]) -> std::io::Result<Output> {
        Command::new("tmux").args(["-L", &self.socket]).args(arguments).output()
    }

    fn screen(&self) -> String {
        let output = self.run(&["capture-pane", "-p"]).expect("tmux runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Waits until the screen shows a text.
    fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text))
    }

    /// Waits until a condition of the screen is true.
    fn wait_until(&self, what: &str, is_true: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        loop {
            let screen = self.screen();
            if is_true(&screen) {
                return screen;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "no {what:?} in\n{screen}");
            sleep(Duration::from_millis(50));
        }
    }

    fn keys(&self, keys: &[&str]) {
        let mut arguments = vec!["send-keys"];
        arguments.extend(keys);
        assert!(self.run(&arguments).expect("tmux runs").status.success());
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        _ = self.run(&["kill-server"]);
    }
}

/// The first current time, as in the list.
const BEGIN: &str = "1795233416 237946824";

#[test]
fn keys_in_a_terminal() {
    if Command::new("tmux").arg("-V").output().is_err() {
        println!("SKIPPED: there is no tmux here");
        return;
    }
    let tmux = Tmux { socket: format!("lttv-tui-{}", std::process::id()) };
    let program = env!("CARGO_BIN_EXE_lttv-tui");
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/kernel");
    // Never the notes of the user who runs the tests.
    let program = format!("XDG_DATA_HOME={} {program}", env!("CARGO_TARGET_TMPDIR"));
    let command = format!("{program} --no-layout {trace}; echo ENDED with $?; sleep 60");
    let started = tmux.run(&["new-session", "-d", "-x", "150", "-y", "44", &command]);
    assert!(started.expect("tmux runs").status.success());

    tmux.wait_for("6087 in all");
    // Zoom and move: the marks of the axis follow.
    tmux.keys(&["+"]);
    let before = tmux.wait_for("width 482.43 ms");
    tmux.keys(&["l", "l", "l"]);
    let window = |screen: &str| {
        let line = screen.lines().find(|line| line.contains("window ")).unwrap_or_default();
        line.split("  ").next().unwrap_or_default().to_owned()
    };
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
        let current = screen.split("current ").nth(1).and_then(|rest| rest.split(' ').next());
        let current = current.unwrap_or_default().replace('.', " ");
        current != BEGIN && screen.lines().any(|line| line.contains(&current))
    });
    // Select in the list: the time follows.
    tmux.keys(&["BTab", "PPage"]);
    let current = |screen: &str| screen.split("current ").nth(1).map(|rest| rest[..20].to_owned());
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
    if Command::new("tmux").arg("-V").output().is_err() {
        println!("SKIPPED: there is no tmux here");
        return;
    }
    let tmux = Tmux { socket: format!("lttv-tui-session-{}", std::process::id()) };
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("session");
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    let program = env!("CARGO_BIN_EXE_lttv-tui");
    let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces");
    let files = format!("--layout {0}/layout.json --notes {0}/notes.json", folder.display());
    let command = format!("{program} {files} {traces}/kernel; echo ENDED with $?");
    let twice = format!("{command}; read line; {command}; sleep 60");
    let started = tmux.run(&["new-session", "-d", "-x", "150", "-y", "60", &twice]);
    assert!(started.expect("tmux runs").status.success());
    tmux.wait_for("6087 in all");
    // A second list of events.
    tmux.keys(&["v"]);
    tmux.wait_for("Open a viewer");
    tmux.keys(&["1"]);
    tmux.wait_until("two lists", |screen| count(screen, "TRACEFILE") == 2);
    // A trace is added and removed.
    tmux.keys(&["O"]);
    tmux.wait_for("add:");
    tmux.keys(&["-l", &format!("{traces}/ust")]);
    tmux.keys(&["Enter"]);
    tmux.wait_for("kernel+ust");
    tmux.keys(&["D"]);
    tmux.wait_for("Remove a trace");
    tmux.keys(&["2"]);
    tmux.wait_until("one trace", |screen| !screen.contains("kernel+ust"));
    // A click on the time axis, and a drag over it, both above the two last lines.
    let current = |screen: &str| screen.split("current ").nth(1).map(|rest| rest[..20].to_owned());
    let before = current(&tmux.screen());
    tmux.keys(&["-l", "\x1b[<0;91;58M\x1b[<0;91;58m"]);
    tmux.wait_until("the time moves", |screen| {
        current(screen).is_some_and(|now| Some(&now) != before.as_ref())
    });
    tmux.keys(&["-l", "\x1b[<0;101;58M\x1b[<32;105;58M\x1b[<32;111;58M\x1b[<0;111;58m"]);
    tmux.wait_for("selected ");
    // A note on the range.
    tmux.keys(&["b"]);
    tmux.wait_for("note:");
    tmux.keys(&["-l", "the disk is busy"]);
    tmux.keys(&["Enter"]);
    tmux.wait_for("the note is added");
    // While the traces are read, Esc would stop that.
    tmux.wait_until("all is read", |screen| !screen.contains(" %"));
    // Another key directly after Esc would be a key with Alt.
    tmux.keys(&["Escape"]);
    tmux.wait_until("the range is cleared", |screen| !screen.contains("selected "));
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

/// Starts the program with the bundled trace in a terminal of a size. Its state is in a folder
/// of the test.
fn start(name: &str, width: &str, height: &str) -> Option<(Tmux, std::path::PathBuf)> {
    if Command::new("tmux").arg("-V").output().is_err() {
        println!("SKIPPED: there is no tmux here");
        return None;
    }
    let tmux = Tmux { socket: format!("lttv-tui-{name}-{width}-{}", std::process::id()) };
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{width}"));
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    let program = env!("CARGO_BIN_EXE_lttv-tui");
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/kernel");
    let state = folder.display();
    let command = format!(
        "export XDG_STATE_HOME={state} XDG_DATA_HOME={state}; {program} --utc {trace}; \
         echo ENDED with $?; read line; {program} --utc {trace}; sleep 60"
    );
    let size = ["-x", width, "-y", height];
    let started = tmux.run(&[&["new-session", "-d"][..], &size, &[&command]].concat());
    assert!(started.expect("tmux runs").status.success());
    // A copied text becomes a buffer of tmux.
    assert!(tmux.run(&["set", "-g", "set-clipboard", "on"]).expect("tmux runs").status.success());
    Some((tmux, folder))
}

impl Tmux {
    /// Answers an open prompt.
    fn answer(&self, text: &str) {
        self.keys(&["-l", text]);
        self.keys(&["Enter"]);
    }
}

/// Zooms, goes to an exact range, shows, copies and exports events, and recalls a prompt.
fn questions_of_an_engineer(width: &str, height: &str) {
    let Some((tmux, folder)) = start("engineer", width, height) else { return };
    tmux.wait_for("? keys");
    // The event list has the focus.
    tmux.wait_for("Control flow");
    tmux.keys(&["BTab"]);
    // Zoom and move as in other viewers of traces, and back.
    tmux.wait_for("964.87 ms");
    tmux.keys(&["w", "d", "d"]);
    tmux.wait_for("482.43 ms");
    tmux.keys(&["s"]);
    tmux.wait_for("964.87 ms");
    tmux.keys(&["w", "u"]);
    tmux.wait_for("964.87 ms");
    // Exactly 100 ms.
    tmux.keys(&["g"]);
    tmux.wait_for("FROM..TO:");
    tmux.answer("+100ms..+200ms");
    tmux.wait_for("width 100 ms");
    // A time outside of the traces is reported in full, and does not move.
    tmux.keys(&["g"]);
    tmux.wait_for("FROM..TO:");
    tmux.answer("03:00");
    let screen = tmux.wait_for("outside of the traces");
    let all: String = screen.lines().map(|line| format!("{} ", line.trim())).collect();
    assert!(all.contains("1795233416.237946824 to 1795233416.829982847"), "{screen}");
    tmux.keys(&["Escape"]);
    tmux.wait_until("the prompt closes", |screen| !screen.contains("FROM..TO:"));
    assert!(tmux.screen().contains("width 100 ms"));
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
    let begin = Instant::now();
    loop {
        let copied = tmux.run(&["show-buffer"]).expect("tmux runs");
        let copied = String::from_utf8_lossy(&copied.stdout).into_owned();
        if copied.contains("payload") && copied.contains("since the epoch: 1795233416.") {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "copied: {copied:?}");
        sleep(Duration::from_millis(50));
    }
    tmux.keys(&["Escape"]);
    tmux.wait_until("the popup closes", |screen| !screen.contains("Esc closes"));
    // The events of the window in a file.
    tmux.keys(&["W"]);
    tmux.wait_for("write to:");
    tmux.keys(&["C-u"]);
    let file = folder.join("window.csv");
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
    questions_of_an_engineer("160", "45");
}

#[test]
fn questions_of_an_engineer_in_a_small_terminal() {
    questions_of_an_engineer("80", "24");
}

#[test]
fn rows_are_found_sorted_and_described_at_two_sizes() {
    if Command::new("tmux").arg("-V").output().is_err() {
        println!("SKIPPED: there is no tmux here");
        return;
    }
    for (width, height) in [("160", "45"), ("80", "24")] {
        let tmux = Tmux { socket: format!("lttv-tui-rows-{width}-{}", std::process::id()) };
        let program = env!("CARGO_BIN_EXE_lttv-tui");
        let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces");
        let program = format!("XDG_DATA_HOME={} {program}", env!("CARGO_TARGET_TMPDIR"));
        let command = format!("{program} --no-layout {traces}/kernel; echo ENDED; sleep 60");
        let started = tmux.run(&["new-session", "-d", "-x", width, "-y", height, &command]);
        assert!(started.expect("tmux runs").status.success());
        tmux.wait_for(" 2 Control flow");
        // Find a row by its TID: the last line tells its state at the current time.
        tmux.keys(&["F"]);
        tmux.wait_for("find TID, PID or name:");
        tmux.keys(&["-l", "180"]);
        tmux.keys(&["Enter"]);
        tmux.wait_for("unknown at this time");
        tmux.keys(&["}"]);
        tmux.wait_for("lttng-consumerd TID 180 PID 173: ");
        tmux.keys(&["F"]);
        tmux.keys(&["-l", "nonsense"]);
        tmux.keys(&["Enter"]);
        tmux.wait_for("no row of Control flow");
        tmux.keys(&["Escape"]);
        // Another key directly after Esc would be a key with Alt.
        tmux.wait_until("the end of the prompt", |screen| !screen.contains("find TID"));
        // Sort: the title shows the order.
        for order in ["processes as a tree", "processes by name", "processes busiest first"] {
            tmux.keys(&["R"]);
            tmux.wait_for(order);
        }
        let screen = tmux.wait_for("that did not run are hidden (A)");
        assert!(screen.lines().all(|line| line.chars().count() <= width.parse().unwrap_or(0)));
        tmux.keys(&["q"]);
        tmux.wait_for("ENDED");
    }
}
