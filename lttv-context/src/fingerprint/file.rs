//! The part of a fingerprint that describes one file.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::time::UNIX_EPOCH;

use crc32fast::Hasher;
use ltt_read::{IndexEntry, Trace};

/// The size of a sample of a file in bytes.
const SAMPLE: usize = 4096;

/// The care with which files are described and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// By few samples. A file that was modified is another one.
    Samples,
    /// By samples, and by the whole content if the file was modified. Files of up to 256 KiB are
    /// covered completely.
    Usual,
    /// By the whole content.
    Whole,
}

impl Depth {
    /// Returns the number of samples of a file.
    fn samples(self) -> usize {
        match self {
            Depth::Samples => 8,
            Depth::Usual | Depth::Whole => 64,
        }
    }
}

/// The number of bytes that are read before their memory is given back.
const STEP: usize = 16 << 20;

/// The maximum size of metadata, in bytes. The reader does not open longer files either.
const MAX_METADATA: u64 = 1 << 28;

/// The description of a file as it was when the fingerprint was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileRecord {
    /// CRC-32 of the file name.
    name: u32,
    pub(super) size: u64,
    /// The time of modification, in ns since 1970, or `UNKNOWN`.
    modified: i64,
    /// CRC-32 of the offsets, sizes and start times of the packets.
    packets: u32,
    /// CRC-32 of samples spread over the whole file.
    samples: u32,
    /// CRC-32 of the whole content.
    content: u32,
}

const UNKNOWN: i64 = i64::MIN;

/// A file as it is now.
pub(super) struct CurrentFile<'f> {
    pub(super) trace: &'f Trace,
    pub(super) path: &'f Path,
    pub(super) bytes: &'f [u8],
    pub(super) packets: &'f [IndexEntry],
}

impl CurrentFile<'_> {
    pub(super) fn record(&self, depth: Depth) -> FileRecord {
        FileRecord {
            name: self.name(),
            size: self.bytes.len() as u64,
            modified: self.modified(),
            packets: self.packets(),
            samples: samples(self.bytes, depth.samples()),
            content: match depth {
                Depth::Samples => 0,
                Depth::Usual | Depth::Whole => self.content(self.bytes),
            },
        }
    }

    /// Returns `true` if a file is unchanged or has only been appended to. Unless its whole content
    /// is compared, samples are compared if neither its size nor its time of modification has
    /// changed.
    pub(super) fn extends(&self, before: &FileRecord, depth: Depth) -> bool {
        let size = usize::try_from(before.size).ok();
        let Some(bytes) = size.and_then(|size| self.bytes.get(..size)) else { return false };
        if self.name() != before.name {
            return false;
        }
        let is_untouched = bytes.len() == self.bytes.len()
            && before.modified != UNKNOWN
            && before.modified == self.modified();
        if depth != Depth::Whole && is_untouched && self.packets() == before.packets {
            return samples(bytes, depth.samples()) == before.samples;
        }
        depth != Depth::Samples && self.content(bytes) == before.content
    }

    fn name(&self) -> u32 {
        crc32fast::hash(self.path.file_name().unwrap_or_default().as_encoded_bytes())
    }

    fn modified(&self) -> i64 {
        let modified = fs::metadata(self.path).and_then(|file| file.modified());
        let since = modified.ok().map(|at| match at.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_nanos()),
            Err(before) => i64::try_from(before.duration().as_nanos()).map(|ns| -ns),
        });
        since.and_then(Result::ok).unwrap_or(UNKNOWN)
    }

    /// Returns the sum of the first bytes of the file. The memory of files that are mapped does not
    /// fill up meanwhile.
    fn content(&self, bytes: &[u8]) -> u32 {
        let mut sum = Hasher::new();
        for part in bytes.chunks(STEP) {
            sum.update(part);
            if bytes.len() > STEP {
                self.trace.release_pages();
            }
        }
        sum.finalize()
    }

    fn packets(&self) -> u32 {
        let mut sum = Hasher::new();
        for packet in self.packets {
            sum.update(&packet.offset.to_le_bytes());
            sum.update(&packet.size.to_le_bytes());
            sum.update(&packet.start.as_ns().to_le_bytes());
        }
        sum.finalize()
    }
}

/// Returns the sum of samples of the bytes, which are spread evenly.
fn samples(bytes: &[u8], count: usize) -> u32 {
    if bytes.len() <= SAMPLE * count {
        return crc32fast::hash(bytes);
    }
    let mut sum = Hasher::new();
    let last = bytes.len() - SAMPLE;
    for number in 0..count {
        let at = (last as u128 * number as u128 / (count as u128 - 1)) as usize;
        sum.update(bytes.get(at..at + SAMPLE).unwrap_or_default());
    }
    sum.finalize()
}

/// Reads the metadata in a directory of a trace. Returns `None` if there is no such file.
pub(super) fn read_metadata(path: &Path) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    let found = file.metadata().ok()?;
    if !found.is_file() {
        return None;
    }
    let size = usize::try_from(found.len().min(MAX_METADATA)).unwrap_or_default();
    // One byte more, so that the end of the file is found without growing.
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size + 1).ok()?;
    file.take(MAX_METADATA).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

impl FileRecord {
    /// The size of a description in a fingerprint, in bytes.
    pub(super) const BYTES: usize = 4 + 8 + 8 + 3 * 4;

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.name.to_le_bytes());
        out.extend_from_slice(&self.size.to_le_bytes());
        out.extend_from_slice(&self.modified.to_le_bytes());
        for sum in [self.packets, self.samples, self.content] {
            out.extend_from_slice(&sum.to_le_bytes());
        }
    }

    pub(super) fn read(bytes: &[u8; Self::BYTES]) -> Option<FileRecord> {
        let (name, rest) = bytes.split_first_chunk()?;
        let (size, rest) = rest.split_first_chunk()?;
        let (modified, rest) = rest.split_first_chunk()?;
        let (packets, rest) = rest.split_first_chunk()?;
        let (samples, rest) = rest.split_first_chunk()?;
        Some(FileRecord {
            name: u32::from_le_bytes(*name),
            size: u64::from_le_bytes(*size),
            modified: i64::from_le_bytes(*modified),
            packets: u32::from_le_bytes(*packets),
            samples: u32::from_le_bytes(*samples),
            content: u32::from_le_bytes(*rest.first_chunk()?),
        })
    }
}
