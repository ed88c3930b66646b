//! When the events of packets happened, and what of that can be believed.

use super::Index;
use crate::notice::{Notice, NoticeKind};
use crate::quirks::{PacketBounds, packet_bounds};
use crate::time::{TimeSpan, Timestamp};
use crate::trace::Trace;

/// Between which times the events of each packet of a tracefile happened.
///
/// Packets declare their times, but these may be wrong, missing or out of order. They are
/// believed if all of this holds:
///
/// * The trace is larger than 16 MiB, or
///   [what was asked for](crate::OpenOptions::verify_times_up_to).
/// * Its tracer is known to declare them rightly: LTTng's (`lttng-modules`, `lttng-ust`),
///   or one of the formats before CTF.
/// * Every packet declares both times, only the last end may be missing, and the times
///   of each follow those of the packet before.
///
/// Even then a packet is held to reach to the begin of the next one, and the last one to
/// reach to the end of time; for tracers that take the end too early, LTTng's before 2.11,
/// it reaches to the end of the next one. Otherwise all events of the tracefile are read,
/// once, and the times are theirs.
///
/// In a trace whose times are believed, an event outside of its packet's times may
/// therefore be missed by a seek if it is later than the begin of the next packet, or
/// earlier than an event before it. Reading in order never relies on these times.
#[derive(Debug)]
pub struct PacketTimes {
    packets: Vec<TimedPacket>,
    span: Option<TimeSpan>,
    /// Whether no event is earlier than one before it.
    in_order: bool,
    is_read: bool,
    notice: Option<Notice>,
}

/// Where a packet is, and the times of its events.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimedPacket {
    pub(crate) file: u32,
    pub(crate) number: u64,
    pub(crate) offset: u64,
    /// The default clock before it, in cycles.
    pub(crate) clock_before: u64,
    /// No event of it is earlier; in [`PacketTimes`], none of a packet after it either.
    pub(crate) earliest: Timestamp,
    /// No event of it is later; in [`PacketTimes`], none of a packet before it either.
    pub(crate) latest: Timestamp,
    /// Whether no event of it is earlier than one of it before that.
    pub(crate) in_order: bool,
}

/// Why the times of packets are not believed.
#[derive(Debug)]
pub(crate) enum Doubt {
    /// They may be right.
    Unknown,
    /// They cannot be right.
    Contradiction(Notice),
}

/// Finds out whether the times that packets declare can be believed.
pub(super) fn doubt(trace: &Trace, tracefile: usize, index: &Index) -> Result<(), Doubt> {
    let bounds = packet_bounds(trace.schema(), trace.tables().legacy.is_some());
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

pub(super) const DISORDER: &str = "its packets are not in order of time";
pub(super) const OUTSIDE: &str = "an event lies outside of the times of its packet";

impl PacketTimes {
    /// Takes the times that packets declare, which are not in doubt.
    pub(super) fn declared(trace: &Trace, index: &Index) -> Self {
        let bounds = packet_bounds(trace.schema(), trace.tables().legacy.is_some());
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
        let span = first_begin.zip(last_end).map(|(begin, end)| TimeSpan { begin, end });
        PacketTimes::new(packets.collect(), span, true, None, false)
    }

    /// Takes the times of packets, each for itself.
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

    /// Returns the span of time of the tracefile: that from the begin of its first packet to
    /// the end of its last one if these are right, otherwise that of its events. `None` if
    /// it has no time, or the end of its last packet is unknown.
    pub fn time_span(&self) -> Option<TimeSpan> {
        self.span
    }

    /// Whether the times are those of the events, which have been read for this. Otherwise
    /// they are those that the packets declare.
    pub fn are_read(&self) -> bool {
        self.is_read
    }

    /// Returns what is wrong with the times that packets declare.
    pub fn notices(&self) -> &[Notice] {
        self.notice.as_slice()
    }

    pub(crate) fn packets(&self) -> &[TimedPacket] {
        &self.packets
    }

    /// Returns the number of the first packet that may hold an event at a time or later.
    pub(crate) fn first_reaching(&self, time: Timestamp) -> usize {
        self.packets.partition_point(|packet| packet.latest < time)
    }

    /// Returns a time of delivery at which all events before `end` have been delivered:
    /// `end` itself if none comes after a later one. `None` if that is not before the end
    /// of the tracefile.
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
            // What precedes its last event before `end` is what precedes the packet, and
            // what is earlier than that event.
            before if last.in_order => before,
            _ => last.latest,
        };
        if latest < end { Some(end) } else { latest.ns().checked_add(1).map(Timestamp::from_ns) }
    }
}
