//! JSON values with their positions in the metadata text.
//!
//! Getters create the error messages, from the name of the property and the expected
//! value, so that code that reads fragments contains few messages.

use hashbrown::HashSet;
use smallvec::SmallVec;

use super::draft::current_name;
use super::syntax::{Kind, Tree, Value};
use crate::metadata::nearest::nearest;
use crate::metadata::{Diagnostic, Span};

pub(super) type Result<T> = std::result::Result<T, Diagnostic>;

/// A JSON value.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    tree: &'a Tree,
    /// The whole metadata text.
    text: &'a str,
    index: u32,
}

impl<'a> Node<'a> {
    /// Returns the outermost value of a tree, or `None` if the tree is empty.
    pub(super) fn root(tree: &'a Tree, text: &'a str) -> Option<Self> {
        (!tree.values.is_empty()).then_some(Node { tree, text, index: 0 })
    }

    fn value(self) -> Value {
        self.tree.values[self.index as usize]
    }

    /// Returns the value after this one and its contents.
    fn after(self) -> Self {
        Node { index: self.value().next, ..self }
    }

    /// Returns the first value in this one.
    fn first(self) -> Self {
        Node { index: self.index + 1, ..self }
    }

    pub(super) fn span(self) -> Span {
        Span { start: self.value().start, end: self.value().end }
    }

    /// Returns the JSON text of the value.
    pub(super) fn text(self) -> &'a str {
        let Span { start, end } = self.span();
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Creates an error at this value.
    pub(super) fn error(self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.span(), message)
    }

    /// Creates an error "expected …, found …" at this value.
    pub(super) fn unexpected(self, expected: &str) -> Diagnostic {
        let found = match self.value().kind {
            Kind::Null | Kind::Bool(_) => self.text(),
            Kind::Integer | Kind::Real if self.text().len() <= 40 => self.text(),
            Kind::Integer | Kind::Real => "a number",
            Kind::Plain | Kind::Escaped(_) if self.text().len() <= 40 => self.text(),
            Kind::Plain | Kind::Escaped(_) => "a string",
            Kind::Array(_) => "an array",
            Kind::Object(_) => "an object",
        };
        self.error(format!("expected {expected}, found {found}"))
    }

    pub(super) fn is_null(self) -> bool {
        self.value().kind == Kind::Null
    }

    pub(super) fn is_array(self) -> bool {
        matches!(self.value().kind, Kind::Array(_))
    }

    pub(super) fn is_object(self) -> bool {
        matches!(self.value().kind, Kind::Object(_))
    }

    /// Returns the text of a string value.
    pub(super) fn as_str(self) -> Option<&'a str> {
        match self.value().kind {
            Kind::Plain => {
                let text = self.text();
                text.get(1..text.len() - 1)
            }
            Kind::Escaped(index) => self.tree.unescaped.get(index as usize).map(|s| &**s),
            _ => None,
        }
    }

    pub(super) fn str(self) -> Result<&'a str> {
        self.as_str().ok_or_else(|| self.unexpected("a string"))
    }

    /// Reads one of several words. Returns the value that belongs to it.
    pub(super) fn word<T: Copy>(self, words: &[(&str, T)]) -> Result<T> {
        let word = self.str()?;
        if let Some((_, value)) = words.iter().find(|(w, _)| *w == word) {
            return Ok(*value);
        }
        let names = words.iter().map(|(w, _)| *w);
        let suggestion = nearest(word, names.clone());
        let listed: Vec<String> = names.map(|w| format!("`{w}`")).collect();
        let listed = match listed.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => listed.concat(),
        };
        let error = self.unexpected(&listed);
        Err(match suggestion {
            Some(name) => error.with_help(format!("did you mean `{name}`?")),
            None => error,
        })
    }

    /// Reads an integer that fits `u64`, `i64` or either.
    pub(super) fn int(self, kind: IntKind) -> Result<i128> {
        let (least, most, expected) = match kind {
            IntKind::Unsigned => (0, i128::from(u64::MAX), "an unsigned 64-bit integer"),
            IntKind::Signed => (i64::MIN.into(), i64::MAX.into(), "a signed 64-bit integer"),
            IntKind::Either => (i64::MIN.into(), u64::MAX.into(), "a 64-bit integer"),
        };
        let integer = match self.value().kind {
            Kind::Integer => self.text().parse().ok(),
            _ => None,
        };
        match integer {
            Some(value) if (least..=most).contains(&value) => Ok(value),
            _ => Err(self.unexpected(expected)),
        }
    }

    pub(super) fn uint(self) -> Result<u64> {
        // `int` has checked the range.
        self.int(IntKind::Unsigned).map(|v| v as u64)
    }

    pub(super) fn array(self) -> Result<Array<'a>> {
        match self.value().kind {
            Kind::Array(len) => Ok(Array { node: self, len }),
            _ => Err(self.unexpected("an array")),
        }
    }

    /// Iterates over the properties of an object with arbitrary, unique names.
    pub(super) fn entries(self) -> Result<Entries<'a>> {
        let entries = self.properties("an object")?;
        let mut names = Names::default();
        for entry in entries.clone() {
            names.add(entry.name).map_err(|()| entry.duplicate())?;
        }
        Ok(entries)
    }

    /// Reads an object with a fixed set of property names.
    pub(super) fn object(self, what: &str, known: &'static [&'static str]) -> Result<Object<'a>> {
        let mut values: SmallVec<[Option<Node<'a>>; 14]> = SmallVec::from_elem(None, known.len());
        for entry in self.properties(what)? {
            let name = entry.name;
            let position = |name: &str| known.iter().position(|k| *k == name);
            let index = position(name).or_else(|| position(current_name(name)?));
            let Some(i) = index else {
                let error = entry.name_error(format!("{what} has no property `{name}`"));
                return Err(match nearest(name, known.iter().copied()) {
                    Some(near) => error.with_help(format!("did you mean `{near}`?")),
                    None => error.with_help(format!("known properties: {}", known.join(", "))),
                });
            };
            if values[i].replace(entry.value).is_some() {
                return Err(entry.duplicate());
            }
        }
        Ok(Object { node: self, known, values })
    }

    /// Returns a property without checking the object.
    pub(super) fn peek(self, name: &str) -> Option<Node<'a>> {
        self.properties("").ok()?.find(|entry| entry.name == name).map(|entry| entry.value)
    }

    fn properties(self, what: &str) -> Result<Entries<'a>> {
        match self.value().kind {
            Kind::Object(len) => Ok(Entries { name: self.first(), len }),
            _ if what == "an object" => Err(self.unexpected(what)),
            _ => Err(self.unexpected(&format!("{what} (an object)"))),
        }
    }
}

