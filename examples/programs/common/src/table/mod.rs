//! Tabular results, and their forms for people and programs.
//!
//! [`Table::of`] declares each column together with its cells. [`write()`] writes tables:
//!
//! | format | form |
//! |---|---|
//! | text | aligned columns under a title; durations in µs with all digits |
//! | CSV | one table, with a line of column keys; durations and times in ns; an apostrophe before texts that spreadsheets take for formulas |
//! | JSON | one object with a member for each table: a list of objects; durations and times in ns |

mod cell;
mod csv;
mod declaration;
mod json;
mod select;
mod sort;
mod text;

pub use csv::is_formula;

pub use cell::{Cell, Kind, difference, known, percent};
pub use declaration::Declaration;
pub use select::{Select, SelectError};

use std::io::{self, Write};

/// A format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// Tables for people
    #[default]
    Text,
    /// One JSON object; times and durations are in ns
    Json,
    /// Comma-separated values with a line of column names; times and durations are in ns
    Csv,
}

/// A table: columns with a kind, and rows with a cell for each column.
#[derive(Debug, Clone)]
pub struct Table {
    key: &'static str,
    title: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Debug, Clone)]
struct Column {
    /// The name in `--columns`, CSV and JSON.
    key: &'static str,
    /// The name in text.
    title: String,
    kind: Kind,
}

impl Table {
    /// Starts a table with one row for each element of `rows`. `key` names it in options and JSON,
    /// `title` in text.
    ///
    /// ```
    /// use lttv_common::table::Table;
    ///
    /// let disks = [("sda", 5_u64, 1_234_005_u64), ("sdb", 7, 0)];
    /// let table = Table::of("disks", "Disks", &disks)
    ///     .text("disk", "DISK", |disk| disk.0)
    ///     .integer("reads", "READS", |disk| disk.1)
    ///     .duration("busy_ns", "BUSY us", |disk| disk.2)
    ///     .build();
    /// assert_eq!(table.to_json()[1]["disk"], "sdb");
    /// ```
    pub fn of<'r, R>(
        key: &'static str,
        title: impl Into<String>,
        rows: &'r [R],
    ) -> Declaration<'r, R> {
        Declaration::new(key, title.into(), rows)
    }

    /// Returns the name of the table in options and JSON.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// Iterates over the keys of the columns.
    pub fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|column| column.key)
    }

    /// Returns `true` if the table has a column of this key.
    pub fn has_column(&self, key: &str) -> bool {
        self.columns.iter().any(|column| column.key == key)
    }

    /// Returns the rows as a list of JSON objects; durations and times are in ns.
    pub fn to_json(&self) -> serde_json::Value {
        json::rows(self)
    }

    /// Returns the rows in their order.
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }
}

/// Writes tables in a format. In CSV there must be one table: see [`Select::apply`].
///
/// # Errors
///
/// If the output cannot be written.
pub fn write(out: &mut impl Write, format: Format, tables: &[Table]) -> io::Result<()> {
    debug_assert!(
        tables.iter().enumerate().all(|(at, one)| tables[..at].iter().all(|of| of.key != one.key)),
        "two tables have one name, of which parsers of JSON and `--table` see one"
    );
    match format {
        Format::Text => tables.iter().try_for_each(|table| text::write(out, table)),
        Format::Csv => tables.iter().try_for_each(|table| csv::write(out, table)),
        Format::Json => json::write(out, tables),
    }
}

#[cfg(test)]
mod tests {
    use ltt_read::Timestamp;

    use super::*;

    fn table() -> Table {
        let first = Timestamp::from_ns(-5);
        let rows = [
            ("é, \"a\"", 5u64, 1_234_005, Some(12.345_678), Some(first)),
            ("b", 123_456, 5, None, None),
        ];
        Table::of("disks", "Disks", &rows)
            .text("disk", "DISK", |row| row.0)
            .integer("reads", "READS", |row| row.1)
            .duration("busy_ns", "BUSY us", |row| row.2)
            .decimal("busy_percent", "BUSY %", |row| row.3)
            .time("first_ns", "FIRST", |row| row.4)
            .build()
    }

