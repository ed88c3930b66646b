//! Where the clock on the wall hangs.

use jiff::tz::{Offset, TimeZone};

/// A time zone: what dates and times of day in expressions are times of.
///
/// ```
/// use lttv_filter::{Environment, Zone};
///
/// let nepal = Zone::offset(5 * 3600 + 45 * 60).expect("less than a day");
/// let environment = Environment::new().in_zone(nepal);
/// # let _ = environment;
/// ```
#[derive(Debug, Clone)]
pub struct Zone(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// Looked up when a time asks for it.
    Local,
    Known(TimeZone),
}

/// There is no time zone of this name, or this machine does not know it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no time zone `{0}`")]
pub struct UnknownZone(pub String);

impl Zone {
    /// Universal time.
    pub const UTC: Zone = Zone(Kind::Known(TimeZone::UTC));

    /// The one that this machine is set to: `TZ`, or what the system says.
    pub fn local() -> Self {
        Zone(Kind::Local)
    }

    /// The one of a name such as `Europe/Berlin`.
    ///
    /// # Errors
    ///
    /// If the system's database has none of this name.
    pub fn named(name: &str) -> Result<Self, UnknownZone> {
        let zone = TimeZone::get(name).map_err(|_| UnknownZone(name.to_owned()))?;
        Ok(Zone(Kind::Known(zone)))
    }

    /// So many seconds east of Greenwich; `None` if it is more than a day.
    pub fn offset(seconds: i32) -> Option<Self> {
        let offset = Offset::from_seconds(seconds).ok()?;
        Some(Zone(Kind::Known(TimeZone::fixed(offset))))
    }

    /// What it is by the calendar's library.
    pub(crate) fn resolve(&self) -> TimeZone {
        match &self.0 {
            Kind::Local => TimeZone::system(),
            Kind::Known(zone) => zone.clone(),
        }
    }
}
