//! The exit status for wrong command lines, and for failures to read or write.

use std::fs;
use std::path::Path;

use super::{KERNEL, PROGRAMS, run, text};

#[test]
fn wrong_command_lines_end_with_2() {
    let lttv = ["run", "-m", "textDump", "-t", KERNEL];
    let with = |more: &[&'static str]| [&lttv, more].concat();
    let cases: Vec<(&str, Vec<&str>)> = vec![
        ("lttv", vec!["dump", "-e", "", KERNEL]),
        ("lttv", vec!["dump", "-e", "  ", KERNEL]),
        ("lttv", vec!["dump", "-e", "next_tid <", KERNEL]),
        ("lttv", vec!["dump", "-e", "no_such_field == 1", KERNEL]),
        ("lttv", vec!["dump", "--begin", "5", "--end", "1", KERNEL]),
        ("lttv", vec!["dump", "--timerange", "5,1", KERNEL]),
        ("lttv", vec!["dump", "--count", "--begin", "5", "--end", "1", KERNEL]),
        ("lttv", vec!["dump", "--begin", "9999-01-01", KERNEL]),
        ("lttv", vec!["dump", "--begin", "2500-01-01 00:00", KERNEL]),
        ("lttv", vec!["dump", "--end", "99999999999999999999", KERNEL]),
        ("lttv", vec!["dump", "--names", "no-such", KERNEL]),
        ("lttv", vec![]),
        ("lttv", vec!["run"]),
        ("lttv", vec!["no-such-command"]),
        ("lttv", vec![KERNEL]),
        ("lttv", vec!["run", "-m", "no-such-module"]),
        ("lttv", with(&["-e", ""])),
        ("lttv", with(&["-e", "next_tid <"])),
        ("lttv", with(&["-e", "no_such_field == 1"])),
        ("lttv", with(&["--begin", "5", "--end", "1"])),
        ("lttv", with(&["--begin", "soon"])),
        ("lttv", with(&["--end", "9999-01-01"])),
        ("lttv", with(&["-a", "--json"])),
        ("lttv", with(&["-m", "rates", "--rate-interval=0"])),
        ("lttv", with(&["-m", "precompute", "--begin=1"])),
        ("lttv", with(&["-m", "precompute", "--history=same", "--checkpoints=same"])),
        ("lttv", with(&["-m", "depAnalysis", "--dep-pid=99999999999"])),
        ("lttv", with(&["-m", "depAnalysis", "--dep-time-start=never"])),
        ("lttv", vec!["stats", "--top", "many", KERNEL]),
        ("lttv", vec!["stats", "--format", "xml", KERNEL]),
        ("lttv", vec!["stats", "--begin", "5", "--end", "6", KERNEL]),
        ("lttv", vec!["stats", "--table", "cpus", "-e", "sched_switch", KERNEL]),
        ("lttv", vec!["stats", "--table", "cpu", KERNEL]),
        ("lttv", vec!["stats", "--tree", "--format", "json", KERNEL]),
        ("lttv", vec!["stats", "--format", "csv", KERNEL]),
        ("lttv", vec!["wait", KERNEL, "-e", "cpu_id == 1"]),
        ("lttv", vec!["wait", KERNEL, "--sort=nothing"]),
        ("lttv", vec!["irq", KERNEL, "--begin=+1h"]),
        ("lttv", vec!["irq", KERNEL, "--cpu=many"]),
        ("lttv", vec!["disk", KERNEL, "-e", "cpu_id == 1"]),
        ("lttv", vec!["state", KERNEL]),
        ("lttv", vec!["state", KERNEL, "--time", "99999999999999999999"]),
        ("lttv", vec!["state", KERNEL, "--time=1", "--checkpoints=file"]),
        ("lttv", vec!["state", KERNEL, "--time=1", "--method=guess"]),
        ("lttv", vec!["state", KERNEL, "--at=+1h"]),
        ("lttv", vec!["state", KERNEL, "--at=+1ms", "--columns=comn"]),
        ("lttv", vec!["info", KERNEL, "--table=event_types"]),
        ("lttv", vec!["info", KERNEL, "--format=csv"]),
        ("lttv", vec!["history"]),
        ("lttv", vec!["history", "at", KERNEL, "5"]),
        ("lttv", vec!["history", "changes", KERNEL, "no/such/path"]),
        ("lttv", vec!["history", "range", KERNEL, "**", "--from=5", "--to=1"]),
        ("lttv", vec!["history", "range", KERNEL, "**", "--each=0"]),
        ("lttv", vec!["chart"]),
        ("lttv", vec!["chart", "flow", KERNEL, "--seconds=0"]),
        ("lttv", vec!["chart", "flow", KERNEL, "--seconds=nan"]),
        ("lttv", vec!["chart", "flow", KERNEL, "--from=-1"]),
        ("lttv", vec!["chart", "flow", KERNEL, "--from=1000"]),
        ("lttv", vec!["chart", "flow", KERNEL, "--steps=0"]),
        ("lttv", vec!["chart", "flow", KERNEL, "-e", "cpu_id == 1"]),
        ("lttv", vec!["chart", "flow", KERNEL, "-o", "/dev/null.png"]),
        ("lttv", vec!["chart", "usage", KERNEL, "--begin=+1h"]),
        ("lttv", vec!["chart", "usage", KERNEL, "-o", "/dev/null", "--width=1"]),
        ("lttv", vec!["sync", KERNEL, "--pair=a,b"]),
        ("lttv", vec!["sync", KERNEL, "--reference=none"]),
        ("lttv", vec!["sync", KERNEL, "--check=f", "--write=g"]),
        ("lttv", vec!["dump", KERNEL, "--clock-offset=none=+1s"]),
        ("lttv", with(&["--clock-offset=none=+1s"])),
        ("lttv", with(&["--sync", "--clock-transform=f"])),
    ];
    let unknown = PROGRAMS.map(|(program, _)| (program, vec!["--no-such-option"]));
    for (program, args) in cases.iter().chain(&unknown) {
        let output = run(program, args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{program} {args:?}: {stderr}");
        assert!(!stderr.is_empty(), "{program} {args:?}");
        assert_eq!(text(&output.stdout), "", "{program} {args:?}");
    }
}

#[test]
fn what_cannot_be_read_or_written_ends_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let empty = empty.to_string_lossy();
    let nowhere = "/nowhere/at/all";
    for (program, args) in PROGRAMS {
        for trace in [&*empty, nowhere] {
            let args: Vec<_> = args.iter().copied().chain([trace]).collect();
            let output = run(program, &args);
            let stderr = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{program} {args:?}: {stderr}");
            assert!(stderr.starts_with(&format!("{program}: error: ")), "{stderr}");
            assert!(stderr.contains(trace), "{program} {args:?}: {stderr}");
        }
    }
    let lttv = ["run", "-m", "textDump", "-t", KERNEL];
    for (program, args) in [
        ("lttv", vec!["dump", KERNEL, "-o", nowhere]),
        ("lttv", [&lttv[..], &["-o", nowhere]].concat()),
        ("lttv", [&lttv[..], &["-f", nowhere]].concat()),
        ("lttv", vec!["chart", "flow", KERNEL, "-o", nowhere]),
        ("lttv", vec!["chart", "usage", KERNEL, "-o", nowhere]),
        ("lttv", vec!["chart", "usage", nowhere, "-o", "/dev/null"]),
        ("lttv", vec!["info", KERNEL, "-o", nowhere]),
        ("lttv", vec!["state", KERNEL, "--at=+0", "-o", nowhere]),
        ("lttv", vec!["history", "build", KERNEL, nowhere]),
    ] {
        let output = run(program, &args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{program} {args:?}: {stderr}");
        assert!(stderr.contains(nowhere), "{program} {args:?}: {stderr}");
    }
    let output =
        run("lttv", &["dump".as_ref(), Path::new(KERNEL), "-o".as_ref(), "/dev/full".as_ref()]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("/dev/full"), "{output:?}");
}

#[test]
fn help_documents_the_status() {
    for program in PROGRAMS.map(|of| of.0) {
        let output = run(program, &["--help"]);
        assert_eq!(output.status.code(), Some(0), "{program}");
        let help = text(&output.stdout);
        assert!(help.contains("Exit status: 0 if everything was read and written; 1 if"), "{help}");
        assert!(help.contains("2 for a\nwrong") || help.contains("2 for a wrong"), "{help}");
    }
}
