//! Lexical scopes, in which names of types are declared and looked up.

use std::borrow::Cow;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use crate::schema::FieldClass;

/// A type in the parser.
#[derive(Debug, Clone)]
pub(super) struct Type {
    pub(super) class: Arc<FieldClass>,
    /// `true` if arrays of the type are strings: the type is an 8-bit, byte-aligned
    /// integer with an encoding.
    pub(super) is_character: bool,
    /// `true` for a variant that still needs a tag.
    pub(super) lacks_tag: bool,
    /// The number of classes in the tree of the type, including itself. Shared classes
    /// count at each use.
    pub(super) nodes: u32,
    /// The depth of the tree of the type.
    pub(super) depth: u32,
}

impl Type {
    /// Creates a type that contains no others.
    pub(super) fn leaf(class: FieldClass) -> Self {
        Type { class: Arc::new(class), is_character: false, lacks_tag: false, nodes: 1, depth: 1 }
    }
}

/// The four namespaces of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Namespace {
    Alias,
    Struct,
    Variant,
    Enum,
}

impl Namespace {
    /// Returns the description of a type of this namespace.
    pub(super) fn what(self) -> &'static str {
        match self {
            Namespace::Alias => "type alias",
            Namespace::Struct => "struct",
            Namespace::Variant => "variant",
            Namespace::Enum => "enum",
        }
    }
}

/// The types that a scope declares, by namespace.
type Scope<'a> = Box<[HashMap<Cow<'a, str>, Type>; 4]>;

/// The number of bytes of metadata in which there is one block that is kept, or more.
const PER_BLOCK: usize = 768;

/// The scopes around the current position, innermost last. Most of them declare no types.
#[derive(Debug)]
pub(super) struct Scopes<'a> {
    open: Vec<Option<Scope<'a>>>,
    /// The types of blocks by their text, as long as names have the same meaning. Large metadata
    /// repeats the fields of many events.
    blocks: HashMap<&'a str, Type>,
}

impl<'a> Scopes<'a> {
    /// Creates the outermost scope of a text.
    pub(super) fn new(text: &str) -> Self {
        let blocks = HashMap::with_capacity(text.len() / PER_BLOCK);
        Scopes { open: vec![None], blocks }
    }

    pub(super) fn enter(&mut self) {
        self.open.push(None);
    }

    pub(super) fn leave(&mut self) {
        if self.open.pop().is_some_and(|scope| scope.is_some()) {
            self.blocks.clear();
        }
    }

    /// Leaves all scopes except the outermost one.
    pub(super) fn leave_all(&mut self) {
        self.open.truncate(1);
        self.blocks.clear();
    }

    /// Declares a name in the innermost scope. Returns `false` if the name is already
    /// declared there.
    pub(super) fn declare(&mut self, space: Namespace, name: Cow<'a, str>, ty: Type) -> bool {
        let Some(scope) = self.open.last_mut() else { return false };
        self.blocks.clear();
        let scope = scope.get_or_insert_default();
        scope[space as usize].try_insert(name, ty).is_ok()
    }

    /// Finds the type of a name in the innermost scope that declares it.
    pub(super) fn find(&self, space: Namespace, name: &str) -> Option<&Type> {
        self.open.iter().rev().flatten().find_map(|scope| scope[space as usize].get(name))
    }

    /// Finds the type of a block with this text, which has the same meaning here.
    pub(super) fn find_block(&self, text: &str) -> Option<&Type> {
        self.blocks.get(text)
    }

    /// Keeps the type of a block, until the next declaration of a name.
    pub(super) fn keep_block(&mut self, text: &'a str, ty: Type) {
        self.blocks.insert(text, ty);
    }
}

/// A set of names that is usually small.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    few: SmallVec<[&'a str; 16]>,
    /// All names, once they are too many for a list.
    many: Option<HashSet<&'a str>>,
}

impl<'a> Names<'a> {
    /// Adds a name. Returns `false` if the set already contains it.
    pub(super) fn insert(&mut self, name: &'a str) -> bool {
        if let Some(many) = &mut self.many {
            return many.insert(name);
        }
        if self.few.contains(&name) {
            return false;
        }
        self.few.push(name);
        if self.few.len() == self.few.inline_size() {
            self.many = Some(self.few.iter().copied().collect());
        }
        true
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        match &self.many {
            Some(many) => many.contains(name),
            None => self.few.contains(&name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_small_size() {
        let text: Vec<String> = (0..40).map(|i| format!("n{i}")).collect();
        let mut names = Names::default();
        for name in &text {
            assert!(names.insert(name));
            assert!(!names.insert(name));
        }
        assert!(names.contains("n3") && names.contains("n39") && !names.contains("n40"));
    }

    #[test]
    fn inner_names_hide_outer_ones() {
        let mut scopes = Scopes::new("");
        let ty = |bits| Type::leaf(FieldClass::uint(bits, crate::schema::ByteOrder::Little));
        assert!(scopes.declare(Namespace::Alias, "a".into(), ty(8)));
        scopes.enter();
        assert!(scopes.declare(Namespace::Alias, "a".into(), ty(16)));
        assert!(!scopes.declare(Namespace::Alias, "a".into(), ty(32)));
        assert_eq!(scopes.find(Namespace::Alias, "a").unwrap().class.align, 8);
        assert_eq!(scopes.find(Namespace::Alias, "a").unwrap().class, ty(16).class);
        scopes.leave();
        assert_eq!(scopes.find(Namespace::Alias, "a").unwrap().class, ty(8).class);
        assert!(scopes.find(Namespace::Struct, "a").is_none());
    }

    #[test]
    fn blocks_are_kept_until_a_name_may_have_another_meaning() {
        let ty = || Type::leaf(FieldClass::uint(8, crate::schema::ByteOrder::Little));
        let mut scopes = Scopes::new("");
        scopes.keep_block("{ }", ty());
        scopes.enter();
        assert!(scopes.find_block("{ }").is_some() && scopes.find_block("{}").is_none());
        scopes.leave();
        assert!(scopes.find_block("{ }").is_some());
        scopes.enter();
        scopes.declare(Namespace::Alias, "a".into(), ty());
        assert!(scopes.find_block("{ }").is_none());
        scopes.keep_block("{ a b; }", ty());
        scopes.leave();
        assert!(scopes.find_block("{ a b; }").is_none());
    }
}
