//! `lttv convert` when it is ended, or cannot write: never a directory that looks whole but is not.

use crate::support;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::support::convert::{Random, dump, kernel};
use crate::support::print_note;

/// The longest time after which a conversion is ended, in µs. Most take less.
const LATEST: i64 = 60_000;

/// Starts a conversion that copies event by event.
fn started(output: &Path) -> Child {
    Command::new(support::lttv())
        .args([Path::new("convert"), &kernel(), Path::new("-o"), output])
        .args(["--filter", "event.name != \"\""])
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns the names in a folder, of hidden files as well.
fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Ends conversions after random times with `end`, and calls `check` for each. Returns the number of
/// results that were whole.
fn ended(times: usize, end: impl Fn(&mut Child), check: impl Fn(&Path, ExitStatus)) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let expected = dump(&kernel(), &[]);
    let mut random = Random(3);
    let mut whole = 0;
    for number in 0..times {
        let output = folder.path().join(format!("out{number}"));
        let mut child = started(&output);
        std::thread::sleep(Duration::from_micros(random.below(LATEST) as u64));
        end(&mut child);
        let status = child.wait().unwrap();
        if output.exists() {
            assert!(dump(&output, &[]) == expected);
            fs::remove_dir_all(&output).unwrap();
            whole += 1;
        }
        let found = ltt_read::find_traces(folder.path());
        assert!(found.is_err(), "{found:?} is a part of a trace");
        check(folder.path(), status);
    }
    print_note(&format!("{whole} of {times} were whole"));
    whole
}

#[test]
fn a_killed_conversion_leaves_no_trace() {
    let whole = ended(100, |child| _ = child.kill(), |_, _| ());
    assert!(whole < 100);
}

#[cfg(unix)]
#[test]
fn an_interrupted_conversion_leaves_nothing() {
    let whole = ended(
        50,
        |child| support::interrupt(child),
        |folder, _| {
            let left: Vec<_> = entries(folder);
            assert_eq!(left, [""; 0], "something is left");
        },
    );
    assert!(whole < 50);
}

/// Runs a conversion in a shell, after commands that limit it.
#[cfg(unix)]
fn limited(commands: &str, output: &Path, args: &[&str]) -> support::Run {
    let script = format!("{commands}; exec \"$0\" \"$@\"");
    let program = support::lttv();
    let paths =
        [program.to_str().unwrap(), "convert", kernel().to_str().unwrap(), "-o"].map(str::to_owned);
    let mut all = vec!["-c", &script];
    all.extend(paths.iter().map(String::as_str));
    all.push(output.to_str().unwrap());
    all.extend(args);
    support::run(Path::new("sh"), &all, None, support::convert::LIMIT)
}

#[cfg(unix)]
#[test]
fn a_failed_write_leaves_nothing_and_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out");
    // As on a full disk, a part of a file is written and the rest is refused. The limit counts units
    // of 512 bytes. Each size ends the conversion at another place.
    let mut failed = 0;
    for size in [0, 1, 8, 64, 200, 400, 100_000] {
        for args in [&[][..], &["--filter", "event.name != \"\"", "--packet-size", "4K"]] {
            let run = limited(&format!("trap '' XFSZ; ulimit -f {size}"), &output, args);
            match run.status {
                Some(0) => {
                    assert_eq!(dump(&output, &[]), dump(&kernel(), &[]));
                    fs::remove_dir_all(&output).unwrap();
                }
                status => {
                    assert_eq!(status, Some(1), "{run:?}");
                    assert!(run.stderr.contains("out"), "{}", run.stderr);
                    failed += 1;
                }
            }
            assert_eq!(entries(folder.path()), [""; 0], "{size}: something is left");
        }
    }
    assert!((4..14).contains(&failed), "{failed} failed");
}

#[cfg(unix)]
#[test]
fn an_output_without_permission_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "text").unwrap();
    // A file in place of the directory that contains the output, and of the output itself.
    for output in [file.join("out"), file.clone()] {
        let run = limited(":", &output, &[]);
        assert_eq!(run.status, Some(1), "{run:?}");
    }
    assert_eq!(entries(folder.path()), ["file"]);
    assert_eq!(fs::read_to_string(file).unwrap(), "text");
}
