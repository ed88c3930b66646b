//! `lttv dump` with traces that are being recorded: sessions of a relay daemon, which replays
//! recorded conversations, and directories that grow.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::daemon::Daemon;
use crate::quarters::copy_quarters;
use crate::relay::Relay;
use crate::scripted::{attached, end_session, metadata_reply, packet};
use crate::support::{self, print_note, shared};
use flate2::read::GzDecoder;

/// The time after which a program is stopped.
const LIMIT: Duration = Duration::from_secs(60);

fn dump(args: &[&str]) -> support::Run {
    support::dump(args, None, LIMIT)
}

#[test]
fn recorded_sessions_are_printed_like_babeltrace_prints_them() {
    let Some(folder) = shared().map(|path| path.join("live/recordings")) else {
        return print_note("live sessions: skipped, there is no ../shared/live");
    };
    for (name, session) in [
        ("normal", "r1"),
        ("perpid", "r3"),
        ("metadata", "r5"),
        ("idle-last", "r4"),
        ("killed", "r6"),
        ("proto-2.15-ctf2", "ctf2"),
    ] {
        let daemon = Daemon::start(Relay::recorded(&folder.join(format!("{name}.rec.gz"))));
        let (url, address) = (daemon.session(session), &daemon.address);
        let run = dump(&[&url, "--from-start", "--format", "babeltrace", "--clock-gmt"]);
        let mut expected = String::new();
        let reference = File::open(folder.join(format!("{name}.txt.gz"))).expect("a reference");
        GzDecoder::new(reference).read_to_string(&mut expected).expect("text");
        let text = String::from_utf8(run.stdout).expect("text");
        for (line, expected) in text.lines().zip(expected.lines()) {
            assert_eq!(line, expected, "{name}");
        }
        assert_eq!(text.len(), expected.len(), "{name}");
        if name == "killed" {
            let expected = format!("{address}: the relay daemon closed the connection");
            assert!(run.stderr.contains(&expected), "{}", run.stderr);
            assert!(run.stderr.contains("(ust/uid/0/64-bit/ch_"), "{}", run.stderr);
            assert_eq!(run.status, Some(1));
        } else {
            // The only messages are those of losses.
            let is_loss = |line: &str| {
                line.starts_with("WARNING: Tracer discarded ")
                    || line.starts_with("lttv: warning: ") && line.contains("are missing")
            };
            assert!(run.stderr.lines().all(is_loss), "{name}: {}", run.stderr);
            assert_eq!(run.status, Some(0), "{name}");
        }
    }
}

#[test]
fn sessions_are_listed_and_refusals_are_in_words() {
    let Some(folder) = shared().map(|path| path.join("live/recordings")) else {
        return print_note("live sessions: skipped, there is no ../shared/live");
    };
    let errors = || Daemon::start(Relay::recorded(&folder.join("errors.rec.gz")));
    let address = errors().address;
    let run = dump(&[&format!("net://{address}")]);
    let expected = format!(
        "net://{address}/host/vm/r7 (timer = 500000, 3 stream(s), 0 client(s) connected)\n\
         net://{address}/host/vm/notlive (timer = 0, 3 stream(s), 0 client(s) connected)\n"
    );
    assert_eq!((String::from_utf8_lossy(&run.stdout).as_ref(), run.status), (&*expected, Some(0)));
    for (session, what) in [("notlive", "the session is not live"), ("none", "no session `none`")] {
        let run = dump(&[&errors().session(session)]);
        assert!(run.stderr.contains(what), "{}", run.stderr);
        assert_eq!(run.status, Some(1));
    }
}

#[test]
fn options_without_an_effect_are_refused() {
    for args in [
        &["net://localhost/host/vm"][..],
        &["net://localhost/host/vm/s", "/tmp"],
        &["--follow", "--begin", "+1", "/tmp"],
        &["--follow", "--process", "/tmp"],
        &["--from-start", "/tmp"],
        &["--silence", "1", "/tmp"],
    ] {
        assert_eq!(dump(args).status, Some(2), "{args:?}");
    }
}

/// Follows a directory until a message appears or a second is over, as a user who may not read
/// everything, and ends with Ctrl-C. Returns the output, the messages and the exit status.
fn follow(dir: &Path) -> (String, String, Option<i32>) {
    let mut command = Command::new(support::lttv());
    command.args(["dump", "--follow", "--silence", "0.1", "--count"]).arg(dir);
    // The settings of this user may be unreadable for the other one.
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    if rustix::process::geteuid().is_root() {
        use std::os::unix::process::CommandExt;
        command.uid(65534).gid(65534);
    }
    let child = command.spawn().expect("the program");
    thread::sleep(Duration::from_millis(1500));
    support::interrupt(&child);
    let output = child.wait_with_output().expect("an end");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// Returns the directory of a trace that any user may read.
fn readable_trace() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/kernel/kernel");
    let dir = tempfile::tempdir().expect("a directory");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("its mode");
    copy_quarters(&trace, dir.path(), 4);
    dir
}

