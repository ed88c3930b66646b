//! Faults of tracers that a reader has to know.

use crate::schema::Schema;

/// Whether events may have a timestamp after the end of their packet.
///
/// LTTng's tracers before 2.11 took the packet's end time before the last
/// reserved event got its own. Traces that do not name their tracer are
/// treated alike.
pub(crate) fn events_after_packet_end(schema: &Schema) -> bool {
    let Some(name) = schema.env_str("tracer_name") else { return true };
    let version = (schema.env_int("tracer_major"), schema.env_int("tracer_minor"));
    match (name, version) {
        ("lttng-modules" | "lttng-ust", (Some(major), Some(minor))) => (major, minor) < (2, 11),
        _ => true,
    }
}
