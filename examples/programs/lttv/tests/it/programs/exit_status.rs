//! The exit status for wrong command lines, and for failures to read or write.

use std::fs;
use std::path::Path;

use super::{COMMANDS, KERNEL, run, text};

#[test]
fn wrong_command_lines_end_with_2() {
    let lttv = ["run", "-m", "textDump", "-t", KERNEL];
    let with = |more: &[&'static str]| [&lttv, more].concat();
    let cases: Vec<Vec<&str>> = vec![
        vec!["dump", "-e", "", KERNEL],
        vec!["dump", "-e", "  ", KERNEL],
        vec!["dump", "-e", "next_tid <", KERNEL],
        vec!["dump", "-e", "no_such_field == 1", KERNEL],
        vec!["dump", "--begin", "5", "--end", "1", KERNEL],
        vec!["dump", "--timerange", "5,1", KERNEL],
        vec!["dump", "--count", "--begin", "5", "--end", "1", KERNEL],
        vec!["dump", "--begin", "9999-01-01", KERNEL],
        vec!["dump", "--begin", "2500-01-01 00:00", KERNEL],
        vec!["dump", "--end", "99999999999999999999", KERNEL],
        vec!["dump", "--names", "no-such", KERNEL],
        vec!["run"],
        vec!["no-such-command"],
        vec!["run", "-m", "no-such-module"],
        with(&["-e", ""]),
        with(&["-e", "next_tid <"]),
        with(&["-e", "no_such_field == 1"]),
        with(&["--begin", "5", "--end", "1"]),
        with(&["--begin", "soon"]),
        with(&["--end", "9999-01-01"]),
        with(&["-a", "--json"]),
        with(&["-m", "rates", "--rate-interval=0"]),
        with(&["-m", "precompute", "--begin=1"]),
        with(&["-m", "precompute", "--history=same", "--checkpoints=same"]),
        with(&["-m", "depAnalysis", "--dep-pid=99999999999"]),
        with(&["-m", "depAnalysis", "--dep-time-start=never"]),
        vec!["stats", "--top", "many", KERNEL],
        vec!["stats", "--format", "xml", KERNEL],
        vec!["stats", "--begin", "5", "--end", "6", KERNEL],
        vec!["stats", "--table", "cpus", "-e", "sched_switch", KERNEL],
        vec!["stats", "--table", "cpu", KERNEL],
        vec!["stats", "--tree", "--format", "json", KERNEL],
        vec!["stats", "--format", "csv", KERNEL],
        vec!["wait", KERNEL, "-e", "cpu_id == 1"],
        vec!["wait", KERNEL, "--sort=nothing"],
        vec!["irq", KERNEL, "--begin=+1h"],
        vec!["irq", KERNEL, "--cpu=many"],
        vec!["disk", KERNEL, "-e", "cpu_id == 1"],
        vec!["state", KERNEL],
        vec!["state", KERNEL, "--time", "99999999999999999999"],
        vec!["state", KERNEL, "--time=1", "--checkpoints=file"],
        vec!["state", KERNEL, "--time=1", "--method=guess"],
        vec!["state", KERNEL, "--at=+1h"],
        vec!["state", KERNEL, "--at=+1ms", "--columns=comn"],
        vec!["info", KERNEL, "--table=event_types"],
        vec!["info", KERNEL, "--format=csv"],
        vec!["history"],
        vec!["history", "at", KERNEL, "5"],
        vec!["history", "changes", KERNEL, "no/such/path"],
        vec!["history", "range", KERNEL, "**", "--from=5", "--to=1"],
        vec!["history", "range", KERNEL, "**", "--each=0"],
        vec!["chart"],
        vec!["chart", "flow", KERNEL, "--seconds=0"],
        vec!["chart", "flow", KERNEL, "--seconds=nan"],
        vec!["chart", "flow", KERNEL, "--from=-1"],
        vec!["chart", "flow", KERNEL, "--from=1000"],
        vec!["chart", "flow", KERNEL, "--steps=0"],
        vec!["chart", "flow", KERNEL, "-e", "cpu_id == 1"],
        vec!["chart", "flow", KERNEL, "-o", "/dev/null.png"],
        vec!["chart", "usage", KERNEL, "--begin=+1h"],
        vec!["chart", "usage", KERNEL, "-o", "/dev/null", "--pixels=1"],
        vec!["sync", KERNEL, "--pair=a,b"],
        vec!["sync", KERNEL, "--reference=none"],
        vec!["sync", KERNEL, "--check=f", "--write=g"],
        vec!["dump", KERNEL, "--clock-offset=none=+1s"],
        with(&["--clock-offset=none=+1s"]),
        with(&["--sync", "--clock-transform=f"]),
    ];
    let unknown = COMMANDS.map(|args| [&args[..1], &["--no-such-option"]].concat());
    for args in cases.iter().chain(&unknown) {
        let output = run(args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(!stderr.is_empty(), "{args:?}");
        assert_eq!(text(&output.stdout), "", "{args:?}");
    }
}

#[test]
fn what_cannot_be_read_or_written_ends_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let empty = empty.to_string_lossy();
    let nowhere = "/nowhere/at/all";
    for args in COMMANDS {
        for trace in [&*empty, nowhere] {
            let args: Vec<_> = args.iter().copied().chain([trace]).collect();
            let output = run(&args);
            let stderr = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{args:?}: {stderr}");
            assert!(stderr.starts_with("lttv: error: "), "{stderr}");
            assert!(stderr.contains(trace), "{args:?}: {stderr}");
        }
    }
    let lttv = ["run", "-m", "textDump", "-t", KERNEL];
    for args in [
        vec!["dump", KERNEL, "-o", nowhere],
        [&lttv[..], &["-o", nowhere]].concat(),
        [&lttv[..], &["-f", nowhere]].concat(),
        vec!["chart", "flow", KERNEL, "-o", nowhere],
        vec!["chart", "usage", KERNEL, "-o", nowhere],
        vec!["chart", "usage", nowhere, "-o", "/dev/null"],
        vec!["info", KERNEL, "-o", nowhere],
        vec!["state", KERNEL, "--at=+0", "-o", nowhere],
        vec!["history", "build", KERNEL, nowhere],
    ] {
        let output = run(&args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {stderr}");
        assert!(stderr.contains(nowhere), "{args:?}: {stderr}");
    }
    let output = run(&["dump".as_ref(), Path::new(KERNEL), "-o".as_ref(), "/dev/full".as_ref()]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("/dev/full"), "{output:?}");
}

#[test]
fn help_documents_the_status() {
    let output = run(&["--help"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let help = text(&output.stdout);
    assert!(help.contains("Exit status: 0 if everything was read and written; 1 if"), "{help}");
    assert!(help.contains("2 for a\nwrong") || help.contains("2 for a wrong"), "{help}");
}
