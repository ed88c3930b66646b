//! Sources of events that are being recorded: directories, or a live session.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ltt_read::live::{LiveReader, LiveState};
use ltt_read::{Error as ReadError, Follower, Merge, Trace};

/// The time between two looks at what is followed, if it has nothing new.
const PERIOD: Duration = Duration::from_millis(20);

/// A source of traces that grow.
#[derive(Debug)]
pub enum Source {
    /// Directories, with the paths that the user gave.
    Directories(Box<Follower>, Vec<PathBuf>),
    /// A session of a relay daemon.
    Live(Box<LiveReader>),
}

/// The result of a look at a [`Source`].
#[derive(Debug)]
pub enum Found {
    /// There is nothing new: the caller should wait.
    Nothing,
    /// There is something new, or there was no time to look at everything.
    Something,
    /// A file or directory cannot be read. All others are followed.
    Failed(ReadError),
    /// The source has ended, and everything is final.
    End,
}

impl Source {
    /// Fetches what is new, from a relay daemon for at most about `limit`.
    ///
    /// # Errors
    ///
    /// If the session cannot be read any further.
    pub fn poll(&mut self, limit: Duration) -> Result<Found, Box<dyn Error>> {
        match self {
            Source::Directories(follower, _) => Ok(match follower.poll(Instant::now()) {
                Ok(true) => Found::Something,
                Ok(false) => Found::Nothing,
                Err(error) => Found::Failed(error),
            }),
            Source::Live(reader) => Ok(match reader.poll(limit)? {
                LiveState::Idle => Found::Nothing,
                LiveState::Busy => Found::Something,
                LiveState::Ended => Found::End,
            }),
        }
    }

    /// Waits until it is worth while to look again.
    pub fn wait(&self) {
        std::thread::sleep(PERIOD);
    }

    /// Returns the traces as far as they have arrived.
    pub fn traces(&mut self) -> &[Arc<Trace>] {
        match self {
            Source::Directories(follower, _) => follower.traces(),
            Source::Live(reader) => reader.traces(),
        }
    }

    /// Returns, in words, what has not been read so far because there is no valid metadata. A
    /// program that leaves a source before its end has to report it.
    pub fn unread(&mut self) -> Vec<String> {
        let (errors, paths): (Vec<_>, &[PathBuf]) = match self {
            Source::Directories(follower, paths) => (words(follower.metadata_errors()), paths),
            Source::Live(reader) => (words(reader.client().metadata_errors()), &[]),
        };
        let paths = paths.to_vec();
        match errors.is_empty() && self.traces().is_empty() {
            true => paths.iter().map(|path| format!("{}: no trace", path.display())).collect(),
            false => errors,
        }
    }

    /// Returns the number of packets that the relay daemon had removed before they were fetched, and
    /// that no gap between others shows.
    pub fn missing_packets(&mut self) -> u64 {
        match self {
            Source::Directories(..) => 0,
            Source::Live(reader) => reader.client().missing_packets(),
        }
    }

    /// Returns the path, of those that the user gave, below which a trace is.
    pub fn given(&self) -> &[PathBuf] {
        match self {
            Source::Directories(_, paths) => paths,
            Source::Live(_) => &[],
        }
    }

    /// Forgets what a merge has delivered.
    pub fn release(&mut self, merge: &Merge) {
        match self {
            Source::Directories(follower, _) => follower.release(merge),
            Source::Live(reader) => reader.release(merge),
        }
    }
}

fn words<'a>(errors: impl Iterator<Item = &'a ReadError>) -> Vec<String> {
    errors.map(ToString::to_string).collect()
}
