//! Metadata: from the bytes of a `metadata` file to a [`Schema`].
//!
//! [`parse`] detects the language (TSDL of CTF 1.8, JSON text sequence of CTF 2) and the
//! packaging (plain or packetized), parses the text, and resolves every length and
//! selector to a value slot. Problems of the text are reported as [`Diagnostic`]s with
//! line and column.

mod ctf2;
mod diagnostic;
mod nearest;
mod packetized;
mod resolve;
mod tsdl;

pub use diagnostic::{Context, Diagnostic, LineColumn, LocatedDiagnostic, MetadataError, Severity};

pub use crate::schema::span::Span;

pub(crate) use resolve::resolve;

use crate::schema::Schema;
use packetized::Unpacked;

/// Limits that keep hostile metadata from exhausting memory or stack.
pub(crate) mod limits {
    /// The maximum nesting of field classes, blocks and JSON values.
    pub(crate) const DEPTH: usize = 64;
    /// The maximum number of field classes reachable from all roots; shared classes count
    /// at each use.
    pub(crate) const NODES: usize = 8 << 20;
}

/// Returns the first bytes of a metadata stream that is still being written, up to the end of
/// its last whole packet. Text that is not packetized is returned completely.
pub(crate) fn whole_packets(bytes: &[u8]) -> &[u8] {
    packetized::whole_packets(bytes)
}

/// The result of [`parse`]: a schema and the warnings about its text.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Parsed {
    /// The declarations of the metadata, with all locations resolved.
    pub schema: Schema,
    /// The warnings, in text order.
    pub warnings: Vec<Diagnostic>,
    /// The metadata text, unpacked from its packets. Spans refer to this text.
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
/// Returns a [`MetadataError`] with one or more diagnostics, each with line, column and
/// the expected input.
pub fn parse(bytes: &[u8]) -> Result<Parsed, MetadataError> {
    let Unpacked { text, damage } = packetized::unpack(bytes)?;
    if let Some(damage) = damage {
        return Err(damage);
    }
    let Declarations { schema, warnings, .. } = declarations(&text)?;
    Ok(Parsed { schema, warnings, text: text.into_owned() })
}

/// The declarations of metadata, without its text.
#[derive(Debug)]
pub(crate) struct Declarations {
    pub(crate) schema: Schema,
    /// The warnings, in text order.
    pub(crate) warnings: Vec<Diagnostic>,
    /// The reason why the text contains no more declarations, if it was cut or damaged.
    pub(crate) cut: Option<MetadataError>,
}

impl Declarations {
    /// Parses the contents of a metadata file, without copying them if they are plain text.
    pub(crate) fn of(bytes: &[u8]) -> Result<Declarations, MetadataError> {
        let Unpacked { text, damage } = packetized::unpack(bytes)?;
        match damage {
            Some(damage) => Err(damage),
            None => declarations(&text),
        }
    }

    /// Parses the contents of a metadata file like [`of`](Self::of). If it was cut or damaged, the
    /// declarations that are complete before that place are used.
    pub(crate) fn of_complete(bytes: &[u8]) -> Result<Declarations, MetadataError> {
        let Unpacked { text, damage } = packetized::unpack(bytes)?;
        let error = match declarations(&text) {
            Ok(declared) => return Ok(Declarations { cut: damage, ..declared }),
            Err(error) => error,
        };
        let end = text.trim_ascii_end().len();
        let is_at_end = |at: &LocatedDiagnostic| at.diagnostic.span.end as usize >= end;
        let is_cut = damage.is_some() || error.diagnostics.first().is_some_and(is_at_end);
        let complete = match ctf2::is_ctf2(&text) {
            true => ctf2::complete_part(&text),
            false => tsdl::complete_part(&text),
        };
        let error = damage.unwrap_or(error);
        match declarations(complete) {
            Ok(declared) if is_cut => Ok(Declarations { cut: Some(error), ..declared }),
            _ => Err(error),
        }
    }
}

fn declarations(text: &str) -> Result<Declarations, MetadataError> {
    let mut warnings = Vec::new();
    let parsed = if ctf2::is_ctf2(text) {
        ctf2::parse(text, &mut warnings)
    } else {
        tsdl::parse(text, &mut warnings)
    };
    match parsed.and_then(|mut schema| resolve(&mut schema).map(|()| schema)) {
        Ok(schema) => Ok(Declarations { schema, warnings, cut: None }),
        Err(diagnostics) => Err(MetadataError::new(text, diagnostics)),
    }
}
