//! Files of record batches, in several formats.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringViewArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_json::LineDelimitedWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::errors::ParquetError;

use super::parquet::ParquetFile;

/// A format of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// Apache Parquet, compressed
    #[default]
    Parquet,
    /// Arrow IPC files, compressed
    Arrow,
    /// Comma-separated values; nested values as text
    Csv,
    /// One JSON object per line
    Json,
}

/// An error from writing a file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be created or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A value cannot be written.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// A Parquet file cannot be written.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
}

/// A file that is being written.
pub(super) enum TableFile {
    Parquet(Box<ParquetFile>),
    Arrow(Box<FileWriter<BufWriter<File>>>),
    Csv(Box<arrow_csv::Writer<BufWriter<File>>>),
    Json(Box<LineDelimitedWriter<BufWriter<File>>>),
}

impl Format {
    /// Returns the extension of file names.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
            Format::Csv => "csv",
            Format::Json => "jsonl",
        }
    }
}

impl TableFile {
    /// Creates a file. `metadata` is stored in the formats that have a place for it; the rows are in
    /// the order of their times if `is_sorted`.
    pub(super) fn create(
        path: &Path,
        format: Format,
        schema: &SchemaRef,
        metadata: &[(String, String)],
        is_sorted: bool,
    ) -> Result<TableFile, FileError> {
        let file = File::create_new(path)?;
        Ok(match format {
            Format::Parquet => {
                let file = ParquetFile::create(file, schema, metadata, is_sorted)?;
                TableFile::Parquet(Box::new(file))
            }
            Format::Arrow => {
                let metadata = metadata.iter().cloned().collect();
                let schema = Schema::new_with_metadata(schema.fields().clone(), metadata);
                let options = IpcWriteOptions::default();
                let options = options.try_with_compression(Some(CompressionType::ZSTD))?;
                let out = BufWriter::new(file);
                let writer = FileWriter::try_new_with_options(out, &schema, options)?;
                TableFile::Arrow(Box::new(writer))
            }
            Format::Csv => TableFile::Csv(Box::new(arrow_csv::Writer::new(BufWriter::new(file)))),
            Format::Json => {
                TableFile::Json(Box::new(LineDelimitedWriter::new(BufWriter::new(file))))
            }
        })
    }

    /// Writes rows. In Parquet they become a row group, so that nothing of them stays in memory.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), FileError> {
        match self {
            TableFile::Parquet(file) => file.write(batch)?,
            TableFile::Arrow(writer) => writer.write(batch)?,
            TableFile::Csv(writer) => writer.write(&flat(batch)?)?,
            TableFile::Json(writer) => writer.write(batch)?,
        }
        Ok(())
    }

    /// Completes the file.
    pub(super) fn finish(self) -> Result<(), FileError> {
        match self {
            TableFile::Parquet(file) => file.finish()?,
            TableFile::Arrow(mut writer) => writer.finish()?,
            // The file is complete after each batch; dropping it would ignore a full disk.
            TableFile::Csv(writer) => {
                drop(writer.into_inner().into_inner().map_err(io::Error::from)?)
            }
            TableFile::Json(mut writer) => {
                writer.finish()?;
                drop(writer.into_inner().into_inner().map_err(io::Error::from)?);
            }
        }
        Ok(())
    }
}

/// Replaces nested columns, which CSV does not have, by texts.
fn flat(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    if !batch.schema().fields().iter().any(|field| field.data_type().is_nested()) {
        return Ok(batch.clone());
    }
    let options = FormatOptions::default().with_null("null");
    let mut columns = Vec::new();
    let mut fields = Vec::new();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        if !field.data_type().is_nested() {
            columns.push(Arc::clone(column));
            fields.push(Arc::clone(field));
            continue;
        }
        let formatter = ArrayFormatter::try_new(column, &options)?;
        let text = |row: usize| {
            (!column.is_null(row)).then(|| formatter.value(row).try_to_string()).transpose()
        };
        let texts: StringViewArray = (0..column.len()).map(text).collect::<Result<_, _>>()?;
        columns.push(Arc::new(texts) as ArrayRef);
        fields.push(Arc::new(Field::new(field.name(), DataType::Utf8View, true)));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}
