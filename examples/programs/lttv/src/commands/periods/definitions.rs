//! Definitions of periods in files.

use std::fs;
use std::ops::Range;

use lttv_common::report::Usage;
use lttv_filter::{Expression, nearest};
use lttv_state::latency::Period;
use serde::Deserialize;
use toml::Spanned;

use super::{Definitions, pairs};

/// The definitions that come with the program: a name and the text of a file.
const BUILT_IN: [(&str, &str); 4] = [
    ("cpu-idle", include_str!("built_in/cpu-idle.toml")),
    ("locks", include_str!("built_in/locks.toml")),
    ("net-transmit", include_str!("built_in/net-transmit.toml")),
    ("ros2-callbacks", include_str!("built_in/ros2-callbacks.toml")),
];

/// The contents of a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    span: Vec<Definition>,
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

/// Adds the periods of a file, or of a definition that comes with the program.
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

/// Adds the periods of the text of a file.
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
            assert!(!found.periods.is_empty(), "{name}");
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
            ("[[span]]\nname = \"a\"\nbegin = \"= x\"\nend = \"c\"", "F:3: "),
            ("[[span]", "F:1: "),
            ("", "span"),
        ] {
            let found = refused(text);
            assert!(found.contains(part), "{text}: {found}");
        }
    }
}
