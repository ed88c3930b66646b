//! Several builders and readers of one history file. Each gets right answers or an error,
//! and a finished file is never replaced by anything else.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use lttv_state::history::{Builder, History, HistoryError, Live, Settings, Timestamp};
use lttv_state::tree::Quark;
use lttv_state::value::StateValue;

const ROLE: &str = "HISTORY_WRITER_ROLE";
const FILE: &str = "HISTORY_WRITER_FILE";
const QUARKS: usize = 20;

fn ns(n: i64) -> Timestamp {
    Timestamp::from_ns(n)
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.block_intervals = Some(500);
    settings
}

/// Returns the value to which an attribute is set at a time.
fn value(quark: usize, t: i64) -> i32 {
    ((t / 7 + quark as i64) * 31 % 1000) as i32
}

fn change(builder: &mut Builder, times: std::ops::Range<i64>) -> Result<(), HistoryError> {
    let quarks: Vec<Quark> =
        (0..QUARKS).map(|i| builder.add(&format!("q/{i}"))).collect::<Result<_, _>>()?;
    for t in times {
        let i = t as usize % QUARKS;
        builder.set(quarks[i], ns(t), value(i, t))?;
    }
    Ok(())
}

fn build(path: &Path, end: i64) -> History {
    let mut builder = Builder::create(path, ns(0), settings()).unwrap();
    change(&mut builder, 0..end).unwrap();
    builder.close(ns(end)).unwrap()
}

/// Panics unless a history contains all changes that [`change`] makes, up to its end.
fn check(history: &History) {
    history.verify().unwrap();
    for i in 0..QUARKS {
        let quark = history.tree().find(Quark::ROOT, &format!("q/{i}")).unwrap().unwrap();
        for t in (0..history.end().as_ns()).step_by(97) {
            let last = (t - i as i64).div_euclid(QUARKS as i64);
            let expected = match last {
                ..0 => StateValue::Null,
                _ => value(i, last * QUARKS as i64 + i as i64).into(),
            };
            assert_eq!(history.at(quark, ns(t)).unwrap().value, expected, "q/{i} at {t}");
        }
    }
}

fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

/// Starts this program again, in a role: see [`child`].
fn start(role: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "history_writers::child", "--nocapture"])
        .env(ROLE, role)
        .env(FILE, path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until a child has reported that it is ready, by creating a file.
fn await_ready(path: &Path) {
    let ready = path.with_extension("ready");
    let started = Instant::now();
    while !ready.exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "the child never came so far");
        std::thread::sleep(Duration::from_millis(2));
    }
    fs::remove_file(ready).unwrap();
}

fn finish(mut child: Child) -> ExitStatus {
    drop(child.stdin.take());
    child.wait().unwrap()
}

/// The work of other processes, by `ROLE`; not a test itself.
#[test]
fn child() {
    let Some(role) = std::env::var_os(ROLE) else { return };
    let path = PathBuf::from(std::env::var_os(FILE).unwrap());
    let ready = || drop(File::create(path.with_extension("ready")).unwrap());
    let await_end = || _ = std::io::stdin().read_line(&mut String::new());
    let code = match role.to_str().unwrap() {
        // Builds, and waits in the middle.
        "builder" => {
            let mut builder = Builder::create(&path, ns(0), settings()).unwrap();
            change(&mut builder, 0..10_000).unwrap();
            builder.flush().unwrap();
            ready();
            await_end();
            change(&mut builder, 10_001..20_000).unwrap();
            i32::from(builder.close(ns(20_000)).is_err())
        }
        // Builds while threads read. Exits with 0 if it could close the history, and with 3
        // if it got an error.
        "live" => {
            let mut builder = Builder::create(&path, ns(0), settings()).unwrap();
            let live = builder.live().unwrap();
            let readers: Vec<_> = (0..2).map(|_| reader(live.clone())).collect();
            change(&mut builder, 0..20_000).unwrap();
            builder.flush().unwrap();
            ready();
            await_end();
            change(&mut builder, 20_001..40_000).unwrap();
            let closed = builder.close(ns(40_000));
            for (stop, reader) in readers {
                drop(stop);
                reader.join().unwrap();
            }
            if closed.is_ok() { 0 } else { 3 }
        }
        // Builds in the working directory.
        "no_parent" => {
            std::env::set_current_dir(path.parent().unwrap()).unwrap();
            check(&build(Path::new("h"), 3000));
            0
        }
        // Builds with a limit on the size of files.
        "full" => match small_disk(&path) {
            HistoryError::Io { path: of, error } => {
                assert_eq!(of, partial(&path));
                assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
                0
            }
            error => panic!("{error}"),
        },
        role => panic!("{role}"),
    };
    std::process::exit(code);
}

