//! The program in a real terminal, tmux.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The program, quoted for a shell.
pub const PROGRAM: &str = concat!("'", env!("CARGO_BIN_EXE_lttv-tui"), "'");

/// The folder of the bundled traces, in which the commands of tests run.
pub const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces");

/// A time limit that is longer than any machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time between two looks at the screen.
const PAUSE: Duration = Duration::from_millis(20);

/// A terminal that ends with its test.
pub struct Tmux {
    socket: String,
    /// The file of the socket.
    file: PathBuf,
    /// The width and height of the terminal.
    pub size: (u16, u16),
    /// A folder for the test, in which the program keeps its state.
    pub folder: PathBuf,
}

impl Tmux {
    /// Runs a shell command in a new terminal of a size, in the folder of the bundled traces.
    /// Prints a line and returns `None` if there is no tmux.
    ///
    /// The name tells the terminal and its folder from those of other tests.
    pub fn start(name: &str, size: (u16, u16), command: &str) -> Option<Tmux> {
        if Command::new("tmux").arg("-V").output().is_err() {
            println!("SKIPPED: there is no tmux here");
            return None;
        }
        let (width, height) = (size.0.to_string(), size.1.to_string());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{width}"));
        _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder for tests");
        let socket = format!("lttv-tui-{name}-{width}-{}", std::process::id());
        let mut tmux = Tmux { socket, file: PathBuf::new(), size, folder };
        // Never the settings, layout and notes of the user who runs the tests.
        let folder = tmux.folder.display();
        let variables = ["CONFIG", "DATA", "STATE"].map(|of| format!("XDG_{of}_HOME='{folder}'"));
        let command = format!("export {}; cd '{TRACES}'; {command}", variables.join(" "));
        let size = ["-x", &width, "-y", &height];
        let new = ["-f", "/dev/null", "new-session", "-d"];
        tmux.succeed(&[&new[..], &size, &[&command]].concat());
        // A copied text becomes a buffer of tmux.
        tmux.succeed(&["set", "-s", "set-clipboard", "on"]);
        tmux.file = tmux.succeed(&["display-message", "-p", "#{socket_path}"]).trim_end().into();
        Some(tmux)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &self.socket]).args(arguments).output().expect("tmux runs")
    }

    /// Runs a command of tmux and returns its output.
    fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns the lines of the screen.
    pub fn screen(&self) -> String {
        self.succeed(&["capture-pane", "-p"])
    }

    /// Returns the lines of the screen with the escape sequences of their colours.
    pub fn screen_with_colours(&self) -> String {
        self.succeed(&["capture-pane", "-p", "-e"])
    }

    /// Waits until the screen shows a text.
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text))
    }

    /// Waits until a condition of the screen is true.
    pub fn wait_until(&self, what: &str, is_true: impl Fn(&str) -> bool) -> String {
        wait(what, || self.screen(), is_true)
    }

    /// Waits until a condition of the text is true that the terminal has received for the
    /// clipboard.
    pub fn wait_for_copy(&self, what: &str, is_true: impl Fn(&str) -> bool) -> String {
        // There is no buffer before the first text.
        let copied = || String::from_utf8_lossy(&self.run(&["show-buffer"]).stdout).into_owned();
        wait(what, copied, is_true)
    }

    /// Presses keys, given the names that tmux has for them.
    pub fn keys<'k>(&self, keys: &[&'k str]) {
        // A single semicolon would separate two commands.
        let key = |key: &&'k str| if *key == ";" { "\\;" } else { key };
        let keys: Vec<&str> = keys.iter().map(key).collect();
        self.succeed(&[&["send-keys"], &keys[..]].concat());
    }

    /// Types a text.
    pub fn type_text(&self, text: &str) {
        self.keys(&["-l", text]);
    }

    /// Answers an open prompt.
    pub fn answer(&self, text: &str) {
        self.type_text(text);
        self.keys(&["Enter"]);
    }

    /// Presses a key that opens a prompt of a title, and answers the prompt.
    pub fn ask(&self, key: &str, title: &str, text: &str) {
        self.keys(&[key]);
        self.wait_for(title);
        self.answer(text);
    }

    /// Presses Esc, and waits until a text has disappeared. Another key directly after Esc would
    /// be a key with Alt.
    pub fn escape(&self, text: &str) -> String {
        self.keys(&["Escape"]);
        self.wait_until("the end of the prompt", |screen| !screen.contains(text))
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        _ = self.run(&["kill-server"]);
        // tmux leaves the file.
        _ = std::fs::remove_file(&self.file);
    }
}

/// Waits until a condition of a text is true and the text does not change any more, and returns
/// the text.
fn wait(what: &str, text: impl Fn() -> String, is_true: impl Fn(&str) -> bool) -> String {
    let begin = Instant::now();
    let mut before = None;
    loop {
        let now = text();
        let is_there = is_true(&now);
        // The terminal may have received a part of a frame.
        if is_there && before.as_ref() == Some(&now) {
            return now;
        }
        before = is_there.then(|| now.clone());
        assert!(begin.elapsed() < PATIENCE, "no {what:?} in\n{now}");
        sleep(PAUSE);
    }
}

/// Returns the value of a name in the status line; an empty text if the line does not show it.
pub fn status(screen: &str, name: &str) -> String {
    let line = screen.lines().rev().find(|line| line.contains("  current ")).unwrap_or_default();
    let value = format!("  {line}");
    let value = value.split_once(&format!("  {name} ")).map(|(_, rest)| rest.split("  ").next());
    value.flatten().unwrap_or_default().trim_end().to_owned()
}
