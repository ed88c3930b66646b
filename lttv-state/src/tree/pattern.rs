//! Pattern matching on attributes.

use super::path::elements;
use super::{Quark, Tree, TreeError};

/// Finds the attributes below `base` that match `pattern`. The result is sorted and has no
/// duplicates.
///
/// For each element of the pattern, the set of matching attributes is replaced by that of
/// their matching children or descendants. The work is at most proportional to the number
/// of elements times that of attributes, apart from sorting.
pub(super) fn matching(tree: &Tree, base: Quark, pattern: &str) -> Result<Vec<Quark>, TreeError> {
    let mut found = vec![base];
    for element in elements(pattern) {
        let element = element?;
        let mut next = Vec::new();
        match &*element.name {
            "*" if !element.escaped => {
                found.iter().for_each(|at| next.extend(tree.children(*at)));
            }
            "**" if !element.escaped => with_descendants(tree, &found, &mut next),
            name => next.extend(found.iter().filter_map(|at| tree.child(*at, name))),
        }
        next.sort_unstable();
        next.dedup();
        found = next;
    }
    found.retain(|quark| *quark != Quark::ROOT);
    Ok(found)
}

fn with_descendants(tree: &Tree, of: &[Quark], into: &mut Vec<Quark>) {
    // One pass suffices, since parents have smaller numbers than their children.
    let mut below = vec![false; tree.index_limit()];
    for quark in of {
        into.push(*quark);
        if let Some(below) = below.get_mut(quark.index()) {
            *below = true;
        }
    }
    let all = of.contains(&Quark::ROOT);
    for quark in tree.quarks() {
        let parent = tree.parent(quark).map_or(usize::MAX, Quark::index);
        if all || below.get(parent) == Some(&true) {
            below[quark.index()] = true;
            into.push(quark);
        }
    }
}
