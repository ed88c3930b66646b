//! A generated trace with one event type and only integers, which shows the minimum cost of
//! a reader.

use std::path::Path;

use ltt_read::schema::ByteOrder::Little;
use ltt_read::schema::{FieldClass, StreamClassId};
use ltt_read::writer::WriteError;
use ltt_read::writer::presets::lttng_ust;

use crate::{Cpus, Options, Random};

/// Writes a trace with events of one type and 40 bytes each: large event headers, contexts
/// `vpid` and `vtid`, five integers.
///
/// # Errors
///
/// If a file cannot be written.
pub fn plain(dir: &Path, cpus: u32, events: u64, options: &Options) -> Result<(), WriteError> {
    let mut schema = lttng_ust(options.format);
    let fields = [
        ("address", FieldClass::uint(64, Little)),
        ("size", FieldClass::uint(64, Little)),
        ("count", FieldClass::uint(32, Little)),
        ("result", FieldClass::sint(32, Little)),
        ("flags", FieldClass::uint(16, Little)),
    ];
    let fields = FieldClass::structure(fields);
    let event = schema.add_event_type(StreamClassId(0), "app:allocation", fields);
    let mut streams = Cpus::create(dir, schema, "channel0", cpus, options)?;
    let mut random = Random::new(options.seed);
    for count in 0..events {
        let (cpu, now) = streams.advance(&mut random);
        let thread = 4001 + random.below(16) as u32;
        let mut body = Vec::with_capacity(40);
        body.extend([4000, thread].map(u32::to_le_bytes).as_flattened());
        body.extend([random.next() >> 16, random.below(4096)].map(u64::to_le_bytes).as_flattened());
        body.extend([count as u32, random.next() as u32].map(u32::to_le_bytes).as_flattened());
        body.extend(u16::to_le_bytes(random.below(64) as u16));
        streams.streams[cpu].encoded_event(event, now, 8, &body)?;
    }
    streams.finish()
}
