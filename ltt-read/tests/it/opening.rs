//! Opening of traces: discovery, duplicates and failures.

#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::support::recording::{expected, read, write_file};
use ltt_read::{
    Error, Notice, NoticeKind, OnFailure, OpenOptions, Opened, TracefileNumber, find_traces,
    open_all,
};

fn options() -> OpenOptions {
    OpenOptions::new().on_failure(OnFailure::Continue)
}

/// Opens everything that can be opened.
fn open(paths: &[&Path]) -> Opened {
    options().open_all_of(paths).unwrap()
}

/// Returns the paths of duplicates, each with the path that is read.
fn duplicates(notices: &[Notice]) -> Vec<(PathBuf, PathBuf)> {
    let duplicate = |notice: &Notice| match &notice.kind {
        NoticeKind::Duplicate { first } => (notice.file.to_path_buf(), first.to_path_buf()),
        kind => panic!("{kind:?}"),
    };
    notices.iter().map(duplicate).collect()
}

/// Writes a trace of two CPUs with three packets each.
fn trace(dir: &Path) -> PathBuf {
    write_file(dir, "c_0", 0, 0..3, false);
    write_file(dir, "c_1", 1, 0..3, false);
    dir.to_owned()
}

fn all() -> Vec<u64> {
    expected((0..2).flat_map(|cpu| (0..3).map(move |packet| (cpu, packet))))
}

#[test]
fn a_path_given_twice_is_read_once() {
    let dir = tempfile::tempdir().unwrap();
    let trace = trace(&dir.path().join("kernel"));
    for paths in [[&*trace, &*trace], [dir.path(), &*trace], [&*trace, dir.path()]] {
        let opened = open(&paths);
        assert!(opened.failures.is_empty(), "{:?}", opened.failures);
        assert_eq!(read(&opened.traces), (all(), vec![]), "{paths:?}");
        let [(again, first)] = &duplicates(&opened.notices)[..] else {
            panic!("{:?}", opened.notices);
        };
        assert_eq!((again, first), (&trace, &trace));
    }
}

#[cfg(unix)]
#[test]
fn a_link_beside_its_trace_is_a_duplicate() {
    let dir = tempfile::tempdir().unwrap();
    let trace = trace(&dir.path().join("session-1"));
    let (before, after) = (dir.path().join("latest"), dir.path().join("zlatest"));
    symlink("session-1", &before).unwrap();
    symlink(&trace, &after).unwrap();
    let opened = open(&[dir.path()]);
    assert_eq!(read(&opened.traces), (all(), vec![]));
    assert_eq!(opened.traces[0].paths(), std::slice::from_ref(&trace));
    let first = trace.clone();
    assert_eq!(duplicates(&opened.notices), [(before.clone(), first.clone()), (after, first)]);
    assert_eq!(read(&open_all(dir.path()).unwrap()).0, all());
    assert_eq!(find_traces(dir.path()).unwrap(), std::slice::from_ref(&trace));
    // The link alone is opened, too.
    assert_eq!(read(&open(&[&before]).traces), (all(), vec![]));
    assert!(open(&[&before]).notices.is_empty());
}

#[cfg(unix)]
#[test]
fn cycles_of_links_are_followed_once() {
    let dir = tempfile::tempdir().unwrap();
    let trace = trace(&dir.path().join("t"));
    for name in ["a", "b", "t/c", "t/d"] {
        symlink(dir.path(), dir.path().join(name)).unwrap();
    }
    symlink("..", trace.join("up")).unwrap();
    let opened = open(&[dir.path()]);
    assert_eq!(read(&opened.traces), (all(), vec![]));
    assert!(opened.failures.is_empty(), "{:?}", opened.failures);
    assert_eq!(duplicates(&opened.notices).len(), 5);
}

