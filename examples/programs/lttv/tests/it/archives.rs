//! Archives in place of directories, and what `lttv` opens without a command.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support;

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces");

/// Runs `lttv` in a folder, which is also the home and has the temporary files.
fn lttv(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(support::lttv());
    command.args(args).current_dir(folder).env("HOME", folder).env("TMPDIR", folder.join("tmp"));
    command.env_remove("XDG_CONFIG_HOME").output().expect("lttv")
}

fn text(run: &Output) -> String {
    String::from_utf8_lossy(&run.stdout).into_owned()
}

fn stderr(run: &Output) -> String {
    String::from_utf8_lossy(&run.stderr).into_owned()
}

/// Returns a folder with archives of the bundled traces.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("tmp")).expect("a folder");
    let file = |name: &str| fs::File::create(folder.path().join(name)).expect("a file");
    let packed = flate2::write::GzEncoder::new(file("session.tar.gz"), flate2::Compression::fast());
    let mut tar = tar::Builder::new(packed);
    tar.append_dir_all("session/kernel", format!("{TRACES}/kernel")).expect("a trace");
    tar.into_inner().and_then(|packed| packed.finish()).expect("an archive");
    let mut packed =
        flate2::write::GzEncoder::new(file("perf.data.gz"), flate2::Compression::fast());
    let mut plain = fs::File::open(format!("{TRACES}/perf/perf.data")).expect("a file");
    std::io::copy(&mut plain, &mut packed).expect("a file");
    packed.finish().expect("an archive");
    folder
}

#[test]
fn archives_give_what_their_traces_give() {
    let folder = folder();
    for (args, archive, plain) in [
        (&["dump"][..], "session.tar.gz", "kernel"),
        (&["stats", "--format", "csv", "--table", "processes"], "session.tar.gz", "kernel"),
        (&["dump"], "perf.data.gz", "perf/perf.data"),
    ] {
        let expected = lttv(folder.path(), &[args, &[&format!("{TRACES}/{plain}")]].concat());
        let found = lttv(folder.path(), &[args, &[archive]].concat());
        assert!(found.status.success(), "{}", stderr(&found));
        assert_eq!(text(&found), text(&expected), "{args:?} {archive}");
        assert!(text(&found).len() > 1000);
        // Nothing of it remains.
        assert_eq!(fs::read_dir(folder.path().join("tmp")).expect("a folder").count(), 0);
    }
}

#[test]
fn archives_that_are_refused_are_errors() {
    let folder = folder();
    let path = folder.path().join("evil.tar");
    let mut tar = tar::Builder::new(fs::File::create(&path).expect("a file"));
    let mut header = tar::Header::new_gnu();
    header.as_mut_bytes()[..10].copy_from_slice(b"../escaped");
    header.set_size(0);
    header.set_cksum();
    tar.append(&header, &b""[..]).and_then(|()| tar.finish()).expect("an archive");
    let run = lttv(folder.path(), &["dump", "evil.tar"]);
    assert_eq!(run.status.code(), Some(1));
    let expected = "lttv: error: evil.tar: a name leads out of the archive: \"../escaped\"";
    assert_eq!(stderr(&run).trim(), expected);
    // Beside a sound trace, that one is read.
    let run = lttv(folder.path(), &["dump", "--count", "evil.tar", "session.tar.gz"]);
    assert_eq!((run.status.code(), text(&run).trim()), (Some(1), "6087"), "{}", stderr(&run));
    assert!(stderr(&run).contains("a name leads out"), "{}", stderr(&run));
    assert!(!folder.path().join("escaped").exists() && !folder.path().join("tmp/escaped").exists());
    let damaged = fs::read(folder.path().join("session.tar.gz")).expect("a file");
    fs::write(folder.path().join("half.tar.gz"), &damaged[..damaged.len() / 2]).expect("a file");
    let run = lttv(folder.path(), &["info", "half.tar.gz"]);
    assert_eq!(run.status.code(), Some(1));
    assert!(stderr(&run).contains("half.tar.gz: the archive is damaged: "), "{}", stderr(&run));
    assert_eq!(fs::read_dir(folder.path().join("tmp")).expect("a folder").count(), 0);
}

#[test]
fn paths_are_opened_without_a_command() {
    let folder = folder();
    for path in ["session.tar.gz", "perf.data.gz"] {
        let run = lttv(folder.path(), &[path]);
        assert!(run.status.success(), "{}", stderr(&run));
        assert!(text(&run).contains("first event"), "{}", text(&run));
    }
    let mut command = Command::new(support::lttv());
    let recording = fs::File::open(format!("{TRACES}/perf/perf.data")).expect("a file");
    let run = command.arg("-").stdin(recording).output().expect("lttv");
    assert!(run.status.success() && text(&run).contains("first event"), "{}", stderr(&run));
}

#[test]
fn traces_nearby_are_listed() {
    let folder = folder();
    let empty = tempfile::tempdir().expect("a folder");
    let run = lttv(empty.path(), &[]);
    assert!(run.status.success(), "{}", stderr(&run));
    assert!(
        text(&run).starts_with("There are no traces here or in ~/lttng-traces."),
        "{}",
        text(&run)
    );
    let sessions = folder.path().join("lttng-traces");
    fs::create_dir(&sessions).expect("a folder");
    std::os::unix::fs::symlink(format!("{TRACES}/kernel"), sessions.join("my session"))
        .expect("a link");
    fs::write(folder.path().join("notes.txt"), "no trace").expect("a file");
    let run = lttv(folder.path(), &[]);
    let listed = text(&run);
    for (kind, command) in [
        ("archive", "lttv session.tar.gz".to_owned()),
        ("packed file", "lttv perf.data.gz".to_owned()),
        ("CTF", format!("lttv '{}'", sessions.join("my session").display())),
    ] {
        let is_row = |line: &&str| line.trim_start().starts_with(kind) && line.contains(&command);
        assert!(listed.lines().any(|line| is_row(&line)), "{command}: {listed}");
    }
    assert!(!listed.contains("notes.txt"), "{listed}");
    assert!(listed.contains("lttv record -- COMMAND"), "{listed}");
}
