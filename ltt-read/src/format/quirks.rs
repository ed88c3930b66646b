//! Known faults of tracers.

use crate::schema::{Format, Schema};

/// The reliability of the start and end times of packets, by tracer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PacketBounds {
    /// The times enclose the events of their packet.
    Enclose,
    /// Events may be later than the end of their packet, but not later than the end of
    /// the next.
    EndEarly,
    /// Packets declare no end. Their events are not before their start, and not after the start
    /// of the next packet.
    Starts,
    /// Nothing is known about this tracer.
    Unknown,
}

/// Returns the reliability of packet times for the tracer that a trace names.
///
/// LTTng's tracers before 2.11 took the packet's end time before the last reserved event
/// got its own. The tracers of the formats before CTF are treated alike.
pub(crate) fn packet_bounds(schema: &Schema) -> PacketBounds {
    match schema.format {
        Format::Legacy => return PacketBounds::EndEarly,
        Format::Ftrace | Format::Perf => return PacketBounds::Starts,
        Format::Ctf1 | Format::Ctf2 => {}
    }
    let version = (schema.env_int("tracer_major"), schema.env_int("tracer_minor"));
    match (schema.env_str("tracer_name"), version) {
        (Some("lttng-modules" | "lttng-ust"), (Some(major), Some(minor))) => {
            match (major, minor) < (2, 11) {
                true => PacketBounds::EndEarly,
                false => PacketBounds::Enclose,
            }
        }
        _ => PacketBounds::Unknown,
    }
}

/// Returns `true` if the tracer that a trace names describes events that it was not told to record: trace-cmd copies
/// the descriptions of whole systems, and those of ftrace itself. A converted recording has the same ones.
pub(crate) fn describes_other_events(schema: &Schema) -> bool {
    schema.format == Format::Ftrace || schema.env_str("tracer_name") == Some("ftrace")
}
