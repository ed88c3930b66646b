//! Columns that grow by one value at a time: typed vectors that Arrow takes over.
//!
//! The values of a column and of the parts of nested values are *nodes*, which refer to each other
//! by index, so that a visitor can stand within several of them.

use std::mem;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, StringViewBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, ListArray, PrimitiveArray, StringViewArray,
    StructArray, UInt32Array,
};
use arrow_buffer::{BooleanBufferBuilder, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;

use super::interned::Interned;
use super::text::utf8_of;
use crate::shape::{self, Member, Shape, TAG};

/// The number of a node.
pub(super) type NodeId = usize;

/// The columns of the next batch of one table.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) nodes: Vec<Node>,
    /// The approximate size of the values of dynamic length, in bytes.
    pub(super) bytes: usize,
    /// The tracefile of each row, by its number among those of all traces; empty if no column needs it.
    streams: Vec<u32>,
    has_streams: bool,
    /// `true` if columns of texts that are known in advance are dictionaries.
    has_keys: bool,
    /// `true` after a list with more elements than Arrow can count.
    is_too_long: bool,
}

/// A column, or a part of a nested one.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) values: Values,
    valid: NullBufferBuilder,
}

/// The values of a node.
#[derive(Debug)]
pub(super) enum Values {
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    Time(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Bool(BooleanBufferBuilder),
    Text(StringViewBuilder),
    Bytes(BinaryBuilder),
    /// Texts of a known set, by index: those of labels, options, names of events.
    Choice {
        index: Vec<u32>,
        choices: StringViewArray,
    },
    /// A property of each tracefile: the index of a text, or a number if there are no texts.
    OfStream {
        known: Vec<u32>,
        choices: Option<StringViewArray>,
    },
    /// Texts that become a dictionary.
    Interned {
        index: Vec<u32>,
        texts: Interned,
    },
    List {
        offsets: Vec<i32>,
        element: NodeId,
        shape: Shape,
    },
    Struct {
        members: Vec<Member>,
        nodes: Vec<NodeId>,
    },
    Variant {
        tag: NodeId,
        members: Vec<Member>,
        nodes: Vec<NodeId>,
    },
}

impl Columns {
    /// Creates a table without columns, whose texts become dictionaries with `has_keys`.
    pub(super) fn new(has_keys: bool) -> Columns {
        Columns { has_keys, ..Columns::default() }
    }

    /// Returns `true` if texts become dictionaries.
    pub(super) fn has_keys(&self) -> bool {
        self.has_keys
    }

    /// Adds the nodes of a shape, and returns that of the whole.
    pub(super) fn add(&mut self, shape: &Shape) -> NodeId {
        let values = match shape {
            Shape::Integer { bits: 8, signed: true } => Values::I8(Vec::new()),
            Shape::Integer { bits: 16, signed: true } => Values::I16(Vec::new()),
            Shape::Integer { bits: 32, signed: true } => Values::I32(Vec::new()),
            Shape::Integer { signed: true, .. } => Values::I64(Vec::new()),
            Shape::Integer { bits: 8, .. } => Values::U8(Vec::new()),
            Shape::Integer { bits: 16, .. } => Values::U16(Vec::new()),
            Shape::Integer { bits: 32, .. } => Values::U32(Vec::new()),
            Shape::Integer { .. } => Values::U64(Vec::new()),
            Shape::Float32 => Values::F32(Vec::new()),
            Shape::Float64 => Values::F64(Vec::new()),
            Shape::Boolean | Shape::Empty => Values::Bool(BooleanBufferBuilder::new(0)),
            Shape::Text | Shape::Labels => Values::Text(StringViewBuilder::new()),
            Shape::Bytes => Values::Bytes(BinaryBuilder::new()),
            Shape::Flags => self.list(&Shape::Text),
            Shape::List(element) => self.list(element),
            Shape::Struct(members) => {
                let nodes = members.iter().map(|member| self.add(&member.shape)).collect();
                Values::Struct { members: members.clone(), nodes }
            }
            Shape::Variant(members) => {
                let tags = members.iter().map(|member| Some(&*member.name)).collect();
                let tag = self.add_choice(tags);
                let nodes = members.iter().map(|member| self.add(&member.shape)).collect();
                Values::Variant { tag, members: members.clone(), nodes }
            }
        };
        self.push(values)
    }

    fn list(&mut self, element: &Shape) -> Values {
        Values::List { offsets: vec![0], element: self.add(element), shape: element.clone() }
    }

