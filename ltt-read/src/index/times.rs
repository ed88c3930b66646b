//! The times of the events in packets, and the rules by which declared times are trusted.

use super::Index;
use crate::format::{PacketBounds, packet_bounds};
use crate::notice::{Notice, NoticeKind};
use crate::time::{TimeSpan, Timestamp};
use crate::trace::Trace;

/// The times of the events in each packet of a tracefile.
///
/// Packets declare their times, but these may be wrong, missing or out of order. They are
/// trusted if all of these conditions hold:
///
/// * The trace is larger than 16 MiB, or than [the configured
///   limit](crate::OpenOptions::verify_times_up_to).
/// * Its tracer is known to declare correct times: one of LTTng's (`lttng-modules`,
///   `lttng-ust`), or one of the formats before CTF.
/// * Every packet declares both times, except that the last end may be missing, and the
///   times of each packet follow those of the previous one.
///
/// Even then, a packet is assumed to extend to the start of the next packet, and the last
/// packet to the end of time. For tracers that record the end too early, which are
/// LTTng's before 2.11 and those of the formats before CTF, a packet is assumed to extend
/// to the end of the next one. If a condition does not hold, all events of the tracefile
/// are read once, and the times are theirs.
///
/// In a trace whose times are trusted, a seek may therefore miss an event outside of its
/// packet's times, if it is later than the start of the next packet or earlier than an
/// event before it. Reading in order never depends on these times.
#[derive(Debug)]
pub struct PacketTimes {
    packets: Vec<TimedPacket>,
    span: Option<TimeSpan>,
    /// `true` if no event is earlier than a previous one.
    in_order: bool,
    is_read: bool,
    notice: Option<Notice>,
}

/// The place of a packet and the times of its events.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimedPacket {
    pub(crate) file: u32,
    pub(crate) number: u64,
    pub(crate) offset: u64,
    /// The value of the default clock before it, in cycles.
    pub(crate) clock_before: u64,
    /// A lower bound of the times of its events; in [`PacketTimes`], also of the events
    /// of all later packets.
    pub(crate) earliest: Timestamp,
    /// An upper bound of the times of its events; in [`PacketTimes`], also of the events
    /// of all previous packets.
    pub(crate) latest: Timestamp,
    /// `true` if no event of the packet is earlier than a previous one of it.
    pub(crate) in_order: bool,
}

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
pub(super) fn doubt(trace: &Trace, tracefile: usize, index: &Index) -> Result<(), Doubt> {
    let bounds = packet_bounds(trace.schema());
    if trace.is_small() || bounds == PacketBounds::Unknown {
        return Err(Doubt::Unknown);
    }
    let entries = index.entries();
    for (at, entry) in entries.iter().enumerate() {
        let is_last = at + 1 == entries.len();
        let (begin, end) = (entry.declared.begin, entry.declared.known_end());
        if begin.is_none() || end.is_none() && !is_last {
            return Err(Doubt::Unknown);
        }
        let Some(before) = at.checked_sub(1).and_then(|at| entries.get(at)) else { continue };
        let before = before.declared;
        let in_order = match bounds {
            PacketBounds::Enclose => before.end <= begin,
            _ => before.begin <= begin && end.is_none_or(|end| before.end <= Some(end)),
        };
        if !in_order {
            let files = trace.tracefiles().get(tracefile).map(|tracefile| &tracefile.files);
            let file = files.and_then(|files| files.get(entry.file as usize));
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

impl PacketTimes {
    /// Creates the packet times from the declared times, which must be trusted.
    pub(super) fn declared(trace: &Trace, index: &Index) -> Self {
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

    /// Creates the packet times from the times of the single packets.
    pub(super) fn new(
        mut packets: Vec<TimedPacket>,
        span: Option<TimeSpan>,
        in_order: bool,
        notice: Option<Notice>,
        is_read: bool,
    ) -> Self {
        let mut latest = Timestamp::MIN;
        for packet in &mut packets {
            latest = latest.max(packet.latest);
            packet.latest = latest;
        }
        let mut earliest = Timestamp::MAX;
        for packet in packets.iter_mut().rev() {
            earliest = earliest.min(packet.earliest);
            packet.earliest = earliest;
        }
        PacketTimes { packets, span, in_order, is_read, notice }
    }

    /// Returns the span of time of the tracefile: from the start of its first packet to
    /// the end of its last packet if these are right, otherwise from its earliest event
    /// to its latest one. `None` if it has no times, or if the end of its last packet is
    /// unknown.
    pub fn time_span(&self) -> Option<TimeSpan> {
        self.span
    }

    /// Returns `true` if the times are those of the events, which have been read for this
    /// purpose, and `false` if they are those that the packets declare.
    pub fn are_read(&self) -> bool {
        self.is_read
    }

    /// Returns the notice about wrong declared times, if any.
    pub fn notices(&self) -> &[Notice] {
        self.notice.as_slice()
    }

    pub(crate) fn packets(&self) -> &[TimedPacket] {
        &self.packets
    }

    /// Returns the index of the first packet that may contain an event at a time or
    /// later; the number of packets if there is none.
    pub(crate) fn first_reaching(&self, time: Timestamp) -> usize {
        self.packets.partition_point(|packet| packet.latest < time)
    }

    /// Returns a time of delivery by which all events before `end` have been delivered:
    /// `end` itself if none of them follows a later event. `None` if this is not before
    /// the end of the tracefile.
    pub(crate) fn delivered_by(&self, end: Timestamp) -> Option<Timestamp> {
        if self.in_order {
            return Some(end);
        }
        let after = self.packets.partition_point(|packet| packet.earliest < end);
        let Some(last) = after.checked_sub(1).and_then(|at| self.packets.get(at)) else {
            return Some(end);
        };
        let before = after.checked_sub(2).and_then(|at| self.packets.get(at));
        let latest = match before.map_or(Timestamp::MIN, |packet| packet.latest) {
            // If the packet is in order, all its events before its last one before `end`
            // are earlier than `end`. Only events of previous packets can be later.
            before if last.in_order => before,
            _ => last.latest,
        };
        if latest < end { Some(end) } else { latest.as_ns().checked_add(1).map(Timestamp::from_ns) }
    }
}
