//! Spellings of the drafts that preceded CTF 2.0.
//!
//! Traces in these drafts exist; Trace Compass ships some. The spellings have no other
//! meaning in CTF 2.0, so they are accepted everywhere without an option.

use super::class::Kind;
use super::json::{Node, Result};
use crate::schema::{Dependency, LocationOrigin, PathStep, Scope};

/// Returns the current name of a renamed property.
pub(super) fn current_name(name: &str) -> Option<&'static str> {
    match name {
        "user-attributes" => Some("attributes"),
        "default-clock-class-name" => Some("default-clock-class-id"),
        _ => None,
    }
}

/// The types of enumerations, which were separate field classes.
pub(super) const KINDS: &[(&str, Kind)] = &[
    ("fixed-length-unsigned-enumeration", Kind::Integer { signed: false }),
    ("fixed-length-signed-enumeration", Kind::Integer { signed: true }),
    ("variable-length-unsigned-enumeration", Kind::VarInteger { signed: false }),
    ("variable-length-signed-enumeration", Kind::VarInteger { signed: true }),
];

/// Reads a location of the drafts: an array of an optional scope name and the path.
pub(super) fn location(node: Node<'_>) -> Result<Dependency> {
    let mut names = Vec::new();
    for name in node.array()?.iter() {
        names.push(name.str()?);
    }
    let scope = Scope::ALL.into_iter().find(|s| names.first() == Some(&s.ctf2_name()));
    let path = &names[usize::from(scope.is_some())..];
    if path.is_empty() {
        return Err(node.error("a location ends with the name of a field"));
    }
    Ok(Dependency {
        origin: scope.map_or(LocationOrigin::Parent, LocationOrigin::Scope),
        path: path.iter().map(|&name| PathStep::Name(name.into())).collect(),
        span: node.span(),
        slot: None,
    })
}