    fn written(format: Format, tables: &[Table]) -> String {
        let mut out = Vec::new();
        write(&mut out, format, tables).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_table_in_all_formats() {
        assert_eq!(
            written(Format::Text, &[table()]),
            "Disks\n  DISK     READS   BUSY us  BUSY %         FIRST\n  \
             é, \"a\"       5  1234.005  12.346  -0.000000005\n  \
             b       123456     0.005\n\n"
        );
        assert_eq!(
            written(Format::Csv, &[table()]),
            "disk,reads,busy_ns,busy_percent,first_ns\n\
             \"é, \"\"a\"\"\",5,1234005,12.345678,-5\nb,123456,5,,\n"
        );
        let json: serde_json::Value =
            serde_json::from_str(&written(Format::Json, &[table()])).unwrap();
        let expected = serde_json::json!({"disks": [
            {"disk": "é, \"a\"", "reads": 5, "busy_ns": 1_234_005, "busy_percent": 12.345_678,
             "first_ns": -5},
            {"disk": "b", "reads": 123_456, "busy_ns": 5, "busy_percent": null, "first_ns": null},
        ]});
        assert_eq!(json, expected);
    }

    #[test]
    fn differences_of_times_have_a_sign() {
        let table = Table::of("t", "T", &[(1_500, 0), (0, 5)])
            .difference("d_ns", "us", |(from, to)| difference(*from, *to))
            .build();
        assert_eq!(
            written(Format::Text, std::slice::from_ref(&table)),
            "T\n      us\n  -1.500\n   0.005\n\n"
        );
        assert_eq!(written(Format::Csv, std::slice::from_ref(&table)), "d_ns\n-1500\n5\n");
        assert!(written(Format::Json, &[table]).contains("\"d_ns\": -1500"));
    }

    #[test]
    fn a_table_without_rows_says_so() {
        let none: [&str; 0] = [];
        let table = Table::of("a", "Nothing here", &none).text("x", "X", |row| *row).build();
        assert_eq!(written(Format::Text, std::slice::from_ref(&table)), "Nothing here\n  none\n\n");
        assert_eq!(written(Format::Csv, std::slice::from_ref(&table)), "x\n");
        assert_eq!(written(Format::Json, &[table]), "{\n  \"a\": []\n}\n");
    }

    #[test]
    fn tables_and_columns_are_selected_by_key() {
        let select = |tables: &[&str], columns: &[&str]| Select {
            tables: tables.iter().map(|&it| it.to_owned()).collect(),
            columns: columns.iter().map(|&it| it.to_owned()).collect(),
        };
        let other =
            || Table::of("cpus", "CPUs", &[0_u32; 0]).integer("cpu", "CPU", |cpu| *cpu).build();
        let csv = |select: Select| {
            let tables = select.apply(Format::Csv, vec![other(), table()])?;
            Ok::<_, SelectError>(written(Format::Csv, &tables))
        };
        assert_eq!(
            csv(select(&["disks"], &["reads", "disk"])).unwrap(),
            "reads,disk\n5,\"é, \"\"a\"\"\"\n123456,b\n"
        );
        // The columns determine the table.
        assert_eq!(csv(select(&[], &["cpu"])).unwrap(), "cpu\n");
        for (wrong, message) in [
            (select(&[], &[]), "CSV contains one table: choose it with --table from cpus, disks"),
            (
                select(&["disk"], &[]),
                "there is no table `disk`, but cpus, disks; did you mean `disks`?",
            ),
            (
                select(&["disks"], &["read"]),
                "there is no column `read`, but disk, reads, busy_ns, busy_percent, first_ns; \
              did you mean `reads`?",
            ),
        ] {
            assert_eq!(csv(wrong).unwrap_err().to_string(), message);
        }
    }
}
