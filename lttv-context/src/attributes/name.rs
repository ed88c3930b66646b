//! Names of attributes: text or a number.

use std::fmt::{self, Write};

/// The name of an attribute within its tree.
///
/// Numbers are names of their own: the attribute 5 and the attribute "5" are
/// two. CPUs, for instance, are named by number.
///
/// It prints as a component of a [path](super::Path): a number in brackets, and
/// whatever could be misread with a backslash.
///
/// ```
/// use lttv_context::attributes::Name;
///
/// assert_eq!(Name::from(5).to_string(), "[5]");
/// assert_eq!(Name::from("5").to_string(), "5");
/// assert_eq!(Name::from("/dev/sda").to_string(), r"\/dev\/sda");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Name<'a> {
    /// A text; may be empty and hold any characters.
    Text(&'a str),
    /// A number.
    Index(u64),
}

impl<'a> From<&'a str> for Name<'a> {
    fn from(text: &'a str) -> Self {
        Name::Text(text)
    }
}

impl<'a> From<&'a String> for Name<'a> {
    fn from(text: &'a String) -> Self {
        Name::Text(text)
    }
}

impl From<u64> for Name<'_> {
    fn from(index: u64) -> Self {
        Name::Index(index)
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match *self {
            Name::Index(index) => return write!(f, "[{index}]"),
            Name::Text("") => return f.write_str("\"\""),
            Name::Text(text) => text,
        };
        for (at, c) in text.char_indices() {
            match c {
                '/' | '\\' | '*' => write!(f, "\\{c}")?,
                '[' | '"' if at == 0 => write!(f, "\\{c}")?,
                // Names come from traces, and this goes to terminals.
                c if c.is_control() => write!(f, "\\u{{{:x}}}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A name that owns its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum OwnedName {
    Text(Box<str>),
    Index(u64),
}

impl OwnedName {
    pub(super) fn borrowed(&self) -> Name<'_> {
        match self {
            OwnedName::Text(text) => Name::Text(text),
            OwnedName::Index(index) => Name::Index(*index),
        }
    }
}

impl From<Name<'_>> for OwnedName {
    fn from(name: Name<'_>) -> Self {
        match name {
            Name::Text(text) => OwnedName::Text(text.into()),
            Name::Index(index) => OwnedName::Index(index),
        }
    }
}
