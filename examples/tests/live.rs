//! `text_dump` with traces that are being recorded: sessions of a relay daemon, which replays
//! recorded conversations, and directories that grow.

mod support;

#[path = "../../ltt-read/tests/support/relay.rs"]
mod relay;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use flate2::read::GzDecoder;
use relay::Relay;
use support::{example, print_note, run, shared};

/// The time after which a program is stopped.
const LIMIT: Duration = Duration::from_secs(60);

/// Starts a daemon that holds one conversation. Returns its address.
fn daemon(mut relay: Relay) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        let (mut connection, _) = listener.accept().expect("a viewer");
        loop {
            let mut request = vec![0; 16];
            if connection.read_exact(&mut request).is_err() {
                return;
            }
            request.resize(16 + usize::from(request[7]), 0);
            connection.read_exact(&mut request[16..]).expect("a payload");
            let Some(reply) = relay.answer(&request) else { return };
            connection.write_all(&reply).expect("a viewer");
        }
    });
    address
}

fn dump(args: &[&str]) -> support::Run {
    run(&example("text_dump"), args, None, LIMIT)
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
        let address = daemon(Relay::recorded(&folder.join(format!("{name}.rec.gz"))));
        let url = format!("net://{address}/host/vm/{session}");
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
                    || line.starts_with("text_dump: warning: ") && line.contains("are missing")
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
    let errors = || daemon(Relay::recorded(&folder.join("errors.rec.gz")));
    let address = errors();
    let run = dump(&[&format!("net://{address}")]);
    let expected = format!(
        "net://{address}/host/vm/r7 (timer = 500000, 3 stream(s), 0 client(s) connected)\n\
         net://{address}/host/vm/notlive (timer = 0, 3 stream(s), 0 client(s) connected)\n"
    );
    assert_eq!((String::from_utf8_lossy(&run.stdout).as_ref(), run.status), (&*expected, Some(0)));
    for (session, what) in [("notlive", "the session is not live"), ("none", "no session `none`")] {
        let run = dump(&[&format!("net://{}/host/vm/{session}", errors())]);
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

/// Sends the signal of Ctrl-C.
fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.expect("the program `kill`").success());
}

/// Copies the first parts of the files of a trace.
fn copy(from: &Path, to: &Path, part: usize) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            let bytes = fs::read(&path).expect("a file");
            let name = path.file_name().expect("a name");
            let len = if name == "metadata" { bytes.len() } else { bytes.len() / 4 * part };
            fs::write(to.join(name), &bytes[..len]).expect("space");
        }
    }
}

#[test]
fn directories_are_followed_until_ctrl_c() {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/kernel/kernel");
    let dir = tempfile::tempdir().expect("a directory");
    let mut child = Command::new(example("text_dump"))
        .args(["--follow", "--silence", "0.2", "--format", "babeltrace", "--clock-gmt"])
        .args(["--clock-seconds", "--no-delta"])
        .arg(dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let reader = thread::spawn(move || lines.map(|line| line.expect("text")).collect::<Vec<_>>());
    for part in 1..=4 {
        copy(&trace, &dir.path().join("kernel"), part);
        thread::sleep(Duration::from_millis(400));
    }
    thread::sleep(Duration::from_millis(1500));
    interrupt(&child);
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
