//! The mouse: clicks, drags and the wheel.

use ltt_read::Timestamp;
use ratatui::crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::App;
use super::draw::Lines;
use super::page::below_heading;
use crate::keys::Move;
use crate::view;
use crate::viewer::Spot;

/// The number of rows by which the wheel scrolls.
const WHEEL_ROWS: isize = 3;
/// The factor of the width of the time window by which the wheel zooms in.
const WHEEL_ZOOM: f64 = 0.8;
/// The part of the time window by which the wheel scrolls.
const WHEEL_SCROLL: f64 = 0.1;

/// A movement while a button is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drag {
    /// Selects a time range, which becomes the time window with the right button.
    Range {
        /// The time at which the button was pressed, and its column.
        from: Timestamp,
        column: u16,
        becomes_window: bool,
    },
    /// Moves the time window with the column under the pointer.
    Window { column: u16 },
    /// Moves the divider between labels and charts.
    Divider,
}

/// The part of the screen at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Nothing,
    /// The name of a tab.
    Tab(usize),
    /// The heading of a viewer.
    Heading(usize),
    /// The divider between labels and charts.
    Divider,
    /// A part of a viewer.
    Viewer(usize, Spot),
    /// A column of the time axis.
    Axis(u16),
}

impl App {
    /// Handles an event of the mouse.
    pub fn mouse(&mut self, event: MouseEvent) {
        if self.is_over {
            return; // There may be no tab.
        }
        let at = Position { x: event.column, y: event.row };
        match event.kind {
            MouseEventKind::Down(button) => self.press(button, at),
            MouseEventKind::Drag(_) => self.drag_to(at.x),
            MouseEventKind::Up(_) => self.release(at.x),
            MouseEventKind::ScrollUp => self.wheel(-1, event.modifiers, at),
            MouseEventKind::ScrollDown => self.wheel(1, event.modifiers, at),
            MouseEventKind::ScrollLeft => self.tabs[self.current].session.scroll(-WHEEL_SCROLL),
            MouseEventKind::ScrollRight => self.tabs[self.current].session.scroll(WHEEL_SCROLL),
            MouseEventKind::Moved => {}
        }
        // A drag is one step.
        if self.drag.is_none()
            && let Some(page) = self.tabs.get_mut(self.current)
        {
            page.session.note_window();
        }
    }

    /// Returns the part of the screen at a point.
    fn target(&self, at: Position) -> Target {
        let (lines, page) = (Lines::of(self.area), &self.tabs[self.current]);
        if lines.tabs.is_some_and(|line| line.contains(at)) {
            let tab = self.tab_areas(lines.tabs.unwrap_or_default());
            return tab
                .iter()
                .position(|tab| tab.contains(at))
                .map_or(Target::Nothing, Target::Tab);
        }
        if let Some(line) = lines.time.filter(|line| line.contains(at)) {
            let (left, chart) = view::split(&page.session, line);
            return match at.x {
                x if x >= chart.x => Target::Axis(x - chart.x),
                x if x + 1 == left.right() => Target::Divider,
                _ => Target::Nothing,
            };
        }
        let areas = page.areas(lines.viewers);
        let Some((number, area)) = areas.into_iter().find(|(_, area)| area.contains(at)) else {
            return Target::Nothing;
        };
        if at.y == area.y {
            return Target::Heading(number);
        }
        let spot = page.viewers[number].viewer.spot(&page.session, below_heading(area), at);
        match spot.is_divider {
            true => Target::Divider,
            false => Target::Viewer(number, spot),
        }
    }

    fn press(&mut self, button: MouseButton, at: Position) {
        self.drag = None;
        if self.question.is_some() {
            return self.click_candidate(at);
        }
        // Any click closes the help.
        if self.help.take().is_some() {
            return;
        }
        if let Some(pick) = self.pick.take() {
            return self.end_pick(pick, |list| list.click(at));
        }
        if let Some(popup) = &self.popup {
            if !popup.contains(at) {
                self.popup = None;
            }
            return;
        }
        let target = self.target(at);
        self.message = None;
        let page = &mut self.tabs[self.current];
        page.session.message = None;
        match (button, target) {
            (MouseButton::Left, Target::Tab(tab)) => self.current = tab,
            (MouseButton::Left, Target::Heading(number)) => page.focus = number,
            (MouseButton::Left, Target::Divider) => self.drag = Some(Drag::Divider),
            (_, Target::Axis(column)) => self.press_chart(button, column),
            (_, Target::Viewer(number, spot)) => {
                page.focus = number;
                if button == MouseButton::Left
                    && let Some(row) = spot.row
                {
                    let moved = page.viewers[number].viewer.go(Move::To(row), &mut page.session);
                    self.note(moved);
                }
                if let Some(column) = spot.column {
                    self.press_chart(button, column);
                }
            }
            _ => {}
        }
    }

