//! Definitions of periods and counters in files.

use std::fs;
use std::ops::Range;

use lttv_filter::{Expression, nearest};
use lttv_state::counters::Counter;
use lttv_state::latency::Period;
use serde::Deserialize;
use toml::Spanned;

use super::Definitions;
use super::pairs::pairs;
use crate::report::Usage;

/// The definitions that come with the program: a name and the text of a file.
const BUILT_IN: [(&str, &str); 7] = [
    ("cpu-frequency", include_str!("built_in/cpu-frequency.toml")),
    ("cpu-idle", include_str!("built_in/cpu-idle.toml")),
    ("locks", include_str!("built_in/locks.toml")),
    ("markers", include_str!("built_in/markers.toml")),
    ("memory", include_str!("built_in/memory.toml")),
    ("net-transmit", include_str!("built_in/net-transmit.toml")),
    ("ros2-callbacks", include_str!("built_in/ros2-callbacks.toml")),
];

/// The contents of a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    span: Vec<Definition>,
    #[serde(default)]
    counter: Vec<CounterDefinition>,
}

/// The definition of a counter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CounterDefinition {
    name: Spanned<String>,
    event: Spanned<String>,
    value: Option<Spanned<String>>,
    marker: Option<Spanned<String>>,
    #[serde(default)]
    delta: bool,
    #[serde(default)]
    key: Vec<Spanned<String>>,
    #[serde(default)]
    unit: String,
}

/// The names of the definitions of counters that come with the program.
pub(super) fn counters_of_the_program() -> impl Iterator<Item = &'static str> {
    let has_counters = |text: &str| text.contains("[[counter]]");
    BUILT_IN.iter().filter(move |(_, text)| has_counters(text)).map(|(name, _)| *name)
}

/// A definition: what the options `--period`, `--period-key` and `--period-captures` say of one period, and values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Definition {
    name: Spanned<String>,
    parent: Option<String>,
    begin: Spanned<String>,
    end: Spanned<String>,
    #[serde(default)]
    key: Vec<Spanned<String>>,
    #[serde(default)]
    labels_at_begin: Vec<Spanned<String>>,
    #[serde(default)]
    labels_at_end: Vec<Spanned<String>>,
    #[serde(default)]
    values_at_begin: Vec<Spanned<String>>,
    #[serde(default)]
    values_at_end: Vec<Spanned<String>>,
}

/// The names of the definitions that come with the program.
pub(super) fn built_in() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// Adds the periods and counters of a file, or of a definition that comes with the program.
///
/// # Errors
///
/// If there is no such file, or if it is wrong.
pub(super) fn add(name: &str, to: &mut Definitions) -> Result<(), Usage> {
    if let Some((_, text)) = BUILT_IN.iter().find(|(of, _)| *of == name) {
        return parse(name, text, to);
    }
    let text = fs::read_to_string(name).map_err(|error| {
        let known = BUILT_IN.map(|(name, _)| name);
        let perhaps =
            nearest(name, known).map_or(String::new(), |of| format!("; did you mean {of}?"));
        let known = known.join(", ");
        Usage::new(format_args!(
            "--define: {name}: {error}; without a file, there are {known}{perhaps}"
        ))
    })?;
    parse(name, &text, to)
}

