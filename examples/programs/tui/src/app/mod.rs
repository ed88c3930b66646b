//! The application: all tabs, the handling of keys, and the drawing of frames.

use std::collections::VecDeque;
use std::time::Duration;

use lttv_requests::SubmitError;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use self::layout::LayoutState;
use self::mouse::Drag;
use self::page::TabPage;
use self::pick::OpenPick;
use self::question::{OpenQuestion, Subject};
use crate::keys::{self, Action, Key, Move};
use crate::look::Look;
use crate::model::row_search::RowQuery;
use crate::prompt::{Edit, History, HistoryError};
use crate::session::{Recording, Session};
use crate::tab_notes::NotesPlace;
use crate::text::popup::{Popup, PopupKey};
use crate::view;
use crate::view::help::Help;
use crate::viewer::{Instance, Reply, ViewerKinds};

mod clipboard;
mod completion;
mod draw;
mod export;
mod layout;
mod messages;
mod mouse;
mod notes;
mod page;
mod pick;
mod question;
mod rows;
mod values;
mod viewers;

/// The time for serving requests per frame, while there is work to do. The remaining time
/// of a frame of 33 ms is for drawing.
pub const FRAME: Duration = Duration::from_millis(16);
/// The time for serving requests between two checks for input.
pub const SERVICE: Duration = Duration::from_millis(4);

/// The number of lines that a page key scrolls the help by.
const HELP_PAGE: isize = 10;

/// The application without its terminal: it handles keys, draws frames, and reads traces in
/// between.
#[derive(Debug)]
pub struct App {
    look: Look,
    kinds: ViewerKinds,
    tabs: Vec<TabPage>,
    current: usize,
    question: Option<OpenQuestion>,
    pick: Option<OpenPick>,
    message: Option<String>,
    /// The keys that have the action of another one, or none.
    bound: Vec<(Key, Option<Key>)>,
    /// The messages so far.
    log: VecDeque<String>,
    /// The answers to earlier questions.
    history: History,
    /// The last search for a row.
    row_query: Option<RowQuery>,
    /// The place of the row that was found among those that match, until the next key.
    found_row: Option<String>,
    notes_place: NotesPlace,
    help: Option<Help>,
    popup: Option<Popup>,
    /// The text to be copied to the clipboard of the terminal.
    copied: Option<String>,
    layout: Option<LayoutState>,
    /// The area of the last frame.
    area: Rect,
    drag: Option<Drag>,
    is_over: bool,
    /// `true` if the terminal must be cleared before the next frame.
    needs_clear: bool,
    /// `true` if the program must be suspended.
    is_suspended: bool,
}

/// The action of a key at the moment.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Binding {
    /// An action that is not specific to a viewer.
    General(Action),
    /// The action of this name of the viewer at this index.
    OfViewer(usize, &'static str),
}

impl App {
    /// Creates the application with one tab, in which there are viewers of all kinds of this
    /// crate.
    pub fn new(session: Session, look: Look) -> Self {
        let mut kinds = ViewerKinds::new();
        for kind in view::kinds() {
            // Their names and keys are known to be valid.
            _ = kinds.register(kind);
        }
        App {
            look,
            tabs: vec![TabPage::new(session, &mut kinds)],
            kinds,
            current: 0,
            question: None,
            pick: None,
            message: None,
            bound: Vec::new(),
            log: VecDeque::new(),
            history: History::default(),
            row_query: None,
            found_row: None,
            notes_place: NotesPlace::default(),
            help: None,
            popup: None,
            copied: None,
            layout: None,
            area: Rect::ZERO,
            drag: None,
            is_over: false,
            needs_clear: false,
            is_suspended: false,
        }
    }

    /// Returns `true` if the user has quit.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns `true` if the terminal must be cleared before the next frame, as the user has
    /// requested. Resets the request.
    pub fn take_clear(&mut self) -> bool {
        std::mem::take(&mut self.needs_clear)
    }

    /// Returns `true` if the program must be suspended, as the user has requested. Resets the
    /// request.
    pub fn take_suspended(&mut self) -> bool {
        std::mem::take(&mut self.is_suspended)
    }

    /// Shows a message until a key is pressed.
    pub fn tell(&mut self, message: &str) {
        self.message = Some(message.to_owned());
    }

    /// Gives a key the action that another one has, or none. Prompts and lists are not affected,
    /// and Ctrl-C always ends the program.
    pub fn bind(&mut self, key: Key, like: Option<Key>) {
        self.bound.retain(|(other, _)| *other != key);
        self.bound.push((key, like));
    }

    /// Offers the answers of a history in questions, and adds new ones to it.
    pub fn keep_history(&mut self, history: History) {
        self.history = history;
    }

