//! Column chunks with a dictionary, of integers and of texts whose numbers are known.
//!
//! The writer of the `parquet` crate looks up each value with a hash that resists attacks, and has a
//! compressor for each chunk. Here texts come with numbers, integers are looked up in a small table, and one
//! compressor serves a thread.

use std::cell::RefCell;
use std::io;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowNativeTypeOp};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use bytes::Bytes;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use parquet::basic::Encoding;
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::parquet::{LEVEL, compression};

/// A value that no row had so far.
const UNUSED: u32 = u32::MAX;

/// The largest number of different integers in a dictionary.
const MAX_INTEGERS: usize = 1 << 15;

/// A number of different integers that always become a dictionary.
const FEW_INTEGERS: usize = 64;

/// The largest number of rows in a chunk, all of which are in one page.
const MAX_ROWS: usize = 1 << 20;

/// A column as numbers of values.
pub(super) struct Numbered {
    /// The number of each row that is not null.
    numbers: Vec<u32>,
    /// The number of different values.
    values: usize,
    /// The values in the order of their numbers, as a dictionary stores them.
    plain: Vec<u8>,
    statistics: Statistics,
}

impl Numbered {
    /// Numbers the values of a column in the order in which they occur. Returns `None` if most of them
    /// differ, and for types that are neither integers nor texts with numbers.
    pub(super) fn new(array: &dyn Array) -> Option<Numbered> {
        let nulls = array.null_count();
        if array.len() > MAX_ROWS || nulls == array.len() {
            return None;
        }
        let nulls = Some(nulls as u64);
        match array.data_type() {
            DataType::Dictionary(..) => texts(array),
            DataType::Int8 => int32::<Int8Type>(array, nulls, i32::from),
            DataType::Int16 => int32::<Int16Type>(array, nulls, i32::from),
            DataType::Int32 => int32::<Int32Type>(array, nulls, |value| value),
            DataType::UInt8 => int32::<UInt8Type>(array, nulls, i32::from),
            DataType::UInt16 => int32::<UInt16Type>(array, nulls, i32::from),
            DataType::UInt32 => int32::<UInt32Type>(array, nulls, |value| value as i32),
            DataType::Int64 => int64::<Int64Type>(array, nulls, |value| value),
            DataType::UInt64 => int64::<UInt64Type>(array, nulls, |value| value as i64),
            _ => None,
        }
    }
}

fn int32<T: ArrowPrimitiveType>(
    array: &dyn Array,
    nulls: Option<u64>,
    stored: impl Fn(T::Native) -> i32,
) -> Option<Numbered> {
    let (numbers, used) = integers::<T>(array, |value| u64::from(stored(value) as u32))?;
    let plain = used.iter().flat_map(|value| stored(*value).to_le_bytes()).collect();
    let (least, most) = bounds(&used);
    let (least, most) = (least.map(&stored), most.map(&stored));
    let statistics = Statistics::int32(least, most, None, nulls, false);
    Some(Numbered { numbers, values: used.len(), plain, statistics })
}

fn int64<T: ArrowPrimitiveType>(
    array: &dyn Array,
    nulls: Option<u64>,
    stored: impl Fn(T::Native) -> i64,
) -> Option<Numbered> {
    let (numbers, used) = integers::<T>(array, |value| stored(value) as u64)?;
    let plain = used.iter().flat_map(|value| stored(*value).to_le_bytes()).collect();
    let (least, most) = bounds(&used);
    let (least, most) = (least.map(&stored), most.map(&stored));
    let statistics = Statistics::int64(least, most, None, nulls, false);
    Some(Numbered { numbers, values: used.len(), plain, statistics })
}

/// Returns the least and the greatest value, in the order of their type.
fn bounds<V: ArrowNativeTypeOp>(values: &[V]) -> (Option<V>, Option<V>) {
    let least = values.iter().copied().reduce(|a, b| if b.is_lt(a) { b } else { a });
    let most = values.iter().copied().reduce(|a, b| if b.is_gt(a) { b } else { a });
    (least, most)
}

