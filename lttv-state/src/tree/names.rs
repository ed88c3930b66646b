//! The tree itself: names, parents and children.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::path::{elements, push_name};
use super::{Quark, TreeError};

const NONE: u32 = u32::MAX;

/// The first and last of some attributes with one parent, and how many.
#[derive(Debug, Clone, Copy)]
struct Family {
    first: u32,
    last: u32,
    count: u32,
}

impl Family {
    const EMPTY: Family = Family { first: NONE, last: NONE, count: 0 };
}

#[derive(Debug, Clone)]
struct Node {
    parent: u32,
    /// The next child of the same parent.
    next: u32,
    children: Family,
    name_start: u32,
    name_end: u32,
}

/// Attributes: names in a tree, numbered in the order in which they were added.
///
/// See the [module](super) for paths and patterns. Adding what is there already
/// finds it. Nothing is ever taken out: numbers would change.
#[derive(Debug, Clone)]
pub struct Tree {
    nodes: Vec<Node>,
    roots: Family,
    /// All names, one behind the other.
    names: String,
    /// Quarks by parent and name.
    by_name: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Default for Tree {
    fn default() -> Self {
        Tree::new()
    }
}

impl Tree {
    /// A tree without attributes.
    pub fn new() -> Tree {
        Tree {
            nodes: Vec::new(),
            roots: Family::EMPTY,
            names: String::new(),
            by_name: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// How many attributes there are. All quarks have smaller numbers.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no attributes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// All attributes, in the order of their numbers.
    pub fn quarks(&self) -> impl DoubleEndedIterator<Item = Quark> + ExactSizeIterator + use<> {
        (0..self.nodes.len() as u32).map(Quark)
    }

    /// Whether this tree has the attribute. It does not count the root as one.
    pub fn contains(&self, quark: Quark) -> bool {
        quark.index() < self.nodes.len()
    }

    /// The attribute at `path` below `base`, added if it is not there, with
    /// all that the path leads through.
    ///
    /// # Errors
    ///
    /// If the path is malformed, `base` is unknown, or the tree is full.
    /// What the path led through until then was added.
    pub fn add(&mut self, base: Quark, path: &str) -> Result<Quark, TreeError> {
        self.check(base)?;
        elements(path).try_fold(base, |at, element| self.add_child(at, &element?.name))
    }

    /// The child of `parent` with this very name, added if it is not there.
    ///
    /// # Errors
    ///
    /// If the name is empty, `parent` is unknown, or the tree is full.
    pub fn add_child(&mut self, parent: Quark, name: &str) -> Result<Quark, TreeError> {
        self.check(parent)?;
        if name.is_empty() {
            return Err(TreeError::EmptyName { path: String::new(), offset: 0 });
        }
        if let Some(quark) = self.child(parent, name) {
            return Ok(quark);
        }
        let full = TreeError::Full { attributes: self.nodes.len() };
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
            children: Family::EMPTY,
            name_start,
            name_end,
        });
        let family = self.family_mut(parent);
        let before = std::mem::replace(&mut family.last, quark);
        family.count += 1;
        if before == NONE {
            family.first = quark;
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

    /// The child of `parent` named by a number in decimal digits: an element
    /// of an array.
    ///
    /// # Errors
    ///
    /// If `parent` is unknown or the tree is full.
    pub fn add_index(&mut self, parent: Quark, index: u64) -> Result<Quark, TreeError> {
        self.add_child(parent, &index.to_string())
    }

    /// The attribute at `path` below `base`, if there is one.
    ///
    /// # Errors
    ///
    /// If the path is malformed, or `base` is unknown.
    pub fn find(&self, base: Quark, path: &str) -> Result<Option<Quark>, TreeError> {
        self.check(base)?;
        let mut at = Some(base);
        for element in elements(path) {
            let name = element?.name;
            at = at.and_then(|at| self.child(at, &name));
        }
        Ok(at)
    }

    /// The child of `parent` with this very name, if there is one.
    pub fn child(&self, parent: Quark, name: &str) -> Option<Quark> {
        let found = self.by_name.find(self.hasher.hash_one((parent.0, name)), |&quark| {
            let node = &self.nodes[quark as usize];
            node.parent == parent.0 && self.name_of(node) == name
        });
        found.map(|&quark| Quark(quark))
    }

    /// The name of an attribute; none if it is unknown or the root.
    pub fn name(&self, quark: Quark) -> Option<&str> {
        self.nodes.get(quark.index()).map(|node| self.name_of(node))
    }

    /// The parent, maybe the root; none if `quark` is unknown or the root.
    pub fn parent(&self, quark: Quark) -> Option<Quark> {
        self.nodes.get(quark.index()).map(|node| Quark(node.parent))
    }

    /// The children, in the order in which they were added; of the root too.
    pub fn children(&self, quark: Quark) -> Children<'_> {
        let family = self.family(quark);
        Children { tree: self, next: family.first, left: family.count as usize }
    }

    /// All attributes below `quark`, parents before their children.
    pub fn descendants(&self, quark: Quark) -> Descendants<'_> {
        Descendants { tree: self, top: quark, next: self.family(quark).first }
    }

    /// The path of an attribute from the root, as [`find`](Self::find) reads
    /// it. Empty if it is unknown or the root.
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

    /// The attributes that fit a pattern below `base`, in the order of their
    /// numbers, each once.
    ///
    /// # Errors
    ///
    /// If the pattern is malformed, or `base` is unknown.
    pub fn matching(&self, base: Quark, pattern: &str) -> Result<Vec<Quark>, TreeError> {
        self.check(base)?;
        super::pattern::matching(self, base, pattern)
    }

    fn check(&self, quark: Quark) -> Result<(), TreeError> {
        match quark == Quark::ROOT || self.contains(quark) {
            true => Ok(()),
            false => Err(TreeError::UnknownQuark { quark }),
        }
    }

    fn family(&self, quark: Quark) -> Family {
        match quark {
            Quark::ROOT => self.roots,
            _ => self.nodes.get(quark.index()).map_or(Family::EMPTY, |node| node.children),
        }
    }

    fn family_mut(&mut self, quark: Quark) -> &mut Family {
        match self.nodes.get_mut(quark.index()) {
            Some(node) => &mut node.children,
            None => &mut self.roots,
        }
    }

    fn name_of(&self, node: &Node) -> &str {
        &self.names[node.name_start as usize..node.name_end as usize]
    }
}

/// The children of an attribute: see [`Tree::children`].
#[derive(Debug, Clone)]
pub struct Children<'t> {
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

/// All below an attribute: see [`Tree::descendants`].
#[derive(Debug, Clone)]
pub struct Descendants<'t> {
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
        // Without children: the next child of the closest one above that has one.
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
