//! Notes on traces: bookmarks and texts at instants, events and time ranges, in files that
//! no trace contains.
//!
//! [`Notes`] are the notes of a traceset. Without a given path they are in the user's data
//! directory, in a file that is named after the contents of the traces: traces that were
//! moved or copied keep their notes.
//!
//! ```
//! use ltt_read::Timestamp;
//! use lttv_context::Traceset;
//! use lttv_common::notes::{Note, Notes};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
//! # let dir = tempfile::tempdir()?;
//! # let file = dir.path().join("notes.json");
//! let traceset = Traceset::open(path)?;
//! let mut notes = Notes::open_file(&file, &traceset)?;
//!
//! let start = Timestamp::from_ns(1_795_231_463_430_870_569);
//! let end = start.saturating_add(5_000_000);
//! notes.add(Note::at(start, "the disk wakes up"))?;
//! notes.add(Note::over(start..end, "slow").expect("not empty"))?;
//! notes.save()?;
//!
//! let again = Notes::open_file(&file, &traceset)?;
//! let texts: Vec<_> = again.overlapping(start..end).map(|(_, note)| note.text()).collect();
//! assert_eq!(texts, ["the disk wakes up", "slow"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Files
//!
//! A file of notes is JSON text. Times are in seconds with nine decimals, and the ends of
//! time ranges are not included:
//!
//! ```json
//! {
//!   "format": "lttv-notes",
//!   "version": 1,
//!   "traces": [{ "id": "0123456789abcdef0123456789abcdef", "path": "/traces/kernel" }],
//!   "notes": [
//!     {
//!       "id": "00000000000000a1",
//!       "text": "slow",
//!       "start": "1795231463.430870569",
//!       "end": "1795231463.435870569",
//!       "created": "2026-11-21T03:24:00Z"
//!     }
//!   ]
//! }
//! ```
//!
//! A note of an instant has no `end`. A note of an event has its name as `event`, and its
//! place in the trace as `place`. Unknown keys are kept. A file of a later version, and one
//! that is damaged, is an error and is not changed.

mod error;
mod event_place;
mod format;
mod note;
mod notes_of_traces;
mod storage;
mod timeline;
mod trace_id;

pub use error::NotesError;
pub use event_place::EventPlace;
pub use note::{MAX_TEXT_BYTES, Note, NoteId};
pub use notes_of_traces::Notes;
pub use trace_id::TraceId;
