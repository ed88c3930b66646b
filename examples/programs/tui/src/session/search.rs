//! The search for the next or previous event of the selected process or thread.

use lttv_context::TracesetPosition;
use lttv_requests::SubmitError;

use super::Session;
use crate::model::search::{Outcome, Search, Target};

impl Session {
    /// Returns the current position, or the position of the current time.
    fn place(&mut self) -> TracesetPosition {
        if let Some(position) = self.tab.position() {
            return position.clone();
        }
        let time = self.tab.time();
        let context = self.reader.context_mut();
        context.seek_time(time);
        context.position()
    }

    /// Starts a search for the next or previous event of the selected process or thread.
    ///
    /// # Errors
    ///
    /// Never while the traceset stays the same.
    pub fn search(&mut self, back: bool) -> Result<(), SubmitError> {
        let process = self.process.clone().map(|of| (Target::Process(of.key), of.label));
        let thread = || self.thread.clone().map(|(key, name)| (Target::Thread(key), name));
        let Some((target, name)) = process.or_else(thread) else {
            self.message = Some("select a process in the control flow first".to_owned());
            return Ok(());
        };
        self.stop_search();
        self.stopped_search = None;
        let place = self.place();
        let (scheduler, kernel) = (&mut self.scheduler, self.kernel);
        self.search = Some(match back {
            false => Search::forward(scheduler, kernel, target, &place)?,
            true => Search::backward(scheduler, kernel, target, &place)?,
        });
        let which = if back { "previous" } else { "next" };
        self.message = Some(format!("searching for the {which} event of {name} … (Esc stops)"));
        Ok(())
    }

    /// Returns whether the running search is for the previous event; `None` without a search.
    pub(crate) fn search_direction(&self) -> Option<bool> {
        self.search.as_ref().map(Search::is_backward)
    }

    /// Cancels the search for an event. Returns `false` if none is running.
    pub fn stop_search(&mut self) -> bool {
        let Some(search) = self.search.take() else { return false };
        search.cancel(&mut self.scheduler);
        self.message = None;
        true
    }

    /// Shows the result of a search when it is complete.
    pub(super) fn take_search_result(&mut self) {
        let Some(search) = &self.search else { return };
        match search.outcome(&mut self.scheduler) {
            Outcome::Searching => return,
            Outcome::Found(position) => {
                // The position is of this traceset, so it is not refused.
                _ = self.tab.set_position(&position, None);
                self.message = None;
            }
            Outcome::Nothing => self.message = Some("no such event".to_owned()),
        }
        self.search = None;
    }
}
