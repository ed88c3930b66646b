//! The files in a zip archive.

use std::fs::File;
use std::io::{self, BufReader};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::{ArchiveError, Refusal};
use crate::output::Output;

/// The part of a file's mode that tells its type, and its values.
const TYPE: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

/// Unpacks all files.
pub(crate) fn unpack(input: File, output: &mut Output<'_>) -> Result<(), ArchiveError> {
    let mut archive =
        ZipArchive::new(BufReader::new(input)).map_err(|error| failure(output, &[], error))?;
    for number in 0..archive.len() {
        let entry = archive.by_index(number).map_err(|error| failure(output, &[], error))?;
        let name = entry.name_raw().to_vec();
        if entry.encrypted() {
            return Err(output.refused(&name, Refusal::Encrypted));
        }
        match entry.unix_mode().unwrap_or(0) & TYPE {
            LINK => return Err(output.refused(&name, Refusal::Link)),
            0 | REGULAR | FOLDER if entry.is_dir() => output.folder(&name)?,
            0 | REGULAR => output.file(&name, entry)?,
            _ => return Err(output.refused(&name, Refusal::Special)),
        }
    }
    Ok(())
}

fn failure(output: &Output<'_>, entry: &[u8], error: ZipError) -> ArchiveError {
    match error {
        ZipError::Io(error) => output.unreadable(entry, error),
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
            output.refused(entry, Refusal::Encrypted)
        }
        ZipError::CompressionMethodNotSupported(_) | ZipError::UnsupportedArchive(_) => {
            output.refused(entry, Refusal::Method)
        }
        other => output.unreadable(entry, io::Error::new(io::ErrorKind::InvalidData, other)),
    }
}
