//! Recordings by the programs of tracers.

use lttv_record::{RecordError, Request, Tracer, record};

use crate::support::machine::{Form, Imitated, wish, wishes};

fn imitated(folder: &tempfile::TempDir) -> Imitated {
    let imitated = Imitated::create(folder.path(), Form::Files);
    // The processes of tracers are real ones.
    std::fs::remove_dir_all(folder.path().join("proc")).expect("a folder");
    std::os::unix::fs::symlink("/proc", folder.path().join("proc")).expect("a link");
    imitated.add_programs();
    imitated
}

fn request(imitated: &Imitated, with: Tracer) -> Request {
    let mut wishes = wishes();
    wishes.push(wish("syscall_entry_*", "raw_syscalls:sys_enter"));
    let command = ["sh", "-c", "exit 3"].map(Into::into).to_vec();
    Request { with: Some(with), command, ..Request::new(imitated.output(), wishes) }
}

#[test]
fn perf_and_trace_cmd_record_until_the_command_ends() {
    for tracer in [Tracer::Perf, Tracer::TraceCmd] {
        let folder = tempfile::tempdir().expect("a folder");
        let imitated = imitated(&folder);
        let before = imitated.state();
        let request = request(&imitated, tracer);
        let recorded = record(&imitated.machine(), &imitated.journals(), &request, &mut |_| {});
        let recorded = recorded.expect("a recording");
        assert_eq!(recorded.status, Some(3), "{tracer}");
        assert_eq!(imitated.state(), before);
        assert_eq!(ltt_read::open_all(&recorded.path).expect("a trace").len(), 1);
        let missing: Vec<&str> = recorded.missing.iter().map(|of| of.events.as_str()).collect();
        assert_eq!(missing, ["kmem_mm_page_alloc", "syscall_entry_*"]);
        let log = imitated.log(tracer.name());
        let [line] = &log[..] else { panic!("{log:?}") };
        let events = " -e irq:softirq_entry -e sched:sched_switch sh -c ";
        assert!(line.starts_with("record ") && line.contains(events), "{line}");
        let own = match tracer {
            Tracer::Perf => " -a -k CLOCK_MONOTONIC -m 8192K -o perf.data",
            _ => " -o trace.dat -B lttv-",
        };
        assert!(line.contains(own), "{line}");
    }
}

/// Tracers that have started leave nothing if the command does not exist.
#[test]
fn commands_that_cannot_run_leave_no_recording() {
    for tracer in Tracer::ALL {
        let folder = tempfile::tempdir().expect("a folder");
        let imitated = imitated(&folder);
        let before = imitated.state();
        let command = vec!["no-such-program".into()];
        let request = Request { command, ..request(&imitated, tracer) };
        let failed = record(&imitated.machine(), &imitated.journals(), &request, &mut |_| {});
        assert!(matches!(failed, Err(RecordError::Command { .. })), "{tracer}: {failed:?}");
        assert_eq!(imitated.state(), before, "{tracer}");
        assert!(!imitated.output().exists(), "{tracer}");
    }
}

#[test]
fn lttng_records_in_a_session_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let imitated = imitated(&folder);
    let before = imitated.state();
    let request = request(&imitated, Tracer::Lttng);
    let recorded = record(&imitated.machine(), &imitated.journals(), &request, &mut |_| {});
    let recorded = recorded.expect("a recording");
    assert_eq!(recorded.status, Some(3));
    assert_eq!(imitated.state(), before);
    assert_eq!(ltt_read::open_all(&recorded.path).expect("a trace").len(), 1);
    let log = imitated.log("lttng").join("\n");
    for part in [
        "--kernel --session=lttv-record-",
        "--channel=lttv irq_softirq_entry,sched_switch\n",
        "--channel=lttv --syscall --all\n",
        "--channel=lttv --type=tid --type=pid --type=procname\n",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
    let order: Vec<usize> = ["create", "start", "stop", "destroy"]
        .iter()
        .filter_map(|word| log.find(&format!("d {word} ")))
        .collect();
    assert!(order.len() == 4 && order.is_sorted(), "{log}");
}

