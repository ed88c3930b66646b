//! The order of texts that contain numbers.

use std::cmp::Ordering;

/// Compares texts, with the numbers in them as numbers. Texts that start with a number come
/// first.
pub(crate) fn compare(mut a: &str, mut b: &str) -> Ordering {
    loop {
        let (a_digits, a_rest) = split_at_end(a, |c| c.is_ascii_digit());
        let (b_digits, b_rest) = split_at_end(b, |c| c.is_ascii_digit());
        let number = |digits: &str| digits.parse::<u64>().ok();
        let by_number = a_digits.is_empty().cmp(&b_digits.is_empty());
        let by_number = by_number.then_with(|| number(a_digits).cmp(&number(b_digits)));
        let (a_text, a_rest) = split_at_end(a_rest, |c| !c.is_ascii_digit());
        let (b_text, b_rest) = split_at_end(b_rest, |c| !c.is_ascii_digit());
        let order = by_number.then_with(|| a_text.cmp(b_text));
        if order.is_ne() || a_rest.is_empty() || b_rest.is_empty() {
            return order.then_with(|| a.cmp(b));
        }
        (a, b) = (a_rest, b_rest);
    }
}

/// Splits a text where a predicate of characters first fails.
fn split_at_end(text: &str, holds: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !holds(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_sorted_by_the_numbers_in_them() {
        let sorted =
            ["0", "2", "7-0.0 [2]", "7-0.0 [10]", "7-1.5", "10-0.0", "a", "b2", "b10", "c"];
        for (at, a) in sorted.iter().enumerate() {
            for (other, b) in sorted.iter().enumerate() {
                assert_eq!(compare(a, b), at.cmp(&other), "{a} {b}");
            }
        }
    }
}
