//! The errors and notices of a read, and their tables.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, StringViewBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use ltt_read::{Error, Notice};
use lttv_context::TracesetContext;

/// The errors and notices that a read met.
#[derive(Debug, Default)]
pub struct Damage {
    /// The errors. Each one ends a tracefile or a packet.
    pub errors: Vec<Error>,
    /// The number of errors that were not kept.
    pub errors_omitted: u64,
    /// The notices: losses, and what was unexpected.
    pub notices: Vec<Notice>,
    /// The number of notices that were not kept.
    pub notices_omitted: u64,
    /// `true` if an event was delivered after a later one.
    pub goes_back: bool,
}

impl Damage {
    /// Returns `true` if nothing was met.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
            && self.notices.is_empty()
            && self.errors_omitted == 0
            && self.notices_omitted == 0
    }

    /// Takes those of a context. Its numbers of omitted ones are those since it was created.
    pub(crate) fn take(&mut self, context: &mut TracesetContext<'_>) {
        let (errors_omitted, notices_omitted) =
            (context.merge().errors_omitted(), context.merge().notices_omitted());
        self.add(Damage {
            errors: context.take_errors(),
            errors_omitted: errors_omitted - self.errors_omitted,
            notices: context.take_notices(),
            notices_omitted: notices_omitted - self.notices_omitted,
            goes_back: false,
        });
    }

    /// Adds those of another read of the same traces. Two reads of neighbouring windows may meet the
    /// same fault, which is kept once.
    pub fn add(&mut self, other: Damage) {
        for error in other.errors {
            let is_same = |known: &Error| known.place().is_some() && known.place() == error.place();
            if !self.errors.iter().any(is_same) {
                self.errors.push(error);
            }
        }
        for notice in other.notices {
            if !self.notices.contains(&notice) {
                self.notices.push(notice);
            }
        }
        self.errors_omitted += other.errors_omitted;
        self.notices_omitted += other.notices_omitted;
        self.goes_back |= other.goes_back;
    }

    /// Returns the columns of the table of errors: `file`, `packet` (its number), `offset` (of the
    /// packet in the file, in bytes) and `message`. The places are null for an error without one.
    pub fn errors_schema() -> SchemaRef {
        let text = |name: &str, nullable| Field::new(name, DataType::Utf8View, nullable);
        let number = |name: &str| Field::new(name, DataType::UInt64, true);
        let file = text("file", true);
        Arc::new(Schema::new(vec![
            file,
            number("packet"),
            number("offset"),
            text("message", false),
        ]))
    }

    /// Returns the table of errors.
    ///
    /// # Errors
    ///
    /// Never, unless the schema is wrong.
    pub fn errors_batch(&self) -> Result<RecordBatch, ArrowError> {
        let mut places = Places::default();
        let mut messages = StringViewBuilder::new();
        for error in &self.errors {
            let place = error.place();
            places.push(place.map(|of| (of.file.to_string_lossy(), of.packet, of.offset)));
            messages.append_value(ltt_read::ErrorChain(error).to_string());
        }
        if self.errors_omitted > 0 {
            places.push(None::<(String, u64, u64)>);
            messages.append_value(format!("… and {} more errors", self.errors_omitted));
        }
        let mut arrays = places.finish();
        arrays.push(Arc::new(messages.finish()));
        RecordBatch::try_new(Self::errors_schema(), arrays)
    }

    /// Returns the columns of the table of notices: `file`, `packet`, `offset` and `message` as in
    /// the table of errors, and `is_loss`: `true` if events are missing.
    pub fn notices_schema() -> SchemaRef {
        let fields = Self::errors_schema();
        let mut fields: Vec<_> = fields.fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new("is_loss", DataType::Boolean, true)));
        Arc::new(Schema::new(fields))
    }

    /// Returns the table of notices.
    ///
    /// # Errors
    ///
    /// Never, unless the schema is wrong.
    pub fn notices_batch(&self) -> Result<RecordBatch, ArrowError> {
        let mut places = Places::default();
        let (mut messages, mut losses) = (StringViewBuilder::new(), BooleanBuilder::new());
        for notice in &self.notices {
            places.push(Some((notice.file.to_string_lossy(), notice.packet, notice.offset)));
            messages.append_value(notice.to_string());
            losses.append_value(notice.kind.is_loss());
        }
        if self.notices_omitted > 0 {
            places.push(None::<(String, u64, u64)>);
            messages.append_value(format!("… and {} more notices", self.notices_omitted));
            losses.append_null();
        }
        let mut arrays = places.finish();
        arrays.push(Arc::new(messages.finish()));
        arrays.push(Arc::new(losses.finish()));
        RecordBatch::try_new(Self::notices_schema(), arrays)
    }
}

impl From<Error> for Damage {
    fn from(error: Error) -> Self {
        Damage { errors: vec![error], ..Damage::default() }
    }
}

/// The columns of places.
#[derive(Default)]
struct Places {
    files: StringViewBuilder,
    packets: UInt64Builder,
    offsets: UInt64Builder,
}

impl Places {
    fn push(&mut self, place: Option<(impl AsRef<str>, u64, u64)>) {
        self.files.append_option(place.as_ref().map(|(file, ..)| file));
        self.packets.append_option(place.as_ref().map(|(_, packet, _)| *packet));
        self.offsets.append_option(place.as_ref().map(|(.., offset)| *offset));
    }

    fn finish(mut self) -> Vec<ArrayRef> {
        vec![
            Arc::new(self.files.finish()),
            Arc::new(self.packets.finish()),
            Arc::new(self.offsets.finish()),
        ]
    }
}
