//! Help, the version, and suggestions.

use super::{KERNEL, assert_refused, lttv, text};

#[test]
fn a_path_in_place_of_a_command_is_opened() {
    // Without a terminal, as by `info`.
    assert_eq!(text(&lttv(&[KERNEL])), text(&lttv(&["info", KERNEL])));
    assert_eq!(
        text(&lttv(&["--no-config", KERNEL, "--utc"])),
        text(&lttv(&["info", KERNEL, "--utc"]))
    );
    let run = lttv(&["no/such/path"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("no/such/path: No such file"), "{}", run.stderr);
}

#[test]
fn misspelt_names_are_suggested() {
    assert_refused(&["dmp"], "'dump'");
    assert_refused(&["dump", "--formt", "json"], "'--format'");
    assert_refused(&["dump", "--format", "jsn"], "'json'");
    assert_refused(&["run", "-m", "statistic"], "did you mean `statistics`?");
    assert_refused(&["run", "-m", "zzz"], "lttv run --list-modules");
    assert_refused(&["dump", KERNEL, "--columns", "nxt_tid"], "did you mean `next_tid`?");
    assert_refused(&["dump", KERNEL, "--columns", "tme"], "did you mean `time`?");
}

#[test]
fn the_short_help_lists_all_commands() {
    let short = text(&lttv(&["-h"]));
    for expected in ["Usage: lttv", "\n  record ", "\n  dump ", "\n  run ", "\n  man "] {
        assert!(short.contains(expected), "{short}");
    }
    assert!(!short.contains("Exit status"), "{short}");
}

#[test]
fn the_version_names_the_formats() {
    let version = text(&lttv(&["--version"]));
    assert_eq!(version.lines().next(), Some(concat!("lttv ", env!("CARGO_PKG_VERSION"))));
    assert!(version.contains("CTF 1.8 and CTF 2"), "{version}");
    assert_eq!(text(&lttv(&["-V"])), concat!("lttv ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn every_command_has_help_with_examples() {
    let all = text(&lttv(&["--help"]));
    let (_, rest) = all.split_once("Commands:\n").unwrap();
    let (names, _) = rest.split_once("\n\n").unwrap();
    let names = names.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<_> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"dump") && names.contains(&"run"), "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        let long = text(&lttv(&[name, "--help"]));
        assert!(long.contains(&format!("Usage: lttv {name}")), "{long}");
        assert!(long.contains("Examples:\n"), "{name}: {long}");
        assert!(long.contains(&format!("  lttv {name}")), "{name}: {long}");
        let other = text(&lttv(&["help", name]));
        match name {
            // The driver parses its options itself, so that the program's own come before it.
            "run" => assert!(other.contains("\nModules:\n") && long.contains("\nModules:\n")),
            _ => assert_eq!(other, long, "{name}"),
        }
    }
}

#[test]
fn help_has_groups() {
    let help = text(&lttv(&["dump", "-h"]));
    for heading in ["Arguments:", "Selection:", "Output:", "Notation:", "Configuration:"] {
        assert!(help.contains(&format!("\n{heading}\n")), "{heading}: {help}");
    }
}