/// Queries a growing history until the returned sender is dropped. Each query has to be
/// answered or to fail.
fn reader(live: Live) -> (std::sync::mpsc::Sender<()>, std::thread::JoinHandle<u64>) {
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let mut asked = 0;
        while stopped.try_recv() != Err(std::sync::mpsc::TryRecvError::Disconnected) {
            let history = live.latest();
            let (start, end) = (history.start().as_ns(), history.end().as_ns());
            for t in (start..end).step_by(1 + end as usize / 7) {
                match history.state_at(ns(t)) {
                    Ok(state) => assert_eq!(state.len(), history.tree().len()),
                    Err(HistoryError::Damaged { .. } | HistoryError::Io { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
                asked += 1;
            }
        }
        asked
    });
    (stop, thread)
}

/// Returns the error of writing more than fits.
fn small_disk(path: &Path) -> HistoryError {
    let mut builder = Builder::create(path, ns(0), settings()).unwrap();
    let error = change(&mut builder, 0..1_000_000).unwrap_err();
    // The history can neither be read nor closed any more.
    assert!(matches!(builder.live(), Err(HistoryError::Failed)));
    assert!(matches!(builder.close(ns(2_000_000)), Err(HistoryError::Failed)));
    error
}

#[test]
fn a_second_builder_is_refused_at_once_and_leaves_everything_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    let before = fs::read({
        build(&path, 5000);
        &path
    })
    .unwrap();
    let child = start("builder", &path);
    await_ready(&path);
    let growing = fs::read(partial(&path)).unwrap();
    for result in [
        Builder::create(&path, ns(0), settings()),
        Builder::resume(&path, settings()),
        Builder::extend(&path, settings(), ns(100)),
    ] {
        match result {
            Err(HistoryError::Busy(of)) => assert_eq!(of, path),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("two builders"),
        }
    }
    assert!(fs::read(&path).unwrap() == before && fs::read(partial(&path)).unwrap() == growing);
    assert!(finish(child).success());
    check(&History::open(&path).unwrap());
    assert_eq!(History::open(&path).unwrap().end(), ns(20_000));
    assert!(!partial(&path).exists());
}

#[test]
fn a_second_builder_of_the_same_process_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    let first = Builder::create(&path, ns(0), settings()).unwrap();
    assert!(matches!(Builder::create(&path, ns(0), settings()), Err(HistoryError::Busy { .. })));
    first.abandon().unwrap();
    check(&build(&path, 1000));
    // When a builder has been closed or dropped, the next one may start.
    drop(Builder::create(&path, ns(0), settings()).unwrap());
    drop(Builder::resume(&path, settings()).unwrap());
    check(&build(&path, 2000));
}

#[test]
fn the_file_of_a_killed_builder_can_be_resumed_or_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    for round in 0..4 {
        let mut child = start("builder", &path);
        await_ready(&path);
        assert!(matches!(Builder::resume(&path, settings()), Err(HistoryError::Busy { .. })));
        child.kill().unwrap();
        child.wait().unwrap();
        if round % 2 == 0 {
            check(&build(&path, 1000));
        } else {
            let mut builder = Builder::resume(&path, settings()).unwrap();
            let earliest = builder.earliest().as_ns();
            assert!(earliest > 9000);
            change(&mut builder, earliest..12_000).unwrap();
            check(&builder.close(ns(12_000)).unwrap());
        }
        fs::remove_file(&path).unwrap();
    }
}

/// Programs that do not lock the file, such as a shell, may do anything to a growing one.
#[test]
fn live_readers_survive_any_change_of_the_growing_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    build(&path, 5000);
    let before = fs::read(&path).unwrap();

    // Nothing is done to the file.
    let child = start("live", &path);
    await_ready(&path);
    assert!(matches!(Builder::create(&path, ns(0), settings()), Err(HistoryError::Busy { .. })));
    assert_eq!(finish(child).code(), Some(0));
    check(&History::open(&path).unwrap());
    fs::write(&path, &before).unwrap();

    let truncate = |of: &Path| File::options().write(true).open(of).unwrap().set_len(0).unwrap();
    let overwrite = |of: &Path| {
        let mut file = File::options().write(true).open(of).unwrap();
        file.write_all(&[0xa5; 50_000]).unwrap();
    };
    let remove = |of: &Path| fs::remove_file(of).unwrap();
    let replace = |of: &Path| {
        fs::remove_file(of).unwrap();
        fs::write(of, "something else").unwrap();
    };
    type Fault<'f> = &'f dyn Fn(&Path);
    let faults: [(&str, Fault<'_>); 4] = [
        ("truncated", &truncate),
        ("overwritten", &overwrite),
        ("removed", &remove),
        ("replaced", &replace),
    ];
    for (what, fault) in faults {
        let child = start("live", &path);
        await_ready(&path);
        fault(&partial(&path));
        std::thread::sleep(Duration::from_millis(50));
        // The builder is alive, and reports that the file is gone.
        assert_eq!(finish(child).code(), Some(3), "{what}");
        assert!(fs::read(&path).unwrap() == before, "{what}");
        _ = fs::remove_file(partial(&path));
    }
}

