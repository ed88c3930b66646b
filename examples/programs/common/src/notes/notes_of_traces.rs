//! The notes of a traceset, and their file.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use ltt_read::Timestamp;
use lttv_context::Traceset;
use serde_json::{Map, Value};

use super::format::Contents;
use super::note::MAX_TEXT_BYTES;
use super::timeline::Timeline;
use super::{Note, NoteId, NotesError, TraceId, storage};

/// The notes of a traceset, in order of time.
///
/// [`add`](Self::add), [`replace`](Self::replace) and [`remove`](Self::remove) change the
/// notes in memory. [`save`](Self::save) applies these changes to the file as it is by then:
/// several processes may change the notes of the same traces. If saving fails, the changes
/// are kept and can be saved again.
#[derive(Debug)]
pub struct Notes {
    path: PathBuf,
    /// The traces, and where they are.
    traces: Vec<(TraceId, String)>,
    timeline: Timeline,
    /// The notes that were added, edited or removed since they were saved.
    changed: BTreeSet<NoteId>,
    unknown: Map<String, Value>,
}

impl Notes {
    /// Reads the notes of traces from the user's data directory: from the folder `lttv/notes`
    /// in `$XDG_DATA_HOME` or, without this variable, in `~/.local/share`. Without a file
    /// there are no notes; the first save creates it.
    ///
    /// The name of the file depends on the contents of the traces but not on their paths. It
    /// also depends on which traces the traceset consists of.
    ///
    /// # Errors
    ///
    /// If the user has no data directory, or the file cannot be read.
    pub fn open(traceset: &Traceset) -> Result<Self, NotesError> {
        Notes::open_file(storage::default_path(traceset, storage::environment)?, traceset)
    }

    /// Reads the notes of traces from a file. Without a file there are no notes; the first
    /// save creates it.
    ///
    /// The notes may belong to some of the traces only, or to others as well.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is damaged, is of a later version, has notes of other
    /// traces only, or is in the directory of a trace.
    pub fn open_file(path: impl Into<PathBuf>, traceset: &Traceset) -> Result<Self, NotesError> {
        let path = path.into();
        storage::refuse_traces(&path, traceset)?;
        let traces = traceset.traces().iter();
        let traces = traces.map(|trace| (TraceId::of(trace), trace.path().display().to_string()));
        let mut notes = Notes {
            path,
            traces: traces.collect(),
            timeline: Timeline::default(),
            changed: BTreeSet::new(),
            unknown: Map::new(),
        };
        notes.refresh()?;
        Ok(notes)
    }

    /// Returns the path of the file, which may not exist yet.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of notes.
    pub fn len(&self) -> usize {
        self.timeline.as_slice().len()
    }