/// Numbers integers, which `bits` makes keys. Returns the number of each row that is not null, and the
/// integers in the order of their numbers; `None` if most of them differ.
fn integers<T: ArrowPrimitiveType>(
    array: &dyn Array,
    bits: impl Fn(T::Native) -> u64,
) -> Option<(Vec<u32>, Vec<T::Native>)> {
    let array = array.as_primitive::<T>();
    let rows = array.len() - array.null_count();
    let most = (rows / 2).clamp(FEW_INTEGERS, MAX_INTEGERS);
    let mut numbers = Vec::with_capacity(rows);
    let mut used: Vec<T::Native> = Vec::new();
    let mut number_of = HashMap::<u64, u32>::new();
    let mut last = None;
    let mut number = |value: T::Native| {
        let key = bits(value);
        if let Some((of_last, number)) = last
            && of_last == key
        {
            return Some(number);
        }
        let number = match number_of.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if used.len() >= most => return None,
            Entry::Vacant(place) => {
                used.push(value);
                *place.insert(used.len() as u32 - 1)
            }
        };
        last = Some((key, number));
        Some(number)
    };
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        Some(nulls) => {
            for row in nulls.valid_indices() {
                numbers.push(number(array.value(row))?);
            }
        }
        None => {
            for value in array.values() {
                numbers.push(number(*value)?);
            }
        }
    }
    Some((numbers, used))
}

/// Numbers the texts that occur among known ones.
fn texts(array: &dyn Array) -> Option<Numbered> {
    let keyed = array.as_dictionary_opt::<UInt32Type>()?;
    let known = keyed.values().as_string_view_opt()?;
    let (mut number_of, mut used) = (vec![UNUSED; known.len()], Vec::new());
    let number = |key: u32| {
        let number = &mut number_of[key as usize];
        if *number == UNUSED {
            *number = used.len() as u32;
            used.push(known.value(key as usize));
        }
        *number
    };
    let keys = keyed.keys();
    let numbers = match keys.nulls().filter(|nulls| nulls.null_count() > 0) {
        Some(nulls) => nulls.valid_indices().map(|row| keys.value(row)).map(number).collect(),
        None => keys.values().iter().copied().map(number).collect(),
    };
    let mut plain = Vec::new();
    for text in &used {
        plain.extend_from_slice(&(text.len() as u32).to_le_bytes());
        plain.extend_from_slice(text.as_bytes());
    }
    let bound = |text: Option<&&str>| text.map(|text| ByteArray::from(*text));
    let (least, most) = (bound(used.iter().min()), bound(used.iter().max()));
    let nulls = Some(array.null_count() as u64);
    let statistics = Statistics::byte_array(least, most, None, nulls, false);
    Some(Numbered { numbers, values: used.len(), plain, statistics })
}

/// Encodes a column: a page with its values, and one with the number of each row.
pub(super) fn encode(
    numbered: Numbered,
    array: &dyn Array,
    column: ColumnDescPtr,
) -> Result<(Bytes, ColumnCloseResult)> {
    let Numbered { numbers, values, plain, statistics } = numbered;
    let mut body = Vec::new();
    if column.max_def_level() > 0 {
        let levels = presence(array.nulls(), array.len());
        body.extend_from_slice(&(levels.len() as u32).to_le_bytes());
        body.extend_from_slice(&levels);
    }
    pack(&numbers, values, &mut body);
    let mut sink = TrackedWrite::new(Vec::new());
    let mut pages = SerializedPageWriter::new(&mut sink);
    let dictionary = pages.write_page(CompressedPage::new(
        Page::DictionaryPage {
            buf: compressed(&plain)?,
            num_values: values as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        },
        plain.len(),
    ))?;
    let data = pages.write_page(CompressedPage::new(
        Page::DataPage {
            buf: compressed(&body)?,
            num_values: array.len() as u32,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        },
        body.len(),
    ))?;
    pages.close()?;
    let metadata = ColumnChunkMetaData::builder(column)
        .set_compression(compression())
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
        .set_num_values(array.len() as i64)
        .set_total_compressed_size((dictionary.compressed_size + data.compressed_size) as i64)
        .set_total_uncompressed_size((dictionary.uncompressed_size + data.uncompressed_size) as i64)
        .set_dictionary_page_offset(Some(dictionary.offset as i64))
        .set_data_page_offset(data.offset as i64)
        .set_statistics(statistics)
        .build()?;
    let mut offsets = OffsetIndexBuilder::new();
    offsets.append_row_count(array.len() as i64);
    offsets.append_offset_and_size(data.offset as i64, data.compressed_size as i32);
    let close = ColumnCloseResult {
        bytes_written: dictionary.bytes_written + data.bytes_written,
        rows_written: array.len() as u64,
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: Some(offsets.build()),
    };
    Ok((sink.into_inner()?.into(), close))
}

