//! The questions that the user answers with a line of text.

use std::path::PathBuf;

use lttv_common::notes::NoteId;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

use super::App;
use crate::look::Look;
use crate::prompt::{Prompt, expanded};
use crate::text::message;
use crate::view::candidates::CandidateList;
use crate::view::put;
use crate::viewer::{Fault, InstanceId};

/// An open question, with the line that the user edits.
#[derive(Debug)]
pub(super) struct OpenQuestion {
    pub(super) subject: Subject,
    pub(super) prompt: Prompt,
    /// The error in the answer.
    pub(super) fault: Option<Fault>,
    /// The first visible line of an error that does not fit on the screen, and the number of
    /// hidden lines.
    pub(super) fault_top: usize,
    pub(super) fault_hidden: usize,
    /// The texts that can stand at the cursor.
    pub(super) candidates: CandidateList,
    /// The answers to earlier questions of the kind, the last one at the end.
    pub(super) earlier: Vec<String>,
    /// The index of the earlier answer in the line, and the text before the first one.
    pub(super) recalled: Option<usize>,
    pub(super) draft: String,
    /// The file that the answer may replace, since the user knows that it exists.
    pub(super) replaces: Option<PathBuf>,
}

/// The subject of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// The filter of the tab.
    Filter,
    /// The time to go to.
    Time,
    /// The directory of a trace to open in another tab.
    Trace,
    /// The directory of a trace to add to the tab.
    MoreTraces,
    /// The file to write the contents of a viewer to.
    Export,
    /// The row of a viewer to find.
    Row(InstanceId),
    /// The text of a new note.
    NewNote,
    /// The text of a note.
    Note(NoteId),
    /// A question of a viewer's action.
    OfViewer {
        viewer: InstanceId,
        action: &'static str,
        title: &'static str,
        /// `true` if the answer is a filter.
        is_filter: bool,
    },
}

impl Subject {
    /// Returns the text before the line.
    fn title(self) -> &'static str {
        match self {
            Subject::Filter => "filter: ",
            Subject::Time => "go to a time or FROM..TO: ",
            Subject::Trace => "open: ",
            Subject::MoreTraces => "add: ",
            Subject::Export => "write to: ",
            Subject::Row(_) => "find TID, PID or name: ",
            Subject::NewNote => "note: ",
            Subject::Note(_) => "edit the note: ",
            Subject::OfViewer { title, .. } => title,
        }
    }
}

impl OpenQuestion {
    /// Creates a question, with an initial text of the line.
    pub(super) fn new(subject: Subject, text: &str) -> Self {
        OpenQuestion {
            subject,
            prompt: Prompt::new(text),
            fault: None,
            fault_top: 0,
            fault_hidden: 0,
            candidates: CandidateList::default(),
            earlier: Vec::new(),
            recalled: None,
            draft: String::new(),
            replaces: None,
        }
    }

