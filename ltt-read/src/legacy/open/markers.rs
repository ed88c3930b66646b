//! The metadata channel of 1.0 to 2.6: names, ids and format strings of markers.

use std::sync::Arc;

use hashbrown::HashMap;

use super::{CHARACTER, warn};
use crate::cursor::Cursor;
use crate::event::Event;
use crate::event::Value;
use crate::legacy::blocks::version::Version;
use crate::legacy::format_string::{MarkerField, MarkerFormat, MarkerKind, MarkerSize};
use crate::metadata::Diagnostic;
use crate::schema::{
    BitOrder, ByteOrder, DisplayBase, EventType, FieldClass, FieldKind, FixedLen, Integer, Member,
    StreamClassId, Struct,
};

/// The channel that describes the other channels.
pub(super) const METADATA: &str = "metadata";

/// Returns the ids, names and format strings of the events that every trace has.
pub(super) fn core_events(version: Version) -> Vec<(u64, &'static str, &'static str)> {
    let (id, format) = match version.has_channels() {
        true => (
            "channel %s name %s event_id %hu int #1u%zu long #1u%zu pointer #1u%zu \
             size_t #1u%zu alignment #1u%u",
            "channel %s name %s format %s",
        ),
        false => (
            "name %s event_id %hu int #1u%zu long #1u%zu pointer #1u%zu size_t #1u%zu \
             alignment #1u%u",
            "name %s format %s",
        ),
    };
    let mut events = vec![(0, "core_marker_id", id), (1, "core_marker_format", format)];
    if version == Version::OneZero {
        events.push((2, "core_heartbeat_32", ""));
        events.push((3, "core_heartbeat_64", "timestamp #8u%llu"));
    }
    events
}

/// The sizes in bytes of the C types in the code that contains a marker, and its
/// alignment value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) int: u8,
    pub(super) long: u8,
    pub(super) pointer: u8,
    pub(super) size_t: u8,
    pub(super) alignment: u8,
}

impl Sizes {
    /// Returns the sizes for a machine with pointers of this size in bytes.
    pub(super) fn of_machine(pointer: u8, alignment: u8) -> Self {
        Sizes { int: 4, long: pointer, pointer, size_t: pointer, alignment }
    }
}

/// A marker name with its id.
#[derive(Debug)]
pub(super) struct Marker {
    pub(super) channel: String,
    pub(super) name: String,
    pub(super) id: u16,
    sizes: Sizes,
}

/// The contents of the metadata channel.
#[derive(Debug, Default)]
pub(super) struct Markers {
    /// The markers, in the order in which they were announced.
    pub(super) all: Vec<Marker>,
    by_id: HashMap<(String, u16), usize>,
    formats: HashMap<(String, String), String>,
}

impl Markers {
    /// Reads one metadata tracefile.
    pub(super) fn read(&mut self, mut cursor: Cursor, warnings: &mut Vec<Diagnostic>) {
        loop {
            match cursor.next() {
                Ok(Some(event)) if event.event_type().id == 0 => self.add_id(&event, warnings),
                Ok(Some(event)) if event.event_type().id == 1 => self.add_format(&event, warnings),
                Ok(Some(_)) => {} // a heartbeat
                Ok(None) => return,
                Err(error) => {
                    warn(warnings, format!("{error}"));
                    if !cursor.skip_packet() {
                        return;
                    }
                }
            }
        }
    }

    fn add_id(&mut self, event: &Event<'_>, warnings: &mut Vec<Diagnostic>) {
        let byte = |name| event.field(name).and_then(|v| v.as_u64()).unwrap_or(0) as u8;
        let marker = Marker {
            channel: text(event, "channel"),
            name: text(event, "name"),
            id: event.field("event_id").and_then(|v| v.as_u64()).unwrap_or(0) as u16,
            sizes: Sizes {
                int: byte("int"),
                long: byte("long"),
                pointer: byte("pointer"),
                size_t: byte("size_t"),
                alignment: byte("alignment"),
            },
        };
        let key = (marker.channel.clone(), marker.id);
        match self.by_id.get(&key).map(|at| &mut self.all[*at]) {
            None => {
                self.by_id.insert(key, self.all.len());
                self.all.push(marker);
            }
            // Every CPU may announce the marker.
            Some(before) => {
                if before.name != marker.name {
                    let (was, is) = (&before.name, &marker.name);
                    let id = marker.id;
                    warn(
                        warnings,
                        format!("event id {id} of marker `{was}` is reassigned to `{is}`"),
                    );
                }
                *before = marker;
            }
        }
    }

