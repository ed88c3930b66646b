//! The search for a row by a number or a part of its name.

/// The text that the user types to find a row.
///
/// A number finds the rows that have it, such as a TID or PID. If none has it, and for any
/// other text, those are found whose names contain the text. Capital letters matter only if
/// the text contains any.
///
/// ```
/// use lttv_tui::model::row_search::{RowQuery, Step};
///
/// let rows = [(vec![7], "kworker/0:0"), (vec![215, 210], "cat"), (vec![218, 210], "cat")];
/// let find = |text: &str, from, step| {
///     RowQuery::new(text)?.find(rows.iter().map(|(ids, name)| (&**ids, *name)), from, step)
/// };
/// let row = |text: &str, from, step| find(text, from, step).map(|found| found.row);
/// assert_eq!(row("cat", 0, Step::Here), Some(1));
/// assert_eq!(row("cat", 1, Step::Next), Some(2));
/// assert_eq!(row("cat", 2, Step::Next), Some(1)); // from the first row on again
/// assert_eq!(row("210", 0, Step::Previous), Some(2));
/// assert_eq!(row("0:0", 2, Step::Here), Some(0));
/// assert_eq!(row("dog", 0, Step::Here), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowQuery {
    text: String,
    number: Option<i64>,
}

/// The direction of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The first match from the current row on.
    Here,
    /// The next match after the current row.
    Next,
    /// The last match before the current row.
    Previous,
}

/// A row that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The index of the row.
    pub row: usize,
    /// The number of the row among those that match, from 1.
    pub number: usize,
    /// The number of rows that match.
    pub of: usize,
}

impl RowQuery {
    /// Creates a query. `None` if the text is blank.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let number = text.parse().ok();
        (!text.is_empty()).then(|| RowQuery { text: text.to_owned(), number })
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Finds a row. The rows are given by their numbers and names. A search that reaches the
    /// last row continues at the first one.
    pub fn find<'r>(
        &self,
        rows: impl Iterator<Item = (&'r [i64], &'r str)> + Clone,
        from: usize,
        step: Step,
    ) -> Option<Found> {
        let indices = |is_match: &dyn Fn(&[i64], &str) -> bool| {
            let all = rows.clone().enumerate();
            let matching = all.filter(|(_, (ids, name))| is_match(ids, name));
            matching.map(|(row, _)| row).collect::<Vec<_>>()
        };
        let mut found = match self.number {
            Some(number) => indices(&|ids, _| ids.contains(&number)),
            None => Vec::new(),
        };
        if found.is_empty() {
            found = indices(&|_, name| self.is_in(name));
        }
        let before = found.partition_point(|row| *row < from);
        let here = found.get(before) == Some(&from);
        let at = match step {
            Step::Here => before,
            Step::Next => before + usize::from(here),
            Step::Previous => before.checked_sub(1).unwrap_or(found.len().wrapping_sub(1)),
        };
        let at = if at < found.len() { at } else { 0 };
        Some(Found { row: *found.get(at)?, number: at + 1, of: found.len() })
    }

    /// Returns `true` if a name contains the text.
    fn is_in(&self, name: &str) -> bool {
        match self.text.chars().any(char::is_uppercase) {
            true => name.contains(&self.text),
            false => name.to_lowercase().contains(&self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_precedence_over_a_part_of_a_name() {
        let rows = [(vec![1_i64], "task 7"), (vec![7], "init"), (vec![9], "Seven 8")];
        let find = |text: &str| {
            let rows = rows.iter().map(|(ids, name)| (&**ids, *name));
            RowQuery::new(text)?.find(rows, 0, Step::Here).map(|found| (found.row, found.of))
        };
        assert_eq!(find("7"), Some((1, 1)));
        assert_eq!(find("8"), Some((2, 1)));
        assert_eq!(find("seven"), Some((2, 1)));
        assert_eq!(find("SEVEN"), None);
        assert_eq!(find("  "), None);
    }

    #[test]
    fn every_match_is_reached_in_both_directions() {
        let rows = ["a", "b", "ab", "c", "ba"];
        let query = RowQuery::new("a").expect("not blank");
        for from in 0..rows.len() {
            for step in [Step::Next, Step::Previous] {
                let (mut at, mut seen) = (from, Vec::new());
                for _ in 0..3 {
                    let rows = rows.iter().map(|name| (&[] as &[i64], *name));
                    let found = query.find(rows, at, step).expect("three match");
                    assert_eq!((found.of, [0, 2, 4][found.number - 1]), (3, found.row));
                    at = found.row;
                    seen.push(at);
                }
                seen.sort_unstable();
                assert_eq!(seen, [0, 2, 4], "{from} {step:?}");
            }
        }
    }
}
