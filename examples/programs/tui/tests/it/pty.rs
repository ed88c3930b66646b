//! The program in a terminal that does not answer, with signals, and with a lost terminal.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// A time limit that is longer than any machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";
const SHOW_CURSOR: &str = "\x1b[?25h";
const CLEAR: &str = "\x1b[2J";
const CAPTURE_MOUSE: &str = "\x1b[?1002h\x1b[?1006h";
const RELEASE_MOUSE: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";
const ALL_MOVEMENTS: &str = "\x1b[?1003h";
const ASK_CURSOR: &str = "\x1b[6n";

/// The program and its terminal.
struct Terminal {
    master: File,
    program: Child,
    /// The output of the program, and its length at the last wait.
    output: Vec<u8>,
    seen: usize,
}

impl Terminal {
    /// Starts the program, and waits for its first frame.
    fn open() -> Self {
        Terminal::open_with(Command::new(env!("CARGO_BIN_EXE_lttv-tui")))
    }

    /// Starts the program by a command, to which its argument is added, and waits for its first
    /// frame.
    fn open_with(mut command: Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("a terminal");
        grantpt(&master).expect("a terminal");
        unlockpt(&master).expect("a terminal");
        resize(&master, 150, 44);
        let name = ptsname(&master, Vec::new()).expect("a terminal");
        let name = name.into_string().expect("a path");
        let slave = || {
            let no_control = i32::try_from(OFlags::NOCTTY.bits()).expect("a flag");
            let mut options = File::options();
            options.read(true).write(true).custom_flags(no_control);
            options.open(&name).expect("a terminal")
        };
        let program = command
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel"))
            .env("TERM", "xterm")
            // Never the layout or the notes of the user who runs the tests.
            .env("XDG_STATE_HOME", state_folder())
            .env("XDG_DATA_HOME", state_folder())
            .stdin(slave())
            .stdout(slave())
            .stderr(slave())
            .spawn()
            .expect("the program");
        let mut terminal = Terminal { master: master.into(), program, output: Vec::new(), seen: 0 };
        terminal.wait_for(ENTER);
        terminal.wait_for("quit");
        terminal
    }

    /// Reads the output of the program, for at most this time.
    fn read(&mut self, most: Duration) {
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        let most = Timespec::try_from(most).expect("a short time");
        if poll(&mut fds, Some(&most)).expect("a terminal") == 0 {
            return;
        }
        let mut buffer = [0; 1 << 16];
        match self.master.read(&mut buffer) {
            Ok(read) => self.output.extend(&buffer[..read]),
            // No process has the terminal open any more.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => {
                sleep(Duration::from_millis(10));
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted),
        }
    }

    /// Waits until the program has written a text, after the previous waits.
    fn wait_for(&mut self, text: &str) {
        let begin = Instant::now();
        loop {
            let new = &self.output[self.seen..];
            if let Some(at) = new.windows(text.len()).position(|part| part == text.as_bytes()) {
                self.seen += at + text.len();
                return;
            }
            let output = String::from_utf8_lossy(new);
            assert!(begin.elapsed() < PATIENCE, "no {text:?} in {output:?}");
            self.read(Duration::from_millis(100));
        }
    }

    fn has_written(&self, text: &str) -> bool {
        self.output.windows(text.len()).any(|part| part == text.as_bytes())
    }

    fn press(&mut self, keys: &[u8]) {
        self.master.write_all(keys).expect("a terminal");
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.program), signal).expect("the program runs");
    }

    /// Waits for the end of the program.
    fn status(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.program.try_wait().expect("a child") {
                self.read(Duration::ZERO);
                return status;
            }
            assert!(begin.elapsed() < PATIENCE, "the program does not end");
            self.read(Duration::from_millis(50));
        }
    }

    fn is_raw(&self) -> bool {
        let modes = tcgetattr(&self.master).expect("a terminal").local_modes;
        !modes.intersects(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Returns `true` if the program is in the process state of this letter.
    fn is_in_state(&self, letter: char) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.program.id()));
        let stat = stat.expect("the program runs");
        stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(letter))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        _ = self.program.kill();
        _ = self.program.wait();
    }
}

/// Returns the folder in which the programs of these tests keep their state.
fn state_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("state-{}", std::process::id()))
}

fn resize(master: impl AsFd, width: u16, height: u16) {
    let size = Winsize { ws_col: width, ws_row: height, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, size).expect("a terminal");
}

