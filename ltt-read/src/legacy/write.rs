//! Writing of traces of format 2.6, as LTTng 0.x recorded them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::format_string::{MarkerField, MarkerFormat, MarkerKind, MarkerSize};
use crate::schema::ByteOrder;
use crate::writer::{FieldValue, Problem, WriteError};

/// The channel that describes the other channels.
const METADATA: &str = "metadata";
const MAGIC: u32 = 0x00d6_b7ed;
const BLOCK_HEADER: usize = 68;
/// The page size in bytes; blocks are whole pages.
const PAGE: usize = 4096;
const TSC_BITS: u32 = 27;
/// Codes in place of an event id.
const ID_SIZE_TSC: u32 = 29;
const ID_SIZE: u32 = 30;
const ID: u32 = 31;

/// A writer of traces of format 2.6: declare markers, write events, and take the files.
///
/// ```
/// use ltt_read::legacy::{self, LegacyWriter};
///
/// let mut writer = LegacyWriter::new();
/// let open = writer.marker("fs", "open", "fd %d filename %s")?;
/// writer.event(0, open, 1_000_000, &[3.into(), "/etc/passwd".into()])?;
///
/// let trace = legacy::from_memory(writer.finish())?;
/// let is_fs = |cursor: &ltt_read::Cursor| cursor.tracefile().channel() == "fs";
/// let mut cursor = trace.cursors().find(is_fs).expect("a channel");
/// let event = cursor.next()?.expect("an event");
/// assert_eq!(event.event_type().name(), "open");
/// assert_eq!(event.field("fd").and_then(|fd| fd.as_i64()), Some(3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct LegacyWriter {
    order: ByteOrder,
    arch_size: u8,
    alignment: u8,
    block_size: usize,
    sizes: bool,
    frequency: u64,
    start: u64,
    start_time: (u64, u64),
    channels: Vec<String>,
    markers: Vec<Marker>,
    /// The files by channel number and CPU.
    files: BTreeMap<(usize, u32), TracefileWriter>,
}

/// A marker of a [`LegacyWriter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LegacyMarker(usize);

#[derive(Debug, Clone)]
struct Marker {
    /// The number of the channel.
    channel: usize,
    name: String,
    id: u16,
    fields: Arc<[MarkerField]>,
}

/// A file, with the block that is being filled.
#[derive(Debug, Clone, Default)]
struct TracefileWriter {
    done: Vec<u8>,
    block: Vec<u8>,
    begin: u64,
    tsc: u64,
    events: u64,
    lost: u32,
    corrupt: u32,
}

impl Default for LegacyWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl LegacyWriter {
    /// Creates a writer for the trace of a 32-bit little-endian machine with a clock of 1
    /// GHz, which starts at tick 0. Events are packed, in blocks of at most 64 KiB.
    pub fn new() -> Self {
        LegacyWriter {
            order: ByteOrder::Little,
            arch_size: 4,
            alignment: 0,
            block_size: 1 << 16,
            sizes: false,
            frequency: 1_000_000_000,
            start: 0,
            start_time: (0, 0),
            channels: Vec::new(),
            markers: Vec::new(),
            files: BTreeMap::new(),
        }
    }

    /// Sets the byte order of the machine, and the size of its pointers and `long`s in
    /// bytes (4 or 8). `alignment` is 0 for packed events, otherwise the largest
    /// alignment in bytes, a power of two.
    #[must_use]
    pub fn with_machine(mut self, order: ByteOrder, pointer: u8, alignment: u8) -> Self {
        (self.order, self.arch_size, self.alignment) = (order, pointer, alignment);
        self
    }

    /// Sets the frequency of the clock in Hz and the start of the trace in ticks.
    #[must_use]
    pub fn with_clock(mut self, frequency: u64, start: u64) -> Self {
        (self.frequency, self.start) = (frequency, start);
        self
    }

    /// Sets the wall-clock time of the start of the trace: seconds since the Unix epoch, and
    /// microseconds of the second. The default is 0. Times of events do not depend on it.
    #[must_use]
    pub fn with_start_time(mut self, seconds: u64, microseconds: u64) -> Self {
        self.start_time = (seconds, microseconds);
        self
    }

    /// Sets the maximum size of blocks in bytes. A block of one event can be larger.
    #[must_use]
    pub fn with_sub_buffer_size(mut self, bytes: usize) -> Self {
        self.block_size = bytes;
        self
    }

    /// Writes the size of the payload with every event.
    #[must_use]
    pub fn with_sizes(mut self) -> Self {
        self.sizes = true;
        self
    }

