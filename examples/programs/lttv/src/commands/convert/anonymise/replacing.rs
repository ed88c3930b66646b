//! A visitor that passes on the fields of an event with other names and addresses.

use ltt_read::schema::{Encoding, FieldKind};
use ltt_read::writer::FieldEncoder;
use ltt_read::{FieldInfo, StrValue, Visitor};

use super::{Concerned, Kind, Known};

/// The highest byte of the addresses of the network 10.
const NETWORK: u64 = 10;

/// A visitor between an event and the encoder of its copy.
pub(super) struct Replacing<'r, 'k, 'e> {
    known: &'r mut Known<'k>,
    concerned: &'r Concerned,
    encoder: &'r mut FieldEncoder<'e>,
    /// The parts of an address that is an array, once it has begun.
    address: Option<Vec<u64>>,
}

impl<'r, 'k, 'e> Replacing<'r, 'k, 'e> {
    pub(super) fn new(
        known: &'r mut Known<'k>,
        concerned: &'r Concerned,
        encoder: &'r mut FieldEncoder<'e>,
    ) -> Self {
        Replacing { known, concerned, encoder, address: None }
    }

    fn kind(&self, field: &FieldInfo) -> Option<Kind> {
        self.concerned.get(field.index()).copied().flatten()
    }

    /// Returns an address of the network 10 in place of another one; 0 stays.
    fn address(&mut self, value: u64) -> u64 {
        match value {
            0 => 0,
            _ => NETWORK << 24 | self.known.address(&value.to_be_bytes()),
        }
    }

    /// Passes on the parts of an address of the network 10: the first part has the number of the
    /// network, the last ones that of the address.
    fn parts(&mut self, field: &FieldInfo, parts: &[u64]) {
        let key: Vec<u8> = parts.iter().flat_map(|part| part.to_be_bytes()).collect();
        let number = self.known.address(&key);
        for at in 0..parts.len() {
            let from_end = parts.len() - 1 - at;
            self.encoder.uint(
                field,
                match (at, from_end) {
                    (0, _) => NETWORK,
                    (_, 0..3) => number >> (8 * from_end) & 0xff,
                    _ => 0,
                },
            );
        }
    }
}

/// Returns ASCII text in code units of several bytes.
fn widened(text: &[u8], unit: usize, encoding: Encoding) -> Vec<u8> {
    let is_big = matches!(encoding, Encoding::Utf16Be | Encoding::Utf32Be);
    let place = if is_big { unit - 1 } else { 0 };
    let mut wide = vec![0; text.len() * unit];
    for (unit, byte) in wide.chunks_exact_mut(unit).zip(text) {
        unit[place] = *byte;
    }
    wide
}

impl Visitor for Replacing<'_, '_, '_> {
    fn uint(&mut self, field: &FieldInfo, value: u64) {
        if let Some(parts) = &mut self.address {
            return parts.push(value);
        }
        let value = match self.kind(field) {
            Some(Kind::Address) => self.address(value),
            _ => value,
        };
        self.encoder.uint(field, value);
    }
    fn sint(&mut self, field: &FieldInfo, value: i64) {
        if let Some(parts) = &mut self.address {
            return parts.push(value as u64);
        }
        let value = match self.kind(field) {
            Some(Kind::Address) => self.address(value as u64) as i64,
            _ => value,
        };
        self.encoder.sint(field, value);
    }
    fn boolean(&mut self, field: &FieldInfo, value: bool) {
        self.encoder.boolean(field, value);
    }
    fn bits(&mut self, field: &FieldInfo, value: u64) {
        self.encoder.bits(field, value);
    }
    fn float(&mut self, field: &FieldInfo, value: f64) {
        self.encoder.float(field, value);
    }
    fn string(&mut self, field: &FieldInfo, value: StrValue<'_>) {
        let Some(kind) = self.kind(field).filter(|_| !value.bytes.is_empty()) else {
            return self.encoder.string(field, value);
        };
        let text = self.known.text(kind, value.bytes).as_bytes();
        let wide;
        let text = match value.encoding.unit_size() {
            1 => text,
            unit => {
                wide = widened(text, unit as usize, value.encoding);
                &wide
            }
        };
        // The size of a text that has one stays.
        let size = value.bytes.len() + value.padding as usize;
        let has_length = matches!(&field.class().kind, FieldKind::String(s) if s.length.is_some());
        let mut replaced = value;
        replaced.bytes = if has_length { &text[..text.len().min(size)] } else { text };
        replaced.padding = size.saturating_sub(replaced.bytes.len()) as u64;
        self.encoder.string(field, replaced);
    }
    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {
        self.encoder.blob(field, value);
    }
    fn begin_struct(&mut self, field: &FieldInfo) {
        self.encoder.begin_struct(field);
    }
    fn end_struct(&mut self, field: &FieldInfo) {
        self.encoder.end_struct(field);
    }
    fn begin_array(&mut self, field: &FieldInfo, len: u64) {
        self.encoder.begin_array(field, len);
        if self.kind(field) == Some(Kind::Address) {
            self.address = Some(Vec::new());
        }
    }
    fn end_array(&mut self, field: &FieldInfo) {
        if let Some(parts) = self.address.take() {
            self.parts(field, &parts);
        }
        self.encoder.end_array(field);
    }
    fn begin_variant(&mut self, field: &FieldInfo, option: usize) {
        self.encoder.begin_variant(field, option);
    }
    fn end_variant(&mut self, field: &FieldInfo) {
        self.encoder.end_variant(field);
    }
    fn begin_option(&mut self, field: &FieldInfo, present: bool) {
        self.encoder.begin_option(field, present);
    }
    fn end_option(&mut self, field: &FieldInfo) {
        self.encoder.end_option(field);
    }
}
