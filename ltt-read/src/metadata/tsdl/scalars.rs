//! Types `integer`, `floating_point` and `string`.

use memchr::memchr;

use super::attributes::{Name, Value, ValueKind};
use super::error::{Error, Result, Within};
use super::parser::{ClockMap, Parser};
use super::scope::{Names, Type};
use super::token::TokenKind;
use crate::metadata::Span;
use crate::schema::{
    BitOrder, ByteOrder, DisplayBase, Encoding, FieldClass, FieldKind, FixedLen, Integer, Str,
};

/// The attributes of an `integer` block.
#[derive(Default)]
struct IntegerBlock<'a> {
    size: Option<u32>,
    align: Option<u32>,
    byte_order: Option<ByteOrder>,
    signed: bool,
    base: DisplayBase,
    encoded: bool,
    map: Option<(&'a str, Span)>,
}

impl<'a> Parser<'a> {
    /// Parses the rest of an `integer` type, after its keyword.
    pub(super) fn integer(&mut self, keyword: Span) -> Result<Type> {
        // Equal text is an equal type: all references of an integer block (native byte
        // order, clocks by name) have the same meaning in all scopes.
        let open = self.token.span.end as usize;
        let key = match self.token.kind {
            TokenKind::LeftBrace => memchr(b'}', &self.text.as_bytes()[open..])
                .and_then(|n| self.text.get(open..open + n)),
            _ => None,
        };
        if let Some(key) = key
            && let Some(ty) = self.integers.get(key).cloned()
        {
            self.continue_at(open + key.len() + 1);
            return Ok(ty);
        }
        let ty = self.integer_block(keyword).within(keyword, "in `integer` block")?;
        if let Some(key) = key
            && self.since(keyword).end as usize == open + key.len() + 1
        {
            self.integers.insert(key, ty.clone());
        }
        Ok(ty)
    }

    fn integer_block(&mut self, keyword: Span) -> Result<Type> {
        let mut block = IntegerBlock::default();
        self.attribute_block(|parser, name, value| {
            match name.path.as_slice() {
                ["size"] => {
                    block.size = Some(match value.unsigned("a size in bits")? {
                        size @ 1..=64 => size as u32,
                        _ => return Err(value.unsuitable("a size of 1 to 64 bits")),
                    });
                }
                ["align"] => block.align = Some(value.alignment()?),
                ["signed"] => block.signed = value.boolean()?,
                ["byte_order"] => block.byte_order = Some(parser.byte_order(value)?),
                ["base"] => block.base = base(value)?,
                ["encoding"] => block.encoded = encoding(value)?.is_some(),
                ["map"] => block.map = Some((clock(value)?, value.span)),
                _ => parser.unknown_attribute(name, "`integer`"),
            }
            Ok(())
        })?;
        let Some(bits) = block.size else {
            return Err(Error::new(keyword, "`integer` needs a `size`"));
        };
        let align = block.align.unwrap_or_else(|| default_alignment(bits));
        let byte_order = block.byte_order.unwrap_or(self.native);
        let fixed = FixedLen { bits, byte_order, bit_order: BitOrder::Natural };
        let integer = Integer { signed: block.signed, base: block.base, ..Integer::default() };
        let mut ty = Type::leaf(FieldClass::new(FieldKind::Integer(fixed, integer), align));
        ty.is_character = block.encoded && bits == 8 && align == 8;
        if let Some((clock, span)) = block.map {
            self.map_to_clock(&ty, clock, span);
        }
        Ok(ty)
    }

    /// Records that values of a type are timestamps of a clock.
    pub(super) fn map_to_clock(&mut self, ty: &Type, clock: &'a str, span: Span) {
        let key = address(&ty.class);
        self.clock_maps.insert(key, ClockMap { _class: ty.class.clone(), clock, span });
    }

    /// Parses the rest of a `floating_point` type, after its keyword.
    pub(super) fn floating_point(&mut self, keyword: Span) -> Result<Type> {
        self.floating_point_block(keyword).within(keyword, "in `floating_point` block")
    }