/// A lock is inherited by processes that are being started: it may outlive its builder for a
/// moment.
#[test]
fn a_lock_that_ends_soon_does_not_refuse_a_builder() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    let file = File::create(partial(&path)).unwrap();
    file.lock().unwrap();
    let holder = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        drop(file);
    });
    let builder = Builder::create(&path, ns(0), settings()).unwrap();
    holder.join().unwrap();
    assert!(builder.close(ns(10)).is_ok());
}

/// The file is checked as a whole before it replaces another one.
#[test]
fn a_finished_file_is_not_replaced_by_a_damaged_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    build(&path, 5000);
    let before = fs::read(&path).unwrap();
    for place in [3, 30, 1000, 20_000] {
        use std::io::{Seek, SeekFrom};
        let mut builder = Builder::create(&path, ns(0), settings()).unwrap();
        change(&mut builder, 0..20_000).unwrap();
        builder.flush().unwrap();
        let mut file = File::options().read(true).write(true).open(partial(&path)).unwrap();
        assert!(file.metadata().unwrap().len() > place);
        file.seek(SeekFrom::Start(place)).unwrap();
        file.write_all(&[0x5a; 3]).unwrap();
        let error = builder.close(ns(20_000)).unwrap_err();
        let is_told = matches!(error, HistoryError::Damaged { .. } | HistoryError::NotAHistory);
        assert!(is_told, "byte {place}: {error}");
        assert!(fs::read(&path).unwrap() == before, "byte {place}");
    }
}

#[test]
fn paths_of_other_things_than_files_are_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("folder");
    fs::create_dir(&folder).unwrap();
    let partial_folder = dir.path().join("other");
    fs::create_dir(partial(&partial_folder)).unwrap();
    let none: &Path = "".as_ref();
    let mut names = vec![folder.as_path(), dir.path(), "/".as_ref(), "..".as_ref(), none];
    if cfg!(unix) {
        names.push("/dev/null".as_ref());
    }
    names.push(&partial_folder);
    for name in names {
        for result in [Builder::create(name, ns(0), settings()), Builder::resume(name, settings())]
        {
            match result {
                Err(HistoryError::NotAFile { .. }) => {}
                Err(error) => panic!("{name:?}: {error}"),
                Ok(_) => panic!("{name:?} is no file"),
            }
        }
    }
    let inside: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|of| of.unwrap().path()).collect();
    assert_eq!(inside.len(), 2, "{inside:?}");
    assert!(matches!(History::open(&folder), Err(HistoryError::Io { .. })));
    assert!(matches!(History::recover(&folder), Err(HistoryError::Io { .. })));
    let nowhere = dir.path().join("no/such/h");
    assert!(matches!(Builder::create(nowhere, ns(0), settings()), Err(HistoryError::Io { .. })));
}

#[test]
fn a_name_without_a_folder_is_one_in_the_working_directory() {
    let dir = tempfile::tempdir().unwrap();
    assert!(finish(start("no_parent", &dir.path().join("h"))).success());
    check(&History::open(dir.path().join("h")).unwrap());
    assert!(!dir.path().join("h.partial").exists());
}

/// A limit on the size of files stands for a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_and_the_history_can_be_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    let status = Command::new("sh")
        .arg("-c")
        // The limit is in blocks of 512 or 1024 bytes. Without the trap, a signal would
        // precede the error.
        .arg("trap '' XFSZ; ulimit -f 100; exec \"$0\" --exact history_writers::child --nocapture")
        .arg(std::env::current_exe().unwrap())
        .env(ROLE, "full")
        .env(FILE, &path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
    assert!(!path.exists());
    let mut builder = Builder::resume(&path, settings()).unwrap();
    let earliest = builder.earliest().as_ns();
    assert!(earliest > 0);
    change(&mut builder, earliest..earliest + 1000).unwrap();
    check(&builder.close(ns(earliest + 1000)).unwrap());
}

