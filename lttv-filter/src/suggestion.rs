//! Suggestions for misspelt names.

/// Finds the name that is most likely meant by `wanted`: the one that differs by the fewest
/// edits (Levenshtein distance), ignoring letter case, or else the shortest one that starts
/// with `wanted`. Returns `None` if all names differ by more edits than a typing error
/// explains, or if `wanted` has more than 64 bytes.
///
/// ```
/// use lttv_filter::nearest;
///
/// let names = ["statistics", "interrupts"];
/// assert_eq!(nearest("statistisc", names), Some("statistics"));
/// assert_eq!(nearest("stat", names), Some("statistics"));
/// assert_eq!(nearest("disks", names), None);
/// ```
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // People do not type names longer than this, and a comparison costs the product of
    // both lengths.
    const LONGEST: usize = 64;
    if wanted.len() > LONGEST {
        return None;
    }
    let most = wanted.len() / 3 + 1;
    let lower = wanted.to_ascii_lowercase();
    let rank = |name: &'a str| {
        if name.len() > LONGEST {
            return None;
        }
        let other = name.to_ascii_lowercase();
        let is_start = wanted.len() >= 3 && other.starts_with(&lower);
        let edits = match name.len().abs_diff(wanted.len()) <= most {
            true => strsim::levenshtein(&lower, &other),
            false => usize::MAX,
        };
        match edits <= most && edits < name.len().max(2) {
            true => Some((edits, name)),
            // After all that differ by a few edits.
            false => is_start.then_some((LONGEST + name.len(), name)),
        }
    };
    names.into_iter().filter_map(rank).min_by_key(|(rank, _)| *rank).map(|(_, name)| name)
}
