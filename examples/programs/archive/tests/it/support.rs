//! Archives that tests make.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use lttv_archive::{ArchiveError, Limits, unpack};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tar::{EntryType, Header};

/// Returns a tar archive with entries of any names, types, links and contents.
pub(crate) fn tar(entries: &[(&str, EntryType, &str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, kind, link, contents) in entries {
        let mut header = Header::new_ustar();
        // The library's own functions refuse names that lead elsewhere.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.as_mut_bytes()[157..157 + link.len()].copy_from_slice(link.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        header.set_size(contents.len() as u64);
        header.set_cksum();
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(contents);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1024, 0);
    out
}

/// Returns a tar archive with files.
pub(crate) fn files(files: &[(&str, &[u8])]) -> Vec<u8> {
    let entries: Vec<_> =
        files.iter().map(|(name, bytes)| (*name, EntryType::Regular, "", *bytes)).collect();
    tar(&entries)
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// Returns a zip archive with files that are not packed. Names may be anything, and `mode` has the type.
pub(crate) fn zip(entries: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, mode, contents) in entries {
        let mut crc = flate2::Crc::new();
        crc.update(contents);
        let offset = out.len() as u32;
        let mut shared = Vec::new();
        // The flags, the method, the time, the date.
        shared.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0x21, 0]);
        shared.extend_from_slice(&crc.sum().to_le_bytes());
        shared.extend_from_slice(&(contents.len() as u32).to_le_bytes());
        shared.extend_from_slice(&(contents.len() as u32).to_le_bytes());
        shared.extend_from_slice(&(name.len() as u16).to_le_bytes());
        shared.extend_from_slice(&0_u16.to_le_bytes());
        out.extend_from_slice(b"PK\x03\x04\x14\x00");
        out.extend_from_slice(&shared);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(contents);
        // Made by Unix.
        directory.extend_from_slice(b"PK\x01\x02\x14\x03\x14\x00");
        directory.extend_from_slice(&shared);
        directory.extend_from_slice(&[0; 6]);
        directory.extend_from_slice(&(mode << 16).to_le_bytes());
        directory.extend_from_slice(&offset.to_le_bytes());
        directory.extend_from_slice(name.as_bytes());
    }
    let begin = out.len() as u32;
    out.extend_from_slice(&directory);
    out.extend_from_slice(b"PK\x05\x06\x00\x00\x00\x00");
    for _ in 0..2 {
        out.extend_from_slice(&(entries.len() as u16).to_le_bytes());
    }
    out.extend_from_slice(&(directory.len() as u32).to_le_bytes());
    out.extend_from_slice(&begin.to_le_bytes());
    out.extend_from_slice(&[0, 0]);
    out
}

/// Unpacks an archive with a name and limits. Returns the names and sizes of its files, sorted.
pub(crate) fn unpacked(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
) -> Result<Vec<(String, u64)>, ArchiveError> {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = folder.path().join(name);
    std::fs::write(&archive, bytes).expect("a file");
    let into = folder.path().join("unpacked/into/this");
    let result = unpack(&archive, &into, limits);
    let inside = listed(&into);
    // Nothing is outside of the folder, whatever the result.
    let outside = listed(folder.path());
    assert_eq!(outside.len(), inside.len() + 1, "{outside:?}");
    result.map(|()| inside)
}

/// Returns the names below a folder, and the sizes, of everything that is no folder, sorted.
pub(crate) fn listed(folder: &Path) -> Vec<(String, u64)> {
    let (mut files, mut folders) = (Vec::new(), vec![PathBuf::from(folder)]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let (path, found) = (entry.path(), entry.metadata().expect("a file"));
            match found.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).expect("a part").display().to_string();
                    files.push((name, found.len()));
                }
            }
        }
    }
    files.sort();
    files
}
