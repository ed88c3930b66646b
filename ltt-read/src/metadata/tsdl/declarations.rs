//! Names of types, aliases, arrays, and locations of lengths and tags.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::attributes::Path;
use super::error::{Error, Result, Within};
use super::parser::{Parser, unescape};
use super::scope::{Namespace, Type};
use super::token::{Keyword, Token, TokenKind};
use crate::metadata::{Span, limits};
use crate::schema::{
    Array, Dependency, Encoding, EnvValue, FieldClass, FieldKind, Length, LocationOrigin, PathStep,
    Roles, Scope, Str,
};

/// The tag of a variant: the location of its selector.
pub(super) struct Tag(Dependency);

impl Tag {
    /// Creates a placeholder for a variant without a tag.
    pub(super) fn none() -> Dependency {
        Dependency {
            origin: LocationOrigin::Enclosing,
            path: Vec::new(),
            span: Span::default(),
            slot: None,
        }
    }

    pub(super) fn into_dependency(self) -> Dependency {
        self.0
    }

    pub(super) fn is_relative(&self) -> bool {
        self.0.origin == LocationOrigin::Enclosing
    }

    pub(super) fn span(&self) -> Span {
        self.0.span
    }
}

impl<'a> Parser<'a> {
    /// Parses a `typealias` or `typedef`, including its `;`.
    pub(super) fn type_alias(&mut self) -> Result<()> {
        let keyword = self.advance();
        match keyword.kind {
            TokenKind::Keyword(Keyword::Typedef) => {
                self.typedef().within(keyword.span, "in `typedef`")
            }
            _ => self.typealias().within(keyword.span, "in `typealias`"),
        }
    }

    /// Parses `TYPE := NAME;` of a `typealias`.
    fn typealias(&mut self) -> Result<()> {
        let start = self.token.span;
        let ty = self.whole_type("a type")?;
        let ty = self.array_suffix_or_alias(ty, start)?;
        self.expect(TokenKind::TypeAssign, "`:=`")?;
        let start = self.token.span;
        let words = self.words();
        if words.is_empty() || self.token.kind.is_word() {
            return Err(self.expected_identifier("a name for the type"));
        }
        let name = self.join(&words);
        self.declare(Namespace::Alias, name, self.since(start), &ty)?;
        self.semicolon()
    }

    /// Parses `TYPE NAME[…], …;` of a `typedef`.
    fn typedef(&mut self) -> Result<()> {
        let (ty, name) = self.declaration("type")?;
        let Some(mut name) = name else { return Err(self.unexpected("a name for the type")) };
        loop {
            if is_c_type(self.slice(name.span)) {
                return Err(Error::new(name.span, "expected a name that is not a C type")
                    .help("use `typealias` to redefine a C type"));
            }
            let ty = self.array_suffix_or_alias(ty.clone(), name.span)?;
            self.declare(Namespace::Alias, self.slice(name.span).into(), name.span, &ty)?;
            if !self.accept(TokenKind::Comma) {
                return self.semicolon();
            }
            name = self.identifier("a name for the type")?;
        }
    }

    /// Declares a type in the innermost scope.
    pub(super) fn declare(
        &mut self,
        space: Namespace,
        name: Cow<'a, str>,
        span: Span,
        ty: &Type,
    ) -> Result<()> {
        match self.scopes.declare(space, name.clone(), ty.clone()) {
            true => Ok(()),
            false => {
                let message = format!("duplicate {} `{name}` in this scope", space.what());
                Err(Error::new(span, message))
            }
        }
    }

    pub(super) fn find_type(&self, space: Namespace, name: &str, span: Span) -> Result<Type> {
        self.scopes.find(space, name).cloned().ok_or_else(|| {
            let what = space.what();
            let mut error = Error::new(span, format!("unknown {what} `{name}` in this scope"));
            error.consequence = true;
            error
        })
    }

