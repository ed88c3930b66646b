//! Format strings of markers: the fields of an event and their print formats.

/// A parsed format string of a marker, for example `ip #p%ld syscall_id #2u%u`: a list of
/// names, each with an optional type in the trace (`#…`) and a C type (`%…`).
///
/// ```
/// use ltt_read::legacy::MarkerFormat;
///
/// let format = MarkerFormat::parse("fd %u address 0x%lX name %s");
/// let names: Vec<_> = format.fields.iter().map(|f| &*f.name).collect();
/// assert_eq!(names, ["fd", "address", "name"]);
/// assert_eq!(format.fields[1].print.prefix, "0x");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MarkerFormat {
    /// The fields, in the order of the payload.
    pub fields: Vec<MarkerField>,
}

/// A field of a [`MarkerFormat`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MarkerField {
    /// The name; `field N`, counted from 1, for a field without a name.
    pub name: String,
    /// The type in the payload.
    pub kind: MarkerKind,
    /// The size in the payload; without meaning for strings.
    pub size: MarkerSize,
    /// `true` if the field is big-endian regardless of the byte order of the trace.
    pub network: bool,
    /// The format in which the field is printed.
    pub print: PrintFormat,
}

/// The type of a field of a marker.
// Exhaustive: the format strings of LTTng 0.x have no other types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerKind {
    /// A signed integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A character of one byte.
    Character,
    /// An address, printed as a pointer.
    Pointer,
    /// A null-terminated string.
    String,
}

/// The size of a field as far as a format string defines it. The C types of the traced
/// machine define the others.
// Exhaustive: the format strings of LTTng 0.x have no other sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerSize {
    /// This many bytes.
    Bytes(u8),
    /// The size of an `int`.
    Int,
    /// The size of a `long`.
    Long,
    /// The size of a pointer.
    Pointer,
    /// The size of a `size_t`.
    SizeT,
}

/// The `printf` format of a field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrintFormat {
    /// The text before the value.
    pub prefix: String,
    /// The flags of `printf` as written, from `-`, `+`, space, `#`, `0`.
    pub flags: String,
    /// The conversion, usually one of `d i u o x X c p s`.
    pub conversion: char,
}

impl MarkerFormat {
    /// Parses a format string. Parsing cannot fail: text that is not a field is ignored,
    /// as by the parser that the kernel and LTTV shared. For example, `a #1%d` has no
    /// field, since `#1` lacks its conversion and takes the `%` instead.
    pub fn parse(format: &str) -> Self {
        let mut parser = Parser { rest: format, ..Parser::default() };
        while let Some(c) = parser.next() {
            match c {
                '#' => parser.trace_type(),
                '%' => parser.c_type(),
                ' ' => parser.space(),
                c => parser.literal(c),
            }
        }
        MarkerFormat { fields: parser.fields }
    }
}

/// The kind and size, as far as a type defines them.
type Type = (Option<MarkerKind>, Option<MarkerSize>);

