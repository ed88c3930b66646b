//! Definitions of periods in files.

use std::fs;
use std::ops::Range;

use lttv_common::report::Usage;
use lttv_filter::{Expression, nearest};
use lttv_state::latency::Period;
use serde::Deserialize;
use toml::Spanned;

use super::pairs;

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

/// A definition: what the options `--period`, `--period-key` and `--period-captures` say of one period.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Definition {
    name: String,
    parent: Option<String>,
    begin: Spanned<String>,
    end: Spanned<String>,
    #[serde(default)]
    key: Vec<String>,
    #[serde(default)]
    labels_at_begin: Vec<String>,
    #[serde(default)]
    labels_at_end: Vec<String>,
}

/// Returns the periods of a file, or of a definition that comes with the program.
///
/// # Errors
///
/// If there is no such file, or if it is wrong.
pub(super) fn periods(name: &str) -> Result<Vec<Period>, Usage> {
    if let Some((_, text)) = BUILT_IN.iter().find(|(of, _)| *of == name) {
        return parse(name, text);
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
    parse(name, &text)
}

/// Returns the periods of the text of a file.
fn parse(file: &str, text: &str) -> Result<Vec<Period>, Usage> {
    let wrong = |span: Range<usize>, message: &str| {
        let before = text.get(..span.start).unwrap_or(text);
        let line = 1 + before.matches('\n').count();
        Usage::new(format_args!("--define: {file}:{line}: {message}"))
    };
    let contents: File = toml::from_str(text).map_err(|error| {
        wrong(error.span().unwrap_or_default(), &error.message().replace('\n', " "))
    })?;
    let expression = |of: &Spanned<String>| {
        Expression::parse(of.get_ref()).map_err(|error| wrong(of.span(), &error.to_string()))
    };
    let period = |of: &Definition| {
        let period = Period::new(&*of.name, expression(&of.begin)?, expression(&of.end)?);
        let period = match &of.parent {
            Some(parent) => period.parent(&**parent),
            None => period,
        };
        let fields = |list: &[String]| -> Vec<(String, String)> {
            let pairs = list.iter().flat_map(|text| pairs(text));
            pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
        };
        let period =
            fields(&of.key).into_iter().fold(period, |period, (begin, end)| period.key(begin, end));
        let at_begin = fields(&of.labels_at_begin).into_iter();
        let period =
            at_begin.fold(period, |period, (label, field)| period.capture_at_begin(label, field));
        let at_end = fields(&of.labels_at_end).into_iter();
        Ok(at_end.fold(period, |period, (label, field)| period.capture_at_end(label, field)))
    };
    contents.span.iter().map(period).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_the_program_are_right() {
        for (name, text) in BUILT_IN {
            assert!(!parse(name, text).expect(name).is_empty(), "{name}");
        }
        let unknown = periods("lock").expect_err("no such file").to_string();
        assert!(unknown.contains("did you mean locks?"), "{unknown}");
    }

    #[test]
    fn wrong_files_are_refused_with_the_line() {
        let refused = |text: &str| parse("F", text).expect_err(text).to_string();
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
