//! Completion of the filters that the user edits.

use lttv_filter::{Candidate, CandidateKind};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Position;

use super::App;
use super::question::{OpenQuestion, Subject};
use crate::keys::Move;
use crate::prompt::Edit;
use crate::session::Session;
use crate::view::candidates::CandidateList;

impl OpenQuestion {
    /// Returns `true` if the answer is a filter.
    fn is_filter(&self) -> bool {
        matches!(self.subject, Subject::Filter | Subject::OfViewer { is_filter: true, .. })
    }

    /// Determines the texts that can stand at the cursor.
    pub(super) fn complete(&mut self, session: &mut Session) {
        if !self.is_filter() {
            return;
        }
        let (text, cursor) = (self.prompt.text(), self.prompt.cursor_in_bytes());
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
        self.candidates = CandidateList::new(vocabulary.complete(&text, cursor), events);
    }

    /// Handles a key: chooses a candidate, or edits the line.
    pub(super) fn key(&mut self, key: KeyEvent, session: &mut Session) -> Edit {
        if self.is_filter() {
            let chosen = match key.code {
                KeyCode::Tab => self.candidates.first_or_selected(),
                KeyCode::Enter => self.candidates.selected(),
                _ => None,
            };
            if let Some(candidate) = chosen.cloned() {
                self.insert(&candidate, session);
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
            self.fault = None;
            self.complete(session);
        }
        edit
    }

    /// Inserts the candidate at a point. Returns `false` if there is none.
    fn insert_at(&mut self, at: Position, session: &mut Session) -> bool {
        let chosen = self.candidates.at(at).cloned();
        if let Some(candidate) = &chosen {
            self.insert(candidate, session);
        }
        chosen.is_some()
    }

    /// Inserts a candidate in place of the word at the cursor.
    fn insert(&mut self, candidate: &Candidate, session: &mut Session) {
        let text = self.prompt.text();
        let (start, end) = (candidate.span.start as usize, candidate.span.end as usize);
        let rest = text.get(end..).unwrap_or_default();
        // A space, so that what can follow is suggested.
        let space = if rest.starts_with([' ', ')', ',']) { "" } else { " " };
        self.prompt.replace(start..end, &format!("{}{space}", candidate.text));
        self.fault = None;
        self.complete(session);
    }
}

impl App {
    /// Opens a question, with the texts that can be its answer.
    pub(super) fn ask(&mut self, subject: Subject, text: &str) {
        let mut question = OpenQuestion::new(subject, text);
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
