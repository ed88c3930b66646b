//! Conditions of options, as expressions of the filter language.

use std::fmt::Display;

use lttv_common::args::InputArgs;
use lttv_common::report::Usage;
use lttv_filter::{Columns, Expression};

/// Returns the expression that conditions are all true; `None` if there are none.
///
/// # Errors
///
/// If an expression is wrong.
pub(crate) fn all_of<S: AsRef<str>>(
    conditions: impl IntoIterator<Item = S>,
) -> Result<Option<Expression>, Usage> {
    let all: Vec<S> = conditions.into_iter().collect();
    let parsed = (!all.is_empty()).then(|| Expression::parse_all(all.iter().map(AsRef::as_ref)));
    parsed.transpose().map_err(|error| Usage::filter("--filter:", &error))
}

/// Returns an input of which only the events that pass conditions are read.
pub(crate) fn with_conditions(
    input: &InputArgs,
    conditions: impl Iterator<Item = String>,
) -> InputArgs {
    InputArgs { conditions: conditions.collect(), ..input.clone() }
}

/// Returns the condition that one of several is true; `None` if there are none.
pub(super) fn any(conditions: impl Iterator<Item = String>) -> Option<String> {
    let all: Vec<String> = conditions.collect();
    (!all.is_empty()).then(|| all.join(" || "))
}

/// Returns the condition that a property is one of some values.
pub(super) fn is_one_of<V: Display>(
    property: &str,
    values: impl IntoIterator<Item = V>,
) -> Option<String> {
    any(values.into_iter().map(|value| format!("{property} == {value}")))
}

/// Returns the condition that a property matches one of some patterns.
pub(super) fn matches(property: &str, patterns: &[String]) -> Option<String> {
    any(patterns.iter().map(|pattern| format!("{property} =~ {}", quoted(pattern))))
}

/// Returns a pattern as a text of the filter language.
pub(super) fn quoted(pattern: &str) -> String {
    format!("\"{}\"", pattern.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Checks a pattern on the command line.
pub(super) fn parse_pattern(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    let columns = Columns::new().text("text", |(): &()| None);
    let expression = Expression::parse(&format!("text =~ {}", quoted(text)));
    let compiled = expression.and_then(|expression| columns.compile(&expression));
    match compiled {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(error.diagnostics().first().map_or(String::new(), ToString::to_string)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_checked_and_keep_their_special_characters() {
        for text in ["nginx*", "kworker/?:[0-9]*", "a\"b", "\\*", "été"] {
            assert_eq!(parse_pattern(text).as_deref(), Ok(text));
        }
        let unclosed = parse_pattern("a[").expect_err("it is not closed");
        assert!(unclosed.contains('['), "{unclosed}");
        assert!(parse_pattern("").is_err() && parse_pattern("a\\").is_err());
    }
}