    /// Parses a type that starts with a keyword. Also returns `true` if the type has a
    /// name of its own.
    fn explicit_type(&mut self) -> Option<Result<(Type, bool)>> {
        let TokenKind::Keyword(keyword) = self.token.kind else { return None };
        let parse = match keyword {
            Keyword::Integer => Self::integer,
            Keyword::FloatingPoint => Self::floating_point,
            Keyword::String => Self::string,
            Keyword::Struct => Self::structure,
            Keyword::Variant => Self::variant,
            Keyword::Enum => Self::enumeration,
            _ => return None,
        };
        let span = self.advance().span;
        let named = self.token.kind == TokenKind::Identifier;
        Some(parse(self, span).map(|ty| (ty, named)))
    }

    /// Parses a type without a following name.
    pub(super) fn whole_type(&mut self, what: &str) -> Result<Type> {
        if let Some(ty) = self.explicit_type() {
            return Ok(ty?.0);
        }
        let start = self.token.span;
        let words = self.words();
        if words.is_empty() {
            return Err(self.unexpected(what));
        }
        self.find_type(Namespace::Alias, &self.join(&words), self.since(start))
    }

    /// Parses `TYPE NAME`. The name may be missing after a struct, variant or enum with a
    /// name of its own.
    pub(super) fn declaration(&mut self, what: &str) -> Result<(Type, Option<Token>)> {
        let start = self.token.span;
        self.accept(TokenKind::Keyword(Keyword::Const));
        if let Some(ty) = self.explicit_type() {
            let (ty, named) = ty?;
            if self.token.kind == TokenKind::Semicolon {
                if !named {
                    self.warn(start, format!("type without a name or a {what} name: ignored"));
                }
                return Ok((ty, None));
            }
            return match self.token.kind {
                TokenKind::Identifier => Ok((ty, Some(self.advance()))),
                _ => Err(self.expected_identifier(&format!("a {what} name"))),
            };
        }
        let mut words = self.words();
        match words.pop() {
            Some(name) if name.kind == TokenKind::Identifier && !words.is_empty() => {
                let name_of_type = self.join(&words);
                let ty = self.find_type(Namespace::Alias, &name_of_type, start)?;
                Ok((ty, Some(name)))
            }
            Some(_) if matches!(self.token.kind, TokenKind::Keyword(_)) => {
                Err(self.expected_identifier(&format!("a {what} name")))
            }
            Some(word) => {
                let found = self.slice(word.span);
                let message = format!("expected a type and a {what} name, found only `{found}`");
                Err(Error::new(start, message))
            }
            None => Err(self.unexpected(&format!("a type and a {what} name"))),
        }
    }

    /// Parses the array lengths after a field's name.
    pub(super) fn array_suffix(&mut self, ty: Type, name: Span) -> Result<Type> {
        if ty.lacks_tag {
            return Err(Error::new(name, "the variant of this field has no tag")
                .help("write `variant NAME <TAG> FIELD;`"));
        }
        self.array_suffix_or_alias(ty, name)
    }

    /// Parses array lengths, if there are any. The last one is that of the innermost
    /// array.
    fn array_suffix_or_alias(&mut self, mut ty: Type, name: Span) -> Result<Type> {
        if self.token.kind != TokenKind::LeftBracket {
            return Ok(ty);
        }
        if ty.lacks_tag {
            return Err(Error::new(name, "the variant in this array has no tag"));
        }
        let mut lengths: SmallVec<[Length; 2]> = SmallVec::new();
        while self.token.kind == TokenKind::LeftBracket {
            self.check_depth(lengths.len(), self.token.span)?;
            lengths.push(self.length()?);
        }
        for length in lengths.into_iter().rev() {
            ty = match ty.is_character {
                true => {
                    let string = Str { encoding: Encoding::Utf8, length: Some(length) };
                    Type::leaf(FieldClass::new(FieldKind::String(string), 8))
                }
                false => {
                    let (nodes, depth) = (ty.nodes.saturating_add(1), ty.depth + 1);
                    self.check_depth(depth as usize, name)?;
                    let array = Array { element: ty.class, length, roles: Roles::NONE };
                    let class = FieldClass::new(FieldKind::Array(array), 1);
                    Type { nodes, depth, ..Type::leaf(class) }
                }
            };
        }
        match ty.nodes as usize > limits::NODES {
            true => Err(Error::new(name, "this type is too large")),
            false => Ok(ty),
        }
    }

