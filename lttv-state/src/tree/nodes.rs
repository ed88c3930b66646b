//! The tree of names, parents and children.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::path::{elements, push_name};
use super::{Quark, TreeError};

const NONE: u32 = u32::MAX;

/// The children of an attribute: the first and the last one, including removed ones, and
/// the number of the others.
#[derive(Debug, Clone, Copy)]
struct ChildList {
    first: u32,
    last: u32,
    count: u32,
}

impl ChildList {
    const EMPTY: ChildList = ChildList { first: NONE, last: NONE, count: 0 };
}

impl Default for ChildList {
    fn default() -> Self {
        ChildList::EMPTY
    }
}

#[derive(Debug, Clone)]
struct Node {
    parent: u32,
    /// The next child of the same parent.
    next: u32,
    children: ChildList,
    name_start: u32,
    name_end: u32,
    /// The attribute was removed. It keeps its place among its siblings, for when it is
    /// added again.
    is_removed: bool,
}

/// A tree of attributes, numbered in the order in which they were added.
///
/// See the [module](super) for paths and patterns. Adding an attribute that exists already
/// returns its quark. A [removed](Self::remove) attribute gets the quark that it had when it
/// is added again.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    roots: ChildList,
    /// All names, one after the other.
    names: String,
    /// The quarks, hashed by parent and name.
    by_name: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The number of removed attributes.
    removed: usize,
}

impl Tree {
    /// Creates an empty tree.
    pub fn new() -> Tree {
        Tree::default()
    }

    /// Returns the number of attributes, without removed ones.
    pub fn len(&self) -> usize {
        self.nodes.len() - self.removed
    }

    /// Returns `true` if there are no attributes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of quarks so far, including those of removed attributes: the
    /// length of an array that is indexed by quarks. It equals [`len`](Self::len) if no
    /// attribute is removed.
    pub fn index_limit(&self) -> usize {
        self.nodes.len()
    }

    /// Iterates over all attributes, in the order of their numbers.
    pub fn quarks(&self) -> impl DoubleEndedIterator<Item = Quark> {
        let quarks = (0..self.nodes.len() as u32).map(Quark);
        quarks.filter(|quark| self.contains(*quark))
    }

    /// Returns `true` if the tree has the attribute. The root does not count as one.
    pub fn contains(&self, quark: Quark) -> bool {
        self.node(quark).is_some()
    }

    /// Returns the attribute at `path` below `base`, or below the root if the path is
    /// absolute. It is added if it does not exist, with all attributes on the way.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is malformed, if `base` does not exist, or if the tree
    /// is full. Attributes on the way that were added before the error remain.
    pub fn add(&mut self, base: Quark, path: &str) -> Result<Quark, TreeError> {
        self.check(base)?;
        let start = start_of(base, path);
        elements(path).try_fold(start, |at, element| self.add_child(at, &element?.name))
    }

    /// Returns the child of `parent` with this exact name, which is added if it does not
    /// exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is empty, if `parent` does not exist, or if the tree is
    /// full.
    pub fn add_child(&mut self, parent: Quark, name: &str) -> Result<Quark, TreeError> {
        self.check(parent)?;
        if name.is_empty() {
            return Err(TreeError::EmptyName { path: String::new(), offset: 0 });
        }
        if let Some(quark) = self.child_or_removed(parent, name) {
            self.restore(quark);
            return Ok(quark);
        }
        let full = TreeError::Full(self.nodes.len());
        let quark = self.nodes.len() as u32;
        let name_start = self.names.len() as u32;
        let Ok(name_end) = u32::try_from(self.names.len() + name.len()) else { return Err(full) };
        if self.nodes.len() >= NONE as usize {
            return Err(full);
        }
        self.names.push_str(name);
        self.nodes.push(Node {
            parent: parent.0,
            next: NONE,
            children: ChildList::EMPTY,
            name_start,
            name_end,
            is_removed: false,
        });
        let child_list = self.child_list_mut(parent);
        let before = std::mem::replace(&mut child_list.last, quark);
        child_list.count += 1;
        if before == NONE {
            child_list.first = quark;
        } else if let Some(before) = self.nodes.get_mut(before as usize) {
            before.next = quark;
        }
        let Tree { nodes, names, by_name, hasher, .. } = self;
        by_name.insert_unique(hasher.hash_one((parent.0, name)), quark, |&other| {
            let node = &nodes[other as usize];
            hasher.hash_one((node.parent, &names[node.name_start as usize..node.name_end as usize]))
        });
        Ok(Quark(quark))
    }

