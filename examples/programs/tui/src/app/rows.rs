//! Finding and sorting the rows of viewers.

use super::App;
use super::page::TabPage;
use super::question::Subject;
use crate::model::row_search::{Found, RowQuery, Step};
use crate::viewer::{Fault, InstanceId};

impl TabPage {
    /// Returns the index of the viewer whose rows are found and sorted: the one with the
    /// focus if it has such rows, and otherwise the first visible one that has some.
    fn viewer_with_rows(&self) -> Option<usize> {
        let has_rows = |at: &usize| self.viewers[*at].viewer.has_named_rows();
        let focused = Some(self.focus).filter(|at| *at < self.viewers.len() && has_rows(at));
        focused.or_else(|| self.visible().map(|(at, _)| at).find(has_rows))
    }
}

impl App {
    /// Asks for a TID, a PID or a part of a name, to find a row.
    pub(super) fn ask_row(&mut self) {
        let page = &self.tabs[self.current];
        match page.viewer_with_rows() {
            Some(at) => {
                let viewer = page.viewers[at].id();
                self.ask(Subject::Row(viewer), "");
            }
            None => self.message = Some(NO_ROWS.to_owned()),
        }
    }

    /// Finds a row of a viewer. A blank text searches for the same as before.
    ///
    /// # Errors
    ///
    /// If no row matches.
    pub(super) fn find_row(&mut self, viewer: InstanceId, text: &str) -> Result<(), Fault> {
        let page = &mut self.tabs[self.current];
        let is_it = |at: &usize| page.viewers[*at].id() == viewer;
        let Some(at) = (0..page.viewers.len()).find(is_it) else { return Ok(()) };
        if let Some(query) = RowQuery::new(text) {
            self.row_query = Some(query);
            return self.find_row_at(at, Step::Here);
        }
        self.find_row_at(at, Step::Next)
    }

    /// Finds the next or previous row that matches the last search.
    pub(super) fn find_next_row(&mut self, back: bool) {
        let step = if back { Step::Previous } else { Step::Next };
        let found = match self.tabs[self.current].viewer_with_rows() {
            Some(at) => self.find_row_at(at, step),
            None => Err(Fault::new(NO_ROWS)),
        };
        if let Err(fault) = found {
            self.message = Some(fault.text);
        }
    }

    fn find_row_at(&mut self, at: usize, step: Step) -> Result<(), Fault> {
        let Some(query) = self.row_query.clone() else {
            return Err(Fault::new("nothing to search for: F finds a row"));
        };
        let page = &mut self.tabs[self.current];
        let Some(instance) = page.viewers.get_mut(at) else { return Ok(()) };
        let title = instance.kind().title();
        let text = query.text();
        let Some(found) = instance.viewer.find_row(&query, step, &mut page.session) else {
            return Err(Fault::new(format!("no row of {title} matches `{text}` in this window")));
        };
        // The row that is found is the one that other keys act on.
        page.focus = at;
        let Found { number, of, .. } = found;
        self.found_row = (of > 1).then(|| format!("{number} of {of} (; next  , previous)"));
        Ok(())
    }

    /// Sorts the rows of a viewer in the next order.
    pub(super) fn sort_rows(&mut self) {
        let page = &mut self.tabs[self.current];
        match page.viewer_with_rows() {
            Some(at) => page.viewers[at].viewer.sort_rows(),
            None => self.message = Some(NO_ROWS.to_owned()),
        }
    }
}

/// The message where there are no rows to find or sort.
const NO_ROWS: &str = "no visible viewer has rows to find or sort";
