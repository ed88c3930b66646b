//! The start of an `event` block as LTTng writes it. Most metadata consists of hundreds of such
//! blocks, and reading it token by token takes a third of the time to parse it.

use super::parser::Parser;
use crate::metadata::Span;

/// The attributes `name`, `id` and `stream_id` at the start of an `event` block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UsualHead<'a> {
    pub(super) name: &'a str,
    pub(super) id: u64,
    pub(super) stream: u64,
    pub(super) stream_span: Span,
    /// The word `fields`, if it is next.
    pub(super) fields: Option<Span>,
    /// The offset after the last `;` or that word.
    pub(super) end: usize,
}

impl<'a> Parser<'a> {
    /// Returns the attributes that begin at the next token, if they have exactly the form of LTTng.
    /// Every other form is left to the parser, which finds the same in this one.
    pub(super) fn usual_head(&self) -> Option<UsualHead<'a>> {
        self.usual_head_at(self.token.span.start as usize)
    }

    /// Returns the attributes that begin at an offset, as [`usual_head`](Self::usual_head) does.
    pub(super) fn usual_head_at(&self, start: usize) -> Option<UsualHead<'a>> {
        let rest = self.text.get(start..)?.strip_prefix("name = \"")?;
        let quote = memchr::memchr2(b'"', b'\\', rest.as_bytes())?;
        let (name, rest) = (rest.get(..quote)?, rest.get(quote..)?);
        let rest = rest.strip_prefix("\";\n\tid = ")?;
        let (id, rest) = decimal(rest)?;
        let rest = rest.strip_prefix(";\n\tstream_id = ")?;
        let (stream, after) = decimal(rest)?;
        let mut rest_after = after.strip_prefix(';')?;
        let offset = |rest: &str| self.text.len() - rest.len();
        let stream_span = Span::new(offset(rest), offset(after));
        let mut fields = None;
        if let Some(start) = rest_after.strip_prefix("\n\t")
            && let Some(after) = start.strip_prefix("fields")
            && after.starts_with(" := ")
        {
            (fields, rest_after) = (Some(Span::new(offset(start), offset(after))), after);
        }
        Some(UsualHead { name, id, stream, stream_span, fields, end: offset(rest_after) })
    }
}

/// Splits a number without a suffix from a text. A number that starts with 0 is octal or
/// hexadecimal, except for 0 itself.
fn decimal(text: &str) -> Option<(u64, &str)> {
    let (mut number, mut end) = (0_u64, 0);
    for digit in text.bytes().map(|c| c.wrapping_sub(b'0')).take_while(|digit| *digit < 10) {
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
        end += 1;
    }
    let (digits, rest) = text.split_at_checked(end)?;
    let is_usual = digits == "0" || !digits.starts_with('0');
    // The rest of a longer word would be a part of the number.
    let is_usual = is_usual && end > 0 && rest.starts_with(';');
    is_usual.then_some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ByteOrder;

    /// Parses a block, and returns its event and the errors.
    fn parsed(text: &str) -> (String, String) {
        let mut parser = Parser::new(text, ByteOrder::Little);
        parser.run();
        (format!("{:?}", parser.declared.events), format!("{:?}", parser.errors))
    }

    /// The result is that of the same block with a tab in the place of a blank, which is of another
    /// form and as long.
    #[test]
    fn usual_heads_mean_what_the_parser_finds() {
        let rest = "fields := struct { integer { size = 8; } a; };";
        let mut usual = 0;
        for name in ["a", "", "x y\n", "é", "a\\\"b", "a\\n"] {
            for number in [
                "0",
                "7",
                "00",
                "017",
                "0x1f",
                "1u",
                "18446744073709551615",
                "18446744073709551616",
                "x",
                "",
                "-1",
            ] {
                for end in [
                    "",
                    "id = 4;",
                    ";;loglevel = 3;",
                    "stream_id = 0;",
                    "fields := struct { string b; };",
                    "fields := b;",
                    "fields.a := struct { };",
                    "fields = 3;",
                ] {
                    let head = |blank| {
                        format!(
                            "event {{\n\tname{blank}= \"{name}\";\n\tid = {number};\n\tstream_id = {number};\n\t{end}{rest}\n}};\n"
                        )
                    };
                    let (text, other) = (head(" "), head("\t"));
                    usual += usize::from(at_head(&text).is_some());
                    assert_eq!(at_head(&other), None);
                    assert_eq!(parsed(&text), parsed(&other), "{text}");
                }
            }
        }
        // Four names without a backslash, three numbers, eight ends.
        assert_eq!(usual, 4 * 3 * 8);
    }

    fn at_head(text: &str) -> Option<(String, u64)> {
        let mut parser = Parser::new(text, ByteOrder::Little);
        parser.advance();
        parser.advance();
        parser.usual_head().map(|head| (head.name.to_owned(), head.stream))
    }
}
