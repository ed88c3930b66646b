//! Metadata of CTF 2 (CTF2-SPEC-2.0): a sequence of JSON objects, the
//! fragments, each after a record separator (RFC 7464).
//!
//! [`fragment`] reads the fragments, [`class`] the field classes in them. Every
//! JSON value knows its place in the text ([`json`]), so every error has one.

mod attributes;
mod class;
mod common;
mod fragment;
mod json;
mod location;
mod scalar;

use super::{Diagnostic, Span};
use crate::schema::Schema;
use fragment::Reader;

const RECORD_SEPARATOR: char = '\u{1e}';

/// Whether a text is a CTF 2 metadata stream. TSDL can begin with neither of
/// these characters.
pub(super) fn is_ctf2(text: &str) -> bool {
    text.trim_start().starts_with([RECORD_SEPARATOR, '{'])
}

/// Parses a metadata stream. Locations are left unresolved.
///
/// # Errors
///
/// Everything that is wrong up to the first fragment that others may need.
pub(super) fn parse(text: &str, warnings: &mut Vec<Diagnostic>) -> Result<Schema, Vec<Diagnostic>> {
    let mut reader = Reader::default();
    let mut errors = Vec::new();
    for (base, fragment) in split(text).map_err(|d| vec![d])? {
        match json::parse(fragment, base, |node| reader.fragment(node)) {
            Ok(_) => {}
            Err(error) => {
                errors.push(error);
                if !reader.is_event_record_class() || errors.len() >= 50 {
                    break;
                }
            }
        }
    }
    let end = Span::new(text.len(), text.len());
    if errors.is_empty() { reader.finish(end, warnings) } else { Err(errors) }
}

/// The fragments of a metadata stream, with their places in it.
fn split(text: &str) -> Result<impl Iterator<Item = (usize, &str)>, Diagnostic> {
    let mut start = 0;
    let mut pieces = text.split(RECORD_SEPARATOR).map(move |piece| {
        let base = start;
        start += piece.len() + RECORD_SEPARATOR.len_utf8();
        (base, piece)
    });
    match pieces.next() {
        Some((_, before)) if !before.trim_ascii().is_empty() => {
            let at = before.len() - before.trim_ascii_start().len();
            let message = "expected a record separator (U+001E) before each fragment";
            Err(Diagnostic::error(Span::new(at, at + 1), message))
        }
        _ => Ok(pieces),
    }
}
