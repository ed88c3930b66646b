//! The JSON parser (RFC 8259): text to a flat tree of values with their positions.
//!
//! General JSON libraries either drop the positions of values or allocate many small
//! objects to keep them. The metadata of a kernel trace has several hundred thousand
//! values, and parsing them is most of the work of opening a trace. This parser turns a
//! fragment into one array in text order, which is reused for the next fragment.

use crate::metadata::{Diagnostic, Span, limits};

/// The maximum nesting of JSON values. A level of field classes takes up to three levels
/// of JSON.
const DEPTH: usize = 4 * limits::DEPTH;

/// The kind of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    /// A number without fraction and exponent.
    Integer,
    /// A number with a fraction or an exponent.
    Real,
    /// A string without escapes.
    Plain,
    /// A string with escapes: the index in [`Tree::unescaped`].
    Escaped(u32),
    /// An array of this many values.
    Array(u32),
    /// An object of this many properties, each a string and a value.
    Object(u32),
}

/// A JSON value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value {
    pub(super) kind: Kind,
    /// The offset of the first byte in the text.
    pub(super) start: u32,
    /// The offset past the last byte.
    pub(super) end: u32,
    /// The index of the value after all contents of this one.
    pub(super) next: u32,
}

/// The values of a JSON text. Each is followed by its contents.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) values: Vec<Value>,
    pub(super) unescaped: Vec<String>,
}

/// Parses `text[start..end]` into a tree, replacing its previous contents. The tree stays
/// empty if the text is blank.
///
/// # Errors
///
/// Returns an error if the range is not one JSON value.
pub(super) fn parse(
    text: &str,
    start: usize,
    end: usize,
    tree: &mut Tree,
) -> Result<(), Diagnostic> {
    tree.values.clear();
    tree.unescaped.clear();
    if u32::try_from(end).is_err() {
        return Err(Diagnostic::error(Span::default(), "metadata of 4 GiB and more"));
    }
    let mut parser = Parser { text, bytes: &text.as_bytes()[..end], at: start, tree };
    parser.space();
    if parser.peek().is_none() {
        return Ok(());
    }
    parser.value(0)?;
    parser.space();
    match parser.peek() {
        None => Ok(()),
        Some(_) => Err(parser.expected("the end of the fragment or a record separator")),
    }
}

struct Parser<'t> {
    text: &'t str,
    /// The text up to the end of the range to parse.
    bytes: &'t [u8],
    at: usize,
    tree: &'t mut Tree,
}

