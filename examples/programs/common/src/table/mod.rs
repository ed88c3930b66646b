//! Tabular results, and their forms for people and programs.
//!
//! [`Table::of`] declares each column together with its cells. [`write()`] writes tables:
//!
//! | format | form |
//! |---|---|
//! | text | aligned columns under a title, in units for people; as many as fit the [width](TextStyle) |
//! | CSV | one table, with a line of column keys; durations and times in ns; an apostrophe before texts that spreadsheets take for formulas |
//! | JSON | one object with a member for each table: a list of objects; durations and times in ns |

mod cell;
mod csv;
mod declaration;
mod fit;
mod json;
mod number;
mod select;
mod sort;
mod style;
mod text;

pub use csv::is_formula;

pub use cell::{Cell, Kind, difference, known, percent};
pub use declaration::Declaration;
pub use select::{Select, SelectError};
pub use style::TextStyle;

use std::io::{self, Write};

/// The version of the output as JSON: see docs/json. It increases when a member is removed, or has another meaning.
pub const JSON_VERSION: u32 = 1;

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
    limit: Option<Limit>,
}

/// The greatest number of rows that are shown.
#[derive(Debug, Clone)]
struct Limit {
    rows: usize,
    /// The number of the group of each row: the limit holds for each of them.
    groups: Vec<usize>,
}

/// A column of a table.
#[derive(Debug, Clone)]
struct Column {
    /// The name in `--columns`, CSV and JSON.
    key: &'static str,
    /// The name in text.
    title: String,
    kind: Kind,
    /// `true` for a column that too narrow lines leave out before others.
    is_minor: bool,
    /// `true` for texts that have several lines if they are too long, instead of losing their end.
    wraps: bool,
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
    ///     .count("reads", "READS", |disk| disk.1)
    ///     .duration("busy_ns", "BUSY", |disk| disk.2)
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

    /// Returns the name of the table in text.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Iterates over the keys of the columns and their names in text.
    pub fn titles(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.columns.iter().map(|column| (column.key, &*column.title))
    }

    /// Iterates over the keys of the columns and the kinds of their values.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, Kind)> {
        self.columns.iter().map(|column| (column.key, column.kind))
    }

    /// Returns `true` if the table has a column of this key.
    pub fn has_column(&self, key: &str) -> bool {
        self.columns.iter().any(|column| column.key == key)
    }

    /// Returns the rows as a list of JSON objects; durations and times are in ns.
    pub fn to_json(&self) -> serde_json::Value {
        json::rows(self)
    }

    /// Iterates over the rows in their order, up to the [limit](Declaration::at_most).
    pub fn rows(&self) -> impl Iterator<Item = &[Cell]> {
        let mut counts = vec![0; self.limit.as_ref().map_or(0, |limit| limit.groups.len())];
        let mut is_shown = move |at: usize| {
            let Some(limit) = &self.limit else { return true };
            let count = &mut counts[limit.groups[at]];
            *count += 1;
            *count <= limit.rows
        };
        let rows = self.rows.iter().enumerate();
        rows.filter_map(move |(at, row)| is_shown(at).then_some(&row[..]))
    }

    /// Returns `true` if the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Returns a table of tables: their names in options, and those of their columns.
pub fn contents(tables: &[Table]) -> Table {
    Table::of("tables", "Tables and their columns, for --table, --columns and --sort", tables)
        .text("table", "TABLE", |table| table.key)
        .text("columns", "COLUMNS", |table| table.columns().collect::<Vec<_>>().join(" "))
        .wrap()
        .build()
}

/// Writes tables in a format. In CSV there must be one table: see [`Select::apply`]. The style is
/// that of text.
///
/// # Errors
///
/// If the output cannot be written.
pub fn write(
    out: &mut impl Write,
    format: Format,
    style: &TextStyle,
    tables: &[Table],
) -> io::Result<()> {
    // Text for people may have one of each trace.
    debug_assert!(
        format == Format::Text
            || tables
                .iter()
                .enumerate()
                .all(|(at, one)| tables[..at].iter().all(|of| of.key != one.key)),
        "two tables have one name, of which parsers of JSON and `--table` see one"
    );
    match format {
        Format::Text => tables.iter().try_for_each(|table| text::write(out, style, table)),
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
            .count("reads", "READS", |row| row.1)
            .duration("busy_ns", "BUSY", |row| row.2)
            .percent("busy_percent", "BUSY %", |row| row.3)
            .time("first_ns", "FIRST", |row| row.4)
            .build()
    }

    fn written(format: Format, tables: &[Table]) -> String {
        let mut out = Vec::new();
        let style = TextStyle { thousands: ",", ..TextStyle::default() };
        write(&mut out, format, &style, tables).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_table_in_all_formats() {
        assert_eq!(
            written(Format::Text, &[table()]),
            "Disks\n  DISK      READS      BUSY  BUSY %         FIRST\n  \
             é, \"a\"        5  1.234 ms   12.35  -0.000000005\n  \
             b       123,456      5 ns\n\n"
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
            "T\n       us\n  -1.5 µs\n     5 ns\n\n"
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
    fn narrow_text_names_what_it_leaves_out_and_divides_texts() {
        let rows = [("vda", 99.5, "requests of the journal, and of its file system", 7_u64)];
        let table = Table::of("t", "Disks with a title that is too long", &rows)
            .text("disk", "DISK", |row| row.0)
            .percent("busy_percent", "BUSY %", |row| row.1)
            .text("use", "USE", |row| row.2)
            .wrap()
            .count("errors", "ERRORS", |row| row.3)
            .minor()
            .build();
        let lines = |width| {
            let style = TextStyle { width: Some(width), ..TextStyle::default() };
            let mut out = Vec::new();
            write(&mut out, Format::Text, &style, std::slice::from_ref(&table)).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            lines(32),
            "Disks with a title that is too\nlong\n  DISK  BUSY %  USE\n  \
             vda    99.50  requests of the\n                journal, and of\n                its file system\n  \
             1 more column with --wide: ER…\n\n"
        );
        assert_eq!(
            lines(100).lines().nth(2).unwrap(),
            "  vda    99.50  ██████████  requests of the journal, and of its file system       7"
        );
    }

    #[test]
    fn sorted_rows_share_the_limit_of_groups() {
        let rows = [(0, 5), (0, 9), (1, 7), (1, 8), (1, 1)];
        let table = Table::of("t", "T", &rows)
            .integer("group", "GROUP", |row| row.0)
            .count("count", "COUNT", |row| row.1)
            .at_most(Some(2), |row| row.0)
            .build();
        let csv = |sort: Option<&str>| {
            let select = Select { sort: sort.map(str::to_owned), ..Select::default() };
            let tables = select.apply(Format::Csv, vec![table.clone()])?;
            Ok::<_, SelectError>(written(Format::Csv, &tables))
        };
        assert_eq!(csv(None).unwrap(), "group,count\n0,5\n0,9\n1,7\n1,8\n");
        assert_eq!(csv(Some("count")).unwrap(), "group,count\n0,9\n1,8\n");
        assert_eq!(
            csv(Some("coun")).unwrap_err().to_string(),
            "--sort: there is no column `coun`, but group, count; did you mean `count`?"
        );
    }

    #[test]
    fn tables_and_columns_are_selected_by_key() {
        let select = |tables: &[&str], columns: &[&str]| Select {
            tables: tables.iter().map(|&it| it.to_owned()).collect(),
            columns: columns.iter().map(|&it| it.to_owned()).collect(),
            sort: None,
            top: None,
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
