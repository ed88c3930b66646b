//! Checking filters while a user writes them: faults, notes, and what can stand at the cursor.

use lttv_context::Traceset;
use lttv_filter::{Candidate, Diagnostic, Span, Vocabulary};
use serde::Serialize;

use crate::dataset::{FilterFault, LONGEST_FILTER, compile};

/// The greatest number of candidates in an answer.
const MOST_CANDIDATES: usize = 100;

/// The greatest number of faults or notes in an answer.
const MOST_FINDINGS: usize = 100;

/// The result of checking a filter. Places are offsets in units of UTF-16, as browsers count them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// The filter can be applied.
    #[serde(rename = "isValid")]
    pub is_valid: bool,
    /// The faults of a filter that is not valid, or else notes on parts that are never or always
    /// true.
    pub diagnostics: Vec<Finding>,
    /// The texts that can stand at the cursor, the best ones first.
    pub candidates: Vec<Completion>,
}

/// A fault or a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The start of the part that it is about.
    pub from: usize,
    /// The end of that part.
    pub to: usize,
    /// The message.
    pub message: String,
    /// A label for the part; empty if there is none.
    pub label: String,
    /// An explanation, or a hint how to repair it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// A text that repairs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacement: Option<Replacement>,
}

/// A text in place of a part of the filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replacement {
    /// The start of the part.
    pub from: usize,
    /// The end of the part.
    pub to: usize,
    /// The text.
    pub text: String,
}

/// A text that can stand at the cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Completion {
    /// The part that it replaces, and the text.
    #[serde(flatten)]
    pub replacement: Replacement,
    /// A short description; empty if there is none.
    pub description: String,
}

impl Checked {
    /// Checks a filter for traces. The cursor is an offset in units of UTF-16.
    pub fn new(filter: &str, cursor: usize, traceset: &Traceset, vocabulary: &Vocabulary) -> Self {
        let (is_valid, diagnostics) = match compile(filter, traceset) {
            Ok(filters) => (true, filters.filters().notes().diagnostics().to_vec()),
            Err(FilterFault::Wrong(error)) => (false, error.diagnostics().to_vec()),
            Err(error @ FilterFault::TooLong) => return Checked::too_long(filter, &error),
        };
        let candidates = vocabulary.complete(filter, bytes(filter, cursor)).into_iter();
        Checked {
            is_valid,
            diagnostics: diagnostics
                .into_iter()
                .take(MOST_FINDINGS)
                .map(|one| Finding::new(filter, one))
                .collect(),
            candidates: candidates
                .take(MOST_CANDIDATES)
                .map(|candidate| Completion::new(filter, candidate))
                .collect(),
        }
    }

    /// Creates the result for a filter that is not looked at: the fault is the part that is too much.
    fn too_long(filter: &str, error: &FilterFault) -> Self {
        let finding = Finding {
            from: units(filter, LONGEST_FILTER),
            to: units(filter, filter.len()),
            message: error.to_string(),
            label: String::new(),
            help: None,
            replacement: None,
        };
        Checked { is_valid: false, diagnostics: vec![finding], candidates: Vec::new() }
    }
}

impl Finding {
    fn new(filter: &str, diagnostic: Diagnostic) -> Self {
        let Diagnostic { span, message, label, help, replacement, .. } = diagnostic;
        let Replacement { from, to, .. } = Replacement::new(filter, span, String::new());
        let replacement = replacement.map(|(span, text)| Replacement::new(filter, span, text));
        Finding { from, to, message, label, help, replacement }
    }
}

impl Completion {
    fn new(filter: &str, candidate: Candidate) -> Self {
        let Candidate { span, text, description, .. } = candidate;
        Completion { replacement: Replacement::new(filter, span, text), description }
    }
}

impl Replacement {
    fn new(filter: &str, span: Span, text: String) -> Self {
        let [from, to] = [span.start, span.end].map(|at| units(filter, at as usize));
        Replacement { from, to, text }
    }
}

/// Returns the offset in units of UTF-16 of an offset in bytes.
fn units(text: &str, bytes: usize) -> usize {
    let before = &text[..text.floor_char_boundary(bytes)];
    before.encode_utf16().count()
}

/// Returns the offset in bytes of an offset in units of UTF-16.
fn bytes(text: &str, units: usize) -> usize {
    let mut before = 0;
    for (at, c) in text.char_indices() {
        if before >= units {
            return at;
        }
        before += c.len_utf16();
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use lttv_state::filter::KernelFields;

    use super::*;

    fn check(filter: &str, cursor: usize) -> Checked {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
        let traceset = Traceset::open(path).unwrap();
        let vocabulary = Vocabulary::with_state(traceset.traces(), &KernelFields);
        Checked::new(filter, cursor, &traceset, &vocabulary)
    }

    #[test]
    fn a_repair_leads_to_a_valid_filter_also_after_characters_of_two_units() {
        let filter = "comm == \"😀\" || nxt_tid == 212";
        let checked = check(filter, 0);
        assert!(!checked.is_valid);
        let repair = checked.diagnostics.iter().find_map(|one| one.replacement.clone()).unwrap();
        let all: Vec<u16> = filter.encode_utf16().collect();
        let part = |units: &[u16]| String::from_utf16(units).unwrap();
        assert_eq!(part(&all[repair.from..repair.to]), "nxt_tid");
        let repaired = part(&all[..repair.from]) + &repair.text + &part(&all[repair.to..]);
        assert!(check(&repaired, 0).is_valid, "{repaired}");
    }

    #[test]
    fn parts_that_are_never_true_are_noted() {
        let checked = check("name == shed_switch", 0);
        assert!(checked.is_valid);
        assert!(!checked.diagnostics.is_empty());
    }

    #[test]
    fn candidates_replace_the_word_at_the_cursor() {
        let candidates = check("\"ü😀\" == comm && sched_sw", 25).candidates;
        let first = &candidates[0].replacement;
        assert_eq!((first.from, first.to, &first.text[..]), (17, 25, "sched_switch"));
        assert!(!check("", 0).candidates.is_empty());
        check("x", usize::MAX);
    }

    #[test]
    fn filters_that_are_too_long_are_refused_with_the_place() {
        let longest = "tid==1".to_owned() + &" ".repeat(LONGEST_FILTER - 6);
        assert!(check(&longest, 0).is_valid);
        let checked = check(&(longest + " "), 0);
        assert!(!checked.is_valid && checked.candidates.is_empty());
        let [found] = &checked.diagnostics[..] else { panic!("{checked:?}") };
        assert_eq!((found.from, found.to), (LONGEST_FILTER, LONGEST_FILTER + 1));
        assert!(found.message.contains("2000 bytes"), "{}", found.message);
    }

    #[test]
    fn offsets_of_bytes_and_units_are_inverse() {
        let text = "aü😀z";
        for (at, _) in text.char_indices() {
            assert_eq!(bytes(text, units(text, at)), at);
        }
        assert_eq!((units(text, 7), bytes(text, 4), bytes(text, 99)), (4, 7, 8));
    }
}