/// Returns a bit for each row, which is 1 if the row is not null, in the hybrid encoding of Parquet.
fn presence(nulls: Option<&NullBuffer>, rows: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    match nulls.filter(|nulls| nulls.null_count() > 0) {
        Some(nulls) => {
            let bits: Vec<u32> = nulls.iter().map(u32::from).collect();
            pack_groups(&bits, 1, &mut bytes);
        }
        // A run of ones.
        None => {
            put_varint((rows as u64) << 1, &mut bytes);
            bytes.push(1);
        }
    }
    bytes
}

/// Packs numbers below `limit` in the hybrid encoding of Parquet, after a byte with their width in bits.
fn pack(numbers: &[u32], limit: usize, bytes: &mut Vec<u8>) {
    let width = (limit.max(1) - 1).checked_ilog2().map_or(0, |last| last + 1);
    bytes.push(width as u8);
    match width {
        // A run of one value, which needs no bits.
        0 => put_varint((numbers.len() as u64) << 1, bytes),
        width => pack_groups(numbers, width, bytes),
    }
}

/// Packs numbers in groups of eight.
fn pack_groups(numbers: &[u32], width: u32, bytes: &mut Vec<u8>) {
    let groups = numbers.len().div_ceil(8);
    put_varint((groups as u64) << 1 | 1, bytes);
    bytes.reserve(groups * width as usize);
    let (mut bits, mut filled) = (0u64, 0);
    let padding = std::iter::repeat_n(&0, 8 * groups - numbers.len());
    for number in numbers.iter().chain(padding) {
        bits |= u64::from(*number) << filled;
        filled += width;
        if filled >= 32 {
            bytes.extend_from_slice(&(bits as u32).to_le_bytes());
            bits >>= 32;
            filled -= 32;
        }
    }
    bytes.extend_from_slice(&bits.to_le_bytes()[..filled as usize / 8]);
}

fn put_varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Compresses a page.
fn compressed(bytes: &[u8]) -> io::Result<Bytes> {
    thread_local! {
        static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> =
            const { RefCell::new(None) };
    }
    COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(compressor) => compressor,
            None => kept.insert(zstd::bulk::Compressor::new(LEVEL)?),
        };
        compressor.compress(bytes).map(Bytes::from)
    })
}

#[cfg(test)]
mod tests {
    use arrow_array::{Int64Array, UInt8Array};

    use super::*;

    fn packed(numbers: &[u32], limit: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        pack(numbers, limit, &mut bytes);
        bytes
    }

    #[test]
    fn numbers_are_packed_from_the_lowest_bit_on() {
        // The example of the specification: 0 to 7 with three bits.
        let numbers: Vec<u32> = (0..8).collect();
        assert_eq!(packed(&numbers, 8), [3, 3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
        assert_eq!(packed(&[0; 300], 1), [0, 0xd8, 0x04], "a run of 300");
        assert_eq!(packed(&[1], 2), [1, 3, 1]);
        assert_eq!(packed(&[0xabcde], 1 << 20)[2..5], [0xde, 0xbc, 0x0a]);
        assert_eq!(packed(&[1; 17], 1 << 17).len(), 2 + 3 * 17);
        let nulls = NullBuffer::from(vec![true, false, true]);
        assert_eq!(presence(Some(&nulls), 3), [3, 0b101]);
        assert_eq!(presence(None, 3), [6, 1]);
    }

    #[test]
    fn integers_are_numbered_as_they_occur() {
        let array = Int64Array::from(vec![Some(7), None, Some(-3), Some(7), Some(7), Some(-3)]);
        let numbered = Numbered::new(&array).expect("few values");
        assert_eq!((&*numbered.numbers, numbered.values), (&[0, 1, 0, 0, 1][..], 2));
        assert_eq!(numbered.plain, [7i64.to_le_bytes(), (-3i64).to_le_bytes()].concat());
        assert!(Numbered::new(&Int64Array::from_iter_values(0..100)).is_none(), "all differ");
        let many = UInt8Array::from_iter_values((0..=255).chain(0..=255));
        assert_eq!(Numbered::new(&many).expect("half of them").values, 256);
    }
}
