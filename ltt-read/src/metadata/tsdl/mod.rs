//! TSDL, the metadata language of CTF 1.8: from text to [`Schema`].
//!
//! The [`lexer`] produces tokens. The [`parser`] works on them in one pass with one token
//! of look-ahead and builds field classes immediately: [`blocks`] calls [`declarations`],
//! which calls [`compound`], [`enumeration`] and [`scalars`]. [`assemble`] builds the
//! schema from the declarations of the blocks, with the [`roles`] that follow from names
//! and clock mappings. Locations of lengths and tags stay paths; they are resolved
//! together with those of CTF 2.

mod assemble;
mod attributes;
mod blocks;
mod compound;
mod declarations;
mod enumeration;
mod error;
mod lexer;
mod literal;
mod parser;
mod roles;
mod scalars;
mod scope;
#[cfg(test)]
mod tests;
mod token;

use super::{Diagnostic, Span};
use crate::schema::{ByteOrder, Schema};
use lexer::Lexer;
use parser::Parser;
use token::TokenKind;

/// Returns the part of a text up to its last `;` outside of blocks: all that is complete if the
/// text was cut.
pub(super) fn complete_part(text: &str) -> &str {
    let mut lexer = Lexer::new(text);
    let (mut depth, mut end) = (0_u32, 0);
    loop {
        let token = lexer.next();
        match token.kind {
            TokenKind::End | TokenKind::Bad(_) => break,
            TokenKind::LeftBrace => depth += 1,
            TokenKind::RightBrace => depth = depth.saturating_sub(1),
            TokenKind::Semicolon if depth == 0 => end = token.span.end as usize,
            _ => {}
        }
    }
    text.get(..end).unwrap_or_default()
}

/// Parses the text of a metadata stream. Locations are not resolved yet.
pub(super) fn parse(text: &str, warnings: &mut Vec<Diagnostic>) -> Result<Schema, Vec<Diagnostic>> {
    if u32::try_from(text.len()).is_err() {
        let message = "metadata of 4 GiB and more is not supported";
        return Err(vec![Diagnostic::error(Span::default(), message)]);
    }
    let native = parser::native_byte_order(text).unwrap_or(ByteOrder::Little);
    let mut parser = Parser::new(text, native);
    parser.run();
    // After syntax errors, missing declarations cannot be reported reliably.
    let schema = parser.errors.is_empty().then(|| parser.assemble());
    warnings.append(&mut parser.warnings);
    warnings.sort_by_key(|w| w.span.start);
    match schema {
        Some(schema) if parser.errors.is_empty() => Ok(schema),
        _ => {
            parser.errors.sort_by_key(|e| e.span.start);
            Err(parser.errors)
        }
    }
}
