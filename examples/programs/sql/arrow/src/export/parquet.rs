//! Files of Parquet: their row groups, and the encodings of their columns.

use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, SchemaRef, TimeUnit};
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type as physical;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnPath;

use super::chunk::{self, Numbered};

/// The level of compression.
pub(super) const LEVEL: i32 = 3;

/// The maximum number of rows in a page. Only its size limits it otherwise.
const PAGE_ROWS: usize = 1 << 18;

/// A file that is being written.
pub(super) struct ParquetFile {
    writer: SerializedFileWriter<File>,
    schema: SchemaRef,
    columns: ArrowRowGroupWriterFactory,
}

impl ParquetFile {
    /// Creates a file.
    pub(super) fn create(
        file: File,
        schema: &SchemaRef,
        metadata: &[(String, String)],
        is_sorted: bool,
    ) -> Result<ParquetFile> {
        let mut properties = properties(schema, metadata, is_sorted);
        add_encoded_arrow_schema_to_metadata(schema, &mut properties);
        let root = ArrowSchemaConverter::new().convert(schema)?.root_schema_ptr();
        let writer = SerializedFileWriter::new(file, root, Arc::new(properties))?;
        let columns = ArrowRowGroupWriterFactory::new(&writer, Arc::clone(schema));
        Ok(ParquetFile { writer, schema: Arc::clone(schema), columns })
    }

    /// Writes rows as a row group, so that nothing of them stays in memory.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let number = self.writer.flushed_row_groups().len();
        let descriptions = self.writer.schema_descr().columns().to_vec();
        let mut group = self.writer.next_row_group()?;
        // One for each leaf, of which those of other columns are left out.
        let mut writers: Vec<Option<ArrowColumnWriter>> = Vec::new();
        let mut leaf = 0;
        for (field, array) in self.schema.fields().iter().zip(batch.columns()) {
            if let Some(numbered) = Numbered::new(array) {
                let description = Arc::clone(&descriptions[leaf]);
                let (bytes, close) = chunk::encode(numbered, array, description)?;
                group.append_column(&bytes, close)?;
                leaf += 1;
                continue;
            }
            if is_number(field, array) {
                write_numbers(&mut group, array)?;
                leaf += 1;
                continue;
            }
            if writers.is_empty() {
                writers =
                    self.columns.create_column_writers(number)?.into_iter().map(Some).collect();
            }
            for values in compute_leaves(field, &whole(array)?)? {
                let mut writer = writers[leaf].take().ok_or_else(missing)?;
                writer.write(&values)?;
                writer.close()?.append_to_row_group(&mut group)?;
                leaf += 1;
            }
        }
        group.close()?;
        Ok(())
    }

    /// Completes the file.
    pub(super) fn finish(self) -> Result<()> {
        self.writer.close().map(drop)
    }
}

/// Returns the texts of a column in which they have numbers, and other columns as they are.
fn whole(array: &ArrayRef) -> Result<ArrayRef> {
    Ok(match array.as_dictionary_opt::<UInt32Type>() {
        Some(keyed) => arrow_select::take::take(keyed.values(), keyed.keys(), None)?,
        None => Arc::clone(array),
    })
}

/// Returns `true` for numbers without nulls.
fn is_number(field: &Field, array: &dyn Array) -> bool {
    let is_number = match array.data_type() {
        DataType::Timestamp(TimeUnit::Nanosecond, None) => true,
        DataType::Float32 | DataType::Float64 => true,
        other => other.is_integer(),
    };
    is_number && !field.is_nullable() && array.null_count() == 0
}

/// Writes numbers without nulls as they are.
fn write_numbers(group: &mut SerializedRowGroupWriter<'_, File>, array: &dyn Array) -> Result<()> {
    fn wide<T: ArrowPrimitiveType>(array: &dyn Array) -> Vec<i32>
    where
        T::Native: Into<i32>,
    {
        array.as_primitive::<T>().values().iter().map(|value| (*value).into()).collect()
    }
    use physical::{DoubleType, FloatType, Int32Type as Int32, Int64Type as Int64};
    match array.data_type() {
        DataType::Int8 => write::<Int32>(group, &wide::<Int8Type>(array)),
        DataType::Int16 => write::<Int32>(group, &wide::<Int16Type>(array)),
        DataType::UInt8 => write::<Int32>(group, &wide::<UInt8Type>(array)),
        DataType::UInt16 => write::<Int32>(group, &wide::<UInt16Type>(array)),
        DataType::Int32 => write::<Int32>(group, array.as_primitive::<Int32Type>().values()),
        DataType::Int64 => write::<Int64>(group, array.as_primitive::<Int64Type>().values()),
        // Unsigned numbers have the bits of signed ones, as the types of their columns say.
        DataType::UInt32 => {
            let values = array.as_primitive::<UInt32Type>().values().iter();
            write::<Int32>(group, &values.map(|value| *value as i32).collect::<Vec<_>>())
        }
        DataType::UInt64 => {
            let values = array.as_primitive::<UInt64Type>().values().iter();
            write::<Int64>(group, &values.map(|value| *value as i64).collect::<Vec<_>>())
        }
        DataType::Float32 => {
            write::<FloatType>(group, array.as_primitive::<Float32Type>().values())
        }
        DataType::Float64 => {
            write::<DoubleType>(group, array.as_primitive::<Float64Type>().values())
        }
        _ => write::<Int64>(group, array.as_primitive::<TimestampNanosecondType>().values()),
    }
}

fn missing() -> ParquetError {
    ParquetError::General("a column has no writer".to_owned())
}

/// Writes the next column.
fn write<T: physical::DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
) -> Result<()> {
    let mut column = group.next_column()?.ok_or_else(missing)?;
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}

/// Returns the compression of all columns.
pub(super) fn compression() -> Compression {
    Compression::ZSTD(ZstdLevel::try_new(LEVEL).unwrap_or_default())
}

/// Returns the properties of a file: compressed, with the differences of times.
fn properties(
    schema: &SchemaRef,
    metadata: &[(String, String)],
    is_sorted: bool,
) -> WriterProperties {
    let entries = metadata.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
    let mut properties = WriterProperties::builder()
        .set_compression(compression())
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_key_value_metadata(Some(entries.collect()));
    for time in ["timestamp", "ts", "start_ts", "end_ts"] {
        properties = by_differences(properties, time);
    }
    for field in schema.fields().iter().filter(|field| field.data_type().is_integer()) {
        // Where few values differ, they become a dictionary before.
        properties = by_differences(properties, field.name());
    }
    let time = ["timestamp", "ts"].iter().find_map(|name| schema.column_with_name(name));
    if let Some((column, _)) = time.filter(|_| is_sorted) {
        let column_idx = column as i32;
        let sorting = SortingColumn { column_idx, descending: false, nulls_first: false };
        properties = properties.set_sorting_columns(Some(vec![sorting]));
    }
    properties.build()
}

fn by_differences(properties: WriterPropertiesBuilder, column: &str) -> WriterPropertiesBuilder {
    let column = ColumnPath::new(vec![column.to_owned()]);
    properties
        .set_column_dictionary_enabled(column.clone(), false)
        .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
}
