//! Checks of vocabularies and of completion, by compiling what they offer.

use std::sync::Arc;

use ltt_read::Trace;
use lttv_filter::{Candidate, Expression, Filters, KnownEvent, Vocabulary};
use proptest::prelude::*;

/// Checks that each listed field is one.
pub(crate) fn fields_are_valid(traces: &[Arc<Trace>]) -> Result<(), TestCaseError> {
    let vocabulary = Vocabulary::new(traces);
    let of_events = vocabulary.events().iter().flat_map(KnownEvent::fields);
    let mut all: Vec<&str> = vocabulary
        .selectors()
        .iter()
        .chain(vocabulary.fields())
        .chain(of_events)
        .map(|field| field.selector())
        .collect();
    all.sort_unstable();
    all.dedup();
    for some in all.chunks(1000) {
        let text: Vec<String> = some.iter().map(|selector| format!("exists({selector})")).collect();
        let text = text.join(" || ");
        let expression =
            Expression::parse(&text).map_err(|e| TestCaseError::fail(e.to_string()))?;
        Filters::new(&expression, traces).map_err(|e| TestCaseError::fail(e.to_string()))?;
    }
    Ok(())
}

/// A sequence of random numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut n = self.0;
        n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((n ^ (n >> 31)) % end as u64) as usize
    }
}

/// Returns an expression with a candidate in it.
fn with(text: &str, candidate: &Candidate) -> String {
    let start = &text[..candidate.span.start as usize];
    let blank = if candidate.text.ends_with(['.', '(', '!']) { "" } else { " " };
    format!("{start}{}{blank}", candidate.text)
}

/// Values that fit one of the types.
const VALUES: [&str; 4] = ["5", "1.5", "\"x\"", "true"];

/// Completes an expression with as few further terms as possible.
fn finished(
    vocabulary: &Vocabulary,
    traces: &[Arc<Trace>],
    mut text: String,
) -> Result<Filters, TestCaseError> {
    for _ in 0..60 {
        let all = vocabulary.complete(&text, text.len());
        let find = |wanted: &str| all.iter().find(|candidate| candidate.text == wanted);
        if let Some(close) = find(")") {
            text = with(&text, close);
        } else if find("&&").is_some() {
            let expression = Expression::parse(&text)
                .map_err(|error| TestCaseError::fail(format!("{text}\n{error}")))?;
            return Filters::new(&expression, traces)
                .map_err(|error| TestCaseError::fail(format!("{text}\n{error}")));
        } else if let Some(first) = all.first() {
            text = with(&text, first);
        } else {
            text = with_value(traces, &text)
                .ok_or_else(|| TestCaseError::fail(format!("no value fits: {text}")))?;
        }
    }
    Err(TestCaseError::fail(format!("no end: {text}")))
}

/// Adds a value that makes the last term valid.
fn with_value(traces: &[Arc<Trace>], text: &str) -> Option<String> {
    let is_relation = |at: usize| match text.as_bytes()[at] {
        b'!' => text[at + 1..].starts_with(['=', '~']),
        b'(' => text[..at].ends_with("in "),
        _ => false,
    };
    let signs = text.char_indices().filter(|(_, c)| matches!(c, '&' | '|' | '^' | '!' | '('));
    let start = signs.filter(|(at, _)| !is_relation(*at)).map(|(at, _)| at + 1);
    let term = &text[start.max().unwrap_or(0)..];
    let close = if term.contains(" in (") { ")" } else { "" };
    let fits = |value: &&&str| {
        let expression = Expression::parse(&format!("{term}{value}{close}"));
        expression.is_ok_and(|expression| Filters::new(&expression, traces).is_ok())
    };
    VALUES.iter().find(fits).map(|value| format!("{text}{value} "))
}

/// Starts with nothing, and takes candidates at random. Each of them can be continued to a
/// valid filter.
pub(crate) fn completion_leads_to_filters(
    traces: &[Arc<Trace>],
    seed: u64,
    walks: usize,
) -> Result<(), TestCaseError> {
    let vocabulary = Vocabulary::new(traces);
    let mut numbers = Numbers(seed);
    for _ in 0..walks {
        let mut text = String::new();
        for _ in 0..20 {
            let all = vocabulary.complete(&text, text.len());
            if all.is_empty() {
                let Some(more) = with_value(traces, &text) else {
                    return Err(TestCaseError::fail(format!("no value fits: {text}")));
                };
                text = more;
                continue;
            }
            for _ in 0..2 {
                let other = with(&text, &all[numbers.below(all.len())]);
                finished(&vocabulary, traces, other)?;
            }
            text = with(&text, &all[numbers.below(all.len())]);
        }
        finished(&vocabulary, traces, text)?;
    }
    Ok(())
}
