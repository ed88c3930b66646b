//! What can go wrong with a history.

use std::path::PathBuf;

use super::identity::Identity;
use crate::tree::{Quark, TreeError};

/// Why a history cannot be built, opened or asked. Times are in ns.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing a file failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Another process, or another builder of this one, is building the file now.
    #[error("{}: another process is building this history", path.display())]
    Busy {
        /// The file that is being built.
        path: PathBuf,
    },
    /// A history cannot have this name: it is none of a file, or something else than a
    /// file has it, such as a directory or a device.
    #[error("{}: not a file, so that no history can be there", path.display())]
    NotAFile {
        /// The name.
        path: PathBuf,
    },
    /// The unfinished file was removed or replaced while it was built.
    #[error("{}: removed or replaced while it was built", path.display())]
    Replaced {
        /// The unfinished file.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("not a history file")]
    NotAHistory,
    /// The file is a history of another format.
    #[error("history format {found} is not known; this is format {known}")]
    Version {
        /// The file's format.
        found: u32,
        /// The only format that is read here.
        known: u32,
    },
    /// The file was not closed, or its end is missing.
    /// [`History::recover`](super::History::recover) reads what is there.
    #[error("history was not finished, or is truncated")]
    Unfinished,
    /// The file's bytes are not what was written.
    #[error("damaged history: {what}, at byte {offset}{}", block.map_or(String::new(), |b| format!(" (block {b})")))]
    Damaged {
        /// What is wrong.
        what: &'static str,
        /// The block it is in, counted from 0, if it is in one.
        block: Option<usize>,
        /// Where the damaged part begins in the file, in bytes.
        offset: u64,
    },
    /// The history was built from something else than expected.
    #[error("stale history: built from {found}, wanted {expected}")]
    Stale {
        /// What it should have been built from.
        expected: Box<Identity>,
        /// What it was built from.
        found: Box<Identity>,
    },
    /// A change comes too late: later ones are stored already.
    #[error("change at {t} ns comes too late: the history has passed {earliest} ns")]
    TimeRegress {
        /// The time of the change.
        t: i64,
        /// The earliest time at which changes can still be made.
        earliest: i64,
    },
    /// The end of the history would be before a change.
    #[error("cannot end at {end} ns: there are changes up to {last} ns")]
    EndsTooEarly {
        /// The wanted end.
        end: i64,
        /// The time of the last change, or the start if there are none.
        last: i64,
    },
    /// A time that the history does not have.
    #[error("no time {t} ns: history is from {start} to {end} ns")]
    OutOfRange {
        /// The time.
        t: i64,
        /// The first time of the history.
        start: i64,
        /// The last time of the history.
        end: i64,
    },
    /// A quark that the history does not have.
    #[error("no attribute has the number {}", quark.index())]
    UnknownQuark {
        /// The quark.
        quark: Quark,
    },
    /// Pushing to or popping from an attribute whose value is not a depth.
    #[error("attribute {path:?} is not a stack: its value is neither null nor a depth")]
    NotAStack {
        /// The attribute's path.
        path: String,
    },
    /// Pushing to a stack that is too deep already.
    #[error("stack {path:?} is deeper than {limit}")]
    StackTooDeep {
        /// The attribute's path.
        path: String,
        /// The greatest depth.
        limit: u32,
    },
    /// More different texts and blobs than 32 bits can number.
    #[error("too many different texts and blobs")]
    TooManyTexts,
    /// A text of another builder.
    #[error("a text that this builder does not know")]
    UnknownText,
    /// The builder was closed already.
    #[error("the history is closed, nothing can be added")]
    Closed,
    /// An earlier write to the file failed; nothing can be added any more.
    #[error("an earlier write failed, the history cannot grow")]
    Failed,
    /// A path or an attribute is of no use.
    #[error(transparent)]
    Tree(#[from] TreeError),
}
