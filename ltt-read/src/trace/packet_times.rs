//! The times of the events in the packets of a tracefile.

use crate::base::time::{TimeSpan, Timestamp};
use crate::report::Notice;

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

impl PacketTimes {
    /// Creates the packet times from the times of the single packets.
    pub(crate) fn new(
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

    /// Returns bounds of the times of the events in the packet at a byte offset of a file of
    /// the tracefile, given by its index; `None` if there is no such packet or it has no
    /// times. The first bound holds for all later packets as well, the second one for all
    /// previous packets.
    pub fn bounds_at(&self, file: usize, offset: u64) -> Option<TimeSpan> {
        let place = |packet: &TimedPacket| (packet.file as usize, packet.offset);
        let at = self.packets.partition_point(|packet| place(packet) < (file, offset));
        let packet = self.packets.get(at).filter(|packet| place(packet) == (file, offset))?;
        let (start, end) = (packet.earliest, packet.latest);
        (start <= end).then_some(TimeSpan { start, end })
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
