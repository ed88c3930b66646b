//! `docs/history-format.md`, against the files that a builder writes. The decoder here is
//! written from that document, and shares no code with the library.

use std::path::Path;

use lttv_state::history::{Builder, History, Identity, Settings};
use lttv_state::tree::Quark;
use lttv_state::value::Value;

/// Bytes that are read from front to back.
#[derive(Clone, Copy)]
struct Input<'d>(&'d [u8]);

impl<'d> Input<'d> {
    fn take(&mut self, len: usize) -> &'d [u8] {
        let (taken, rest) = self.0.split_at(len);
        self.0 = rest;
        taken
    }

    fn int(&mut self, width: usize) -> u64 {
        self.take(width).iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
    }

    fn u32(&mut self) -> usize {
        self.int(4) as usize
    }

    fn u64(&mut self) -> u64 {
        self.int(8)
    }

    fn varint(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = self.int(1);
            value |= (byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }

    fn lz4(&mut self) -> Vec<u8> {
        let len = self.varint() as usize;
        let plain = lz4_flex::block::decompress(self.0, len).unwrap();
        assert_eq!(plain.len(), len);
        plain
    }
}

fn bits(value: u64) -> usize {
    64 - value.leading_zeros() as usize
}

fn bit_field(data: &[u8], at: usize, width: usize) -> u64 {
    (0..width).fold(0, |all, i| {
        let bit = data[(at + i) / 8] >> ((at + i) % 8) & 1;
        all | u64::from(bit) << i
    })
}

/// Kind and bits of a value.
type Raw = (u64, u64);

#[derive(Debug, Clone, PartialEq)]
struct Interval {
    start: i64,
    end: i64,
    value: Raw,
}

#[derive(Debug)]
struct Head {
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
    name_bytes: usize,
    text_bytes: usize,
    body_bytes: usize,
}

