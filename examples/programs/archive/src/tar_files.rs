//! The files in a tar archive.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use tar::EntryType;

use crate::error::{ArchiveError, Refusal};
use crate::output::Output;

/// The greatest size of what describes an entry, such as a long name, which is kept in memory.
const MAX_HEADER: u64 = 1 << 20;

/// An input of which only some bytes may be read before the limit is set again.
struct Limited<R> {
    input: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 && !buffer.is_empty() {
            return Err(io::Error::other(Refusal::Header));
        }
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.input.read(&mut buffer[..most])?;
        self.left.set(left - read as u64);
        Ok(read)
    }
}

/// Unpacks all files.
pub(crate) fn unpack(input: impl Read, output: &mut Output<'_>) -> Result<(), ArchiveError> {
    let left = Rc::new(Cell::new(MAX_HEADER));
    let mut archive = tar::Archive::new(Limited { input, left: Rc::clone(&left) });
    let mut entries = archive.entries().map_err(|error| output.unreadable(&[], error))?;
    loop {
        left.set(MAX_HEADER);
        let Some(entry) = entries.next() else { break };
        let mut entry = entry.map_err(|error| output.unreadable(&[], error))?;
        let name = entry.path_bytes().into_owned();
        match entry.header().entry_type() {
            EntryType::Regular | EntryType::Continuous => {
                // The output has a limit of its own.
                left.set(u64::MAX);
                let size = entry.size();
                let mut counted = Counted { input: &mut entry, bytes: 0 };
                output.file(&name, &mut counted)?;
                if counted.bytes < size {
                    let error = io::ErrorKind::UnexpectedEof.into();
                    return Err(output.unreadable(&name, error));
                }
            }
            EntryType::Directory => output.folder(&name)?,
            EntryType::XGlobalHeader => {}
            EntryType::Link | EntryType::Symlink => {
                return Err(output.refused(&name, Refusal::Link));
            }
            _ => return Err(output.refused(&name, Refusal::Special)),
        }
    }
    // Blanks follow the last file, and what tells that an archive is complete.
    left.set(MAX_HEADER);
    let mut rest = archive.into_inner().take(MAX_HEADER);
    io::copy(&mut rest, &mut io::sink()).map_err(|error| output.unreadable(&[], error))?;
    Ok(())
}

/// An input whose bytes are counted.
struct Counted<R> {
    input: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}
