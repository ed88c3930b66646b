//! Metadata of CTF 2 (CTF2-SPEC-2.0): a sequence of JSON objects, the fragments, each
//! after a record separator (RFC 7464).
//!
//! [`fragment`] reads the fragments, [`class`] the field classes in them. Every JSON
//! value has its position in the text ([`syntax`], [`json`]), and so has every error.

mod attributes;
mod class;
mod common;
mod draft;
mod fragment;
mod json;
mod kind;
mod location;
mod scalar;
mod syntax;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::{Diagnostic, Span};
use crate::schema::Schema;
use fragment::Reader;
use json::Node;
use syntax::Tree;

const RECORD_SEPARATOR: u8 = 0x1e;

/// The maximum number of errors.
const MAX_ERRORS: usize = 50;

/// Returns `true` if a text is a CTF 2 metadata stream, by its first character. TSDL
/// cannot start with a record separator or a brace.
pub(super) fn is_ctf2(text: &str) -> bool {
    text.trim_start().starts_with([char::from(RECORD_SEPARATOR), '{'])
}

/// Parses a metadata stream. Locations are left unresolved.
///
/// # Errors
///
/// Returns all errors up to the first invalid fragment on which others may depend.
pub(super) fn parse(text: &str, warnings: &mut Vec<Diagnostic>) -> Result<Schema, Vec<Diagnostic>> {
    let mut reader = Reader::default();
    let mut tree = Tree::default();
    let mut errors = Vec::new();
    for Range { start, end } in split(text).map_err(|d| vec![d])? {
        if let Err(error) = syntax::parse(text, start, end, &mut tree) {
            errors.push(error);
            break;
        }
        let Some(node) = Node::root(&tree, text) else { continue };
        if let Err(error) = reader.fragment(node) {
            errors.push(error);
            if !reader.is_event_record_class() || errors.len() >= MAX_ERRORS {
                break;
            }
        }
    }
    let end = Span::new(text.len(), text.len());
    if errors.is_empty() { reader.finish(end, warnings) } else { Err(errors) }
}

/// Returns the part of a text before its last fragment: all that is complete if the text was cut.
pub(super) fn complete_part(text: &str) -> &str {
    let last = memchr::memrchr(RECORD_SEPARATOR, text.as_bytes());
    &text[..last.unwrap_or(0)]
}

/// Finds the ranges of the fragments in a metadata stream.
fn split(text: &str) -> Result<impl Iterator<Item = Range<usize>>, Diagnostic> {
    let bytes = text.as_bytes();
    let before = memchr::memchr(RECORD_SEPARATOR, bytes).unwrap_or(bytes.len());
    if let Some(at) = bytes[..before].iter().position(|b| !b.is_ascii_whitespace()) {
        let message = "expected a record separator (U+001E) before each fragment";
        return Err(Diagnostic::error(Span::new(at, at + 1), message));
    }
    let starts = memchr::memchr_iter(RECORD_SEPARATOR, bytes).map(|at| at + 1);
    Ok(starts.map(|start| {
        let len = memchr::memchr(RECORD_SEPARATOR, &bytes[start..]);
        start..len.map_or(bytes.len(), |n| start + n)
    }))
}
