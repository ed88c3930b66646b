//! Structures as text.

use std::fmt;

use super::browse::{Browse, Item, try_each};
use super::path::{MAX_DEPTH, Path};
use super::tree::Attributes;

/// A wrapper whose `Display` prints a structure as a tree, indented by two spaces per level.
///
/// ```
/// use lttv_context::attributes::{Attributes, Indented};
///
/// let mut attributes = Attributes::new();
/// attributes.set_at("trace/events", 12_u64)?;
/// attributes.set_at("trace/host", "box")?;
/// assert_eq!(Indented(&attributes).to_string(), "\
/// trace
///   events: 12
///   host: \"box\"
/// ");
/// # Ok::<(), lttv_context::attributes::AttributeError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Indented<'a, T: ?Sized>(pub &'a T);

/// A wrapper whose `Display` prints each value of a structure in a line with its path. Empty
/// trees are not shown.
///
/// ```
/// use lttv_context::attributes::{Attributes, Paths};
///
/// let mut attributes = Attributes::new();
/// attributes.set_at("trace/events", 12_u64)?;
/// attributes.set_at("trace/host", "box")?;
/// assert_eq!(Paths(&attributes).to_string(), "/trace/events: 12\n/trace/host: \"box\"\n");
/// # Ok::<(), lttv_context::attributes::AttributeError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Paths<'a, T: ?Sized>(pub &'a T);

impl<T: Browse + ?Sized> fmt::Display for Indented<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        indented(&self.0, 0, f)
    }
}

fn indented(tree: &dyn Browse, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let indent = 2 * depth;
    try_each(tree, |name, item| match item {
        Item::Value(value) => writeln!(f, "{:indent$}{name}: {value}", ""),
        // Limit the depth, since a structure may contain itself.
        Item::Tree(_) if depth == MAX_DEPTH => writeln!(f, "{:indent$}{name}…", ""),
        Item::Tree(tree) => {
            writeln!(f, "{:indent$}{name}", "")?;
            indented(tree, depth + 1, f)
        }
    })
}

impl<T: Browse + ?Sized> fmt::Display for Paths<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        paths(&self.0, &mut Path::default(), f)
    }
}

fn paths(tree: &dyn Browse, path: &mut Path, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    try_each(tree, |name, item| {
        path.push(name);
        match item {
            Item::Value(value) => writeln!(f, "{path}: {value}")?,
            Item::Tree(_) if path.names().len() > MAX_DEPTH => writeln!(f, "{path}…")?,
            Item::Tree(tree) => paths(tree, path, f)?,
        }
        path.pop();
        Ok(())
    })
}

impl fmt::Display for Attributes {
    /// Writes the attributes in the form of [`Indented`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Indented(self).fmt(f)
    }
}
