//! Call paths: a trie of the functions that called each other.

use hashbrown::HashMap;

use super::functions::{FunctionId, RawCode};

/// The maximum number of call paths of a trace.
pub(super) const MAX_PATHS: usize = 1 << 20;

/// The number of children that are searched in a list. Most functions call few others.
const LISTED: u32 = 8;

/// The number of a call path among those of a trace. A path has a greater number than those of its
/// callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub(crate) u32);

impl PathId {
    /// The path of all calls beyond the maximum number of paths.
    pub(crate) const OMITTED: PathId = PathId(0);
    const NONE: PathId = PathId(u32::MAX);

    /// Returns the number, to index an array.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node of the trie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) code: RawCode,
    pub(crate) parent: PathId,
    /// The function; `None` for a root.
    pub(crate) function: Option<FunctionId>,
    first_child: PathId,
    next_sibling: PathId,
    children: u32,
}

/// The call paths of a trace.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    nodes: Vec<Node>,
    /// The children after the first ones, by parent and code.
    more: HashMap<(PathId, RawCode), PathId>,
}

impl Default for Paths {
    fn default() -> Self {
        let mut paths = Paths { nodes: Vec::new(), more: HashMap::new() };
        paths.add_root();
        paths
    }
}

impl Paths {
    /// Adds the root of a thread.
    pub(crate) fn add_root(&mut self) -> PathId {
        self.push(RawCode::NONE, PathId::NONE, None)
    }

    fn push(&mut self, code: RawCode, parent: PathId, function: Option<FunctionId>) -> PathId {
        if self.nodes.len() >= MAX_PATHS {
            return PathId::OMITTED;
        }
        let (first_child, next_sibling) = (PathId::NONE, PathId::NONE);
        self.nodes.push(Node { code, parent, function, first_child, next_sibling, children: 0 });
        PathId((self.nodes.len() - 1) as u32)
    }

    /// Returns the path of a call from another path; [`PathId::OMITTED`] if there are too many
    /// paths. `function` is called for a new path.
    #[inline]
    pub(crate) fn child(
        &mut self,
        parent: PathId,
        code: RawCode,
        function: impl FnOnce() -> FunctionId,
    ) -> PathId {
        let of = &self.nodes[parent.index()];
        let mut child = of.first_child;
        while child != PathId::NONE {
            let node = &self.nodes[child.index()];
            if node.code == code {
                return child;
            }
            child = node.next_sibling;
        }
        if of.children > LISTED
            && let Some(found) = self.more.get(&(parent, code))
        {
            return *found;
        }
        self.add_child(parent, code, function)
    }

    #[cold]
    fn add_child(
        &mut self,
        parent: PathId,
        code: RawCode,
        function: impl FnOnce() -> FunctionId,
    ) -> PathId {
        if parent == PathId::OMITTED || self.nodes.len() >= MAX_PATHS {
            return PathId::OMITTED;
        }
        let child = self.push(code, parent, Some(function()));
        let of = &mut self.nodes[parent.index()];
        of.children += 1;
        if of.children <= LISTED {
            let next = std::mem::replace(&mut of.first_child, child);
            self.nodes[child.index()].next_sibling = next;
        } else {
            self.more.insert((parent, code), child);
        }
        child
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, path: PathId) -> Option<&Node> {
        self.nodes.get(path.index())
    }

    /// Iterates over all paths, callers before those that they called.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (PathId, &Node)> {
        self.nodes.iter().enumerate().map(|(at, node)| (PathId(at as u32), node))
    }

    /// Returns the caller of a path; `None` for a path at the bottom of the stack.
    pub(crate) fn caller(&self, path: PathId) -> Option<PathId> {
        let parent = self.node(path)?.parent;
        self.node(parent).filter(|node| node.function.is_some()).map(|_| parent)
    }

    /// Returns the functions of a path, outermost first.
    pub(crate) fn functions(&self, path: PathId) -> Vec<FunctionId> {
        let mut functions = Vec::new();
        let mut at = self.node(path);
        while let Some(node) = at {
            functions.extend(node.function);
            at = self.node(node.parent);
        }
        functions.reverse();
        functions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_found_whatever_their_number() {
        let mut paths = Paths::default();
        let root = paths.add_root();
        let mut functions = 0;
        let mut child = |paths: &mut Paths, address| {
            paths.child(root, RawCode::address(address), || {
                functions += 1;
                FunctionId(functions - 1)
            })
        };
        let first: Vec<_> = (0..40).map(|address| child(&mut paths, address)).collect();
        let again: Vec<_> = (0..40).map(|address| child(&mut paths, address)).collect();
        assert_eq!(first, again);
        assert_eq!((functions, paths.len()), (40, 42));
    }
}