#[cfg(unix)]
#[test]
fn cycles_of_links_in_a_legacy_trace_are_followed_once() {
    use ltt_read::legacy::LegacyWriter;
    use ltt_read::writer::FieldValue;

    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("legacy");
    let mut writer = LegacyWriter::new();
    let tick = writer.marker("kernel", "tick", "n %u").unwrap();
    writer.event(0, tick, 5, &[FieldValue::from(1)]).unwrap();
    writer.write_to(&trace).unwrap();
    let count = |opened: &Opened| ltt_read::Merge::new(&opened.traces).drive(99, &mut Every);
    let events = count(&open(&[dir.path()]));
    symlink(".", trace.join("a")).unwrap();
    symlink(".", trace.join("b")).unwrap();
    let opened = open(&[dir.path(), &trace]);
    assert_eq!(count(&opened), events);
    assert!(opened.failures.is_empty(), "{:?}", opened.failures);
    assert_eq!(duplicates(&opened.notices).len(), 3);
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_of_a_legacy_trace_is_a_failure_and_the_others_are_read() {
    use ltt_read::legacy::LegacyWriter;
    use ltt_read::writer::FieldValue;

    let dir = tempfile::tempdir().unwrap();
    let mut writer = LegacyWriter::new();
    let tick = writer.marker("kernel", "tick", "n %u").unwrap();
    for cpu in 0..2 {
        writer.event(cpu, tick, 5, &[FieldValue::from(1)]).unwrap();
    }
    writer.write_to(dir.path()).unwrap();
    let count = |opened: &Opened| ltt_read::Merge::new(&opened.traces).drive(99, &mut Every);
    let events = count(&open(&[dir.path()]));
    let bad = dir.path().join("kernel_1");
    std::fs::remove_file(&bad).unwrap();
    unreadable(&bad);
    let opened = open(&[dir.path()]);
    assert_eq!(count(&opened), events - 1);
    let [Error::Io { path, .. }] = &opened.failures[..] else { panic!("{:?}", opened.failures) };
    assert_eq!(path, &bad);
    assert!(matches!(open_all(dir.path()), Err(Error::Io { .. })));
}

struct Every;

impl ltt_read::tuning::EventSink for Every {
    fn accepts(&mut self, _: TracefileNumber, _: &ltt_read::Event<'_>) -> bool {
        false
    }

    fn receive(
        &mut self,
        _: &ltt_read::Merge,
        _: TracefileNumber,
        _: &ltt_read::Event<'_>,
    ) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Continue(())
    }
}

#[cfg(unix)]
#[test]
fn a_stream_file_with_two_names_is_read_once() {
    let dir = tempfile::tempdir().unwrap();
    let trace = trace(&dir.path().join("t"));
    symlink("c_0", trace.join("d_0")).unwrap();
    std::fs::hard_link(trace.join("c_1"), trace.join("d_1")).unwrap();
    let opened = open(&[dir.path()]);
    assert_eq!(read(&opened.traces), (all(), vec![]));
    let expected = [("d_0", "c_0"), ("d_1", "c_1")].map(|(a, b)| (trace.join(a), trace.join(b)));
    assert_eq!(duplicates(&opened.notices), expected);
}

#[test]
fn other_traces_are_read_in_spite_of_an_invalid_one() {
    let dir = tempfile::tempdir().unwrap();
    trace(&dir.path().join("a"));
    trace(&dir.path().join("b"));
    std::fs::write(dir.path().join("b/metadata"), "garbage!").unwrap();
    let opened = open(&[dir.path()]);
    assert_eq!(read(&opened.traces), (all(), vec![]));
    let [Error::Metadata { path, .. }] = &opened.failures[..] else {
        panic!("{:?}", opened.failures);
    };
    assert_eq!(path, &dir.path().join("b/metadata"));
    // Functions that return only traces return all or none.
    assert!(matches!(open_all(dir.path()), Err(Error::Metadata { .. })));
    assert!(matches!(options().open_all(dir.path()), Err(Error::Metadata { .. })));
    let strict = OpenOptions::new().open_all_of([dir.path()]);
    assert!(matches!(strict, Err(Error::Metadata { .. })), "it stops unless told otherwise");
}

#[test]
fn other_traces_are_read_in_spite_of_a_path_without_a_trace() {
    let dir = tempfile::tempdir().unwrap();
    let trace = trace(&dir.path().join("a"));
    let (empty, missing) = (dir.path().join("empty"), dir.path().join("missing"));
    std::fs::create_dir(&empty).unwrap();
    let file = trace.join("c_0");
    let opened = open(&[&empty, &missing, &file, &trace]);
    assert_eq!(read(&opened.traces), (all(), vec![]));
    let [Error::NotATrace { .. }, Error::Io { path, .. }, Error::NotATrace { .. }] =
        &opened.failures[..]
    else {
        panic!("{:?}", opened.failures);
    };
    assert_eq!(path, &missing);
}

