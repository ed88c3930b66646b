//! A reader of history files that is written from `docs/history-format.md` alone. It uses
//! nothing of the library, and panics if a file differs from the document.
#![allow(dead_code)]

pub(crate) mod bytes;
pub(crate) mod segment_tree;

use std::collections::BTreeSet;

use bytes::{Input, bit_field, bits, crc32, unzigzag};
use segment_tree::SegmentTree;

pub(crate) const MAGIC: &[u8; 8] = b"\x89LSH\r\n\x1a\n";
pub(crate) const END_MAGIC: &[u8; 8] = b"\n\x1a\n\rHSL\x89";
pub(crate) const VERSION: usize = 5;
pub(crate) const FRAME_HEAD: usize = 16;
pub(crate) const HEAD: usize = 76;
pub(crate) const TRAILER: usize = 28;

/// A value as it is stored: kind and bits.
pub(crate) type Raw = (u64, u64);

/// A value, with its text or blob.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    I32(i32),
    I64(i64),
    U64(u64),
    /// The bits of the number.
    F64(u64),
    Text(String),
    Blob(Vec<u8>),
}

/// An interval, both ends included.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interval {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) value: Raw,
}

/// An attribute, with what the blocks contain of it.
#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    /// The quark of the parent; `None` if it is the root.
    pub(crate) parent: Option<usize>,
    pub(crate) name: String,
    /// The intervals that ended in blocks, and the number of the block of each.
    pub(crate) ended: Vec<(Interval, usize)>,
    /// The start and the value of the last open interval.
    open: Option<(i64, Raw)>,
}

/// All that a file contains.
#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) producer: String,
    pub(crate) source: Vec<u8>,
    pub(crate) version: u64,
    pub(crate) options: u64,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) texts: Vec<Vec<u8>>,
    /// The number of blocks.
    pub(crate) blocks: usize,
    /// `None` in an unfinished file.
    pub(crate) tree: Option<SegmentTree>,
    /// The tags that column chunks have, and their numbers of buckets.
    pub(crate) encodings: BTreeSet<(u64, u64)>,
    /// The time of the note, and the note.
    pub(crate) note: Option<(i64, Vec<u8>)>,
    /// The first byte after the parts that were read.
    pub(crate) at: usize,
}

impl File {
    /// Reads a finished file.
    pub(crate) fn read(bytes: &[u8]) -> File {
        let mut file = File::read_header(bytes).unwrap();
        let mut trailer = Input(&bytes[bytes.len() - TRAILER..]);
        assert_eq!(trailer.take(8), END_MAGIC);
        let check = crc32(&[&trailer.0[..16]]);
        let (index_at, len) = (trailer.u64() as usize, trailer.u64() as usize);
        assert_eq!((len, trailer.int(4)), (bytes.len(), check));

        let (2, mut index) = frame(bytes, index_at).unwrap() else { panic!("no index") };
        assert_eq!(index_at + FRAME_HEAD + index.0.len(), bytes.len() - TRAILER);
        let end = index.i64();
        let (attributes, blocks) = (index.u32(), index.u32());
        let mut present = Vec::new();
        for _ in 0..blocks {
            assert_eq!(index.u64() as usize, file.at);
            let (1, content) = frame(bytes, file.at).unwrap() else { panic!("no block") };
            assert_eq!(index.u64() as usize, content.0.len());
            assert_eq!(index.take(HEAD), &content.0[..HEAD]);
            present.push(file.read_block(content));
        }
        assert_eq!((file.at, file.attributes.len()), (index_at, attributes));
        let horizon = std::mem::replace(&mut file.end, end);
        assert!(horizon <= end);
        for group in present.chunks(64) {
            for quark in 0..attributes {
                let row = index.int(group.len().div_ceil(8));
                let expected = group.iter().enumerate();
                let expected = expected.map(|(i, block)| u64::from(block.contains(&quark)) << i);
                assert_eq!(row, expected.sum::<u64>());
            }
        }
        file.tree = Some(SegmentTree::read(&mut index, file.start));
        if !index.0.is_empty() {
            let (time, note_horizon) = (index.i64(), index.i64());
            assert!(note_horizon <= horizon);
            file.note = Some((time, index.sized_lz4()));
        }
        file
    }

    /// Reads the complete blocks of an unfinished file. `None` if its header is not
    /// complete.
    pub(crate) fn recover(bytes: &[u8]) -> Option<File> {
        let mut file = File::read_header(bytes)?;
        while let Some((1, content)) = frame(bytes, file.at) {
            file.read_block(content);
        }
        Some(file)
    }

