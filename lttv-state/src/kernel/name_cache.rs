//! A cache of the process names in switch events, to recognize known names by one
//! comparison.

use super::names::NameId;
use super::table::ProcessIndex;

/// The length of the field that contains a process's name in kernel events.
const LENGTH: usize = 16;

/// For each place in the table of processes, the last content of the name field and the
/// process's name at that time. This is a cache only, not a part of the state.
#[derive(Debug, Default)]
pub(super) struct NameCache {
    places: Vec<(NameId, [u8; LENGTH])>,
}

impl NameCache {
    /// Returns `true` if a field is known to contain the current name of a process.
    #[inline]
    pub(super) fn contains(&self, ix: ProcessIndex, name: NameId, field: &[u8]) -> bool {
        let place = self.places.get(ix.index());
        let field = <&[u8; LENGTH]>::try_from(field).ok();
        field.zip(place).is_some_and(|(field, place)| *place == (name, *field))
    }

    /// Adds the content of a field and the name that it leads to.
    pub(super) fn insert(&mut self, ix: ProcessIndex, name: NameId, field: &[u8]) {
        let Ok(field) = <&[u8; LENGTH]>::try_from(field) else { return };
        if self.places.len() <= ix.index() {
            self.places.resize(ix.index() + 1, (NameId::EMPTY, [0; LENGTH]));
        }
        self.places[ix.index()] = (name, *field);
    }
}

/// Returns the text in a field of constant length: the bytes before the terminator.
pub(super) fn text_before_terminator(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or_default()
}
