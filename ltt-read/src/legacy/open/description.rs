//! Parsing of description files of facilities: from XML to types.

use super::xml::{Tag, TagKind, tags};
use crate::metadata::{Diagnostic, Span, limits};

/// A group of events that one file describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facility {
    pub(super) name: String,
    pub(super) events: Vec<Event>,
    /// The named types.
    pub(super) types: Vec<(String, Type)>,
}

/// An event of a facility; its number is its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) name: String,
    pub(super) fields: Vec<Field>,
    /// The name of the structure type of its fields (format of 2003).
    pub(super) struct_type: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) class: Type,
}

/// The type of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Scalar(Scalar),
    Enum {
        size: Size,
        labels: Vec<(String, i64)>,
    },
    String,
    Array(u64, Box<Type>),
    /// A sequence: the types of the length and of the elements.
    Sequence(Box<Type>, Box<Type>),
    /// A structure, or a union; both are laid out as structures.
    Struct {
        union: bool,
        fields: Vec<Field>,
    },
    Named(String),
}

/// A number, as declared in C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scalar {
    pub(super) kind: ScalarKind,
    pub(super) size: Size,
    /// The name of the C type in checksums.
    pub(super) c_name: &'static str,
    /// `true` if the number is big-endian regardless of the byte order of the trace.
    pub(super) network: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScalarKind {
    Signed,
    Unsigned,
    Character,
    Pointer,
    Float,
}

/// The size of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Bytes(u8),
    Int,
    Long,
    Pointer,
    SizeT,
}

/// Parses the facilities that a text describes.
///
/// # Errors
///
/// Returns the first error of the text, with its position.
pub(super) fn parse(text: &str) -> Result<Vec<Facility>, Diagnostic> {
    let mut parser = Parser { tags: tags(text).peekable(), end: text.len(), depth: 0 };
    let mut facilities = Vec::new();
    while let Some(tag) = parser.tags.next() {
        if tag.name == "facility" && tag.kind == TagKind::Start {
            facilities.push(parser.facility(&tag)?);
        }
    }
    Ok(facilities)
}

struct Parser<'a, I: Iterator<Item = Tag<'a>>> {
    tags: std::iter::Peekable<I>,
    end: usize,
    depth: usize,
}

fn error(at: usize, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Span::new(at, at), message)
}

