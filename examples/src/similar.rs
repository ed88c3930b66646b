//! Suggestions for misspelt names.

/// Returns the known name that is most similar to another one, if any is similar.
///
/// ```
/// use lttv_examples::similar::similar;
///
/// let names = ["statistics", "interrupts"];
/// assert_eq!(similar("statistic", names), Some("statistics"));
/// assert_eq!(similar("disks", names), None);
/// ```
pub fn similar<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let likeness = |known: &str| (strsim::jaro_winkler(name, known) * 1000.0) as u32;
    let all = known.into_iter().map(|known| (likeness(known), known));
    all.filter(|of| of.0 > 750).max_by_key(|of| of.0).map(|of| of.1)
}
