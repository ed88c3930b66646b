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
    let lower = wanted.to_ascii_lowercase();
    candidates
        .into_iter()
        .filter(|name| name.len() <= LONGEST && name.len().abs_diff(wanted.len()) <= most)
        .map(|name| (strsim::levenshtein(&lower, &name.to_ascii_lowercase()), name))
        .filter(|&(edits, name)| edits <= most && edits < name.len().max(2))
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, name)| name)
}
