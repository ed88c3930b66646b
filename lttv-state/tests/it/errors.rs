//! Each error writes its own text, and gives the error that caused it as its source.

use std::error::Error;
use std::io;

use ltt_read::ErrorChain;
use lttv_filter::Expression;
use lttv_state::history::HistoryError;
use lttv_state::latency::PeriodError;
use lttv_state::symbols::SymbolError;
use lttv_state::tree::TreeError;

/// Checks that a cause is found, is not in the text of the error, and once in its chain.
#[track_caller]
fn has_cause(error: &dyn Error, text: &str) {
    let mut causes = std::iter::successors(error.source(), |&error| error.source());
    assert!(causes.any(|error| error.to_string() == text), "{error}");
    assert!(!error.to_string().contains(text), "{error}");
    let chain = ErrorChain(error).to_string();
    assert_eq!(chain.matches(text).count(), 1, "{chain}");
    assert_eq!(format!("{error:?}"), chain);
}

#[test]
fn causes_are_sources_and_are_not_repeated_in_texts() {
    const CAUSE: &str = "disk on fire";
    let io = || io::Error::other(CAUSE);
    has_cause(&HistoryError::Io { path: "h".into(), error: io() }, CAUSE);
    has_cause(&SymbolError::Read { path: "bin".into(), source: io() }, CAUSE);
    let source = "a ==".parse::<Expression>().expect_err("no value");
    let text = source.to_string();
    has_cause(&PeriodError::Expression { period: "request".to_owned(), source }, &text);
}

#[test]
fn errors_of_trees_are_told_once_by_histories() {
    let error = TreeError::Escape("a\\".to_owned());
    let history = HistoryError::Tree(error.clone());
    assert_eq!(ErrorChain(&history).to_string(), error.to_string());
    assert_eq!(format!("{history:?}"), error.to_string());
}
