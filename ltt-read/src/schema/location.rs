//! Where a length or a selector is found.

use std::sync::Arc;

use super::Scope;
use crate::metadata::Span;

/// Number of a value slot: the place where the decoder keeps the value of a
/// length or selector field until the field that depends on it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub u16);

/// From where the path of a [`Dependency`] starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LocationOrigin {
    /// From the root structure of a scope.
    Scope(Scope),
    /// From the structure that immediately contains the dependent field
    /// (CTF 2 locations without `origin`); [`PathStep::Parent`] goes up.
    Parent,
    /// From the innermost enclosing structure that has a member of the first
    /// name, looking outwards (TSDL names without a scope prefix).
    Enclosing,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// Into the member (or variant option) of this name.
    Name(Arc<str>),
    /// Up to the containing structure (CTF 2 `null`).
    Parent,
}

/// A reference from a dynamic field to the field that holds its length or
/// selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// Start of the path.
    pub origin: LocationOrigin,
    /// Steps from there.
    pub path: Vec<PathStep>,
    /// Place in the metadata text, for error messages.
    pub span: Span,
    /// The value slot that the referenced field is saved to. `None` until the
    /// location is resolved.
    pub slot: Option<SlotId>,
}

impl Dependency {
    /// A reference to a member of an enclosing structure, by name.
    pub fn sibling(name: &str) -> Self {
        Dependency {
            origin: LocationOrigin::Enclosing,
            path: vec![PathStep::Name(name.into())],
            span: Span::default(),
            slot: None,
        }
    }

    /// A reference from the root of a scope.
    pub fn absolute<'a>(scope: Scope, path: impl IntoIterator<Item = &'a str>) -> Self {
        Dependency {
            origin: LocationOrigin::Scope(scope),
            path: path.into_iter().map(|n| PathStep::Name(n.into())).collect(),
            span: Span::default(),
            slot: None,
        }
    }
}
