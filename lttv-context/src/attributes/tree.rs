//! The tree of attributes.
//!
//! All attributes are in one array. Their values are in a second array, so that counting
//! through handles accesses little memory. Siblings are linked by their numbers, and one hash
//! table for the whole tree finds an attribute by its parent and name: a tree of many small
//! directories costs no more than one large directory.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;
use std::ops::{Index, IndexMut};

use super::error::AttributeError;
use super::key::{AttributeId, AttributeType, Key};
use super::name::{Name, OwnedName};
use super::path::{MAX_DEPTH, Path, PathError};
use super::value::{AttributeValue, Kind};

/// The link to no attribute.
const NONE: u32 = u32::MAX;

/// A tree of named, typed values.
///
/// Each attribute is either a value or a tree of further attributes in the order of their
/// creation. An attribute is found by path, by name within a tree, or, for frequent accesses,
/// by a handle that was obtained once. A value keeps its [`Kind`] for its lifetime, and
/// requesting another kind is an error.
///
/// ```
/// use lttv_context::attributes::{AttributeId, Attributes};
///
/// let mut attributes = Attributes::new();
/// let cpus = attributes.subtree(AttributeId::ROOT, "cpus")?;
/// for cpu in 0..2 {
///     let cpu = attributes.subtree(cpus, cpu)?;
///     let events = attributes.entry::<u64>(cpu, "events")?;
///     attributes[events] += 10;
/// }
/// let second = attributes.entry_at::<u64>("cpus/[1]/events")?;
/// attributes[second] += 5;
///
/// assert_eq!(attributes.to_string(), "\
/// cpus
///   [0]
///     events: 10
///   [1]
///     events: 15
/// ");
/// # Ok::<(), lttv_context::attributes::AttributeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Attributes {
    nodes: Vec<Node>,
    cells: Vec<Cell>,
    /// The numbers of all attributes except the root, by parent and name.
    by_name: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The numbers to use again.
    free: Vec<u32>,
}

/// The place of an attribute in the tree.
#[derive(Debug, Clone)]
struct Node {
    name: OwnedName,
    parent: u32,
    first_child: u32,
    last_child: u32,
    next: u32,
    previous: u32,
    depth: u8,
}

/// The content of an attribute, with the generation of its number.
#[derive(Debug, Clone)]
struct Cell {
    generation: u32,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    /// The number is not in use.
    Free,
    Tree,
    Value(AttributeValue<'static>),
}

impl Content {
    fn kind(&self) -> Option<Kind> {
        match self {
            Content::Free => None,
            Content::Tree => Some(Kind::Tree),
            Content::Value(value) => Some(value.kind()),
        }
    }
}

impl Default for Attributes {
    fn default() -> Self {
        Attributes::new()
    }
}

impl Attributes {
    /// Creates a tree without attributes.
    pub fn new() -> Self {
        let root = Node::new(OwnedName::Text("".into()), NONE, 0);
        Attributes {
            nodes: vec![root],
            cells: vec![Cell { generation: 0, content: Content::Tree }],
            by_name: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            free: Vec::new(),
        }
    }

    /// Returns the number of attributes. The root does not count.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Returns `true` if there are no attributes.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Returns one more than the greatest [`AttributeId::index`] so far: the length of a table with
    /// an entry for each attribute.
    pub fn index_bound(&self) -> usize {
        self.nodes.len()
    }

    /// Finds an attribute by name in a tree.
    pub fn child<'n>(&self, of: AttributeId, name: impl Into<Name<'n>>) -> Option<AttributeId> {
        self.cell(of)?;
        self.child_index(of.index, name.into()).map(|index| self.id(index))
    }

    /// Finds an attribute by path.
    ///
    /// # Errors
    ///
    /// Returns a [`PathError`] if the text is not a [`Path`].
    pub fn find_path(&self, path: &str) -> Result<Option<AttributeId>, PathError> {
        Ok(self.find_path_from(AttributeId::ROOT, &path.parse()?))
    }

    /// Finds an attribute by path, starting at another one.
    pub fn find_path_from(&self, from: AttributeId, path: &Path) -> Option<AttributeId> {
        self.cell(from)?;
        path.names().try_fold(from, |tree, name| self.child(tree, name))
    }

