//! Positions of cursors, as plain data.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// A position in a tracefile, between two events.
///
/// A position is plain data. It is valid for every cursor of the same tracefile and is
/// ordered like the events. Two positions between the same events are equal, however they
/// were reached.
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// let mut cursor = trace.cursor(ltt_read::TracefileIndex(0));
/// let first = cursor.next()?.expect("an event").position();
/// let after = cursor.position();
/// let second = cursor.next()?.expect("another event").offset();
///
/// let mut other = trace.cursor(ltt_read::TracefileIndex(0));
/// other.seek(after)?;
/// assert_eq!(other.next()?.map(|event| event.offset()), Some(second));
/// assert!(first < after);
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Position {
    pub(super) file: u32,
    pub(super) packet_offset: u64,
    pub(super) bit: u64,
    pub(super) packet_number: u64,
    pub(super) packet_clock: u64,
    pub(super) clock: u64,
    pub(super) at_end: bool,
}

impl Position {
    /// The position before the first event.
    pub const START: Position = Position {
        file: 0,
        packet_offset: 0,
        bit: 0,
        packet_number: 0,
        packet_clock: 0,
        clock: 0,
        at_end: false,
    };

    /// The position after the last event.
    pub const END: Position = Position { file: u32::MAX, at_end: true, ..Position::START };

    /// Converts the position to bytes, for storage. They are valid only for the same
    /// trace.
    ///
    /// ```
    /// # use ltt_read::Position;
    /// let bytes = Position::END.to_bytes();
    /// assert_eq!(Position::from_bytes(&bytes), Position::END);
    /// ```
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let numbers =
            [self.packet_offset, self.bit, self.packet_number, self.packet_clock, self.clock];
        let mut bytes = [0; Self::BYTES];
        let (head, rest) = bytes.split_at_mut(5);
        head[0] = self.at_end.into();
        head[1..].copy_from_slice(&self.file.to_le_bytes());
        for (to, number) in rest.chunks_exact_mut(8).zip(numbers) {
            to.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// Decodes a position from the bytes of [`to_bytes`](Self::to_bytes). Other bytes are
    /// accepted, too, but seeking the resulting position may fail.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let (head, rest) = bytes.split_at(5);
        let number = |at: usize| {
            let bytes = rest.get(8 * at..).and_then(|rest| rest.first_chunk());
            bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        Position {
            at_end: head[0] != 0,
            file: head[1..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)),
            packet_offset: number(0),
            bit: number(1),
            packet_number: number(2),
            packet_clock: number(3),
            clock: number(4),
        }
    }

    /// Returns the number of its file in the tracefile.
    pub(crate) fn file(self) -> u32 {
        self.file
    }

    /// The size of a position in [bytes](Self::to_bytes).
    pub const BYTES: usize = 45;

    /// Returns the parts of the position that identify it; the remaining fields follow
    /// from them.
    #[inline]
    fn place(&self) -> (bool, u32, u64, u64) {
        if self.at_end {
            return (true, 0, 0, 0);
        }
        (false, self.file, self.packet_offset, self.bit)
    }
}

impl PartialEq for Position {
    fn eq(&self, other: &Self) -> bool {
        self.place() == other.place()
    }
}

impl Eq for Position {}

impl PartialOrd for Position {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Position {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl Hash for Position {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.place().hash(state);
    }
}
