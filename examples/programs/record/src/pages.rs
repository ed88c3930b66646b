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

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;

use crate::error::RecordError;
use crate::journal::{Change, Journal};
use crate::tracefs;
use crate::wait::Event;

/// The time after which pages are read that are not full.
const READ_ALL: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// The time to wait for more after the end of what is there.
const PAUSE: Duration = Duration::from_millis(20);

/// The greatest number of pauses within a page. The kernel gives whole pages.
const MAX_PAUSES: u32 = 100;

/// The threads that read pages.
#[derive(Debug)]
pub(crate) struct Readers {
    is_stopped: Arc<AtomicBool>,
    threads: Vec<ReaderThread>,
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
        let is_stopped = Arc::new(AtomicBool::new(false));
        let per_cpu = instance.join("per_cpu");
        let mut readers = Readers { is_stopped: Arc::clone(&is_stopped), threads: Vec::new() };
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
            let (stop, sender) = (Arc::clone(&is_stopped), sender.clone());
            let run = move || {
                let result = reader.run(&stop);
                if result.is_err() {
                    // The recorder may have stopped meanwhile.
                    _ = sender.send(Event::ReaderFailed);
                }
                result
            };
            let thread = thread::Builder::new().name(name).spawn(run);
            let thread = thread.map_err(RecordError::io("read", &per_cpu))?;
            readers.threads.push(ReaderThread { cpu, path: to, thread });
        }
        Ok(readers)
    }

    /// Reads what is left. Returns the files with the pages of each CPU, by number.
    pub(crate) fn finish(mut self) -> Result<Vec<Option<PathBuf>>, RecordError> {
        self.is_stopped.store(true, Ordering::Release);
        let mut files = Vec::new();
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
        self.is_stopped.store(true, Ordering::Release);
        for ReaderThread { thread, .. } in self.threads.drain(..) {
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
    /// Moves pages until the recording stops and no more are there. Returns the number of bytes.
    fn run(&mut self, is_stopped: &AtomicBool) -> Result<u64, RecordError> {
        let mut bytes = 0;
        loop {
            // Read before the pages: what was recorded until the stop is there afterwards.
            let is_last = is_stopped.load(Ordering::Acquire);
            let (moved, is_at_end) = self.move_pages()?;
            bytes += moved;
            if is_last {
                return Ok(bytes);
            }
            if moved > 0 {
                continue;
            }
            if is_at_end {
                thread::sleep(PAUSE);
                continue;
            }
            let mut wanted = [PollFd::new(&self.pipe, PollFlags::IN)];
            match poll(&mut wanted, Some(&READ_ALL)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(RecordError::io("read", &self.from)(error.into())),
            }
            // A buffer without events may be said to be readable.
            if wanted[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) {
                thread::sleep(PAUSE);
            }
        }
    }

    /// Moves the pages that are there. Returns the number of bytes, and whether the end of the file was reached.
    fn move_pages(&mut self) -> Result<(u64, bool), RecordError> {
        let mut moved = 0;
        loop {
            let (mut filled, mut pauses) = (0, 0);
            while filled < self.page.len() {
                match self.pipe.read(&mut self.page[filled..]) {
                    Ok(0) if filled == 0 => return Ok((moved, true)),
                    Err(error) if error.kind() == ErrorKind::WouldBlock && filled == 0 => {
                        return Ok((moved, false));
                    }
                    Ok(0) => {
                        let reason = "it ends within a page";
                        return Err(RecordError::Content { path: self.from.clone(), reason });
                    }
                    Ok(read) => filled += read,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    // The rest of a page may be on its way.
                    Err(error) if error.kind() == ErrorKind::WouldBlock && pauses < MAX_PAUSES => {
                        pauses += 1;
                        thread::sleep(PAUSE);
                    }
                    Err(error) => return Err(RecordError::io("read", &self.from)(error)),
                }
            }
            self.file.write_all(&self.page).map_err(RecordError::io("write", &self.to))?;
            moved += filled as u64;
        }
    }
}
