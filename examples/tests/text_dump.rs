//! The program `text_dump` as its user meets it.

mod support;

use std::path::Path;
use std::time::Duration;

use support::Run;

fn dump(args: &[&str], trace: Option<&Path>) -> Run {
    support::run(&support::example("text_dump"), args, trace, Duration::from_secs(60))
}

#[test]
fn help_and_wrong_options() {
    let help = dump(&["--help"], None);
    assert_eq!(help.status, Some(0));
    let text = String::from_utf8(help.stdout).unwrap();
    for option in ["--timerange", "--names", "trace:hostname", "Exit status", "--count"] {
        assert!(text.contains(option), "{option}");
    }
    for wrong in [
        &["--begin", "3:2:8"][..],
        &["--names=nothing"],
        &["--timerange=1,2", "--begin=1"],
        &["--format=xml"],
    ] {
        let run = dump(wrong, None);
        assert_eq!(run.status, Some(2), "{wrong:?}");
        assert!(run.stdout.is_empty() && !run.stderr.is_empty(), "{wrong:?}");
    }
}

#[test]
fn without_arguments_the_bundled_trace() {
    let program = support::example("text_dump");
    for folder in ["", "src/text_dump", "../ltt-read"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let run = std::process::Command::new(&program).current_dir(folder).output().unwrap();
        assert!(run.status.success(), "{run:?}");
        let text = String::from_utf8(run.stdout).unwrap();
        let first = text.lines().next().unwrap();
        assert!(first.starts_with("sched.irq_softirq_raise: 1795233416.237946824 ("), "{first}");
        assert!(first.ends_with("traces/kernel/kernel/sched_0), tid = 0, hostname = \"corpushost\" { vec = 7, name = 7 [SCHED] }"), "{first}");
    }
}

#[test]
fn a_folder_without_traces_is_an_error() {
    let empty = tempfile::tempdir().unwrap();
    for path in [empty.path(), &empty.path().join("missing")] {
        let run = dump(&[], Some(path));
        assert_eq!(run.status, Some(1), "{run:?}");
        assert!(run.stderr.contains(&*path.to_string_lossy()), "{run:?}");
        assert!(run.stdout.is_empty());
    }
}
