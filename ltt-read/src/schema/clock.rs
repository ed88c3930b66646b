//! Clock classes.

use std::sync::Arc;

use super::Identity;
use crate::uuid::Uuid;

/// What the zero of a clock class (before its offset) means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClockOrigin {
    /// 1970-01-01T00:00:00Z: timestamps are absolute.
    UnixEpoch,
    /// Nothing known: timestamps compare only with those of the same clock.
    Unknown,
    /// A named origin of the producer (CTF 2).
    Custom(Identity),
}

/// A clock class: how cycles become nanoseconds.
///
/// `ns since origin = offset_seconds·10⁹ + (offset_cycles + cycles)·10⁹/frequency`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClockClass {
    /// Name (TSDL) or id (CTF 2) by which metadata refers to it.
    pub name: Arc<str>,
    /// Name, namespace, uid (CTF 2).
    pub identity: Identity,
    /// UUID (TSDL, or a CTF 2 uid that is one).
    pub uuid: Option<Uuid>,
    /// For people.
    pub description: Option<Arc<str>>,
    /// Cycles per second, never 0. Default 1 GHz.
    pub frequency: u64,
    /// Error in cycles: how far two readings can be apart.
    pub precision: Option<u64>,
    /// Error in cycles against the true time (CTF 2).
    pub accuracy: Option<u64>,
    /// Whole seconds from the origin to the clock's zero.
    pub offset_seconds: i64,
    /// Cycles to add to those seconds.
    pub offset_cycles: i64,
    /// What the offset counts from.
    pub origin: ClockOrigin,
    /// User attributes.
    pub attributes: super::Attributes,
}

impl ClockClass {
    /// A 1 GHz clock class that counts from the Unix epoch.
    pub fn new(name: &str) -> Self {
        ClockClass {
            name: name.into(),
            identity: Identity::default(),
            uuid: None,
            description: None,
            frequency: 1_000_000_000,
            precision: None,
            accuracy: None,
            offset_seconds: 0,
            offset_cycles: 0,
            origin: ClockOrigin::UnixEpoch,
            attributes: None,
        }
    }
}
