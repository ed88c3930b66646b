//! Results of queries in several formats.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringViewArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_cast::pretty::pretty_format_batches_with_options;
use arrow_json::LineDelimitedWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use lttv_common::escape::{self, Escapes};
use lttv_common::report::Usage;
use lttv_common::text::output::Output;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::args::Format;
use super::staged::StagedFile;

/// A writer of the results of a query. A file appears when it is complete, and not before.
pub struct Results {
    writer: Writer,
    staged: Option<StagedFile>,
}

enum Writer {
    Table(Box<Output>, SchemaRef, Vec<RecordBatch>),
    Csv(Box<Output>, bool),
    Json(Box<Output>),
    Parquet(Box<ArrowWriter<File>>),
}

impl fmt::Debug for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Results").field("staged", &self.staged).finish_non_exhaustive()
    }
}

type Failure = Box<dyn std::error::Error>;

impl Results {
    /// Opens an output: a file, or standard output if `path` is `None`.
    ///
    /// # Errors
    ///
    /// If the file cannot be created, or if the format needs one and there is none.
    pub fn open(
        format: Format,
        path: Option<&Path>,
        schema: &SchemaRef,
    ) -> Result<Results, Failure> {
        if format == Format::Parquet && path.is_none() {
            return Err(Usage::new("-f parquet needs a file: -o FILE").into());
        }
        let staged = path.map(StagedFile::create).transpose()?;
        let path = staged.as_ref().map(StagedFile::partial);
        let output = |escapes| Ok::<_, Failure>(Box::new(Output::new(path)?.escaping(escapes)));
        let writer = match (format, path) {
            (Format::Csv, _) => Writer::Csv(output(Escapes::Text)?, true),
            (Format::Json, _) => Writer::Json(output(Escapes::Json)?),
            (Format::Parquet, Some(path)) => {
                let compression = Compression::ZSTD(ZstdLevel::default());
                let properties = WriterProperties::builder().set_compression(compression).build();
                let file = File::create(path)?;
                let writer = ArrowWriter::try_new(file, Arc::clone(schema), Some(properties))?;
                Writer::Parquet(Box::new(writer))
            }
            _ => Writer::Table(output(Escapes::Text)?, Arc::clone(schema), Vec::new()),
        };
        Ok(Results { writer, staged })
    }

    /// Writes rows.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn write(&mut self, batch: RecordBatch) -> Result<(), Failure> {
        match &mut self.writer {
            Writer::Table(_, _, batches) => batches.push(batch),
            Writer::Csv(out, is_first) => {
                let mut writer = arrow_csv::WriterBuilder::new()
                    .with_header(std::mem::take(is_first))
                    .build(&mut **out);
                writer.write(&as_text(&batch)?)?;
            }
            Writer::Json(out) => {
                let mut writer = LineDelimitedWriter::new(&mut **out);
                writer.write(&batch)?;
                writer.finish()?;
            }
            Writer::Parquet(writer) => writer.write(&batch)?,
        }
        Ok(())
    }

    /// Completes the output.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn finish(self) -> Result<(), Failure> {
        match self.writer {
            Writer::Table(mut out, schema, mut batches) => {
                if batches.is_empty() {
                    batches.push(RecordBatch::new_empty(schema));
                }
                let batches =
                    batches.iter().map(escaped).collect::<Result<Vec<_>, ArrowError>>()?;
                let options = FormatOptions::default();
                let table = pretty_format_batches_with_options(&batches, &options)?;
                writeln!(out, "{table}")?;
                out.finish()?;
            }
            Writer::Csv(mut out, _) | Writer::Json(mut out) => out.finish()?,
            Writer::Parquet(writer) => drop(writer.close()?),
        }
        self.staged.map_or(Ok(()), |staged| Ok(staged.publish()?))
    }
}

/// Replaces texts by those without control characters.
fn escaped(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    map_texts(
        batch,
        |field| !field.data_type().is_numeric(),
        |text| escape::name(text).into_owned(),
    )
}

/// Replaces nested values by texts.
fn as_text(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    map_texts(batch, |field| field.data_type().is_nested(), str::to_owned)
}

/// Replaces columns by the texts of their values.
fn map_texts(
    batch: &RecordBatch,
    is_wanted: impl Fn(&Field) -> bool,
    map: impl Fn(&str) -> String,
) -> Result<RecordBatch, ArrowError> {
    let options = FormatOptions::default().with_null("null");
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        if !is_wanted(field) {
            fields.push(Arc::clone(field));
            columns.push(Arc::clone(column));
            continue;
        }
        let formatter = ArrayFormatter::try_new(column, &options)?;
        let text = |row: usize| -> Result<Option<String>, ArrowError> {
            match column.is_null(row) {
                true => Ok(None),
                false => Ok(Some(map(&formatter.value(row).try_to_string()?))),
            }
        };
        let texts: StringViewArray = (0..column.len()).map(text).collect::<Result<_, _>>()?;
        fields.push(Arc::new(Field::new(field.name(), DataType::Utf8View, true)));
        columns.push(Arc::new(texts) as ArrayRef);
    }
    let rows = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &rows)
}

/// Writes lines to the output.
pub(super) fn lines(path: Option<&Path>, lines: &[String]) -> io::Result<()> {
    let mut out = Output::new(path)?.escaping(Escapes::Text);
    for line in lines {
        writeln!(out, "{line}")?;
    }
    out.finish()
}
