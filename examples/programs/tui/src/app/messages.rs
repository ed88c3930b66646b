//! The messages so far.

use super::App;
use crate::text::popup::{Popup, PopupLine};

/// The greatest number of messages in memory.
const MOST: usize = 200;

impl App {
    /// Adds a message to those that the user can read again, unless it is the latest one.
    pub(super) fn remember(&mut self, message: String) {
        if self.log.back() == Some(&message) {
            return;
        }
        if self.log.len() == MOST {
            self.log.pop_front();
        }
        self.log.push_back(message);
    }

    /// Shows the messages so far, the latest one first, the current note, and the losses and
    /// damage of the traces.
    pub(super) fn show_messages(&mut self) {
        let session = &self.tabs[self.current].session;
        let damage = session.damage().into_iter();
        let unread = session.failures.iter().map(|failure| format!("not read: {failure}"));
        let notices = session.notices.iter().cloned();
        let note = session.note_here().into_iter();
        let lost =
            [(session.losses().summary.clone(), "in the window"), (session.all_losses(), "in all")];
        let lost = lost.into_iter().filter_map(|(text, of)| Some(format!("{of}, {}", text?)));
        let of_traces: Vec<String> =
            note.chain(lost).chain(damage).chain(unread).chain(notices).collect();
        let mut lines: Vec<PopupLine> = self.log.iter().rev().map(PopupLine::text).collect();
        if !of_traces.is_empty() {
            lines.push(PopupLine::default());
            lines.push(PopupLine::new("The traces and notes", ""));
            lines.extend(of_traces.into_iter().map(PopupLine::text));
        }
        if lines.is_empty() {
            lines.push(PopupLine::text("There are no messages."));
        }
        self.popup = Some(Popup::new("Messages", lines));
    }
}
