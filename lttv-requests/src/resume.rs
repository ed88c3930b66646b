//! Saved states at the positions of interrupted requests.

use lttv_context::{Checkpoint, TracesetContext, TracesetPosition};

use crate::request::request_start::RequestStart;

/// The states at positions where requests were interrupted, so that they continue there
/// without replaying events. Requests that wait at one position share a state.
#[derive(Debug)]
pub(crate) struct ResumeStates {
    /// The states, oldest first.
    saved: Vec<Checkpoint>,
    limit: usize,
    /// The number of extensions when the states were saved.
    extensions: usize,
}

impl ResumeStates {
    pub(crate) fn new(limit: usize) -> Self {
        ResumeStates { saved: Vec::new(), limit, extensions: 0 }
    }

    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        let too_many = self.saved.len().saturating_sub(limit);
        self.saved.drain(..too_many);
    }

    /// Saves the state at the current position, if the context can provide it. Drops the
    /// oldest state if there are too many.
    pub(crate) fn save(&mut self, context: &mut TracesetContext<'_>) {
        self.drop_outdated(context);
        if self.limit == 0 {
            return;
        }
        let here = context.position();
        if self.saved.iter().any(|saved| *saved.position() == here) {
            return;
        }
        if let Some(checkpoint) = context.state().checkpoint() {
            if self.saved.len() >= self.limit {
                self.saved.remove(0);
            }
            self.saved.push(checkpoint);
        }
    }

    /// Removes all states at positions for which a predicate does not hold.
    pub(crate) fn retain(&mut self, mut is_wanted: impl FnMut(&TracesetPosition) -> bool) {
        self.saved.retain(|saved| is_wanted(saved.position()));
    }

    /// Returns the last state that is not after a goal.
    pub(crate) fn nearest(
        &mut self,
        context: &TracesetContext<'_>,
        goal: &RequestStart,
    ) -> Option<&Checkpoint> {
        self.drop_outdated(context);
        let fitting = self.saved.iter().filter(|saved| goal.is_reached_from(saved.position()));
        fitting.reduce(|a, b| if b.position() > a.position() { b } else { a })
    }

    pub(crate) fn clear(&mut self) {
        self.saved.clear();
    }

    /// Removes all states if extensions have been attached or detached since they were
    /// saved.
    fn drop_outdated(&mut self, context: &TracesetContext<'_>) {
        let extensions = context.extensions().len();
        if self.extensions != extensions {
            self.extensions = extensions;
            self.saved.clear();
        }
    }
}
