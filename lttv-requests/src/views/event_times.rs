//! The times of all events of a trace, packed.

use std::sync::Arc;

use ltt_read::Timestamp;

/// The number of times in a block: they have one width.
const BLOCK: usize = 512;
/// The number of times in a chunk.
const CHUNK: usize = 64 * BLOCK;
/// The number of bytes of a chunk's header in the stored form.
const HEAD: usize = 12;

/// The times of all events of a trace in their order, packed to a few bits each.
///
/// Event lists and histograms of any window need the number of events before a time, and the
/// time of an event by its number. Both take a few hundred nanoseconds here, without reading
/// the trace. Five million events of a kernel trace take about 12 MB.
///
/// A clone shares the times with the original, so that one thread can add times while others
/// use clones.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_requests::views::EventTimes;
///
/// let mut times = EventTimes::new();
/// for ns in [10, 20, 20, 30] {
///     times.push(Timestamp::from_ns(ns));
/// }
/// times.flush();
/// assert_eq!(times.before(Timestamp::from_ns(20)), 1);
/// assert_eq!(times.before(Timestamp::from_ns(21)), 3);
/// assert_eq!(times.get(3), Some(Timestamp::from_ns(30)));
/// ```
#[derive(Debug, Clone, Default)]
pub struct EventTimes {
    /// Full chunks, except for the last one.
    chunks: Vec<Arc<Chunk>>,
    /// The number of times in chunks.
    packed: u64,
    /// Times that are not in a chunk yet.
    open: Vec<i64>,
}

/// Up to [`CHUNK`] times.
#[derive(Debug)]
struct Chunk {
    /// The number of times in earlier chunks.
    before: u64,
    count: u32,
    blocks: Vec<Block>,
    /// The offsets to the first time of each block, packed.
    words: Vec<u64>,
}

/// Up to [`BLOCK`] times.
#[derive(Debug, Clone, Copy)]
struct Block {
    first: i64,
    /// The place of its first bit in the words.
    bit: u32,
    /// The number of bits of each offset.
    width: u8,
}

impl EventTimes {
    /// Creates an empty list.
    pub fn new() -> Self {
        EventTimes::default()
    }

    /// Adds the time of the next event. A time before the previous one, of a damaged trace,
    /// counts as the previous one.
    #[inline]
    pub fn push(&mut self, time: Timestamp) {
        let time = match self.open.last() {
            Some(last) => time.as_ns().max(*last),
            None => self.last().map_or(time.as_ns(), |last| time.as_ns().max(last)),
        };
        self.open.push(time);
        if self.open.len() == CHUNK {
            self.pack();
        }
    }

    /// Includes the last times in queries. Without a call, up to 32 767 times are left out. No
    /// more times can be added afterwards.
    pub fn flush(&mut self) {
        if !self.open.is_empty() {
            self.pack();
        }
    }

    fn pack(&mut self) {
        let chunk = Chunk::of(self.packed, &self.open);
        self.packed += self.open.len() as u64;
        self.chunks.push(Arc::new(chunk));
        self.open.clear();
    }

    /// Returns the number of times.
    pub fn len(&self) -> u64 {
        self.packed
    }

    /// Returns `true` if there are no times.
    pub fn is_empty(&self) -> bool {
        self.packed == 0
    }

    fn last(&self) -> Option<i64> {
        let chunk = self.chunks.last()?;
        Some(chunk.get(chunk.count as usize - 1))
    }

    /// Returns the number of events before a time.
    pub fn before(&self, time: Timestamp) -> u64 {
        let time = time.as_ns();
        let after = self.chunks.partition_point(|chunk| chunk.blocks[0].first < time);
        let Some(chunk) = after.checked_sub(1).map(|at| &self.chunks[at]) else { return 0 };
        chunk.before + chunk.before_time(time) as u64
    }

    /// Returns the time of an event by its number, the first one being 0.
    pub fn get(&self, number: u64) -> Option<Timestamp> {
        let after = self.chunks.partition_point(|chunk| chunk.before <= number);
        let chunk = &self.chunks[after.checked_sub(1)?];
        let at = (number - chunk.before) as usize;
        (at < chunk.count as usize).then(|| Timestamp::from_ns(chunk.get(at)))
    }

    /// Appends the stored form to bytes, which [`from_bytes`](Self::from_bytes) reads.
    pub fn to_bytes(&self, bytes: &mut Vec<u8>) {
        for chunk in &self.chunks {
            bytes.extend_from_slice(&chunk.count.to_le_bytes());
            bytes.extend_from_slice(&(chunk.words.len() as u64).to_le_bytes());
            for block in &chunk.blocks {
                bytes.extend_from_slice(&block.first.to_le_bytes());
                bytes.push(block.width);
            }
            chunk.words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        }
    }