#[cfg(unix)]
#[test]
fn files_and_directories_without_permission_are_errors() {
    use std::os::unix::fs::PermissionsExt;
    for name in ["metadata", "sched_0", "below"] {
        let dir = readable_trace();
        fs::create_dir(dir.path().join("below")).expect("a directory");
        fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(0o000))
            .expect("a file");
        let (stdout, stderr, status) = follow(dir.path());
        assert!(stderr.contains(&format!("{name}: Permission denied")), "{name}: {stderr}");
        assert_eq!(stderr.matches("Permission denied").count(), 1, "{name}: {stderr}");
        assert_eq!(status, Some(1), "{name}");
        assert_eq!(stdout == "0\n", name == "metadata", "{name}: {stdout}");
    }
}

#[cfg(unix)]
#[test]
fn directories_without_valid_metadata_are_errors_at_the_end() {
    let dir = readable_trace();
    for (metadata, error) in [("", "the metadata is empty"), ("x", "metadata:1")] {
        fs::write(dir.path().join("metadata"), metadata).expect("space");
        let (stdout, stderr, status) = follow(dir.path());
        assert!(stderr.contains(error), "{stderr}");
        assert_eq!((&*stdout, status), ("0\n", Some(1)), "{stderr}");
    }
    fs::remove_file(dir.path().join("metadata")).expect("a file");
    let (stdout, stderr, status) = follow(dir.path());
    assert!(stderr.contains(": no trace"), "{stderr}");
    assert_eq!((&*stdout, status), ("0\n", Some(1)), "{stderr}");
}

#[test]
fn a_session_without_valid_metadata_is_an_error() {
    for is_interrupted in [false, true] {
        let mut relay = attached(13);
        relay.reply(6, Some(3), metadata_reply(b"/* CTF 1.8 */ trace {"));
        relay.packet(1, 0, 30, packet(0, &[10, 30]));
        match is_interrupted {
            true => [1, 2].iter().for_each(|stream| relay.index(*stream, 2, 0, 0)),
            false => end_session(&mut relay, &[1, 2]),
        }
        let child = Command::new(support::lttv())
            .arg("dump")
            .arg(Daemon::start(relay).session("s"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program");
        if is_interrupted {
            thread::sleep(Duration::from_millis(500));
            support::interrupt(&child);
        }
        let output = child.wait_with_output().expect("an end");
        let stderr = String::from_utf8(output.stderr).expect("text");
        assert!(stderr.contains("/host/vm/s/kernel/metadata:1:"), "{stderr}");
        assert_eq!((output.stdout.len(), output.status.code()), (0, Some(1)), "{stderr}");
    }
}

#[test]
fn directories_are_followed_until_ctrl_c() {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/kernel/kernel");
    let dir = tempfile::tempdir().expect("a directory");
    let mut child = Command::new(support::lttv())
        .args(["dump", "--follow", "--silence", "0.2", "--format", "babeltrace", "--clock-gmt"])
        .args(["--clock-seconds", "--no-delta"])
        .arg(dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let reader = thread::spawn(move || lines.map(|line| line.expect("text")).collect::<Vec<_>>());
    for part in 1..=4 {
        copy_quarters(&trace, &dir.path().join("kernel"), part);
        thread::sleep(Duration::from_millis(400));
    }
    thread::sleep(Duration::from_millis(1500));
    support::interrupt(&child);
    let seen = reader.join().expect("lines");
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let batch = dump(&[
        dir.path().to_str().expect("text"),
        "--format=babeltrace",
        "--clock-gmt",
        "--clock-seconds",
        "--no-delta",
    ]);
    let text = String::from_utf8(batch.stdout).expect("text");
    let mut expected: Vec<_> = text.lines().collect();
    let mut seen: Vec<_> = seen.iter().map(String::as_str).collect();
    // What is after the last known time of all files is not final.
    assert!(expected.len() - seen.len() < 200, "{} of {}", seen.len(), expected.len());
    // Events of streams whose first packets came late are printed when they come.
    expected.sort_unstable();
    seen.sort_unstable();
    let mut rest = expected.iter();
    assert!(seen.iter().all(|line| rest.any(|expected| expected == line)), "each event once");
}
