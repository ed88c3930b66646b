//! A table with a selected row.

use std::cmp::Reverse;

use lttv_common::table;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::{Scroll, put};
use crate::keys::Move;
use crate::model::natural_order;
use crate::model::row_order::RowOrder;
use crate::model::row_search::{Found, RowQuery, Step};
use crate::viewer::Pane;

/// A column: heading and width. The first column contains text; the others contain numbers,
/// aligned to the right.
pub type Column = (&'static str, u16);

/// A row of a table.
#[derive(Debug, Clone, Default)]
pub struct TableRow {
    /// The texts of its cells.
    pub cells: Vec<String>,
    /// The name by which it is found and sorted.
    pub name: String,
    /// The numbers by which it is found.
    pub ids: Vec<i64>,
    /// The amount by which the busiest rows are first.
    pub busy: u64,
    /// The numbers that, with the name, tell it from other rows. The selection follows the row
    /// while it is sorted or filled again; without numbers it stays at its place.
    pub identity: Vec<u64>,
}

/// Rows of texts, one of them selected.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<TableRow>,
    /// The indices of the rows, in the order in which they are shown.
    shown: Vec<usize>,
    order: RowOrder,
    scroll: Scroll,
    /// The row that is selected again when it is filled in, since it was selected before.
    missing: Option<TableRow>,
}

impl From<Vec<String>> for TableRow {
    fn from(cells: Vec<String>) -> Self {
        TableRow { cells, ..TableRow::default() }
    }
}

impl TableRow {
    fn is(&self, other: &TableRow) -> bool {
        !self.identity.is_empty() && self.identity == other.identity && self.name == other.name
    }
}

impl Table {
    /// Creates an empty table of an order.
    pub fn new(order: RowOrder) -> Self {
        Table { order, ..Table::default() }
    }

    /// Replaces the rows, which are in the order of their numbers. The selection follows its row,
    /// unless this is the first one: the table then stays at its start while rows are added. It
    /// returns to a row that was missing for a while.
    pub fn fill<R: Into<TableRow>>(&mut self, rows: impl Iterator<Item = R>) {
        let selected = self.selected().filter(|_| self.scroll.selected > 0);
        let selected = selected.and_then(|at| self.rows.get(at).cloned());
        let selected = self.missing.take().or(selected);
        self.rows.clear();
        self.rows.extend(rows.map(Into::into));
        let is_missing = |row: &TableRow| {
            !row.identity.is_empty() && !self.rows.iter().any(|other| row.is(other))
        };
        self.missing = selected.clone().filter(is_missing);
        self.sort(selected);
    }

    /// Returns the order of the rows.
    pub fn order(&self) -> RowOrder {
        self.order
    }

    /// Sets the order of the rows.
    pub fn set_order(&mut self, order: RowOrder) {
        self.order = order;
        let selected = self.selected().and_then(|at| self.rows.get(at).cloned());
        self.sort(selected);
    }

    /// Sorts the rows. The selection follows its row.
    fn sort(&mut self, selected: Option<TableRow>) {
        let rows = &self.rows;
        self.shown = (0..rows.len()).collect();
        match self.order {
            RowOrder::Number | RowOrder::Tree => {}
            RowOrder::Name => {
                self.shown.sort_by(|a, b| natural_order::compare(&rows[*a].name, &rows[*b].name))
            }
            RowOrder::Busiest => self.shown.sort_by_key(|at| Reverse(rows[*at].busy)),
        }
        let is_selected = |at: &usize| selected.as_ref().is_some_and(|row| row.is(&rows[*at]));
        if let Some(place) = self.shown.iter().position(is_selected) {
            self.scroll.selected = place;
        }
    }

    /// Adjusts the scroll position to an area, headings included.
    pub fn fit(&mut self, area: Rect) {
        self.scroll.fit(self.rows.len(), area.height.saturating_sub(1));
    }

    /// Returns `true` if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the number of the selected row among those that were filled in.
    pub fn selected(&self) -> Option<usize> {
        self.shown.get(self.scroll.selected).copied()
    }

    /// Moves the selection.
    pub fn go(&mut self, to: Move) {
        self.missing = None;
        self.scroll.go(to, self.rows.len());
    }

    /// Selects a row that matches.
    pub fn find(&mut self, query: &RowQuery, step: Step) -> Option<Found> {
        let rows = self.shown.iter().map(|at| &self.rows[*at]);
        let facts = rows.map(|row| (&*row.ids, &*row.name));
        let found = query.find(facts, self.scroll.selected, step)?;
        self.missing = None;
        self.scroll.go(Move::To(found.row), self.rows.len());
        Some(found)
    }

    /// Returns the row at a point of an area, headings included.
    pub fn row(&self, area: Rect, at: Position) -> Option<usize> {
        let line = at.y.checked_sub(area.y + 1).filter(|_| area.contains(at))?;
        self.scroll.row(line, self.rows.len())
    }