    /// Writes the new answers of the history to its file. Returns whether it was written.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save_history(&mut self) -> Result<bool, HistoryError> {
        self.history.save()
    }

    /// Returns the session of the current tab.
    pub fn session(&self) -> &Session {
        &self.tabs[self.current].session
    }

    /// Serves requests for about this time: those of the current tab; if it has none, those of
    /// another tab; if no tab has any, the computations in the background. Returns `true` if
    /// something has changed or there is more to do.
    pub fn service(&mut self, time: Duration) -> bool {
        let has_grown = self.grow();
        let order = std::iter::once(self.current).chain(0..self.tabs.len());
        let busy = order.into_iter().find(|tab| self.tabs[*tab].session.needs_service());
        let tab = busy.unwrap_or(self.current);
        let is_busy = self.tabs[tab].session.service(time);
        self.tabs[tab].deliver();
        // The threads of the current tab work at the same time.
        let threads =
            tab != self.current && self.tabs[self.current].session.serve_threads(Duration::ZERO);
        has_grown || is_busy || threads
    }

    /// Fetches what was recorded, for all tabs. Returns `true` if the traces of one have grown.
    fn grow(&mut self) -> bool {
        let mut has_grown = false;
        for tab in 0..self.tabs.len() {
            let grown = self.tabs[tab].grow();
            has_grown |= self.note(grown) == Some(true);
        }
        has_grown
    }

    /// Returns `true` if a tab follows a recording, so that it has to be
    /// [served](Self::service) even if nothing is to be done.
    pub fn is_following(&self) -> bool {
        let recordings = self.tabs.iter().filter_map(|page| page.session.recording());
        recordings.into_iter().any(|recording| recording != Recording::Ended)
    }

    /// Shows the message of an error.
    fn note<T>(&mut self, result: Result<T, SubmitError>) -> Option<T> {
        result.map_err(|error| self.message = Some(ltt_read::ErrorChain(&error).to_string())).ok()
    }

    /// Handles a key: passes it to the open question or list, or performs its action.
    pub fn key(&mut self, key: KeyEvent) {
        let before = self.tabs.get(self.current).map(|page| page.place());
        self.handle(key);
        if let Some(page) = self.tabs.get_mut(self.current) {
            page.stay_if_moved(before);
            page.session.extend_selection();
            page.session.note_window();
        }
    }

    fn handle(&mut self, key: KeyEvent) {
        if let Some(mut question) = self.question.take() {
            match question.key(key, &mut self.tabs[self.current].session) {
                Edit::Cancelled => {}
                Edit::Going => self.question = Some(question),
                Edit::Done => self.answer(question),
            }
            return;
        }
        if let Some(pick) = self.pick.take() {
            return self.end_pick(pick, |list| list.key(key));
        }
        if let Some(popup) = &mut self.popup {
            match popup.key(key) {
                PopupKey::Going => {}
                PopupKey::Closed => self.popup = None,
                PopupKey::Copy(text) => self.copy(text),
            }
            return;
        }
        (self.message, self.found_row) = (None, None);
        self.tabs[self.current].session.message = None;
        let key = Key::from(key);
        let bound = self.bound.iter().find(|(of, _)| *of == key && key != Key::control('c'));
        let Some(key) = bound.map_or(Some(key), |(_, like)| *like) else { return };
        match self.binding(key) {
            Some(Binding::General(action)) => self.action(action),
            Some(Binding::OfViewer(at, action)) => self.act(at, action),
            None => {}
        }
    }

    /// Finds the action of a key: see [`keys`] for the order.
    fn binding(&self, key: Key) -> Option<Binding> {
        let page = &self.tabs[self.current];
        let of_viewer = |focused: bool| {
            let viewers = page.visible().filter(move |(at, _)| (*at == page.focus) == focused);
            viewers.filter_map(move |(at, instance)| {
                let action = instance.kind().action_of(key)?;
                (focused || !action.needs_focus()).then(|| Binding::OfViewer(at, action.name()))
            })
        };
        let general = keys::action(key).map(Binding::General);
        match keys::is_reserved(key) {
            true => general,
            false => of_viewer(true).next().or(general).or_else(|| of_viewer(false).next()),
        }
    }

    /// Performs an action of a viewer of the current tab.
    fn act(&mut self, at: usize, action: &'static str) {
        self.help = None;
        let page = &mut self.tabs[self.current];
        let Some(instance) = page.viewers.get_mut(at) else { return };
        let viewer = instance.id();
        let reply = instance.viewer.act(action, &mut page.session);
        match self.note(reply) {
            Some(Reply::Ask { title, text, is_filter }) => {
                let subject = Subject::OfViewer { viewer, action, title, is_filter };
                self.ask(subject, &text);
            }
            Some(Reply::Show(popup)) => self.popup = Some(popup),
            Some(Reply::Done) | None => {}
        }
    }

    /// Performs the action of a key.
    pub fn action(&mut self, action: Action) {
        if let Some(help) = &mut self.help {
            match action {
                Action::Go(to) => {
                    return match to {
                        Move::Rows(by) => help.scroll(by),
                        Move::Pages(by) => help.scroll(by.saturating_mul(HELP_PAGE)),
                        Move::First => help.scroll(isize::MIN),
                        Move::Last => help.scroll(isize::MAX),
                        Move::View { rows, .. } => help.scroll(rows),
                        Move::To(_) => {}
                    };
                }
                // Any other key closes the help and has its usual effect.
                _ => self.help = None,
            }
            if matches!(action, Action::Help | Action::Stop) {
                return;
            }
        }
        let page = &mut self.tabs[self.current];
        let session = &mut page.session;
        match action {
            Action::Quit => self.is_over = true,
            Action::Help => self.help = Some(Help::default()),
            Action::EditFilter => {
                let text = session.tab.filter().cloned().unwrap_or_default();
                self.ask(Subject::Filter, &text);
            }
            Action::AddTrace => self.ask(Subject::MoreTraces, ""),
            Action::RemoveTrace => self.pick_trace(),
            Action::GoToTime => self.ask(Subject::Time, ""),
            Action::Open => self.ask(Subject::Trace, ""),
            Action::Clone => match session.again() {
                Ok(session) => self.add_tab(session),
                Err(error) => self.message = Some(ltt_read::ErrorChain(&error).to_string()),
            },
            Action::Close => {
                self.tabs.remove(self.current).close(&mut self.kinds);
                self.current = self.current.min(self.tabs.len().saturating_sub(1));
                if self.tabs.is_empty() {
                    self.is_over = true;
                }
            }
            Action::OtherTab(by) => {
                let tabs = self.tabs.len() as isize;
                self.current = (self.current as isize + by).rem_euclid(tabs) as usize;
            }
            Action::Focus(by) => page.move_focus(by),
            Action::Toggle(number) => page.toggle(number),
            Action::OpenViewer => self.pick_kind(),
            Action::CloseViewer => {
                if let Some(viewer) = page.focused().map(Instance::id) {
                    self.close_viewer(viewer);
                }
            }
            Action::MoveViewer(by) => page.move_viewer(by),
            Action::Maximise => page.is_maximised = !page.is_maximised,
            Action::Scroll(widths) => session.scroll(widths),
            Action::Zoom(factor) => session.tab.zoom(factor, None),
            Action::Fit => session.tab.fit(None),
            Action::Slide => match session.recording() {
                Some(Recording::Slides) => session.slide(false),
                Some(Recording::Stays) => session.slide(true),
                _ => self.message = Some("these traces are not being recorded".to_owned()),
            },
            Action::WindowHistory { back } => {
                if !session.go_to_window(back) {
                    let which = if back { "previous" } else { "next" };
                    self.message = Some(format!("no {which} time window"));
                }
            }
            Action::Step(columns) => session.step(columns, None),
            Action::OfProcess { back } => {
                let searched = session.search(back);
                self.note(searched);
            }
            Action::Select => session.toggle_selection(),
            Action::ZoomToSelection => {
                if !session.zoom_to_selection() {
                    self.message =
                        Some("select a time range first: the key . or a drag".to_owned());
                }
            }
            Action::FindRow => self.ask_row(),
            Action::FindNextRow { back } => self.find_next_row(back),
            Action::SortRows => self.sort_rows(),
            Action::PickTypes => self.pick_types(),
            Action::PickCpus => self.pick_cpus(),
            Action::EditNote => self.ask_note(),
            Action::ListNotes => self.pick_note(0),
            Action::GoToNote { back } => {
                if !session.go_to_next_note(back) {
                    let which = if back { "before" } else { "after" };
                    self.message = Some(format!("no note {which} the current time"));
                }
            }
            Action::Copy => self.copy_row(),
            Action::Export => self.ask_export(),
            Action::Messages => self.show_messages(),
            Action::MoveDivider(by) => {
                session.divider = Some(session.label_width.saturating_add_signed(by));
            }
            Action::Stop => {
                let exports = page.session.export_progress().is_some();
                if page.stop() {
                    // The message about an export is that of the session.
                    if exports {
                        return;
                    }
                    self.message = Some("stopped: r continues".to_owned());
                } else {
                    page.session.clear_selection();
                }
            }
            Action::Continue => {
                let resumed = page.resume();
                if self.note(resumed) == Some(false) {
                    self.message = Some("nothing was stopped".to_owned());
                }
            }
            Action::Redraw => self.needs_clear = true,
            Action::Suspend => self.is_suspended = true,
            Action::Go(to) => {
                let moved = match page.viewers.get_mut(page.focus) {
                    Some(instance) => instance.viewer.go(to, session),
                    None => Ok(false),
                };
                self.note(moved);
            }
        }
    }

    fn add_tab(&mut self, mut session: Session) {
        session.set_zone(self.session().zone().clone());
        session.open_notes(self.notes_place.clone());
        self.current += 1;
        self.tabs.insert(self.current, TabPage::new(session, &mut self.kinds));
    }
}
