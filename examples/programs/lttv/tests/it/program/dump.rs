//! `lttv dump`: options without an effect.

use super::{KERNEL, assert_refused};

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