/// Adds the periods and counters of the text of a file.
fn parse(file: &str, text: &str, to: &mut Definitions) -> Result<(), Usage> {
    let place = |span: Range<usize>| {
        let before = text.get(..span.start).unwrap_or(text);
        format!("--define: {file}:{}:", 1 + before.matches('\n').count())
    };
    let contents: File = toml::from_str(text).map_err(|error| {
        let place = place(error.span().unwrap_or_default());
        Usage::new(format_args!("{place} {}", error.message().replace('\n', " ")))
    })?;
    let expression = |of: &Spanned<String>| {
        Expression::parse(of.get_ref()).map_err(|error| Usage::filter(&place(of.span()), &error))
    };
    if contents.span.is_empty() && contents.counter.is_empty() {
        let place = place(0..0);
        return Err(Usage::new(format_args!(
            "{place} there is neither a [[span]] nor a [[counter]]"
        )));
    }
    for of in contents.counter {
        let name = of.name.get_ref();
        to.counter_places.insert((name.clone(), None), place(of.name.span()));
        let mut note = |text: &str, span| {
            let key = (name.clone(), Some(text.to_owned()));
            to.counter_places.entry(key).or_insert_with(|| place(span));
        };
        let event = expression(&of.event)?;
        let mut counter = match (&of.value, &of.marker) {
            (Some(field), None) => {
                note(field.get_ref(), field.span());
                Counter::new(&**name, event, &**field.get_ref())
            }
            (None, Some(field)) => {
                note(field.get_ref(), field.span());
                Counter::of_markers(&**name, event, &**field.get_ref())
            }
            _ => {
                let place = place(of.name.span());
                return Err(Usage::new(format_args!(
                    "{place} a [[counter]] needs one of `value` and `marker`"
                )));
            }
        };
        if of.delta {
            counter = counter.delta();
        }
        for part in &of.key {
            for (label, field) in pairs(part.get_ref()) {
                note(label, part.span());
                note(field, part.span());
                counter = counter.key(label, field);
            }
        }
        to.counters.push(counter.unit(of.unit));
    }
    for of in contents.span {
        let name = of.name.get_ref();
        to.places.insert((name.clone(), None), place(of.name.span()));
        let mut fields = |list: &[Spanned<String>]| -> Vec<(String, String)> {
            let mut all = Vec::new();
            for part in list {
                for (a, b) in pairs(part.get_ref()) {
                    for field in [a, b] {
                        let key = (name.clone(), Some(field.to_owned()));
                        to.places.entry(key).or_insert_with(|| place(part.span()));
                    }
                    all.push((a.to_owned(), b.to_owned()));
                }
            }
            all
        };
        let mut period = Period::new(&**name, expression(&of.begin)?, expression(&of.end)?);
        if let Some(parent) = &of.parent {
            period = period.parent(&**parent);
        }
        for (at_begin, at_end) in fields(&of.key) {
            period = period.key(at_begin, at_end);
        }
        for (label, field) in fields(&of.labels_at_begin) {
            period = period.capture_at_begin(label, field);
        }
        for (label, field) in fields(&of.labels_at_end) {
            period = period.capture_at_end(label, field);
        }
        for (value, field) in fields(&of.values_at_begin) {
            period = period.value_at_begin(value, field);
        }
        for (value, field) in fields(&of.values_at_end) {
            period = period.value_at_end(value, field);
        }
        to.periods.push(period);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_the_program_are_right() {
        for (name, text) in BUILT_IN {
            let mut found = Definitions::default();
            parse(name, text, &mut found).expect(name);
            assert!(!found.periods.is_empty() || !found.counters.is_empty(), "{name}");
        }
        let unknown = add("lock", &mut Definitions::default());
        let unknown = unknown.expect_err("no such file").to_string();
        assert!(unknown.contains("did you mean locks?"), "{unknown}");
    }

    #[test]
    fn wrong_files_are_refused_with_the_line() {
        let refused =
            |text: &str| parse("F", text, &mut Definitions::default()).expect_err(text).to_string();
        for (text, part) in [
            ("[[span]]\nname = \"a\"\nbegin = \"b\"", "end"),
            (
                "[[span]]\nname = \"a\"\nbegin = \"b\"\nend = \"c\"\nlabels = []",
                "F:5: unknown field",
            ),
            ("[[span]]\nname = \"a\"\nbegin = \"= x\"\nend = \"c\"", "F:3:\n"),
            ("[[span]", "F:1: "),
            ("", "span"),
            ("[[counter]]\nname = \"a\"\nevent = \"b\"", "F:2: a [[counter]] needs one of"),
            ("[[counter]]\nname = \"a\"\nevent = \"= b\"\nvalue = \"c\"", "F:3:"),
            (
                "[[counter]]\nname = \"a\"\nevent = \"b\"\nvalue = \"c\"\nunits = \"d\"",
                "F:5: unknown field",
            ),
        ] {
            let found = refused(text);
            assert!(found.contains(part), "{text}: {found}");
        }
    }
}
