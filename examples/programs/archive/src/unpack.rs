//! Unpacking of an archive of any kind.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::error::ArchiveError;
use crate::kind::{Kind, kind, unpacked};
use crate::limits::Limits;
use crate::output::Output;
use crate::{tar_files, zip_files};

/// The name of a packed file that has no other one.
const NAMELESS: &str = "recording";

/// Unpacks an archive into a folder, which is created.
///
/// # Errors
///
/// If the file is no archive, is damaged, contains what is not unpacked, exceeds a limit, or cannot be read, or if a file
/// cannot be written. Files may have been written by then.
pub fn unpack(path: &Path, folder: &Path, limits: &Limits) -> Result<(), ArchiveError> {
    let failed = ArchiveError::io(path);
    let kind = kind(path).map_err(&failed)?;
    let file = File::open(path).map_err(&failed)?;
    let mut output = Output::create(path, folder, limits)?;
    match kind {
        None => Err(failed(std::io::Error::other("it is no archive"))),
        Some(Kind::Tar(packing)) => tar_files::unpack(unpacked(file, packing), &mut output),
        Some(Kind::Zip) => zip_files::unpack(file, &mut output),
        Some(Kind::File(packing)) => {
            // The name without the extension that tells the packing.
            let name = path.file_stem().unwrap_or(OsStr::new(NAMELESS));
            output.file(name.as_bytes(), unpacked(file, Some(packing)))
        }
    }
}
