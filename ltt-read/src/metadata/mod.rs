//! Metadata: from the bytes of a `metadata` file to a [`Schema`].
//!
//! [`parse`] sniffs the language (TSDL of CTF 1.8, JSON text sequence of
//! CTF 2) and the packaging (plain or packetized), parses it, and resolves
//! every length and selector to a value slot. What is wrong with the text is
//! told as [`Diagnostic`]s with line and column.

mod ctf2;
mod diagnostic;
mod nearest;
mod packetized;
mod resolve;
mod tsdl;

pub use diagnostic::{Context, Diagnostic, LineColumn, MetadataError, Severity, Span};

pub(crate) use resolve::resolve;

use crate::schema::Schema;

/// Limits that keep hostile metadata from exhausting memory or stack.
pub(crate) mod limits {
    /// Nesting depth of field classes, blocks and JSON values.
    pub(crate) const DEPTH: usize = 64;
    /// Field classes reachable from all roots, shared ones counted each time.
    pub(crate) const NODES: usize = 8 << 20;
}

/// The result of [`parse`]: a schema and what was odd about its text.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Parsed {
    /// What the metadata declares, all locations resolved.
    pub schema: Schema,
    /// Oddities that did not prevent understanding, in text order.
    pub warnings: Vec<Diagnostic>,
    /// The metadata text, unpacked from its packets; spans refer to it.
    pub text: String,
}

/// Parses the contents of a metadata file.
///
/// ```
/// use ltt_read::metadata;
///
/// let error = metadata::parse(b"trace { major = 1; minor = 9; };").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "1:28: expected the minor version 8, found `9`, in `trace` block"
/// );
/// ```
///
/// # Errors
///
/// A [`MetadataError`] with one or more diagnostics that name line, column
/// and what was expected there.
pub fn parse(bytes: &[u8]) -> Result<Parsed, MetadataError> {
    let text = packetized::unpack(bytes)?;
    let mut warnings = Vec::new();
    let parsed = if ctf2::is_ctf2(&text) {
        ctf2::parse(&text, &mut warnings)
    } else {
        tsdl::parse(&text, &mut warnings)
    };
    match parsed.and_then(|mut schema| resolve(&mut schema).map(|()| schema)) {
        Ok(schema) => Ok(Parsed { schema, warnings, text }),
        Err(diagnostics) => Err(MetadataError::new(&text, diagnostics)),
    }
}
