//! Members of structures as LTTng writes them: an integer type that has occurred before, or a string, a blank and
//! a name. Most members have this form, and reading them token by token takes longer.

use memchr::memchr;

use super::lexer::is_word_byte;
use super::parser::Parser;
use super::scope::Type;
use super::token::{Keyword, TokenKind};
use crate::metadata::Span;

/// A member of a structure or an option of a variant.
#[derive(Debug)]
pub(super) struct UsualMember {
    pub(super) ty: Type,
    pub(super) name: Span,
    /// The offset after the `;`.
    pub(super) end: usize,
}

impl Parser<'_> {
    /// Returns the member that begins at the next token, if it has exactly the form of LTTng. Every
    /// other form is left to the parser, which finds the same in this one.
    pub(super) fn usual_member(&self) -> Option<UsualMember> {
        let start = self.token.span.start as usize;
        let rest = self.text.get(start..)?;
        let (ty, rest) = match self.token.kind {
            TokenKind::Keyword(Keyword::Integer) => {
                let block = rest.strip_prefix("integer {")?;
                let (key, rest) = block.split_at_checked(memchr(b'}', block.as_bytes())?)?;
                (self.integers.get(key)?, rest.strip_prefix("} ")?)
            }
            TokenKind::Keyword(Keyword::String) => {
                (&self.plain_string, rest.strip_prefix("string ")?)
            }
            _ => return None,
        };
        let bytes = rest.as_bytes();
        let len = bytes.iter().position(|c| !is_word_byte(*c))?;
        let (name, after) = bytes.split_at_checked(len)?;
        let is_name =
            name.first().is_some_and(|c| !c.is_ascii_digit()) && Keyword::of(name).is_none();
        if !is_name || after.first() != Some(&b';') {
            return None;
        }
        let begin = self.text.len() - rest.len();
        Some(UsualMember {
            ty: ty.clone(),
            name: Span::new(begin, begin + len),
            end: begin + len + 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ByteOrder;

    /// Parses an event with these members, and returns it with the errors and warnings.
    fn parsed(members: &str) -> (String, String) {
        let text = format!("event {{ name = \"a\"; fields := struct {{{members}\n\t}};\n}};\n");
        let mut parser = Parser::new(&text, ByteOrder::Little);
        parser.run();
        let found = (&parser.errors, &parser.warnings);
        (format!("{:?}", parser.declared.events), format!("{found:?}"))
    }

    /// Returns `true` if the member after an integer type has the usual form.
    fn is_usual(member: &str) -> bool {
        let text = format!("struct {{ integer {{ size = 8; }} first; {member} }};");
        let mut parser = Parser::new(&text, ByteOrder::Little);
        while parser.token.span.start as usize != text.len() - member.len() - " };".len() {
            if parser.token.kind == TokenKind::Keyword(Keyword::Integer) {
                let keyword = parser.advance().span;
                parser.integer(keyword).expect("an integer type");
            } else {
                parser.advance();
            }
        }
        parser.usual_member().is_some()
    }

    /// The result is that of the same members with a tab in the place of the blank before the name, which is of
    /// another form and as long.
    #[test]
    fn usual_members_mean_what_the_parser_finds() {
        let mut usual = 0;
        for ty in ["integer { size = 8; }", "integer {size=16;}", "string", "integer"] {
            for name in [
                "a", "_a", "first", "_first", "a9", "9a", "struct", "_struct", "é", "", "a b",
                "a.b",
            ] {
                for end in [";", ";;", " ;", "", "[3];", "[first];", ", c;", "; /* } */"] {
                    let member = |blank| format!("{ty}{blank}{name}{end}");
                    let members = |blank| {
                        format!("\n\t\tinteger {{ size = 8; }} first;\n\t\t{}", member(blank))
                    };
                    usual += usize::from(is_usual(&member(" ")));
                    assert!(!is_usual(&member("\t")));
                    let (with, without) = (members(" "), members("\t"));
                    assert_eq!(parsed(&with), parsed(&without), "{with}");
                    // As the options of a variant within it, and after a block that is equal.
                    let variant = |members: &str| {
                        format!(
                            "enum : integer {{ size = 8; }} {{ a }} e; variant <e> {{{members}}} v;"
                        )
                    };
                    assert_eq!(parsed(&variant(&with)), parsed(&variant(&without)), "{with}");
                }
            }
        }
        // Two types, six names, and three ends.
        assert_eq!(usual, 2 * 6 * 3);
    }
}