#[derive(Default)]
struct Parser<'a> {
    rest: &'a str,
    fields: Vec<MarkerField>,
    /// The first word after the last field, once a space has ended it.
    name: Option<String>,
    /// The text since the last space.
    word: String,
    /// The type in the trace, from the last `#`.
    trace: Type,
    network: bool,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn next_if(&mut self, accept: impl Fn(char) -> bool) -> Option<char> {
        self.rest.starts_with(accept).then(|| self.next())?
    }

    fn literal(&mut self, c: char) {
        self.word.push(c);
    }

    fn space(&mut self) {
        let word = std::mem::take(&mut self.word);
        if self.name.is_none() && !word.is_empty() {
            self.name = Some(word);
        }
    }

    /// Parses a type in the trace.
    fn trace_type(&mut self) {
        if self.next_if(|c| c == '#').is_some() {
            return self.literal('#');
        }
        self.network = false;
        while let Some(attribute) = self.next_if(|c| matches!(c, 'n' | 'b')) {
            self.network |= attribute == 'n';
        }
        let size = self.length(true);
        self.trace = self.conversion(size).1;
    }

    /// Parses a C type, which ends a field.
    fn c_type(&mut self) {
        if self.next_if(|c| c == '%').is_some() {
            return self.literal('%');
        }
        let mut flags = String::new();
        while let Some(flag) = self.next_if(|c| "-+ #0".contains(c)) {
            flags.push(flag);
        }
        // Width and precision do not affect the payload.
        while self.next_if(|c| c.is_ascii_digit() || matches!(c, '.' | '*')).is_some() {}
        let size = self.length(false);
        let (conversion, (c_kind, c_size)) = self.conversion(size);
        let (kind, size) = std::mem::take(&mut self.trace);
        let kind = match (kind, c_kind) {
            (_, Some(MarkerKind::String)) => Some(MarkerKind::String),
            (kind, c_kind) => kind.or(c_kind),
        };
        let network = std::mem::take(&mut self.network);
        let (name, prefix) = (self.name.take(), std::mem::take(&mut self.word));
        let (Some(kind), Some(size)) = (kind, size.or(c_size)) else { return };
        let name = name.unwrap_or_else(|| format!("field {}", self.fields.len() + 1));
        let print = PrintFormat { prefix, flags, conversion };
        self.fields.push(MarkerField { name, kind, size, network, print });
    }

    fn length(&mut self, in_trace: bool) -> Option<MarkerSize> {
        let accept = |c| matches!(c, 'h' | 'l' | 'L' | 'z' | 'Z' | 't');
        let digit = |c| in_trace && matches!(c, '1' | '2' | '4' | '8');
        Some(match self.next_if(|c| accept(c) || digit(c))? {
            'h' => MarkerSize::Bytes(2),
            'l' if self.next_if(|c| c == 'l').is_some() => MarkerSize::Bytes(8),
            'l' => MarkerSize::Long,
            'L' => MarkerSize::Bytes(8),
            'z' | 'Z' => MarkerSize::SizeT,
            't' => MarkerSize::Pointer,
            digit => MarkerSize::Bytes(digit as u8 - b'0'),
        })
    }

    /// Parses a conversion. Any character is consumed; an unknown one has no type.
    fn conversion(&mut self, length: Option<MarkerSize>) -> (char, Type) {
        let conversion = self.next().unwrap_or('\0');
        let int = Some(length.unwrap_or(MarkerSize::Int));
        let (kind, size) = match conversion {
            'd' | 'i' => (MarkerKind::Signed, int),
            'u' | 'o' | 'x' | 'X' => (MarkerKind::Unsigned, int),
            'c' => (MarkerKind::Character, Some(MarkerSize::Bytes(1))),
            'p' => (MarkerKind::Pointer, Some(MarkerSize::Pointer)),
            's' => (MarkerKind::String, Some(MarkerSize::Bytes(1))),
            _ => return (conversion, (None, None)),
        };
        (conversion, (Some(kind), size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MarkerKind::{Character, Signed, Unsigned};
    use MarkerSize::{Bytes, Int, Long, SizeT};

    fn parse(format: &str) -> Vec<(String, MarkerKind, MarkerSize, char)> {
        let fields = MarkerFormat::parse(format).fields;
        fields.into_iter().map(|f| (f.name, f.kind, f.size, f.print.conversion)).collect()
    }

    fn field(
        name: &str,
        kind: MarkerKind,
        size: MarkerSize,
        conversion: char,
    ) -> (String, MarkerKind, MarkerSize, char) {
        (name.to_owned(), kind, size, conversion)
    }

    #[test]
    fn types_in_the_trace_and_in_c() {
        assert_eq!(
            parse("prev_pid %d next_pid %d prev_state #2d%ld"),
            [
                field("prev_pid", Signed, Int, 'd'),
                field("next_pid", Signed, Int, 'd'),
                field("prev_state", Signed, Bytes(2), 'd'),
            ]
        );
        assert_eq!(
            parse("ip #p%ld id #2u%d count %zu off %lld name %s c %c t %tx h %hi"),
            [
                field("ip", MarkerKind::Pointer, MarkerSize::Pointer, 'd'),
                field("id", Unsigned, Bytes(2), 'd'),
                field("count", Unsigned, SizeT, 'u'),
                field("off", Signed, Bytes(8), 'd'),
                field("name", MarkerKind::String, Bytes(1), 's'),
                field("c", Character, Bytes(1), 'c'),
                field("t", Unsigned, MarkerSize::Pointer, 'x'),
                field("h", Signed, Bytes(2), 'i'),
            ]
        );
        assert!(MarkerFormat::parse("protocol #n2u%hu").fields[0].network);
        assert!(!MarkerFormat::parse("a #n2u%hu b %u").fields[1].network);
        assert_eq!(parse("s #4u%s"), [field("s", MarkerKind::String, Bytes(4), 's')]);
    }

    #[test]
    fn names_are_first_words() {
        assert_eq!(parse("first second %d"), [field("first", Signed, Int, 'd')]);
        assert_eq!(
            parse("a %d x=%d"),
            [field("a", Signed, Int, 'd'), field("field 2", Signed, Int, 'd')]
        );
        assert_eq!(parse("rw(A,B, C) %lX")[0], field("rw(A,B,", Unsigned, Long, 'X'));
        let hex = &MarkerFormat::parse("ip 0x%lX n %#-x").fields;
        assert_eq!((&*hex[0].print.prefix, &*hex[1].print.flags), ("0x", "#-"));
        assert_eq!(MarkerFormat::parse("a 100%%%d").fields[0].print.prefix, "100%");
    }

    #[test]
    fn invalid_fields_are_ignored() {
        for format in ["", "   ", "irqstate #1%d", "a #", "a %", "a %q", "##", "%%", "a #n"] {
            assert_eq!(parse(format), [], "{format:?}");
        }
        // A type without a conversion does not affect the fields after it.
        assert_eq!(parse("a #1%d b %d"), [field("a", Signed, Int, 'd')]);
    }
}
