//! Damage with more errors than the libraries keep.

use super::{COMMANDS, reading, run, text, traces};

#[test]
fn errors_beyond_the_limit_are_counted_in_the_last_line() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    traces::damaged_packets(&trace, 5000);
    let mut ran = 0;
    for args in COMMANDS {
        let output = run(&reading(args, &trace));
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {:?}", stderr.lines().next());
        let errors = stderr.lines().filter(|line| line.contains("error: ")).count();
        assert_eq!(errors, 4096 + 1, "{args:?}");
        let last = stderr.lines().last().unwrap();
        assert_eq!(last, "lttv: error: … and 904 more errors");
        ran += 1;
    }
    assert!(ran >= 7);
    let count = run(&["dump".as_ref(), "--count".as_ref(), trace.as_os_str()]);
    assert_eq!(text(&count.stdout), "2\n");
    let stderr = text(&count.stderr);
    assert!(stderr.ends_with("lttv: error: … and 904 more errors\n"));
    // Notices that the cursor did not keep are counted, too.
    assert!(stderr.contains("lttv: warning: … and 3976 more warnings\n"), "{}", stderr.len());
}

#[test]
fn every_program_that_meets_damage_ends_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    traces::damaged_packets(&trace, 3);
    for args in COMMANDS {
        let output = run(&reading(args, &trace));
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {stderr}");
        assert!(stderr.contains("lttv: error: "), "{args:?}: {stderr}");
        assert!(!stderr.contains("more error"), "{args:?}: {stderr}");
    }
}
