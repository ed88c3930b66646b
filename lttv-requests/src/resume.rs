//! The state at the places where requests wait.

use lttv_context::{Checkpoint, TracesetContext, TracesetPosition};

use crate::cut::Cut;

/// Saved states at the places where requests were interrupted, so that they can go
/// on there without anything being read again. Requests that wait at one place
/// share one.
#[derive(Debug)]
pub(crate) struct ResumeStates {
    /// The oldest first.
    saved: Vec<Checkpoint>,
    most: usize,
    /// How many extensions there were when they were saved.
    extensions: usize,
}

impl ResumeStates {
    pub(crate) fn new(most: usize) -> Self {
        ResumeStates { saved: Vec::new(), most, extensions: 0 }
    }

    pub(crate) fn set_most(&mut self, most: usize) {
        self.most = most;
        let too_many = self.saved.len().saturating_sub(most);
        self.saved.drain(..too_many);
    }

    /// Saves the state at the current position, if it is that; the oldest one goes
    /// if there are too many.
    pub(crate) fn save(&mut self, context: &mut TracesetContext<'_>) {
        self.forget_misfits(context);
        if self.most == 0 {
            return;
        }
        let here = context.position();
        if self.saved.iter().any(|saved| *saved.position() == here) {
            return;
        }
        if let Some(checkpoint) = context.checkpoint() {
            if self.saved.len() >= self.most {
                self.saved.remove(0);
            }
            self.saved.push(checkpoint);
        }
    }

    /// Keeps those only at which somebody waits.
    pub(crate) fn retain(&mut self, mut is_wanted: impl FnMut(&TracesetPosition) -> bool) {
        self.saved.retain(|saved| is_wanted(saved.position()));
    }

    /// The last that is not behind a place.
    pub(crate) fn nearest(
        &mut self,
        context: &TracesetContext<'_>,
        goal: &Cut,
    ) -> Option<&Checkpoint> {
        self.forget_misfits(context);
        let fitting = self.saved.iter().filter(|saved| goal.is_reached_from(saved.position()));
        fitting.reduce(|a, b| if b.position() > a.position() { b } else { a })
    }

    pub(crate) fn clear(&mut self) {
        self.saved.clear();
    }

    fn forget_misfits(&mut self, context: &TracesetContext<'_>) {
        let extensions = context.extensions().len();
        if self.extensions != extensions {
            self.extensions = extensions;
            self.saved.clear();
        }
    }
}