    /// Returns `true` if there are no notes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all notes in order of their start. Notes of instants come before those of
    /// ranges with the same start.
    pub fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = (NoteId, &Note)> + ExactSizeIterator + use<'_> {
        self.timeline.as_slice().iter().map(by_id)
    }

    /// Returns a note.
    pub fn get(&self, id: NoteId) -> Option<&Note> {
        self.timeline.get(id)
    }

    /// Returns the first note that starts after a time.
    pub fn next_after(&self, time: Timestamp) -> Option<(NoteId, &Note)> {
        self.timeline.next_after(time).map(by_id)
    }

    /// Returns the last note that starts before a time.
    pub fn previous_before(&self, time: Timestamp) -> Option<(NoteId, &Note)> {
        self.timeline.previous_before(time).map(by_id)
    }

    /// Returns the notes that have a time in common with a window, whose end is not included,
    /// in order of their start.
    pub fn overlapping(
        &self,
        window: Range<Timestamp>,
    ) -> impl Iterator<Item = (NoteId, &Note)> + use<'_> {
        let is_empty = window.end <= window.start;
        let notes = self.timeline.between(window.start, window.end.saturating_sub(1));
        notes.filter(move |_| !is_empty).map(by_id)
    }

    /// Returns the notes at a time, and those whose ranges contain it, in order of their
    /// start.
    pub fn covering(&self, time: Timestamp) -> impl Iterator<Item = (NoteId, &Note)> + use<'_> {
        self.timeline.between(time, time).map(by_id)
    }

    /// Adds a note, and returns its identifier.
    ///
    /// # Errors
    ///
    /// If its text is too long.
    pub fn add(&mut self, note: Note) -> Result<NoteId, NotesError> {
        let mut id = NoteId::random();
        while self.timeline.get(id).is_some() {
            id = NoteId::random();
        }
        self.put(id, note)?;
        Ok(id)
    }

    /// Replaces a note. Returns `false` and does nothing if it does not exist.
    ///
    /// # Errors
    ///
    /// If the text of the new note is too long.
    ///
    /// ```
    /// # use ltt_read::Timestamp;
    /// # use lttv_context::Traceset;
    /// # use lttv_common::notes::{Note, Notes};
    /// # let mut notes = Notes::open_file("no such file", &Traceset::new())?;
    /// let id = notes.add(Note::at(Timestamp::from_ns(5), ""))?;
    /// let mut edited = notes.get(id).expect("just added").clone();
    /// edited.set_text("the first interrupt");
    /// assert!(notes.replace(id, edited)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replace(&mut self, id: NoteId, note: Note) -> Result<bool, NotesError> {
        let exists = self.timeline.get(id).is_some();
        if exists {
            self.put(id, note)?;
        }
        Ok(exists)
    }

    /// Removes and returns a note.
    pub fn remove(&mut self, id: NoteId) -> Option<Note> {
        let removed = self.timeline.remove(id)?;
        self.changed.insert(id);
        Some(removed)
    }

    /// Returns `true` if there are changes that are not saved.
    pub fn has_unsaved_changes(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Applies all unsaved changes to the file, and takes over the changes that other
    /// processes have made there. If two processes change the same note, the later save
    /// wins. Does nothing if there are no unsaved changes.
    ///
    /// The file is replaced as a whole: at any time it contains either the earlier or the new
    /// notes, even if the machine stops.
    ///
    /// # Errors
    ///
    /// If the file cannot be read again or written. The changes are kept in memory.
    pub fn save(&mut self) -> Result<(), NotesError> {
        if self.changed.is_empty() {
            return Ok(());
        }
        let mut merged = None;
        storage::update(&self.path, |contents| {
            let mut contents = self.check(contents)?.unwrap_or_default();
            self.apply_changes(&mut contents);
            for (id, path) in &self.traces {
                contents.traces.retain(|(other, _)| other != id);
                contents.traces.push((*id, path.clone()));
            }
            merged = Some(contents.clone());
            Ok(contents)
        })?;
        self.changed.clear();
        self.take(merged.unwrap_or_default());
        Ok(())
    }

    /// Reads the file again, and takes over the changes that other processes have made there.
    /// Unsaved changes are kept. Returns `true` if the notes differ now.
    ///
    /// # Errors
    ///
    /// If the file cannot be read. The notes stay the same.
    pub fn refresh(&mut self) -> Result<bool, NotesError> {
        let mut contents = self.check(storage::read(&self.path)?)?.unwrap_or_default();
        self.apply_changes(&mut contents);
        let before = self.timeline.clone();
        self.take(contents);
        Ok(self.timeline != before)
    }

    /// Writes all notes as JSON, in the format of files of notes.
    ///
    /// # Errors
    ///
    /// Returns the errors of the writer.
    pub fn write_json(&self, out: impl Write) -> io::Result<()> {
        let contents = Contents {
            traces: self.traces.clone(),
            notes: self.timeline.as_slice().to_vec(),
            unknown: self.unknown.clone(),
        };
        contents.write(out)
    }

    fn put(&mut self, id: NoteId, note: Note) -> Result<(), NotesError> {
        let bytes = note.text().len();
        if bytes > MAX_TEXT_BYTES {
            return Err(NotesError::TextTooLong { bytes });
        }
        self.timeline.insert(id, note);
        self.changed.insert(id);
        Ok(())
    }

    /// Refuses the contents of a file whose notes belong to other traces.
    fn check(&self, contents: Option<Contents>) -> Result<Option<Contents>, NotesError> {
        let is_known = |(id, _): &(TraceId, String)| self.traces.iter().any(|(own, _)| own == id);
        match &contents {
            Some(read) if !read.traces.is_empty() && !read.traces.iter().any(is_known) => {
                Err(NotesError::OtherTraces { path: self.path.clone() })
            }
            _ => Ok(contents),
        }
    }

    /// Applies the unsaved changes to the contents of the file.
    fn apply_changes(&self, contents: &mut Contents) {
        let notes = std::mem::take(&mut contents.notes);
        let kept = notes.into_iter().filter(|(id, _)| !self.changed.contains(id));
        let changed = self.timeline.as_slice().iter().filter(|(id, _)| self.changed.contains(id));
        contents.notes = Timeline::new(kept.chain(changed.cloned()).collect()).into_vec();
    }

    fn take(&mut self, contents: Contents) {
        self.timeline = Timeline::new(contents.notes);
        self.unknown = contents.unknown;
    }
}

fn by_id((id, note): &(NoteId, Note)) -> (NoteId, &Note) {
    (*id, note)
}
