//! Completion of expressions.

use super::Vocabulary;
use super::candidates::Candidates;
use super::narrow::Passing;
use crate::span::Span;
use crate::syntax::{MAX_TEXT, expected, word_len};

/// A text that can stand at a place in an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// The bytes of the expression that the text replaces. Without any, the text is inserted.
    pub span: Span,
    /// The text, quoted where it has to be.
    pub text: String,
    /// The kind of the text.
    pub kind: CandidateKind,
    /// A short description, such as `integer, field of the payload`; empty if there is none.
    pub description: String,
    /// For the name of an event, the index of the event in [`Vocabulary::events`].
    pub event: Option<usize>,
}

/// The kind of a [`Candidate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CandidateKind {
    /// A property of events, tracefiles, traces or the state, such as `event.name`.
    Property,
    /// A field of events.
    Field,
    /// The name of an event.
    Event,
    /// A relation: `==`, `in`.
    Relation,
    /// A label of an enumeration.
    Label,
    /// The number of a CPU.
    Cpu,
    /// Another value.
    Value,
    /// An operator, parenthesis or comma.
    Operator,
}

impl Vocabulary {
    /// Returns the texts that can stand at the cursor of an expression, which may be
    /// incomplete and faulty. The cursor is an offset in bytes. The best candidates come
    /// first; those that do not contain the word before the cursor are left out.
    ///
    /// At the start of a term, these are fields, properties and names of events. If other terms
    /// of the conjunction restrict the events, as `event.name == "x" &&` does, the fields of
    /// these events come first. After a field, there are the relations that it allows; after a
    /// relation, its labels and known values; after a term, operators.
    ///
    /// ```
    /// use lttv_filter::{CandidateKind, Vocabulary};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let traces = ltt_read::open_all(path)?;
    /// let vocabulary = Vocabulary::new(&traces);
    /// let texts = |text: &str| -> Vec<String> {
    ///     let all = vocabulary.complete(text, text.len()).into_iter();
    ///     all.map(|candidate| candidate.text).collect()
    /// };
    /// assert_eq!(texts("event.name == sched_sw"), ["\"sched_switch\""]);
    /// assert_eq!(texts("event.name == \"sched_switch\" && ")[0], "prev_comm");
    /// assert_eq!(texts("event.name =")[0], "==");
    /// assert_eq!(texts("sched_sw"), ["sched_switch"]);
    /// assert_eq!(texts("tracefile.cpu >= ").len(), 8);
    /// assert_eq!(texts("irq_* && event.fields.*.name == TI"), ["\"TIMER\"", "\"HRTIMER\""]);
    /// assert_eq!(texts("next_tid == 5 "), ["&&", "||", "^"]);
    ///
    /// // A name of an event, with its event types.
    /// let candidate = &vocabulary.complete("event.name == sched_sw", 22)[0];
    /// assert_eq!((candidate.kind, candidate.span.start), (CandidateKind::Event, 14));
    /// let event = &vocabulary.events()[candidate.event.expect("an event")];
    /// assert_eq!(event.types().count(), 1);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn complete(&self, text: &str, cursor: usize) -> Vec<Candidate> {
        let mut at_most = (0..=cursor.min(text.len())).rev();
        let cursor = at_most.find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let before = &text[..cursor];
        if before.len() > MAX_TEXT {
            return Vec::new();
        }
        let expected = expected(before);
        let written = &before[expected.start..];
        let end = end_of_word(text, expected.start, cursor);
        let passing = Passing::of(self, expected.terms);
        let mut candidates = Candidates::new(self, &passing, written);
        candidates.add(&expected.place, expected.groups);
        candidates.finish(Span::new(expected.start, end))
    }
}

/// Returns the end of the word or quoted text that starts before the cursor.
fn end_of_word(text: &str, start: usize, cursor: usize) -> usize {
    let (written, rest) = (&text[start..cursor], &text[cursor..]);
    let in_word = |c: char| c.is_alphanumeric() || "_.-:/*?$@".contains(c);
    match written.chars().next() {
        None => cursor,
        Some(quote @ ('"' | '\'' | '`')) => {
            let word = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
            match rest[word..].starts_with(quote) {
                true => cursor + word + 1,
                false => cursor,
            }
        }
        Some(c) if in_word(c) => {
            // Of words that are joined by points, the last one.
            let last = written.rfind('.').map_or(start, |dot| start + dot + 1);
            cursor.max(last + word_len(&text[last..]))
        }
        // The rest of a relation.
        Some(_) => cursor + rest.find(|c| !matches!(c, '=' | '~')).unwrap_or(rest.len()),
    }
}
