//! Notes: questions for their texts, and the list of all.

use lttv_common::notes::NoteId;

use super::App;
use super::pick::{OpenPick, PickSubject};
use super::question::{OpenQuestion, Subject};
use crate::tab_notes::{NotesPlace, TabNotesError, line_of};
use crate::time_text::{length, seconds};
use crate::view::pick_list::PickList;

/// The keys in the list of notes.
const EDIT: char = 'e';
const REMOVE: char = 'd';

impl App {
    /// Reads the notes of all tabs from this place, and keeps them there.
    pub fn keep_notes(&mut self, place: NotesPlace) {
        for page in &mut self.tabs {
            page.session.open_notes(place.clone());
        }
        self.notes_place = place;
    }

    /// Asks for the text of a note, or of the one that is there already.
    pub(super) fn ask_note(&mut self) {
        let session = &self.tabs[self.current].session;
        match session.note_to_edit() {
            Some(id) => self.ask_note_text(id),
            None => self.question = Some(OpenQuestion::new(Subject::NewNote, "")),
        }
    }

    /// Asks for another text of a note.
    fn ask_note_text(&mut self, id: NoteId) {
        let notes = self.tabs[self.current].session.notes.all();
        let note = notes.and_then(|notes| notes.get(id));
        let text = note.map_or("", |note| note.text());
        self.question = Some(OpenQuestion::new(Subject::Note(id), text));
    }

    /// Reports the result of a change of notes, and shows it in other tabs.
    pub(super) fn noted(&mut self, result: Result<(), TabNotesError>, message: &str) {
        self.message = Some(match result {
            Ok(()) => message.to_owned(),
            Err(error) => ltt_read::ErrorChain(&error).to_string(),
        });
        for (number, page) in self.tabs.iter_mut().enumerate() {
            if number != self.current {
                page.session.notes.refresh();
            }
        }
    }

    /// Lets the user pick a note, to go to it, edit or remove it.
    pub(super) fn pick_note(&mut self, selected: usize) {
        let notes = &mut self.tabs[self.current].session.notes;
        notes.refresh();
        let Some(all) = notes.all().filter(|all| !all.is_empty()) else {
            let reason = notes.error().map(|error| format!("notes cannot be read: {error}"));
            let none = || "there are no notes: the key b adds one".to_owned();
            self.message = Some(reason.unwrap_or_else(none));
            return;
        };
        let ids: Vec<_> = all.iter().map(|(id, _)| id).collect();
        let items = all.iter().map(|(_, note)| {
            let of = match (note.range(), note.event_name()) {
                (Some(range), _) => length(range.end.as_ns().abs_diff(range.start.as_ns())),
                (None, name) => name.unwrap_or_default().to_owned(),
            };
            (format!("{}  {of}", seconds(note.start())), line_of(note))
        });
        let list = PickList::new(format!("Notes in {}", all.path().display()), items)
            .with_keys(&[EDIT, REMOVE], "Enter goes there, e edits, d removes, Esc leaves")
            .with_selected(selected);
        self.pick = Some(OpenPick::new(PickSubject::Note(ids), list));
    }

    /// Goes to a note that was picked.
    pub(super) fn picked_note(&mut self, id: NoteId) {
        self.tabs[self.current].session.go_to_note(id);
    }

    /// Performs the action of a key in the list of notes.
    pub(super) fn note_key(&mut self, key: char, ids: &[NoteId], item: usize) {
        let Some(id) = ids.get(item).copied() else { return };
        if key == EDIT {
            return self.ask_note_text(id);
        }
        let removed = self.tabs[self.current].session.notes.remove(id);
        self.noted(removed, "the note is removed");
        if ids.len() > 1 {
            self.pick_note(item.min(ids.len() - 2));
        }
    }
}