    /// Declares a marker by channel, name and format string. A name that is declared
    /// again gets another id.
    ///
    /// # Errors
    ///
    /// Returns [`WriteError::NoRoomForId`] if the channel already has 65536 markers.
    pub fn marker(
        &mut self,
        channel: &str,
        name: &str,
        format: &str,
    ) -> Result<LegacyMarker, WriteError> {
        if self.markers.is_empty() && channel != METADATA {
            // The metadata channel first describes itself.
            let id = "channel %s name %s event_id %hu int #1u%zu long #1u%zu pointer #1u%zu \
                      size_t #1u%zu alignment #1u%u";
            self.marker(METADATA, "core_marker_id", id)?;
            self.marker(METADATA, "core_marker_format", "channel %s name %s format %s")?;
        }
        let number = self.channel(channel);
        let id = self.markers.iter().filter(|m| m.channel == number).count() as u64;
        let no_room = |_| WriteError::NoRoomForId { what: "event type", id };
        let id = u16::try_from(id).map_err(no_room)?;
        let fields = MarkerFormat::parse(format).fields.into();
        let text = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            bytes.push(0);
            bytes
        };
        let names = [text(channel), text(name)].concat();
        let mut binding = names.clone();
        if self.alignment > 1 {
            binding.resize(binding.len().next_multiple_of(2), 0);
        }
        put(&mut binding, self.order, id.into(), 2);
        let size = self.arch_size;
        binding.extend([4, size, size, size, self.alignment]);
        let metadata = self.channel(METADATA);
        self.record((metadata, 0), 0, self.start, &binding, 2);
        self.record((metadata, 0), 1, self.start, &[names, text(format)].concat(), 1);
        self.markers.push(Marker { channel: number, name: name.to_owned(), id, fields });
        Ok(LegacyMarker(self.markers.len() - 1))
    }

    /// Writes an event with the values of all its fields, in order: numbers, texts, or
    /// [`FieldValue::Auto`] for 0 or an empty text. `tsc` is the time in ticks; it must not
    /// decrease within a channel of a CPU.
    ///
    /// # Errors
    ///
    /// Returns [`WriteError::Value`] if a value does not fit its field, or if the number
    /// of values is not that of the marker's fields. Returns [`WriteError::ClockGap`] if
    /// the time is before that of the previous event.
    ///
    /// # Panics
    ///
    /// Panics if the marker is from another writer and has no counterpart in this one.
    pub fn event(
        &mut self,
        cpu: u32,
        marker: LegacyMarker,
        tsc: u64,
        values: &[FieldValue],
    ) -> Result<(), WriteError> {
        let Marker { channel, ref name, id, ref fields } = self.markers[marker.0];
        let fields = fields.clone();
        let place = |field: &str| format!("{}.{name}.{field}", self.channels[channel]);
        if fields.len() != values.len() {
            let (expected, found) = (fields.len() as u64, values.len() as u64);
            return Err(WriteError::Value {
                place: place("*"),
                problem: Problem::Count { expected, found }.to_string(),
            });
        }
        let (mut payload, mut largest) = (Vec::new(), 1);
        for (field, value) in fields.iter().zip(values) {
            let problem = |problem: Problem| WriteError::Value {
                place: place(&field.name),
                problem: problem.to_string(),
            };
            largest = largest.max(self.field(&mut payload, field, value).map_err(problem)?);
        }
        let known = self.files.get(&(channel, cpu));
        let from = known.filter(|f| f.events > 0).map_or(self.start, |f| f.tsc);
        if tsc < from {
            return Err(WriteError::ClockGap { from, to: tsc });
        }
        self.record((channel, cpu), id, tsc, &payload, largest);
        Ok(())
    }

    /// Records that a tracefile lost this many events, and this many whole blocks, before
    /// the end of its current block.
    pub fn lose(&mut self, channel: &str, cpu: u32, events: u32, blocks: u32) {
        let (start, channel) = (self.start, self.channel(channel));
        let file = self.files.entry((channel, cpu)).or_default();
        if file.block.is_empty() {
            file.open_block(if file.done.is_empty() { start } else { file.tsc });
        }
        file.lost = file.lost.wrapping_add(events);
        file.corrupt = file.corrupt.wrapping_add(blocks);
    }

    /// Returns the files: their paths in the trace's directory, and their contents.
    pub fn finish(mut self) -> Vec<(String, Vec<u8>)> {
        let files = std::mem::take(&mut self.files);
        let finish = |((channel, cpu), mut file): ((usize, u32), TracefileWriter)| {
            self.close_block(&mut file);
            (format!("{}_{cpu}", self.channels[channel]), file.done)
        };
        files.into_iter().map(finish).collect()
    }

    /// Writes the files to a directory, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns [`WriteError::Io`] if a file or the directory cannot be written.
    pub fn write_to(self, dir: impl AsRef<Path>) -> Result<(), WriteError> {
        let dir = dir.as_ref();
        fs::create_dir_all(dir).map_err(WriteError::io(dir.display().to_string()))?;
        for (name, bytes) in self.finish() {
            let path = dir.join(name);
            fs::write(&path, bytes).map_err(WriteError::io(path.display().to_string()))?;
        }
        Ok(())
    }

    /// Returns the number of a channel, adding the channel if it is new.
    fn channel(&mut self, name: &str) -> usize {
        let known = self.channels.iter().position(|c| c == name);
        known.unwrap_or_else(|| {
            self.channels.push(name.to_owned());
            self.channels.len() - 1
        })
    }

    /// Appends a field to a payload. Returns the size of a number in bytes, and 1 for a
    /// string.
    fn field(
        &self,
        payload: &mut Vec<u8>,
        field: &MarkerField,
        value: &FieldValue,
    ) -> Result<usize, Problem> {
        if field.kind == MarkerKind::String {
            let text = match value {
                FieldValue::Auto => &[],
                FieldValue::Str(text) => text.as_bytes(),
                FieldValue::Bytes(bytes) => bytes,
                other => {
                    return Err(Problem::Kind { expected: "text", found: other.kind_name() });
                }
            };
            if text.contains(&0) {
                return Err(Problem::NullInText);
            }
            payload.extend(text);
            payload.push(0);
            return Ok(1);
        }
        let size = usize::from(match field.size {
            MarkerSize::Bytes(bytes) => bytes,
            MarkerSize::Int => 4,
            MarkerSize::Long | MarkerSize::Pointer | MarkerSize::SizeT => self.arch_size,
        });
        let value = match value {
            FieldValue::Auto => 0,
            FieldValue::Uint(value) => i128::from(*value),
            FieldValue::Sint(value) => i128::from(*value),
            other => {
                return Err(Problem::Kind { expected: "a number", found: other.kind_name() });
            }
        };
        let signed = field.kind == MarkerKind::Signed;
        let bits = 8 * size as u32;
        let (low, high) = match signed {
            true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            false => (0, (1i128 << bits) - 1),
        };
        if !(low..=high).contains(&value) {
            return Err(Problem::DoesNotFit { value, bits, signed });
        }
        self.align(payload, size);
        let order = if field.network { ByteOrder::Big } else { self.order };
        put(payload, order, value as u64, size);
        Ok(size)
    }

    fn align(&self, bytes: &mut Vec<u8>, size: usize) {
        let align = size.min(self.alignment.into()).max(1);
        bytes.resize(bytes.len().next_multiple_of(align), 0);
    }

    /// Appends an event to the block of a tracefile. `largest` is the size of its largest
    /// number in bytes.
    fn record(&mut self, file: (usize, u32), id: u16, tsc: u64, payload: &[u8], largest: usize) {
        let key = file;
        let mut file = std::mem::take(self.files.entry(key).or_default());
        // An upper bound of the header size, with padding.
        let room = payload.len() + 48;
        if !file.block.is_empty() && file.block.len() + room > self.block_size {
            self.close_block(&mut file);
        }
        if file.block.is_empty() {
            file.open_block(if file.done.is_empty() { self.start } else { tsc });
        }
        let first = file.events == 0;
        let code = if first || tsc - file.tsc >= 1 << TSC_BITS {
            ID_SIZE_TSC
        } else if self.sizes {
            ID_SIZE
        } else if u32::from(id) < ID_SIZE_TSC {
            id.into()
        } else {
            ID
        };
        let block = &mut file.block;
        self.align(block, 4);
        let low = tsc & ((1 << TSC_BITS) - 1);
        put(block, self.order, u64::from(code) << TSC_BITS | low, 4);
        if code >= ID_SIZE_TSC {
            put(block, self.order, id.into(), 2);
        }
        if code == ID_SIZE_TSC || code == ID_SIZE {
            let short = u16::try_from(payload.len()).unwrap_or(u16::MAX);
            put(block, self.order, short.into(), 2);
            if short == u16::MAX {
                put(block, self.order, payload.len() as u64, 4);
            }
        }
        if code == ID_SIZE_TSC {
            self.align(block, 8);
            put(block, self.order, tsc, 8);
        }
        self.align(block, largest);
        block.extend(payload);
        (file.tsc, file.events) = (tsc, file.events + 1);
        self.files.insert(key, file);
    }

    /// Fills in the header of the current block and pads the block to whole pages.
    fn close_block(&self, file: &mut TracefileWriter) {
        if file.block.is_empty() {
            return;
        }
        let block = &mut file.block;
        let data_size = block.len();
        let size = data_size.next_multiple_of(PAGE);
        let mut header = Vec::with_capacity(BLOCK_HEADER);
        let mut put = |value: u64, size| put(&mut header, self.order, value, size);
        put(file.begin, 8);
        put(file.tsc.max(file.begin), 8);
        put(MAGIC.into(), 4);
        put(2, 1);
        put(6, 1);
        put(self.arch_size.into(), 1);
        put(self.alignment.into(), 1);
        put(self.start_time.0, 8);
        put(self.start_time.1, 8);
        put(self.frequency, 8);
        put(1, 4);
        put(data_size as u64, 4);
        put(size as u64, 4);
        put(file.lost.into(), 4);
        put(file.corrupt.into(), 4);
        block[..BLOCK_HEADER].copy_from_slice(&header);
        block.resize(size, 0);
        file.done.append(block);
    }
}

impl TracefileWriter {
    fn open_block(&mut self, begin: u64) {
        self.block = vec![0; BLOCK_HEADER];
        self.begin = begin;
    }
}

/// Appends the low `size` bytes of a number.
fn put(out: &mut Vec<u8>, order: ByteOrder, value: u64, size: usize) {
    match order {
        ByteOrder::Little => out.extend(&value.to_le_bytes()[..size]),
        ByteOrder::Big => out.extend(&value.to_be_bytes()[8 - size..]),
    }
}
