//! The time zone of times given and printed.

use std::env;

use jiff::tz::TimeZone;

/// The system's time zone, as the C library sees it: `TZ`, or `/etc/localtime`.
///
/// [`TimeZone::system`] begins by listing all zones there are, which takes
/// longer than opening a trace. Where one file tells, only that is read.
pub fn local_zone() -> TimeZone {
    let local = match env::var_os("TZ") {
        None => std::fs::read("/etc/localtime").ok().and_then(|f| TimeZone::tzif("local", &f).ok()),
        Some(name) if name.is_empty() || name == "UTC" => Some(TimeZone::UTC),
        Some(_) => None,
    };
    local.unwrap_or_else(TimeZone::system)
}