    /// Adds a column of times.
    pub(super) fn add_times(&mut self) -> NodeId {
        self.push(Values::Time(Vec::new()))
    }

    /// Adds a column whose values are the indices of texts.
    pub(super) fn add_choice(&mut self, choices: StringViewArray) -> NodeId {
        self.push(Values::Choice { index: Vec::new(), choices })
    }

    /// Adds a column that is known for each tracefile: the indices of texts, or numbers.
    pub(super) fn add_of_stream(
        &mut self,
        known: Vec<u32>,
        choices: Option<StringViewArray>,
    ) -> NodeId {
        self.has_streams = true;
        self.push(Values::OfStream { known, choices })
    }

    /// Appends the tracefile of the next rows, by its number among those of all traces.
    #[inline]
    pub(super) fn stream(&mut self, number: u32, rows: usize) {
        match rows {
            _ if !self.has_streams => {}
            1 => self.streams.push(number),
            rows => self.streams.resize(self.streams.len() + rows, number),
        }
    }

    /// Removes the tracefiles of all rows, whose columns have been taken.
    pub(super) fn clear_streams(&mut self) {
        self.streams.clear();
    }

    /// Adds a column of texts, which becomes a dictionary if columns have keys.
    pub(super) fn add_texts(&mut self) -> NodeId {
        match self.has_keys {
            true => self.push(Values::Interned { index: Vec::new(), texts: Interned::default() }),
            false => self.add(&Shape::Text),
        }
    }

    fn push(&mut self, values: Values) -> NodeId {
        self.nodes.push(Node { values, valid: NullBufferBuilder::new(0) });
        self.nodes.len() - 1
    }

    /// Appends a null, and nulls to all parts that must have as many values.
    pub(super) fn null(&mut self, node: NodeId) {
        let Node { values, valid } = &mut self.nodes[node];
        valid.append_null();
        match values {
            Values::I8(values) => values.push(0),
            Values::I16(values) => values.push(0),
            Values::I32(values) => values.push(0),
            Values::I64(values) | Values::Time(values) => values.push(0),
            Values::U8(values) => values.push(0),
            Values::U16(values) => values.push(0),
            Values::U32(values) => values.push(0),
            Values::U64(values) => values.push(0),
            Values::F32(values) => values.push(0.0),
            Values::F64(values) => values.push(0.0),
            Values::Bool(values) => values.append(false),
            Values::Text(values) => values.append_null(),
            Values::Bytes(values) => values.append_null(),
            Values::Choice { index, .. } | Values::Interned { index, .. } => index.push(0),
            Values::OfStream { .. } => debug_assert!(false, "each event has a tracefile"),
            Values::List { offsets, .. } => offsets.push(*offsets.last().unwrap_or(&0)),
            Values::Struct { .. } | Values::Variant { .. } => self.null_parts(node, None),
        }
    }

    /// Appends nulls to all parts of a structure or variant but one.
    pub(super) fn null_parts(&mut self, node: NodeId, but: Option<usize>) {
        let part = |columns: &Columns, number: usize| match &columns.nodes[node].values {
            Values::Struct { nodes, .. } | Values::Variant { nodes, .. } => {
                nodes.get(number).copied()
            }
            _ => None,
        };
        let mut number = 0;
        while let Some(part) = part(self, number) {
            if Some(number) != but {
                self.null(part);
            }
            number += 1;
        }
        if let Values::Variant { tag, .. } = self.nodes[node].values
            && but.is_none()
        {
            self.null(tag);
        }
    }

    /// Appends an integer, given as 64 bits, to a column of numbers.
    #[inline]
    pub(super) fn integer(&mut self, node: NodeId, value: u64) {
        let Node { values, valid } = &mut self.nodes[node];
        valid.append_non_null();
        match values {
            Values::I8(values) => values.push(value as i8),
            Values::I16(values) => values.push(value as i16),
            Values::I32(values) => values.push(value as i32),
            Values::I64(values) | Values::Time(values) => values.push(value as i64),
            Values::U8(values) => values.push(value as u8),
            Values::U16(values) => values.push(value as u16),
            Values::U32(values) => values.push(value as u32),
            Values::U64(values) => values.push(value),
            Values::Choice { index, .. } => index.push(value as u32),
            Values::Bool(values) => values.append(value != 0),
            _ => debug_assert!(false, "an integer in a column of another type"),
        }
    }

