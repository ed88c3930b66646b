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
