//! JSON values that know where in the metadata text they stand.
//!
//! Getters name the property and what was expected of it, so that code which
//! reads fragments is free of error messages.

use hashbrown::HashSet;
use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions};
use smallvec::SmallVec;

use crate::metadata::nearest::nearest;
use crate::metadata::{Diagnostic, Span, limits};

/// Nesting depth of JSON values: a level of field classes takes up to three
/// levels of JSON.
const DEPTH: usize = 4 * limits::DEPTH;

pub(super) type Result<T> = std::result::Result<T, Diagnostic>;

/// The text that a value was parsed from.
#[derive(Clone, Copy)]
struct Source<'a> {
    text: &'a str,
    /// Where it begins in the metadata text.
    base: usize,
}

impl Source<'_> {
    fn span(self, start: usize, end: usize) -> Span {
        Span::new(self.base + start, self.base + end)
    }
}

/// Parses one JSON text strictly by RFC 8259 and hands its value over; `None`
/// if it is blank.
///
/// # Errors
///
/// When the text is not JSON, and what `read` returns.
pub(super) fn parse<T>(
    text: &str,
    base: usize,
    read: impl FnOnce(Node<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let source = Source { text, base };
    scan(source)?;
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    let strict = ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = jsonc_parser::parse_to_ast(text, &collect, &strict).map_err(|e| {
        let range = e.range();
        let message = e.kind().to_string();
        let mut letters = message.chars();
        let first = letters.next().map(|c| c.to_ascii_lowercase());
        let message: String = first.into_iter().chain(letters).collect();
        Diagnostic::error(source.span(range.start, range.end), format!("not JSON: {message}"))
    })?;
    parsed.value.as_ref().map(|value| read(Node { value, source })).transpose()
}

/// Refuses what the parser would let pass or recurse on: values nested too
/// deep, and characters that JSON only knows escaped or not at all.
fn scan(source: Source<'_>) -> Result<()> {
    let mut depth = 0usize;
    let mut in_string = false;
    let mut escaped = false;
    for (i, &byte) in source.text.as_bytes().iter().enumerate() {
        let problem = match byte {
            0..=0x1f if in_string => "a control character in a string must be escaped",
            _ if escaped => {
                escaped = false;
                continue;
            }
            b'\\' if in_string => {
                escaped = true;
                continue;
            }
            b'"' => {
                in_string = !in_string;
                continue;
            }
            _ if in_string => continue,
            b'[' | b'{' => {
                depth += 1;
                if depth <= DEPTH {
                    continue;
                }
                "values are nested too deep"
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                continue;
            }
            b'\t' | b'\n' | b'\r' | b' '..=b'~' => continue,
            _ => "unexpected character outside a string",
        };
        return Err(Diagnostic::error(source.span(i, i + 1), format!("not JSON: {problem}")));
    }
    Ok(())
}

/// A JSON value.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    value: &'a Value<'a>,
    source: Source<'a>,
}

impl<'a> Node<'a> {
    pub(super) fn span(self) -> Span {
        let range = match self.value {
            Value::StringLit(v) => v.range,
            Value::NumberLit(v) => v.range,
            Value::BooleanLit(v) => v.range,
            Value::Object(v) => v.range,
            Value::Array(v) => v.range,
            Value::NullKeyword(v) => v.range,
        };
        self.source.span(range.start, range.end)
    }