    /// Appends integers, each given as 64 bits, to a column of numbers.
    pub(super) fn extend(&mut self, node: NodeId, from: impl ExactSizeIterator<Item = u64>) {
        let Node { values, valid } = &mut self.nodes[node];
        valid.append_n_non_nulls(from.len());
        match values {
            Values::I8(values) => values.extend(from.map(|value| value as i8)),
            Values::I16(values) => values.extend(from.map(|value| value as i16)),
            Values::I32(values) => values.extend(from.map(|value| value as i32)),
            Values::I64(values) | Values::Time(values) => {
                values.extend(from.map(|value| value as i64));
            }
            Values::U8(values) => values.extend(from.map(|value| value as u8)),
            Values::U16(values) => values.extend(from.map(|value| value as u16)),
            Values::U32(values) => values.extend(from.map(|value| value as u32)),
            Values::U64(values) => values.extend(from),
            Values::Choice { index, .. } => index.extend(from.map(|value| value as u32)),
            Values::Bool(values) => from.for_each(|value| values.append(value != 0)),
            _ => debug_assert!(false, "integers in a column of another type"),
        }
    }

    /// Appends texts or blobs, which are between neighbouring ones of `ends`.
    pub(super) fn extend_bytes(&mut self, node: NodeId, ends: &[i64], bytes: &[u8]) {
        for ends in ends.windows(2) {
            let value = &bytes[ends[0] as usize..ends[1] as usize];
            match self.nodes[node].values {
                Values::Bytes(_) => self.blob(node, value),
                _ => self.recorded_text(node, value),
            }
        }
    }

    /// Appends a floating-point number.
    pub(super) fn float(&mut self, node: NodeId, value: f64) {
        let Node { values, valid } = &mut self.nodes[node];
        valid.append_non_null();
        match values {
            Values::F32(values) => values.push(value as f32),
            Values::F64(values) => values.push(value),
            _ => debug_assert!(false, "a float in a column of another type"),
        }
    }

    /// Appends a text.
    #[inline]
    pub(super) fn text(&mut self, node: NodeId, value: &str) {
        let Node { values, valid } = &mut self.nodes[node];
        match values {
            Values::Text(values) => {
                self.bytes += value.len();
                values.append_value(value);
            }
            Values::Interned { index, texts } => {
                let before = texts.size();
                index.push(texts.number(value.as_bytes()));
                valid.append_non_null();
                self.bytes += texts.size() - before;
            }
            _ => debug_assert!(false, "a text in a column of another type"),
        }
    }

    /// Appends a text that should be UTF-8.
    #[inline]
    pub(super) fn recorded_text(&mut self, node: NodeId, value: &[u8]) {
        let Node { values, valid } = &mut self.nodes[node];
        match values {
            Values::Interned { index, texts } => {
                let before = texts.size();
                index.push(texts.number(value));
                valid.append_non_null();
                self.bytes += texts.size() - before;
            }
            _ => self.text(node, &utf8_of(value)),
        }
    }

    /// Appends the bytes of a blob.
    pub(super) fn blob(&mut self, node: NodeId, value: &[u8]) {
        self.bytes += value.len();
        match &mut self.nodes[node].values {
            Values::Bytes(values) => values.append_value(value),
            _ => debug_assert!(false, "bytes in a column of another type"),
        }
    }

    /// Ends a list, whose elements have been appended.
    pub(super) fn end_list(&mut self, node: NodeId) {
        let Values::List { element, .. } = self.nodes[node].values else { return };
        let len = self.len(element);
        let Node { values, valid } = &mut self.nodes[node];
        if let Values::List { offsets, .. } = values {
            let before = offsets.last().copied().unwrap_or(0);
            self.is_too_long |= i32::try_from(len).is_err();
            offsets.push(i32::try_from(len).unwrap_or(i32::MAX));
            self.bytes += 8 * (len - before as usize);
            valid.append_non_null();
        }
    }

    /// Marks a structure or variant whose parts have been appended as present.
    pub(super) fn end_parts(&mut self, node: NodeId) {
        self.nodes[node].valid.append_non_null();
    }

    /// Returns the number of values of a node.
    fn len(&self, node: NodeId) -> usize {
        match &self.nodes[node].values {
            Values::Text(values) => arrow_array::builder::ArrayBuilder::len(values),
            Values::Bytes(values) => arrow_array::builder::ArrayBuilder::len(values),
            _ => self.nodes[node].valid.len(),
        }
    }

