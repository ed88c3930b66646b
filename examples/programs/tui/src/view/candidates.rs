//! The texts that can stand at the cursor, above the line that the user edits.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::{Scroll, canvas, put};
use crate::keys::Move;
use crate::look::Look;

/// The greatest number of visible candidates.
const MOST: u16 = 10;

/// A list of candidates, of which one may be selected.
#[derive(Debug, Clone, Default)]
pub struct CandidateList {
    items: Vec<Choice>,
    scroll: Scroll,
    /// `true` if the user has selected a candidate.
    is_selected: bool,
    /// The area in which the list was drawn.
    area: Rect,
}

/// A candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The bytes of the line that it replaces.
    pub span: Range<usize>,
    /// The text that it inserts.
    pub text: String,
    /// An explanation.
    pub description: String,
    /// The number of events that it stands for, if known.
    pub events: Option<u64>,
}

impl CandidateList {
    /// Creates a list, without a selected candidate.
    pub fn new(items: Vec<Choice>) -> Self {
        CandidateList { items, ..Self::default() }
    }

    /// Returns the selected candidate.
    pub fn selected(&self) -> Option<&Choice> {
        self.is_selected.then(|| self.first_or_selected()).flatten()
    }

    /// Returns the selected candidate, or the first one if none is selected.
    pub fn first_or_selected(&self) -> Option<&Choice> {
        self.items.get(if self.is_selected { self.scroll.selected } else { 0 })
    }

    /// Moves the selection. Before, none is selected, and the first movement selects the first
    /// or last candidate.
    pub fn go(&mut self, to: Move) {
        let to = match (self.is_selected, to) {
            (false, Move::Rows(..0) | Move::Pages(..0)) => Move::Last,
            (false, Move::Rows(_) | Move::Pages(_)) => Move::First,
            _ => to,
        };
        self.is_selected = !self.items.is_empty();
        self.scroll.go(to, self.items.len());
    }

    /// Selects nothing. Returns `false` if nothing was selected.
    pub fn leave(&mut self) -> bool {
        std::mem::take(&mut self.is_selected)
    }

    /// Scrolls by this many candidates, down if positive.
    pub fn wheel(&mut self, rows: isize) {
        self.scroll.go(Move::View { rows, over: None }, self.items.len());
    }

    /// Returns the candidate at a point.
    pub fn at(&self, at: Position) -> Option<&Choice> {
        let line = at.y.checked_sub(self.area.y).filter(|_| self.area.contains(at))?;
        self.items.get(self.scroll.row(line, self.items.len())?)
    }

    /// Draws the list above a line, from a column on.
    pub fn draw(&mut self, look: Look, area: Rect, line: Rect, x: u16, buffer: &mut Buffer) {
        let height = (self.items.len() as u16).min(MOST).min(line.y.saturating_sub(area.y));
        self.scroll.fit(self.items.len(), height);
        let chars = |text: &str| text.chars().count() as u16;
        let widest = |of: fn(&Choice) -> &str| {
            self.items.iter().map(|item| chars(of(item))).max().unwrap_or(0)
        };
        let (text, more) = (widest(|item| &item.text), widest(|item| &item.description));
        let has_counts = self.items.iter().any(|item| item.events.is_some());
        let counts = if has_counts { COUNT } else { 0 };
        // The last two columns tell whether there are more.
        let width = (text + more + counts + 6).min(area.width);
        let x = x.saturating_sub(1).min(area.right().saturating_sub(width));
        self.area = Rect { x, y: line.y.saturating_sub(height), width, height };
        canvas(look, self.area, buffer);
        let (top, rows) = (self.scroll.top, usize::from(height));
        let shown = self.items.iter().enumerate().skip(top);
        for ((at, item), y) in shown.zip(self.area.y..self.area.bottom()) {
            let is_selected = self.is_selected && at == self.scroll.selected;
            let style = if is_selected { look.selected() } else { look.canvas() };
            let faint = if is_selected { style } else { look.faint_on_canvas() };
            let line = Rect { y, height: 1, ..self.area };
            buffer.set_style(line.intersection(buffer.area), style);
            put(buffer, line, x + 1, y, &item.text, style);
            let after = x.saturating_add(text + 3);
            if let Some(events) = item.events {
                put(buffer, line, after, y, &format!("{events:>8} events"), style);
            }
            put(buffer, line, after + counts, y, &item.description, faint);
            let is_first = at == top && top > 0;
            let is_last = at + 1 == top + rows && at + 1 < self.items.len();
            let sign = match (look, is_first, is_last) {
                (_, false, false) => continue,
                (Look::Mono, true, _) => "^",
                (Look::Mono, _, _) => "v",
                (_, true, _) => "▲",
                _ => "▼",
            };
            put(buffer, line, line.right().saturating_sub(2), y, sign, style);
        }
    }
}

/// The width of numbers of events, in columns.
const COUNT: u16 = 17;
