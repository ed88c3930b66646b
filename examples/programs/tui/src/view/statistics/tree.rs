//! The tree of statistics, and the values of its selected node.

use std::sync::Arc;

use lttv_context::attributes::{Attributes, Path};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::keys::Move;
use crate::look::Look;
use crate::model::attribute_tree::{AttributeTree, TreeRow};
use crate::session::Session;
use crate::view::table::{Column, Table};
use crate::view::{Scroll, put};
use crate::viewer::{Pane, Spot};

/// The tree on the left, and the values on the right.
#[derive(Debug)]
pub(super) struct TreePane {
    tree: AttributeTree,
    scroll: Scroll,
    values: Table,
    /// The path of the node whose values are shown.
    of: Path,
    /// `true` if keys move in the values, `false` if they move in the tree.
    is_in_values: bool,
}

/// The least width of the tree if there is space for the values, in columns.
const LEAST_TREE: u16 = 30;

/// The width of the values, without their names.
const TEXT: u16 = 22;
const DETAIL: u16 = 22;

/// The least width of the names of values if all columns are shown, and the greatest.
const LEAST_NAME: u16 = 20;
const MOST_NAME: u16 = 44;

/// The columns of values in a file.
const FILE_COLUMNS: [Column; 3] = [("name", 0), ("value", 0), ("exact or share", 0)];

impl Default for TreePane {
    fn default() -> Self {
        let mut tree = AttributeTree::new("traceset");
        // The first trace is of interest in most cases.
        for path in ["traces", "traces/[0]"] {
            tree.expand(path.parse().unwrap_or_default());
        }
        TreePane {
            tree,
            scroll: Scroll::default(),
            values: Table::default(),
            of: Path::default(),
            is_in_values: false,
        }
    }
}

impl TreePane {
    /// Replaces the statistics.
    pub(super) fn set(&mut self, attributes: Arc<Attributes>) {
        self.tree.set(attributes);
        self.show_values();
    }

    /// Adjusts the scroll positions to an area.
    pub(super) fn fit(&mut self, area: Rect) {
        self.scroll.selected = self.tree.selected();
        self.scroll.fit(self.tree.rows().len(), area.height.saturating_sub(1));
        self.values.fit(area);
    }

    /// Shows the values of the selected node, from the first one if it is another node.
    fn show_values(&mut self) {
        let of = self.tree.rows().get(self.tree.selected()).map(|row| &row.path);
        if of != Some(&self.of) {
            self.of = of.cloned().unwrap_or_default();
            self.values = Table::default();
        }
        let mut indent = "";
        self.values.fill(self.tree.values().iter().map(|value| {
            let name = match value.is_group {
                true => value.name.clone(),
                false => format!("{indent}{}", value.name),
            };
            if value.is_group {
                indent = "  ";
            }
            vec![name, value.text.clone(), value.detail.clone()]
        }));
    }

    /// Performs an action.
    pub(super) fn act(&mut self, action: &str) {
        match action {
            "expand" => self.tree.toggle(),
            "expand-all" => self.tree.toggle_all(),
            "values" => self.is_in_values = !self.is_in_values,
            _ => {}
        }
        self.show_values();
    }

    /// Moves in the tree or in the values. The rows of the values have the indices after those
    /// of the tree.
    pub(super) fn go(&mut self, to: Move) {
        let rows = self.tree.rows().len();
        match to {
            Move::To(row) => {
                self.is_in_values = row >= rows;
                match row.checked_sub(rows) {
                    Some(value) => self.values.go(Move::To(value)),
                    None => self.click(row),
                }
            }
            Move::View { over: Some(row), .. } if row >= rows => self.values.go(to),
            Move::View { over: Some(_), .. } => self.scroll.go(to, rows),
            _ if self.is_in_values => self.values.go(to),
            _ => {
                self.scroll.go(to, rows);
                self.tree.select(self.scroll.selected);
            }
        }
        self.show_values();
    }

    /// Selects a row of the tree. Expands or collapses it if it is selected already.
    fn click(&mut self, row: usize) {
        if self.tree.selected() == row {
            self.tree.toggle();
        }
        self.scroll.go(Move::To(row), self.tree.rows().len());
        self.tree.select(row);
    }

    /// Returns the selected value, or the path of the selected node.
    pub(super) fn selected_text(&self) -> Option<String> {
        match self.is_in_values {
            true => self.values.selected_text(),
            false => Some(self.of.to_string()),
        }
    }

    /// Returns the values of the selected node, for a file.
    pub(super) fn contents(&self) -> lttv_common::table::Table {
        self.values.contents("values", &FILE_COLUMNS)
    }

    /// Returns the row at a point.
    pub(super) fn spot(&self, session: &Session, area: Rect, at: Position) -> Spot {
        let (left, right) = panes(session, area);
        let rows = self.tree.rows().len();
        let line = at.y.checked_sub(area.y + 1).filter(|_| left.contains(at));
        let node = line.and_then(|line| self.scroll.row(line, rows));
        Spot::of_row(node.or_else(|| Some(rows + self.values.row(right, at)?)))
    }

    /// Draws the tree and the values.
    pub(super) fn draw(&self, session: &Session, pane: Pane, buffer: &mut Buffer) {
        let Pane { area, look, has_focus, .. } = pane;
        let (left, right) = panes(session, area);
        put(buffer, left, left.x, left.y, "NODE", look.faint());
        let shown = self.tree.rows().iter().enumerate().skip(self.scroll.top);
        for ((at, row), y) in shown.zip(left.y + 1..left.bottom()) {
            let is_selected = at == self.tree.selected();
            let style = match (is_selected, has_focus && !self.is_in_values) {
                (true, true) => look.selected(),
                (true, false) => look.heading(),
                _ => Style::new(),
            };
            let line = Rect { y, height: 1, ..left };
            buffer.set_style(line.intersection(buffer.area), style);
            let text = format!("{:1$}{2} {3}", "", row.depth * 2, sign(row, look), row.label);
            put(buffer, line, line.x, y, &text, style);
        }
        let columns = columns(right.width);
        let has_focus = has_focus && self.is_in_values;
        self.values.draw(&columns, Pane { area: right, has_focus, ..pane }, buffer);
    }
}

/// Splits an area into the parts for the tree and for the values.
fn panes(session: &Session, area: Rect) -> (Rect, Rect) {
    let width = session.label_width.max(LEAST_TREE).min(area.width / 2);
    let right = area.x + width + 1;
    let values = Rect { x: right, width: area.right().saturating_sub(right), ..area };
    (Rect { width, ..area }, values)
}

/// Returns the columns of values that fit into a width.
fn columns(width: u16) -> Vec<Column> {
    let most = width.saturating_sub(TEXT + 1);
    let name = most.saturating_sub(DETAIL + 1);
    if name < LEAST_NAME {
        return vec![("VALUE", most.max(width / 2)), ("", TEXT)];
    }
    vec![("VALUE", name.min(MOST_NAME)), ("", TEXT), ("EXACT or share", DETAIL)]
}

/// Returns the sign of a node: whether it is expanded.
fn sign(row: &TreeRow, look: Look) -> char {
    match (row.is_expanded, look) {
        (None, _) => ' ',
        (Some(true), Look::Mono) => '-',
        (Some(false), Look::Mono) => '+',
        (Some(true), _) => '▾',
        (Some(false), _) => '▸',
    }
}
