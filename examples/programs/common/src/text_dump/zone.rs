//! The time zone of times that are parsed and printed.

use std::env;
use std::sync::OnceLock;

use jiff::tz::TimeZone;

/// Returns the system's time zone as the C library determines it: from `TZ` or
/// `/etc/localtime`. It is that of the first call.
pub fn local_zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    ZONE.get_or_init(find_local_zone).clone()
}

/// Finds the system's time zone.
///
/// [`TimeZone::system`] first lists all time zones, which takes longer than opening a trace.
/// This reads only one file if that is enough.
fn find_local_zone() -> TimeZone {
    let local = match env::var_os("TZ") {
        None => std::fs::read("/etc/localtime").ok().and_then(|f| TimeZone::tzif("local", &f).ok()),
        Some(name) if name.is_empty() || name == "UTC" => Some(TimeZone::UTC),
        Some(_) => None,
    };
    local.unwrap_or_else(TimeZone::system)
}
