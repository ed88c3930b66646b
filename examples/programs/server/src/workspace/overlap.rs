//! Groups of traces that were recorded at the same time.

/// Returns the numbers of the spans, which have a start and an end in ns, in groups: two are in one group if they
/// overlap, or if others between them do. A span that is not known is in the first group.
///
/// ```
/// use lttv_server::workspace::overlapping;
///
/// let spans = [Some((10, 20)), Some((50, 60)), Some((15, 30)), Some((30, 40)), None];
/// assert_eq!(overlapping(&spans), [vec![0, 2, 3, 4], vec![1]]);
/// ```
pub fn overlapping(spans: &[Option<(i64, i64)>]) -> Vec<Vec<usize>> {
    let mut order: Vec<(i64, i64, usize)> = spans
        .iter()
        .enumerate()
        .filter_map(|(number, span)| span.map(|(start, end)| (start, end, number)))
        .collect();
    order.sort_unstable();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut last = None;
    for (start, end, number) in order {
        match groups.last_mut().filter(|_| last.is_some_and(|last| start <= last)) {
            Some(group) => group.push(number),
            None => groups.push(vec![number]),
        }
        last = last.max(Some(end));
    }
    let unknown = spans.iter().enumerate().filter(|(_, span)| span.is_none());
    let unknown: Vec<usize> = unknown.map(|(number, _)| number).collect();
    match groups.first_mut() {
        Some(first) => first.extend(unknown),
        None if !unknown.is_empty() => groups.push(unknown),
        None => {}
    }
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups
}
