//! The directory of an export: a folder for each table, with a file for each slice of time.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::PathBuf;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::file::{FileError, Format, TableFile};

/// The maximum number of files that a slice keeps open.
const MAX_OPEN: usize = 200;

/// A table to write.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// The name of its folder.
    pub(super) folder: String,
    pub(super) schema: SchemaRef,
    /// `true` if the rows are in the order of their times.
    pub(super) is_sorted: bool,
}

/// The common properties of all files of an export.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    /// Keys and values that are stored in each file, beside its rows.
    pub(super) metadata: Vec<(String, String)>,
}

impl Directory {
    /// Removes all that was written.
    pub(super) fn clear(&self) -> io::Result<()> {
        fs::read_dir(&self.path)?.try_for_each(|folder| fs::remove_dir_all(folder?.path()))
    }
}

/// The files of one slice of time.
pub(super) struct Files<'d> {
    directory: &'d Directory,
    targets: &'d [Target],
    slice: usize,
    open: Vec<Option<TableFile>>,
    /// The numbers of the open files, those unused for longest first.
    order: VecDeque<usize>,
    /// The number of files of each table so far.
    parts: Vec<usize>,
    pub(super) rows: u64,
}

impl<'d> Files<'d> {
    /// Creates the files of a slice, none of which exists yet.
    pub(super) fn new(directory: &'d Directory, targets: &'d [Target], slice: usize) -> Self {
        let open = targets.iter().map(|_| None).collect();
        let parts = vec![0; targets.len()];
        Files { directory, targets, slice, open, order: VecDeque::new(), parts, rows: 0 }
    }

    /// Writes rows of a table.
    pub(super) fn write(&mut self, table: usize, batch: &RecordBatch) -> Result<(), FileError> {
        self.rows += batch.num_rows() as u64;
        self.order.retain(|of| *of != table);
        self.order.push_back(table);
        if let Some(file) = &mut self.open[table] {
            return file.write(batch);
        }
        // A table whose file was closed continues in another one.
        if self.order.len() > MAX_OPEN
            && let Some(oldest) = self.order.pop_front()
            && let Some(file) = self.open[oldest].take()
        {
            file.finish()?;
        }
        let mut file = self.create(table)?;
        file.write(batch)?;
        self.open[table] = Some(file);
        Ok(())
    }

    fn create(&mut self, table: usize) -> Result<TableFile, FileError> {
        let Directory { path, format, metadata } = self.directory;
        let Target { folder, schema, is_sorted } = &self.targets[table];
        let folder = path.join(folder);
        fs::create_dir_all(&folder)?;
        let part = match self.parts[table] {
            0 => format!("part-{:04}", self.slice),
            more => format!("part-{:04}-{more:04}", self.slice),
        };
        self.parts[table] += 1;
        let file = folder.join(part).with_extension(format.extension());
        TableFile::create(&file, *format, schema, metadata, *is_sorted)
    }

    /// Completes all files.
    pub(super) fn finish(self) -> Result<(), FileError> {
        self.open.into_iter().flatten().try_for_each(TableFile::finish)
    }
}

/// Returns the name of the folder of an event type, which readers of partitioned data sets take for
/// the value of the column `name`.
pub(super) fn folder_of(event: &str) -> String {
    use std::fmt::Write;
    let mut folder = "name=".to_owned();
    for byte in event.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b':' => {
                folder.push(byte.into());
            }
            // Writing to a string never fails.
            _ => _ = write!(folder, "%{byte:02X}"),
        }
    }
    folder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_safe_names() {
        assert_eq!(folder_of("sched_switch"), "name=sched_switch");
        assert_eq!(folder_of("my app:a/b"), "name=my%20app:a%2Fb");
        assert_eq!(folder_of("../é"), "name=..%2F%C3%A9");
    }
}
