//! The notes on the traces of a tab.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_common::notes::{Note, NoteId, Notes, NotesError};
use lttv_context::{Bounds, Traceset, TracesetContext, TracesetPosition};

use crate::session::Session;

/// The file of notes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum NotesPlace {
    /// No file: notes cannot be kept.
    #[default]
    Nowhere,
    /// A file in the user's data directory, named after the contents of the traces.
    DataDirectory,
    /// This file.
    File(PathBuf),
}

/// An error of notes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TabNotesError {
    /// There is no file for notes.
    #[error("there is no file for notes: use --notes FILE")]
    Nowhere,
    /// The file of notes cannot be used.
    #[error("notes cannot be read: {0}")]
    NotRead(String),
    /// A note is refused, or the file cannot be written.
    #[error(transparent)]
    Notes(#[from] NotesError),
}

/// The mark of an event in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowMark {
    /// There is a note at the event.
    Note,
    /// The event is in the time range of a note.
    Range,
}

/// The notes on the traces of a tab.
#[derive(Debug, Default)]
pub struct TabNotes {
    place: NotesPlace,
    notes: Option<Result<Notes, String>>,
    /// The positions of events that have notes.
    positions: RefCell<HashMap<NoteId, Option<TracesetPosition>>>,
}

impl TabNotes {
    /// Reads the notes on traces.
    pub fn open(place: NotesPlace, traceset: &Traceset) -> Self {
        let notes = match &place {
            NotesPlace::Nowhere => None,
            NotesPlace::DataDirectory => Some(Notes::open(traceset)),
            NotesPlace::File(path) => Some(Notes::open_file(path, traceset)),
        };
        let notes =
            notes.map(|notes| notes.map_err(|error| ltt_read::ErrorChain(&error).to_string()));
        TabNotes { place, notes, positions: RefCell::default() }
    }

    /// Reads the notes again after a change of the traces. The file stays the same as long as
    /// one of its traces is open, so that adding a trace hides no note.
    #[must_use]
    pub(crate) fn reopen(&self, traceset: &Traceset) -> Self {
        let path = self.all().map(|notes| notes.path().to_path_buf());
        match path.map(|path| Notes::open_file(path, traceset)) {
            Some(Ok(notes)) => TabNotes {
                place: self.place.clone(),
                notes: Some(Ok(notes)),
                positions: RefCell::default(),
            },
            _ => TabNotes::open(self.place.clone(), traceset),
        }
    }

    /// Returns the place of the file.
    pub fn place(&self) -> &NotesPlace {
        &self.place
    }

    /// Returns the notes; `None` if there is no file for them or it cannot be read.
    pub fn all(&self) -> Option<&Notes> {
        self.notes.as_ref()?.as_ref().ok()
    }

    /// Returns the reason why the file cannot be read.
    pub fn error(&self) -> Option<&str> {
        self.notes.as_ref()?.as_ref().err().map(String::as_str)
    }

    /// Takes over the changes that others have made in the file. Errors are reported by the
    /// next change.
    pub fn refresh(&mut self) {
        if let Some(Ok(notes)) = &mut self.notes {
            _ = notes.refresh();
        }
    }

    /// Adds a note, and saves it.
    ///
    /// # Errors
    ///
    /// If the note is refused or cannot be saved. A note that cannot be saved is kept until the
    /// next change.
    pub fn add(&mut self, note: Note) -> Result<NoteId, TabNotesError> {
        let notes = self.notes_mut()?;
        let id = notes.add(note)?;
        notes.save()?;
        Ok(id)
    }

    /// Sets the text of a note, and saves it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`add`](Self::add).
    pub fn set_text(&mut self, id: NoteId, text: &str) -> Result<(), TabNotesError> {
        let notes = self.notes_mut()?;
        if let Some(mut note) = notes.get(id).cloned() {
            note.set_text(text);
            notes.replace(id, note)?;
            notes.save()?;
        }
        Ok(())
    }

    /// Removes a note, and saves the others.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`add`](Self::add).
    pub fn remove(&mut self, id: NoteId) -> Result<(), TabNotesError> {
        let notes = self.notes_mut()?;
        if notes.remove(id).is_some() {
            notes.save()?;
        }
        Ok(())
    }

    /// Writes all notes as JSON.
    ///
    /// # Errors
    ///
    /// If there are no notes because of an error, and the errors of the writer.
    pub fn export(&self, out: impl io::Write) -> io::Result<()> {
        match (&self.notes, self.error()) {
            (Some(Ok(notes)), _) => notes.write_json(out),
            (_, Some(error)) => Err(io::Error::other(error.to_owned())),
            _ => Err(io::Error::other(TabNotesError::Nowhere)),
        }
    }

    fn notes_mut(&mut self) -> Result<&mut Notes, TabNotesError> {
        match &mut self.notes {
            Some(Ok(notes)) => Ok(notes),
            Some(Err(error)) => Err(TabNotesError::NotRead(error.clone())),
            None => Err(TabNotesError::Nowhere),
        }
    }

