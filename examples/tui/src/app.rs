//! The application: all tabs, the handling of keys, and the drawing of frames.

use std::time::Duration;

use lttv_requests::SubmitError;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

use crate::keys::{self, Action};
use crate::look::Look;
use crate::prompt::{Edit, Prompt};
use crate::session::Session;
use crate::time_text;
use crate::view::control_flow::ControlFlowView;
use crate::view::disks::DisksView;
use crate::view::event_list::EventListView;
use crate::view::help::Help;
use crate::view::histogram::HistogramView;
use crate::view::interrupts::InterruptsView;
use crate::view::resources::ResourcesView;
use crate::view::statistics::StatisticsView;
use crate::view::{Viewer, put, status, time_bar};

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
    tabs: Vec<TabPage>,
    current: usize,
    question: Option<OpenQuestion>,
    message: Option<String>,
    help: Option<Help>,
    is_over: bool,
    /// `true` if the terminal must be cleared before the next frame.
    needs_clear: bool,
    /// `true` if the program must be suspended.
    is_suspended: bool,
}

/// A tab with its viewers, from top to bottom.
#[derive(Debug)]
struct TabPage {
    session: Session,
    viewers: Vec<ViewerSlot>,
    /// The index of the viewer with the focus.
    focus: usize,
    /// `true` if only the viewer with the focus is visible.
    is_maximised: bool,
}

/// A viewer of a tab.
#[derive(Debug)]
struct ViewerSlot {
    viewer: Box<dyn Viewer>,
    is_shown: bool,
}

/// An open question, with the line that the user edits.
#[derive(Debug)]
struct OpenQuestion {
    subject: Subject,
    prompt: Prompt,
    /// The column and the text of an error in the answer.
    fault: Option<(usize, String)>,
}

/// The subject of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Filter,
    OwnFilter,
    Time,
    Trace,
}

