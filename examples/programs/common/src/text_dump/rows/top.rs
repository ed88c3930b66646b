//! The rows with the greatest numbers, of which only these are kept.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::text::Text;

/// A number by which rows are compared: the nearest floating-point number, then the integer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number(f64, i128);

impl Number {
    pub(super) fn integer(value: i128) -> Self {
        Number(value as f64, value)
    }

    pub(super) fn float(value: f64) -> Self {
        Number(value, 0)
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// A row that is kept. The order is that of numbers, then the reverse one of reading.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kept {
    number: Number,
    place: Reverse<u64>,
    row: Vec<u8>,
}

/// The rows with the greatest numbers.
#[derive(Debug)]
pub(super) struct Top {
    most: usize,
    /// The least kept row is on top.
    kept: BinaryHeap<Reverse<Kept>>,
    offered: u64,
}

impl Top {
    /// Creates a collection of at most this many rows.
    pub(super) fn new(most: usize) -> Self {
        Top { most, kept: BinaryHeap::new(), offered: 0 }
    }

    /// Returns an empty row to fill.
    pub(super) fn row(&mut self) -> Text {
        Text::default()
    }

    /// Returns `true` if a row with this number is kept. Of equal numbers, the first ones read are.
    pub(super) fn accepts(&self, number: Option<Number>) -> bool {
        let Some(number) = number else { return false };
        match self.kept.peek() {
            _ if self.kept.len() < self.most => true,
            Some(Reverse(least)) => number > least.number,
            None => false,
        }
    }

    /// Keeps a row if it is among those with the greatest numbers.
    pub(super) fn offer(&mut self, number: Option<Number>, row: Text) {
        let Some(number) = number.filter(|_| self.accepts(number)) else { return };
        let place = Reverse(self.offered);
        self.offered += 1;
        self.kept.push(Reverse(Kept { number, place, row: row.as_bytes().to_vec() }));
        if self.kept.len() > self.most {
            self.kept.pop();
        }
    }

    /// Returns the rows, the greatest number first.
    pub(super) fn into_rows(self) -> impl Iterator<Item = Vec<u8>> {
        self.kept.into_sorted_vec().into_iter().map(|Reverse(kept)| kept.row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_are_kept_and_the_first_of_equal_ones() {
        let mut top = Top::new(3);
        for (value, name) in [(5, "a"), (9, "b"), (1, "c"), (9, "d"), (5, "e"), (-2, "f")] {
            let mut row = top.row();
            row.append(name.as_bytes());
            top.offer(Some(Number::integer(value)), row);
        }
        top.offer(None, Text::default());
        let rows: Vec<_> = top.into_rows().collect();
        assert_eq!(rows, [b"b", b"d", b"a"]);
    }

    #[test]
    fn numbers_beyond_those_of_floating_point_differ() {
        let time = 1_795_233_416_237_946_824;
        assert!(Number::integer(time + 1) > Number::integer(time));
        assert!(Number::float(0.5) > Number::integer(0));
    }
}