#[test]
fn redrawing_does_not_query_the_terminal() {
    let _alone = alone();
    let mut terminal = Terminal::open();
    // Pending input has no influence, such as Esc or the start of a character.
    for keys in [&b"\x0c"[..], b"\x0c\x1b", b"\x0cjjjj", b"\x0c\xe2\x82\xac"] {
        terminal.press(keys);
        terminal.wait_for(CLEAR);
        terminal.wait_for("quit");
    }
    resize(&terminal.master, 100, 30);
    terminal.signal(Signal::WINCH);
    terminal.wait_for(CLEAR);
    terminal.wait_for("quit");
    terminal.press(b"q");
    assert_eq!(terminal.status().code(), Some(0));
    assert!(!terminal.has_written(ASK_CURSOR));
}

#[test]
fn a_signal_that_ends_the_program_restores_the_terminal() {
    let _alone = alone();
    for signal in [Signal::HUP, Signal::INT, Signal::TERM] {
        let mut terminal = Terminal::open();
        assert!(terminal.is_raw());
        terminal.signal(signal);
        let status = terminal.status();
        assert_eq!(status.code(), Some(128 + signal.as_raw()), "{signal:?}");
        terminal.wait_for(LEAVE);
        assert!(terminal.has_written(SHOW_CURSOR) && !terminal.is_raw(), "{signal:?}");
    }
}

/// With half a character typed, the reader of keys waits for the rest.
#[test]
fn a_signal_ends_a_program_that_waits_for_half_a_key() {
    let _alone = alone();
    let mut terminal = Terminal::open();
    terminal.press(b"\xe2");
    sleep(Duration::from_millis(300));
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.status().code(), Some(128 + Signal::TERM.as_raw()));
    terminal.wait_for(LEAVE);
    assert!(!terminal.is_raw());
}

/// The terminal does not control the program here, so that there is no signal.
#[test]
fn the_program_ends_when_its_terminal_has_gone() {
    let _alone = alone();
    let mut terminal = Terminal::open();
    // The other end is closed now.
    terminal.master = File::open("/dev/null").expect("a file");
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = terminal.program.try_wait().expect("a child") {
            break status;
        }
        assert!(begin.elapsed() < PATIENCE, "the program runs on without a terminal");
        sleep(Duration::from_millis(50));
    };
    assert_eq!(status.code(), Some(128 + Signal::HUP.as_raw()), "{status}");
}

#[test]
fn a_suspended_program_restores_the_terminal_meanwhile() {
    let _alone = alone();
    let mut terminal = Terminal::open();
    terminal.signal(Signal::TSTP);
    terminal.wait_for(LEAVE);
    let begin = Instant::now();
    while !terminal.is_in_state('T') {
        assert!(begin.elapsed() < PATIENCE, "it is not stopped");
        sleep(Duration::from_millis(20));
    }
    assert!(!terminal.is_raw());
    terminal.signal(Signal::CONT);
    terminal.wait_for(ENTER);
    terminal.wait_for("quit");
    assert!(terminal.is_raw());
    // Without a shell to continue the program, the key only shows a message.
    terminal.press(b"\x1a");
    terminal.wait_for("no shell would continue");
    terminal.press(b"q");
    assert_eq!(terminal.status().code(), Some(0));
}

#[test]
fn the_mouse_is_released_whenever_the_terminal_is_restored() {
    let _alone = alone();
    let mut terminal = Terminal::open();
    assert!(terminal.has_written(CAPTURE_MOUSE));
    assert!(!terminal.has_written(ALL_MOVEMENTS) && !terminal.has_written(RELEASE_MOUSE));
    // The program is suspended and continued.
    terminal.signal(Signal::TSTP);
    terminal.wait_for(RELEASE_MOUSE);
    terminal.wait_for(LEAVE);
    let begin = Instant::now();
    while !terminal.is_in_state('T') {
        assert!(begin.elapsed() < PATIENCE, "it is not stopped");
        sleep(Duration::from_millis(20));
    }
    terminal.signal(Signal::CONT);
    terminal.wait_for(ENTER);
    terminal.wait_for(CAPTURE_MOUSE);
    terminal.wait_for("quit");
    // A click on the time axis moves the current time; only changed digits are written.
    terminal.press(b"\x1b[<0;100;42M\x1b[<0;100;42m");
    terminal.wait_for("710733908");
    // A key or a signal ends the program.
    terminal.press(b"q");
    terminal.wait_for(RELEASE_MOUSE);
    terminal.wait_for(LEAVE);
    assert_eq!(terminal.status().code(), Some(0));
    let mut terminal = Terminal::open();
    terminal.signal(Signal::TERM);
    terminal.wait_for(RELEASE_MOUSE);
    terminal.wait_for(LEAVE);
    // An option leaves the mouse to the terminal.
    let mut command = Command::new(env!("CARGO_BIN_EXE_lttv-tui"));
    command.arg("--no-mouse");
    let mut terminal = Terminal::open_with(command);
    terminal.press(b"q");
    assert_eq!(terminal.status().code(), Some(0));
    assert!(!terminal.has_written(CAPTURE_MOUSE) && !terminal.has_written(RELEASE_MOUSE));
}

