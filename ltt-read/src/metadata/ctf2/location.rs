//! Reading of field locations from JSON.

use super::draft;
use super::json::{Node, Result};
use crate::schema::{Dependency, LocationOrigin, PathStep, Scope};

/// Reads a field location: the path to a length or selector.
pub(super) fn location(node: Node<'_>) -> Result<Dependency> {
    if node.is_array() {
        return draft::location(node);
    }
    let object = node.object("a field location", &["origin", "path"])?;
    let origin = object.read("origin", |n| n.word(&Scope::ALL.map(|s| (s.ctf2_name(), s))))?;
    let path = object.required("path")?;
    let steps = object.read("path", |path| {
        let array = path.array()?;
        let mut steps = Vec::with_capacity(array.len());
        for (i, step) in array.iter().enumerate() {
            steps.push(match step.as_str() {
                Some(name) => PathStep::Name(name.into()),
                None if !step.is_null() => return Err(step.unexpected("a string or null")),
                None if i + 1 == array.len() => {
                    return Err(step.error("a path ends with the name of a field, not with null"));
                }
                None => PathStep::Parent,
            });
        }
        match steps.is_empty() {
            true => Err(path.error("a path has at least one element")),
            false => Ok(steps),
        }
    })?;
    Ok(Dependency {
        origin: origin.map_or(LocationOrigin::Parent, LocationOrigin::Scope),
        path: steps.unwrap_or_default(),
        span: path.span(),
        slot: None,
    })
}
