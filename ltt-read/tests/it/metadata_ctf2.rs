//! CTF 2 metadata with every kind of fragment, unchanged and after mutations.

use crate::support::config::cases;
use ltt_read::metadata;
use proptest::prelude::*;

/// A metadata stream with every kind of fragment and field class.
const EVERYTHING: &str = include_str!("../data/everything.ctf2");

/// Pieces of text that are significant to the parser.
const PIECES: &[&str] = &[
    "\u{1e}",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u",
    "null",
    "true",
    "-",
    "0",
    "1e9",
    "18446744073709551615",
    "-9223372036854775808",
    "999999999999999999999",
    "\"type\"",
    "\"path\"",
    "\"n\"",
    "\"u8\"",
    "\"structure\"",
    "\u{0}",
    "é",
];

/// Replaces `len` bytes at `at` by a piece of text.
fn mutate(text: &mut Vec<u8>, at: usize, len: usize, piece: usize) {
    let at = at % (text.len() + 1);
    let end = (at + len).min(text.len());
    text.splice(at..end, PIECES[piece % PIECES.len()].bytes());
}

proptest! {
    #![proptest_config(cases(2000))]

    /// Mutated metadata is either accepted or rejected with a place.
    #[test]
    fn mutated_metadata_is_handled(
        edits in prop::collection::vec((any::<usize>(), 0usize..12, any::<usize>()), 1..4)
    ) {
        let mut text = EVERYTHING.as_bytes().to_vec();
        for (at, len, piece) in edits {
            mutate(&mut text, at, len, piece);
        }
        if let Err(e) = metadata::parse(&text) {
            let first = &e.diagnostics[0];
            prop_assert!(first.diagnostic.span.start as usize <= text.len() * 3);
            prop_assert!(!e.to_string().is_empty());
        }
    }
}
