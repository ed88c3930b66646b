//! Selection of tables and columns by their keys.

use super::{Format, Limit, Table};
use lttv_filter::nearest;

/// The tables and columns to write, in this order; all if empty, and the order of their rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Select {
    /// The keys of the tables.
    pub tables: Vec<String>,
    /// The keys of the columns.
    pub columns: Vec<String>,
    /// The key of the column that orders the rows of the tables that have it.
    pub sort: Option<String>,
    /// The greatest number of rows of tables that have no [limit](super::Declaration::at_most) of their own; 0 for all.
    pub top: Option<usize>,
}

/// An error from selecting tables and columns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// No table has this key.
    #[error("there is no table `{name}`, but {known}{}", hint(.meant))]
    Table {
        /// The key.
        name: String,
        /// The keys of all tables.
        known: String,
        /// The most similar key.
        meant: Option<String>,
    },
    /// No selected table has a column of this key.
    #[error("there is no column `{name}`, but {known}{}", hint(.meant))]
    Column {
        /// The key.
        name: String,
        /// The keys of all columns.
        known: String,
        /// The most similar key.
        meant: Option<String>,
    },
    /// No selected table has a column of this key to sort by.
    #[error("--sort: {0}")]
    Sort(Box<SelectError>),
    /// Several tables are left, but the format contains one.
    #[error("CSV contains one table: choose it with --table from {0}")]
    Several(String),
}

fn hint(meant: &Option<String>) -> String {
    meant.as_ref().map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"))
}

impl SelectError {
    /// Creates the error for a missing column, with the keys of all columns.
    pub(super) fn column<'k>(name: &str, keys: impl Iterator<Item = &'k str>) -> Self {
        let (known, meant) = described(name, keys);
        SelectError::Column { name: name.to_owned(), known, meant }
    }
}

impl Select {
    /// Returns the selected tables with the selected columns. Tables without any of these columns
    /// are left out.
    ///
    /// # Errors
    ///
    /// If a key does not exist, or if several tables remain for CSV.
    pub fn apply(&self, format: Format, tables: Vec<Table>) -> Result<Vec<Table>, SelectError> {
        let mut chosen = self.choose(tables)?;
        if let Some(key) = &self.sort {
            let mut has_column = false;
            for table in chosen.iter_mut().filter(|table| table.has_column(key)) {
                table.sort_by(key)?;
                has_column = true;
            }
            if !has_column {
                let keys = chosen.iter().flat_map(Table::columns);
                return Err(SelectError::Sort(Box::new(SelectError::column(key, keys))));
            }
        }
        for table in chosen.iter_mut().filter(|table| table.limit.is_none()) {
            let groups = || vec![0; table.rows.len()];
            let limit = self.top.filter(|rows| *rows > 0);
            table.limit = limit.map(|rows| Limit { rows, groups: groups() });
        }
        if !self.columns.is_empty() {
            let keys = || chosen.iter().flat_map(|table| table.columns.iter().map(|it| it.key));
            for name in &self.columns {
                if !keys().any(|key| key == name) {
                    return Err(SelectError::column(name, keys()));
                }
            }
            chosen = chosen.iter().filter_map(|table| self.columns_of(table)).collect();
        }
        if format == Format::Csv && chosen.len() > 1 {
            let (known, _) = described("", chosen.iter().map(|table| table.key));
            return Err(SelectError::Several(known));
        }
        Ok(chosen)
    }

    /// Returns the tables of the selected keys.
    fn choose(&self, tables: Vec<Table>) -> Result<Vec<Table>, SelectError> {
        if self.tables.is_empty() {
            return Ok(tables);
        }
        let mut chosen = Vec::new();
        for name in &self.tables {
            let before = chosen.len();
            chosen.extend(tables.iter().filter(|table| table.key == name).cloned());
            if chosen.len() == before {
                let (known, meant) = described(name, tables.iter().map(|table| table.key));
                return Err(SelectError::Table { name: name.clone(), known, meant });
            }
        }
        Ok(chosen)
    }

    /// Returns the table with the selected columns; `None` if it has none of them.
    fn columns_of(&self, table: &Table) -> Option<Table> {
        let place = |name: &String| table.columns.iter().position(|column| column.key == name);
        let places: Vec<usize> = self.columns.iter().filter_map(place).collect();
        (!places.is_empty()).then(|| Table {
            key: table.key,
            title: table.title.clone(),
            columns: places.iter().map(|&at| table.columns[at].clone()).collect(),
            rows: (table.rows.iter())
                .map(|row| places.iter().map(|&at| row[at].clone()).collect())
                .collect(),
            limit: table.limit.clone(),
        })
    }
}

/// Returns a list of keys, each once, and the key that is most similar to `name`, if any is.
fn described<'k>(name: &str, keys: impl Iterator<Item = &'k str>) -> (String, Option<String>) {
    let mut known: Vec<&str> = Vec::new();
    for key in keys {
        if !known.contains(&key) {
            known.push(key);
        }
    }
    (known.join(", "), nearest(name, known.iter().copied()).map(str::to_owned))
}
