//! Tags of description files: XML as LTTV wrote it, which XML libraries reject
//! (attributes without quotes, elements that end twice).

/// A tag of an XML text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    pub(super) attributes: Vec<(&'a str, &'a str)>,
    pub(super) kind: TagKind,
    /// The offset of its `<` in the text, in bytes.
    pub(super) at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TagKind {
    /// A start tag: `<a>`.
    Start,
    /// An end tag: `</a>`.
    End,
    /// An empty element: `<a/>`.
    Empty,
}

impl<'a> Tag<'a> {
    /// Returns the value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(n, _)| *n == name).map(|(_, value)| *value)
    }

    pub(super) fn is_end_of(&self, name: &str) -> bool {
        self.kind == TagKind::End && self.name == name
    }
}

/// Iterates over the tags of a text, in order. Text between tags, comments and
/// declarations are ignored.
pub(super) fn tags(text: &str) -> impl Iterator<Item = Tag<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let begin = at + text.get(at..)?.find('<')?;
            let rest = &text[begin..];
            let (end, skip) = match rest {
                _ if rest.starts_with("<!--") => (rest.find("-->")? + 3, true),
                _ if rest.starts_with("<?") || rest.starts_with("<!") => {
                    (rest.find('>')? + 1, true)
                }
                _ => (rest.find('>')? + 1, false),
            };
            at = begin + end;
            if !skip {
                return Some(tag(&rest[1..end - 1], begin));
            }
        }
    })
}

/// Parses the text between `<` and `>`.
fn tag(inner: &str, at: usize) -> Tag<'_> {
    let (inner, end) = match inner.strip_prefix('/') {
        Some(inner) => (inner, true),
        None => (inner, false),
    };
    let (inner, empty) = match inner.trim_end().strip_suffix('/') {
        Some(inner) => (inner, true),
        None => (inner, false),
    };
    let inner = inner.trim();
    let (name, mut rest) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
    let mut attributes = Vec::new();
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, more) = match quote {
            Some(quote) => after[1..].split_once(quote).unwrap_or((&after[1..], "")),
            None => after.split_once(char::is_whitespace).unwrap_or((after, "")),
        };
        attributes.push((name.trim(), value));
        rest = more;
    }
    let kind = if end {
        TagKind::End
    } else if empty {
        TagKind::Empty
    } else {
        TagKind::Start
    };
    Tag { name, attributes, kind, at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::type_complexity)] // the type is used only here
    fn parse(text: &str) -> Vec<(TagKind, &str, Vec<(&str, &str)>)> {
        tags(text).map(|t| (t.kind, t.name, t.attributes)).collect()
    }

    #[test]
    fn quoted_and_bare_attributes() {
        assert_eq!(
            parse("<?xml version=\"1.0\"?><a b=\"c d\" e=f>text<g h=1/><!-- <x> --></a >"),
            [
                (TagKind::Start, "a", vec![("b", "c d"), ("e", "f")]),
                (TagKind::Empty, "g", vec![("h", "1")]),
                (TagKind::End, "a", vec![]),
            ]
        );
        assert_eq!(parse("<a\nb = 'c'\n>"), [(TagKind::Start, "a", vec![("b", "c")])]);
    }

    #[test]
    fn invalid_text_terminates() {
        for text in ["<", "<a", "<a b=", "<!--", "<>", "</>", "<a b=\">", "<é ü=\"ö", "a>b"] {
            let _ = parse(text);
        }
        assert_eq!(parse("<a b=\">")[0].2, [("b", "")]);
    }
}
