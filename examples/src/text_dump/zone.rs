//! The time zone of times that are parsed and printed.

use std::env;

use jiff::tz::TimeZone;

/// Returns the system's time zone as the C library determines it: from `TZ` or
/// `/etc/localtime`.
///
/// [`TimeZone::system`] first lists all time zones, which takes longer than opening a trace.
/// This reads only one file if that is enough.
pub fn local_zone() -> TimeZone {
    let local = match env::var_os("TZ") {
        None => std::fs::read("/etc/localtime").ok().and_then(|f| TimeZone::tzif("local", &f).ok()),
        Some(name) if name.is_empty() || name == "UTC" => Some(TimeZone::UTC),
        Some(_) => None,
    };
    local.unwrap_or_else(TimeZone::system)
}