    fn add_format(&mut self, event: &Event<'_>, warnings: &mut Vec<Diagnostic>) {
        let name = text(event, "name");
        let format = text(event, "format");
        let before = self.formats.entry((text(event, "channel"), name));
        let name = before.key().1.clone();
        let known = before.or_insert_with(|| format.clone());
        if *known != format {
            warn(warnings, format!("marker `{name}` has two formats: `{known}` and `{format}`"));
        }
    }

    /// Returns the format string of a marker, or an empty string if it is unknown.
    fn format(&self, marker: &Marker) -> &str {
        let key = (marker.channel.clone(), marker.name.clone());
        self.formats.get(&key).map_or("", String::as_str)
    }

    /// Creates the event type of a marker.
    pub(super) fn event_type(
        &self,
        marker: &Marker,
        stream: StreamClassId,
        version: Version,
        order: ByteOrder,
    ) -> EventType {
        let format = self.format(marker);
        event_type(stream, marker.id.into(), &marker.name, format, &marker.sizes, version, order)
    }
}

fn text(event: &Event<'_>, field: &str) -> String {
    match event.field(field) {
        Some(Value::Str(text)) => text.to_str_lossy().into_owned(),
        _ => String::new(),
    }
}

/// Creates an event type with the fields of a format string.
pub(super) fn event_type(
    stream: StreamClassId,
    id: u64,
    name: &str,
    format: &str,
    sizes: &Sizes,
    version: Version,
    order: ByteOrder,
) -> EventType {
    let fields = MarkerFormat::parse(format).fields;
    let members = fields.into_iter().map(|field| Member {
        class: Arc::new(class(&field, sizes, version, order)),
        name: field.name.into(),
        attributes: None,
    });
    let payload = FieldKind::Struct(Struct { members: members.collect() });
    EventType {
        payload: Some(Arc::new(FieldClass::new(payload, 8))),
        format: Some(format.into()),
        ..EventType::new(stream, id, name)
    }
}

fn class(field: &MarkerField, sizes: &Sizes, version: Version, order: ByteOrder) -> FieldClass {
    let bytes = match field.size {
        MarkerSize::Bytes(bytes) => bytes,
        MarkerSize::Int => sizes.int,
        MarkerSize::Long => sizes.long,
        MarkerSize::Pointer => sizes.pointer,
        MarkerSize::SizeT => sizes.size_t,
    };
    if field.kind == MarkerKind::String {
        return FieldClass::string();
    }
    let fixed = FixedLen {
        bits: 8 * u32::from(bytes),
        byte_order: if field.network { ByteOrder::Big } else { order },
        bit_order: BitOrder::Natural,
    };
    let base = match (field.kind, field.print.conversion) {
        (MarkerKind::Pointer, _) | (_, 'x' | 'X' | 'p') => DisplayBase::Hexadecimal,
        (_, 'o') => DisplayBase::Octal,
        _ => DisplayBase::Decimal,
    };
    let signed = field.kind == MarkerKind::Signed;
    let integer = Integer { signed, base, ..Integer::default() };
    // Alignments that are not powers of two cannot have been recorded.
    let align = match version.align(sizes.alignment, bytes) {
        align if align.is_power_of_two() => align,
        _ => 1,
    };
    let class = FieldClass::new(FieldKind::Integer(fixed, integer), 8 * u32::from(align));
    let character = field.kind == MarkerKind::Character;
    FieldClass { attributes: character.then(|| CHARACTER.into()), ..class }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(format: &str, sizes: Sizes, version: Version) -> Vec<(u32, u32)> {
        let event =
            event_type(StreamClassId(0), 0, "e", format, &sizes, version, ByteOrder::Little);
        let class = event.payload.unwrap();
        let bits = |c: &FieldClass| match &c.kind {
            FieldKind::Integer(f, _) => f.bits,
            _ => 0,
        };
        class.members().iter().map(|m| (bits(&m.class), m.class.align)).collect()
    }

    #[test]
    fn sizes_and_alignments() {
        let format = "a %d b #1u%u c %ld d %s e %p f %lld";
        let sizes = Sizes { int: 4, long: 8, pointer: 8, size_t: 8, alignment: 4 };
        let got = payload(format, sizes, Version::Markers(6));
        assert_eq!(got, [(32, 32), (8, 8), (64, 32), (0, 8), (64, 32), (64, 32)]);
        let got = payload(format, sizes, Version::Markers(5));
        assert_eq!(got, [(32, 32), (8, 8), (64, 64), (0, 8), (64, 64), (64, 64)]);
        let packed = Sizes { long: 4, pointer: 4, alignment: 0, ..sizes };
        let got = payload(format, packed, Version::Markers(5));
        assert_eq!(got, [(32, 8), (8, 8), (32, 8), (0, 8), (32, 8), (64, 8)]);
    }
}