    /// Handles a button over a column of charts.
    fn press_chart(&mut self, button: MouseButton, column: u16) {
        let session = &mut self.tabs[self.current].session;
        let from = session.time_of_column(column);
        self.drag = Some(match button {
            MouseButton::Left => {
                session.end_selection();
                session.selection = None;
                session.mark = None;
                session.tab.set_time(from, None);
                Drag::Range { from, column, becomes_window: false }
            }
            MouseButton::Right => Drag::Range { from, column, becomes_window: true },
            MouseButton::Middle => Drag::Window { column },
        });
    }

    fn drag_to(&mut self, x: u16) {
        let session = &mut self.tabs[self.current].session;
        let last = session.chart_width.saturating_sub(1);
        let at = x.saturating_sub(session.label_width).min(last);
        match &mut self.drag {
            None => {}
            Some(Drag::Divider) => session.divider = Some(x.saturating_add(1)),
            Some(Drag::Window { column }) => {
                let by = f64::from(*column) - f64::from(at);
                session.scroll(by / f64::from(session.chart_width.max(1)));
                *column = at;
            }
            // A movement within one column is a part of the click.
            Some(Drag::Range { from, column, .. })
                if at != *column || session.selection.is_some() =>
            {
                let to = session.time_of_column(at);
                session.select_range(*from, to);
                session.mark = Some(*from);
            }
            Some(Drag::Range { .. }) => {}
        }
    }

    fn release(&mut self, x: u16) {
        self.drag_to(x);
        if let Some(Drag::Range { becomes_window: true, .. }) = self.drag.take() {
            let session = &mut self.tabs[self.current].session;
            session.zoom_to_selection();
            session.selection = None;
        }
    }

    /// Handles the wheel, down if `by` is positive: zooms over charts, and scrolls rows
    /// elsewhere.
    fn wheel(&mut self, by: isize, modifiers: KeyModifiers, at: Position) {
        if let Some(help) = &mut self.help {
            return help.scroll(by * WHEEL_ROWS);
        }
        if let Some(pick) = &mut self.pick {
            return pick.list.wheel(by * WHEEL_ROWS);
        }
        if let Some(popup) = &mut self.popup {
            return popup.scroll(by * WHEEL_ROWS);
        }
        if let Some(question) = &mut self.question {
            return question.candidates.wheel(by * WHEEL_ROWS);
        }
        let target = self.target(at);
        let page = &mut self.tabs[self.current];
        if modifiers.contains(KeyModifiers::SHIFT) {
            return page.session.scroll(by as f64 * WHEEL_SCROLL);
        }
        let factor = if by < 0 { WHEEL_ZOOM } else { 1.0 / WHEEL_ZOOM };
        match target {
            Target::Viewer(_, Spot { column: Some(column), .. }) | Target::Axis(column) => {
                let time = page.session.time_of_column(column);
                page.session.zoom_around(factor, time);
            }
            Target::Viewer(..) if modifiers.contains(KeyModifiers::CONTROL) => {
                page.session.tab.zoom(factor, None);
            }
            Target::Viewer(number, Spot { row, .. }) => {
                let to = Move::View { rows: by * WHEEL_ROWS, over: row };
                let moved = page.viewers[number].viewer.go(to, &mut page.session);
                self.note(moved);
            }
            _ => {}
        }
    }

    /// Returns the areas of the names of tabs in their line.
    pub(super) fn tab_areas(&self, line: Rect) -> Vec<Rect> {
        let mut x = line.x;
        let area = |page: &super::page::TabPage| {
            let name = lttv_common::escape::name(&page.session.name);
            let width = ratatui::text::Line::raw(name).width() as u16 + 2;
            let area = Rect { x, width, ..line }.intersection(line);
            x = x.saturating_add(width);
            area
        };
        self.tabs.iter().map(area).collect()
    }
}