    /// Takes the values of a column.
    ///
    /// # Errors
    ///
    /// If the parts of a nested column do not fit together.
    pub(super) fn finish_column(&mut self, node: NodeId) -> Result<ArrayRef, ArrowError> {
        let Columns { nodes, streams, has_keys, .. } = self;
        let Node { values, valid } = &mut nodes[node];
        let (index, texts) = match values {
            Values::Choice { index, choices } if *has_keys => (renewed(index), choices.clone()),
            Values::OfStream { known, choices } => {
                let index: Vec<u32> = streams.iter().map(|of| known[*of as usize]).collect();
                match choices {
                    Some(choices) if *has_keys => (index, choices.clone()),
                    Some(choices) => {
                        return arrow_select::take::take(
                            choices,
                            &UInt32Array::new(index.into(), None),
                            None,
                        );
                    }
                    None => return Ok(Arc::new(UInt32Array::new(index.into(), None))),
                }
            }
            Values::Interned { index, texts } => (renewed(index), texts.take()),
            _ => return self.finish(node),
        };
        let keys = UInt32Array::new(ScalarBuffer::from(index), valid.finish());
        if matches!(values, Values::Interned { .. }) && texts.len() > keys.len() / 2 {
            // Most texts differ: a dictionary would be larger than the texts.
            return arrow_select::take::take(&texts, &keys, None);
        }
        Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(texts))?))
    }

    fn finish(&mut self, node: NodeId) -> Result<ArrayRef, ArrowError> {
        if self.is_too_long {
            return Err(ArrowError::OffsetOverflowError(i32::MAX as usize));
        }
        let Node { values, valid } = &mut self.nodes[node];
        let nulls = valid.finish();
        Ok(match values {
            Values::I8(values) => primitive::<Int8Type>(values, nulls),
            Values::I16(values) => primitive::<Int16Type>(values, nulls),
            Values::I32(values) => primitive::<Int32Type>(values, nulls),
            Values::I64(values) => primitive::<Int64Type>(values, nulls),
            Values::U8(values) => primitive::<UInt8Type>(values, nulls),
            Values::U16(values) => primitive::<UInt16Type>(values, nulls),
            Values::U32(values) => primitive::<UInt32Type>(values, nulls),
            Values::U64(values) => primitive::<UInt64Type>(values, nulls),
            Values::Time(values) => primitive::<TimestampNanosecondType>(values, nulls),
            Values::F32(values) => primitive::<Float32Type>(values, nulls),
            Values::F64(values) => primitive::<Float64Type>(values, nulls),
            Values::Bool(values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Values::Text(values) => Arc::new(values.finish()),
            Values::Bytes(values) => Arc::new(values.finish()),
            Values::Choice { index, choices } => {
                let index = UInt32Array::new(ScalarBuffer::from(mem::take(index)), nulls);
                arrow_select::take::take(choices, &index, None)?
            }
            Values::OfStream { .. } => return self.finish_column(node),
            Values::Interned { index, texts } => {
                let index = UInt32Array::new(ScalarBuffer::from(mem::take(index)), nulls);
                arrow_select::take::take(&texts.take(), &index, None)?
            }
            Values::List { offsets, element, shape } => {
                let offsets = mem::replace(offsets, vec![0]);
                let (element, item) = (*element, Arc::new(shape::item(shape)));
                let elements = self.finish(element)?;
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                Arc::new(ListArray::try_new(item, offsets, elements, nulls)?)
            }
            Values::Struct { members, nodes } => {
                let (fields, nodes) = (shape::fields(members), nodes.clone());
                let arrays = nodes.into_iter().map(|node| self.finish(node));
                let arrays = arrays.collect::<Result<_, _>>()?;
                Arc::new(StructArray::try_new(fields, arrays, nulls)?)
            }
            Values::Variant { tag, members, nodes } => {
                let whole = Shape::Variant(members.clone()).data_type();
                let nodes: Vec<_> = std::iter::once(*tag).chain(nodes.iter().copied()).collect();
                let arrays = nodes.into_iter().map(|node| self.finish(node));
                let arrays = arrays.collect::<Result<_, _>>()?;
                let arrow_schema::DataType::Struct(fields) = whole else {
                    return Err(ArrowError::SchemaError(format!("{TAG} without a structure")));
                };
                Arc::new(StructArray::try_new(fields, arrays, nulls)?)
            }
        })
    }
}

/// Takes the values of a vector, in whose place is room for as many.
fn renewed<T>(values: &mut Vec<T>) -> Vec<T> {
    let room = values.len();
    mem::replace(values, Vec::with_capacity(room))
}

fn primitive<T: ArrowPrimitiveType>(
    values: &mut Vec<T::Native>,
    nulls: Option<arrow_buffer::NullBuffer>,
) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(renewed(values)), nulls))
}
