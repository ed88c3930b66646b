//! The errors that a merge meets.

use std::mem;

use crate::report::Error;

/// The maximum number of stored errors.
const MAX_ERRORS: usize = 4096;

/// A list of errors, each once and up to a limit, with the number of those beyond it.
#[derive(Debug, Default)]
pub(crate) struct Damage {
    errors: Vec<Error>,
    omitted: u64,
}

impl Damage {
    /// Keeps an error unless it is known already; only counts it if there are too many.
    pub(crate) fn keep(&mut self, error: Error) {
        // The same damage is met again after a seek backwards.
        let is_known = |known: &Error| known.place() == error.place();
        if error.place().is_some() && self.errors.iter().any(is_known) {
            return;
        }
        match self.errors.len() < MAX_ERRORS {
            true => self.errors.push(error),
            false => self.omitted += 1,
        }
    }

    /// Adds the errors of another search.
    pub(crate) fn add(&mut self, other: Damage) {
        other.errors.into_iter().for_each(|error| self.keep(error));
        self.omitted += other.omitted;
    }

    /// Returns the errors that are stored.
    pub(crate) fn errors(&self) -> &[Error] {
        &self.errors
    }

    /// Returns and removes the errors that are stored.
    pub(crate) fn drain(&mut self) -> Vec<Error> {
        mem::take(&mut self.errors)
    }

    /// Returns the number of errors that were ever dropped.
    pub(crate) fn omitted(&self) -> u64 {
        self.omitted
    }
}