    /// The JSON text of the value.
    pub(super) fn text(self) -> &'a str {
        let Span { start, end } = self.span();
        let (start, end) = (start as usize - self.source.base, end as usize - self.source.base);
        self.source.text.get(start..end).unwrap_or("")
    }

    /// An error at this value.
    pub(super) fn error(self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.span(), message)
    }

    /// "expected …, found …"
    pub(super) fn unexpected(self, expected: &str) -> Diagnostic {
        let found = match self.value {
            Value::StringLit(s) => match s.value.chars().count() {
                0..=40 => format!("the string {:?}", s.value),
                _ => "a string".into(),
            },
            Value::NumberLit(n) if n.value.len() <= 40 => format!("the number {}", n.value),
            Value::NumberLit(_) => "a number".into(),
            Value::BooleanLit(b) => b.value.to_string(),
            Value::Object(_) => "an object".into(),
            Value::Array(_) => "an array".into(),
            Value::NullKeyword(_) => "null".into(),
        };
        self.error(format!("expected {expected}, found {found}"))
    }

    pub(super) fn is_null(self) -> bool {
        matches!(self.value, Value::NullKeyword(_))
    }

    pub(super) fn is_object(self) -> bool {
        matches!(self.value, Value::Object(_))
    }

    /// The text of a string value.
    pub(super) fn as_str(self) -> Option<&'a str> {
        match self.value {
            Value::StringLit(s) => Some(&s.value),
            _ => None,
        }
    }

    pub(super) fn str(self) -> Result<&'a str> {
        self.as_str().ok_or_else(|| self.unexpected("a string"))
    }

    /// One of several words, as what it stands for.
    pub(super) fn word<T: Copy>(self, words: &[(&str, T)]) -> Result<T> {
        let word = self.str()?;
        if let Some((_, value)) = words.iter().find(|(w, _)| *w == word) {
            return Ok(*value);
        }
        let names = words.iter().map(|(w, _)| *w);
        let suggestion = nearest(word, names.clone());
        let listed: Vec<String> = names.map(|w| format!("`{w}`")).collect();
        let listed = match listed.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => listed.concat(),
        };
        let error = self.unexpected(&listed);
        Err(match suggestion {
            Some(name) => error.with_help(format!("did you mean `{name}`?")),
            None => error,
        })
    }

    /// An integer that fits `i64` or `u64`.
    fn integer(self) -> Option<i128> {
        let Value::NumberLit(n) = self.value else { return None };
        let value = n.value.parse().ok()?;
        (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value).then_some(value)
    }

    /// An integer that fits `u64`, `i64` or either.
    pub(super) fn int(self, kind: IntKind) -> Result<i128> {
        let (least, most, expected) = match kind {
            IntKind::Unsigned => (0, i128::from(u64::MAX), "an unsigned 64-bit integer"),
            IntKind::Signed => (i64::MIN.into(), i64::MAX.into(), "a signed 64-bit integer"),
            IntKind::Either => (i64::MIN.into(), u64::MAX.into(), "a 64-bit integer"),
        };
        match self.integer() {
            Some(value) if (least..=most).contains(&value) => Ok(value),
            _ => Err(self.unexpected(expected)),
        }
    }

    pub(super) fn uint(self) -> Result<u64> {
        // In range: `int` has checked.
        self.int(IntKind::Unsigned).map(|v| v as u64)
    }

    pub(super) fn array(self) -> Result<Array<'a>> {
        match self.value {
            Value::Array(a) => Ok(Array { elements: &a.elements, source: self.source }),
            _ => Err(self.unexpected("an array")),
        }
    }

    /// The properties of an object with free names, each name once.
    pub(super) fn entries(self) -> Result<impl ExactSizeIterator<Item = Entry<'a>>> {
        let properties = self.properties("an object")?;
        if let Some(again) = repeated(properties) {
            return Err(self.twice(again));
        }
        Ok(properties.iter().map(move |p| self.entry(p)))
    }

    /// An object whose properties are known by name.
    pub(super) fn object(self, what: &str, known: &'static [&'static str]) -> Result<Object<'a>> {
        let properties = self.properties(what)?;
        let mut values: SmallVec<[Option<&'a Value<'a>>; 14]> =
            SmallVec::from_elem(None, known.len());
        for property in properties {
            let name = property.name.as_str();
            let Some(i) = known.iter().position(|k| *k == name) else {
                let span = self.entry(property).name_span;
                let message = format!("{what} has no property `{name}`");
                let error = Diagnostic::error(span, message);
                return Err(match nearest(name, known.iter().copied()) {
                    Some(near) => error.with_help(format!("did you mean `{near}`?")),
                    None => error.with_help(format!("known properties: {}", known.join(", "))),
                });
            };
            if values[i].replace(&property.value).is_some() {
                return Err(self.twice(property));
            }
        }
        Ok(Object { node: self, known, values })
    }

    /// A property of an object of any kind, for a first look.
    pub(super) fn peek(self, name: &str) -> Option<Node<'a>> {
        let Value::Object(o) = self.value else { return None };
        let property = o.properties.iter().find(|p| p.name.as_str() == name)?;
        Some(Node { value: &property.value, source: self.source })
    }

    fn properties(self, what: &str) -> Result<&'a [ObjectProp<'a>]> {
        match self.value {
            Value::Object(o) => Ok(&o.properties),
            _ if what == "an object" => Err(self.unexpected(what)),
            _ => Err(self.unexpected(&format!("an object ({what})"))),
        }
    }

    fn entry(self, property: &'a ObjectProp<'a>) -> Entry<'a> {
        let start = property.range.start;
        let value = Node { value: &property.value, source: self.source };
        let name = property.name.as_str();
        // Right for names without escapes, which is what matters in messages.
        let name_span = self.source.span(start, start + name.len() + 2);
        Entry { name, name_span, value }
    }

    fn twice(self, property: &'a ObjectProp<'a>) -> Diagnostic {
        let entry = self.entry(property);
        Diagnostic::error(entry.name_span, format!("property `{}` is there twice", entry.name))
    }
}

