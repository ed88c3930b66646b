//! The places of events, by which spans refer to them.

use ltt_read::{Position, TracefileIndex};

/// The place of an event in its trace: [`EventReader`](super::EventReader) reads it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "checkpoint-files", serde(into = "StoredPlace", from = "StoredPlace"))]
pub struct EventPlace {
    tracefile: u32,
    position: Position,
}

impl EventPlace {
    /// The size of a place in [bytes](Self::to_bytes).
    pub(crate) const BYTES: usize = 4 + Position::BYTES;

    /// Creates the place of the event at a position of a tracefile.
    #[inline]
    pub fn new(tracefile: TracefileIndex, position: Position) -> Self {
        EventPlace { tracefile: tracefile.0 as u32, position }
    }

    /// Returns the tracefile.
    pub fn tracefile(&self) -> TracefileIndex {
        TracefileIndex(self.tracefile as usize)
    }

    /// Returns the position before the event.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Converts the place to bytes.
    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (tracefile, position) = bytes.split_at_mut(4);
        tracefile.copy_from_slice(&self.tracefile.to_le_bytes());
        position.copy_from_slice(&self.position.to_bytes());
        bytes
    }

    /// Decodes a place from [bytes](Self::to_bytes).
    pub(crate) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let (tracefile, position) = bytes.split_at(4);
        EventPlace {
            tracefile: tracefile.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)),
            position: position.first_chunk().map_or(Position::END, Position::from_bytes),
        }
    }
}

/// A place in saved states: its bytes in parts that have a serialisation.
#[cfg(feature = "checkpoint-files")]
#[derive(serde::Serialize, serde::Deserialize)]
struct StoredPlace([u8; 32], [u8; EventPlace::BYTES - 32]);

#[cfg(feature = "checkpoint-files")]
impl From<EventPlace> for StoredPlace {
    fn from(place: EventPlace) -> Self {
        let bytes = place.to_bytes();
        let (head, rest) = bytes.split_at(32);
        let mut stored = StoredPlace([0; 32], [0; EventPlace::BYTES - 32]);
        stored.0.copy_from_slice(head);
        stored.1.copy_from_slice(rest);
        stored
    }
}

#[cfg(feature = "checkpoint-files")]
impl From<StoredPlace> for EventPlace {
    fn from(StoredPlace(head, rest): StoredPlace) -> Self {
        let mut bytes = [0; EventPlace::BYTES];
        bytes[..32].copy_from_slice(&head);
        bytes[32..].copy_from_slice(&rest);
        EventPlace::from_bytes(&bytes)
    }
}

/// The begin of something: its time, and its event if places are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Begin {
    /// The time of delivery, in ns; [`NEVER`](super::threads::NEVER) if there is none.
    pub(crate) time: i64,
    pub(crate) event: Option<EventPlace>,
}

impl Begin {
    pub(crate) const NEVER: Begin = Begin { time: super::threads::NEVER, event: None };

    /// Returns `true` if there is one.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.time != super::threads::NEVER
    }
}
