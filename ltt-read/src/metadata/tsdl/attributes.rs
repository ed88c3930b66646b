//! Attributes of blocks: `name = value;`.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::error::{Error, Result};
use super::literal;
use super::parser::{Parser, byte_order};
use super::scope::Names;
use super::token::TokenKind;
use crate::base::uuid::Uuid;
use crate::metadata::Span;
use crate::schema::ByteOrder;

/// Names separated by dots.
pub(super) type Path<'a> = SmallVec<[&'a str; 4]>;

/// The left side of an attribute.
#[derive(Debug)]
pub(super) struct Name<'a> {
    pub(super) path: Path<'a>,
    pub(super) span: Span,
}

/// The right side of an attribute.
#[derive(Debug)]
pub(super) struct Value<'a> {
    pub(super) kind: ValueKind<'a>,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) enum ValueKind<'a> {
    Integer(i128),
    String(Cow<'a, str>),
    Path(Path<'a>),
}

impl<'a> Parser<'a> {
    /// Parses names (reserved or not) separated by dots.
    pub(super) fn path(&mut self, what: &str) -> Result<(Path<'a>, Span)> {
        let start = self.token.span;
        let mut path = Path::new();
        loop {
            if !self.token.kind.is_word() {
                return Err(self.unexpected(what));
            }
            let word = self.advance();
            path.push(self.slice(word.span));
            if !self.accept(TokenKind::Dot) {
                return Ok((path, self.since(start)));
            }
        }
    }

    /// Parses the left side of an attribute. The name has to be new in its block.
    pub(super) fn attribute_name(&mut self, seen: &mut Names<'a>) -> Result<Name<'a>> {
        let (path, span) = self.path("an attribute name")?;
        if !seen.insert(self.slice(span)) {
            let name = path.join(".");
            return Err(Error::new(span, format!("duplicate attribute `{name}`")));
        }
        Ok(Name { path, span })
    }

    /// Parses `= value ;`.
    pub(super) fn attribute_value(&mut self) -> Result<Value<'a>> {
        self.expect(TokenKind::Assign, "`=`")?;
        let value = self.value()?;
        self.semicolon()?;
        Ok(value)
    }

    fn value(&mut self) -> Result<Value<'a>> {
        let start = self.token.span;
        let kind = match self.token.kind {
            TokenKind::String => {
                let token = self.advance();
                ValueKind::String(literal::string(self.slice(token.span)))
            }
            kind if kind.is_word() => ValueKind::Path(self.path("a value")?.0),
            _ => ValueKind::Integer(
                self.constant("a value: an integer, a string or an identifier")?.0,
            ),
        };
        Ok(Value { kind, span: self.since(start) })
    }

    /// Parses an integer or character constant with its signs.
    pub(super) fn constant(&mut self, what: &str) -> Result<(i128, Span)> {
        let start = self.token.span;
        let mut negative = false;
        loop {
            match self.token.kind {
                TokenKind::Minus => negative = !negative,
                TokenKind::Plus => {}
                _ => break,
            }
            self.advance();
        }
        let token = self.token;
        let text = self.slice(token.span);
        let magnitude = match token.kind {
            TokenKind::Integer => literal::integer(text).ok_or_else(|| {
                Error::new(token.span, "this integer needs more than 64 bits".to_string())
            })?,
            TokenKind::Character => literal::character(text).map(u64::from).ok_or_else(|| {
                Error::new(token.span, "expected one character between the quotes".to_string())
            })?,
            _ => return Err(self.unexpected(what)),
        };
        self.advance();
        let value = i128::from(magnitude);
        Ok((if negative { -value } else { value }, self.since(start)))
    }

    /// Warns of an unknown attribute.
    pub(super) fn unknown_attribute(&mut self, name: &Name<'a>, of: &str) {
        let message = format!("unknown attribute `{}` of {of}: ignored", name.path.join("."));
        self.warn(name.span, message);
    }

    /// Parses `le`, `be`, `network` or `native`.
    pub(super) fn byte_order(&self, value: &Value<'a>) -> Result<ByteOrder> {
        match value.word() {
            Some("native") => Ok(self.native),
            word => word
                .and_then(byte_order)
                .ok_or_else(|| value.unsuitable("`le`, `be`, `network` or `native`")),
        }
    }
}

impl<'a> Value<'a> {
    /// Creates the error of a value that is not as expected.
    pub(super) fn unsuitable(&self, what: &str) -> Box<Error> {
        let found = match &self.kind {
            ValueKind::Integer(i) => format!("`{i}`"),
            ValueKind::String(s) => {
                format!("the string {:?}", s.chars().take(60).collect::<String>())
            }
            ValueKind::Path(p) => format!("`{}`", p.join(".")),
        };
        Error::new(self.span, format!("expected {what}, found {found}"))
    }

    /// Returns an identifier without dots.
    pub(super) fn word(&self) -> Option<&'a str> {
        match &self.kind {
            ValueKind::Path(path) if path.len() == 1 => Some(path[0]),
            _ => None,
        }
    }

    /// Returns a string, or an identifier as a string.
    pub(super) fn text(&self, what: &str) -> Result<Cow<'a, str>> {
        match &self.kind {
            ValueKind::String(s) => Ok(s.clone()),
            ValueKind::Path(p) if p.len() == 1 => Ok(Cow::Borrowed(p[0])),
            _ => Err(self.unsuitable(what)),
        }
    }

    /// Returns a string, but not an identifier.
    pub(super) fn string(&self, what: &str) -> Result<&str> {
        match &self.kind {
            ValueKind::String(s) => Ok(s),
            _ => Err(self.unsuitable(what)),
        }
    }

    pub(super) fn uuid(&self) -> Result<Uuid> {
        let what = "a string with a UUID, such as \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\"";
        self.string(what)?.parse().map_err(|_| self.unsuitable(what))
    }

    pub(super) fn unsigned(&self, what: &str) -> Result<u64> {
        self.integer().and_then(|i| u64::try_from(i).ok()).ok_or_else(|| self.unsuitable(what))
    }

    pub(super) fn signed(&self, what: &str) -> Result<i64> {
        self.integer().and_then(|i| i64::try_from(i).ok()).ok_or_else(|| self.unsuitable(what))
    }

    /// Returns an alignment in bits: a power of two.
    pub(super) fn alignment(&self) -> Result<u32> {
        let what = "an alignment in bits: a power of two";
        let align = self.unsigned(what)?;
        u32::try_from(align)
            .ok()
            .filter(|a| a.is_power_of_two())
            .ok_or_else(|| self.unsuitable(what))
    }

    pub(super) fn boolean(&self) -> Result<bool> {
        let text = match &self.kind {
            ValueKind::Integer(0) => return Ok(false),
            ValueKind::Integer(1) => return Ok(true),
            _ => self.text("`true` or `false`")?,
        };
        match &*text {
            "true" | "TRUE" => Ok(true),
            "false" | "FALSE" => Ok(false),
            _ => Err(self.unsuitable("`true` or `false`")),
        }
    }

    fn integer(&self) -> Option<i128> {
        match self.kind {
            ValueKind::Integer(i) => Some(i),
            _ => None,
        }
    }
}