    /// Returns the texts of the selected row, with a space between them.
    pub fn selected_text(&self) -> Option<String> {
        Some(self.rows.get(self.selected()?)?.cells.join("  "))
    }

    /// Returns all rows, for a file.
    pub fn contents(&self, key: &'static str, columns: &[Column]) -> table::Table {
        let rows: Vec<_> = self.shown.iter().filter_map(|at| self.rows.get(*at)).collect();
        let mut all = table::Table::of(key, key, &rows);
        for (at, (heading, _)) in columns.iter().enumerate() {
            all = all.text(heading, *heading, |row| row.cells.get(at).cloned());
        }
        all.build()
    }

    /// Iterates over the rows from the first visible one on: their numbers among those that
    /// were filled in.
    pub fn visible(&self) -> impl Iterator<Item = usize> {
        self.shown.iter().copied().skip(self.scroll.top)
    }

    /// Draws the headings and the rows below them, without columns that would be cut. The
    /// selected row is highlighted if the table has the focus.
    pub fn draw(&self, columns: &[Column], pane: Pane, buffer: &mut Buffer) {
        let Pane { area, look, has_focus, .. } = pane;
        let columns = fitting(columns, area.width);
        let line = |y| Rect { y, height: 1, ..area };
        let headings = columns.iter().map(|(heading, _)| *heading);
        cells(columns, headings, look.faint(), line(area.y), buffer);
        let rows = self.shown.iter().filter_map(|at| self.rows.get(*at));
        let shown = rows.enumerate().skip(self.scroll.top);
        for ((at, row), y) in shown.zip(area.y + 1..area.bottom()) {
            let is_selected = has_focus && at == self.scroll.selected;
            let style = if is_selected { look.selected() } else { Style::new() };
            buffer.set_style(line(y).intersection(buffer.area), style);
            cells(columns, row.cells.iter().map(String::as_str), style, line(y), buffer);
        }
    }
}

/// Returns the first columns that fit a width. A part of a number would be read as another number.
fn fitting(columns: &[Column], width: u16) -> &[Column] {
    let mut used = 0;
    let fits = |(_, column): &&Column| {
        used += column + 1;
        used <= width + 1
    };
    &columns[..columns.iter().take_while(fits).count().max(1)]
}

fn cells<'c>(
    columns: &[Column],
    row: impl Iterator<Item = &'c str>,
    style: Style,
    line: Rect,
    buffer: &mut Buffer,
) {
    let mut x = line.x;
    for (number, ((_, width), cell)) in columns.iter().zip(row).enumerate() {
        let room = Rect { x, width: *width, ..line }.intersection(line);
        let length = cell.chars().count().min(usize::from(*width)) as u16;
        let at = if number == 0 { x } else { x.saturating_add(width - length) };
        put(buffer, room, at, line.y, cell, style);
        x = x.saturating_add(width + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(busy: &[u64]) -> impl Iterator<Item = TableRow> {
        let row = |(number, busy): (usize, &u64)| TableRow {
            cells: vec![number.to_string()],
            name: format!("row {}", 9 - number),
            ids: vec![number as i64],
            busy: *busy,
            identity: vec![number as u64],
        };
        busy.iter().enumerate().map(row).collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn no_column_is_cut() {
        let columns = [("COMMAND", 14), ("TID", 7), ("EVENTS", 7), ("MAX GAP", 10)];
        let titles = |width| fitting(&columns, width).iter().map(|of| of.0).collect::<Vec<_>>();
        assert_eq!(titles(41).last(), Some(&"MAX GAP"));
        assert_eq!(titles(40).last(), Some(&"EVENTS"));
        assert_eq!(titles(14), ["COMMAND"]);
        assert_eq!(titles(3), ["COMMAND"]);
    }

    #[test]
    fn the_selection_follows_its_row_in_each_order() {
        let mut table = Table::default();
        table.fill(rows(&[5, 9, 1]));
        table.go(Move::To(2));
        for order in RowOrder::OF_TABLES {
            table.set_order(order);
            assert_eq!(table.selected(), Some(2), "{order:?}");
        }
        let shown = |table: &Table| table.shown.clone();
        assert_eq!(shown(&table), [1, 0, 2]);
        table.fill(rows(&[5, 9, 7, 8]));
        assert_eq!((shown(&table), table.selected()), (vec![1, 3, 2, 0], Some(2)));
        table.set_order(RowOrder::Name);
        assert_eq!(shown(&table), [3, 2, 1, 0]);
        let query = RowQuery::new("9").expect("not blank");
        let found = table.find(&query, Step::Here).expect("`row 9`");
        assert_eq!((table.selected(), found.of), (Some(0), 1));
    }
}
