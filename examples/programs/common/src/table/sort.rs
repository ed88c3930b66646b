//! The order of rows.

use std::cmp::Ordering;

use super::{Cell, Kind, SelectError, Table};

impl Table {
    /// Sorts the rows by a column: numbers, times and durations with the greatest first, texts in
    /// alphabetical order, empty cells last. Equal rows stay in their order. A
    /// [limit](super::Declaration::at_most) is then that of the table.
    ///
    /// # Errors
    ///
    /// If there is no column of this key.
    pub fn sort_by(&mut self, key: &str) -> Result<(), SelectError> {
        let Some(at) = self.columns.iter().position(|column| column.key == key) else {
            return Err(SelectError::column(key, self.columns.iter().map(|column| column.key)));
        };
        let is_text = self.columns[at].kind == Kind::Text;
        // Groups are no longer together.
        if let Some(limit) = &mut self.limit {
            limit.groups.fill(0);
        }
        self.rows.sort_by(|a, b| {
            let (a, b) = (&a[at], &b[at]);
            match (a, b) {
                (Cell::Empty, Cell::Empty) => Ordering::Equal,
                (Cell::Empty, _) => Ordering::Greater,
                (_, Cell::Empty) => Ordering::Less,
                _ if is_text => compare(a, b),
                _ => compare(b, a),
            }
        });
        Ok(())
    }
}

/// Compares cells of the same kind.
fn compare(a: &Cell, b: &Cell) -> Ordering {
    match (a, b) {
        (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
        (Cell::Integer(a), Cell::Integer(b)) => a.cmp(b),
        (Cell::Number(a), Cell::Number(b)) => a.total_cmp(b),
        (Cell::Time(a), Cell::Time(b)) => a.cmp(b),
        (Cell::Duration(a), Cell::Duration(b)) => a.cmp(b),
        (Cell::Difference(a), Cell::Difference(b)) => a.cmp(b),
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_numbers_and_the_first_texts_come_first() {
        let rows = [("b", Some(5)), ("c", None), ("a", Some(9)), ("d", Some(9))];
        let mut table = Table::of("t", "T", &rows)
            .text("name", "NAME", |row| row.0)
            .duration("time_ns", "TIME", |row| row.1)
            .build();
        let order =
            |table: &Table| -> Vec<Cell> { table.rows().map(|row| row[0].clone()).collect() };
        table.sort_by("time_ns").unwrap();
        assert_eq!(order(&table), ["a", "d", "b", "c"].map(Cell::from));
        table.sort_by("name").unwrap();
        assert_eq!(order(&table), ["a", "b", "c", "d"].map(Cell::from));
        assert_eq!(
            table.sort_by("time_n").unwrap_err().to_string(),
            "there is no column `time_n`, but name, time_ns; did you mean `time_ns`?"
        );
    }

    #[test]
    fn the_greatest_differences_come_first() {
        let mut table = Table::of("t", "T", &[-5, 9, 2]).difference("d_ns", "us", |ns| *ns).build();
        table.sort_by("d_ns").unwrap();
        let expected = [9, 2, -5].map(|ns| vec![Cell::Difference(ns)]);
        assert_eq!(table.rows().collect::<Vec<_>>(), expected);
    }
}