    /// Reads the stored form. Returns `None` if the bytes are not those of a list.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut times = EventTimes::new();
        while !bytes.is_empty() {
            let chunk = Chunk::read(times.packed, &mut bytes)?;
            // Only the last chunk may have free space.
            if !times.packed.is_multiple_of(CHUNK as u64)
                || times.last().is_some_and(|last| last > chunk.blocks[0].first)
            {
                return None;
            }
            times.packed += u64::from(chunk.count);
            times.chunks.push(Arc::new(chunk));
        }
        Some(times)
    }
}

impl Chunk {
    fn of(before: u64, times: &[i64]) -> Chunk {
        let (mut blocks, mut words, mut bit) = (Vec::new(), Vec::new(), 0);
        for of in times.chunks(BLOCK) {
            let (first, last) = (of[0], of[of.len() - 1]);
            let width = 64 - (last.wrapping_sub(first) as u64).leading_zeros();
            blocks.push(Block { first, bit, width: width as u8 });
            for (at, time) in of.iter().enumerate() {
                let bit = bit as usize + at * width as usize;
                words.resize((bit + width as usize).div_ceil(64).max(words.len()), 0);
                write(&mut words, bit, time.wrapping_sub(first) as u64, width);
            }
            bit += of.len() as u32 * width;
        }
        Chunk { before, count: times.len() as u32, blocks, words }
    }

    #[inline]
    fn get(&self, at: usize) -> i64 {
        let block = self.blocks[at / BLOCK];
        self.in_block(block, at % BLOCK)
    }

    #[inline]
    fn in_block(&self, block: Block, at: usize) -> i64 {
        let bit = block.bit as usize + at * block.width as usize;
        block.first.wrapping_add(read(&self.words, bit, block.width.into()) as i64)
    }

    /// Returns the number of times in the chunk that are before a time.
    fn before_time(&self, time: i64) -> usize {
        let after = self.blocks.partition_point(|block| block.first < time);
        let Some(number) = after.checked_sub(1) else { return 0 };
        let block = self.blocks[number];
        let (mut low, mut high) = (0, (self.count as usize - number * BLOCK).min(BLOCK));
        while low < high {
            let middle = low.midpoint(high);
            match self.in_block(block, middle) < time {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        number * BLOCK + low
    }

    fn read(before: u64, bytes: &mut &[u8]) -> Option<Chunk> {
        let head = take(bytes, HEAD)?;
        let count = u32::from_le_bytes(head[..4].try_into().ok()?);
        let words = usize::try_from(u64::from_le_bytes(head[4..].try_into().ok()?)).ok()?;
        if count == 0 || count as usize > CHUNK {
            return None;
        }
        let (mut blocks, mut bit) = (Vec::new(), 0u32);
        for at in (0..count as usize).step_by(BLOCK) {
            let of = take(bytes, 9)?;
            let (first, width) = (i64::from_le_bytes(of[..8].try_into().ok()?), of[8]);
            let is_ordered = blocks.last().is_none_or(|last: &Block| last.first <= first);
            if width > 64 || !is_ordered {
                return None;
            }
            blocks.push(Block { first, bit, width });
            bit += (count as usize - at).min(BLOCK) as u32 * u32::from(width);
        }
        if words != (bit as usize).div_ceil(64) {
            return None;
        }
        let of = take(bytes, words.checked_mul(8)?)?;
        let (words, _) = of.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        Some(Chunk { before, count, blocks, words })
    }
}

fn take<'b>(bytes: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

/// Writes a number of `width` bits at a bit. The bits there must be 0.
fn write(words: &mut [u64], bit: usize, number: u64, width: u32) {
    if width == 0 {
        return;
    }
    let (word, shift) = (bit / 64, bit as u32 % 64);
    words[word] |= number << shift;
    if shift + width > 64 {
        words[word + 1] |= number >> (64 - shift);
    }
}

/// Reads a number of `width` bits at a bit.
#[inline]
fn read(words: &[u64], bit: usize, width: u32) -> u64 {
    if width == 0 {
        return 0;
    }
    let (word, shift) = (bit / 64, bit as u32 % 64);
    let mut number = words[word] >> shift;
    if shift + width > 64 {
        number |= words[word + 1] << (64 - shift);
    }
    number & (u64::MAX >> (64 - width))
}
