//! Time zones.

use std::sync::OnceLock;
use std::{env, fmt};

use jiff::tz::{Offset, TimeZone};

/// A time zone for the dates and times of day in expressions.
///
/// ```
/// use lttv_filter::{Environment, Zone};
///
/// let nepal = Zone::offset(5 * 3600 + 45 * 60).expect("less than a day");
/// let environment = Environment::new().in_zone(nepal);
/// # let _ = environment;
/// ```
///
/// The default is UTC.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Zone(Kind);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    Utc,
    /// The zone of the system, looked up when it is used.
    Local,
    Known(TimeZone),
}

/// An error from looking up a time zone: the system has none with this name.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no time zone `{0}`")]
pub struct UnknownZone(pub String);

impl fmt::Debug for UnknownZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Zone {
    /// The zone of Coordinated Universal Time.
    pub const UTC: Zone = Zone(Kind::Utc);

    /// Returns the time zone of the system, which the environment variable `TZ`
    /// overrides. It is looked up when it is first used.
    pub fn local() -> Self {
        Zone(Kind::Local)
    }

    /// Finds a time zone by its name, such as `Europe/Berlin`.
    ///
    /// # Errors
    ///
    /// Returns an error if the system's database has no zone with this name.
    pub fn named(name: &str) -> Result<Self, UnknownZone> {
        let zone = TimeZone::get(name).map_err(|_| UnknownZone(name.to_owned()))?;
        Ok(Zone(Kind::Known(zone)))
    }

    /// Creates a zone with a fixed offset, in seconds east of Greenwich. Returns `None`
    /// if the offset exceeds the supported range of about a day.
    pub fn offset(seconds: i32) -> Option<Self> {
        let offset = Offset::from_seconds(seconds).ok()?;
        Some(Zone(Kind::Known(TimeZone::fixed(offset))))
    }

    /// Returns the zone as a type of `jiff`.
    pub(crate) fn resolve(&self) -> TimeZone {
        match &self.0 {
            Kind::Utc => TimeZone::UTC,
            Kind::Local => local(),
            Kind::Known(zone) => zone.clone(),
        }
    }
}

/// Returns the system's time zone as the C library determines it: from `TZ` or
/// `/etc/localtime`. It is that of the first call.
fn local() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    ZONE.get_or_init(find_local).clone()
}

/// Finds the system's time zone.
///
/// [`TimeZone::system`] first lists all time zones, which takes longer than opening a trace.
/// This reads only one file if that is enough.
fn find_local() -> TimeZone {
    let local = match env::var_os("TZ") {
        None => std::fs::read("/etc/localtime").ok().and_then(|f| TimeZone::tzif("local", &f).ok()),
        Some(name) if name.is_empty() || name == "UTC" => Some(TimeZone::UTC),
        Some(_) => None,
    };
    local.unwrap_or_else(TimeZone::system)
}