/// Readers keep a history that they opened, whatever replaces it.
#[test]
fn readers_keep_the_history_that_they_opened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    build(&path, 3000);
    let readers: Vec<_> = (0..2).map(|_| History::open(&path).unwrap()).collect();
    let threads: Vec<_> = readers
        .into_iter()
        .map(|history| {
            std::thread::spawn(move || {
                for _ in 0..3 {
                    assert_eq!(history.end(), ns(3000));
                    check(&history);
                }
            })
        })
        .collect();
    for end in [2000, 4000, 1000] {
        check(&build(&path, end));
        assert_eq!(History::open(&path).unwrap().end(), ns(end));
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// A history recovered from a file that is still being built does not change.
#[test]
fn a_recovered_history_outlives_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h");
    let mut child = start("builder", &path);
    await_ready(&path);
    let recovered = History::recover(&path).unwrap();
    check(&recovered);
    child.kill().unwrap();
    child.wait().unwrap();
    let again = History::recover(&path).unwrap();
    build(&path, 100);
    check(&recovered);
    check(&again);
    let torn = dir.path().join("torn");
    drop({
        let mut builder = Builder::create(&torn, ns(0), settings()).unwrap();
        change(&mut builder, 0..10_000).unwrap();
        builder
    });
    let recovered = History::recover(&torn).unwrap();
    File::options().write(true).open(partial(&torn)).unwrap().set_len(0).unwrap();
    check(&recovered);
}

/// The earliest and latest times lead to answers or errors, in memory and in a file.
#[test]
fn the_earliest_and_latest_possible_times() {
    let dir = tempfile::tempdir().unwrap();
    let (min, max) = (Timestamp::MIN, Timestamp::MAX);
    for file in [false, true] {
        let mut builder = match file {
            true => Builder::create(dir.path().join("h"), min, settings()).unwrap(),
            false => Builder::in_memory(min),
        };
        let quark = builder.add("a").unwrap();
        builder.set(quark, min, 1).unwrap();
        builder.flush().unwrap();
        builder.set(quark, ns(0), 2).unwrap();
        builder.set_resume_note(ns(0), b"note").unwrap();
        builder.set(quark, max, 3).unwrap();
        let history = builder.close(max).unwrap();
        let all: Vec<_> = history.intervals(quark, min..max).unwrap().map(Result::unwrap).collect();
        let spans: Vec<_> = all.iter().map(|i| (i.start, i.end, i.value)).collect();
        assert_eq!(spans, [(min, ns(0), 1.into()), (ns(0), max, 2.into()), (max, max, 3.into())]);
        let back: Vec<_> =
            history.intervals(quark, min..max).unwrap().rev().map(Result::unwrap).collect();
        assert!(back.iter().rev().eq(&all));
        let before_max = max.saturating_sub(1);
        for (t, expected) in [(min, 1), (ns(-1), 1), (ns(0), 2), (before_max, 2), (max, 3)] {
            assert_eq!(history.at(quark, t).unwrap().value, expected.into());
            assert_eq!(history.state_at(t).unwrap()[quark.index()].value, expected.into());
        }
        let shares = history.durations(quark, min..max).unwrap();
        assert_eq!(
            shares.iter().map(|share| share.time).collect::<Vec<_>>(),
            [1 << 63, (1 << 63) - 1, 1]
        );
        for each in [1, u64::MAX] {
            let mut found = 0;
            if each == 1 {
                // Every ns of all times; stopped after a few.
                _ = history.for_each_in(&[quark], min..max, each, |_| {
                    found += 1;
                    match found < 3 {
                        true => std::ops::ControlFlow::Continue(()),
                        false => std::ops::ControlFlow::Break(()),
                    }
                });
            } else {
                _ = history.for_each_in(&[quark], min..max, each, |_| {
                    found += 1;
                    std::ops::ControlFlow::Continue(())
                });
            }
            assert!(found > 0);
        }
    }
    let history = build(&dir.path().join("h"), 100);
    let quark = Quark::from_index(1);
    for t in [min, ns(-1), ns(100), max] {
        assert!(matches!(history.at(quark, t), Err(HistoryError::OutOfRange { .. })), "{t}");
        assert!(matches!(history.state_at(t), Err(HistoryError::OutOfRange { .. })), "{t}");
    }
    let empty = max..min;
    _ = history.durations(quark, empty.clone());
    assert!(history.intervals(quark, empty).map_or(0, |found| found.count()) <= 1);
}