/// The first property whose name was there before.
fn repeated<'a>(properties: &'a [ObjectProp<'a>]) -> Option<&'a ObjectProp<'a>> {
    if properties.len() <= 8 {
        let name = |i: usize| properties[i].name.as_str();
        return (1..properties.len())
            .find(|&i| (0..i).any(|j| name(i) == name(j)))
            .map(|i| &properties[i]);
    }
    let mut seen = HashSet::with_capacity(properties.len());
    properties.iter().find(|p| !seen.insert(p.name.as_str()))
}

/// Which integers are acceptable.
#[derive(Clone, Copy)]
pub(super) enum IntKind {
    Unsigned,
    Signed,
    Either,
}

/// A property of an object.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    pub(super) name_span: Span,
    pub(super) value: Node<'a>,
}

/// The elements of an array.
#[derive(Clone, Copy)]
pub(super) struct Array<'a> {
    elements: &'a [Value<'a>],
    source: Source<'a>,
}

impl<'a> Array<'a> {
    pub(super) fn len(self) -> usize {
        self.elements.len()
    }

    pub(super) fn iter(self) -> impl ExactSizeIterator<Item = Node<'a>> {
        self.elements.iter().map(move |value| Node { value, source: self.source })
    }
}

/// An object with known properties.
pub(super) struct Object<'a> {
    pub(super) node: Node<'a>,
    known: &'static [&'static str],
    values: SmallVec<[Option<&'a Value<'a>>; 14]>,
}

impl<'a> Object<'a> {
    /// A property, if it is there.
    pub(super) fn get(&self, name: &str) -> Option<Node<'a>> {
        let i = self.known.iter().position(|k| *k == name);
        debug_assert!(i.is_some(), "`{name}` is read but not declared");
        let value = self.values[i?]?;
        Some(Node { value, source: self.node.source })
    }

    /// A property that must be there.
    pub(super) fn need(&self, name: &str) -> Result<Node<'a>> {
        self.get(name).ok_or_else(|| self.node.error(format!("missing property `{name}`")))
    }

    /// What `read` makes of a property, if it is there; errors name it.
    pub(super) fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(Node<'a>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.get(name).map(|node| within_property(node, name, read)).transpose()
    }

    /// What `read` makes of a property that must be there; errors name it.
    pub(super) fn read_needed<T>(
        &self,
        name: &str,
        read: impl FnOnce(Node<'a>) -> Result<T>,
    ) -> Result<T> {
        within_property(self.need(name)?, name, read)
    }
}

fn within_property<'a, T>(
    node: Node<'a>,
    name: &str,
    read: impl FnOnce(Node<'a>) -> Result<T>,
) -> Result<T> {
    read(node).map_err(|d| d.within(node.span(), format!("in property `{name}`")))
}
