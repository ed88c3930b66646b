//! Properties of many objects: attributes, extensions, identity.

use std::sync::Arc;

use super::json::{Node, Object, Result};
use crate::schema::Identity;

/// Reads `attributes`: an object, kept as JSON text.
pub(super) fn attributes(node: Node<'_>) -> Result<Arc<str>> {
    node.entries().map(|_| node.text().into())
}

/// Returns an error if an object declares `extensions`. Extensions may change the meaning
/// of any data, so data under an unknown extension must not be decoded. This reader
/// supports none.
pub(super) fn refuse_extensions(object: &Object<'_>) -> Result<()> {
    let read = object.read("extensions", |node| match node.entries()?.next() {
        Some(entry) => Err(node.error(format!("extension `{}` is not supported", entry.name))),
        None => Ok(()),
    });
    read.map(|_| ())
}

/// Reads `namespace`, `name` and `uid`.
pub(super) fn identity(object: &Object<'_>) -> Result<Identity> {
    let read = |name| Ok(object.read(name, Node::str)?.map(Into::into));
    Ok(Identity { namespace: read("namespace")?, name: read("name")?, uid: read("uid")? })
}