    fn read_header(bytes: &[u8]) -> Option<File> {
        let mut header = Input(bytes.get(..20)?);
        assert_eq!(header.take(8), MAGIC);
        assert_eq!(header.u32(), VERSION);
        let (len, check) = (header.u32(), header.int(4));
        let mut rest = Input(bytes.get(20..20 + len)?);
        assert_eq!(crc32(&[&bytes[8..16], rest.0]), check);
        let start = rest.i64();
        let file = File {
            start,
            end: start,
            producer: text(rest.sized()),
            source: rest.sized().to_vec(),
            version: rest.int(4),
            options: rest.u64(),
            at: 20 + len,
            ..File::default()
        };
        assert!(rest.0.is_empty());
        Some(file)
    }

    /// Adds the content of the next block. Returns the attributes with a column chunk.
    fn read_block(&mut self, mut content: Input<'_>) -> Vec<usize> {
        self.at += FRAME_HEAD + content.0.len();
        let block = self.blocks;
        self.blocks += 1;
        let head = Head::read(&mut content);
        assert_eq!((head.base, head.first_quark), (self.end, self.attributes.len()));
        assert_eq!(head.first_text, self.texts.len());
        assert!(head.base <= head.horizon);
        self.end = head.horizon;

        if head.name_bytes > 0 {
            let names = Input(content.take(head.name_bytes)).sized_lz4();
            let mut names = Input(&names);
            while !names.0.is_empty() {
                let distance = names.varint() as usize;
                let parent = (distance > 0).then(|| self.attributes.len() - distance);
                let name = text(names.sized());
                assert!(!name.is_empty());
                assert!(!self.attributes.iter().any(|of| of.parent == parent && of.name == name));
                self.attributes.push(Attribute { parent, name, ended: Vec::new(), open: None });
            }
        }
        assert_eq!(self.attributes.len(), head.quarks);

        let width = bits(head.text_bytes as u64).max(1);
        let ends = content.take((head.texts * width).div_ceil(8));
        let texts = content.take(head.text_bytes);
        let mut start = 0;
        for i in 0..head.texts {
            let end = bit_field(ends, i * width, width) as usize;
            self.texts.push(texts[start..end].to_vec());
            start = end;
        }

        let mut present = Vec::new();
        for element in 0..head.quarks.div_ceil(64) {
            let word = content.u64();
            assert_eq!(content.u32(), present.len());
            present.extend((0..64).filter(|i| word >> i & 1 == 1).map(|i| element * 64 + i));
        }
        assert_eq!(present.len(), head.chunks);
        assert!(present.iter().all(|quark| *quark < head.quarks));
        let tags: Vec<u64> = (0..head.tags).map(|_| content.int(4)).collect();
        let records: Vec<[u64; 4]> =
            (0..head.chunks).map(|_| head.widths.map(|width| content.int(width))).collect();
        let bodies = content.take(head.body_bytes);
        assert!(content.0.is_empty());
        let mut intervals = 0;
        for (quark, [count, tag, lead, body]) in present.iter().zip(records) {
            let body = &bodies[body as usize..];
            let (ended, open) = read_chunk(&head, tags[tag as usize], count, lead, body);
            let low_bits = tags[tag as usize] >> 17;
            let span = head.horizon.wrapping_sub(head.base) as u64;
            self.encodings.insert((tags[tag as usize], (span >> low_bits) + 1));
            intervals += count;
            assert!(ended.iter().all(|i| head.base <= i.end && i.end < head.horizon));
            let attribute = &mut self.attributes[*quark];
            attribute.ended.extend(ended.into_iter().map(|interval| (interval, block)));
            attribute.open = Some(open);
        }
        assert_eq!(intervals, head.intervals);
        present
    }

    /// Returns all intervals of an attribute, and of each the block in which it ended.
    pub(crate) fn all_of(&self, quark: usize) -> Vec<(Interval, usize)> {
        let mut all = self.attributes[quark].ended.clone();
        let (start, value) = self.attributes[quark].open.unwrap_or((self.start, (0, 0)));
        all.push((Interval { start, end: self.end, value }, self.blocks));
        let mut next = Some(self.start);
        for (interval, _) in &all {
            assert_eq!(Some(interval.start), next);
            assert!(interval.start <= interval.end);
            next = interval.end.checked_add(1);
        }
        all
    }

