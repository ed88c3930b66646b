//! Paths: names separated by slashes.

use std::fmt;
use std::str::FromStr;

use super::name::{Name, OwnedName};

/// The maximum depth of attributes below the root.
///
/// It suffices for any statistics, and limits the recursion of code that walks a tree.
pub const MAX_DEPTH: usize = 63;

/// A path from a tree to an attribute at or below it, such as `cpu/[3]/events`.
///
/// A leading slash makes no difference. The path without names, `/`, denotes the tree itself. A
/// number in brackets is a [number as a name](Name::Index). A backslash makes the following
/// punctuation character literal, `\u{7f}` is a character by its hexadecimal code, and `""` is
/// the empty name.
///
/// ```
/// use lttv_context::attributes::{Name, Path};
///
/// let path: Path = r"disks/\/dev\/sda/[0]".parse()?;
/// let names: Vec<Name> = path.names().collect();
/// assert_eq!(names, [Name::from("disks"), Name::from("/dev/sda"), Name::from(0)]);
/// assert_eq!(path.to_string(), r"/disks/\/dev\/sda/[0]");
/// # Ok::<(), lttv_context::attributes::PathError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Path {
    names: Vec<OwnedName>,
}

impl Path {
    /// Iterates over the names in the path.
    pub fn names(&self) -> impl ExactSizeIterator<Item = Name<'_>> + DoubleEndedIterator {
        self.names.iter().map(OwnedName::borrowed)
    }

    /// Adds a name at the end.
    pub fn push<'n>(&mut self, name: impl Into<Name<'n>>) {
        self.names.push(name.into().into());
    }

    /// Removes the last name. Returns `false` if the path has no names.
    pub fn pop(&mut self) -> bool {
        self.names.pop().is_some()
    }
}

impl<'a> FromIterator<Name<'a>> for Path {
    fn from_iter<I: IntoIterator<Item = Name<'a>>>(names: I) -> Self {
        Path { names: names.into_iter().map(OwnedName::from).collect() }
    }
}

impl FromStr for Path {
    type Err = PathError;

    /// Parses a path.
    ///
    /// # Errors
    ///
    /// Returns a [`PathError`] if the text is not a path.
    fn from_str(text: &str) -> Result<Self, PathError> {
        let mut names = Vec::new();
        for (at, component) in components(text) {
            let fault = |fault| PathError::new(text, at, fault);
            let name = parse_name(component).map_err(fault)?;
            if names.len() == MAX_DEPTH {
                return Err(fault(PathFault::TooLong));
            }
            names.push(name);
        }
        Ok(Path { names })
    }
}

impl fmt::Display for Path {
    /// Writes the path with a leading slash. Parsing it returns an equal path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.names.is_empty() {
            return f.write_str("/");
        }
        self.names().try_for_each(|name| write!(f, "/{name}"))
    }
}

/// Iterates over the components of a path, with their offsets in bytes.
fn components(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = match text.strip_prefix('/').unwrap_or(text) {
        "" => None,
        names => Some(names),
    };
    std::iter::from_fn(move || {
        let here = rest?;
        let mut literal = false;
        let end = here.bytes().position(|byte| {
            let ends = byte == b'/' && !literal;
            literal = byte == b'\\' && !literal;
            ends
        });
        let at = text.len() - here.len();
        let component = &here[..end.unwrap_or(here.len())];
        rest = end.map(|end| &here[end + 1..]);
        Some((at, component))
    })
}

/// Parses a component.
fn parse_name(component: &str) -> Result<OwnedName, PathFault> {
    match component {
        "" => return Err(PathFault::Empty),
        "\"\"" => return Ok(OwnedName::Text("".into())),
        _ => {}
    }
    if let Some(rest) = component.strip_prefix('[') {
        let digits = rest.strip_suffix(']').ok_or(PathFault::Index)?;
        let digits = digits.bytes().all(|b| b.is_ascii_digit()).then_some(digits);
        let index = digits.and_then(|digits| digits.parse().ok()).ok_or(PathFault::Index)?;
        return Ok(OwnedName::Index(index));
    }
    literal(component).map(|text| OwnedName::Text(text.into()))
}

