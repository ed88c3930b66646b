//! The errors that a merge meets.

use std::mem;

use crate::error::Error;

/// Errors that are kept; a trace that is damaged all over has more.
const MAX_ERRORS: usize = 4096;

/// Errors, each once, up to a limit, and the number of those beyond it.
#[derive(Debug, Default)]
pub(crate) struct Damage {
    errors: Vec<Error>,
    omitted: u64,
}

impl Damage {
    /// Keeps an error, unless it is known; counts it if there are too many.
    pub(crate) fn keep(&mut self, error: Error) {
        // After a seek backwards the same damage is met again.
        let is_known = |known: &Error| known.place() == error.place();
        if error.place().is_some() && self.errors.iter().any(is_known) {
            return;
        }
        match self.errors.len() < MAX_ERRORS {
            true => self.errors.push(error),
            false => self.omitted += 1,
        }
    }

    /// Adds what another search met.
    pub(crate) fn add(&mut self, other: Damage) {
        other.errors.into_iter().for_each(|error| self.keep(error));
        self.omitted += other.omitted;
    }

    /// Returns the errors that are kept.
    pub(crate) fn errors(&self) -> &[Error] {
        &self.errors
    }

    /// Takes the errors that are kept.
    pub(crate) fn drain(&mut self) -> Vec<Error> {
        mem::take(&mut self.errors)
    }

    /// Returns how many errors were not kept, ever.
    pub(crate) fn omitted(&self) -> u64 {
        self.omitted
    }
}
