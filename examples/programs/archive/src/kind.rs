//! The kinds of archives, by what files contain.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::zstd::Frames;

/// A kind of archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Many files, by `tar`, which may be packed as one.
    Tar(Option<Packing>),
    /// Many files, by `zip`.
    Zip,
    /// One file.
    File(Packing),
}

/// A method of compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

/// The size of the header of a file in a tar archive.
const TAR_HEADER: usize = 512;

/// Returns the kind of archive that a file is, by its first bytes; `None` if it is none.
///
/// # Errors
///
/// If the file cannot be read.
pub fn kind(path: &Path) -> io::Result<Option<Kind>> {
    // Reading a pipe would take away its start.
    if !path.metadata()?.is_file() {
        return Ok(None);
    }
    let start = start(File::open(path)?)?;
    let packing = match &start[..] {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => return Ok(Some(Kind::Zip)),
        [0x1f, 0x8b, 8, ..] => Packing::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Packing::Zstd,
        _ if is_tar(&start) => return Ok(Some(Kind::Tar(None))),
        _ => return Ok(None),
    };
    // Damage is told when it is unpacked.
    let start = self::start(unpacked(File::open(path)?, Some(packing))).unwrap_or_default();
    Ok(Some(if is_tar(&start) { Kind::Tar(Some(packing)) } else { Kind::File(packing) }))
}

/// Returns the contents of a file that may be packed.
pub(crate) fn unpacked(file: File, packing: Option<Packing>) -> Box<dyn Read> {
    let file = BufReader::with_capacity(1 << 16, file);
    match packing {
        None => Box::new(file),
        Some(Packing::Gzip) => Box::new(MultiGzDecoder::new(file)),
        Some(Packing::Zstd) => Box::new(Frames::new(file)),
    }
}

/// Returns the first bytes of an input, as many as tell whether it is a tar archive.
fn start(input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(TAR_HEADER);
    input.take(TAR_HEADER as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns `true` for the header of a file in a tar archive, which contains a sum of its bytes.
fn is_tar(start: &[u8]) -> bool {
    const SUM: std::ops::Range<usize> = 148..156;
    let Some(header) = start.get(..TAR_HEADER) else { return false };
    let stored: String = header[SUM].iter().map(|byte| char::from(*byte)).collect();
    let stored = u32::from_str_radix(stored.trim_matches([' ', '\0']), 8);
    // The sum counts as blanks.
    let byte = |at: usize| u32::from(if SUM.contains(&at) { b' ' } else { header[at] });
    header[0] != 0 && stored == Ok((0..TAR_HEADER).map(byte).sum())
}
