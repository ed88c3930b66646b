//! Clock classes: the conversion of clock values to time.

use std::sync::Arc;

use super::Identity;
use crate::base::uuid::Uuid;

/// The origin of a clock class: the meaning of time 0 before the clock's offset is added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClockOrigin {
    /// 1970-01-01T00:00:00Z. Timestamps are absolute.
    UnixEpoch,
    /// An unknown origin. Timestamps compare only with those of the same clock.
    Unknown,
    /// An origin that the producer named (CTF 2).
    Custom(Identity),
}

/// A clock class: the conversion of cycles to nanoseconds.
///
/// `ns since origin = offset_seconds·10⁹ + (offset_cycles + cycles)·10⁹/frequency`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClockClass {
    /// The name (TSDL) or id (CTF 2) by which metadata refers to the clock.
    pub name: Arc<str>,
    /// The name, namespace and uid (CTF 2).
    pub identity: Identity,
    /// The UUID (TSDL), or a CTF 2 uid that is a UUID.
    pub uuid: Option<Uuid>,
    /// A description for people.
    pub description: Option<Arc<str>>,
    /// The frequency in Hz, never 0. The default is 1 GHz.
    pub frequency: u64,
    /// The precision in cycles: the error of the difference of two readings.
    pub precision: Option<u64>,
    /// The accuracy in cycles: the error against the true time (CTF 2).
    pub accuracy: Option<u64>,
    /// The offset from the origin to the clock's zero, in whole seconds.
    pub offset_seconds: i64,
    /// The offset to add to `offset_seconds`, in cycles.
    pub offset_cycles: i64,
    /// The origin from which the offset counts.
    pub origin: ClockOrigin,
    /// The user attributes.
    pub attributes: super::Attributes,
}

impl ClockClass {
    /// Creates a 1 GHz clock class that counts from the Unix epoch.
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