/// Removes the escapes from a text name.
fn literal(component: &str) -> Result<String, PathFault> {
    let mut text = String::with_capacity(component.len());
    let mut rest = component.chars();
    while let Some(c) = rest.next() {
        text.push(match c {
            '*' => return Err(PathFault::Wildcard),
            '\\' => match rest.next() {
                Some('u') => {
                    let (code, after) = rest
                        .as_str()
                        .strip_prefix('{')
                        .and_then(|code| code.split_once('}'))
                        .ok_or(PathFault::Escape)?;
                    rest = after.chars();
                    let code = u32::from_str_radix(code, 16).map_err(|_| PathFault::Escape)?;
                    char::from_u32(code).ok_or(PathFault::Escape)?
                }
                Some(c) if c.is_ascii_punctuation() => c,
                _ => return Err(PathFault::Escape),
            },
            c => c,
        });
    }
    Ok(text)
}

/// An error for a text that is not a [`Path`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` at byte {at}: {fault}")]
#[non_exhaustive]
pub struct PathError {
    /// The text that was parsed.
    pub text: String,
    /// The offset of the invalid component, in bytes.
    pub at: usize,
    /// The fault of the component.
    pub fault: PathFault,
}

ltt_read::debug_as_chain!(PathError);

impl PathError {
    fn new(text: &str, at: usize, fault: PathFault) -> Self {
        PathError { text: text.to_owned(), at, fault }
    }
}

/// A fault in a component of a path.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathFault {
    /// An empty component: between two slashes, or after the last one.
    #[error("missing name; an empty name is `\"\"`")]
    Empty,
    /// A bracket without a number.
    #[error("expected a number in brackets such as `[3]`; a literal bracket is `\\[`")]
    Index,
    /// A backslash without a character that can be escaped.
    #[error("expected punctuation or `u{{HEX}}` after `\\`")]
    Escape,
    /// A wildcard in a path, which denotes a single attribute.
    #[error("a path has no wildcards; a literal `*` is `\\*`")]
    Wildcard,
    /// More names than the maximum depth of a tree.
    #[error("more than {MAX_DEPTH} names")]
    TooLong,
}

ltt_read::debug_as_chain!(PathFault);

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (usize, PathFault) {
        let error = text.parse::<Path>().unwrap_err();
        assert_eq!(error.text, text);
        (error.at, error.fault)
    }

    #[test]
    fn spellings() {
        let path = |text: &str| text.parse::<Path>().unwrap();
        assert_eq!(path(""), Path::default());
        assert_eq!(path("/"), Path::default());
        assert_eq!(path("a/b"), path("/a/b"));
        assert_eq!(path("[007]").to_string(), "/[7]");
        assert_eq!(path(r"\[7]").names().next(), Some(Name::Text("[7]")));
        assert_eq!(path("a[7]").names().next(), Some(Name::Text("a[7]")));
        assert_eq!(path("\"\"/\\u{a}").to_string(), "/\"\"/\\u{a}");
        assert_eq!(path(r"a\\/b").names().len(), 2);
        assert_eq!(path(r"\*").names().next(), Some(Name::Text("*")));
    }

    #[test]
    fn faults() {
        assert_eq!(fault("//"), (1, PathFault::Empty));
        assert_eq!(fault("a//b"), (2, PathFault::Empty));
        assert_eq!(fault("a/"), (2, PathFault::Empty));
        for wrong in ["[", "[]", "[x]", "[-1]", "[+1]", "[1]x", "[18446744073709551616]"] {
            assert_eq!(fault(wrong), (0, PathFault::Index), "{wrong}");
        }
        for wrong in [r"\", r"\n", r"\u", r"\u{", r"\u{}", r"\u{d800}", r"\u{110000}", r"\é"] {
            assert_eq!(fault(wrong), (0, PathFault::Escape), "{wrong}");
        }
        assert_eq!(fault("é/*"), (3, PathFault::Wildcard));
        assert_eq!(fault("a/x*"), (2, PathFault::Wildcard));
        let long = "/a".repeat(MAX_DEPTH);
        assert!(long.parse::<Path>().is_ok());
        assert_eq!(fault(&format!("{long}/a")), (2 * MAX_DEPTH + 1, PathFault::TooLong));
    }
}
