//! The declaration of the columns of a table, each with its cells.

use std::collections::HashMap;
use std::hash::Hash;

use ltt_read::TraceIndex;

use super::{Cell, Column, Kind, Limit, Table};

/// A [`Table`] whose columns are being declared: see [`Table::of`].
///
/// A column is added with the function that returns the cell of a row. Columns have the order in
/// which they are added.
#[derive(Debug)]
#[must_use = "a declaration becomes a table by `build`"]
pub struct Declaration<'r, R> {
    rows: &'r [R],
    table: Table,
}

impl<'r, R> Declaration<'r, R> {
    pub(super) fn new(key: &'static str, title: String, rows: &'r [R]) -> Self {
        let cells = rows.iter().map(|_| Vec::new()).collect();
        Declaration {
            rows,
            table: Table { key, title, columns: Vec::new(), rows: cells, limit: None },
        }
    }

    /// Adds a column. `key` names it in options, CSV and JSON, `title` in text.
    pub fn column<C: Into<Cell>>(
        mut self,
        key: &'static str,
        title: impl Into<String>,
        kind: Kind,
        cell: impl Fn(&'r R) -> C,
    ) -> Self {
        self.table.columns.push(Column {
            key,
            title: title.into(),
            kind,
            is_minor: false,
            wraps: false,
        });
        for (row, cells) in self.rows.iter().zip(&mut self.table.rows) {
            cells.push(cell(row).into());
        }
        self
    }

    /// Adds a column of texts.
    pub fn text<C: Into<Cell>>(
        self,
        key: &'static str,
        title: impl Into<String>,
        cell: impl Fn(&'r R) -> C,
    ) -> Self {
        self.column(key, title, Kind::Text, cell)
    }

    /// Adds a column of integers.
    pub fn integer<C: Into<Cell>>(
        self,
        key: &'static str,
        title: impl Into<String>,
        cell: impl Fn(&'r R) -> C,
    ) -> Self {
        self.column(key, title, Kind::Integer, cell)
    }

    /// Adds a column of numbers of things.
    pub fn count<C: Into<Cell>>(
        self,
        key: &'static str,
        title: impl Into<String>,
        cell: impl Fn(&'r R) -> C,
    ) -> Self {
        self.column(key, title, Kind::Count, cell)
    }

    /// Adds a column of numbers of bytes.
    pub fn bytes<C: Into<Cell>>(
        self,
        key: &'static str,
        title: impl Into<String>,
        cell: impl Fn(&'r R) -> C,
    ) -> Self {
        self.column(key, title, Kind::Bytes, cell)
    }

    /// Adds a column of points in time.
    pub fn time<C: Into<Cell>>(
        self,
        key: &'static str,
        title: impl Into<String>,
        cell: impl Fn(&'r R) -> C,
    ) -> Self {
        self.column(key, title, Kind::Time, cell)
    }

    /// Adds a column of numbers.
    pub fn decimal<N: Into<Option<f64>>>(
        self,
        key: &'static str,
        title: impl Into<String>,
        number: impl Fn(&'r R) -> N,
    ) -> Self {
        self.column(key, title, Kind::Decimal, |row| number(row).into().map(Cell::Number))
    }

    /// Adds a column of parts of a whole in per cent.
    pub fn percent<N: Into<Option<f64>>>(
        self,
        key: &'static str,
        title: impl Into<String>,
        number: impl Fn(&'r R) -> N,
    ) -> Self {
        self.column(key, title, Kind::Percent, |row| number(row).into().map(Cell::Number))
    }

    /// Adds a column of lengths of time in ns.
    pub fn duration<N: Into<Option<u64>>>(
        self,
        key: &'static str,
        title: impl Into<String>,
        ns: impl Fn(&'r R) -> N,
    ) -> Self {
        self.column(key, title, Kind::Duration, |row| ns(row).into().map(Cell::Duration))
    }

    /// Adds a column of differences between lengths of time in ns.
    pub fn difference<N: Into<Option<i128>>>(
        self,
        key: &'static str,
        title: impl Into<String>,
        ns: impl Fn(&'r R) -> N,
    ) -> Self {
        self.column(key, title, Kind::Duration, |row| ns(row).into().map(Cell::Difference))
    }

    /// Adds the column of trace indices if `shown`.
    pub fn trace_if(self, shown: bool, index: impl Fn(&'r R) -> TraceIndex) -> Self {
        match shown {
            true => self.integer("trace", "TRACE", |row| index(row).0 as u64),
            false => self,
        }
    }

    /// Marks the last column as minor: text that is too wide leaves it out before others.
    pub fn minor(mut self) -> Self {
        if let Some(column) = self.table.columns.last_mut() {
            column.is_minor = true;
        }
        self
    }

    /// Divides the texts of the last column into several lines if they are too long.
    pub fn wrap(mut self) -> Self {
        if let Some(column) = self.table.columns.last_mut() {
            column.wraps = true;
        }
        self
    }

    /// Sets the greatest number of rows that are shown of each group, which are the first ones; if
    /// the table is [sorted](Table::sort_by), of the whole table. `None` is no limit.
    pub fn at_most<K: Eq + Hash>(
        mut self,
        rows: Option<usize>,
        group: impl Fn(&'r R) -> K,
    ) -> Self {
        let mut numbers = HashMap::new();
        let mut number = |row| {
            let next = numbers.len();
            *numbers.entry(group(row)).or_insert(next)
        };
        self.table.limit =
            rows.map(|rows| Limit { rows, groups: self.rows.iter().map(&mut number).collect() });
        self
    }

    /// Adds columns that several tables have.
    pub fn with(self, columns: impl FnOnce(Self) -> Self) -> Self {
        columns(self)
    }

    /// Returns the table.
    pub fn build(self) -> Table {
        self.table
    }
}
