//! Recordings by the files of tracefs.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use ltt_read::{Merge, open_all};
use lttv_record::{RecordError, Request, Step, Tracer, record};

use crate::support::machine::{CPUS, EVENTS, Form, Imitated, PAGES, wish, wishes};

/// The number of events of all CPUs.
const ALL: u64 = (CPUS - 1) * PAGES * EVENTS;

fn request(imitated: &Imitated) -> Request {
    let command = ["sleep", "0.2"].map(Into::into).to_vec();
    let with = Some(Tracer::Ftrace);
    Request { with, command, ..Request::new(imitated.output(), wishes()) }
}

#[test]
fn pages_become_a_file_that_is_read() {
    for form in [Form::Files, Form::Pipes] {
        let folder = tempfile::tempdir().expect("a folder");
        let imitated = Imitated::create(folder.path(), form);
        let before = imitated.state();
        let mut steps = Vec::new();
        let journals = imitated.journals();
        let recorded = record(&imitated.machine(), &journals, &request(&imitated), &mut |step| {
            steps.push(step)
        });
        let recorded = recorded.expect("a recording");
        assert_eq!(steps, [Step::Started(Tracer::Ftrace, imitated.output())]);
        assert_eq!((recorded.status, recorded.signal), (Some(0), None));
        let missing: Vec<&str> = recorded.missing.iter().map(|of| of.events.as_str()).collect();
        assert_eq!(missing, ["kmem_mm_page_alloc"]);
        assert_eq!(imitated.state(), before, "{form:?}");
        let files: Vec<_> = fs::read_dir(imitated.output()).expect("a folder").collect();
        assert_eq!(files.len(), 1, "{files:?}");
        let journals = fs::read_dir(folder.path().join("journals")).expect("a folder").count();
        assert_eq!(journals, 0);

        let traces = open_all(&recorded.path).expect("a trace");
        let [trace] = &traces[..] else { panic!("{traces:?}") };
        assert_eq!(trace.schema().clocks[0].name.as_ref(), "mono");
        let names: Vec<&str> = trace.schema().event_types.iter().map(|of| of.name()).collect();
        assert!(
            names.contains(&"sched:sched_switch") && names.contains(&"irq:softirq_entry"),
            "{names:?}"
        );
        let mut events = Merge::new(&traces);
        let (mut count, mut last) = (0, None);
        while let Some(event) = events.next() {
            assert!(event.timestamp() >= last);
            last = event.timestamp();
            count += 1;
        }
        events.finish().expect("a sound trace");
        assert_eq!(count, ALL);
        agrees_with_trace_cmd(&recorded.path);
    }
}

/// Compares the events with those that `trace-cmd` finds.
fn agrees_with_trace_cmd(path: &Path) {
    let report =
        Command::new("trace-cmd").args(["report", "-t", "-R", "-N", "-i"]).arg(path).output();
    let Ok(report) = report else {
        eprintln!("skipped: there is no trace-cmd to compare with");
        return;
    };
    assert!(report.status.success(), "{report:?}");
    let text = String::from_utf8_lossy(&report.stdout);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(": ")).collect();
    let has = |line: &str, name: &str| line.contains(&format!(" {name}: "));
    let lines: Vec<&&str> = lines
        .iter()
        .filter(|line| has(line, "sched_switch") || has(line, "softirq_entry"))
        .collect();
    let traces = open_all(path).expect("a trace");
    let mut events = Merge::new(&traces);
    let mut found = Vec::new();
    while let Some(event) = events.next() {
        let ns = event.timestamp().expect("a time").as_ns();
        let name = event.event_type().name().split(':').nth(1).expect("a name").to_owned();
        found.push((format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000), name));
    }
    assert_eq!(found.len(), lines.len(), "{text}");
    for ((time, name), line) in found.iter().zip(lines) {
        assert!(line.contains(&format!("{time}: ")) && has(line, name), "{time} {name}: {line}");
    }
}

#[test]
fn losses_are_in_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let imitated = Imitated::create(folder.path(), Form::Files);
    let journals = imitated.journals();
    let recorded = record(&imitated.machine(), &journals, &request(&imitated), &mut |_| {});
    let traces = open_all(recorded.expect("a recording").path).expect("a trace");
    let mut events = Merge::new(&traces);
    while events.next().is_some() {}
    let notices = format!("{:?}", events.take_notices());
    assert!(notices.contains("17"), "{notices}");
}

#[test]
fn a_recording_ends_after_its_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let imitated = Imitated::create(folder.path(), Form::Pipes);
    let time = Some(Duration::from_millis(150));
    let request = Request { time, command: Vec::new(), ..request(&imitated) };
    let recorded = record(&imitated.machine(), &imitated.journals(), &request, &mut |_| {});
    let recorded = recorded.expect("a recording");
    assert_eq!((recorded.status, recorded.signal), (None, None));
    assert!(recorded.path.exists());
    // A command that runs longer is waited for.
    let output = folder.path().join("other");
    let command = ["sh", "-c", "sleep 0.4; exit 7"].map(Into::into).to_vec();
    let request = Request { output, command, ..request };
    let mut steps = Vec::new();
    let journals = imitated.journals();
    let recorded = record(&imitated.machine(), &journals, &request, &mut |step| steps.push(step));
    assert_eq!(recorded.expect("a recording").status, Some(7));
    assert_eq!(steps.last(), Some(&Step::CommandStillRuns));
}

#[test]
fn failures_leave_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let imitated = Imitated::create(folder.path(), Form::Files);
    let before = imitated.state();
    let failure = |request: &Request| {
        let failed = record(&imitated.machine(), &imitated.journals(), request, &mut |_| {});
        let failed = failed.expect_err("a failure");
        assert_eq!(imitated.state(), before);
        assert!(!imitated.output().exists());
        failed
    };
    let command = vec!["no-such-program".into()];
    let failed = failure(&Request { command, ..request(&imitated) });
    assert!(matches!(failed, RecordError::Command { .. }), "{failed}");

    let required =
        lttv_record::Wish { is_required: true, ..wish("block_rq_issue", "block:block_rq_issue") };
    let failed = failure(&Request { wishes: vec![required], ..request(&imitated) });
    let text = "ftrace has no event block_rq_issue, without which less is known";
    assert_eq!(failed.to_string(), text);

    let failed = failure(&Request { calls: true, ..request(&imitated) });
    assert!(matches!(failed, RecordError::Unusable(_)), "{failed}");

    let damaged = imitated.tracing().join("events/header_page");
    let text = fs::read(&damaged).expect("a file");
    fs::write(&damaged, "nothing").expect("a file");
    let failed =
        record(&imitated.machine(), &imitated.journals(), &request(&imitated), &mut |_| {});
    assert!(matches!(failed, Err(RecordError::Content { .. })), "{failed:?}");
    fs::write(&damaged, text).expect("a file");
    assert_eq!(imitated.state(), before);

    // A folder that is in use is not touched.
    fs::create_dir_all(imitated.output()).expect("a folder");
    fs::write(imitated.output().join("notes"), "mine").expect("a file");
    let failed =
        record(&imitated.machine(), &imitated.journals(), &request(&imitated), &mut |_| {});
    assert!(matches!(failed, Err(RecordError::OutputInUse(_))), "{failed:?}");
}
