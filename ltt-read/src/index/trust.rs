//! The rules by which the times that packets declare are trusted.
//!
//! | tracefile | times |
//! |---|---|
//! | of a small trace (`OpenOptions::verify_times_up_to`), or of an unknown tracer | those of the events, which are read once |
//! | of LTTng 2.11 or later, with both times declared in each packet and in order | the declared start; the later one of the declared end and the next start; the last packet may contain any later time |
//! | of LTTng before 2.11 or a format before CTF, with starts and ends in order | the same, and the end of the next packet, since events may come after the end of their packet |
//! | of ftrace, with starts in order | the declared start; the next start |
//! | of a known tracer, with times missing or not in order | those of the events; the latter with `NoticeKind::PacketTimesIgnored` |
//!
//! An unknown packet end (0) is allowed only at the end of the last file. Limit: in a large trace
//! of a known tracer whose headers contain no contradiction, a seek does not notice an event earlier
//! than the one before it or later than the start of the next packet, so a window may miss
//! it. Reading everything delivers it.

use crate::base::time::{TimeSpan, Timestamp};
use crate::format::{PacketBounds, packet_bounds};
use crate::report::{Notice, NoticeKind};
use crate::trace::{Index, PacketTimes, TimedPacket, Trace, TracefileIndex};

/// The reason why declared times are not trusted.
#[derive(Debug)]
pub(crate) enum Doubt {
    /// The declared times may be right, but nothing confirms them.
    Unknown,
    /// The declared times contradict each other.
    Contradiction(Notice),
}

/// Determines whether the times that packets declare can be trusted. The error is the
/// reason why they are not.
pub(super) fn doubt(trace: &Trace, tracefile: TracefileIndex, index: &Index) -> Result<(), Doubt> {
    let bounds = packet_bounds(trace.schema());
    if trace.is_small() || bounds == PacketBounds::Unknown {
        return Err(Doubt::Unknown);
    }
    let entries = index.entries();
    for (at, entry) in entries.iter().enumerate() {
        let is_last = at + 1 == entries.len();
        let (begin, end) = (entry.declared.begin, entry.declared.known_end());
        if begin.is_none() || end.is_none() && !is_last && bounds != PacketBounds::Starts {
            return Err(Doubt::Unknown);
        }
        let Some(before) = at.checked_sub(1).and_then(|at| entries.get(at)) else { continue };
        let before = before.declared;
        let in_order = match bounds {
            PacketBounds::Enclose => before.end <= begin,
            PacketBounds::Starts => before.begin <= begin,
            _ => before.begin <= begin && end.is_none_or(|end| before.end <= Some(end)),
        };
        if !in_order {
            let known = trace.tracefiles().get(tracefile.0);
            let file = known.and_then(|known| known.file(entry.file));
            let Some(file) = file.map(|file| file.path.clone()) else { continue };
            let kind = NoticeKind::PacketTimesIgnored { reason: DISORDER };
            let (packet, offset) = (entry.number, entry.offset);
            return Err(Doubt::Contradiction(Notice { kind, file, packet, offset }));
        }
    }
    Ok(())
}

pub(super) const DISORDER: &str = "its packets are not in time order";
pub(super) const OUTSIDE: &str = "an event is outside of the times of its packet";

/// Creates the packet times from the declared times, which must be trusted.
pub(super) fn declared(trace: &Trace, index: &Index) -> PacketTimes {
    let bounds = packet_bounds(trace.schema());
    let entries = index.entries();
    let declared = |at: usize| entries.get(at).map(|entry| entry.declared);
    let packets = entries.iter().enumerate().map(|(at, entry)| {
        let next = declared(at + 1);
        let mut latest = next.map_or(Some(Timestamp::MAX), |next| next.begin);
        latest = latest.max(entry.declared.end);
        if bounds != PacketBounds::Enclose {
            latest = latest.max(next.and_then(|next| next.known_end()));
        }
        TimedPacket {
            file: entry.file,
            number: entry.number,
            offset: entry.offset,
            clock_before: entry.clock_before,
            earliest: entry.declared.begin.unwrap_or(Timestamp::MIN),
            latest: latest.unwrap_or(Timestamp::MAX),
            in_order: true,
        }
    });
    let last_end = entries.last().and_then(|entry| entry.declared.known_end());
    let first_begin = entries.first().and_then(|entry| entry.declared.begin);
    let span = first_begin.zip(last_end).map(|(begin, end)| TimeSpan { start: begin, end });
    PacketTimes::new(packets.collect(), span, true, None, false)
}
