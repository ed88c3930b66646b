//! The program in a real terminal: that of tmux.

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
        let begin = Instant::now();
        loop {
            let screen = self.screen();
            if screen.contains(text) {
                return screen;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "no {text:?} in\n{screen}");
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

#[test]
fn keys_in_a_terminal() {
    if Command::new("tmux").arg("-V").output().is_err() {
        println!("SKIPPED: there is no tmux here");
        return;
    }
    let tmux = Tmux { socket: format!("lttv-tui-{}", std::process::id()) };
    let program = env!("CARGO_BIN_EXE_lttv-tui");
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/kernel");
    let command = format!("{program} {trace}; echo ENDED with $?; sleep 60");
    let begun = tmux.run(&["new-session", "-d", "-x", "150", "-y", "44", &command]);
    assert!(begun.expect("tmux runs").status.success());

    tmux.wait_for("6087 in all");
    tmux.keys(&["+"]);
    tmux.wait_for("width 482.43 ms");
    tmux.keys(&["-l", "/event.name == \"sched_switch\""]);
    tmux.keys(&["Enter", "0"]);
    tmux.wait_for("497 in all");
    tmux.keys(&["Home", "Down", "n"]);
    let screen = tmux.wait_for("process kworker/0:0 (7)");
    assert!(screen.contains("sched_switch"), "{screen}");
    tmux.keys(&["q"]);
    tmux.wait_for("ENDED with 0");
}
