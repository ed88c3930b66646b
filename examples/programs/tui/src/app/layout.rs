//! Restoring and saving the layout of tabs.

use std::fs;

use super::App;
use super::page::TabPage;
use crate::layout::{LayoutError, LayoutFile, SavedTab, SavedViewer};
use crate::session::Session;
use crate::viewer::{Instance, ViewerKinds};

/// The layout file of an application.
#[derive(Debug)]
pub(super) struct LayoutState {
    file: LayoutFile,
    /// The layouts of tabs of other traces, which stay in the file.
    others: Vec<SavedTab>,
    /// The layout of the open tabs that the file contains, or that was the first one.
    saved: Vec<SavedTab>,
    /// `true` if the file contains something else than a layout of this version.
    is_foreign: bool,
}

impl App {
    /// Restores the layout of a file, which [`save_layout`](Self::save_layout) writes to: all
    /// tabs of the same traces as the current one, or else the viewers of the first tab in the
    /// file. Viewers of unknown kinds are kept until a program registers them.
    ///
    /// Returns messages for the user about parts that cannot be restored. The first one is
    /// also visible on the screen.
    pub fn restore_layout(&mut self, file: LayoutFile) -> Vec<String> {
        let mut notes = Vec::new();
        let (tabs, is_foreign) = match file.read() {
            Ok(layout) => (layout.map_or_else(Vec::new, |layout| layout.tabs), false),
            Err(error) => {
                notes.push(ltt_read::ErrorChain(&error).to_string());
                (Vec::new(), true)
            }
        };
        let traces = traces(&self.tabs[self.current].session);
        let (same, others): (Vec<_>, Vec<_>) =
            tabs.into_iter().partition(|tab| tab.traces == traces);
        let first = same.first().or(others.first()).cloned();
        if let Some(first) = first {
            self.tabs[self.current].arrange(&first, &mut self.kinds, &mut notes);
        }
        let current = self.current;
        for more in same.iter().skip(1) {
            match self.tabs[current].session.again() {
                Ok(session) => {
                    self.add_tab(session);
                    self.tabs[self.current].arrange(more, &mut self.kinds, &mut notes);
                }
                Err(error) => notes.push(ltt_read::ErrorChain(&error).to_string()),
            }
        }
        self.current = current;
        if let Some(first) = notes.first() {
            let more = notes.len() - 1;
            let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
            self.message = Some(format!("{first}{more}"));
        }
        let saved = self.layouts();
        self.layout = Some(LayoutState { file, others, saved, is_foreign });
        notes
    }

    /// Writes the layout to the file that it was restored from, if it has changed since then.
    /// Returns whether it was written.
    ///
    /// # Errors
    ///
    /// If the file cannot be written. The previous file stays as it was.
    pub fn save_layout(&mut self) -> Result<bool, LayoutError> {
        let now = self.layouts();
        let Some(layout) = &mut self.layout else { return Ok(false) };
        if now == layout.saved || now.is_empty() {
            return Ok(false);
        }
        let open = |tab: &&SavedTab| now.iter().any(|now| now.traces == tab.traces);
        let others = layout.others.iter().filter(|tab| !open(tab));
        let tabs = now.iter().chain(others).cloned().collect();
        layout.file.write(tabs, layout.is_foreign)?;
        (layout.saved, layout.is_foreign) = (now, false);
        Ok(true)
    }

    /// Returns the layouts of the open tabs.
    fn layouts(&self) -> Vec<SavedTab> {
        self.tabs.iter().map(TabPage::layout).collect()
    }

    /// Opens the viewers of a kind that were kept because the kind was not known.
    pub(super) fn open_kept(&mut self, name: &str) {
        let mut notes = Vec::new();
        for page in &mut self.tabs {
            page.open_kept(name, &mut self.kinds, &mut notes);
        }
        if let Some(first) = notes.into_iter().next() {
            self.message = Some(first);
        }
    }
}

/// Returns the paths of the traces of a session.
fn traces(session: &Session) -> Vec<String> {
    let traces = session.traceset().traces().iter();
    let paths = traces.map(|trace| {
        let path = trace.path();
        fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
    });
    paths.map(|path| path.to_string_lossy().into_owned()).collect()
}

impl TabPage {
    /// Returns the layout of the tab.
    fn layout(&self) -> SavedTab {
        let viewer = |instance: &Instance| SavedViewer {
            kind: instance.kind().name().to_owned(),
            shown: instance.is_shown,
            settings: instance
                .viewer
                .settings()
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        };
        let mut viewers: Vec<SavedViewer> = self.viewers.iter().map(viewer).collect();
        let mut focus = self.focus;
        for (at, kept) in &self.kept {
            viewers.insert((*at).min(viewers.len()), kept.clone());
            focus += usize::from(*at <= focus);
        }
        SavedTab {
            traces: traces(&self.session),
            focus,
            maximised: self.is_maximised,
            divider: self.session.divider,
            viewers,
        }
    }

    /// Replaces the viewers by those of a layout. Appends messages about parts that cannot be
    /// restored.
    fn arrange(&mut self, layout: &SavedTab, kinds: &mut ViewerKinds, notes: &mut Vec<String>) {
        self.close_where(kinds, |_| true);
        self.kept.clear();
        for (at, saved) in layout.viewers.iter().enumerate() {
            if !self.restore(self.viewers.len(), saved, kinds, notes) {
                notes.push(format!("layout: there is no viewer `{}`; it is kept", saved.kind));
                self.kept.push((at, saved.clone()));
            }
        }
        let before = self.kept.iter().filter(|(at, _)| *at < layout.focus).count();
        self.focus = (layout.focus - before).min(self.viewers.len().saturating_sub(1));
        self.is_maximised = layout.maximised && !self.viewers.is_empty();
        self.session.divider = layout.divider;
    }

    /// Opens a viewer of a layout at an index. Returns `false` if there is no such kind.
    fn restore(
        &mut self,
        at: usize,
        saved: &SavedViewer,
        kinds: &mut ViewerKinds,
        notes: &mut Vec<String>,
    ) -> bool {
        let Ok(mut instance) = kinds.open(&saved.kind, &mut self.session) else { return false };
        instance.is_shown = saved.shown;
        for (name, value) in &saved.settings {
            if let Err(fault) = instance.viewer.restore(name, value, &mut self.session) {
                notes.push(format!("layout: {name} of {}: {fault}", saved.kind));
            }
        }
        self.viewers.insert(at.min(self.viewers.len()), instance);
        true
    }

    /// Opens the viewers of a kind that were kept because the kind was not known.
    fn open_kept(&mut self, name: &str, kinds: &mut ViewerKinds, notes: &mut Vec<String>) {
        let kept: Vec<_> = self.kept.extract_if(.., |(_, kept)| kept.kind == name).collect();
        for (at, saved) in kept {
            // Viewers before it that are still kept are not among the open ones.
            let at = at - self.kept.iter().filter(|(other, _)| *other < at).count();
            if self.restore(at, &saved, kinds, notes) && at <= self.focus && self.viewers.len() > 1
            {
                self.focus += 1;
            }
        }
    }
}
