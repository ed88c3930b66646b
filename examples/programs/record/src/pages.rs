//! The pages of ring buffers, which one thread for each CPU moves to a file.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::fs::OFlags;

use crate::error::RecordError;
use crate::journal::{Change, Journal};
use crate::tracefs;
use crate::wait::Event;

/// The times between two reads: while many pages come, and otherwise.
const SHORT: Duration = Duration::from_millis(10);
const LONG: Duration = Duration::from_millis(100);

/// The number of pages at once that are many.
const MANY: u64 = 64;

/// The place of the number of bytes of data in a page, of which other bits tell losses. It is the low half on machines
/// with the low byte first.
const COMMIT: std::ops::Range<usize> =
    if cfg!(target_endian = "big") && size_of::<usize>() == 8 { 12..16 } else { 8..12 };

/// The greatest number of bytes of data.
const MAX_DATA: usize = (1 << 27) - 1;

/// The greatest number of pauses within a page. The kernel gives whole pages.
const MAX_PAUSES: u32 = 100;

/// The threads that read pages.
#[derive(Debug)]
pub(crate) struct Readers {
    end: Arc<End>,
    threads: Vec<ReaderThread>,
}

/// The end of the threads.
#[derive(Debug, Default)]
struct End {
    /// Nothing is recorded any more.
    is_stopped: AtomicBool,
    /// The pages are not needed any more.
    is_abandoned: AtomicBool,
}

/// The thread that reads the pages of a CPU.
#[derive(Debug)]
struct ReaderThread {
    cpu: usize,
    /// The file with the pages.
    path: PathBuf,
    /// Returns the number of bytes.
    thread: JoinHandle<Result<u64, RecordError>>,
}

impl Readers {
    /// Opens the pages of each CPU of an instance, and starts to read them into files in `output`.
    pub(crate) fn open(
        instance: &Path,
        output: &Path,
        page_size: u32,
        journal: &mut Journal,
        sender: &Sender<Event>,
    ) -> Result<Readers, RecordError> {
        let per_cpu = instance.join("per_cpu");
        let mut readers = Readers { end: Arc::default(), threads: Vec::new() };
        for name in tracefs::folders(&per_cpu)? {
            let Some(cpu) = name.strip_prefix("cpu").and_then(|number| number.parse().ok()) else {
                continue;
            };
            let from = per_cpu.join(&name).join("trace_pipe_raw");
            // An empty buffer must not keep the thread from ending.
            let flags = OFlags::NONBLOCK.bits() as i32;
            let pipe = OpenOptions::new().read(true).custom_flags(flags).open(&from);
            let pipe = pipe.map_err(RecordError::io("read", &from))?;
            let to = output.join(format!(".{name}.pages"));
            journal.note(Change::File(to.clone()))?;
            let file = File::create_new(&to).map_err(RecordError::io("create", &to))?;
            let mut reader =
                Reader { pipe, from, file, to: to.clone(), page: vec![0; page_size as usize] };
            let (end, sender) = (Arc::clone(&readers.end), sender.clone());
            let run = move || {
                let result = reader.run(&end);
                if result.is_err() {
                    // The recorder may have stopped meanwhile.
                    _ = sender.send(Event::ReaderFailed);
                }
                result
            };
            // The recording tells the name of the thread.
            let thread = thread::Builder::new().name(format!("lttv-{name}")).spawn(run);
            let thread = thread.map_err(RecordError::io("read", &per_cpu))?;
            readers.threads.push(ReaderThread { cpu, path: to, thread });
        }
        Ok(readers)
    }

    /// Reads what is left. Returns the files with the pages of each CPU, by number.
    pub(crate) fn finish(mut self) -> Result<Vec<Option<PathBuf>>, RecordError> {
        self.end.is_stopped.store(true, Ordering::Release);
        let mut files = Vec::new();
        self.threads.iter().for_each(|reader| reader.thread.thread().unpark());
        for ReaderThread { cpu, path, thread } in std::mem::take(&mut self.threads) {
            let bytes = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            if files.len() <= cpu {
                files.resize(cpu + 1, None);
            }
            files[cpu] = (bytes > 0).then_some(path);
        }
        Ok(files)
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        // The machine may still record, and reading makes events itself: what is left would have no end.
        self.end.is_abandoned.store(true, Ordering::Release);
        for ReaderThread { thread, .. } in self.threads.drain(..) {
            thread.thread().unpark();
            // The failure that ended the recording is told instead.
            _ = thread.join();
        }
    }
}