impl App {
    /// Creates the application with one tab.
    pub fn new(session: Session, look: Look) -> Self {
        App {
            look,
            tabs: vec![TabPage::new(session)],
            current: 0,
            question: None,
            message: None,
            help: None,
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

    /// Returns the session of the current tab.
    pub fn session(&self) -> &Session {
        &self.tabs[self.current].session
    }

    /// Serves requests of the current tab for about this time. Returns `true` if something has
    /// changed or there is more to do.
    pub fn service(&mut self, time: Duration) -> bool {
        self.tabs[self.current].session.service(time)
    }

    /// Shows the message of an error.
    fn note<T>(&mut self, result: Result<T, SubmitError>) -> Option<T> {
        result.map_err(|error| self.message = Some(error.to_string())).ok()
    }

    /// Handles a key: passes it to the open question, or performs its action.
    pub fn key(&mut self, key: KeyEvent) {
        if let Some(mut question) = self.question.take() {
            match question.prompt.key(key) {
                Edit::Cancelled => {}
                Edit::Going => {
                    question.fault = None;
                    self.question = Some(question);
                }
                Edit::Done => self.answer(question),
            }
            return;
        }
        self.message = None;
        self.tabs[self.current].session.message = None;
        if let Some(action) = keys::action(key) {
            self.action(action);
        }
    }

    /// Performs the action of a key.
    pub fn action(&mut self, action: Action) {
        if let Some(help) = &mut self.help {
            match action {
                Action::Rows(by) => return help.scroll(by),
                Action::Pages(by) => return help.scroll(by * HELP_PAGE),
                // Any other key closes the help and has its usual effect.
                _ => self.help = None,
            }
            if matches!(action, Action::Help | Action::Stop) {
                return;
            }
        }
        let page = &mut self.tabs[self.current];
        let session = &mut page.session;
        let ask = |subject, text: &str| {
            Some(OpenQuestion { subject, prompt: Prompt::new(text), fault: None })
        };
        match action {
            Action::Quit => self.is_over = true,
            Action::Help => self.help = Some(Help::default()),
            Action::EditFilter => {
                let text = session.tab.filter().cloned().unwrap_or_default();
                self.question = ask(Subject::Filter, &text);
            }
            Action::EditOwnFilter => {
                let own = page.viewers.iter().find_map(|place| place.viewer.own_filter());
                self.question = ask(Subject::OwnFilter, own.unwrap_or_default());
            }
            Action::GoToTime => self.question = ask(Subject::Time, ""),
            Action::Open => self.question = ask(Subject::Trace, ""),
            Action::Clone => match session.again() {
                Ok(session) => self.add_tab(session),
                Err(error) => self.message = Some(error.to_string()),
            },
            Action::Close => {
                self.tabs.remove(self.current);
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
            Action::Maximise => page.is_maximised = !page.is_maximised,
            Action::Scroll(widths) => session.scroll(widths),
            Action::Zoom(factor) => session.tab.zoom(factor, None),
            Action::Fit => session.tab.fit(None),
            Action::Step(columns) => session.step(columns, None),
            Action::OfProcess { back } => {
                let searched = session.search(back);
                self.note(searched);
            }
            Action::Stop => session.stop_search(),
            Action::Redraw => self.needs_clear = true,
            Action::Suspend => self.is_suspended = true,
            Action::Rows(_)
            | Action::Pages(_)
            | Action::Edge { .. }
            | Action::Enter
            | Action::Inactive
            | Action::Sort => {
                let acted = match page.viewers.get_mut(page.focus) {
                    Some(place) => place.viewer.action(action, session),
                    None => Ok(false),
                };
                self.note(acted);
            }
        }
    }

    fn add_tab(&mut self, session: Session) {
        self.current += 1;
        self.tabs.insert(self.current, TabPage::new(session));
    }

    /// Handles the answer to a question. A faulty answer stays open.
    fn answer(&mut self, mut question: OpenQuestion) {
        let text = question.prompt.text();
        let page = &mut self.tabs[self.current];
        let fault = match question.subject {
            Subject::Filter => {
                page.session.set_filter(&text).map_err(|error| fault_of(&error)).err()
            }
            Subject::OwnFilter => {
                let place = page.viewers.iter_mut().find(|of| of.viewer.own_filter().is_some());
                place.and_then(|place| {
                    let set = place.viewer.set_own_filter(&mut page.session, &text);
                    set.map_err(|error| fault_of(&error)).err()
                })
            }
            Subject::Time => match time_text::parse(&text, page.session.span().start) {
                Some(time) => {
                    page.session.tab.set_time(time, None);
                    None
                }
                None => Some((0, "seconds, or +seconds from the start".to_owned())),
            },
            Subject::Trace => match Session::open(&[&text]) {
                Ok(session) => {
                    self.add_tab(session);
                    None
                }
                Err(error) => Some((0, error.to_string())),
            },
        };
        if fault.is_some() {
            question.fault = fault;
            self.question = Some(question);
        }
    }

    /// Draws the screen, and submits requests for missing data.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let lines = Lines::of(area);
        let page = &mut self.tabs[self.current];
        let updated = page.update(lines.viewers);
        let page = &self.tabs[self.current];
        let buffer = frame.buffer_mut();
        page.draw(self.look, lines.viewers, buffer);
        if let Some(line) = lines.time {
            time_bar::draw(&page.session, self.look, line, buffer);
        }
        if let Some(line) = lines.status {
            status::draw(&page.session, self.look, line, buffer);
        }
        if let Some(line) = lines.tabs {
            self.draw_tabs(line, buffer);
        }
        if let Some(help) = &mut self.help {
            help.draw(self.look, area, buffer);
        }
        let cursor = lines.bottom.and_then(|line| self.draw_bottom(line, buffer));
        if let Some(cursor) = cursor {
            frame.set_cursor_position(cursor);
        }
        self.note(updated);
    }

    fn draw_tabs(&self, line: Rect, buffer: &mut Buffer) {
        let mut x = line.x;
        for (number, page) in self.tabs.iter().enumerate() {
            let style = if number == self.current { self.look.focus() } else { self.look.faint() };
            x = put(buffer, line, x, line.y, &format!(" {} ", page.session.name), style);
        }
        let hint = "? keys  q quit";
        let at = line.right().saturating_sub(hint.len() as u16);
        if at > x {
            put(buffer, line, at, line.y, hint, self.look.faint());
        }
    }

    /// Draws the line for questions and messages. Returns the position of the cursor if a
    /// question is open.
    fn draw_bottom(&self, line: Rect, buffer: &mut Buffer) -> Option<Position> {
        let Some(question) = &self.question else {
            let session = &self.tabs[self.current].session;
            let messages = [&self.message, &session.message, &session.nothing_found];
            if let Some(message) = messages.into_iter().flatten().next() {
                put(buffer, line, line.x, line.y, message, self.look.heading());
            } else if let Some(damage) = session.damage() {
                put(buffer, line, line.x, line.y, &damage, self.look.error());
            }
            return None;
        };
        let title = match question.subject {
            Subject::Filter => "filter: ",
            Subject::OwnFilter => "filter of the list: ",
            Subject::Time => "go to: ",
            Subject::Trace => "open: ",
        };
        let blank = " ".repeat(line.width.into());
        put(buffer, line, line.x, line.y, &blank, Default::default());
        let x = put(buffer, line, line.x, line.y, title, self.look.heading());
        // A long text is scrolled so that the cursor is visible.
        let text: Vec<char> = question.prompt.text().chars().collect();
        let room = usize::from(line.right().saturating_sub(x)).max(2);
        let from = (question.prompt.cursor() + 1).saturating_sub(room);
        let shown: String = text.iter().skip(from).collect();
        let end = put(buffer, line, x, line.y, &shown, Default::default());
        if let Some((column, fault)) = &question.fault {
            let at = x.saturating_add(column.saturating_sub(from) as u16);
            if let Some(cell) = buffer.cell_mut((at, line.y)).filter(|_| at < line.right()) {
                cell.set_style(self.look.error().add_modifier(ratatui::style::Modifier::REVERSED));
            }
            put(buffer, line, end + 2, line.y, fault, self.look.error());
        }
        let column = x.saturating_add((question.prompt.cursor() - from) as u16);
        Some(Position { x: column.min(line.right().saturating_sub(1)), y: line.y })
    }
}

/// Returns the column and the text of the first diagnostic of a filter.
fn fault_of(error: &lttv_filter::FilterError) -> (usize, String) {
    let Some(first) = error.diagnostics().first() else { return (0, error.to_string()) };
    let before = error.text().get(..first.span.start as usize).unwrap_or_default();
    (before.chars().count(), first.to_string())
}

/// The lines of a screen; `None` for those without space.
struct Lines {
    tabs: Option<Rect>,
    viewers: Rect,
    time: Option<Rect>,
    status: Option<Rect>,
    bottom: Option<Rect>,
}

impl Lines {
    fn of(area: Rect) -> Self {
        let line = |y| Some(Rect { y, height: 1, ..area });
        let (top, bottom) = (area.y, area.bottom());
        let (tabs, time, status) = (area.height >= 8, area.height >= 7, area.height >= 6);
        let viewers = Rect {
            y: top + u16::from(tabs),
            height: area.height
                - u16::from(tabs)
                - u16::from(time)
                - u16::from(status)
                - u16::from(area.height > 1),
            ..area
        };
        Lines {
            tabs: line(top).filter(|_| tabs),
            viewers,
            time: line(viewers.bottom()).filter(|_| time),
            status: line(viewers.bottom() + u16::from(time)).filter(|_| status),
            // If there is only one line, questions are drawn over it.
            bottom: line(bottom.saturating_sub(1)).filter(|_| area.height > 0),
        }
    }
}

impl TabPage {
    fn new(session: Session) -> Self {
        let place = |viewer, is_shown| ViewerSlot { viewer, is_shown };
        TabPage {
            session,
            viewers: vec![
                place(Box::<EventListView>::default() as Box<dyn Viewer>, true),
                place(Box::<ControlFlowView>::default(), true),
                place(Box::<ResourcesView>::default(), true),
                place(Box::<HistogramView>::default(), true),
                place(Box::<StatisticsView>::default(), false),
                place(Box::<InterruptsView>::default(), false),
                place(Box::<DisksView>::default(), false),
            ],
            focus: 1,
            is_maximised: false,
        }
    }

    /// Moves the focus by this many visible viewers.
    fn move_focus(&mut self, by: isize) {
        let shown: Vec<usize> =
            (0..self.viewers.len()).filter(|at| self.viewers[*at].is_shown).collect();
        let at = shown.iter().position(|at| *at == self.focus).unwrap_or(0) as isize;
        let next = (at + by).rem_euclid(shown.len().max(1) as isize) as usize;
        self.focus = shown.get(next).copied().unwrap_or(self.focus);
    }

    /// Shows or hides a viewer.
    fn toggle(&mut self, number: usize) {
        let Some(place) = self.viewers.get_mut(number) else { return };
        place.is_shown = !place.is_shown;
        if place.is_shown {
            self.focus = number;
        } else if self.focus == number {
            self.move_focus(1);
        }
    }

    /// Returns the visible viewers with their areas, headings included.
    fn areas(&self, area: Rect) -> Vec<(usize, Rect)> {
        let shown = |at: &usize| match self.is_maximised {
            true => *at == self.focus,
            false => self.viewers[*at].is_shown,
        };
        let mut shown: Vec<usize> = (0..self.viewers.len()).filter(shown).collect();
        let least = |at: usize| self.viewers[at].viewer.height().0;
        // If space is short, hide viewers from the end, except for the one with the focus.
        while shown.iter().map(|at| least(*at)).sum::<u16>() > area.height {
            let Some(last) = shown.iter().rposition(|at| *at != self.focus) else { break };
            shown.remove(last);
        }
        let weights: u16 = shown.iter().map(|at| self.viewers[*at].viewer.height().1).sum();
        let used: u16 = shown.iter().map(|at| least(*at)).sum();
        let spare = area.height.saturating_sub(used);
        let mut areas = Vec::new();
        let (mut y, mut weight) = (area.y, 0);
        for at in shown {
            let share =
                |weight: u16| u32::from(spare) * u32::from(weight) / u32::from(weights.max(1));
            let before = share(weight);
            weight += self.viewers[at].viewer.height().1;
            let height = least(at) + (share(weight) - before) as u16;
            let height = height.min(area.bottom().saturating_sub(y));
            areas.push((at, Rect { y, height, ..area }));
            y += height;
        }
        areas
    }

    /// Updates all visible viewers.
    fn update(&mut self, area: Rect) -> Result<(), SubmitError> {
        self.session.label_width = match area.width {
            200.. => 96,
            130.. => 50,
            100.. => 44,
            70.. => 28,
            40.. => 16,
            16.. => 8,
            _ => 0,
        };
        self.session.chart_width = area.width.saturating_sub(self.session.label_width).max(1);
        if let Some(place) = self.viewers.get(self.focus) {
            self.session.focus = place.viewer.title();
        }
        for (at, area) in self.areas(area) {
            let below = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
            self.viewers[at].viewer.update(&mut self.session, below)?;
        }
        Ok(())
    }

    fn draw(&self, look: Look, area: Rect, buffer: &mut Buffer) {
        for (at, area) in self.areas(area) {
            let viewer = &self.viewers[at].viewer;
            let style = if at == self.focus { look.focus() } else { look.heading() };
            let line = Rect { height: area.height.min(1), ..area };
            let x = put(
                buffer,
                line,
                line.x,
                line.y,
                &format!(" {} {} ", at + 1, viewer.title()),
                style,
            );
            let x = put(buffer, line, x + 1, line.y, &viewer.note(&self.session), look.faint());
            if viewer.progress() < 1.0 {
                let progress = format!("{:.0} %", viewer.progress() * 100.0);
                put(buffer, line, x + 2, line.y, &progress, look.heading());
            }
            let below = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
            if below.height > 0 && area.height > 0 {
                viewer.draw(&self.session, look, below, buffer);
            }
        }
    }
}
