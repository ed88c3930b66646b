//! Errors of histories.

use std::ops::Range;
use std::path::{Path, PathBuf};

use ltt_read::Timestamp;

use super::identity::HistoryIdentity;
use crate::tree::{Quark, TreeError};

/// An error from building, opening or querying a history.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// A file could not be read or written.
    #[error("cannot read or write {}", path.display())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        error: std::io::Error,
    },
    /// The history at a path is being built by another process, or by another builder of
    /// this one.
    #[error("{}: another process is building this history", .0.display())]
    Busy(PathBuf),
    /// A path cannot name a history file: it has no file name, or belongs to something
    /// other than a regular file, such as a directory or a device.
    #[error("{}: not a regular file", .0.display())]
    NotAFile(PathBuf),
    /// The unfinished file at a path was removed or replaced while it was built.
    #[error("{}: removed or replaced during the build", .0.display())]
    Replaced(PathBuf),
    /// The file is not a history.
    #[error("not a history file")]
    NotAHistory,
    /// The file is a history in another version of the format.
    #[error("unsupported history format {found}, expected {known}")]
    Version {
        /// The version of the file.
        found: u32,
        /// The only version that this crate reads.
        known: u32,
    },
    /// The file was not closed, or its end is missing.
    /// [`History::recover`](super::History::recover) reads the blocks that it contains.
    #[error("unfinished or truncated history file")]
    Unfinished,
    /// The bytes of the file have changed since it was written.
    #[error("damaged history: {what} at byte {offset}{}", block.map_or(String::new(), |b| format!(" (block {b})")))]
    Damaged {
        /// The damaged part.
        what: &'static str,
        /// The block that contains the damaged part, counted from 0. `None` if it is
        /// outside of all blocks.
        block: Option<usize>,
        /// The offset of the damaged part, or of its block, in the file, in bytes.
        offset: u64,
    },
    /// The history was built from another source, or by another producer, than expected.
    #[error("stale history: built from {found}, expected {expected}")]
    Stale {
        /// The expected identity.
        expected: Box<HistoryIdentity>,
        /// The identity of the history.
        found: Box<HistoryIdentity>,
    },
    /// A change is too late: changes of later times have been stored.
    #[error(
        "change at {} ns is too late: the earliest possible time is {} ns",
        time.as_ns(),
        earliest.as_ns()
    )]
    TimeRegress {
        /// The time of the change.
        time: Timestamp,
        /// The earliest time at which a change is still possible.
        earliest: Timestamp,
    },
    /// The requested end of the history is not after its last change, or before the end of an
    /// interval.
    #[error(
        "history cannot end at {} ns: it has changes or intervals up to {} ns",
        end.as_ns(),
        last.as_ns()
    )]
    EndsTooEarly {
        /// The requested end.
        end: Timestamp,
        /// The time of the last change or the last time of an interval, whichever is later;
        /// the start of the history if there are neither.
        last: Timestamp,
    },
    /// The time range of an interval is empty.
    #[error("empty interval from {} ns to {} ns", range.start.as_ns(), range.end.as_ns())]
    EmptyInterval {
        /// The time range.
        range: Range<Timestamp>,
    },
    /// Two intervals of one attribute overlap.
    #[error(
        "overlapping intervals of {path:?}: {} ns to {} ns, and {} ns to {} ns",
        first.start.as_ns(),
        first.end.as_ns(),
        second.start.as_ns(),
        second.end.as_ns()
    )]
    Overlap {
        /// The path of the attribute.
        path: String,
        /// The interval that starts first.
        first: Range<Timestamp>,
        /// The other interval.
        second: Range<Timestamp>,
    },
    /// The caller has cancelled the work.
    #[error("cancelled")]
    Cancelled,
    /// A time or a range is outside of the history.
    #[error(
        "time {} ns is outside of the history from {} ns to {} ns",
        time.as_ns(),
        start.as_ns(),
        end.as_ns()
    )]
    OutOfRange {
        /// The time, or the end of the range that is outside.
        time: Timestamp,
        /// The start of the history.
        start: Timestamp,
        /// The end of the history.
        end: Timestamp,
    },
    /// The history has no attribute with this quark.
    #[error("unknown attribute {}", .0.index())]
    UnknownQuark(Quark),
    /// A push or pop on the attribute at a path whose value is not a stack depth.
    #[error("attribute {0:?} is not a stack: its value is neither null nor a depth")]
    NotAStack(String),
    /// A push on a stack that has its greatest depth already.
    #[error("stack {path:?} has its greatest depth of {limit} already")]
    StackTooDeep {
        /// The path of the attribute.
        path: String,
        /// The greatest depth of a stack.
        limit: u32,
    },
    /// There are more distinct texts and blobs than 32 bits can number.
    #[error("too many different texts and blobs")]
    TooManyTexts,
    /// A [`Text`](super::Text) belongs to another builder.
    #[error("text of another builder")]
    UnknownText,
    /// The builder has been closed.
    #[error("history is closed")]
    Closed,
    /// An earlier write to the file failed, after which nothing more can be added.
    #[error("an earlier write to the history failed")]
    Failed,
    /// A path or an attribute is invalid.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

ltt_read::debug_as_chain!(HistoryError);

impl HistoryError {
    pub(crate) fn io(path: &Path, error: std::io::Error) -> HistoryError {
        HistoryError::Io { path: path.to_owned(), error }
    }
}
