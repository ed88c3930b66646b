//! Names of attributes: text or numbers.

use std::fmt::{self, Write};

/// The name of an attribute within its tree: text or a number.
///
/// A number is distinct from its text: 5 and "5" name two attributes. CPUs, for instance, are
/// named by number.
///
/// `Display` writes the name as a component of a [path](super::Path): numbers in brackets, and
/// ambiguous characters with a backslash.
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
    /// A text, which may be empty and contain any characters.
    Text(&'a str),
    /// A number, such as that of a CPU.
    Index(u64),
}

impl<'a, S: AsRef<str> + ?Sized> From<&'a S> for Name<'a> {
    fn from(text: &'a S) -> Self {
        Name::Text(text.as_ref())
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
                // Names may come from traces, and control characters must not reach a terminal.
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
