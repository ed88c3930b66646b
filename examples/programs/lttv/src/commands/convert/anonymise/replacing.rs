//! A visitor that passes on the fields of an event with other names and addresses.

use ltt_read::schema::FieldKind;
use ltt_read::writer::FieldEncoder;
use ltt_read::{FieldInfo, StrValue, Visitor};

use super::values::encoded;
use super::{Concerned, Kind, Known};

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
}

impl Visitor for Replacing<'_, '_, '_> {
    fn uint(&mut self, field: &FieldInfo, value: u64) {
        if let Some(parts) = &mut self.address {
            return parts.push(value);
        }
        let value = match self.kind(field) {
            Some(Kind::Address) => self.known.integer(value),
            Some(Kind::Bytes) => 0,
            _ => value,
        };
        self.encoder.uint(field, value);
    }
    fn sint(&mut self, field: &FieldInfo, value: i64) {
        if let Some(parts) = &mut self.address {
            return parts.push(value as u64);
        }
        let value = match self.kind(field) {
            Some(Kind::Address) => self.known.integer(value as u64) as i64,
            Some(Kind::Bytes) => 0,
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
        let text = encoded(self.known.text(kind, value.bytes), value.encoding);
        // The size of a text that has one stays.
        let size = value.bytes.len() + value.padding as usize;
        let has_length = matches!(&field.class().kind, FieldKind::String(s) if s.length.is_some());
        let mut replaced = value;
        replaced.bytes = if has_length { &text[..text.len().min(size)] } else { &text };
        replaced.padding = size.saturating_sub(replaced.bytes.len()) as u64;
        self.encoder.string(field, replaced);
    }
    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {
        match self.kind(field) {
            Some(_) => self.encoder.blob(field, &vec![0; value.len()]),
            None => self.encoder.blob(field, value),
        }
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
            for part in self.known.parts(&parts) {
                self.encoder.uint(field, part);
            }
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
