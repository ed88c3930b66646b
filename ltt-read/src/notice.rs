//! Anomalies that do not stop reading.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::time::Timestamp;
use crate::uuid::Uuid;

/// Something noteworthy in a data stream, with its place. Reading goes on.
///
/// [`Cursor::take_notices`](crate::Cursor::take_notices) and
/// [`Merge::drain_notices`](crate::Merge::drain_notices) give those met while
/// reading. Those about index files and times of packets are kept by
/// [`Index::notices`](crate::Index::notices) and
/// [`PacketTimes::notices`](crate::PacketTimes::notices); a merge reports them when it has
/// sought. Those about whole files and directories are in
/// [`Opened::notices`](crate::Opened::notices). `Display` gives place and explanation in
/// one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// What happened.
    pub kind: NoticeKind,
    /// The file.
    pub file: Arc<Path>,
    /// Number of the packet in its file, from 0.
    pub packet: u64,
    /// Offset in bytes from the start of the file.
    pub offset: u64,
}

/// The kinds of [`Notice`]s.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoticeKind {
    /// The tracer had to discard event records.
    DiscardedEvents {
        /// How many, if it counted them.
        count: Option<u64>,
        /// They came not before this.
        begin: Option<Timestamp>,
        /// They came not after this.
        end: Option<Timestamp>,
    },
    /// Whole packets are missing (a gap in the sequence numbers).
    LostPackets {
        /// How many.
        count: u64,
        /// End of the packet before the gap.
        begin: Option<Timestamp>,
        /// Begin of the packet after the gap.
        end: Option<Timestamp>,
    },
    /// The clock of a stream went back.
    ClockBackwards {
        /// Time before.
        from: Timestamp,
        /// Time after: less.
        to: Timestamp,
    },
    /// An index file exists but was not used.
    IndexIgnored {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The times that packets declare are not used: all events of the tracefile were read
    /// for their times.
    PacketTimesIgnored {
        /// What is wrong with them, at the first packet where it shows.
        reason: &'static str,
    },
    /// The first field of a packet is not the CTF magic number 0xC1FC1FC1.
    WrongMagic {
        /// What stands there.
        found: u64,
    },
    /// A packet says that it belongs to another trace.
    WrongUuid {
        /// What stands there.
        found: Uuid,
    },
    /// The content size of a packet is damaged, which was reported as an error, but
    /// its events were found: reading goes on with them.
    EventsRecovered {
        /// How many.
        count: u64,
    },
    /// After an error in a packet, reading goes on with the next one.
    PacketSkipped,
    /// After an error beyond which no packet can be found in this file, reading goes on
    /// with the next file of the tracefile.
    RestOfFileSkipped,
    /// Packets are left out, because another file of the tracefile has the same. The
    /// notice's place is that of the first of them.
    DuplicatePackets {
        /// How many, one after the other.
        count: u64,
        /// The file in which the first of them is read.
        first: Arc<Path>,
    },
    /// A file or directory is left out, because it is the same as another one: links
    /// lead to it, or several of the paths given. The notice is about all of it.
    Duplicate {
        /// The path by which it is read.
        first: Arc<Path>,
    },
    /// A symbolic link leads nowhere.
    BrokenLink,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        match &self.kind {
            NoticeKind::Duplicate { first } => {
                return write!(f, "read once, as {}", first.display());
            }
            NoticeKind::BrokenLink => return write!(f, "this link leads nowhere"),
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
            NoticeKind::DiscardedEvents { count, begin, end } => {
                match count {
                    Some(n) => write!(f, "the tracer discarded {n} events")?,
                    None => write!(f, "the tracer discarded events")?,
                }
                between(f, begin, end)
            }
            NoticeKind::LostPackets { count, begin, end } => {
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
                write!(f, "this packet is of another trace: {found}")
            }
            NoticeKind::EventsRecovered { count } => {
                write!(f, "{count} events were found in spite of the damaged content size")
            }
            NoticeKind::PacketSkipped => write!(f, "the rest of this packet was skipped"),
            NoticeKind::RestOfFileSkipped => write!(f, "the rest of this file was skipped"),
            NoticeKind::DuplicatePackets { count, first } => {
                write!(f, "left out {count} packets that are also in {}", first.display())
            }
            // Said above, without a packet.
            NoticeKind::Duplicate { .. } | NoticeKind::BrokenLink => Ok(()),
        }
    }
}
