//! Suggestions for misspelt names.

/// Finds the candidate that differs from `wanted` by the fewest edits (Levenshtein
/// distance), ignoring letter case. Returns `None` if all candidates differ by more edits
/// than a typing error explains, or if `wanted` has more than 64 bytes.
pub(crate) fn nearest<'a>(
    wanted: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // People do not type names longer than this, and a comparison costs the product of
    // both lengths.
    const LONGEST: usize = 64;
    if wanted.len() > LONGEST {
        return None;
    }
    let most = wanted.len() / 3 + 1;
    candidates
        .into_iter()
        .filter(|c| c.len() <= LONGEST && c.len().abs_diff(wanted.len()) <= most)
        .map(|c| (distance(wanted.as_bytes(), c.as_bytes()), c))
        .filter(|&(d, c)| d <= most && d < c.len().max(2))
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

/// Computes the Levenshtein distance of two names, ignoring letter case.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replace = diagonal + usize::from(!ca.eq_ignore_ascii_case(cb));
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn misspellings_are_found_and_other_names_are_not() {
        let names = ["byte-order", "alignment", "length", "roles"];
        assert_eq!(nearest("byte_order", names), Some("byte-order"));
        assert_eq!(nearest("Length", names), Some("length"));
        assert_eq!(nearest("role", names), Some("roles"));
        assert_eq!(nearest("covid", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest(&"x".repeat(100_000), names), None);
    }
}
