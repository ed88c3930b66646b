//! Front end.

use super::Diagnostic;
use crate::schema::{Format, Schema};

pub(super) fn parse(
    _text: &str,
    _warnings: &mut Vec<Diagnostic>,
) -> Result<Schema, Vec<Diagnostic>> {
    Ok(Schema::new(Format::Ctf1))
}

/// Whether a text is a CTF 2 metadata stream.
pub(super) fn is_ctf2(text: &str) -> bool {
    text.starts_with('\u{1e}')
}
