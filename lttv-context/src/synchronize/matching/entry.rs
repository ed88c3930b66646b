//! The entries of a [`Matcher`](super::Matcher): ends that wait, and messages that are known.

use ltt_read::Timestamp;

use super::rule::Direction;
use crate::synchronize::message::{HostIndex, Message};

/// A hash of a protocol and key. The table keeps it beside the index of an entry, so that it grows
/// without a look at the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyHash(pub(super) u32);

impl KeyHash {
    /// Returns the hash as the table needs it: the table uses the lowest and the highest bits.
    pub(super) fn for_table(self) -> u64 {
        u64::from(self.0) << 32 | u64::from(self.0)
    }
}

/// The state of an entry of the table.
#[derive(Debug, Clone, Copy)]
pub(super) enum State {
    /// One end waits for the other one, or for further ones: `is_answered` is `true` if one has
    /// come.
    Waiting { direction: Direction, host: HostIndex, time: Timestamp, is_answered: bool },
    /// Both ends are known. The entry recognises repetitions.
    Complete(Message),
    /// The place is free.
    Free,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) state: State,
    /// Distinguishes the uses of a place.
    pub(super) use_number: u64,
    pub(super) hash: KeyHash,
    pub(super) protocol: u32,
    pub(super) key: Key,
}

/// The bytes of a key. Those of most protocols are few.
#[derive(Debug)]
pub(super) enum Key {
    Short { length: u8, bytes: [u8; Key::SHORT] },
    Long(Box<[u8]>),
}

impl Key {
    const SHORT: usize = 30;

    pub(super) fn new(key: &[u8]) -> Self {
        let mut bytes = [0; Key::SHORT];
        match bytes.get_mut(..key.len()) {
            Some(start) => {
                start.copy_from_slice(key);
                Key::Short { length: key.len() as u8, bytes }
            }
            None => Key::Long(key.into()),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Key::Short { length, bytes } => bytes.get(..usize::from(*length)).unwrap_or(bytes),
            Key::Long(bytes) => bytes,
        }
    }
}