    /// Finds an attribute of a type, or creates it with the default value of the type.
    ///
    /// # Errors
    ///
    /// Returns [`WrongKind`](AttributeError::WrongKind) if the attribute has another kind or `of`
    /// is not a tree, [`Gone`](AttributeError::Gone) if `of` no longer exists,
    /// [`TooDeep`](AttributeError::TooDeep) if `of` is at the maximum depth, and
    /// [`Full`](AttributeError::Full) if all numbers are in use.
    pub fn entry<'n, T: AttributeType>(
        &mut self,
        of: AttributeId,
        name: impl Into<Name<'n>>,
    ) -> Result<Key<T>, AttributeError> {
        let make = || Content::Value(T::default().into_value());
        self.find_or_make(of, name.into(), T::KIND, make).map(Key::new)
    }

    /// Finds an attribute of a type by path, or creates it with the default value of the type, and
    /// any trees on the path.
    ///
    /// # Errors
    ///
    /// Returns [`Path`](AttributeError::Path) if the text is not a path, and the errors of
    /// [`entry`](Attributes::entry). Trees that were already created stay.
    pub fn entry_at<T: AttributeType>(&mut self, path: &str) -> Result<Key<T>, AttributeError> {
        let make = || Content::Value(T::default().into_value());
        self.find_or_make_at(path, T::KIND, make).map(Key::new)
    }

    /// Finds a tree, or creates it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`entry`](Attributes::entry).
    pub fn subtree<'n>(
        &mut self,
        of: AttributeId,
        name: impl Into<Name<'n>>,
    ) -> Result<AttributeId, AttributeError> {
        self.find_or_make(of, name.into(), Kind::Tree, || Content::Tree)
    }

    /// Finds a tree by path, or creates it and any trees on the path.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`entry_at`](Attributes::entry_at).
    pub fn subtree_at(&mut self, path: &str) -> Result<AttributeId, AttributeError> {
        self.find_or_make_at(path, Kind::Tree, || Content::Tree)
    }

    /// Sets the value of an attribute, and creates the attribute if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`entry`](Attributes::entry).
    pub fn set<'n, 'v>(
        &mut self,
        of: AttributeId,
        name: impl Into<Name<'n>>,
        value: impl Into<AttributeValue<'v>>,
    ) -> Result<AttributeId, AttributeError> {
        let value = value.into();
        let make = || Content::Value(value.borrowed().into_owned());
        let id = self.find_or_make(of, name.into(), value.kind(), make)?;
        self.assign(id, value);
        Ok(id)
    }

    /// Sets the value of an attribute by path, and creates the attribute and any trees on the path
    /// if they do not exist.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`entry_at`](Attributes::entry_at).
    pub fn set_at<'v>(
        &mut self,
        path: &str,
        value: impl Into<AttributeValue<'v>>,
    ) -> Result<AttributeId, AttributeError> {
        let value = value.into();
        let make = || Content::Value(value.borrowed().into_owned());
        let id = self.find_or_make_at(path, value.kind(), make)?;
        self.assign(id, value);
        Ok(id)
    }

    /// Returns the value of an attribute, or `None` if it is a tree or no longer exists.
    #[inline]
    pub fn value(&self, id: AttributeId) -> Option<&AttributeValue<'static>> {
        match self.cell(id)? {
            Content::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value of a typed handle, or `None` if it no longer exists.
    #[inline]
    pub fn get<T: AttributeType>(&self, key: Key<T>) -> Option<&T> {
        T::from_value(self.value(key.id)?)
    }

    /// Returns the value of a typed handle mutably, or `None` if it no longer exists.
    #[inline]
    pub fn get_mut<T: AttributeType>(&mut self, key: Key<T>) -> Option<&mut T> {
        match self.cells.get_mut(key.id.index())? {
            Cell { generation, content: Content::Value(value) }
                if *generation == key.id.generation =>
            {
                T::from_value_mut(value)
            }
            _ => None,
        }
    }

    /// Returns a typed handle of an attribute, or `None` if it has another type or no longer
    /// exists.
    pub fn key<T: AttributeType>(&self, id: AttributeId) -> Option<Key<T>> {
        (self.value(id)?.kind() == T::KIND).then_some(Key::new(id))
    }

    /// Returns the kind of an attribute, or `None` if it no longer exists.
    pub fn kind(&self, id: AttributeId) -> Option<Kind> {
        self.cell(id)?.kind()
    }

    /// Returns the name of an attribute, or `None` if it is the root or no longer exists.
    pub fn name(&self, id: AttributeId) -> Option<Name<'_>> {
        self.cell(id)?;
        let node = &self.nodes[id.index()];
        (node.parent != NONE).then(|| node.name.borrowed())
    }

    /// Returns the tree that contains an attribute, or `None` if it is the root or no longer
    /// exists.
    pub fn parent(&self, id: AttributeId) -> Option<AttributeId> {
        self.cell(id)?;
        let parent = self.nodes[id.index()].parent;
        (parent != NONE).then(|| self.id(parent))
    }

    /// Returns the path of an attribute, or `None` if it no longer exists.
    pub fn path(&self, id: AttributeId) -> Option<Path> {
        self.cell(id)?;
        let mut names = Vec::new();
        let mut here = &self.nodes[id.index()];
        while here.parent != NONE {
            names.push(here.name.borrowed());
            here = &self.nodes[here.parent as usize];
        }
        Some(names.into_iter().rev().collect())
    }

    /// Iterates over the attributes of a tree, in the order of their creation. A value has none.
    pub fn children(&self, id: AttributeId) -> impl DoubleEndedIterator<Item = AttributeId> {
        let node = self.cell(id).map(|_| &self.nodes[id.index()]);
        Children {
            tree: self,
            front: node.map_or(NONE, |node| node.first_child),
            back: node.map_or(NONE, |node| node.last_child),
        }
    }

    /// Removes an attribute and everything below it. Returns `true` if it existed. The root cannot
    /// be removed.
    ///
    /// Handles of other attributes stay valid.
    pub fn remove(&mut self, id: AttributeId) -> bool {
        if id == AttributeId::ROOT || self.cell(id).is_none() {
            return false;
        }
        self.unlink(id.index);
        let mut doomed = vec![id.index];
        while let Some(index) = doomed.pop() {
            doomed.extend(self.children(self.id(index)).map(|child| child.index));
            self.free(index);
        }
        true
    }

    /// Returns the content of an attribute, or `None` if it no longer exists.
    #[inline]
    fn cell(&self, id: AttributeId) -> Option<&Content> {
        let cell = self.cells.get(id.index())?;
        // No handle has the generation of a number that is not in use.
        (cell.generation == id.generation).then_some(&cell.content)
    }

    /// Returns the handle of an existing attribute.
    fn id(&self, index: u32) -> AttributeId {
        AttributeId { index, generation: self.cells[index as usize].generation }
    }

    fn hash(&self, parent: u32, name: Name<'_>) -> u64 {
        self.hasher.hash_one((parent, name))
    }

    fn child_index(&self, parent: u32, name: Name<'_>) -> Option<u32> {
        let is_it = |&index: &u32| {
            let node = &self.nodes[index as usize];
            node.parent == parent && node.name.borrowed() == name
        };
        self.by_name.find(self.hash(parent, name), is_it).copied()
    }

    fn find_or_make_at(
        &mut self,
        path: &str,
        kind: Kind,
        make: impl FnOnce() -> Content,
    ) -> Result<AttributeId, AttributeError> {
        let path: Path = path.parse()?;
        let mut names = path.names();
        let Some(last) = names.next_back() else { return self.expect(AttributeId::ROOT, kind) };
        let tree = names.try_fold(AttributeId::ROOT, |tree, name| self.subtree(tree, name))?;
        self.find_or_make(tree, last, kind, make)
    }

    fn find_or_make(
        &mut self,
        of: AttributeId,
        name: Name<'_>,
        kind: Kind,
        make: impl FnOnce() -> Content,
    ) -> Result<AttributeId, AttributeError> {
        self.expect(of, Kind::Tree)?;
        match self.child_index(of.index, name) {
            Some(index) => self.expect(self.id(index), kind),
            None => self.make(of.index, name, make()),
        }
    }

    /// Checks that an attribute exists and has a kind.
    pub(super) fn expect(
        &self,
        id: AttributeId,
        wanted: Kind,
    ) -> Result<AttributeId, AttributeError> {
        match self.kind(id) {
            Some(found) if found == wanted => Ok(id),
            Some(found) => {
                let path = self.path(id).unwrap_or_default();
                Err(AttributeError::WrongKind { path, found, wanted })
            }
            None => Err(AttributeError::Gone(id.index())),
        }
    }

    fn make(
        &mut self,
        parent: u32,
        name: Name<'_>,
        content: Content,
    ) -> Result<AttributeId, AttributeError> {
        let depth = self.nodes[parent as usize].depth;
        if usize::from(depth) == MAX_DEPTH {
            let path = self.path(self.id(parent)).unwrap_or_default();
            return Err(AttributeError::TooDeep(path));
        }
        let mut node = Node::new(name.into(), parent, depth + 1);
        node.previous = self.nodes[parent as usize].last_child;
        let index = match self.free.pop() {
            Some(index) => {
                self.nodes[index as usize] = node;
                self.cells[index as usize].content = content;
                index
            }
            None => {
                let index = u32::try_from(self.nodes.len()).ok().filter(|&index| index != NONE);
                let index = index.ok_or(AttributeError::Full)?;
                self.nodes.push(node);
                self.cells.push(Cell { generation: 0, content });
                index
            }
        };
        match self.nodes[index as usize].previous {
            NONE => self.nodes[parent as usize].first_child = index,
            previous => self.nodes[previous as usize].next = index,
        }
        self.nodes[parent as usize].last_child = index;
        let (hasher, nodes) = (&self.hasher, &self.nodes);
        let hash = |&index: &u32| {
            let node = &nodes[index as usize];
            hasher.hash_one((node.parent, node.name.borrowed()))
        };
        self.by_name.insert_unique(hash(&index), index, hash);
        Ok(self.id(index))
    }

    /// Replaces a value by one of the same kind.
    pub(super) fn assign(&mut self, id: AttributeId, value: AttributeValue<'_>) {
        debug_assert_eq!(self.kind(id), Some(value.kind()));
        self.cells[id.index()].content = Content::Value(value.into_owned());
    }

    /// Removes an attribute from the list of its siblings.
    fn unlink(&mut self, index: u32) {
        let Node { parent, next, previous, .. } = self.nodes[index as usize];
        match previous {
            NONE => self.nodes[parent as usize].first_child = next,
            previous => self.nodes[previous as usize].next = next,
        }
        match next {
            NONE => self.nodes[parent as usize].last_child = previous,
            next => self.nodes[next as usize].previous = previous,
        }
    }

    /// Frees the number of an attribute that nothing links to.
    fn free(&mut self, index: u32) {
        let node = &mut self.nodes[index as usize];
        let name = std::mem::replace(&mut node.name, OwnedName::Index(0));
        let hash = self.hasher.hash_one((node.parent, name.borrowed()));
        if let Ok(entry) = self.by_name.find_entry(hash, |&other| other == index) {
            entry.remove();
        }
        let cell = &mut self.cells[index as usize];
        cell.content = Content::Free;
        // A number is not used again once its generations are exhausted.
        if let Some(generation) = cell.generation.checked_add(1) {
            cell.generation = generation;
            self.free.push(index);
        }
    }
}

