//! Whole `event` blocks in the form of LTTng whose fields have the text of those of an earlier one. In large
//! metadata, these are two thirds of all.

use std::sync::Arc;

use super::blocks::EventBlock;
use super::parser::Parser;
use crate::metadata::limits;
use crate::schema::Identity;

impl Parser<'_> {
    /// Parses the `event` block that begins at the next token if it has only the attributes of
    /// [`usual_head`](Self::usual_head) and fields that are known. Returns `false`, and changes
    /// nothing, if it has any other form.
    pub(super) fn repeated_event(&mut self) -> bool {
        match self.find_repeated() {
            Some((event, nodes, end)) => {
                self.declared.nodes = nodes;
                self.declared.events.push(event);
                self.continue_at(end);
                true
            }
            None => false,
        }
    }

    /// Returns the event, the number of classes with those of its fields, and the offset after its
    /// block.
    fn find_repeated(&self) -> Option<(EventBlock, usize, usize)> {
        let span = self.token.span;
        let start = self.text.get(span.start as usize..)?;
        let rest = start.strip_prefix("event {\n\t")?;
        let head = self.usual_head_at(self.text.len() - rest.len())?;
        head.fields?;
        let block = self.text.get(head.end..)?.strip_prefix(" := struct ")?;
        let text = self.block_text_at(self.text.len() - block.len())?;
        let ty = self.scopes.find_block(text)?;
        let rest = block.get(text.len()..)?.strip_prefix(";\n};")?;
        let nodes = self.declared.nodes.saturating_add(ty.nodes as usize);
        if nodes > limits::NODES {
            return None;
        }
        let event = EventBlock {
            span,
            id: Some(head.id),
            stream: Some((head.stream, head.stream_span)),
            identity: Identity { name: Some(head.name.into()), ..Identity::default() },
            fields: Some(Arc::clone(&ty.class)),
            ..EventBlock::default()
        };
        Some((event, nodes, self.text.len() - rest.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ByteOrder;

    /// Parses a text, and returns its events, the number of classes, and the errors and warnings.
    fn parsed(text: &str) -> (String, usize, String) {
        let mut parser = Parser::new(text, ByteOrder::Little);
        parser.run();
        let found = (&parser.errors, &parser.warnings);
        let nodes = parser.declared.nodes;
        (format!("{:?}", parser.declared.events), nodes, format!("{found:?}"))
    }

    /// Returns the number of events of a text that are repeated ones.
    fn repeated(text: &str) -> usize {
        let mut parser = Parser::new(text, ByteOrder::Little);
        let mut count = 0;
        while parser.token.kind != crate::metadata::tsdl::token::TokenKind::End {
            count += usize::from(parser.find_repeated().is_some());
            if parser.top_level().is_err() {
                break;
            }
        }
        count
    }

    /// The result is that of the same blocks with a tab in the place of a blank, which is of another
    /// form and as long.
    #[test]
    fn repeated_events_mean_what_the_parser_finds() {
        let first = "event {\n\tname = \"first\";\n\tid = 1;\n\tstream_id = 0;\n\tfields := struct {\n\t\tstring a;\n\t};\n};\n\n";
        let mut found = 0;
        for before in ["", "typedef integer { size = 8; } t;", ";", "struct s { };"] {
            for name in ["a", "é", "a\\\"b"] {
                for id in ["7", "07", "x"] {
                    for fields in ["string a;", "string b;", "string a; t b;", "string a[2];", "}"]
                    {
                        for end in [
                            ";\n};\n",
                            ";\n};",
                            ";\n};;\n",
                            ";\n}\n",
                            "; };",
                            " align(8);\n};",
                            ";\n\tloglevel = 3;\n};",
                            "\n};",
                            ";\n\tname = \"c\";\n};",
                            ";\n",
                        ] {
                            let event = |blank| {
                                format!(
                                    "event {{\n\tname{blank}= \"{name}\";\n\tid = {id};\n\tstream_id = 0;\n\tfields := struct {{\n\t\t{fields}\n\t}}{end}"
                                )
                            };
                            let text =
                                |blank| format!("{first}{before}{}{}", event(blank), event(blank));
                            let (with, without) = (text(" "), text("\t"));
                            found += repeated(&with);
                            assert_eq!(repeated(&without), 0);
                            assert_eq!(parsed(&with), parsed(&without), "{with}");
                        }
                    }
                }
            }
        }
        assert!(found > 20, "{found}");
    }
}
