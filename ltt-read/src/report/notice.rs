//! Notices: anomalies that do not stop reading.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::base::time::Timestamp;
use crate::base::uuid::Uuid;

/// An anomaly in a data stream that does not stop reading, with its place.
///
/// [`Cursor::take_notices`](crate::Cursor::take_notices) and
/// [`Merge::take_notices`](crate::Merge::take_notices) return the notices from reading.
/// [`Index::notices`](crate::index::Index::notices) and
/// [`PacketTimes::notices`](crate::index::PacketTimes::notices) return those about index files
/// and packet times, which a merge also reports after a seek.
/// [`Opened::notices`](crate::Opened::notices) contains those about whole files and
/// directories. `Display` writes the place and an explanation on one line.
// Exhaustive: programs make notices of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The kind of the anomaly.
    pub kind: NoticeKind,
    /// The path of the file.
    pub file: Arc<Path>,
    /// The number of the packet in its file, from 0.
    pub packet: u64,
    /// The offset of the packet from the start of the file, in bytes.
    pub offset: u64,
}

/// The kind of a [`Notice`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoticeKind {
    /// The tracer discarded event records.
    DiscardedEvents {
        /// The number of discarded events; `None` if the tracer did not count them.
        count: Option<u64>,
        /// The earliest time at which they may have occurred; `None` if unknown.
        start: Option<Timestamp>,
        /// The latest time at which they may have occurred; `None` if unknown.
        end: Option<Timestamp>,
    },
    /// Whole packets are missing: there is a gap in the sequence numbers.
    LostPackets {
        /// The number of missing packets.
        count: u64,
        /// The end of the packet before the gap; `None` if unknown.
        start: Option<Timestamp>,
        /// The start of the packet after the gap; `None` if unknown.
        end: Option<Timestamp>,
    },
    /// The clock of a stream went back.
    ClockBackwards {
        /// The time of the previous event.
        from: Timestamp,
        /// The time of this event, which is earlier.
        to: Timestamp,
    },
    /// An index file exists but was not used.
    IndexIgnored {
        /// The error in the file.
        reason: &'static str,
    },
    /// The times that packets declare are not used. Instead, all events of the tracefile
    /// were read to determine the times.
    PacketTimesIgnored {
        /// The error in the times, found first at the packet of this notice.
        reason: &'static str,
    },
    /// The first field of a packet is not the CTF magic number 0xC1FC1FC1.
    WrongMagic {
        /// The value in the packet header.
        found: u64,
    },
    /// The UUID in a packet header is not that of the trace.
    WrongUuid {
        /// The value in the packet header.
        found: Uuid,
    },
    /// The content size of a packet is damaged, which was reported as an error, but its
    /// events were found. Reading continues with them.
    EventsRecovered {
        /// The number of recovered events.
        count: u64,
    },
    /// The rest of a packet was skipped after an error. Reading continues with the next packet.
    PacketSkipped,
    /// The rest of a file was skipped after an error beyond which no packet can be found.
    /// Reading continues with the next file of the tracefile.
    RestOfFileSkipped,
    /// Events of a growing tracefile came too late to be delivered in order: others of later
    /// times had been delivered, because none before `expected` was expected any more. They
    /// are delivered now.
    LateEvents {
        /// The time of the first of them.
        time: Timestamp,
        /// The time before which no event was expected.
        expected: Timestamp,
    },
    /// Packets are left out because another file of the tracefile contains them, too. The
    /// place of the notice is that of the first of them.
    DuplicatePackets {
        /// The number of successive packets that are left out.
        count: u64,
        /// The path of the file from which the first of them is read.
        first: Arc<Path>,
    },
    /// A file or directory is left out because it is identical to another one, which was
    /// reached through a link or through another of the given paths. The notice is about
    /// the whole file or directory.
    Duplicate {
        /// The path under which it is read.
        first: Arc<Path>,
    },
    /// The target of a symbolic link does not exist.
    BrokenLink,
}

impl NoticeKind {
    /// Returns `true` for [discarded events](Self::DiscardedEvents) and [lost
    /// packets](Self::LostPackets).
    pub fn is_loss(&self) -> bool {
        matches!(self, NoticeKind::DiscardedEvents { .. } | NoticeKind::LostPackets { .. })
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        match &self.kind {
            NoticeKind::Duplicate { first } => {
                return write!(f, "read once, as {}", first.display());
            }
            NoticeKind::BrokenLink => return write!(f, "the target of this link does not exist"),
            _ => write!(f, "packet {}, byte {}: ", self.packet, self.offset)?,
        }
        let between =
            |f: &mut fmt::Formatter<'_>, begin: &Option<_>, end: &Option<_>| match (begin, end) {
                (Some(b), Some(e)) => write!(f, " between {b} and {e}"),
                (None, Some(e)) => write!(f, " before {e}"),
                (Some(b), None) => write!(f, " after {b}"),
                (None, None) => Ok(()),
            };
        match &self.kind {
            NoticeKind::DiscardedEvents { count, start: begin, end } => {
                match count {
                    Some(n) => write!(f, "the tracer discarded {n} events")?,
                    None => write!(f, "the tracer discarded events")?,
                }
                between(f, begin, end)
            }
            NoticeKind::LostPackets { count, start: begin, end } => {
                write!(f, "{count} packets are missing")?;
                between(f, begin, end)
            }
            NoticeKind::ClockBackwards { from, to } => {
                write!(f, "the clock went back from {from} to {to}")
            }
            NoticeKind::IndexIgnored { reason } => write!(f, "index file not used: {reason}"),
            NoticeKind::PacketTimesIgnored { reason } => {
                write!(f, "times of packets not used: {reason}")
            }
            NoticeKind::WrongMagic { found } => {
                write!(f, "wrong packet magic number {found:#x}, expected 0xc1fc1fc1")
            }
            NoticeKind::WrongUuid { found } => {
                write!(f, "this packet belongs to another trace: {found}")
            }
            NoticeKind::EventsRecovered { count } => {
                write!(f, "{count} events were found despite the damaged content size")
            }
            NoticeKind::LateEvents { time, expected } => {
                write!(f, "events from {time} on came late: none before {expected} was expected")
            }
            NoticeKind::PacketSkipped => write!(f, "the rest of this packet was skipped"),
            NoticeKind::RestOfFileSkipped => write!(f, "the rest of this file was skipped"),
            NoticeKind::DuplicatePackets { count, first } => {
                write!(f, "left out {count} packets that are also in {}", first.display())
            }
            // Written above, without a packet.
            NoticeKind::Duplicate { .. } | NoticeKind::BrokenLink => Ok(()),
        }
    }
}
