//! One note.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;
use std::str::FromStr;
use std::time::SystemTime;

use ltt_read::{Event, Timestamp};
use lttv_context::{Traceset, TracesetPosition};
use serde_json::{Map, Value};

use super::EventPlace;

/// The greatest length of the text of a note, in bytes.
pub const MAX_TEXT_BYTES: usize = 64 << 10;

/// A number that identifies a note among those of a traceset. It stays the same when the note
/// is edited, saved and read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoteId(u64);

impl NoteId {
    /// Returns a random identifier, so that those of different processes differ.
    pub(super) fn random() -> Self {
        // A `RandomState` contains random keys.
        NoteId(RandomState::new().build_hasher().finish())
    }
}

impl fmt::Display for NoteId {
    /// Writes 16 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for NoteId {
    type Err = std::num::ParseIntError;

    /// Parses hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(NoteId)
    }
}

/// A note: a text at an instant, at an event or over a time range. A note without a text is
/// a bookmark.
///
/// The text may contain any characters, including line breaks and escape sequences.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    text: String,
    start: Timestamp,
    /// The end of a time range, later than its start.
    end: Option<Timestamp>,
    event: Option<String>,
    place: Option<EventPlace>,
    created: jiff::Timestamp,
    /// The unknown keys of the note in its file.
    pub(super) unknown: Map<String, Value>,
}

impl Note {
    /// Creates a note at an instant, now.
    pub fn at(time: Timestamp, text: impl Into<String>) -> Self {
        Note {
            text: text.into(),
            start: time,
            end: None,
            event: None,
            place: None,
            created: jiff::Timestamp::now(),
            unknown: Map::new(),
        }
    }

    /// Creates a note over a time range, now. The end is not included. Returns `None` if the
    /// range is empty.
    pub fn over(range: Range<Timestamp>, text: impl Into<String>) -> Option<Self> {
        let end = (range.start < range.end).then_some(range.end)?;
        Some(Note { end: Some(end), ..Note::at(range.start, text) })
    }

    /// Creates a note of an event, now: with its time, its name and its place in the trace.
    /// The time of an event without a time is [`Timestamp::MIN`].
    pub fn of_event(event: &Event<'_>, text: impl Into<String>) -> Self {
        Note {
            event: Some(event.event_type().name().to_owned()),
            place: Some(EventPlace::of(event)),
            ..Note::at(event.timestamp().unwrap_or(Timestamp::MIN), text)
        }
    }

    /// Sets the time of creation, instead of the current time. A time that no file can
    /// contain, such as one after the year 9999, is ignored.
    #[must_use]
    pub fn created_at(mut self, time: SystemTime) -> Self {
        self.created = time.try_into().unwrap_or(self.created);
        self
    }

    /// Sets the name of the event of the note.
    #[must_use]
    pub fn with_event_name(self, name: impl Into<String>) -> Self {
        Note { event: Some(name.into()), ..self }
    }

    /// Sets the place of the event of the note.
    pub(super) fn with_place(self, place: EventPlace) -> Self {
        Note { place: Some(place), ..self }
    }

    /// Sets the text.
    pub fn set_text(&mut self, text: impl Into<String>) {
        self.text = text.into();
    }

    /// Returns the text, which is empty for a bookmark.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the time of the note, or the start of its time range.
    pub fn start(&self) -> Timestamp {
        self.start
    }

    /// Returns the time range, whose end is not included; `None` for an instant.
    pub fn range(&self) -> Option<Range<Timestamp>> {
        self.end.map(|end| self.start..end)
    }

    /// Returns the last time that belongs to the note: that of an instant, or the one before
    /// the end of a range.
    pub fn last(&self) -> Timestamp {
        self.end.map_or(self.start, |end| end.saturating_sub(1))
    }

    /// Returns the name of the event.
    pub fn event_name(&self) -> Option<&str> {
        self.event.as_deref()
    }

    /// Returns the place of the event in its trace.
    pub fn place(&self) -> Option<&EventPlace> {
        self.place.as_ref()
    }

    /// Returns the time of creation.
    pub fn created(&self) -> SystemTime {
        self.created.into()
    }

    /// Returns the time of creation as files contain it.
    pub(super) fn created_jiff(&self) -> jiff::Timestamp {
        self.created
    }

    /// Returns `true` if this is a note of an event. This is exact: other events of the same
    /// time and name differ.
    pub fn is_of(&self, event: &Event<'_>) -> bool {
        self.place.as_ref().is_some_and(|place| place.is_of(event))
    }

    /// Finds the exact position of the event of the note. Returns `None` if the note has no
    /// such event, or if the traceset does not contain it.
    ///
    /// This seeks the time of the note, and reads the events of exactly this time.
    pub fn find_in(&self, traceset: &Traceset) -> Option<TracesetPosition> {
        self.place.as_ref()?.find(self.start, traceset)
    }
}