/// In a container, sessions and process groups may belong to a process outside of it. Their
/// number is 0 then.
#[test]
fn the_suspend_key_works_where_the_process_group_has_no_number() {
    let _alone = alone();
    let namespace = || {
        let mut command = Command::new("unshare");
        // A shell is the parent, as process 1.
        let script = "\"$0\" \"$@\"; exit $?";
        command.args(["--user", "--map-root-user", "--pid", "--fork", "sh", "-c", script]);
        command
    };
    if !namespace().arg("true").status().is_ok_and(|status| status.success()) {
        // The test harness would hide the output of a passing test.
        _ = writeln!(std::io::stderr(), "skipped: a namespace of processes cannot be made here");
        return;
    }
    let mut command = namespace();
    command.arg(env!("CARGO_BIN_EXE_lttv-tui"));
    let mut terminal = Terminal::open_with(command);
    terminal.press(b"\x1a");
    terminal.wait_for("no shell would continue");
    terminal.press(b"q");
    assert_eq!(terminal.status().code(), Some(0));
}

#[test]
fn the_layout_is_kept_in_the_state_folder_unless_it_is_unwanted() {
    let _alone = alone();
    let file = state_folder().join("lttv").join("layout.json");
    _ = std::fs::remove_file(&file);
    let run = |arguments: &[&str], keys: &[u8], last: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lttv-tui"));
        command.args(arguments);
        let mut terminal = Terminal::open_with(command);
        terminal.press(keys);
        terminal.wait_for(last);
        terminal.press(b"q");
        assert_eq!(terminal.status().code(), Some(0));
    };
    run(&["--no-layout"], b"5", "Statistics");
    run(&[], b"?", "Keys");
    assert!(!file.exists(), "nothing has changed");
    run(&[], b"5", "Statistics");
    let layout = std::fs::read_to_string(&file).expect("the layout has changed");
    assert!(layout.contains("\"control-flow\""), "{layout}");
    // The statistics are visible at once now, and hidden with another file.
    run(&[], b"", "5 Statistics");
    let other = state_folder().join("other.json");
    run(&["--layout", other.to_str().expect("a path")], b"1", "2 Control flow");
    assert!(other.exists());
    assert_eq!(std::fs::read_to_string(&file).expect("the same file"), layout);
    _ = std::fs::remove_dir_all(state_folder());
}

#[test]
fn a_program_without_a_terminal_says_what_it_needs() {
    let _alone = alone();
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
    let program = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lttv-tui"));
        command.arg(trace).env("XDG_STATE_HOME", state_folder()).stdin(Stdio::null());
        command
    };
    let output = program().output().expect("the program");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("the terminal program needs a terminal, but its output goes"), "{told}");
    assert!(!told.contains("os error"), "{told}");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    // A terminal to write to, and none to read from: without a controlling terminal.
    if Command::new("setsid").arg("true").status().is_err() {
        _ = writeln!(std::io::stderr(), "skipped: there is no setsid here");
        return;
    }
    let (_master, slave) = terminal();
    let mut command = Command::new("setsid");
    command.arg("--wait").arg(env!("CARGO_BIN_EXE_lttv-tui")).arg(trace);
    let output = command.stdin(Stdio::null()).stdout(slave).output().expect("the program");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("there is none to read keys from"), "{told}");
    assert_eq!(output.status.code(), Some(1));
}

/// Opens both ends of a terminal.
fn terminal() -> (rustix::fd::OwnedFd, File) {
    let master =
        openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
    grantpt(&master).expect("a terminal");
    unlockpt(&master).expect("a terminal");
    resize(&master, 150, 44);
    let name = ptsname(&master, Vec::new()).expect("a terminal");
    let no_control = i32::try_from(OFlags::NOCTTY.bits()).expect("a flag");
    let mut options = File::options();
    options.read(true).write(true).custom_flags(no_control);
    let slave = options.open(name.into_string().expect("a path")).expect("a terminal");
    (master, slave)
}

/// Keeps tests apart: a program started by another one would inherit the terminal.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