impl Head {
    fn read(input: &mut Input<'_>) -> Head {
        Head {
            base: input.u64() as i64,
            horizon: input.u64() as i64,
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

/// All that a file contains.
#[derive(Debug, Default)]
struct File {
    start: i64,
    end: i64,
    producer: String,
    source: Vec<u8>,
    version: u64,
    options: u64,
    /// Parent and name of each attribute.
    names: Vec<(Option<usize>, String)>,
    texts: Vec<Vec<u8>>,
    /// The intervals of each attribute, and of each the block in which it ended.
    intervals: Vec<Vec<(Interval, usize)>>,
    open: Vec<Option<(i64, Raw)>>,
    blocks: usize,
    note: Option<(i64, Vec<u8>)>,
}

impl File {
    fn read(file: &[u8]) -> File {
        let mut found = File::default();
        let mut header = Input(file);
        assert_eq!(header.take(8), b"\x89LSH\r\n\x1a\n");
        assert_eq!(header.u32(), 5);
        let rest = header.u32();
        let check = header.u32();
        assert_eq!(crc32fast::hash(&[&file[8..16], &file[20..20 + rest]].concat()) as usize, check);
        found.start = header.u64() as i64;
        let len = header.varint() as usize;
        found.producer = String::from_utf8(header.take(len).to_vec()).unwrap();
        let len = header.varint() as usize;
        found.source = header.take(len).to_vec();
        found.version = header.int(4);
        found.options = header.u64();
        assert_eq!(file.len() - header.0.len(), 20 + rest);

        let mut trailer = Input(&file[file.len() - 28..]);
        assert_eq!(trailer.take(8), b"\n\x1a\n\rHSL\x89");
        let check = crc32fast::hash(&trailer.0[..16]);
        let (index_at, len) = (trailer.u64() as usize, trailer.u64() as usize);
        assert_eq!((len, trailer.int(4)), (file.len(), check.into()));

        let mut index = Input(frame(file, index_at, 2));
        assert_eq!(index_at + 16 + index.0.len(), file.len() - 28);
        found.end = index.u64() as i64;
        let (attributes, blocks) = (index.u32(), index.u32());
        found.blocks = blocks;
        found.intervals = vec![Vec::new(); attributes];
        found.open = vec![None; attributes];
        let (mut at, mut horizon) = (20 + rest, found.start);
        let mut present = vec![Vec::new(); blocks];
        for (block, present) in present.iter_mut().enumerate() {
            assert_eq!((index.u64() as usize, at), (at, at));
            let len = index.u64() as usize;
            let mut content = Input(frame(file, at, 1));
            assert_eq!(content.0.len(), len);
            assert_eq!(index.take(76), &content.0[..76]);
            let head = Head::read(&mut content);
            assert_eq!((head.base, head.first_quark), (horizon, found.names.len()));
            assert_eq!(head.first_text, found.texts.len());
            *present = found.read_block(block, &head, content);
            (at, horizon) = (at + 16 + len, head.horizon);
        }
        assert_eq!((at, attributes), (index_at, found.names.len()));
        for (group, present) in present.chunks(64).enumerate() {
            for quark in 0..attributes {
                let row = index.int(present.len().div_ceil(8));
                for (i, present) in present.iter().enumerate() {
                    let bit = row >> i & 1 == 1;
                    assert_eq!(bit, present.contains(&quark), "{quark} in {group} {i}");
                }
                assert_eq!(row.checked_shr(present.len() as u32).unwrap_or(0), 0);
            }
        }
        found.check_tree(&mut index);
        if !index.0.is_empty() {
            let (time, note_horizon) = (index.u64() as i64, index.u64() as i64);
            assert!(note_horizon <= horizon);
            found.note = Some((time, index.lz4()));
        }
        found
    }

    /// Adds what a block contains; returns the attributes that have column chunks.
    fn read_block(&mut self, block: usize, head: &Head, mut content: Input<'_>) -> Vec<usize> {
        if head.name_bytes > 0 {
            let names = Input(content.take(head.name_bytes)).lz4();
            let mut names = Input(&names);
            while !names.0.is_empty() {
                let distance = names.varint() as usize;
                let parent = (distance > 0).then(|| self.names.len() - distance);
                let len = names.varint() as usize;
                let name = String::from_utf8(names.take(len).to_vec()).unwrap();
                self.names.push((parent, name));
            }
        }
        assert_eq!(self.names.len(), head.quarks);

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
        let tags: Vec<u64> = (0..head.tags).map(|_| content.int(4)).collect();
        let records: Vec<[u64; 4]> =
            (0..head.chunks).map(|_| head.widths.map(|width| content.int(width))).collect();
        let bodies = content.take(head.body_bytes);
        assert!(content.0.is_empty());
        let mut intervals = 0;
        for (quark, [count, tag, lead, body]) in present.iter().zip(records) {
            let body = &bodies[body as usize..];
            let (ended, open) = read_chunk(head, tags[tag as usize], count, lead, body);
            intervals += ended.len() as u64;
            assert!(ended.iter().all(|i| head.base <= i.end && i.end < head.horizon));
            self.intervals[*quark].extend(ended.into_iter().map(|interval| (interval, block)));
            self.open[*quark] = Some(open);
        }
        assert_eq!(intervals, head.intervals);
        present
    }

    /// All intervals of an attribute, and of each the block in which it ended.
    fn all_of(&self, quark: usize) -> Vec<(Interval, usize)> {
        let mut all = self.intervals[quark].clone();
        let (start, value) = self.open[quark].unwrap_or((self.start, (0, 0)));
        all.push((Interval { start, end: self.end, value }, self.blocks));
        all
    }

    /// Reads the segment tree: it has exactly the intervals that it should have, and those
    /// that span a block are on the path from its leaf to the root.
    fn check_tree(&self, index: &mut Input<'_>) {
        let (size, values) = (index.u32(), index.u32());
        assert!(size.is_power_of_two() && size >= self.blocks);
        let widths = [(); 4].map(|()| index.int(1) as usize);
        let values: Vec<Raw> = (0..values).map(|_| (index.int(1), index.u64())).collect();
        let ends: Vec<usize> = (0..2 * size).map(|_| index.u32()).collect();
        assert_eq!(ends[0], 0);
        let entries: Vec<(usize, Interval)> = (0..ends[2 * size - 1])
            .map(|_| {
                let [quark, start, end, value] = widths.map(|width| index.int(width));
                let time = |offset| self.start.wrapping_add(offset as i64);
                let value = values[value as usize];
                (quark as usize, Interval { start: time(start), end: time(end), value })
            })
            .collect();
        let at_node = |node: usize| &entries[ends[node - 1]..ends[node]];
        for node in 1..2 * size {
            assert!(at_node(node).is_sorted_by_key(|(quark, _)| *quark));
        }
        for quark in 0..self.intervals.len() {
            let mut first = 0;
            for (interval, end_block) in self.all_of(quark) {
                for block in first + 1..end_block {
                    let path = std::iter::successors(Some(size + block), |node| Some(node / 2));
                    let found: Vec<_> = path
                        .take_while(|node| *node > 0)
                        .flat_map(at_node)
                        .filter(|(q, i)| *q == quark && i.start == interval.start)
                        .collect();
                    assert_eq!(found, [&(quark, interval.clone())], "block {block}");
                }
                first = end_block;
            }
        }
        for (quark, interval) in &entries {
            assert!(self.all_of(*quark).iter().any(|(i, _)| i == interval));
        }
    }
}

/// The content of a frame.
fn frame(file: &[u8], at: usize, kind: usize) -> &[u8] {
    let mut frame = Input(&file[at..]);
    let check = frame.u32();
    assert_eq!(frame.u32(), kind);
    let len = frame.u64() as usize;
    assert_eq!(crc32fast::hash(&file[at + 4..at + 16 + len]) as usize, check);
    frame.take(len)
}

/// The intervals of a column chunk, and start and value of the open one.
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
    assert!(low_bits + width > 0);
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
    let least = match kind {
        1 | 2 => (key >> 1) ^ (key & 1).wrapping_neg(),
        _ => key,
    };
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

/// A history of all kinds of values, of many blocks, in which some attributes change all the
/// time, and others seldom or never.
fn build(path: &Path, block_intervals: u32) -> History {
    let identity = Identity {
        producer: "format test".into(),
        version: 3,
        options: 0x0123_4567_89ab_cdef,
        source: vec![1, 2, 3],
    };
    let mut settings = Settings::default();
    settings.identity = identity;
    settings.block_intervals = Some(block_intervals);
    let mut builder = Builder::create(path, -1_000, settings).unwrap();
    let quarks: Vec<Quark> =
        (0..90).map(|i| builder.add(&format!("group {}/{i}", i % 7)).unwrap()).collect();
    builder.add("never set").unwrap();
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut t = -1_000;
    for step in 0..30_000u64 {
        t += random(3) as i64 * if step % 5_000 == 0 { 1 << 40 } else { 1 };
        // Low numbers change often, and high ones seldom.
        let of = random(90).min(random(90)).min(random(90));
        let quark = quarks[of as usize];
        let text = format!("text {}", random(300));
        let value = match (of % 8, random(10)) {
            (7, _) if random(50) > 0 => continue,
            (_, 0) => Value::Null,
            (0, _) => Value::I32(random(9) as i32 - 4),
            (1, _) => Value::I64(random(1 << 30) as i64 - (1 << 29)),
            (2, _) => Value::U64(u64::MAX - random(3)),
            (3, _) => Value::F64([0.0, -0.0, f64::NAN, 1.5e300][random(4) as usize]),
            (4, _) => Value::Str(&text),
            (5, _) => Value::Blob(text.as_bytes()),
            (6, 1..4) => Value::I32(-1),
            (6, _) => Value::Str(&text),
            _ => Value::I64([i64::MIN, i64::MAX][random(2) as usize]),
        };
        builder.set(quark, t, value).unwrap();
        if step == 20_000 {
            builder.mark(t, b"as far as here").unwrap();
            t += 1;
        }
    }
    builder.add("late/attribute").unwrap();
    builder.close(t + 5).unwrap()
}

fn raw(file: &File, value: Value<'_>) -> Raw {
    let text = |bytes: &[u8]| file.texts.iter().position(|text| text == bytes).unwrap() as u64;
    match value {
        Value::Null => (0, 0),
        Value::I32(v) => (1, i64::from(v) as u64),
        Value::I64(v) => (2, v as u64),
        Value::U64(v) => (3, v),
        Value::F64(v) => (4, v.to_bits()),
        Value::Str(v) => (5, text(v.as_bytes())),
        Value::Blob(v) => (6, text(v)),
    }
}

#[test]
fn files_are_as_documented() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history");
    for block_intervals in [40, 1_000, 100_000] {
        let history = build(&path, block_intervals);
        let file = File::read(&std::fs::read(&path).unwrap());
        assert_eq!((file.start, file.end), (history.start(), history.end()));
        let identity = history.identity();
        assert_eq!(file.producer, identity.producer);
        assert_eq!(file.source, identity.source);
        assert_eq!((file.version, file.options), (u64::from(identity.version), identity.options));
        let mark = history.mark().unwrap();
        assert_eq!(file.note, Some((mark.time, mark.note.clone())));
        let tree = history.tree();
        assert_eq!((file.names.len(), file.blocks), (tree.len(), history.blocks()));
        for (quark, (parent, name)) in tree.quarks().zip(&file.names) {
            let expected = tree.parent(quark).filter(|parent| *parent != Quark::ROOT);
            assert_eq!(*parent, expected.map(Quark::index));
            assert_eq!(Some(&name[..]), tree.name(quark));
            let intervals = file.all_of(quark.index());
            let expected = history.intervals(quark, history.start()..=history.end()).unwrap();
            let expected: Vec<_> = expected.map(Result::unwrap).collect();
            assert_eq!(intervals.len(), expected.len());
            for ((interval, _), expected) in intervals.iter().zip(expected) {
                let value = raw(&file, expected.value);
                let (start, end) = (expected.start, expected.end);
                assert_eq!(*interval, Interval { start, end, value });
            }
        }
    }
}

#[test]
fn the_example_is_the_file_that_is_written() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/history-format.md");
    let document = std::fs::read_to_string(document).unwrap();
    let (_, example) = document.split_once("## An example").unwrap();
    let listing = example.split("```").nth(1).unwrap();
    let mut expected = Vec::new();
    for line in listing.lines().skip(1) {
        let mut columns = line.split("  ");
        let offset = usize::from_str_radix(columns.next().unwrap(), 16).unwrap();
        assert_eq!(offset, expected.len(), "{line}");
        let bytes = columns.next().unwrap().split_whitespace();
        expected.extend(bytes.map(|byte| u8::from_str_radix(byte, 16).unwrap()));
    }

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history");
    let mut builder = Builder::create(&path, 0, Settings::default()).unwrap();
    let door = builder.add("door").unwrap();
    builder.set(door, 100, "open").unwrap();
    builder.set(door, 250, "closed").unwrap();
    builder.close(1_000).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), expected);
    assert_eq!(File::read(&expected).names, [(None, "door".into())]);
}
