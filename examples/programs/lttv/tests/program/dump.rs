//! `lttv dump` and `text_dump`: one implementation, and options without an effect.

use std::path::Path;
use std::time::Duration;

use super::{KERNEL, UST, assert_refused, lttv, support};

/// The options that both programs have.
#[test]
fn both_programs_print_the_same() {
    let program = support::example("text_dump");
    for (args, more) in [
        (&[][..], &[][..]),
        (&["--process-state"], &[]),
        (&["--format=json"], &[]),
        (&["--format=babeltrace", "--names=all", "--fields=all"], &[]),
        (&["--format=babeltrace", "--clock-date", "--no-delta"], &["--clock-gmt"]),
        (&["--timerange", "+1ms..-1ms", "-e", "tracefile.cpu == 2"], &[]),
        (&["--count", "-e", "next_tid != 0"], &[]),
        (&["--color=always"], &[]),
    ] {
        for trace in [KERNEL, UST] {
            if trace == UST && args.contains(&"-e") {
                continue;
            }
            let limit = Duration::from_secs(60);
            let args = [args, more].concat();
            let expected = support::run(&program, &args, Some(Path::new(trace)), limit);
            let found = lttv(&[&["dump", trace], &args[..]].concat());
            assert_eq!(expected.status, Some(0), "{expected:?}");
            assert!(found.stdout == expected.stdout, "{args:?}");
            assert_eq!(found.stderr, expected.stderr.replace("text_dump", "lttv"));
            assert_eq!(found.status, expected.status);
        }
    }
}

#[test]
fn options_without_an_effect_are_refused() {
    for (args, message) in [
        (&["--threads=2", "--follow"][..], "--threads has no use"),
        (&["--names=all"], "--names needs --format babeltrace"),
        (&["--fields=all", "--format=json"], "--fields needs --format babeltrace"),
        (&["--no-delta"], "--no-delta needs --format babeltrace"),
        (&["--process", "--format=json"], "--process"),
        (&["--process", "--columns=time"], "--process"),
        (&["--clock-date", "--format=json"], "--format json"),
        (&["--clock-date", "--count"], "--count"),
        (&["--columns=time", "--format=json"], "--columns needs"),
        (&["--columns=time", "--format=babeltrace"], "--columns needs"),
        (&["--columns=time", "--count"], "--count"),
        (&["--format=json", "--count"], "--count"),
        (&["--top=3"], "--top needs --columns"),
        (&["--top=3", "--columns=name"], "`name` is a text"),
    ] {
        assert_refused(&[&["dump", KERNEL], args].concat(), message);
    }
}
