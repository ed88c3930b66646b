//! Colours: options, environment variables and settings.

use std::ffi::OsStr;

use super::{KERNEL, assert_refused, lttv, lttv_with};
use crate::support;

/// Returns `true` if the first lines of a run contain colours.
fn has_colors(args: &[&str], variables: &[(&str, &str)]) -> bool {
    let variables: Vec<_> = variables.iter().map(|(n, v)| (*n, OsStr::new(*v))).collect();
    let args = [&["dump", KERNEL, "--end", "+1ms"], args].concat();
    let run = lttv_with(&args, &variables);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(!run.stdout.is_empty());
    run.stdout.contains(&0x1b)
}

#[test]
fn the_environment_decides_unless_an_option_does() {
    let (no, force) = (("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1"));
    assert!(!has_colors(&[], &[]), "to a pipe");
    assert!(has_colors(&["--color=always"], &[]));
    assert!(has_colors(&[], &[force]));
    assert!(!has_colors(&[], &[no, force]));
    assert!(!has_colors(&["--color=never"], &[force]));
    assert!(has_colors(&["--color=always"], &[no]));
    assert!(has_colors(&["--format=babeltrace"], &[force]));
    assert!(!has_colors(&[], &[("CLICOLOR_FORCE", "0")]));
}

#[test]
fn no_color_is_honoured_on_terminals() {
    let program = support::lttv();
    let args = "dump --end +1ms";
    {
        let shown = |variables: &str| {
            let words = format!("{variables} '{}' {args} {KERNEL}", program.display());
            let mut script = std::process::Command::new("script");
            script.args(["-q", "-e", "-c", &words, "/dev/null"]).env("LTTV_CONFIG", "");
            script.stdin(std::process::Stdio::null()).env_remove("NO_COLOR");
            script.output().ok().filter(|output| output.status.success())
        };
        let (Some(with), Some(without)) = (shown(""), shown("NO_COLOR=1")) else {
            return support::print_note("SKIPPED: there is no `script` here");
        };
        assert!(with.stdout.contains(&0x1b), "{with:?}");
        assert!(!without.stdout.contains(&0x1b), "{without:?}");
    }
}

#[test]
fn help_and_errors_follow_the_environment() {
    let forced = [("CLICOLOR_FORCE", OsStr::new("1"))];
    let help = lttv_with(&["--help"], &forced);
    assert!(help.stdout.contains(&0x1b));
    assert!(!lttv(&["--help"]).stdout.contains(&0x1b));
    let wrong = ["dump", KERNEL, "-e", "next_tid <"];
    assert!(lttv_with(&wrong, &forced).stderr.contains('\x1b'));
    assert!(!lttv(&wrong).stderr.contains('\x1b'));
}

#[test]
fn colours_of_what_has_none_are_refused() {
    for format in ["json", "csv"] {
        assert_refused(&["dump", KERNEL, "--format", format, "--color=always"], "--color");
    }
}
