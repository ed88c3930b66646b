//! The lists from which the user picks an item.

use ltt_read::TraceIndex;
use lttv_common::notes::NoteId;

use super::App;
use crate::traceset_change::name;
use crate::view::pick_list::{PickList, Picked};

/// An open list.
#[derive(Debug)]
pub(super) struct OpenPick {
    subject: PickSubject,
    pub(super) list: PickList,
}

/// The subject of a list, with the meaning of its items.
#[derive(Debug)]
pub(super) enum PickSubject {
    /// The kind of a new viewer: the names of the kinds.
    Kind(Vec<&'static str>),
    /// The trace to remove, by its index.
    Trace,
    /// A note: the ids of the notes.
    Note(Vec<NoteId>),
    /// Values of a property, for the filter.
    Values(Values),
}

/// The values of a property, of which some can be picked.
#[derive(Debug)]
pub(super) struct Values {
    /// The property, as a filter names it.
    pub(super) selector: &'static str,
    /// The values, as a filter names them.
    pub(super) values: Vec<String>,
}

impl OpenPick {
    /// Creates an open list.
    pub(super) fn new(subject: PickSubject, list: PickList) -> Self {
        OpenPick { subject, list }
    }
}

impl App {
    /// Lets the user pick the kind of a new viewer.
    pub(super) fn pick_kind(&mut self) {
        let names = self.kinds.iter().map(|kind| kind.name()).collect();
        let items = self.kinds.iter().map(|kind| {
            let opened = self.viewers().filter(|(_, name)| *name == kind.name()).count();
            let opened =
                if opened > 0 { format!("  ({opened} in this tab)") } else { String::new() };
            (kind.title().to_owned(), format!("{}{opened}", kind.purpose()))
        });
        let list = PickList::new("Open a viewer", items);
        self.pick = Some(OpenPick { subject: PickSubject::Kind(names), list });
    }

    /// Lets the user pick a trace to remove.
    pub(super) fn pick_trace(&mut self) {
        let traces = self.session().traceset().traces().iter();
        let items = traces.map(|trace| (name(trace), trace.path().display().to_string()));
        let list = PickList::new("Remove a trace", items);
        self.pick = Some(OpenPick { subject: PickSubject::Trace, list });
    }

    /// Passes input to the open list, and performs what picking an item demands.
    pub(super) fn end_pick(
        &mut self,
        mut pick: OpenPick,
        input: impl FnOnce(&mut PickList) -> Picked,
    ) {
        match input(&mut pick.list) {
            Picked::Cancelled => {}
            Picked::Going => self.pick = Some(pick),
            Picked::Item(item) => self.picked(&pick, item),
            Picked::Key(key, item) => {
                if let PickSubject::Note(ids) = &pick.subject {
                    self.note_key(key, ids, item);
                }
            }
        }
    }

    /// Performs what picking an item demands.
    fn picked(&mut self, pick: &OpenPick, item: usize) {
        match &pick.subject {
            PickSubject::Values(values) => self.picked_values(values, &pick.list.marked(), item),
            PickSubject::Note(ids) => {
                if let Some(id) = ids.get(item) {
                    self.picked_note(*id);
                }
            }
            PickSubject::Kind(names) => {
                if let Some(name) = names.get(item)
                    && let Err(error) = self.open_viewer(name)
                {
                    self.message = Some(ltt_read::ErrorChain(&error).to_string());
                }
            }
            PickSubject::Trace => {
                if let Err(error) = self.remove_trace(TraceIndex(item)) {
                    self.message = Some(ltt_read::ErrorChain(&error).to_string());
                }
            }
        }
    }
}
