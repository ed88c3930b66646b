//! Interned names.

use std::collections::HashMap;
use std::sync::Arc;

use super::syscalls::SYSCALLS;

/// The id of a name in a trace: of a process, a system call or a file, for example.
/// [`TraceState::name`](super::TraceState::name) returns its text.
///
/// Within one trace, equal names have equal ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct NameId(u32);

impl NameId {
    /// The empty name, of processes whose name is unknown.
    pub const EMPTY: NameId = NameId(0);
    /// The submode `UNKNOWN`: nothing is known of it.
    pub const UNKNOWN: NameId = NameId(1);
    /// The submode `NONE`: the mode has no submode.
    pub const NONE: NameId = NameId(2);

    const FIRST_SYSCALL: u32 = 3;

    /// Returns the id as an index into tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the id with an [index](Self::index).
    #[cfg(feature = "analyses")]
    pub(crate) const fn at(index: u32) -> Self {
        NameId(index)
    }

    /// Returns the index of a system call in [`SYSCALLS`], if the name is one of these.
    pub(super) fn known_syscall(self) -> Option<usize> {
        let index = self.0.checked_sub(Self::FIRST_SYSCALL)? as usize;
        (index < SYSCALLS.len()).then_some(index)
    }
}

/// The names that occur in a trace, with their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names {
    pub(super) texts: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, NameId>,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Names { texts: Vec::new(), ids: HashMap::new() };
        for text in ["", "UNKNOWN", "NONE"].into_iter().chain(SYSCALLS.iter().map(|s| s.name)) {
            names.id(text);
        }
        names
    }
}

impl Names {
    /// Returns the text of a name; empty if the id is not one of these names.
    pub(crate) fn get(&self, id: NameId) -> &str {
        self.texts.get(id.index()).map_or("", |text| text)
    }

    /// Finds the id of a name; `None` if the name has not occurred.
    pub(crate) fn find(&self, text: &str) -> Option<NameId> {
        self.ids.get(text).copied()
    }

    /// Returns the texts of the names with a number and all later ones.
    #[cfg(feature = "analyses")]
    pub(crate) fn since(&self, first: usize) -> &[Arc<str>] {
        self.texts.get(first..).unwrap_or_default()
    }

    /// Returns the number of names.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns the id of a name, which is added if it is new.
    pub(super) fn id(&mut self, text: &str) -> NameId {
        if let Some(id) = self.find(text) {
            return id;
        }
        self.push(text.into())
    }

    /// Adds a new name.
    fn push(&mut self, text: Arc<str>) -> NameId {
        let id = NameId(self.texts.len() as u32);
        self.texts.push(text.clone());
        self.ids.insert(text, id);
        id
    }

    /// Replaces all names. A common prefix of the old and new names is kept.
    pub(super) fn replace<'t>(&mut self, texts: impl Iterator<Item = &'t Arc<str>> + Clone) {
        let mine = self.texts.iter().zip(texts.clone());
        let same = mine.take_while(|(mine, other)| Arc::ptr_eq(mine, other)).count();
        for text in self.texts.drain(same..) {
            self.ids.remove(&text);
        }
        for text in texts.skip(same) {
            self.push(text.clone());
        }
    }
}