/// Creates a link that no user can follow.
#[cfg(unix)]
fn unreadable(path: &Path) {
    symlink(path.file_name().unwrap(), path).unwrap();
}

#[cfg(unix)]
#[test]
fn an_unreadable_directory_is_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    trace(&dir.path().join("a"));
    let bad = dir.path().join("b");
    unreadable(&bad);
    let opened = open(&[dir.path()]);
    assert_eq!(read(&opened.traces), (all(), vec![]));
    let [Error::Io { path, .. }] = &opened.failures[..] else { panic!("{:?}", opened.failures) };
    assert_eq!(path, &bad);
    assert!(matches!(open_all(dir.path()), Err(Error::Io { .. })));
    assert!(matches!(find_traces(dir.path()), Err(Error::Io { .. })));
}

#[cfg(unix)]
#[test]
fn an_unreadable_stream_file_is_a_failure_and_the_others_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let trace = trace(&dir.path().join("a"));
    unreadable(&trace.join("c_2"));
    symlink("gone", trace.join("c_3")).unwrap();
    let opened = open(&[dir.path()]);
    assert_eq!(read(&opened.traces), (all(), vec![]));
    let path = |failure: &Error| match failure {
        Error::Io { path, .. } => path.clone(),
        failure => panic!("{failure}"),
    };
    let paths: Vec<_> = opened.failures.iter().map(path).collect();
    assert_eq!(paths, [trace.join("c_2"), trace.join("c_3")]);
    assert!(matches!(ltt_read::Trace::open(&trace), Err(Error::Io { .. })));
}

/// Directories without permission, read as another user if the current one may read all.
#[cfg(unix)]
#[test]
fn a_directory_without_permission_is_a_failure() {
    use std::os::unix::fs::PermissionsExt;

    let dir = tempfile::tempdir().unwrap();
    trace(&dir.path().join("a"));
    let bad = trace(&dir.path().join("b"));
    std::fs::set_permissions(&bad, std::fs::Permissions::from_mode(0o000)).unwrap();
    let may_read = std::fs::read_dir(&bad).is_ok();
    if may_read {
        eprintln!("skipped: this user may read every directory");
        return;
    }
    let opened = open(&[dir.path()]);
    std::fs::set_permissions(&bad, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(read(&opened.traces), (all(), vec![]));
    let [Error::Io { path, error }] = &opened.failures[..] else {
        panic!("{:?}", opened.failures);
    };
    assert_eq!((path, error.kind()), (&bad, std::io::ErrorKind::PermissionDenied));
}

#[test]
fn directories_that_are_too_deep_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    trace(&dir.path().join("a"));
    let deepest: PathBuf = (1..=16).map(|_| "d").collect();
    trace(&dir.path().join(&deepest));
    assert_eq!(open(&[dir.path()]).failures.len(), 0);
    let deeper = dir.path().join(&deepest).join("e");
    trace(&deeper);
    let opened = open(&[dir.path()]);
    let [Error::TooDeep { path }] = &opened.failures[..] else { panic!("{:?}", opened.failures) };
    assert_eq!(path, &deeper);
    assert!(matches!(open_all(dir.path()), Err(Error::TooDeep { .. })));
}

#[cfg(unix)]
#[test]
fn a_broken_link_is_noted() {
    let dir = tempfile::tempdir().unwrap();
    trace(&dir.path().join("a"));
    symlink("gone", dir.path().join("latest")).unwrap();
    let opened = open(&[dir.path()]);
    assert_eq!(read(&opened.traces), (all(), vec![]));
    assert!(opened.failures.is_empty());
    assert_eq!(opened.notices.len(), 1);
    assert_eq!(opened.notices[0].kind, NoticeKind::BrokenLink);
    let text = opened.notices[0].to_string();
    assert!(text.ends_with("latest: the target of this link does not exist"), "{text}");
    assert!(open_all(dir.path()).is_ok());
}