    /// Parses `[length]`.
    fn length(&mut self) -> Result<Length> {
        let what = "a length: a constant, a field or `env.KEY`";
        self.expect(TokenKind::LeftBracket, "`[`")?;
        let length = if self.token.kind.is_word() {
            let (path, span) = self.path(what)?;
            match path.first() {
                Some(&"env") => Length::Static(self.env_length(&path, span)?),
                _ => Length::Dynamic(self.dependency(&path, span)?),
            }
        } else {
            let (length, span) = self.constant(what)?;
            let length = u64::try_from(length)
                .map_err(|_| Error::new(span, format!("negative length `{length}`")))?;
            Length::Static(length)
        };
        self.expect(TokenKind::RightBracket, "`]`")?;
        Ok(length)
    }

    /// Returns the length in an environment entry.
    fn env_length(&self, path: &Path<'a>, span: Span) -> Result<u64> {
        let [_, key] = path.as_slice() else {
            return Err(Error::new(span, "expected `env.KEY`, KEY being an environment entry"));
        };
        let entry = self.declared.env_entries.get(*key);
        match entry.map(|index| &self.declared.env[*index].1) {
            Some(EnvValue::Int(length)) => u64::try_from(*length).map_err(|_| {
                Error::new(span, format!("environment entry `{key}` is {length}, not a length"))
            }),
            Some(_) => Err(Error::new(
                span,
                format!("environment entry `{key}` is a string, not a length"),
            )),
            None => {
                let message = format!("no earlier environment entry `{key}`");
                let mut error = Error::new(span, message);
                error.consequence = true;
                Err(error)
            }
        }
    }

    /// Parses `<tag>`.
    pub(super) fn tag(&mut self) -> Result<Tag> {
        self.expect(TokenKind::Less, "`<`")?;
        let (path, span) = self.path("the tag field of the variant")?;
        let tag = self.dependency(&path, span)?;
        self.expect(TokenKind::Greater, "`>`")?;
        Ok(Tag(tag))
    }

    /// Converts a path to a location.
    fn dependency(&mut self, path: &Path<'a>, span: Span) -> Result<Dependency> {
        let (origin, names) = match path.as_slice() {
            ["trace", "packet", "header", names @ ..] => (Some(Scope::PacketHeader), names),
            ["stream", "packet", "context", names @ ..] => (Some(Scope::PacketContext), names),
            ["stream", "event", "header", names @ ..] => (Some(Scope::EventHeader), names),
            ["stream", "event", "context", names @ ..] => (Some(Scope::CommonContext), names),
            ["event", "context", names @ ..] => (Some(Scope::SpecificContext), names),
            ["event", "fields", names @ ..] => (Some(Scope::Payload), names),
            names => (None, names),
        };
        if names.is_empty() {
            return Err(Error::new(span, "expected the name of a field after this scope"));
        }
        if let Some(word) = names.iter().find(|name| Keyword::of(name.as_bytes()).is_some()) {
            // Names are slices of the text.
            let start = word.as_ptr() as usize - self.text.as_ptr() as usize;
            let message = format!("expected the name of a field, found the keyword `{word}`");
            return Err(Error::new(Span::new(start, start + word.len()), message));
        }
        let path = names.iter().map(|n| self.intern(unescape(n))).map(PathStep::Name).collect();
        let origin = origin.map_or(LocationOrigin::Enclosing, LocationOrigin::Scope);
        Ok(Dependency { origin, path, span, slot: None })
    }
}

/// Returns `true` if a word is part of C's type names.
fn is_c_type(word: &str) -> bool {
    matches!(
        word,
        "_Bool"
            | "_Complex"
            | "_Imaginary"
            | "char"
            | "double"
            | "float"
            | "int"
            | "long"
            | "short"
            | "signed"
            | "unsigned"
            | "void"
    )
}