    /// Returns the child of `parent` that is named by a number in decimal digits: an
    /// element of an array. It is added if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if `parent` does not exist, or if the tree is full.
    pub fn add_index(&mut self, parent: Quark, index: u64) -> Result<Quark, TreeError> {
        self.add_child(parent, &index.to_string())
    }

    /// Removes an attribute and all attributes below it. Returns their number. The root itself
    /// cannot be removed, only all attributes below it.
    ///
    /// The quarks of removed attributes do not exist until attributes with the same paths are
    /// added again. No other attribute gets them.
    ///
    /// ```
    /// use lttv_state::tree::{Quark, Tree, TreeError};
    ///
    /// let mut tree = Tree::new();
    /// let process = tree.add(Quark::ROOT, "processes/7")?;
    /// let name = tree.add(process, "name")?;
    /// assert_eq!((tree.remove(process)?, tree.len()), (2, 1));
    /// assert_eq!(tree.find(Quark::ROOT, "processes/7/name")?, None);
    /// assert_eq!(tree.remove(name), Err(TreeError::UnknownQuark(name)));
    ///
    /// assert_eq!(tree.add(Quark::ROOT, "processes/7")?, process);
    /// assert_eq!((tree.name(process), tree.children(process).len()), (Some("7"), 0));
    /// # Ok::<(), TreeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the attribute does not exist.
    pub fn remove(&mut self, quark: Quark) -> Result<usize, TreeError> {
        self.check(quark)?;
        let mut removed: Vec<Quark> = self.descendants(quark).collect();
        removed.extend(Some(quark).filter(|quark| *quark != Quark::ROOT));
        if let Some(parent) = self.parent(quark) {
            self.child_list_mut(parent).count -= 1;
        }
        self.child_list_mut(quark).count = 0;
        for quark in &removed {
            if let Some(node) = self.nodes.get_mut(quark.index()) {
                node.is_removed = true;
                node.children.count = 0;
            }
        }
        self.removed += removed.len();
        Ok(removed.len())
    }

    /// Returns this tree without attributes for which `is_wanted` is `false`, except those
    /// above a wanted one. `is_wanted` is indexed by quarks.
    pub(crate) fn restricted_to(&self, mut is_wanted: Vec<bool>) -> Tree {
        let mut tree = self.clone();
        is_wanted.resize(tree.nodes.len(), false);
        tree.roots.count = 0;
        tree.removed = 0;
        // Parents have smaller numbers than their children.
        for quark in (0..tree.nodes.len()).rev() {
            let node = &mut tree.nodes[quark];
            node.is_removed |= !is_wanted[quark];
            let (parent, is_removed) = (node.parent, node.is_removed);
            if is_removed {
                tree.removed += 1;
            } else if let Some(parent) = is_wanted.get_mut(parent as usize) {
                *parent = true;
            }
        }
        for quark in 0..tree.nodes.len() {
            tree.nodes[quark].children.count = 0;
            if !tree.nodes[quark].is_removed {
                tree.child_list_mut(Quark(tree.nodes[quark].parent)).count += 1;
            }
        }
        tree
    }

    /// Finds the attribute at `path` below `base`, or below the root if the path is absolute.
    /// `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is malformed, or if `base` does not exist.
    pub fn find(&self, base: Quark, path: &str) -> Result<Option<Quark>, TreeError> {
        self.check(base)?;
        let mut at = Some(start_of(base, path));
        for element in elements(path) {
            let name = element?.name;
            at = at.and_then(|at| self.child(at, &name));
        }
        Ok(at)
    }

    /// Finds the child of `parent` with this exact name. `None` if it does not exist.
    pub fn child(&self, parent: Quark, name: &str) -> Option<Quark> {
        self.child_or_removed(parent, name).filter(|child| self.contains(*child))
    }

    fn child_or_removed(&self, parent: Quark, name: &str) -> Option<Quark> {
        let found = self.by_name.find(self.hasher.hash_one((parent.0, name)), |&quark| {
            let node = &self.nodes[quark as usize];
            node.parent == parent.0 && self.name_of(node) == name
        });
        found.map(|&quark| Quark(quark))
    }

    /// Returns the name of an attribute. `None` for the root, and if the attribute does not
    /// exist.
    pub fn name(&self, quark: Quark) -> Option<&str> {
        self.node(quark).map(|node| self.name_of(node))
    }

    /// Returns the parent of an attribute, which may be the root. `None` for the root, and
    /// if the attribute does not exist.
    pub fn parent(&self, quark: Quark) -> Option<Quark> {
        self.node(quark).map(|node| Quark(node.parent))
    }

