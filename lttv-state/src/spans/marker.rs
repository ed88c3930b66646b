//! The texts by which programs mark their activities, in the form of Android's `atrace`.

/// The meaning of a text that a program has written to the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker<'t> {
    /// `B|PID|NAME`: a section of the writing thread begins.
    Begin { name: &'t [u8] },
    /// `E` or `E|PID`: its innermost section ends.
    End,
    /// `S|PID|NAME|COOKIE`: a section of a process begins, on whatever threads it is.
    AsyncBegin { section: Section<'t> },
    /// `F|PID|NAME|COOKIE`: a section of a process ends.
    AsyncEnd { section: Section<'t> },
    /// `C|PID|NAME|VALUE`: a counter of a process has a value, whose text is not read yet.
    Counter { pid: u32, name: &'t [u8], value: &'t [u8] },
    /// A text of another form, which may be a message of any kind.
    Other,
    /// A text that begins like a marker, without all of its parts.
    Malformed,
}

/// A section of a process, apart from all others that are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Section<'t> {
    pub(crate) pid: u32,
    pub(crate) name: &'t [u8],
    pub(crate) cookie: i64,
}

impl<'t> Marker<'t> {
    /// Reads a text.
    #[inline]
    pub(crate) fn of(text: &'t [u8]) -> Marker<'t> {
        let text = text.split(|byte| *byte == 0).next().unwrap_or(text).trim_ascii_end();
        let (kind, rest) = match text {
            [kind @ (b'B' | b'E' | b'S' | b'F' | b'C'), b'|', rest @ ..] => (*kind, rest),
            b"E" => return Marker::End,
            _ => return Marker::Other,
        };
        let parts = match rest.iter().position(|byte| *byte == b'|') {
            Some(at) => (number(&rest[..at]), Some(&rest[at + 1..])),
            None => (number(rest), None),
        };
        let (Some(pid), name) = parts else {
            // `E|` is written by some programs, too.
            return if (kind, rest) == (b'E', b"") { Marker::End } else { Marker::Malformed };
        };
        let Ok(pid) = u32::try_from(pid) else { return Marker::Malformed };
        match (kind, name) {
            (b'E', _) => Marker::End,
            (b'B', Some(name)) if !name.is_empty() => Marker::Begin { name },
            (b'C', Some(rest)) => match named(rest) {
                Some((name, value)) => Marker::Counter { pid, name, value },
                None => Marker::Malformed,
            },
            (b'S' | b'F', Some(rest)) => match section(pid, rest) {
                Some(section) if kind == b'S' => Marker::AsyncBegin { section },
                Some(section) => Marker::AsyncEnd { section },
                None => Marker::Malformed,
            },
            _ => Marker::Malformed,
        }
    }
}

/// Reads the name and the cookie of a section.
fn section(pid: u32, text: &[u8]) -> Option<Section<'_>> {
    let (name, cookie) = named(text)?;
    Some(Section { pid, name, cookie: number(cookie)? })
}

/// Divides a text into a name, which may contain `|`, and what follows the last one.
fn named(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = text.iter().rposition(|byte| *byte == b'|').filter(|at| *at > 0)?;
    Some((&text[..at], &text[at + 1..]))
}

/// Reads a decimal number.
fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_their_meaning() {
        let section =
            |name: &'static str, cookie| Section { pid: 12, name: name.as_bytes(), cookie };
        let cases: &[(&str, Marker<'static>)] = &[
            ("B|12|draw\n", Marker::Begin { name: b"draw" }),
            ("B|12|a|b c", Marker::Begin { name: b"a|b c" }),
            ("B|12|draw\0garbage", Marker::Begin { name: b"draw" }),
            ("E\n", Marker::End),
            ("E|12\n", Marker::End),
            ("E|", Marker::End),
            ("E|12|draw", Marker::End),
            ("S|12|load|7\n", Marker::AsyncBegin { section: section("load", 7) }),
            ("F|12|a|b|-7", Marker::AsyncEnd { section: section("a|b", -7) }),
            ("C|12|a|b|4\n", Marker::Counter { pid: 12, name: b"a|b", value: b"4" }),
            ("C|12|counter", Marker::Malformed),
            ("plain text", Marker::Other),
            ("Exit", Marker::Other),
            ("", Marker::Other),
            ("\n", Marker::Other),
            ("B", Marker::Other),
            ("B|12", Marker::Malformed),
            ("B|12|", Marker::Malformed),
            ("B|x|draw", Marker::Malformed),
            ("B|-1|draw", Marker::Malformed),
            ("B||draw", Marker::Malformed),
            ("E|x", Marker::Malformed),
            ("S|12|load", Marker::Malformed),
            ("S|12|load|x", Marker::Malformed),
            ("F|12||7", Marker::Malformed),
            ("S|99999999999|load|7", Marker::Malformed),
        ];
        for (text, expected) in cases {
            assert_eq!(Marker::of(text.as_bytes()), *expected, "{text:?}");
        }
        assert_eq!(Marker::of(b"B|12|\xff\n"), Marker::Begin { name: b"\xff" });
    }
}
