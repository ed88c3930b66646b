//! Lists of pairs, such as labels with their fields.

/// Returns the pairs of a list such as `a=b, c`; a name alone is paired with itself.
pub(super) fn pairs(text: &str) -> Vec<(&str, &str)> {
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| part.split_once('=').map_or((part, part), |(a, b)| (a.trim(), b.trim())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn a_name_alone_is_paired_with_itself() {
        assert_eq!(pairs("a=b, c"), [("a", "b"), ("c", "c")]);
    }
}
