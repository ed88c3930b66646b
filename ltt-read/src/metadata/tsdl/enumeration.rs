//! Enumerations: types `enum`.

use hashbrown::HashMap;

use super::error::{Error, Result, Within};
use super::literal;
use super::parser::Parser;
use super::scalars::address;
use super::scope::{Namespace, Type};
use super::token::{Keyword, TokenKind};
use crate::metadata::Span;
use crate::schema::{FieldClass, FieldKind, FixedLen, Integer, Mapping};

impl<'a> Parser<'a> {
    /// Parses the rest of an `enum` type, after its keyword.
    pub(super) fn enumeration(&mut self, keyword: Span) -> Result<Type> {
        let name = match self.token.kind {
            TokenKind::Identifier => Some(self.advance()),
            _ => None,
        };
        if let Some(name) = name
            && !matches!(self.token.kind, TokenKind::Colon | TokenKind::LeftBrace)
        {
            return self.find_type(Namespace::Enum, self.slice(name.span), name.span);
        }
        let ty = self.enumeration_body(keyword).within(keyword, "in `enum`")?;
        if let Some(name) = name {
            self.declare(Namespace::Enum, self.slice(name.span).into(), name.span, &ty)?;
        }
        Ok(ty)
    }

    fn enumeration_body(&mut self, keyword: Span) -> Result<Type> {
        let start = self.token.span;
        let container = match self.accept(TokenKind::Colon) {
            true => match self.token.kind {
                TokenKind::Identifier | TokenKind::Keyword(Keyword::Integer | Keyword::Const) => {
                    self.whole_type("an integer type")?
                }
                _ => return Err(self.unexpected("an integer type")),
            },
            false => self.scopes.find(Namespace::Alias, "int").cloned().ok_or_else(|| {
                let message = "an `enum` without integer type needs the type alias `int`";
                Error::new(keyword, message).help("write `enum : TYPE { … }`")
            })?,
        };
        let span = self.since(start);
        let FieldKind::Integer(fixed, integer @ Integer { mappings: None, .. }) =
            &container.class.kind
        else {
            return Err(Error::new(span, "expected an integer type as container of the `enum`"));
        };
        let mappings = self.mappings(fixed, integer.signed)?;
        let integer = Integer { mappings: Some(mappings.into()), ..integer.clone() };
        let class = FieldClass::new(FieldKind::Integer(*fixed, integer), container.class.align);
        let ty = Type::leaf(class);
        // The values are timestamps of the container's clock.
        if let Some(map) = self.clock_maps.get(&address(&container.class)) {
            let (clock, span) = (map.clock, map.span);
            self.map_to_clock(&ty, clock, span);
        }
        Ok(ty)
    }

    fn mappings(&mut self, fixed: &FixedLen, signed: bool) -> Result<Vec<Mapping>> {
        self.expect(TokenKind::LeftBrace, "`{`")?;
        let mut mappings: Vec<Mapping> = Vec::new();
        let mut by_label: HashMap<_, usize> = HashMap::new();
        let mut next = 0;
        loop {
            let start = self.token.span;
            let label = match self.token.kind {
                TokenKind::String => {
                    let token = self.advance();
                    literal::string(self.slice(token.span)).as_ref().into()
                }
                _ => {
                    let token = self.identifier("a label (an identifier or a string)")?;
                    self.intern(self.slice(token.span))
                }
            };
            let written = self.range(next, start)?;
            next = written.1 + 1;
            let range = self.fit(written, fixed, signed)?;
            // A repeated label stands for all its ranges.
            let index = *by_label.entry(label.clone()).or_insert(mappings.len());
            match mappings.get_mut(index) {
                Some(mapping) => mapping.ranges.push(range),
                None => mappings.push(Mapping { label, ranges: vec![range] }),
            }
            let comma = self.accept(TokenKind::Comma);
            if self.accept(TokenKind::RightBrace) {
                return Ok(mappings);
            }
            if !comma {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
    }

    /// Parses `= a` or `= a ... b`, or nothing for the single value `next`.
    fn range(&mut self, next: i128, label: Span) -> Result<(i128, i128, Span)> {
        if !self.accept(TokenKind::Assign) {
            return Ok((next, next, label));
        }
        let (low, mut span) = self.constant("an integer constant")?;
        let mut high = low;
        if self.accept(TokenKind::Ellipsis) {
            high = self.constant("the end of the range")?.0;
            span = self.since(span);
        }
        match low > high {
            true => Err(Error::new(span, format!("the range {low} ... {high} is reversed"))),
            false => Ok((low, high, span)),
        }
    }

    /// Converts a range to values of the container.
    fn fit(
        &mut self,
        (low, high, span): (i128, i128, Span),
        fixed: &FixedLen,
        signed: bool,
    ) -> Result<(i128, i128)> {
        let max = if signed { i128::from(i64::MAX) } else { i128::from(u64::MAX) };
        if low < i128::from(i64::MIN) || high > max {
            return Err(Error::new(span, "this value needs more than 64 bits"));
        }
        if !signed && low < 0 {
            // Producers write -1 for all ones: two's complement of 64 bits, as in
            // other readers.
            self.warn(span, "negative value in an enumeration of unsigned integers");
            let wrap = |value: i128| i128::from(value as u64);
            return match high < 0 {
                true => Ok((wrap(low), wrap(high))),
                false => Err(Error::new(
                    span,
                    "range from negative to positive in an enumeration of unsigned integers",
                )),
            };
        }
        let bits = if signed { fixed.bits - 1 } else { fixed.bits };
        let limit = 1i128 << bits;
        if high >= limit || low < -limit {
            self.warn(span, format!("value does not fit in {} bits", fixed.bits));
        }
        Ok((low, high))
    }
}