impl<'a, I: Iterator<Item = Tag<'a>>> Parser<'a, I> {
    fn facility(&mut self, tag: &Tag<'_>) -> Result<Facility, Diagnostic> {
        let name = name(tag)?;
        let (mut events, mut types) = (Vec::new(), Vec::new());
        while let Some(tag) = self.member_of("facility")? {
            match tag.name {
                "event" => events.push(self.event(&tag)?),
                "type" => {
                    let name = self::name(&tag)?;
                    let next = self.next("a type")?;
                    types.push((name, self.class(&next)?));
                    self.close("type")?;
                }
                _ => self.skip_element(&tag)?,
            }
        }
        Ok(Facility { name, events, types })
    }

    fn event(&mut self, tag: &Tag<'_>) -> Result<Event, Diagnostic> {
        let mut event = Event { name: name(tag)?, fields: Vec::new(), struct_type: None };
        if tag.kind == TagKind::Empty {
            return Ok(event);
        }
        while let Some(tag) = self.member_of("event")? {
            match tag.name {
                "field" => event.fields.push(self.field(&tag)?),
                "struct" if tag.kind == TagKind::Start => event.fields = self.fields("struct")?,
                "typeref" => {
                    event.struct_type = Some(name(&tag)?);
                    self.close_unless_empty(&tag)?;
                }
                _ => self.skip_element(&tag)?,
            }
        }
        Ok(event)
    }

    fn fields(&mut self, of: &str) -> Result<Vec<Field>, Diagnostic> {
        let mut fields = Vec::new();
        while let Some(tag) = self.member_of(of)? {
            match tag.name {
                "field" => fields.push(self.field(&tag)?),
                _ => self.skip_element(&tag)?,
            }
        }
        Ok(fields)
    }

    fn field(&mut self, tag: &Tag<'_>) -> Result<Field, Diagnostic> {
        let name = name(tag)?;
        let mut class = None;
        while let Some(tag) = self.member_of("field")? {
            match tag.name {
                "description" => self.skip_element(&tag)?,
                _ => class = Some(self.class(&tag)?),
            }
        }
        let class = class.ok_or_else(|| error(tag.at, format!("field `{name}` has no type")))?;
        Ok(Field { name, class })
    }

    /// Parses the type that starts with a tag.
    fn class(&mut self, tag: &Tag<'_>) -> Result<Type, Diagnostic> {
        if self.depth >= limits::DEPTH {
            return Err(error(tag.at, "types are nested too deeply"));
        }
        self.depth += 1;
        let class = self.class_within(tag)?;
        self.depth -= 1;
        Ok(class)
    }

    fn class_within(&mut self, tag: &Tag<'_>) -> Result<Type, Diagnostic> {
        // Start tags of arrays and sequences may look like empty elements.
        let element = |parser: &mut Self| {
            let next = parser.next("the type of the elements")?;
            parser.class(&next)
        };
        Ok(match tag.name {
            "array" => {
                let length = number(tag, "size")?;
                let element = element(self)?;
                self.close("array")?;
                Type::Array(length, element.into())
            }
            "sequence" => {
                let (length, element) = (element(self)?, element(self)?);
                self.close("sequence")?;
                Type::Sequence(length.into(), element.into())
            }
            "struct" | "union" if tag.kind == TagKind::Start => {
                Type::Struct { union: tag.name == "union", fields: self.fields(tag.name)? }
            }
            "enum" => Type::Enum {
                size: match tag.attribute("size") {
                    Some(_) => bytes(tag)?,
                    None => Size::Int,
                },
                labels: if tag.kind == TagKind::Start { self.labels()? } else { Vec::new() },
            },
            "typeref" => {
                self.close_unless_empty(tag)?;
                Type::Named(name(tag)?)
            }
            "string" => {
                self.close_unless_empty(tag)?;
                Type::String
            }
            _ => {
                self.close_unless_empty(tag)?;
                Type::Scalar(scalar(tag)?)
            }
        })
    }

    fn labels(&mut self) -> Result<Vec<(String, i64)>, Diagnostic> {
        let mut labels: Vec<(String, i64)> = Vec::new();
        while let Some(tag) = self.member_of("enum")? {
            if tag.name != "label" {
                self.skip_element(&tag)?;
                continue;
            }
            self.close_unless_empty(&tag)?;
            let value = match tag.attribute("value") {
                Some(value) => value
                    .trim()
                    .parse()
                    .map_err(|_| error(tag.at, format!("`{value}` is not the value of a label")))?,
                None => labels.last().map_or(0, |(_, last)| last.wrapping_add(1)),
            };
            labels.push((name(&tag)?, value));
        }
        Ok(labels)
    }

    fn next(&mut self, wanted: &str) -> Result<Tag<'a>, Diagnostic> {
        let end = self.end;
        self.tags.next().ok_or_else(|| error(end, format!("the text ends before {wanted}")))
    }

    /// Returns the next tag within an element, or `None` at the end of the element.
    fn member_of(&mut self, element: &str) -> Result<Option<Tag<'a>>, Diagnostic> {
        let tag = self.next(&format!("`</{element}>`"))?;
        match tag.kind {
            TagKind::End if tag.name == element => Ok(None),
            TagKind::End => {
                let message = format!("expected `</{element}>`, found `</{}>`", tag.name);
                Err(error(tag.at, message))
            }
            _ => Ok(Some(tag)),
        }
    }

    fn close(&mut self, element: &str) -> Result<(), Diagnostic> {
        match self.member_of(element)? {
            None => Ok(()),
            Some(tag) => {
                Err(error(tag.at, format!("expected `</{element}>`, found `<{}>`", tag.name)))
            }
        }
    }

    fn close_unless_empty(&mut self, tag: &Tag<'_>) -> Result<(), Diagnostic> {
        if tag.kind == TagKind::Empty { Ok(()) } else { self.close(tag.name) }
    }

    /// Skips an element with its content.
    fn skip_element(&mut self, tag: &Tag<'_>) -> Result<(), Diagnostic> {
        if tag.kind == TagKind::Empty {
            return Ok(());
        }
        while !self.next(&format!("`</{}>`", tag.name))?.is_end_of(tag.name) {}
        Ok(())
    }
}

fn name(tag: &Tag<'_>) -> Result<String, Diagnostic> {
    let name = tag.attribute("name").map(str::to_owned);
    name.ok_or_else(|| error(tag.at, format!("`<{}>` has no name", tag.name)))
}

fn number(tag: &Tag<'_>, attribute: &str) -> Result<u64, Diagnostic> {
    let value = tag.attribute(attribute).and_then(|v| v.trim().parse().ok());
    value.ok_or_else(|| error(tag.at, format!("`<{}>` needs a number as `{attribute}`", tag.name)))
}

fn bytes(tag: &Tag<'_>) -> Result<Size, Diagnostic> {
    match number(tag, "size")? {
        size @ (1 | 2 | 4 | 8) => Ok(Size::Bytes(size as u8)),
        size => Err(error(tag.at, format!("invalid size of a number: {size} bytes"))),
    }
}