    /// Returns the kind of the answer in the history; `None` if it is not kept.
    pub(super) fn kind(&self) -> Option<&'static str> {
        match self.subject {
            Subject::Filter | Subject::OfViewer { is_filter: true, .. } => Some("filter"),
            Subject::Time => Some("time"),
            Subject::Trace | Subject::MoreTraces => Some("trace"),
            Subject::Export => Some("export"),
            Subject::Row(_) => Some("row"),
            Subject::NewNote | Subject::Note(_) => None,
            Subject::OfViewer { action, .. } => Some(action),
        }
    }

    /// Draws the question and its line. Returns the position of the cursor.
    pub(super) fn draw(
        &mut self,
        look: Look,
        area: Rect,
        line: Rect,
        buffer: &mut Buffer,
    ) -> Position {
        let blank = " ".repeat(line.width.into());
        put(buffer, line, line.x, line.y, &blank, Default::default());
        let x = put(buffer, line, line.x, line.y, self.subject.title(), look.heading());
        // A long text is scrolled so that the cursor is visible.
        let text: Vec<char> = self.prompt.text().chars().collect();
        let room = usize::from(line.right().saturating_sub(x)).max(2);
        let from = (self.prompt.cursor() + 1).saturating_sub(room);
        let shown: String = text.iter().skip(from).collect();
        let end = put(buffer, line, x, line.y, &shown, Default::default());
        let at = |char: usize| x.saturating_add(char.saturating_sub(from) as u16);
        match &self.candidates.first_or_selected() {
            Some(first) if self.fault.is_none() => {
                let before = self.prompt.text();
                let start = before.get(..first.span.start).unwrap_or_default();
                let column = at(start.chars().count());
                self.candidates.draw(look, area, line, column, buffer);
            }
            _ => {}
        }
        if let Some(fault) = &self.fault {
            let at = x.saturating_add(fault.column.saturating_sub(from) as u16);
            if let Some(cell) = buffer.cell_mut((at, line.y)).filter(|_| at < line.right()) {
                cell.set_style(look.error().add_modifier(Modifier::REVERSED));
            }
            let room = line.right().saturating_sub(end.saturating_add(2));
            if message::fits(&fault.text, room) {
                put(buffer, line, end + 2, line.y, &fault.text, look.error());
            } else {
                let above = Rect { height: line.y.saturating_sub(area.y), ..area };
                let (text, top) = (&fault.text, self.fault_top);
                self.fault_hidden = message::draw(text, look.error(), look, above, top, buffer);
            }
        }
        let column = x.saturating_add((self.prompt.cursor() - from) as u16);
        Position { x: column.min(line.right().saturating_sub(1)), y: line.y }
    }
}

impl App {
    /// Handles the answer to a question. A faulty answer stays open.
    pub(super) fn answer(&mut self, mut question: OpenQuestion) {
        let text = question.prompt.text();
        let accepted = match question.subject {
            Subject::Export => self.export(&text, &mut question.replaces),
            subject => self.accept(subject, &text),
        };
        match accepted {
            Ok(()) => {
                if let Some(kind) = question.kind() {
                    self.history.add(kind, &text);
                }
            }
            Err(fault) => {
                (question.fault, question.fault_top, question.fault_hidden) = (Some(fault), 0, 0);
                self.question = Some(question);
            }
        }
    }

    /// Performs what the answer to a question demands.
    fn accept(&mut self, subject: Subject, text: &str) -> Result<(), Fault> {
        let page = &mut self.tabs[self.current];
        match subject {
            Subject::Export => {}
            Subject::Filter => page.session.set_filter(text)?,
            Subject::Time => {
                let gone = page.session.go_to(text);
                gone.map_err(|error| Fault::new(ltt_read::ErrorChain(&error).to_string()))?;
            }
            Subject::Trace => {
                let opened = page.session.open_beside(path_of(text));
                self.add_tab(
                    opened.map_err(|error| Fault::new(ltt_read::ErrorChain(&error).to_string()))?,
                );
            }
            Subject::MoreTraces => {
                let added = self.add_traces(path_of(text));
                added.map_err(|error| Fault::new(ltt_read::ErrorChain(&error).to_string()))?;
            }
            Subject::Row(viewer) => self.find_row(viewer, text)?,
            Subject::NewNote => {
                let note = page.session.new_note(text.trim());
                let added = page.session.notes.add(note).map(|_| ());
                self.noted(added, "the note is added");
            }
            Subject::Note(id) => {
                let edited = page.session.notes.set_text(id, text.trim());
                self.noted(edited, "the note is changed");
            }
            Subject::OfViewer { viewer, action, .. } => {
                let of_id = page.viewers.iter_mut().find(|instance| instance.id() == viewer);
                if let Some(instance) = of_id {
                    instance.viewer.answer(action, text, &mut page.session)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the path that the user has typed, without a slash at its end.
pub(super) fn path_of(text: &str) -> PathBuf {
    let bare = text.trim_end_matches('/');
    expanded(if bare.is_empty() { text } else { bare }, |name| std::env::var_os(name))
}