impl Node {
    fn new(name: OwnedName, parent: u32, depth: u8) -> Self {
        Node {
            name,
            parent,
            first_child: NONE,
            last_child: NONE,
            next: NONE,
            previous: NONE,
            depth,
        }
    }
}

impl<T: AttributeType> Index<Key<T>> for Attributes {
    type Output = T;

    /// Returns the value of a typed handle.
    ///
    /// # Panics
    ///
    /// Panics if the attribute no longer exists. [`get`](Attributes::get) does not panic.
    #[inline]
    fn index(&self, key: Key<T>) -> &T {
        self.get(key).expect("the attribute of this key was removed")
    }
}

impl<T: AttributeType> IndexMut<Key<T>> for Attributes {
    /// Returns the value of a typed handle mutably.
    ///
    /// # Panics
    ///
    /// Panics if the attribute no longer exists. [`get_mut`](Attributes::get_mut) does not panic.
    #[inline]
    fn index_mut(&mut self, key: Key<T>) -> &mut T {
        self.get_mut(key).expect("the attribute of this key was removed")
    }
}

/// An iterator over siblings, from both ends.
struct Children<'a> {
    tree: &'a Attributes,
    front: u32,
    back: u32,
}

impl Children<'_> {
    /// Returns the attribute at one end and advances this end. Both ends become empty after the
    /// last one.
    fn take(&mut self, index: u32) -> Option<AttributeId> {
        if index == NONE {
            return None;
        }
        let node = &self.tree.nodes[index as usize];
        if self.front == self.back {
            (self.front, self.back) = (NONE, NONE);
        } else if index == self.front {
            self.front = node.next;
        } else {
            self.back = node.previous;
        }
        Some(self.tree.id(index))
    }
}

impl Iterator for Children<'_> {
    type Item = AttributeId;

    fn next(&mut self) -> Option<AttributeId> {
        self.take(self.front)
    }
}

impl DoubleEndedIterator for Children<'_> {
    fn next_back(&mut self) -> Option<AttributeId> {
        self.take(self.back)
    }
}
