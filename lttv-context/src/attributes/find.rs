//! Searching attributes by pattern.

use super::key::AttributeId;
use super::name::Name;
use super::path::{Part, Pattern};
use super::tree::Attributes;

impl Attributes {
    /// Finds the attributes whose paths match a pattern. Each is returned once, a tree before its
    /// contents, and siblings in their order.
    ///
    /// Components without wildcards are looked up. With wildcards, the time is at most proportional
    /// to the product of the number of attributes and the number of components of the pattern.
    ///
    /// ```
    /// use lttv_context::attributes::{Attributes, Pattern};
    ///
    /// let mut attributes = Attributes::new();
    /// for path in ["cpu/[0]/irq/events", "cpu/[0]/events", "cpu/[1]/events"] {
    ///     attributes.entry_at::<u64>(path)?;
    /// }
    /// let pattern: Pattern = "cpu/*/events".parse()?;
    /// assert_eq!(attributes.find(&pattern).count(), 2);
    ///
    /// let pattern: Pattern = "cpu/**/events".parse()?;
    /// let paths = attributes.find(&pattern).filter_map(|id| attributes.path(id));
    /// let paths: Vec<String> = paths.map(|path| path.to_string()).collect();
    /// assert_eq!(paths, ["/cpu/[0]/irq/events", "/cpu/[0]/events", "/cpu/[1]/events"]);
    /// # Ok::<(), lttv_context::attributes::AttributeError>(())
    /// ```
    pub fn find<'a>(&'a self, pattern: &'a Pattern) -> impl Iterator<Item = AttributeId> {
        let start = States::start(pattern);
        Find { tree: self, pattern, pending: vec![(AttributeId::ROOT, start)] }
    }
}

/// The states of the pattern as a nondeterministic automaton: bit `i` is set if a path may have
/// matched `i` components of the pattern. A pattern has at most 63 components, so 64 bits
/// suffice.
#[derive(Debug, Clone, Copy)]
struct States(u64);

impl States {
    fn start(pattern: &Pattern) -> Self {
        States(0).with(0, pattern)
    }

    /// Adds a state, and the states after it that match without a further name.
    fn with(self, state: usize, pattern: &Pattern) -> Self {
        let skipped = pattern.parts[state..].iter().take_while(|part| **part == Part::AnyDepth);
        (state..=state + skipped.count())
            .fold(self, |states, state| States(states.0 | (1 << state)))
    }

    fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let state = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(state)
        })
    }

    /// Computes the states after one more name.
    fn after(self, name: Name<'_>, pattern: &Pattern) -> Self {
        self.iter().fold(States(0), |after, state| match pattern.parts.get(state) {
            Some(Part::AnyDepth) => after.with(state, pattern),
            Some(Part::Any) => after.with(state + 1, pattern),
            Some(Part::Name(wanted)) if wanted.borrowed() == name => after.with(state + 1, pattern),
            Some(Part::Name(_)) | None => after,
        })
    }

    fn matches(self, pattern: &Pattern) -> bool {
        (self.0 >> pattern.parts.len()) & 1 == 1
    }

    /// Returns the only name with which a longer path could match, if there is only one.
    fn only_name(self, pattern: &Pattern) -> Option<Name<'_>> {
        let mut parts = self.iter().filter_map(|state| pattern.parts.get(state));
        match (parts.next(), parts.next()) {
            (Some(Part::Name(name)), None) => Some(name.borrowed()),
            _ => None,
        }
    }
}

struct Find<'a> {
    tree: &'a Attributes,
    pattern: &'a Pattern,
    /// The attributes to visit, the next one last.
    pending: Vec<(AttributeId, States)>,
}

impl Iterator for Find<'_> {
    type Item = AttributeId;

    fn next(&mut self) -> Option<AttributeId> {
        while let Some((id, states)) = self.pending.pop() {
            let (tree, pattern) = (self.tree, self.pattern);
            if let Some(name) = states.only_name(pattern) {
                let child = tree.child(id, name);
                self.pending.extend(child.map(|id| (id, states.after(name, pattern))));
            } else {
                let children = tree.children(id).rev();
                let steps = children.filter_map(|child| {
                    let after = states.after(tree.name(child)?, pattern);
                    (after.0 != 0).then_some((child, after))
                });
                self.pending.extend(steps);
            }
            if states.matches(pattern) {
                return Some(id);
            }
        }
        None
    }
}
