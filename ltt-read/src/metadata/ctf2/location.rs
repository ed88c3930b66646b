//! Reading of field locations from JSON.

use super::json::{Node, Result};
use crate::schema::{Dependency, LocationOrigin, PathStep, Scope};

/// Reads a field location: the path to a length or selector.
pub(super) fn location(node: Node<'_>) -> Result<Dependency> {
    if node.is_array() {
        return location_of_draft(node);
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

/// Reads a location of the drafts: an array of an optional scope name and the path.
fn location_of_draft(node: Node<'_>) -> Result<Dependency> {
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
