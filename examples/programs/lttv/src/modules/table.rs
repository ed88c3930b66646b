//! Tables with aligned columns.

use std::fmt;

/// A table for people: each column is as wide as its widest entry, numbers are aligned
/// to the right, texts to the left.
#[derive(Debug)]
pub(super) struct Table {
    title: String,
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

#[derive(Debug)]
struct Column {
    name: &'static str,
    is_text: bool,
}

impl Table {
    /// Creates a table without columns.
    pub(super) fn new(title: impl Into<String>) -> Self {
        Table { title: title.into(), columns: Vec::new(), rows: Vec::new() }
    }

    /// Adds a column of texts.
    pub(super) fn text(mut self, name: &'static str) -> Self {
        self.columns.push(Column { name, is_text: true });
        self
    }

    /// Adds columns of numbers.
    pub(super) fn numbers<const N: usize>(mut self, names: [&'static str; N]) -> Self {
        self.columns.extend(names.map(|name| Column { name, is_text: false }));
        self
    }

    /// Adds a row with an entry for each column.
    pub(super) fn row<const N: usize>(&mut self, entries: [String; N]) {
        self.rows.push(entries.into());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title)?;
        if self.rows.is_empty() {
            return writeln!(f, "  none\n");
        }
        let width = |(at, column): (usize, &Column)| {
            let entries = self.rows.iter().filter_map(|row| row.get(at));
            let widths = entries.map(|entry| entry.chars().count());
            widths.max().unwrap_or(0).max(column.name.chars().count())
        };
        let widths: Vec<usize> = self.columns.iter().enumerate().map(width).collect();
        let names = self.columns.iter().map(|column| column.name);
        self.line(f, names, &widths)?;
        for row in &self.rows {
            self.line(f, row.iter().map(String::as_str), &widths)?;
        }
        writeln!(f)
    }
}

impl Table {
    fn line<'t>(
        &self,
        f: &mut fmt::Formatter<'_>,
        entries: impl Iterator<Item = &'t str>,
        widths: &[usize],
    ) -> fmt::Result {
        let mut line = String::new();
        for ((entry, column), width) in entries.zip(&self.columns).zip(widths) {
            line += "  ";
            let blanks = " ".repeat(width.saturating_sub(entry.chars().count()));
            match column.is_text {
                true => line.extend([entry, &blanks]),
                false => line.extend([&blanks, entry]),
            }
        }
        writeln!(f, "{}", line.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new("Disks").text("NAME").numbers(["READS", "us"]);
        assert_eq!(table.to_string(), "Disks\n  none\n\n");
        table.row(["sda".into(), "5".into(), "1234.005".into()]);
        table.row(["é".into(), "123456".into(), "0.005".into()]);
        assert_eq!(
            table.to_string(),
            "Disks\n  NAME   READS        us\n  sda        5  1234.005\n  é     123456     0.005\n\n"
        );
    }
}
