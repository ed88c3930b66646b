//! Reading ahead of traces that are not in the page cache.

use std::sync::mpsc::{Sender, channel};
use std::thread;

use ltt_read::{Prefetch, Upcoming};
use nix::sys::resource::{UsageWho, getrusage};

/// A reader that is ahead of a merge, in a thread of its own. The thread begins when this process
/// has had a page of a file read from the disk, and ends with this.
#[derive(Debug, Default)]
pub struct Prefetcher {
    asked: Prefetch,
    thread: Option<Sender<Vec<Upcoming>>>,
}

impl Prefetcher {
    /// Reads ahead of what is read next, if the traces are on the disk. To be called before the
    /// first event, and after each some thousands of events.
    pub fn step(&mut self, upcoming: impl FnOnce(&mut Prefetch) -> Vec<Upcoming>) {
        if self.thread.is_none() && !has_waited() {
            return;
        }
        let parts = upcoming(&mut self.asked);
        if !parts.is_empty() {
            let thread = self.thread.get_or_insert_with(start);
            // Without the thread, pages are read when they are used.
            _ = thread.send(parts);
        }
    }
}

/// Starts a thread that fetches what it receives.
fn start() -> Sender<Vec<Upcoming>> {
    let (sender, receiver) = channel::<Vec<Upcoming>>();
    // Without a thread, the receiver is gone, and sending has no effect.
    _ = thread::Builder::new().name("read-ahead".to_owned()).spawn(move || {
        receiver.iter().flatten().for_each(|part| part.fetch());
    });
    sender
}

/// Returns `true` if this process has had to wait for the disk to read a page, or has asked it for one:
/// opening asks for the start of large files, and the pages are then on their way when they are
/// first used.
fn has_waited() -> bool {
    let usage = getrusage(UsageWho::RUSAGE_SELF);
    usage.is_ok_and(|usage| usage.major_page_faults() > 0 || usage.block_reads() > 0)
}