#[test]
fn functions_are_recorded_by_lttng_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let imitated = imitated(&folder);
    let request = Request {
        calls: true,
        wishes: Vec::new(),
        with: None,
        ..request(&imitated, Tracer::Lttng)
    };
    let recorded = record(&imitated.machine(), &imitated.journals(), &request, &mut |_| {});
    assert_eq!(recorded.expect("a recording").tracer, Tracer::Lttng);
    let log = imitated.log("lttng").join("\n");
    assert!(log.contains("--userspace") && log.contains("lttng_ust_cyg_profile*"), "{log}");
    assert!(!log.contains("--syscall"), "{log}");
}

#[test]
fn stacks_are_sampled_by_perf_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let imitated = imitated(&folder);
    let request = Request { stacks: true, with: None, ..request(&imitated, Tracer::Perf) };
    let recorded = record(&imitated.machine(), &imitated.journals(), &request, &mut |_| {});
    assert_eq!(recorded.expect("a recording").tracer, Tracer::Perf);
    assert!(
        imitated.log("perf")[0].contains(" -g -F 99 -e cpu-clock "),
        "{:?}",
        imitated.log("perf")
    );
}

/// The best tracer that can be used is chosen.
#[test]
fn tracers_are_tried_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let imitated = imitated(&folder);
    let chosen = |number: u32| {
        let output = folder.path().join(format!("recording-{number}"));
        let request = Request { with: None, output, ..request(&imitated, Tracer::Perf) };
        let recorded = record(&imitated.machine(), &imitated.journals(), &request, &mut |_| {});
        recorded.expect("a recording").tracer
    };
    assert_eq!(chosen(1), Tracer::Lttng);
    imitated.add_program("lttng", "echo 'Error: Unable to list kernel events' >&2; exit 1");
    assert_eq!(chosen(2), Tracer::Ftrace);
}

#[test]
fn failures_of_programs_are_told_in_their_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let imitated = imitated(&folder);
    let before = imitated.state();
    let failure = |tracer| {
        let request = request(&imitated, tracer);
        let failed = record(&imitated.machine(), &imitated.journals(), &request, &mut |_| {});
        assert_eq!(imitated.state(), before);
        assert!(!imitated.output().exists());
        failed.expect_err("a failure").to_string()
    };
    imitated.add_program("perf", "echo 'Permission denied: events' >&2; exit 129");
    assert_eq!(failure(Tracer::Perf), "perf record failed: Permission denied: events");
    // One that ends while the command runs.
    imitated.add_program(
        "trace-cmd",
        "echo 'lttv record: ready'; sleep 0.1; echo 'no space' >&2; exit 1",
    );
    assert_eq!(failure(Tracer::TraceCmd), "trace-cmd record failed: no space");
    // One that fails after the session was created.
    let script = "case \"$2\" in
list) echo '      sched_switch (loglevel: X) (type: tracepoint)'; exit ;;
create) mkdir \"$root/state/sessions/$3\" ;;
destroy) rmdir \"$root/state/sessions/$3\" ;;
*) echo 'Error: Permission denied' >&2; exit 1 ;;
esac";
    imitated.add_program("lttng", script);
    let failed = failure(Tracer::Lttng);
    assert!(failed.starts_with("lttng --no-sessiond enable-channel "), "{failed}");
    assert!(failed.ends_with(" failed: Error: Permission denied"), "{failed}");
    std::fs::remove_file(folder.path().join("bin/perf")).expect("a script");
    let machine = lttv_record::Machine { search: "".into(), ..imitated.machine() };
    let request = request(&imitated, Tracer::Perf);
    let failed = record(&machine, &imitated.journals(), &request, &mut |_| {});
    assert!(matches!(failed, Err(RecordError::Unusable(_))), "{failed:?}");
}
