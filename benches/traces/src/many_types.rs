//! Metadata with any number of event types.

use ltt_read::schema::ByteOrder::Little;
use ltt_read::schema::{FieldClass, Format, StreamClassId};
use ltt_read::writer::presets::{lttng_ust, sequence, text_array};
use ltt_read::writer::{WriteError, metadata_text};

/// Returns the metadata of a user-space trace with this number of event types of eleven
/// fields each.
///
/// # Errors
///
/// Never: they come from the interface of the writer.
pub fn many_types(format: Format, event_types: usize) -> Result<String, WriteError> {
    let mut schema = lttng_ust(format);
    for number in 0..event_types {
        let names: Vec<String> = (0..7).map(|i| format!("field_{i}")).collect();
        let integers = names.iter().zip(0..).map(|(name, i)| {
            let bits = [32, 64][i % 2];
            let class = if i % 3 == 0 { FieldClass::uint } else { FieldClass::sint };
            (name.as_str(), class(bits, Little))
        });
        let others = [
            ("text", FieldClass::string()),
            ("comm", text_array(16)),
            ("data_length", FieldClass::uint(16, Little)),
            ("data", sequence("data_length", FieldClass::uint(32, Little))),
        ];
        let payload = FieldClass::structure(integers.chain(others));
        schema.add_event_type(StreamClassId(0), &format!("provider:event_{number}"), payload);
    }
    metadata_text(&schema)
}