fn scalar(tag: &Tag<'_>) -> Result<Scalar, Diagnostic> {
    use ScalarKind::{Character, Float, Pointer, Signed, Unsigned};

    const SIGNED: [&str; 4] = ["int8_t", "int16_t", "int32_t", "int64_t"];
    const UNSIGNED: [&str; 4] = ["uint8_t", "uint16_t", "uint32_t", "uint64_t"];
    let fixed = |kind, names: [&'static str; 4]| {
        let size = bytes(tag)?;
        let Size::Bytes(n) = size else { return Ok((kind, size, "")) };
        Ok::<_, Diagnostic>((kind, size, names[n.trailing_zeros() as usize & 3]))
    };
    let has_size = tag.attribute("size").is_some();
    let (kind, size, c_name) = match tag.name {
        "int_fixed" => fixed(Signed, SIGNED)?,
        "uint_fixed" => fixed(Unsigned, UNSIGNED)?,
        "int" if has_size => fixed(Signed, SIGNED)?,
        "uint" if has_size => fixed(Unsigned, UNSIGNED)?,
        "float" => fixed(Float, ["", "", "float", "double"])?,
        "char" => (Character, Size::Bytes(1), "signed char"),
        "uchar" => (Character, Size::Bytes(1), "unsigned char"),
        "short" => (Signed, Size::Bytes(2), "short"),
        "ushort" => (Unsigned, Size::Bytes(2), "unsigned short"),
        "int" => (Signed, Size::Int, "int"),
        "uint" => (Unsigned, Size::Int, "uint"),
        "long" => (Signed, Size::Long, "long"),
        "ulong" => (Unsigned, Size::Long, "unsigned long"),
        "size_t" => (Unsigned, Size::SizeT, "size_t"),
        "ssize_t" => (Signed, Size::SizeT, "ssize_t"),
        "off_t" => (Signed, Size::SizeT, "off_t"),
        "pointer" => (Pointer, Size::Pointer, "void *"),
        name => return Err(error(tag.at, format!("unknown type `<{name}>`"))),
    };
    let network = tag.attribute("byte_order") == Some("network");
    Ok(Scalar { kind, size, c_name, network })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_both_kinds_of_files() {
        let text = "<facility name=\"zoo\"><description>d <b>x</b></description>
            <event name=a><struct><field name=x><description>y</description><uint size=1/></field>
              <field name=e><enum size=1><label name=L value=4/><label name=M/></enum></field>
            </struct></event>
            <event name=b><typeref name=later/></event>
            <event name=\"c\"><field name=\"v\"><array size=\"3\"/><uint_fixed size=\"4\"/></array></field>
              <field name=\"s\"><sequence/><uint/><string/></sequence></field></event>
            <event name=\"d\"/>
            <type name=later><struct><field name=p><pointer/></field></struct></type>
            </facility>";
        let [facility] = parse(text).unwrap().try_into().unwrap();
        assert_eq!(facility.name, "zoo");
        let names: Vec<_> = facility.events.iter().map(|e| &*e.name).collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
        let labels = vec![("L".to_owned(), 4), ("M".to_owned(), 5)];
        let a = &facility.events[0].fields;
        assert_eq!(a[1].class, Type::Enum { size: Size::Bytes(1), labels });
        assert_eq!(facility.events[1].struct_type.as_deref(), Some("later"));
        let c = &facility.events[2].fields;
        assert!(matches!(&c[0].class, Type::Array(3, _)));
        assert!(matches!(&c[1].class, Type::Sequence(_, element) if **element == Type::String));
        assert_eq!(facility.types[0].0, "later");
    }

    #[test]
    fn errors_name_the_problem() {
        let message = |text: &str| parse(text).unwrap_err().message;
        assert_eq!(message("<facility name=x>"), "the text ends before `</facility>`");
        assert_eq!(message("<facility>"), "`<facility>` has no name");
        assert_eq!(
            message("<facility name=x><event name=y></facility>"),
            "expected `</event>`, found `</facility>`"
        );
        let field = |class: &str| {
            message(&format!("<facility name=x><event name=y><field name=z>{class}</field>"))
        };
        assert_eq!(field(""), "field `z` has no type");
        assert_eq!(field("<uint_fixed size=3/>"), "invalid size of a number: 3 bytes");
        assert_eq!(field("<word/>"), "unknown type `<word>`");
        assert_eq!(field("<array/>"), "`<array>` needs a number as `size`");
        assert_eq!(field(&"<array size=1>".repeat(100)), "types are nested too deeply");
    }
}