/// A property of an object.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    pub(super) name_span: Span,
    pub(super) value: Node<'a>,
}

impl Entry<'_> {
    fn name_error(&self, message: String) -> Diagnostic {
        Diagnostic::error(self.name_span, message)
    }

    fn duplicate(&self) -> Diagnostic {
        self.name_error(format!("duplicate property `{}`", self.name))
    }
}

/// The remaining properties of an object.
#[derive(Clone)]
pub(super) struct Entries<'a> {
    name: Node<'a>,
    len: u32,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        self.len = self.len.checked_sub(1)?;
        let (name, value) = (self.name, self.name.first());
        self.name = value.after();
        Some(Entry { name: name.as_str()?, name_span: name.span(), value })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len as usize, Some(self.len as usize))
    }
}

/// A set of names that must be unique.
#[derive(Default)]
pub(super) struct Names<'a> {
    few: SmallVec<[&'a str; 16]>,
    many: HashSet<&'a str>,
}

impl<'a> Names<'a> {
    /// Adds a name, or returns an error if the set already contains it.
    pub(super) fn add(&mut self, name: &'a str) -> std::result::Result<(), ()> {
        let mut is_new = !self.few.contains(&name);
        if self.few.len() < self.few.inline_size() {
            self.few.push(name);
        } else {
            is_new &= self.many.insert(name);
        }
        if is_new { Ok(()) } else { Err(()) }
    }
}

/// The accepted range of an integer.
#[derive(Clone, Copy)]
pub(super) enum IntKind {
    Unsigned,
    Signed,
    Either,
}

/// The elements of an array.
#[derive(Clone, Copy)]
pub(super) struct Array<'a> {
    node: Node<'a>,
    len: u32,
}

impl<'a> Array<'a> {
    pub(super) fn len(self) -> usize {
        self.len as usize
    }

    pub(super) fn iter(self) -> impl ExactSizeIterator<Item = Node<'a>> {
        let mut next = self.node.first();
        (0..self.len).map(move |_| {
            let node = next;
            next = node.after();
            node
        })
    }
}

/// An object with a fixed set of property names.
pub(super) struct Object<'a> {
    pub(super) node: Node<'a>,
    known: &'static [&'static str],
    values: SmallVec<[Option<Node<'a>>; 14]>,
}

impl<'a> Object<'a> {
    /// Returns a property, or `None` if it is missing.
    pub(super) fn get(&self, name: &str) -> Option<Node<'a>> {
        let i = self.known.iter().position(|k| *k == name);
        debug_assert!(i.is_some(), "`{name}` is read but not declared");
        self.values[i?]
    }

    /// Returns a required property.
    pub(super) fn required(&self, name: &str) -> Result<Node<'a>> {
        self.get(name).ok_or_else(|| self.node.error(format!("missing property `{name}`")))
    }

    /// Reads an optional property with `read`. Errors contain the property's name.
    pub(super) fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(Node<'a>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.get(name).map(|node| within_property(node, name, read)).transpose()
    }

    /// Reads a required property with `read`. Errors contain the property's name.
    pub(super) fn read_required<T>(
        &self,
        name: &str,
        read: impl FnOnce(Node<'a>) -> Result<T>,
    ) -> Result<T> {
        within_property(self.required(name)?, name, read)
    }
}

fn within_property<'a, T>(
    node: Node<'a>,
    name: &str,
    read: impl FnOnce(Node<'a>) -> Result<T>,
) -> Result<T> {
    read(node).map_err(|d| d.within(node.span(), format!("in property `{name}`")))
}
