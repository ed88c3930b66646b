//! Full or closed standard streams.

use std::process::Output;

use super::{COMMANDS, KERNEL, reading, shell, text, traces};

#[test]
fn a_full_or_closed_standard_error_costs_nothing_but_messages() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    traces::damaged_packets(&trace, 3);
    for args in COMMANDS {
        let args = reading(args, &trace);
        let expected = shell(&args, "2>/dev/null");
        assert_eq!(expected.status.code(), Some(1), "{args:?}");
        for redirect in ["2>/dev/full", "2>&-"] {
            let output = shell(&args, redirect);
            assert_eq!(output.status, expected.status, "{args:?} {redirect}");
            assert_eq!(output.stdout, expected.stdout, "{args:?} {redirect}");
        }
        let wrong = shell(&["--no-such-option"], "2>/dev/full");
        assert_eq!(wrong.status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn a_full_or_closed_output_is_an_error() {
    let (help, version) = (["--help".as_ref()], ["--version".as_ref()]);
    for args in COMMANDS {
        let args = reading(args, KERNEL.as_ref());
        for args in [&args[..], &help, &version] {
            for redirect in [">/dev/full", ">&-"] {
                let output = shell(args, redirect);
                let stderr = text(&output.stderr);
                let what = format!("{args:?} {redirect}: {stderr}");
                assert_eq!(output.status.code(), Some(1), "{what}");
                assert!(stderr.contains("lttv: error: cannot write"), "{what}");
            }
            let thrown_away = shell(args, ">/dev/null");
            assert_eq!(thrown_away.status.code(), Some(0), "{args:?}");
        }
    }
}

#[test]
fn a_closed_pipe_ends_a_program_quietly() {
    for args in COMMANDS {
        let args = reading(args, KERNEL.as_ref());
        let output = shell(&args, "| head -c 1 >/dev/null");
        assert_eq!(messages(&output), [""; 0], "{args:?}");
        // The reader has ended before the first write.
        let script = "; echo $? >&3; } 3>&2 | true";
        let script = format!("{{ sleep 0.1; \"$@\" {script}");
        let output = std::process::Command::new("sh")
            .args(["-c", &script, "sh"])
            .arg(crate::support::lttv())
            .args(&args)
            .output()
            .unwrap();
        assert_eq!(messages(&output), ["0"], "{args:?}");
    }
}

/// Returns the lines of the standard error, except for those about what a trace lacks.
fn messages(output: &Output) -> Vec<String> {
    let lacks = "lttv: not recorded: ";
    let stderr = text(&output.stderr);
    stderr.lines().filter(|line| !line.starts_with(lacks)).map(str::to_owned).collect()
}
