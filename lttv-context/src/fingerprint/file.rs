//! The part of a fingerprint that describes one file.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::UNIX_EPOCH;

use crc32fast::Hasher;
use ltt_read::Trace;
use ltt_read::index::IndexEntry;

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

/// The number of bytes that are read before their memory is released.
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
    pub(super) path: &'f Path,
    pub(super) content: Content<'f>,
    pub(super) packets: &'f [IndexEntry],
}

/// The content of a file.
pub(super) enum Content<'f> {
    /// The bytes of a file of the trace.
    Memory(&'f Trace, &'f [u8]),
    /// An open file, of which no more is read than is compared.
    Open(File, u64),
    /// No file.
    Missing,
}

impl CurrentFile<'_> {
    pub(super) fn record(&self, depth: Depth) -> FileRecord {
        FileRecord {
            name: self.name(),
            size: self.size(),
            modified: self.modified(),
            packets: self.packets(),
            // A file that cannot be read fits no record.
            samples: self.content.samples(self.size(), depth.samples()).unwrap_or_default(),
            content: match depth {
                Depth::Samples => 0,
                Depth::Usual | Depth::Whole => self.content.whole(self.size()).unwrap_or_default(),
            },
        }
    }

    /// Returns the size in bytes.
    pub(super) fn size(&self) -> u64 {
        match &self.content {
            Content::Memory(_, bytes) => bytes.len() as u64,
            Content::Open(_, size) => *size,
            Content::Missing => 0,
        }
    }

    /// Returns `true` if a file is unchanged or has only been appended to. Unless its whole content
    /// is compared, samples are compared if neither its size nor its time of modification has
    /// changed.
    pub(super) fn extends(&self, before: &FileRecord, depth: Depth) -> bool {
        if before.size > self.size() || self.name() != before.name {
            return false;
        }
        let is_untouched = before.size == self.size()
            && before.modified != UNKNOWN
            && before.modified == self.modified();
        if depth != Depth::Whole && is_untouched && self.packets() == before.packets {
            return self.content.samples(before.size, depth.samples()) == Some(before.samples);
        }
        depth != Depth::Samples && self.content.whole(before.size) == Some(before.content)
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

impl Content<'_> {
    /// Opens the metadata in a directory of a trace.
    pub(super) fn of_metadata(path: &Path) -> Self {
        // Opening a pipe would wait for a writer.
        let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
        let file = is_file.then(|| File::open(path).ok()).flatten();
        match file.map(|file| (file.metadata(), file)) {
            Some((Ok(found), file)) => Content::Open(file, found.len().min(MAX_METADATA)),
            Some((Err(_), _)) | None => Content::Missing,
        }
    }

    /// Returns the sum of samples of the first bytes, which are spread evenly. Returns `None` if they
    /// cannot be read.
    fn samples(&self, size: u64, count: usize) -> Option<u32> {
        if size <= (SAMPLE * count) as u64 {
            return self.whole(size);
        }
        let mut sum = Hasher::new();
        let last = size - SAMPLE as u64;
        for number in 0..count {
            let at = (u128::from(last) * number as u128 / (count as u128 - 1)) as u64;
            self.add(at, SAMPLE, &mut sum)?;
        }
        Some(sum.finalize())
    }

    /// Returns the sum of the first bytes. Returns `None` if they cannot be read. The memory of files
    /// that are mapped does not fill up meanwhile.
    fn whole(&self, size: u64) -> Option<u32> {
        let mut sum = Hasher::new();
        let step = match self {
            Content::Memory(..) => STEP,
            Content::Open(..) | Content::Missing => 16 * SAMPLE,
        };
        for at in (0..size).step_by(step) {
            self.add(at, (size - at).min(step as u64) as usize, &mut sum)?;
            if let Content::Memory(trace, _) = self
                && size > STEP as u64
            {
                trace.release_pages();
            }
        }
        Some(sum.finalize())
    }

    /// Adds bytes at an offset to a sum.
    fn add(&self, at: u64, length: usize, sum: &mut Hasher) -> Option<()> {
        match self {
            Content::Memory(_, bytes) => {
                let start = usize::try_from(at).ok()?;
                sum.update(bytes.get(start..)?.get(..length)?);
            }
            Content::Open(file, _) => {
                let mut bytes = vec![0; length];
                let mut file = file;
                file.seek(SeekFrom::Start(at)).ok()?;
                file.read_exact(&mut bytes).ok()?;
                sum.update(&bytes);
            }
            Content::Missing => return (length == 0).then_some(()),
        }
        Some(())
    }
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// The sums of an open file are those of the same bytes in memory, and none of bytes that are
    /// missing.
    #[test]
    fn open_files_have_the_sums_of_their_bytes() {
        let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
        let trace = Trace::open(trace).unwrap();
        let few = Depth::Samples.samples();
        for size in [0, 1, SAMPLE * few - 1, SAMPLE * few, SAMPLE * few + 1, 300_000] {
            let bytes: Vec<u8> = (0..size).map(|at| (at * at / 7) as u8).collect();
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&bytes).unwrap();
            let (open, memory) =
                (Content::of_metadata(file.path()), Content::Memory(&trace, &bytes));
            let size = size as u64;
            for first in [size, size / 2, 0] {
                assert_eq!(open.whole(first), Some(crc32fast::hash(&bytes[..first as usize])));
                assert_eq!(open.whole(first), memory.whole(first));
                for count in [few, Depth::Usual.samples()] {
                    let sum = memory.samples(first, count);
                    assert!(sum.is_some() && open.samples(first, count) == sum, "{first} bytes");
                }
            }
            assert_eq!((open.whole(size + 1), memory.whole(size + 1)), (None, None));
        }
        let missing = Content::of_metadata(Path::new("there is no such file"));
        assert_eq!(missing.whole(0), Some(0));
        assert_eq!((missing.whole(1), missing.samples(1, few)), (None, None));
    }
}
