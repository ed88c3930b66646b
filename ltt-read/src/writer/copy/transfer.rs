//! The plan of copying from one trace to another.

use std::sync::Arc;

use super::layout::{
    greatest_alignment, has_one_timestamp, has_own_clock, same, same_clock, same_packets,
    shortest_timestamp,
};
use super::values::has_other_fields;
use crate::base::time::Timestamp;
use crate::event::Event;
use crate::schema::{FieldClass, Schema, StreamClassId};
use crate::trace::Trace;

/// The plan of copying from a trace to a trace of another schema.
///
/// Stream classes and event types keep their indexes: the target has at least those of
/// the source, in the same order. Classes may differ where the formats do, see
/// [`StreamCopier`](crate::writer::StreamCopier). Where they agree, bytes are copied.
#[derive(Debug)]
pub struct Transfer {
    pub(super) target: Arc<Schema>,
    pub(super) events: Vec<EventPlan>,
    pub(super) streams: Vec<StreamPlan>,
}

/// The way in which an event type is copied.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventPlan {
    /// `true` if the target has the event type.
    pub(super) is_wanted: bool,
    /// The greatest alignment of its contexts and payload in bits, if their bytes can be
    /// copied.
    pub(super) align: Option<u32>,
    /// `true` if the id is the same.
    pub(super) same_id: bool,
}

/// The way in which a stream class is copied.
#[derive(Debug, Clone, Copy)]
pub(super) struct StreamPlan {
    pub(super) packets: bool,
    /// `true` if the times in a packet do not depend on the packets before.
    pub(super) has_own_clock: bool,
    /// The greatest alignment of event headers in bits, if their bytes can be copied.
    pub(super) header_align: Option<u32>,
    /// `true` if event headers have fields that no role explains.
    pub(super) header_has_others: bool,
    /// The length of the shortest timestamp of event headers in bits. 64 without a clock; 0 if a header
    /// may have no timestamp, or several, of which an earlier one may be before the time of the event.
    pub(super) timestamp_bits: u32,
    pub(super) clock: Clock,
}

/// The clock values of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    /// The cycles of the source.
    Cycles,
    /// The times of the source since this one, in ns.
    Nanoseconds { since: i64 },
}

impl Transfer {
    /// Plans the copying of a trace to a trace with the schema `target`.
    ///
    /// Clock values stay the same if the target's clocks are those of the source and no
    /// transform is applied to the source's. Otherwise the target's clocks have to count
    /// nanoseconds, and the values follow from the times of the events.
    pub fn new(source: &Trace, target: impl Into<Arc<Schema>>) -> Self {
        let target = target.into();
        let schema = source.schema();
        let classes = (0..schema.stream_classes.len() as u32).map(StreamClassId);
        let streams = classes.map(|class| stream_plan(source, &target, class)).collect();
        let events = schema.event_types.iter().enumerate().map(|(index, event)| {
            let Some(other) = target.event_types.get(index).filter(|o| o.stream == event.stream)
            else {
                return EventPlan { is_wanted: false, align: None, same_id: false };
            };
            let common = |schema: &Schema| {
                let class = schema.stream_classes.get(event.stream.index());
                class.and_then(|class| class.common_context.clone())
            };
            let (a, b) = (common(schema), common(&target));
            let pairs = [
                (a.as_deref(), b.as_deref()),
                (event.specific_context.as_deref(), other.specific_context.as_deref()),
                (event.payload.as_deref(), other.payload.as_deref()),
            ];
            let is_same = schema.format.is_ctf() && pairs.iter().all(|(a, b)| same(*a, *b));
            let align = |(_, class): &(_, Option<&FieldClass>)| class.map(greatest_alignment);
            let greatest = pairs.iter().filter_map(align).max().unwrap_or(1);
            EventPlan {
                is_wanted: true,
                align: is_same.then_some(greatest),
                same_id: event.id == other.id,
            }
        });
        let events = events.collect();
        Transfer { target, events, streams }
    }

    /// Returns the schema of the target.
    pub fn target(&self) -> &Arc<Schema> {
        &self.target
    }

    /// Returns `true` if whole packets of a stream class can be copied as they are.
    pub fn copies_packets(&self, class: StreamClassId) -> bool {
        self.streams.get(class.index()).is_some_and(|stream| stream.packets)
    }
}

fn stream_plan(source: &Trace, target: &Schema, class: StreamClassId) -> StreamPlan {
    let schema = source.schema();
    let of = |schema: &Schema| {
        let class = schema.stream_classes.get(class.index());
        let clock = class.and_then(|class| class.default_clock);
        let clock = clock.and_then(|number| schema.clocks.get(number as usize)).cloned();
        (clock, class.and_then(|class| class.event_header.clone()))
    };
    let ((clock, header), (other_clock, other_header)) = (of(schema), of(target));
    let transformed = source.clock_transforms().iter().any(|transform| !transform.is_identity());
    let since = other_clock.as_ref().and_then(|clock| clock.offset_ns()).unwrap_or(0);
    // Formats before CTF have their own conversions of cycles to times.
    let is_legacy = !schema.format.is_ctf();
    let same_clocks = same_clock(clock.as_ref(), other_clock.as_ref());
    let keeps_cycles = !transformed && !is_legacy && same_clocks;
    let header_same = keeps_cycles && same(header.as_deref(), other_header.as_deref());
    let align = header.as_deref().map_or(1, greatest_alignment);
    let shortest = header.as_deref().filter(|header| has_one_timestamp(header));
    let shortest = shortest.and_then(shortest_timestamp);
    let timestamp_bits = if clock.is_some() { shortest.unwrap_or(0) } else { 64 };
    StreamPlan {
        has_own_clock: has_own_clock(schema, class),
        packets: keeps_cycles && same_packets(schema, target, class),
        header_align: header_same.then_some(align),
        header_has_others: header.as_deref().is_some_and(has_other_fields),
        timestamp_bits,
        clock: if keeps_cycles { Clock::Cycles } else { Clock::Nanoseconds { since } },
    }
}

impl Clock {
    /// Returns the clock value of an event.
    pub(super) fn of(self, event: &Event<'_>) -> u64 {
        match self {
            Clock::Cycles => event.cycles().unwrap_or(0),
            Clock::Nanoseconds { since } => nanoseconds(event.timestamp(), since).unwrap_or(0),
        }
    }

    /// Returns the clock value of the start or end of a packet, given its cycles and time.
    pub(super) fn bound(self, cycles: Option<u64>, time: Option<Timestamp>) -> Option<u64> {
        match self {
            Clock::Cycles => cycles,
            Clock::Nanoseconds { since } => nanoseconds(time, since),
        }
    }
}

fn nanoseconds(time: Option<Timestamp>, since: i64) -> Option<u64> {
    let ns = i128::from(time?.as_ns()) - i128::from(since);
    // The offset of the target's clock is before all times.
    Some(u64::try_from(ns.max(0)).unwrap_or(u64::MAX))
}