    /// Iterates over the children of an attribute or the root, in the order in which they
    /// were first added.
    pub fn children(&self, quark: Quark) -> impl ExactSizeIterator<Item = Quark> + Clone {
        let child_list = self.child_list(quark);
        Children { tree: self, next: child_list.first, left: child_list.count as usize }
    }

    /// Iterates over all attributes below an attribute or the root, parents before their
    /// children.
    pub fn descendants(&self, quark: Quark) -> impl Iterator<Item = Quark> + Clone {
        Descendants { tree: self, top: quark, next: self.child_list(quark).first }
    }

    /// Returns the path of an attribute from the root, as [`find`](Self::find) reads it. It
    /// is empty for the root, and if the attribute does not exist.
    pub fn path(&self, quark: Quark) -> String {
        let mut names = Vec::new();
        let mut at = quark;
        while let (Some(name), Some(parent)) = (self.name(at), self.parent(at)) {
            names.push(name);
            at = parent;
        }
        let mut path = String::new();
        for (i, name) in names.iter().rev().enumerate() {
            if i > 0 {
                path.push('/');
            }
            push_name(&mut path, name);
        }
        path
    }

    /// Finds the attributes below `base` that match a pattern, or those below the root if the
    /// pattern is absolute. Each occurs once, in the order of their numbers.
    ///
    /// # Errors
    ///
    /// Returns an error if the pattern is malformed, or if `base` does not exist.
    pub fn matching(&self, base: Quark, pattern: &str) -> Result<Vec<Quark>, TreeError> {
        self.check(base)?;
        super::pattern::matching(self, start_of(base, pattern), pattern)
    }

    /// Returns an attribute unless it is removed.
    fn node(&self, quark: Quark) -> Option<&Node> {
        self.nodes.get(quark.index()).filter(|node| !node.is_removed)
    }

    /// Adds an attribute again if it is removed. Its parent exists.
    fn restore(&mut self, quark: Quark) {
        if let Some(node) = self.nodes.get_mut(quark.index()).filter(|node| node.is_removed) {
            node.is_removed = false;
            let parent = Quark(node.parent);
            self.child_list_mut(parent).count += 1;
            self.removed -= 1;
        }
    }

    fn check(&self, quark: Quark) -> Result<(), TreeError> {
        match quark == Quark::ROOT || self.contains(quark) {
            true => Ok(()),
            false => Err(TreeError::UnknownQuark(quark)),
        }
    }

    fn child_list(&self, quark: Quark) -> ChildList {
        match quark {
            Quark::ROOT => self.roots,
            _ => self.node(quark).map_or(ChildList::EMPTY, |node| node.children),
        }
    }

    fn child_list_mut(&mut self, quark: Quark) -> &mut ChildList {
        match self.nodes.get_mut(quark.index()) {
            Some(node) => &mut node.children,
            None => &mut self.roots,
        }
    }

    fn name_of(&self, node: &Node) -> &str {
        &self.names[node.name_start as usize..node.name_end as usize]
    }
}

/// An iterator over the children of an attribute.
#[derive(Debug, Clone)]
struct Children<'t> {
    tree: &'t Tree,
    next: u32,
    left: usize,
}

impl Iterator for Children<'_> {
    type Item = Quark;

    fn next(&mut self) -> Option<Quark> {
        loop {
            let node = self.tree.nodes.get(self.next as usize)?;
            let quark = Quark(std::mem::replace(&mut self.next, node.next));
            if !node.is_removed {
                self.left -= 1;
                return Some(quark);
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Children<'_> {}

/// An iterator over all attributes below one.
#[derive(Debug, Clone)]
struct Descendants<'t> {
    tree: &'t Tree,
    top: Quark,
    next: u32,
}

impl Iterator for Descendants<'_> {
    type Item = Quark;

    fn next(&mut self) -> Option<Quark> {
        loop {
            let quark = Quark(self.next);
            let node = self.tree.nodes.get(quark.index())?;
            // All below a removed attribute are removed.
            self.next = if node.is_removed { NONE } else { node.children.first };
            // After an attribute without children follows its next sibling, or that of the
            // closest ancestor that has one.
            let mut at = node;
            while self.next == NONE {
                self.next = at.next;
                if Quark(at.parent) == self.top || at.parent == NONE {
                    break;
                }
                if self.next == NONE {
                    at = &self.tree.nodes[at.parent as usize];
                }
            }
            if !node.is_removed {
                return Some(quark);
            }
        }
    }
}

/// Returns the attribute from which a path leads: the root if the path is absolute.
fn start_of(base: Quark, path: &str) -> Quark {
    if path.starts_with('/') { Quark::ROOT } else { base }
}