    pub(crate) fn value(&self, (kind, bits): Raw) -> Value {
        match kind {
            0 => {
                assert_eq!(bits, 0);
                Value::Null
            }
            1 => Value::I32(i32::try_from(bits as i64).unwrap()),
            2 => Value::I64(bits as i64),
            3 => Value::U64(bits),
            4 => Value::F64(bits),
            5 => Value::Text(text(&self.texts[bits as usize])),
            6 => Value::Blob(self.texts[bits as usize].clone()),
            _ => panic!("kind {kind}"),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns the kind and the content of a frame. `None` if it is not complete, or if its
/// checksum is wrong.
pub(crate) fn frame(file: &[u8], at: usize) -> Option<(usize, Input<'_>)> {
    let mut head = Input(file.get(at..at + FRAME_HEAD)?);
    let (check, kind, len) = (head.int(4), head.u32(), usize::try_from(head.u64()).ok()?);
    let content_at = at + FRAME_HEAD;
    let content = file.get(content_at..content_at.checked_add(len)?)?;
    (crc32(&[&file[at + 4..content_at], content]) == check).then_some((kind, Input(content)))
}

/// The head of a block.
#[derive(Debug)]
pub(crate) struct Head {
    base: i64,
    horizon: i64,
    intervals: u64,
    first_quark: usize,
    first_text: usize,
    quarks: usize,
    texts: usize,
    chunks: usize,
    tags: usize,
    widths: [usize; 4],
    pub(crate) name_bytes: usize,
    text_bytes: usize,
    body_bytes: usize,
}

impl Head {
    pub(crate) fn read(input: &mut Input<'_>) -> Head {
        Head {
            base: input.i64(),
            horizon: input.i64(),
            intervals: input.u64(),
            first_quark: input.u32(),
            first_text: input.u32(),
            quarks: input.u32(),
            texts: input.u32(),
            chunks: input.u32(),
            tags: input.u32(),
            widths: [(); 4].map(|()| input.int(1) as usize),
            name_bytes: input.u64() as usize,
            text_bytes: input.u64() as usize,
            body_bytes: input.u64() as usize,
        }
    }
}

/// Reads a column chunk: its intervals, and start and value of the open one.
fn read_chunk(
    head: &Head,
    tag: u64,
    count: u64,
    lead: u64,
    body: &[u8],
) -> (Vec<Interval>, (i64, Raw)) {
    let field = |from: u32, len: u32| tag >> from & ((1 << len) - 1);
    let (dictionary, nulls, kind) = (field(0, 1) == 1, field(1, 1), field(2, 3));
    let (key_len, width) = (field(5, 4) as usize, field(9, 7) as usize);
    let (summary, low_bits) = (field(16, 1) == 1, field(17, 6) as usize);
    assert_eq!(tag >> 23, 0);
    assert!(low_bits + width > 0 && (!dictionary || (nulls, kind) == (0, 0)));
    let span = head.horizon.wrapping_sub(head.base) as u64;
    let buckets = (span >> low_bits) as usize + 1;
    let stride = (low_bits + width).div_ceil(8);

    let key = Input(body).int(key_len);
    let starts_at = key_len * 8 + width;
    let start_width = bits(count);
    let starts: Vec<u64> = (0..buckets)
        .map(|b| match b {
            0 => 0,
            b => bit_field(body, starts_at + (b - 1) * start_width, start_width),
        })
        .collect();
    let entries_at = (starts_at + (buckets - 1) * start_width).div_ceil(8);
    let mut rest = Input(&body[entries_at + count as usize * stride..]);
    let listed: Vec<Raw> = match dictionary {
        true => (0..key).map(|_| (rest.int(1), rest.u64())).collect(),
        false => Vec::new(),
    };
    let least = if matches!(kind, 1 | 2) { unzigzag(key) } else { key };
    let value = |symbol: u64| -> Raw {
        match symbol {
            _ if dictionary => listed[symbol as usize],
            0 if nulls == 1 => (0, 0),
            _ => (kind, least.wrapping_sub(nulls).wrapping_add(symbol)),
        }
    };

    let mut start = head.base.wrapping_sub(lead as i64);
    let mut intervals = Vec::new();
    let mut totals: Vec<(u64, u64, u64)> = Vec::new();
    for i in 0..count {
        let entry = &body[entries_at + i as usize * stride..];
        let bucket = starts.iter().rposition(|start| *start <= i).unwrap() as u64;
        let offset = bucket << low_bits | bit_field(entry, 0, low_bits);
        let symbol = bit_field(entry, low_bits, width);
        assert_eq!(bit_field(entry, low_bits + width, stride * 8 - low_bits - width), 0);
        let end = head.base.wrapping_add(offset as i64);
        intervals.push(Interval { start, end, value: value(symbol) });
        let time = end.wrapping_sub(start) as u64 + 1;
        match totals.iter_mut().find(|(of, ..)| *of == symbol) {
            Some((_, total, n)) => (*total, *n) = (*total + time, *n + 1),
            None => totals.push((symbol, time, 1)),
        }
        start = end + 1;
    }
    if summary {
        let stored: Vec<_> =
            (0..rest.int(1)).map(|_| (rest.varint(), rest.varint(), rest.varint())).collect();
        assert_eq!(stored, totals);
    }
    (intervals, (start, value(bit_field(body, key_len * 8, width))))
}
