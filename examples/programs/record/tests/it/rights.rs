//! The reasons for which tracers cannot be used.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use lttv_record::{Machine, RecordError, Request, Tracer, record};

use crate::support::machine::{Form, Imitated, wishes};

/// Each tracer that cannot be used is named, with the way to get what is missing.
#[test]
fn missing_tracers_are_told_with_remedies() {
    let folder = tempfile::tempdir().expect("a folder");
    let imitated = Imitated::create(folder.path(), Form::Files);
    let nowhere = folder.path().join("nowhere");
    let machine = Machine { tracefs: nowhere.clone(), search: "".into(), ..imitated.machine() };
    let request = Request::new(imitated.output(), wishes());
    let failed =
        record(&machine, &imitated.journals(), &request, &mut |_| {}).expect_err("no tracer");
    let RecordError::NoTracer(all) = &failed else { panic!("{failed:?}") };
    assert_eq!(all.len(), 3);
    let text = failed.to_string();
    assert!(text.contains("ftrace: tracefs is not mounted at "), "{text}");
    assert!(
        text.contains(&format!("`sudo mount -t tracefs tracefs {}`", nowhere.display())),
        "{text}"
    );
    assert!(text.contains("perf: there is no program `perf`"), "{text}");
    assert!(text.contains("lttng: there is no program `lttng`"), "{text}");
    // Nothing was changed, mounted or permitted.
    assert!(!nowhere.exists() && !imitated.output().exists());
}

#[test]
fn perf_needs_a_level_or_root() {
    let folder = tempfile::tempdir().expect("a folder");
    let imitated = Imitated::create(folder.path(), Form::Files);
    imitated.add_programs();
    let machine = imitated.machine();
    assert_eq!(machine.unusable(Tracer::Perf), None);
    let level = folder.path().join("proc/sys/kernel/perf_event_paranoid");
    fs::write(&level, "2\n").expect("a file");
    let is_root = rustix::process::geteuid().is_root();
    let unusable = machine.unusable(Tracer::Perf);
    assert_eq!(unusable.is_none(), is_root);
    if let Some(unusable) = unusable {
        assert!(unusable.to_string().contains("kernel.perf_event_paranoid=-1"), "{unusable}");
    }
    assert_eq!(fs::read_to_string(&level).expect("a file"), "2\n");
    fs::remove_file(&level).expect("a file");
    let unusable = machine.unusable(Tracer::Perf).expect("perf cannot record");
    assert!(unusable.reason.ends_with("perf_event_paranoid does not exist"), "{unusable}");
}

#[test]
fn tracefs_must_be_writable() {
    if rustix::process::geteuid().is_root() {
        eprintln!("skipped: root may write everything");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let imitated = Imitated::create(folder.path(), Form::Files);
    let instances = imitated.tracing().join("instances");
    fs::set_permissions(&instances, fs::Permissions::from_mode(0o555)).expect("a folder");
    let unusable = imitated.machine().unusable(Tracer::Ftrace).expect("no rights");
    assert!(unusable.to_string().contains("sudo lttv record"), "{unusable}");
}