type ParseResult = Result<(), Diagnostic>;

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Creates an error for an unexpected next character.
    fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.text.get(self.at..self.bytes.len()).and_then(|t| t.chars().next()) {
            Some(c) => format!("{c:?}"),
            None => "the end of the fragment".into(),
        };
        let span = Span::new(self.at, (self.at + 1).min(self.bytes.len()).max(self.at));
        Diagnostic::error(span, format!("not JSON: expected {what}, found {found}"))
    }

    /// Adds a value whose end and contents are not known yet.
    fn open(&mut self) -> usize {
        let start = self.at as u32;
        self.tree.values.push(Value { kind: Kind::Null, start, end: start, next: 0 });
        self.tree.values.len() - 1
    }

    /// Completes a value that ends at the current position.
    fn close(&mut self, index: usize, kind: Kind) {
        let next = self.tree.values.len() as u32;
        let value = &mut self.tree.values[index];
        *value = Value { kind, end: self.at as u32, next, ..*value };
    }

    fn value(&mut self, depth: usize) -> ParseResult {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'n') => self.word("null", Kind::Null),
            Some(b't') => self.word("true", Kind::Bool(true)),
            Some(b'f') => self.word("false", Kind::Bool(false)),
            _ => Err(self.expected("a value")),
        }
    }

    fn word(&mut self, word: &str, kind: Kind) -> ParseResult {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.expected("a value"));
        }
        let index = self.open();
        self.at += word.len();
        self.close(index, kind);
        Ok(())
    }

    fn check_depth(&self, depth: usize) -> ParseResult {
        match depth <= DEPTH {
            true => Ok(()),
            false => {
                let message = format!("JSON values are nested deeper than {DEPTH} levels");
                Err(Diagnostic::error(Span::new(self.at, self.at + 1), message))
            }
        }
    }

    fn array(&mut self, depth: usize) -> ParseResult {
        self.check_depth(depth)?;
        let index = self.open();
        let mut count = 0;
        self.at += 1;
        self.space();
        if self.peek() != Some(b']') {
            loop {
                self.value(depth)?;
                count += 1;
                self.space();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b']') => break,
                    _ => return Err(self.expected("`,` or `]`")),
                }
                self.space();
            }
        }
        self.at += 1;
        self.close(index, Kind::Array(count));
        Ok(())
    }

    fn object(&mut self, depth: usize) -> ParseResult {
        self.check_depth(depth)?;
        let index = self.open();
        let mut count = 0;
        self.at += 1;
        self.space();
        if self.peek() != Some(b'}') {
            loop {
                if self.peek() != Some(b'"') {
                    return Err(self.expected("a property name in double quotes"));
                }
                self.string()?;
                self.space();
                if self.peek() != Some(b':') {
                    return Err(self.expected("`:`"));
                }
                self.at += 1;
                self.space();
                self.value(depth)?;
                count += 1;
                self.space();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b'}') => break,
                    _ => return Err(self.expected("`,` or `}`")),
                }
                self.space();
            }
        }
        self.at += 1;
        self.close(index, Kind::Object(count));
        Ok(())
    }

    fn number(&mut self) -> ParseResult {
        let index = self.open();
        let mut kind = Kind::Integer;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            kind = Kind::Real;
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            kind = Kind::Real;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        self.close(index, kind);
        Ok(())
    }

    fn digits(&mut self) -> ParseResult {
        if !self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return Err(self.expected("a digit"));
        }
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn string(&mut self) -> ParseResult {
        let index = self.open();
        self.at += 1;
        let mut unescaped: Option<String> = None;
        loop {
            let from = self.at;
            while let Some(b' '..=b'!' | b'#'..=b'[' | b']'..) = self.peek() {
                self.at += 1;
            }
            if let Some(unescaped) = &mut unescaped {
                // Both ends are next to ASCII characters, and so on character
                // boundaries.
                unescaped.push_str(self.text.get(from..self.at).unwrap_or_default());
            }
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    let before = self.text.get(from..self.at).unwrap_or_default();
                    let c = self.escape()?;
                    unescaped.get_or_insert_with(|| before.into()).push(c);
                }
                Some(_) => return Err(self.expected("control characters to be escaped")),
                None => return Err(self.expected("the `\"` that ends a string")),
            }
        }
        self.at += 1;
        let kind = match unescaped {
            None => Kind::Plain,
            Some(string) => {
                self.tree.unescaped.push(string);
                Kind::Escaped(self.tree.unescaped.len() as u32 - 1)
            }
        };
        self.close(index, kind);
        Ok(())
    }

    /// Parses an escape sequence, starting at its backslash.
    fn escape(&mut self) -> Result<char, Diagnostic> {
        self.at += 1;
        let c = match self.peek() {
            Some(c @ (b'"' | b'\\' | b'/')) => c.into(),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.expected("an escape sequence")),
        };
        self.at += 1;
        Ok(c)
    }

    /// Parses `uXXXX`, or a surrogate pair of two such escapes.
    fn unicode_escape(&mut self) -> Result<char, Diagnostic> {
        let first = self.code_unit()?;
        let mut units = [first, 0];
        let mut used = 1;
        if (0xd800..0xdc00).contains(&first) {
            if !self.bytes[self.at..].starts_with(b"\\u") {
                return Err(self.expected("the second half of a surrogate pair"));
            }
            self.at += 1;
            units[1] = self.code_unit()?;
            used = 2;
        }
        match char::decode_utf16(units[..used].iter().copied()).next() {
            Some(Ok(c)) => Ok(c),
            _ => {
                let span = Span::new(self.at - 4, self.at);
                Err(Diagnostic::error(span, "not JSON: half of a surrogate pair"))
            }
        }
    }

    fn code_unit(&mut self) -> Result<u16, Diagnostic> {
        let mut unit = 0;
        for _ in 0..4 {
            self.at += 1;
            let digit = self.peek().and_then(|c| (c as char).to_digit(16));
            let digit = digit.ok_or_else(|| self.expected("a hexadecimal digit"))?;
            unit = unit << 4 | digit as u16;
        }
        self.at += 1;
        Ok(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Tree, Diagnostic> {
        let mut tree = Tree::default();
        parse(text, 0, text.len(), &mut tree).map(|()| tree)
    }

    #[test]
    fn accepts_only_valid_json() {
        for good in [
            "",
            " \n",
            "null",
            "true",
            "[]",
            "{}",
            "[1,-0,0.5,1e5,1E+5,-1.25e-3]",
            "\"\\u00e9\"",
            "{\"a\":[{\"b\":null}],\"c\":\"é\"}",
            "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
            " [ 1 , 2 ] ",
        ] {
            assert!(parsed(good).is_ok(), "{good}");
        }
        for bad in [
            "[",
            "]",
            "[1,]",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "{\"a\":1,}",
            "01",
            "1.",
            ".5",
            "+1",
            "-",
            "1e",
            "0x1",
            "nul",
            "nullx",
            "\"",
            "\"\\x41\"",
            "\"\\u12\"",
            "\"a\nb\"",
            "'a'",
            "// x\n1",
            "[1] 2",
            "\u{a0}1",
            "\u{feff}1",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "NaN",
            "\"\\udc00\"",
            "\"\\",
            "\"\\ud800\\",
            "[\"é",
            "é",
        ] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn values_have_positions_and_contents() {
        let text = r#"{"a": [1, 2.5], "b\n": "x"}"#;
        let tree = parsed(text).unwrap();
        let seen: Vec<_> = tree
            .values
            .iter()
            .map(|v| (v.kind, &text[v.start as usize..v.end as usize], v.next))
            .collect();
        assert_eq!(
            seen,
            [
                (Kind::Object(2), text, 7),
                (Kind::Plain, "\"a\"", 2),
                (Kind::Array(2), "[1, 2.5]", 5),
                (Kind::Integer, "1", 4),
                (Kind::Real, "2.5", 5),
                (Kind::Escaped(0), "\"b\\n\"", 6),
                (Kind::Plain, "\"x\"", 7),
            ]
        );
        assert_eq!(tree.unescaped, ["b\n"]);
        assert_eq!(parsed(r#""a\ud83d\ude00\u00e9é""#).unwrap().unescaped, ["a😀éé"]);
    }

    #[test]
    fn errors_point_at_the_invalid_character() {
        let error = parsed("{\"a\": [1, x]}").unwrap_err();
        assert_eq!(error.span, Span::new(10, 11));
        assert_eq!(error.message, "not JSON: expected a value, found 'x'");
        let error = parsed("{\"a\": 1").unwrap_err();
        assert_eq!(error.message, "not JSON: expected `,` or `}`, found the end of the fragment");
        let deep = "[".repeat(100_000);
        assert!(parsed(&deep).unwrap_err().message.contains("nested"));
    }
}
