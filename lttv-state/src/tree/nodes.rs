//! The tree of names, parents and children.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::path::{elements, push_name};
use super::{Quark, TreeError};

const NONE: u32 = u32::MAX;

/// The children of an attribute: the first and the last one, and their number.
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
}

/// A tree of attributes, numbered in the order in which they were added.
///
/// See the [module](super) for paths and patterns. Adding an attribute that exists already
/// returns its quark. Attributes are never removed, since that would change quarks.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    roots: ChildList,
    /// All names, one after the other.
    names: String,
    /// The quarks, hashed by parent and name.
    by_name: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Tree {
    /// Creates an empty tree.
    pub fn new() -> Tree {
        Tree::default()
    }

    /// Returns the number of attributes. The numbers of all quarks are below it.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns `true` if there are no attributes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Iterates over all attributes, in the order of their numbers.
    pub fn quarks(&self) -> impl DoubleEndedIterator<Item = Quark> + ExactSizeIterator + use<> {
        (0..self.nodes.len() as u32).map(Quark)
    }

    /// Returns `true` if the tree has the attribute. The root does not count as one.
    pub fn contains(&self, quark: Quark) -> bool {
        quark.index() < self.nodes.len()
    }

    /// Returns the attribute at `path` below `base`. It is added if it does not exist, with
    /// all attributes on the way.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is malformed, if `base` does not exist, or if the tree
    /// is full. Attributes on the way that were added before the error remain.
    pub fn add(&mut self, base: Quark, path: &str) -> Result<Quark, TreeError> {
        self.check(base)?;
        elements(path).try_fold(base, |at, element| self.add_child(at, &element?.name))
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
        if let Some(quark) = self.child(parent, name) {
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

    /// Finds the attribute at `path` below `base`. `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is malformed, or if `base` does not exist.
    pub fn find(&self, base: Quark, path: &str) -> Result<Option<Quark>, TreeError> {
        self.check(base)?;
        let mut at = Some(base);
        for element in elements(path) {
            let name = element?.name;
            at = at.and_then(|at| self.child(at, &name));
        }
        Ok(at)
    }

    /// Finds the child of `parent` with this exact name. `None` if it does not exist.
    pub fn child(&self, parent: Quark, name: &str) -> Option<Quark> {
        let found = self.by_name.find(self.hasher.hash_one((parent.0, name)), |&quark| {
            let node = &self.nodes[quark as usize];
            node.parent == parent.0 && self.name_of(node) == name
        });
        found.map(|&quark| Quark(quark))
    }

    /// Returns the name of an attribute. `None` for the root, and if the attribute does not
    /// exist.
    pub fn name(&self, quark: Quark) -> Option<&str> {
        self.nodes.get(quark.index()).map(|node| self.name_of(node))
    }

    /// Returns the parent of an attribute, which may be the root. `None` for the root, and
    /// if the attribute does not exist.
    pub fn parent(&self, quark: Quark) -> Option<Quark> {
        self.nodes.get(quark.index()).map(|node| Quark(node.parent))
    }

    /// Iterates over the children of an attribute or the root, in the order in which they
    /// were added.
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

    /// Finds the attributes below `base` that match a pattern. Each occurs once, in the
    /// order of their numbers.
    ///
    /// # Errors
    ///
    /// Returns an error if the pattern is malformed, or if `base` does not exist.
    pub fn matching(&self, base: Quark, pattern: &str) -> Result<Vec<Quark>, TreeError> {
        self.check(base)?;
        super::pattern::matching(self, base, pattern)
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
            _ => self.nodes.get(quark.index()).map_or(ChildList::EMPTY, |node| node.children),
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
        let node = self.tree.nodes.get(self.next as usize)?;
        let quark = Quark(std::mem::replace(&mut self.next, node.next));
        self.left -= 1;
        Some(quark)
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
        let quark = Quark(self.next);
        let node = self.tree.nodes.get(quark.index())?;
        self.next = node.children.first;
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
        Some(quark)
    }
}
