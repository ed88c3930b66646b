//! Completion of what the user edits, and the answers to earlier prompts.

use lttv_filter::{Candidate, CandidateKind};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Position;

use super::App;
use super::question::{OpenQuestion, Subject};
use crate::keys::Move;
use crate::prompt::{Edit, complete};
use crate::session::Session;
use crate::view::candidates::{CandidateList, Choice};

/// The language of an answer, by which it is completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Filter,
    Path { only_folders: bool },
    Other,
}

impl OpenQuestion {
    /// Returns the language of the answer.
    fn language(&self) -> Language {
        match self.subject {
            Subject::Filter | Subject::OfViewer { is_filter: true, .. } => Language::Filter,
            Subject::Trace | Subject::MoreTraces => Language::Path { only_folders: true },
            Subject::Export => Language::Path { only_folders: false },
            _ => Language::Other,
        }
    }

    /// Determines the texts that can stand at the cursor.
    pub(super) fn complete(&mut self, session: &mut Session) {
        let (text, cursor) = (self.prompt.text(), self.prompt.cursor_in_bytes());
        let choices = match self.language() {
            Language::Filter => filter_choices(&text, cursor, session),
            Language::Path { only_folders } => {
                let choices = complete(&text, cursor, only_folders).into_iter();
                let choice = choices.map(|path| Choice {
                    span: path.span,
                    text: path.text,
                    description: path.description.to_owned(),
                    events: None,
                });
                choice.collect()
            }
            Language::Other => return,
        };
        self.candidates = CandidateList::new(choices);
    }

    /// Handles a key: chooses a candidate or an earlier answer, scrolls a long error, or edits
    /// the line.
    pub(super) fn key(&mut self, key: KeyEvent, session: &mut Session) -> Edit {
        if let Some(edit) = self.scroll_fault(key).or_else(|| self.recall(key, session)) {
            return edit;
        }
        if self.language() != Language::Other {
            let chosen = match key.code {
                KeyCode::Tab => self.candidates.first_or_selected(),
                KeyCode::Enter => self.candidates.selected(),
                _ => None,
            };
            if let Some(choice) = chosen.cloned() {
                self.insert(&choice, session);
                return Edit::Going;
            }
            let to = match key.code {
                KeyCode::Down => Some(Move::Rows(1)),
                KeyCode::Up | KeyCode::BackTab => Some(Move::Rows(-1)),
                KeyCode::PageDown => Some(Move::Pages(1)),
                KeyCode::PageUp => Some(Move::Pages(-1)),
                _ => None,
            };
            if let Some(to) = to {
                self.candidates.go(to);
                return Edit::Going;
            }
            let is_plain_escape = key.code == KeyCode::Esc && key.modifiers == KeyModifiers::NONE;
            if key.code == KeyCode::Tab || is_plain_escape && self.candidates.leave() {
                return Edit::Going;
            }
        }
        let edit = self.prompt.key(key);
        if edit == Edit::Going {
            self.recalled = None;
            self.changed(session);
        }
        edit
    }

    /// Shows an earlier answer for Ctrl-P and Ctrl-N, and for the arrows where they do not
    /// choose a candidate: in an empty line, after another earlier answer, or if there are no
    /// candidates.
    fn recall(&mut self, key: KeyEvent, session: &mut Session) -> Option<Edit> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let back = match key.code {
            KeyCode::Char('p') if control => true,
            KeyCode::Char('n') if control => false,
            KeyCode::Up if self.arrows_recall() => true,
            KeyCode::Down if self.arrows_recall() => false,
            _ => return None,
        };
        let last = self.earlier.len();
        let at = self.recalled.unwrap_or(last);
        let to = if back { at.checked_sub(1) } else { Some(at + 1).filter(|to| *to <= last) };
        if let Some(to) = to {
            if at == last {
                self.draft = self.prompt.text();
            }
            self.recalled = (to < last).then_some(to);
            let text = self.earlier.get(to).unwrap_or(&self.draft).clone();
            self.prompt.set(&text);
            self.changed(session);
        }
        Some(Edit::Going)
    }

    /// Returns `true` if the arrows show earlier answers.
    fn arrows_recall(&self) -> bool {
        if self.candidates.selected().is_some() || self.earlier.is_empty() {
            return false;
        }
        let is_empty = self.prompt.text().is_empty();
        self.recalled.is_some() || is_empty || self.candidates.first_or_selected().is_none()
    }

    /// Takes note that the line has changed.
    fn changed(&mut self, session: &mut Session) {
        (self.fault, self.fault_top, self.replaces) = (None, 0, None);
        self.complete(session);
    }

    /// Scrolls an error that does not fit on the screen.
    fn scroll_fault(&mut self, key: KeyEvent) -> Option<Edit> {
        if self.fault_hidden == 0 || self.fault.is_none() {
            return None;
        }
        let by = match key.code {
            KeyCode::PageUp => -10,
            KeyCode::PageDown => 10,
            KeyCode::Up => -1,
            KeyCode::Down => 1,
            _ => return None,
        };
        self.fault_top = self.fault_top.saturating_add_signed(by).min(self.fault_hidden);
        Some(Edit::Going)
    }

    /// Inserts the candidate at a point. Returns `false` if there is none.
    fn insert_at(&mut self, at: Position, session: &mut Session) -> bool {
        let chosen = self.candidates.at(at).cloned();
        if let Some(choice) = &chosen {
            self.insert(choice, session);
        }
        chosen.is_some()
    }

    /// Inserts a candidate in place of the word at the cursor.
    fn insert(&mut self, choice: &Choice, session: &mut Session) {
        let text = self.prompt.text();
        let rest = text.get(choice.span.end..).unwrap_or_default();
        // After a space, the next words are suggested.
        let has_space = self.language() == Language::Filter && !rest.starts_with([' ', ')', ',']);
        let space = if has_space { " " } else { "" };
        self.prompt.replace(choice.span.clone(), &format!("{}{space}", choice.text));
        self.recalled = None;
        self.changed(session);
    }
}

/// Returns the texts that can stand at the cursor of a filter.
fn filter_choices(text: &str, cursor: usize, session: &mut Session) -> Vec<Choice> {
    let vocabulary = session.vocabulary();
    let counts = session.event_counts();
    let events = |candidate: &Candidate| match candidate.kind {
        CandidateKind::Event => {
            let event = vocabulary.events().get(candidate.event?)?;
            Some(counts.as_ref()?.types.get(event.name()).copied().unwrap_or(0))
        }
        CandidateKind::Cpu => counts.as_ref()?.cpus.get(&candidate.text.parse().ok()?).copied(),
        _ => None,
    };
    let choice = |candidate: Candidate| Choice {
        events: events(&candidate),
        span: candidate.span.start as usize..candidate.span.end as usize,
        text: candidate.text,
        description: candidate.description,
    };
    vocabulary.complete(text, cursor).into_iter().map(choice).collect()
}

impl App {
    /// Opens a question, with the texts that can be its answer.
    pub(super) fn ask(&mut self, subject: Subject, text: &str) {
        let mut question = OpenQuestion::new(subject, text);
        question.earlier =
            question.kind().map_or_else(Vec::new, |kind| self.history.of(kind).to_vec());
        question.complete(&mut self.tabs[self.current].session);
        self.question = Some(question);
    }

    /// Handles a click while a question is open.
    pub(super) fn click_candidate(&mut self, at: Position) {
        if let Some(question) = &mut self.question {
            question.insert_at(at, &mut self.tabs[self.current].session);
        }
    }
}
