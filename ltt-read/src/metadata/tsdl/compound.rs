//! Types `struct` and `variant`, and their members.

use std::sync::Arc;

use smallvec::SmallVec;

use super::declarations::Tag;
use super::error::{Error, Result, Within};
use super::parser::{Parser, unescape};
use super::scope::{Names, Namespace, Type};
use super::token::{Keyword, Token, TokenKind};
use crate::metadata::{Span, limits};
use crate::schema::{FieldClass, FieldKind, Member, Struct, Variant, VariantOption};

/// The members of a struct or options of a variant as written, with totals of their
/// trees.
struct Body<'a> {
    entries: SmallVec<[(&'a str, Arc<FieldClass>); 8]>,
    /// `true` if names differ only in their leading underscores.
    keep_underscores: bool,
    nodes: u32,
    depth: u32,
}

impl<'a> Parser<'a> {
    /// Parses the rest of a `struct` type, after its keyword.
    pub(super) fn structure(&mut self, keyword: Span) -> Result<Type> {
        let name = match self.token.kind {
            TokenKind::Identifier => Some(self.advance()),
            _ => None,
        };
        if let Some(name) = name
            && self.token.kind != TokenKind::LeftBrace
        {
            return self.find_type(Namespace::Struct, self.slice(name.span), name.span);
        }
        let mut ty = self.members(keyword)?;
        let align = self.min_align().within(keyword, "in `struct`")?;
        if align > 1 {
            ty.class = Arc::new(FieldClass::new(ty.class.kind.clone(), align));
        }
        if let Some(name) = name {
            self.declare(Namespace::Struct, self.slice(name.span).into(), name.span, &ty)?;
        }
        Ok(ty)
    }

    /// Parses the members of a struct in braces.
    fn members(&mut self, keyword: Span) -> Result<Type> {
        // A struct within another one may be too deep there.
        let text = if self.nesting == 0 { self.block_text() } else { None };
        let start = self.token.span;
        if let Some(text) = text
            && let Some(ty) = self.scopes.find_block(text).cloned()
        {
            self.continue_at(start.start as usize + text.len());
            return Ok(ty);
        }
        let warnings = self.warnings.len();
        self.open_structs += 1;
        let body = self.body(keyword, "member").within(keyword, "in `struct`")?;
        self.open_structs -= 1;
        let mut members = Vec::with_capacity(body.entries.len());
        for (name, class) in body.entries {
            let name = if body.keep_underscores { name } else { unescape(name) };
            members.push(Member { name: self.intern(name), class, attributes: None });
        }
        let class = FieldClass::new(FieldKind::Struct(Struct { members }), 1);
        let ty = Type { nodes: body.nodes, depth: body.depth, ..Type::leaf(class) };
        if let Some(text) = text
            && self.slice(self.since(start)) == text
            && self.warnings.len() == warnings
        {
            self.scopes.keep_block(text, ty.clone());
        }
        Ok(ty)
    }

    /// Parses an optional `align(N)`.
    fn min_align(&mut self) -> Result<u32> {
        if !self.accept(TokenKind::Keyword(Keyword::Align)) {
            return Ok(1);
        }
        self.expect(TokenKind::LeftParenthesis, "`(`")?;
        let what = "an alignment in bits: a power of two";
        let (align, span) = self.constant(what)?;
        self.expect(TokenKind::RightParenthesis, "`)`")?;
        u32::try_from(align)
            .ok()
            .filter(|a| a.is_power_of_two())
            .ok_or_else(|| Error::new(span, format!("expected {what}, found `{align}`")))
    }

    /// Parses the rest of a `variant` type, after its keyword.
    pub(super) fn variant(&mut self, keyword: Span) -> Result<Type> {
        let name = match self.token.kind {
            TokenKind::Identifier => Some(self.advance()),
            _ => None,
        };
        let tag = match self.token.kind {
            TokenKind::Less => Some(self.tag().within(keyword, "in `variant`")?),
            _ => None,
        };
        if self.token.kind != TokenKind::LeftBrace {
            return match name {
                Some(name) => self.variant_reference(name, tag),
                None => Err(self.unexpected("`{` or the name of a variant")),
            };
        }
        if let (Some(tag), Some(_), 0) = (&tag, name, self.open_structs)
            && tag.is_relative()
        {
            return Err(Error::new(tag.span(), "no enclosing structure contains the tag field")
                .help("give the tag where the variant is used: `variant NAME <TAG> FIELD;`"));
        }
        let body = self.body(keyword, "option").within(keyword, "in `variant`")?;
        if body.entries.is_empty() {
            return Err(Error::new(keyword, "a variant needs at least one option"));
        }
        let mut options = Vec::with_capacity(body.entries.len());
        for (label, class) in body.entries {
            // Labels of the tag's enumeration are compared as written.
            let shown = if body.keep_underscores { label } else { unescape(label) };
            options.push(VariantOption {
                name: Some(self.intern(shown)),
                label: Some(self.intern(label)),
                ranges: Vec::new(),
                class,
                attributes: None,
            });
        }
        let mut ty = variant_type(options, tag);
        (ty.nodes, ty.depth) = (body.nodes, body.depth);
        if let Some(name) = name {
            self.declare(Namespace::Variant, self.slice(name.span).into(), name.span, &ty)?;
        }
        Ok(ty)
    }

    /// Returns a variant by its name, with a tag if it has none yet.
    fn variant_reference(&mut self, name: Token, tag: Option<Tag>) -> Result<Type> {
        let known = self.find_type(Namespace::Variant, self.slice(name.span), name.span)?;
        let Some(tag) = tag else { return Ok(known) };
        match &known.class.kind {
            FieldKind::Variant(variant) if known.lacks_tag => {
                let ty = variant_type(variant.options.clone(), Some(tag));
                Ok(Type { nodes: known.nodes, depth: known.depth, ..ty })
            }
            _ => Err(Error::new(tag.span(), "variant already has a tag")),
        }
    }

    /// Parses `{ … }` of a struct or variant.
    fn body(&mut self, keyword: Span, what: &'static str) -> Result<Body<'a>> {
        self.descend(keyword)?;
        self.expect(TokenKind::LeftBrace, "`{`")?;
        self.scopes.enter();
        let mut names = Names::default();
        let mut body =
            Body { entries: SmallVec::new(), keep_underscores: false, nodes: 1, depth: 1 };
        while !self.accept(TokenKind::RightBrace) {
            match self.token.kind {
                TokenKind::Semicolon => self.semicolon()?,
                TokenKind::Keyword(Keyword::Typealias | Keyword::Typedef) => self.type_alias()?,
                _ => {
                    let (ty, name) = self.declaration(what)?;
                    match name {
                        Some(name) => self.entries(ty, name, what, &mut names, &mut body)?,
                        None => self.semicolon()?,
                    }
                }
            }
        }
        self.scopes.leave();
        self.nesting -= 1;
        // `x` and `_x` are equal after unescaping, but different names for the
        // producer.
        body.keep_underscores = body.entries.iter().any(|(name, _)| {
            name.strip_prefix('_')
                .is_some_and(|rest| !rest.starts_with('_') && names.contains(rest))
        });
        if body.keep_underscores {
            self.warn(
                keyword,
                "names differ only in a leading underscore: all underscores are kept",
            );
        }
        Ok(body)
    }

    /// Parses `name[…], name[…];` of members or options.
    fn entries(
        &mut self,
        ty: Type,
        first: Token,
        what: &'static str,
        names: &mut Names<'a>,
        body: &mut Body<'a>,
    ) -> Result<()> {
        let mut name = first;
        loop {
            self.check_name(name.span, what, names)?;
            let field = self.array_suffix(ty.clone(), name.span)?;
            self.entry(field, name.span, body)?;
            if !self.accept(TokenKind::Comma) {
                return self.semicolon();
            }
            name = self.identifier("a name")?;
        }
    }

    /// Adds the name of a member or option to those of its type.
    fn check_name(&self, name: Span, what: &str, names: &mut Names<'a>) -> Result<()> {
        let text = self.slice(name);
        match names.insert(text) {
            true => Ok(()),
            false => Err(Error::new(name, format!("duplicate {what} `{text}`"))),
        }
    }

    /// Adds a member or option.
    fn entry(&self, field: Type, name: Span, body: &mut Body<'a>) -> Result<()> {
        body.nodes = body.nodes.saturating_add(field.nodes);
        body.depth = body.depth.max(field.depth.saturating_add(1));
        self.check_depth(body.depth as usize, name)?;
        if body.nodes as usize > limits::NODES {
            return Err(Error::new(name, "this type is too large"));
        }
        body.entries.push((self.slice(name), field.class));
        Ok(())
    }
}

fn variant_type(options: Vec<VariantOption>, tag: Option<Tag>) -> Type {
    let lacks_tag = tag.is_none();
    let selector = tag.map(Tag::into_dependency).unwrap_or_else(Tag::none);
    let class = FieldClass::new(FieldKind::Variant(Variant { selector, options }), 1);
    Type { lacks_tag, ..Type::leaf(class) }
}
