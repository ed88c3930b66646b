//! `enum` types.

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
    /// Parses what follows the keyword `enum`.
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
        // Its values are readings of the container's clock.
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
            let range = self.range(next, fixed, signed, start)?;
            next = range.1 + 1;
            // A label may come again: it stands for all its ranges.
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

    /// Takes `= a` or `= a ... b`, or nothing for the one value `next`.
    fn range(
        &mut self,
        next: i128,
        fixed: &FixedLen,
        signed: bool,
        label: Span,
    ) -> Result<(i128, i128)> {
        let mut span = label;
        let (mut low, mut high) = (next, next);
        if self.accept(TokenKind::Assign) {
            (low, span) = self.constant("an integer constant")?;
            high = low;
            if self.accept(TokenKind::Ellipsis) {
                high = self.constant("the end of the range")?.0;
                span = self.since(span);
            }
            if low > high {
                let message = format!("the range {low} ... {high} is reversed");
                return Err(Error::new(span, message));
            }
        }
        if signed {
            let fits = low >= i128::from(i64::MIN) && high <= i128::from(i64::MAX);
            if !fits {
                return Err(Error::new(span, "this value needs more than 64 bits"));
            }
        } else if low < 0 {
            // Producers write -1 for all ones: taken as two's complement of
            // 64 bits, like every reader does.
            self.warn(span, "a negative value in an enumeration of unsigned integers");
            (low, high) = (wrap(low), wrap(high));
            if low > high {
                return Err(Error::new(span, "this range includes both -1 and 0, unsigned"));
            }
        } else if high > i128::from(u64::MAX) {
            return Err(Error::new(span, "this value needs more than 64 bits"));
        }
        let bits = if signed { fixed.bits - 1 } else { fixed.bits };
        let limit = (1i128 << bits) - 1;
        let least = if signed { -limit - 1 } else { 0 };
        if low < least || high > limit {
            let message = format!("no integer of {} bits has this value", fixed.bits);
            self.warn(span, message);
        }
        Ok((low, high))
    }
}

fn wrap(value: i128) -> i128 {
    i128::from(value as u64)
}