    /// Returns the mark of an event, given the time of the event before it in the list. A note
    /// at a time without an event marks the next event.
    pub fn mark(
        &self,
        traceset: &Traceset,
        position: &TracesetPosition,
        time: Timestamp,
        before: Option<Timestamp>,
    ) -> Option<RowMark> {
        let from = before.map_or(time, |before| before.saturating_add(1)).min(time);
        let mut mark = None;
        for (id, note) in self.all()?.overlapping(from..time.saturating_add(1)) {
            let is_here = match (note.range(), note.place()) {
                (Some(range), _) if !range.contains(&time) => continue,
                (Some(range), _) => before.is_none_or(|before| before < range.start),
                (None, Some(_)) => self.position(id, note, traceset).as_ref() == Some(position),
                (None, None) => before.is_none_or(|before| before < note.start()),
            };
            match is_here {
                true => return Some(RowMark::Note),
                false if note.range().is_some() => mark = Some(RowMark::Range),
                false => {}
            }
        }
        mark
    }

    /// Returns the position of the event of a note.
    fn position(&self, id: NoteId, note: &Note, traceset: &Traceset) -> Option<TracesetPosition> {
        let mut positions = self.positions.borrow_mut();
        positions.entry(id).or_insert_with(|| note.find_in(traceset)).clone()
    }
}

impl Session {
    /// Reads the notes on the traces of the tab again, from a file.
    pub fn open_notes(&mut self, place: NotesPlace) {
        self.notes = TabNotes::open(place, self.traceset());
        if let Some(error) = self.notes.error() {
            self.message = Some(format!("notes cannot be read: {error}"));
        }
    }

    /// Creates a note on the selected time range; otherwise on the current event; otherwise at
    /// the current time.
    pub fn new_note(&self, text: &str) -> Note {
        if let Some(range) = self.selection
            && let Some(note) = Note::over(range.start()..range.end(), text)
        {
            return note;
        }
        let of_event = self.tab.position().and_then(|position| self.event_note(position, text));
        of_event.unwrap_or_else(|| Note::at(self.tab.time(), text))
    }

    /// Creates a note on the event at a position.
    fn event_note(&self, position: &TracesetPosition, text: &str) -> Option<Note> {
        let (note, text) = (Rc::new(RefCell::new(None)), text.to_owned());
        let mut context = TracesetContext::new(self.traceset());
        let to = note.clone();
        context.on_event("*", move |call| {
            *to.borrow_mut() = Some(Note::of_event(&call.event, text.clone()));
            ControlFlow::<()>::Break(())
        });
        context.seek_position(position).ok()?;
        // No bound is a position, which could be of another traceset.
        let _ = context.read(&Bounds::all());
        note.take()
    }

    /// Returns the note that the user edits instead of adding one: it is on the selected time
    /// range, on the current event or at the current time.
    pub fn note_to_edit(&self) -> Option<NoteId> {
        let wanted = self.new_note("");
        let mut notes = self.notes.all()?.overlapping(extent(&wanted));
        let is_same = |note: &Note| {
            (note.start(), note.range(), note.place())
                == (wanted.start(), wanted.range(), wanted.place())
        };
        notes.find(|(_, note)| is_same(note)).map(|(id, _)| id)
    }

    /// Goes to a note: selects its time range, or sets the current event or time.
    pub fn go_to_note(&mut self, id: NoteId) {
        let Some(note) = self.notes.all().and_then(|notes| notes.get(id)).cloned() else { return };
        self.clear_selection();
        let start = note.start().clamp(self.span().start, self.span().end);
        if let Some(range) = note.range() {
            self.tab.set_time(start, None);
            self.selection = lttv_requests::views::TimeWindow::new(range.start, range.end);
            return;
        }
        match self.notes.position(id, &note, self.traceset()) {
            // The position is of this traceset, so it is not refused.
            Some(position) => _ = self.tab.set_position(&position, None),
            None => self.tab.set_time(start, None),
        }
    }

    /// Goes to the next or previous note. Returns `false` if there is none.
    pub fn go_to_next_note(&mut self, back: bool) -> bool {
        let time = self.tab.time();
        let Some(notes) = self.notes.all() else { return false };
        let found = if back { notes.previous_before(time) } else { notes.next_after(time) };
        let Some(id) = found.map(|(id, _)| id) else { return false };
        self.go_to_note(id);
        true
    }

    /// Returns the text of the note at the current time, preferably one that is not on a time
    /// range.
    pub fn note_here(&self) -> Option<String> {
        let covering =
            || self.notes.all().into_iter().flat_map(|all| all.covering(self.tab.time()));
        let exact = covering().filter(|(_, note)| note.range().is_none());
        let (_, note) = exact.chain(covering()).next()?;
        Some(format!("note: {}", line_of(note)))
    }
}

/// Returns the text of a note in one line.
pub fn line_of(note: &Note) -> String {
    let mut lines = note.text().lines().map(str::trim).filter(|line| !line.is_empty());
    match (lines.next(), lines.next()) {
        (None, _) => "(bookmark)".to_owned(),
        (Some(line), None) => line.to_owned(),
        (Some(line), Some(_)) => format!("{line} …"),
    }
}

/// Returns the time range of a note; that of an instant is 1 ns long.
fn extent(note: &Note) -> Range<Timestamp> {
    note.start()..note.last().saturating_add(1)
}