    fn floating_point_block(&mut self, keyword: Span) -> Result<Type> {
        let (mut exponent, mut mantissa) = (None, None);
        let (mut align, mut byte_order) = (None, self.native);
        self.attribute_block(|parser, name, value| {
            match name.path.as_slice() {
                ["exp_dig"] => exponent = Some(value.unsigned("a number of bits")?),
                ["mant_dig"] => mantissa = Some(value.unsigned("a number of bits")?),
                ["align"] => align = Some(value.alignment()?),
                ["byte_order"] => byte_order = parser.byte_order(value)?,
                _ => parser.unknown_attribute(name, "`floating_point`"),
            }
            Ok(())
        })?;
        let bits = match (exponent, mantissa) {
            (Some(5), Some(11)) => 16,
            (Some(8), Some(24)) => 32,
            (Some(11), Some(53)) => 64,
            (Some(15), Some(113)) => 128,
            (Some(e), Some(m)) => {
                let message = format!("no floating-point format has exp_dig {e} and mant_dig {m}");
                return Err(
                    Error::new(keyword, message).help("formats are 5/11, 8/24, 11/53 and 15/113")
                );
            }
            (None, _) => return Err(Error::new(keyword, "`floating_point` needs an `exp_dig`")),
            (_, None) => return Err(Error::new(keyword, "`floating_point` needs a `mant_dig`")),
        };
        let fixed = FixedLen { bits, byte_order, bit_order: BitOrder::Natural };
        let align = align.unwrap_or_else(|| default_alignment(bits));
        Ok(Type::leaf(FieldClass::new(FieldKind::Float(fixed), align)))
    }

    /// Parses the rest of a `string` type, after its keyword.
    pub(super) fn string(&mut self, keyword: Span) -> Result<Type> {
        if self.token.kind != TokenKind::LeftBrace {
            return Ok(self.plain_string.clone());
        }
        self.attribute_block(|parser, name, value| {
            match name.path.as_slice() {
                // CTF 1.8 has only UTF-8 and its subset ASCII.
                ["encoding"] => drop(encoding(value)?),
                _ => parser.unknown_attribute(name, "`string`"),
            }
            Ok(())
        })
        .within(keyword, "in `string` block")?;
        Ok(self.plain_string.clone())
    }

    /// Parses `{ name = value; … }`.
    fn attribute_block(
        &mut self,
        mut attribute: impl FnMut(&mut Self, &Name<'a>, &Value<'a>) -> Result<()>,
    ) -> Result<()> {
        self.expect(TokenKind::LeftBrace, "`{`")?;
        let mut seen = Names::default();
        loop {
            match self.token.kind {
                TokenKind::RightBrace => break,
                TokenKind::Semicolon => self.semicolon()?,
                _ => {
                    let name = self.attribute_name(&mut seen)?;
                    let value = self.attribute_value()?;
                    attribute(self, &name, &value)?;
                }
            }
        }
        self.advance();
        Ok(())
    }
}

/// Returns the key of a class in [`Parser::clock_maps`].
pub(super) fn address(class: &std::sync::Arc<FieldClass>) -> usize {
    std::sync::Arc::as_ptr(class).addr()
}

/// Creates the string type without attributes.
pub(super) fn plain_string() -> Type {
    let string = Str { encoding: Encoding::Utf8, length: None };
    Type::leaf(FieldClass::new(FieldKind::String(string), 8))
}

/// Returns the default alignment in bits: whole bytes are byte-aligned, other sizes are
/// packed.
fn default_alignment(bits: u32) -> u32 {
    if bits.is_multiple_of(8) { 8 } else { 1 }
}

fn encoding(value: &Value<'_>) -> Result<Option<Encoding>> {
    let what = "the encoding `none`, `UTF8` or `ASCII`";
    match &*value.text(what)? {
        "none" => Ok(None),
        "UTF8" | "utf8" | "UTF-8" | "utf-8" | "ASCII" | "ascii" => Ok(Some(Encoding::Utf8)),
        _ => Err(value.unsuitable(what)),
    }
}

fn base(value: &Value<'_>) -> Result<DisplayBase> {
    let what = "a base: 2, 8, 10, 16 or a word such as `hex`";
    let base = match &value.kind {
        ValueKind::Integer(2) => Some(DisplayBase::Binary),
        ValueKind::Integer(8) => Some(DisplayBase::Octal),
        ValueKind::Integer(10) => Some(DisplayBase::Decimal),
        ValueKind::Integer(16) => Some(DisplayBase::Hexadecimal),
        _ => match &*value.text(what)? {
            "binary" | "bin" | "b" => Some(DisplayBase::Binary),
            "octal" | "oct" | "o" => Some(DisplayBase::Octal),
            "decimal" | "dec" | "d" | "i" | "u" => Some(DisplayBase::Decimal),
            "hexadecimal" | "hex" | "x" | "X" | "p" => Some(DisplayBase::Hexadecimal),
            _ => None,
        },
    };
    base.ok_or_else(|| value.unsuitable(what))
}

/// Parses the name of the clock in a `map` attribute.
fn clock<'a>(value: &Value<'a>) -> Result<&'a str> {
    match &value.kind {
        ValueKind::Path(path) => match path.as_slice() {
            ["clock", name, "value"] => Some(*name),
            _ => None,
        },
        _ => None,
    }
    .ok_or_else(|| value.unsuitable("`clock.NAME.value`"))
}
