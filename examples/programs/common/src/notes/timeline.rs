//! Notes in order of time, with queries for times.

use ltt_read::Timestamp;

use super::{Note, NoteId};

/// Notes in order of their start. Instants come before ranges of the same start, shorter
/// ranges before longer ones, and older notes before newer ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Timeline {
    notes: Vec<(NoteId, Note)>,
    /// For each note, the latest [`Note::last`] of it and of the notes before it.
    latest: Vec<Timestamp>,
}

impl Timeline {
    pub(super) fn new(mut notes: Vec<(NoteId, Note)>) -> Self {
        notes.sort_by_key(key);
        let mut timeline = Timeline { notes, latest: Vec::new() };
        timeline.renew_latest(0);
        timeline
    }

    pub(super) fn as_slice(&self) -> &[(NoteId, Note)] {
        &self.notes
    }

    pub(super) fn into_vec(self) -> Vec<(NoteId, Note)> {
        self.notes
    }

    pub(super) fn get(&self, id: NoteId) -> Option<&Note> {
        self.notes.get(self.place_of(id)?).map(|(_, note)| note)
    }

    /// Adds a note, or replaces the one with the same identifier.
    pub(super) fn insert(&mut self, id: NoteId, note: Note) {
        self.remove(id);
        let note = (id, note);
        let at = self.notes.partition_point(|other| key(other) < key(&note));
        self.notes.insert(at, note);
        self.renew_latest(at);
    }

    pub(super) fn remove(&mut self, id: NoteId) -> Option<Note> {
        let at = self.place_of(id)?;
        let (_, note) = self.notes.remove(at);
        self.renew_latest(at);
        Some(note)
    }

    /// Returns the first note that starts after a time.
    pub(super) fn next_after(&self, time: Timestamp) -> Option<&(NoteId, Note)> {
        self.notes.get(self.notes.partition_point(|(_, note)| note.start() <= time))
    }

    /// Returns the last note that starts before a time.
    pub(super) fn previous_before(&self, time: Timestamp) -> Option<&(NoteId, Note)> {
        let after = self.notes.partition_point(|(_, note)| note.start() < time);
        self.notes.get(after.checked_sub(1)?)
    }

    /// Returns the notes that have a time in common with `first..=last`, in order.
    pub(super) fn between(
        &self,
        first: Timestamp,
        last: Timestamp,
    ) -> impl Iterator<Item = &(NoteId, Note)> {
        let begin = self.latest.partition_point(|latest| *latest < first);
        let end = self.notes.partition_point(|(_, note)| note.start() <= last);
        let candidates = self.notes.get(begin..end).unwrap_or_default();
        candidates.iter().filter(move |(_, note)| first <= note.last())
    }

    fn place_of(&self, id: NoteId) -> Option<usize> {
        self.notes.iter().position(|(other, _)| *other == id)
    }

    /// Computes `latest` again from a place on.
    fn renew_latest(&mut self, from: usize) {
        self.latest.truncate(from);
        let mut latest = self.latest.last().copied().unwrap_or(Timestamp::MIN);
        for (_, note) in &self.notes[from..] {
            latest = latest.max(note.last());
            self.latest.push(latest);
        }
    }
}

fn key((id, note): &(NoteId, Note)) -> (Timestamp, Timestamp, bool, jiff::Timestamp, NoteId) {
    (note.start(), note.last(), note.range().is_some(), note.created_jiff(), *id)
}
