//! Recorders that are killed at any time, and what is left of them.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use lttv_record::{Tracer, clean};

use crate::support::machine::{Form, Imitated};
use crate::support::recorder;

/// The number of recorders to kill.
const KILLS: u32 = 50;

/// The time in which a tracer ends by itself.
const PATIENCE: Duration = Duration::from_secs(10);

fn imitated(root: &Path) -> Imitated {
    let imitated = Imitated::create(root, Form::Pipes);
    std::fs::remove_dir_all(root.join("proc")).expect("a folder");
    std::os::unix::fs::symlink("/proc", root.join("proc")).expect("a link");
    imitated.add_programs();
    imitated
}

/// After a kill and `clean`, tracefs, the sessions of LTTng and the processes of perf are as before.
#[test]
fn killed_recorders_leave_nothing_that_clean_does_not_undo() {
    let folder = tempfile::tempdir().expect("a folder");
    let imitated = imitated(folder.path());
    let before = imitated.state();
    let tracers = Tracer::ALL;
    // The time of a whole recording: kills hit all of its parts.
    let mut lengths = Vec::new();
    for tracer in tracers {
        let begin = Instant::now();
        let mut child = recorder::start(folder.path(), tracer, "sleep 0.02");
        assert!(child.wait().expect("a process").success(), "{tracer}");
        lengths.push(begin.elapsed());
        assert_eq!(imitated.state(), before, "{tracer}");
        std::fs::remove_dir_all(folder.path().join("recordings")).expect("a folder");
    }
    let mut was_undone = 0;
    for number in 0..KILLS {
        let at = number as usize % tracers.len();
        let mut child = recorder::start(folder.path(), tracers[at], "sleep 0.02");
        // Fractions of the golden ratio lie evenly between 0 and 1.
        let fraction = (f64::from(number) * 0.618_033_988_75).fract();
        sleep(lengths[at].mul_f64(fraction));
        child.kill().expect("a process");
        child.wait().expect("a process");
        let begin = Instant::now();
        loop {
            let cleaned = clean(&imitated.machine(), &imitated.journals()).expect("all is undone");
            was_undone += usize::from(!cleaned.undone.is_empty());
            if cleaned.running == 0 && imitated.state() == before {
                break;
            }
            // A tracer that was just started ends by itself, and a program of one is waited for.
            assert!(begin.elapsed() < PATIENCE, "{}: {:?}", tracers[at], imitated.state().keys());
            sleep(Duration::from_millis(20));
        }
        let journals = std::fs::read_dir(folder.path().join("journals")).into_iter().flatten();
        assert_eq!(journals.count(), 0);
        // What a recording already contains is kept; nothing hides beside it.
        let output = imitated.output();
        for entry in std::fs::read_dir(&output).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            assert!(["trace.dat", "perf.data", "kernel"].contains(&name.as_str()), "{name}");
        }
        _ = std::fs::remove_dir_all(folder.path().join("recordings"));
    }
    assert!(was_undone >= KILLS as usize / 4, "most recorders had changed nothing: {was_undone}");
}
