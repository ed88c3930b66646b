//! Texts in the plain form of Arrow, which all consumers can compute with: some cannot with views.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, ListArray, RecordBatch, RecordBatchOptions, StringArray, StructArray,
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};

/// Returns a schema with plain texts.
pub(crate) fn schema(of: &Schema) -> SchemaRef {
    Arc::new(Schema::new(of.fields().iter().map(field).collect::<Vec<_>>()))
}

/// Returns a batch with plain texts.
pub(crate) fn batch(of: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = of.columns().iter().map(array).collect::<Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(of.num_rows()));
    RecordBatch::try_new_with_options(schema(&of.schema()), columns, &options)
}

fn field(of: &FieldRef) -> FieldRef {
    Arc::new(Field::new(of.name(), data_type(of.data_type()), of.is_nullable()))
}

fn data_type(of: &DataType) -> DataType {
    match of {
        DataType::Utf8View => DataType::Utf8,
        DataType::List(item) => DataType::List(field(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        other => other.clone(),
    }
}

fn array(of: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(match of.data_type() {
        DataType::Utf8View => Arc::new(of.as_string_view().iter().collect::<StringArray>()),
        DataType::List(item) => {
            let list = of.as_list::<i32>();
            let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
            Arc::new(ListArray::try_new(field(item), offsets, array(list.values())?, nulls)?)
        }
        DataType::Struct(fields) => {
            let of = of.as_struct();
            let columns = of.columns().iter().map(array).collect::<Result<_, _>>()?;
            let fields = fields.iter().map(field).collect();
            Arc::new(StructArray::try_new(fields, columns, of.nulls().cloned())?)
        }
        _ => Arc::clone(of),
    })
}
