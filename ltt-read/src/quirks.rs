//! Faults of tracers that a reader has to know.

use crate::schema::Schema;

/// What is known of the begin and end times of the packets that a tracer writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PacketBounds {
    /// They enclose the events of their packet.
    Enclose,
    /// Events may come after the end of their packet, but not after that of the next.
    EndEarly,
    /// Nothing is known of this tracer.
    Unknown,
}

/// Returns what is known of the tracer that a trace names.
///
/// LTTng's tracers before 2.11 took the packet's end time before the last reserved event
/// got its own. Those of the formats before CTF are treated alike.
pub(crate) fn packet_bounds(schema: &Schema, is_legacy: bool) -> PacketBounds {
    if is_legacy {
        return PacketBounds::EndEarly;
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
