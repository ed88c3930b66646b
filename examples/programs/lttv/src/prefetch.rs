//! Reading ahead of traces that are not in the page cache.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use ltt_read::tuning::{Prefetch, Upcoming};
use nix::sys::resource::{UsageWho, getrusage};

/// The number of threads: as many parts are on their way from the disk at a time, in the order in which they
/// are needed.
const THREADS: usize = 8;

/// A reader that is ahead of another one, in threads of its own. They begin when this process has had a page
/// of a file read from the disk, and end with this.
#[derive(Debug, Default)]
pub struct Prefetcher {
    asked: Prefetch,
    threads: Option<Sender<Upcoming>>,
}

impl Prefetcher {
    /// Reads ahead of what a merge reads next, if the traces are on the disk. To be called before the
    /// first event, and after each some thousands of events.
    pub fn step(&mut self, upcoming: impl FnOnce(&mut Prefetch) -> Vec<Upcoming>) {
        if self.is_needed() {
            let parts = upcoming(&mut self.asked);
            self.fetch(parts);
        }
    }

    /// Reads parts of files that are read next, if the traces are on the disk.
    pub fn fetch(&mut self, parts: impl IntoIterator<Item = Upcoming>) {
        if !self.is_needed() {
            return;
        }
        for part in parts {
            // Without a thread, pages are read when they are used.
            _ = self.threads.get_or_insert_with(start).send(part);
        }
    }

    fn is_needed(&self) -> bool {
        self.threads.is_some() || has_waited()
    }
}

/// Starts threads that fetch what they receive.
fn start() -> Sender<Upcoming> {
    let (sender, receiver) = channel::<Upcoming>();
    let receiver = Arc::new(Mutex::new(receiver));
    for _ in 0..THREADS {
        let receiver = receiver.clone();
        let next = move || receiver.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
        // Without any thread, the receiver is gone, and sending has no effect.
        _ = thread::Builder::new().name("read-ahead".to_owned()).spawn(move || {
            while let Some(part) = next() {
                part.fetch();
            }
        });
    }
    sender
}

/// Returns `true` if this process has had to wait for the disk to read a page, or has asked it for one:
/// opening asks for the start of large files, and the pages are then on their way when they are
/// first used.
fn has_waited() -> bool {
    let usage = getrusage(UsageWho::RUSAGE_SELF);
    usage.is_ok_and(|usage| usage.major_page_faults() > 0 || usage.block_reads() > 0)
}
