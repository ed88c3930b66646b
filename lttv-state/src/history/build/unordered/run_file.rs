//! A temporary file of sorted runs of records.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::sorter::Record;
use crate::history::block::raw_value::{Kind, RawValue};
use crate::history::error::HistoryError;
use crate::tree::Quark;

/// The size of a record in the file, in bytes.
const RECORD: usize = 8 + 4 + 8 + 1 + 8;

/// A temporary file, which no longer exists when this is dropped.
#[derive(Debug)]
pub(super) struct RunFile {
    file: File,
    path: PathBuf,
    /// `true` if the file has no name any more.
    is_unlinked: bool,
    len: u64,
}

impl RunFile {
    /// Creates an empty file in a directory.
    pub(super) fn create(directory: &Path) -> Result<Self, HistoryError> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = LAST.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!(".intervals-{}-{number}", std::process::id()));
            match File::options().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => {
                    // Where possible, the file has no name from here on, so that it does not
                    // remain if the program is killed.
                    let is_unlinked = fs::remove_file(&path).is_ok();
                    return Ok(RunFile { file, path, is_unlinked, len: 0 });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(HistoryError::io(&path, error)),
            }
        }
    }

    /// Appends records, and returns their place in the file. `next` returns them.
    pub(super) fn write_run(
        &mut self,
        mut next: impl FnMut(&Self) -> Result<Option<Record>, HistoryError>,
    ) -> Result<Range<u64>, HistoryError> {
        let start = self.len;
        let mut bytes = Vec::with_capacity(BUFFER);
        while let Some(record) = next(self)? {
            record.write(&mut bytes);
            if bytes.len() >= BUFFER {
                self.append(&mut bytes)?;
            }
        }
        self.append(&mut bytes)?;
        Ok(start..self.len)
    }

    fn append(&mut self, bytes: &mut Vec<u8>) -> Result<(), HistoryError> {
        // Readers move the position of the file.
        let mut file = &self.file;
        let written = file.seek(SeekFrom::Start(self.len)).and_then(|_| file.write_all(bytes));
        written.map_err(|error| HistoryError::io(&self.path, error))?;
        self.len += bytes.len() as u64;
        bytes.clear();
        Ok(())
    }
}

/// The size of the buffer for writing, in bytes.
const BUFFER: usize = 32 << 10;

impl Drop for RunFile {
    fn drop(&mut self) {
        if !self.is_unlinked {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A reader of one run.
#[derive(Debug)]
pub(super) struct RunReader {
    /// The part of the file that has not been read.
    left: Range<u64>,
    buffer: Vec<u8>,
    /// The part of the buffer that has been taken, in bytes.
    taken: usize,
    /// The number of records to read at once.
    records: usize,
}

impl RunReader {
    /// Creates a reader with a buffer of about `memory` bytes.
    pub(super) fn new(run: Range<u64>, memory: usize) -> Self {
        let records = (memory / RECORD).clamp(1, (1 << 20) / RECORD);
        RunReader { left: run, buffer: Vec::new(), taken: 0, records }
    }

    /// Returns the next record; `None` at the end of the run.
    pub(super) fn next(&mut self, from: &RunFile) -> Result<Option<Record>, HistoryError> {
        if self.taken == self.buffer.len() {
            let left = self.left.end - self.left.start;
            let len = left.min((self.records * RECORD) as u64) as usize;
            if len == 0 {
                return Ok(None);
            }
            self.buffer.resize(len, 0);
            let mut file = &from.file;
            let read = file.seek(SeekFrom::Start(self.left.start));
            let read = read.and_then(|_| file.read_exact(&mut self.buffer));
            read.map_err(|error| HistoryError::io(&from.path, error))?;
            self.left.start += len as u64;
            self.taken = 0;
        }
        let bytes = self.buffer.get(self.taken..).unwrap_or_default();
        let record = bytes.first_chunk().and_then(Record::read);
        self.taken += RECORD;
        record.map(Some).ok_or_else(|| {
            let error = std::io::Error::new(ErrorKind::InvalidData, "changed by another program");
            HistoryError::io(&from.path, error)
        })
    }
}

impl Record {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.start.to_le_bytes());
        out.extend_from_slice(&(self.quark.index() as u32).to_le_bytes());
        out.extend_from_slice(&self.last.to_le_bytes());
        out.push(self.raw.kind as u8);
        out.extend_from_slice(&self.raw.bits.to_le_bytes());
    }

    fn read(bytes: &[u8; RECORD]) -> Option<Record> {
        let (start, rest) = bytes.split_first_chunk()?;
        let (quark, rest) = rest.split_first_chunk()?;
        let (last, rest) = rest.split_first_chunk()?;
        let (kind, rest) = rest.split_first()?;
        let bits = u64::from_le_bytes(*rest.first_chunk()?);
        Some(Record {
            start: i64::from_le_bytes(*start),
            quark: Quark::from_index(u32::from_le_bytes(*quark)),
            last: i64::from_le_bytes(*last),
            raw: RawValue { kind: Kind::from_number(*kind)?, bits },
        })
    }
}
