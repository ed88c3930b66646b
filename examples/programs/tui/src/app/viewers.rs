//! Kinds of viewers, and the viewers and traces of tabs.

use std::path::Path;

use ltt_read::TraceIndex;

use super::App;
use crate::session::OpenError;
use crate::viewer::{InstanceId, KindError, ViewerKind, ViewerKinds};

impl App {
    /// Adds a kind of viewers, of which the user can open viewers from now on. Opens those of a
    /// restored layout.
    ///
    /// # Errors
    ///
    /// If the name is not valid or not unique, if two actions of the kind have the same name or
    /// key, or if a key is reserved.
    pub fn register(&mut self, kind: ViewerKind) -> Result<(), KindError> {
        let name = kind.name();
        self.kinds.register(kind)?;
        self.open_kept(name);
        Ok(())
    }

    /// Removes a kind of viewers, and closes its viewers in all tabs: their requests are
    /// cancelled. Returns the number of these viewers.
    pub fn unregister(&mut self, name: &str) -> usize {
        let closed = self.kinds.instances(name).len();
        for page in &mut self.tabs {
            page.close_where(&mut self.kinds, |instance| instance.kind().name() == name);
        }
        self.kinds.unregister(name);
        closed
    }

    /// Returns the registered kinds of viewers.
    pub fn kinds(&self) -> &ViewerKinds {
        &self.kinds
    }

    /// Opens a viewer in the current tab, below the one with the focus, which moves to it.
    ///
    /// # Errors
    ///
    /// If there is no kind of this name.
    pub fn open_viewer(&mut self, name: &str) -> Result<InstanceId, KindError> {
        self.tabs[self.current].open(name, &mut self.kinds)
    }

    /// Closes a viewer of any tab, and cancels its requests. Returns `false` if there is no such
    /// viewer.
    pub fn close_viewer(&mut self, viewer: InstanceId) -> bool {
        let has_viewer = |page: &&mut super::page::TabPage| {
            page.viewers.iter().any(|instance| instance.id() == viewer)
        };
        let Some(page) = self.tabs.iter_mut().find(has_viewer) else { return false };
        page.close_where(&mut self.kinds, |instance| instance.id() == viewer);
        true
    }

    /// Adds all traces at or below a path to the current tab. Its viewers stay, with the time
    /// window, the current time and event, filters and selections.
    ///
    /// # Errors
    ///
    /// If no trace can be opened, or all are among the traces of the tab.
    pub fn add_traces(&mut self, path: impl AsRef<Path>) -> Result<(), OpenError> {
        let page = &mut self.tabs[self.current];
        let change = page.session.add_traces(path.as_ref())?;
        page.reset(&change);
        Ok(())
    }

    /// Removes a trace from the current tab. Its viewers stay.
    ///
    /// # Errors
    ///
    /// If there is no trace of this index, it is the only one, or no event of the others has a
    /// time.
    pub fn remove_trace(&mut self, index: TraceIndex) -> Result<(), OpenError> {
        let page = &mut self.tabs[self.current];
        let change = page.session.remove_trace(index)?;
        page.reset(&change);
        Ok(())
    }

    /// Iterates over the viewers of the current tab, from top to bottom, with the names of their
    /// kinds.
    pub fn viewers(&self) -> impl ExactSizeIterator<Item = (InstanceId, &'static str)> {
        let viewers = &self.tabs[self.current].viewers;
        viewers.iter().map(|instance| (instance.id(), instance.kind().name()))
    }
}
