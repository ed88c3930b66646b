//! The ends of recordings by signals.

use std::thread::sleep;
use std::time::{Duration, Instant};

use lttv_record::Tracer;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::machine::{Form, Imitated};
use crate::support::recorder;

/// A signal ends the command and the recording, which is complete.
#[test]
fn signals_finish_the_recording() {
    for (tracer, signal) in [
        (Tracer::Ftrace, Signal::INT),
        (Tracer::Ftrace, Signal::TERM),
        (Tracer::Perf, Signal::TERM),
        (Tracer::Lttng, Signal::INT),
        (Tracer::Lttng, Signal::HUP),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let imitated = Imitated::create(folder.path(), Form::Pipes);
        imitated.add_programs();
        let before = imitated.state();
        let started = folder.path().join("started");
        // The shell of the command ends by the signal, and its status is 128 and the signal's number.
        let command = format!("touch '{}'; exec sleep 20", started.display());
        let mut child = recorder::start(folder.path(), tracer, &command);
        let begin = Instant::now();
        while !started.exists() {
            assert!(begin.elapsed() < Duration::from_secs(20), "{tracer}");
            sleep(Duration::from_millis(5));
        }
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("an id")).expect("an id");
        kill_process(pid, signal).expect("a process");
        let status = child.wait().expect("a process");
        // One more tells the test that a signal ended the recording.
        assert_eq!(status.code(), Some(128 + signal.as_raw() + 1), "{tracer} {signal:?}");
        assert!(begin.elapsed() < Duration::from_secs(15), "{tracer}");
        assert_eq!(imitated.state(), before, "{tracer}");
        assert!(!ltt_read::open_all(imitated.output()).expect("a trace").is_empty(), "{tracer}");
    }
}
