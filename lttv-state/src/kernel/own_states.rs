//! The states of analyses that are saved with a kernel state.

use std::collections::BTreeMap;

/// The states of analyses after an event, in bytes, by the name of the analysis and its options.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct OwnStates(BTreeMap<(String, u64), Vec<u8>>);

impl OwnStates {
    /// Adds a state, in place of another one of the same name and options.
    pub fn put(&mut self, name: &str, options: u64, bytes: Vec<u8>) {
        self.0.insert((name.to_owned(), options), bytes);
    }

    /// Returns the state of a name and options.
    pub fn get(&self, name: &str, options: u64) -> Option<&[u8]> {
        self.0.get(&(name.to_owned(), options)).map(Vec::as_slice)
    }

    /// Adds all states of others.
    pub(crate) fn extend(&mut self, others: OwnStates) {
        self.0.extend(others.0);
    }

    /// Returns `true` if there are no states.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if there are states for all names and options of others.
    pub(crate) fn contains(&self, others: &OwnStates) -> bool {
        others.0.keys().all(|key| self.0.contains_key(key))
    }
}
