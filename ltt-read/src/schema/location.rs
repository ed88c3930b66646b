//! The locations of lengths and selectors.

use std::sync::Arc;

use super::Scope;
use super::span::Span;

/// A place in which the decoder keeps the value of a length or selector field until it decodes
/// the field that depends on it. Opaque: it is assigned when locations are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub(crate) u16);

/// The number of [slots](SlotId) that a decoder needs. Opaque, like these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slots(pub(crate) u16);

/// The start of the path of a [`Dependency`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LocationOrigin {
    /// The root structure of a scope.
    Scope(Scope),
    /// The structure that immediately contains the dependent field (CTF 2 locations
    /// without `origin`). [`PathStep::Parent`] leads to the structure around it.
    Parent,
    /// The innermost enclosing structure that has a member with the first name of the
    /// path (TSDL names without a scope prefix).
    Enclosing,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// Down to the member or variant option of this name.
    Name(Arc<str>),
    /// Up to the containing structure (CTF 2 `null`).
    Parent,
}

/// A reference from a dynamic field to the field that contains its length or selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The start of the path.
    pub origin: LocationOrigin,
    /// The steps from the start.
    pub path: Vec<PathStep>,
    /// The place in the metadata text, for error messages.
    pub span: Span,
    /// The slot that stores the value of the referenced field. `None` until the location
    /// is resolved.
    pub slot: Option<SlotId>,
}

impl Dependency {
    /// Creates a reference to a member of an enclosing structure, by name.
    pub fn sibling(name: &str) -> Self {
        Dependency {
            origin: LocationOrigin::Enclosing,
            path: vec![PathStep::Name(name.into())],
            span: Span::default(),
            slot: None,
        }
    }

    /// Creates a reference from the root of a scope.
    pub fn absolute<'a>(scope: Scope, path: impl IntoIterator<Item = &'a str>) -> Self {
        Dependency {
            origin: LocationOrigin::Scope(scope),
            path: path.into_iter().map(|n| PathStep::Name(n.into())).collect(),
            span: Span::default(),
            slot: None,
        }
    }
}
