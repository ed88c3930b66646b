//! Names that switches tell again and again, told from new ones by one comparison.

use super::names::NameId;
use super::table::ProcessIx;

/// Length of the field that has a process's name, in the kernel's events.
const LENGTH: usize = 16;

/// For each place of a process, what a field held when the process's name was last
/// looked at, and what the name was then. Nothing but a short cut: it is not part of
/// the state.
#[derive(Debug, Default)]
pub(super) struct ToldNames {
    places: Vec<(NameId, [u8; LENGTH])>,
}

impl ToldNames {
    /// Whether it is known that a field tells nothing new of a process that has a
    /// name.
    #[inline]
    pub(super) fn contain(&self, ix: ProcessIx, name: NameId, field: &[u8]) -> bool {
        let place = self.places.get(ix.index());
        field.as_array().zip(place).is_some_and(|(field, place)| *place == (name, *field))
    }

    /// It is known from now on.
    pub(super) fn note(&mut self, ix: ProcessIx, name: NameId, field: &[u8]) {
        let Some(field) = field.as_array() else { return };
        if self.places.len() <= ix.index() {
            self.places.resize(ix.index() + 1, (NameId::EMPTY, [0; LENGTH]));
        }
        self.places[ix.index()] = (name, *field);
    }
}

/// The text of a field of constant length: what is before its terminator.
pub(super) fn text(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or_default()
}
