//! Full or closed standard streams.

use std::process::Output;

use super::{KERNEL, PROGRAMS, reading, shell, text, traces};

#[test]
fn a_full_or_closed_standard_error_costs_nothing_but_messages() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    traces::damaged_packets(&trace, 3);
    for (program, args) in PROGRAMS {
        let args = reading(args, &trace);
        let expected = shell(program, &args, "2>/dev/null");
        assert_eq!(expected.status.code(), Some(1), "{program}");
        for redirect in ["2>/dev/full", "2>&-"] {
            let output = shell(program, &args, redirect);
            assert_eq!(output.status, expected.status, "{program} {redirect}");
            assert_eq!(output.stdout, expected.stdout, "{program} {redirect}");
        }
        let wrong = shell(program, &["--no-such-option"], "2>/dev/full");
        assert_eq!(wrong.status.code(), Some(2), "{program}");
    }
}

#[test]
fn a_full_or_closed_output_is_an_error() {
    let (help, version) = (["--help".as_ref()], ["--version".as_ref()]);
    for (program, args) in PROGRAMS {
        let args = reading(args, KERNEL.as_ref());
        for args in [&args[..], &help, &version] {
            for redirect in [">/dev/full", ">&-"] {
                let output = shell(program, args, redirect);
                let stderr = text(&output.stderr);
                let what = format!("{program} {args:?} {redirect}: {stderr}");
                assert_eq!(output.status.code(), Some(1), "{what}");
                assert!(stderr.contains(&format!("{program}: error: cannot write")), "{what}");
            }
            let thrown_away = shell(program, args, ">/dev/null");
            assert_eq!(thrown_away.status.code(), Some(0), "{program} {args:?}");
        }
    }
}

#[test]
fn a_closed_pipe_ends_a_program_quietly() {
    for (program, args) in PROGRAMS {
        let args = reading(args, KERNEL.as_ref());
        let output = shell(program, &args, "| head -c 1 >/dev/null");
        assert_eq!(messages(program, &output), [""; 0], "{program}");
        // The reader has ended before the first write.
        let script = "; echo $? >&3; } 3>&2 | true";
        let script = format!("{{ sleep 0.1; \"$@\" {script}");
        let output = std::process::Command::new("sh")
            .args(["-c", &script, "sh"])
            .arg(crate::support::program(program))
            .args(&args)
            .output()
            .unwrap();
        assert_eq!(messages(program, &output), ["0"], "{program}");
    }
}

/// Returns the lines of the standard error, except for those about what a trace lacks.
fn messages(program: &str, output: &Output) -> Vec<String> {
    let lacks = format!("{program}: not recorded: ");
    let stderr = text(&output.stderr);
    stderr.lines().filter(|line| !line.starts_with(&lacks)).map(str::to_owned).collect()
}