/// The pages of a CPU.
struct Reader {
    pipe: File,
    from: PathBuf,
    file: File,
    to: PathBuf,
    page: Vec<u8>,
}

impl Reader {
    /// Moves pages until the recording stops and no more are there, or until they are abandoned. Returns the number of
    /// bytes.
    fn run(&mut self, end: &End) -> Result<u64, RecordError> {
        let mut bytes = 0;
        loop {
            // Read before the pages: what was recorded until the stop is there afterwards.
            let is_last = end.is_stopped.load(Ordering::Acquire);
            let moved = self.move_pages(is_last, end)?;
            bytes += moved;
            if is_last || end.is_abandoned.load(Ordering::Acquire) {
                return Ok(bytes);
            }
            let is_busy = moved >= MANY * self.page.len() as u64;
            thread::park_timeout(if is_busy { SHORT } else { LONG });
        }
    }

    /// Moves the full pages that are there, or all. Returns the number of bytes.
    fn move_pages(&mut self, all: bool, end: &End) -> Result<u64, RecordError> {
        let mut moved = 0;
        while !end.is_abandoned.load(Ordering::Acquire) && self.fill_page()? {
            self.file.write_all(&self.page).map_err(RecordError::io("write", &self.to))?;
            moved += self.page.len() as u64;
            // Reading makes events itself: pages with a few of them would follow without end.
            if !all && self.data() < self.page.len() / 2 {
                break;
            }
        }
        Ok(moved)
    }

    /// Returns the number of bytes of data in the page.
    fn data(&self) -> usize {
        let mut commit = [0; 4];
        commit.copy_from_slice(&self.page[COMMIT]);
        u32::from_ne_bytes(commit) as usize & MAX_DATA
    }

    /// Reads the next page. Returns `false` if there is none.
    fn fill_page(&mut self) -> Result<bool, RecordError> {
        let (mut filled, mut pauses) = (0, 0);
        while filled < self.page.len() {
            match self.pipe.read(&mut self.page[filled..]) {
                Ok(0) if filled == 0 => return Ok(false),
                Ok(0) => {
                    let reason = "it ends within a page";
                    return Err(RecordError::Content { path: self.from.clone(), reason });
                }
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock && filled == 0 => {
                    return Ok(false);
                }
                // The rest of a page may be on its way.
                Err(error) if error.kind() == ErrorKind::WouldBlock && pauses < MAX_PAUSES => {
                    pauses += 1;
                    thread::sleep(SHORT);
                }
                Err(error) => return Err(RecordError::io("read", &self.from)(error)),
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc::channel;
    use std::time::Instant;

    use super::*;
    use crate::journal::Journals;

    const PAGE: u32 = 4096;

    /// The size of a buffer that takes longer to read.
    const LARGE: u64 = 1 << 28;

    /// Abandoned threads end at once, whatever is left.
    #[test]
    fn what_is_left_is_not_read_after_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journals::at(folder.path().join("journals")).create().unwrap();
        let cpu = folder.path().join("per_cpu/cpu0");
        fs::create_dir_all(&cpu).unwrap();
        let pages = File::create(cpu.join("trace_pipe_raw")).unwrap();
        // Pages without data, of which a thread moves one at a time while it is not the end.
        pages.set_len(LARGE).unwrap();
        let (sender, _receiver) = channel();
        let (instance, output) = (folder.path(), folder.path());
        let readers = Readers::open(instance, output, PAGE, &mut journal, &sender).unwrap();
        let begin = Instant::now();
        drop(readers);
        let moved = fs::metadata(output.join(".cpu0.pages")).unwrap().len();
        assert!(moved <= 100 * u64::from(PAGE), "{moved} bytes in {:?}", begin.elapsed());
    }
}
