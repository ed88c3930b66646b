//! The filters of clients: expressions that states match or not.
//!
//! An expression is a bare word, which a label or a value of the row contains, or a comparison
//! such as `TID == 12` or `duration > 10ms`. Conditions are joined by `&&`, `||`, `!` and
//! parentheses.

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::lane::Span;
use crate::protocol::parameters::{ParameterError, Parameters};

/// The mark of states that do not match.
const DIMMED: u32 = 1;
/// The mark of states that do not match and are hidden.
pub(super) const EXCLUDED: u32 = 4;
/// The greatest number of bytes in an expression.
const LONGEST: usize = 4096;
/// The greatest depth of parentheses and negations.
const DEEPEST: usize = 64;

/// The filters of one request.
#[derive(Debug, Default)]
pub(super) struct Filter {
    /// The marks with their conditions, all of which must hold.
    conditions: Vec<(u32, Vec<Condition>)>,
    /// States between samples are searched, too.
    pub(super) is_deep: bool,
}

/// A row, as filters see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowFacts<'r> {
    /// The names of the columns.
    pub(super) headers: &'r [&'static str],
    /// The labels of the row, one for each column.
    pub(super) labels: &'r [String],
}

#[derive(Debug)]
enum Condition {
    /// Any label or value contains the text.
    Any(Regex),
    Compare(String, Operator, String),
    Matches(String, Regex),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Contains,
}

const NAME: &str = "filter_query_parameters";

impl Filter {
    /// Reads the filters of a request.
    ///
    /// # Errors
    ///
    /// If a key is no number, or an expression is malformed.
    pub(super) fn parse(parameters: &Parameters) -> Result<Filter, ParameterError> {
        let invalid = |reason: &str| ParameterError::invalid(NAME, reason);
        let Some(of) = parameters.get(NAME) else { return Ok(Filter::default()) };
        let of = of.as_object().ok_or_else(|| invalid("not an object"))?;
        let is_deep = match of.get("strategy") {
            None | Some(Value::Null) => false,
            Some(Value::String(text)) => text.eq_ignore_ascii_case("deep"),
            Some(_) => return Err(invalid("`strategy` is not a text")),
        };
        let map = match of.get("filter_expressions_map") {
            None | Some(Value::Null) => return Ok(Filter { conditions: Vec::new(), is_deep }),
            Some(map) => map.as_object().ok_or_else(|| invalid("the map is not an object"))?,
        };
        let mut conditions = Vec::new();
        for (key, expressions) in map.iter().take(8) {
            let tag = key.parse::<u32>().map_err(|_| invalid("a key is not a number"))?;
            let list = expressions.as_array().ok_or_else(|| invalid("not a list"))?;
            let texts = list.iter().take(64).map(|of| of.as_str());
            let texts = texts.collect::<Option<Vec<_>>>();
            let texts = texts.ok_or_else(|| invalid("an expression is not a text"))?;
            let parsed = texts.iter().filter(|text| !text.trim().is_empty());
            let parsed = parsed.map(|text| Parser::parse(text));
            let parsed: Vec<Condition> =
                parsed.collect::<Result<_, String>>().map_err(|reason| invalid(&reason))?;
            if !parsed.is_empty() {
                conditions.push((tag, parsed));
            }
        }
        Ok(Filter { conditions, is_deep })
    }

    /// Returns `true` if no state is marked.
    pub(super) fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Returns the marks of a state: 0 if it matches all filters.
    pub(super) fn tags(&self, row: RowFacts<'_>, span: &Span<'_>) -> u32 {
        if self.conditions.is_empty() || span.style.is_none() {
            return 0;
        }
        let fails = |(_, all): &&(u32, Vec<Condition>)| !all.iter().all(|of| of.holds(row, span));
        let tags = self.conditions.iter().filter(fails);
        tags.fold(0, |tags, (tag, _)| tags | tag & (DIMMED | EXCLUDED))
    }
}

impl Condition {
    fn holds(&self, row: RowFacts<'_>, span: &Span<'_>) -> bool {
        match self {
            Condition::Any(regex) => {
                let label = span.label.as_ref().map(|label| label.as_str());
                let mut texts = label.into_iter().chain(span.style);
                texts.any(|text| regex.is_match(text))
                    || row.labels.iter().any(|text| regex.is_match(text))
            }
            Condition::Compare(field, operator, value) => match number_of(field, span) {
                Some(number) => duration(value).is_some_and(|of| operator.orders(number, of)),
                None => {
                    text_of(field, row, span).is_some_and(|text| operator.compares(text, value))
                }
            },
            Condition::Matches(field, regex) => {
                text_of(field, row, span).is_some_and(|text| regex.is_match(text))
            }
            Condition::Not(of) => !of.holds(row, span),
            Condition::And(a, b) => a.holds(row, span) && b.holds(row, span),
            Condition::Or(a, b) => a.holds(row, span) || b.holds(row, span),
        }
    }
}

fn number_of(field: &str, span: &Span<'_>) -> Option<i128> {
    match field.to_ascii_lowercase().as_str() {
        "duration" => Some(i128::from(span.end) - i128::from(span.start)),
        "start" => Some(span.start.into()),
        "end" => Some(span.end.into()),
        _ => None,
    }
}

fn text_of<'s>(field: &str, row: RowFacts<'s>, span: &'s Span<'_>) -> Option<&'s str> {
    if field.eq_ignore_ascii_case("label") {
        return Some(span.label.as_ref().map_or("", |label| label.as_str()));
    }
    if field.eq_ignore_ascii_case("state") {
        return span.style;
    }
    let at = row.headers.iter().position(|header| header.eq_ignore_ascii_case(field))?;
    row.labels.get(at).map(String::as_str)
}

/// Returns a number of ns: a plain number, or one with a unit.
fn duration(text: &str) -> Option<i128> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == 'µ');
    let factor = match &text[digits.len()..] {
        "" | "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let digits = digits.trim();
    if factor == 1.0
        && let Ok(whole) = digits.parse::<i64>()
    {
        return Some(whole.into());
    }
    let number = digits.parse::<f64>().ok().filter(|number| number.is_finite())?;
    Some((number * factor) as i128)
}

impl Operator {
    fn orders(self, a: i128, b: i128) -> bool {
        match self {
            Operator::Equal => a == b,
            Operator::NotEqual => a != b,
            Operator::Less => a < b,
            Operator::LessOrEqual => a <= b,
            Operator::Greater => a > b,
            Operator::GreaterOrEqual => a >= b,
            Operator::Contains => false,
        }
    }

    fn compares(self, a: &str, b: &str) -> bool {
        match (self, a.parse::<i64>(), b.parse::<i64>()) {
            (Operator::Contains, ..) => a.to_lowercase().contains(&b.to_lowercase()),
            (_, Ok(a), Ok(b)) => self.orders(a.into(), b.into()),
            (Operator::Equal, ..) => a == b,
            (Operator::NotEqual, ..) => a != b,
            _ => false,
        }
    }
}

/// A parser of expressions.
struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

const OPERATORS: [(&str, Operator); 7] = [
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("=", Operator::Equal),
];

impl<'t> Parser<'t> {
    fn parse(text: &'t str) -> Result<Condition, String> {
        if text.len() > LONGEST {
            return Err("an expression is too long".to_owned());
        }
        let mut parser = Parser { rest: text, depth: 0 };
        let condition = parser.either()?;
        parser.skip();
        match parser.rest.is_empty() {
            true => Ok(condition),
            false => Err(format!("unexpected `{}`", parser.rest)),
        }
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, word: &str) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn either(&mut self) -> Result<Condition, String> {
        let mut condition = self.both()?;
        while self.take("||") {
            condition = Condition::Or(condition.into(), self.both()?.into());
        }
        Ok(condition)
    }

    fn both(&mut self) -> Result<Condition, String> {
        let mut condition = self.one()?;
        while self.take("&&") {
            condition = Condition::And(condition.into(), self.one()?.into());
        }
        Ok(condition)
    }

    fn one(&mut self) -> Result<Condition, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("an expression is nested too deeply".to_owned());
        }
        let condition = if self.take("(") {
            let inner = self.either()?;
            if !self.take(")") {
                return Err("`)` is missing".to_owned());
            }
            inner
        } else if self.take("!") {
            Condition::Not(self.one()?.into())
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn comparison(&mut self) -> Result<Condition, String> {
        let field = self.word()?;
        self.skip();
        for (sign, operator) in OPERATORS {
            if self.take(sign) {
                return Ok(Condition::Compare(field, operator, self.word()?));
            }
        }
        for word in ["contains ", "matches "] {
            if self.take(word) {
                let value = self.word()?;
                return match word {
                    "contains " => Ok(Condition::Compare(field, Operator::Contains, value)),
                    _ => Ok(Condition::Matches(field, regex(&value)?)),
                };
            }
        }
        Ok(Condition::Any(regex(&field)?))
    }

    /// Takes a word, or a text in quotes.
    fn word(&mut self) -> Result<String, String> {
        self.skip();
        if let Some(quoted) = self.rest.strip_prefix('"') {
            let end = quoted.find('"').ok_or("a quote is not closed")?;
            self.rest = &quoted[end + 1..];
            return Ok(quoted[..end].to_owned());
        }
        let is_end = |c: char| c.is_whitespace() || "()=!<>&|\"".contains(c);
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        if end == 0 {
            return Err("a word is missing".to_owned());
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(word.to_owned())
    }
}

fn regex(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).size_limit(1 << 20).build();
    built.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::lane::Label;
    use super::*;

    fn holds(text: &str) -> bool {
        let span = Span {
            start: 1_000,
            end: 21_000_000,
            style: Some("system call"),
            label: Some(Label::Text("openat")),
        };
        let labels = ["bash".to_owned(), "12".to_owned()];
        let row = RowFacts { headers: &["Process", "TID"], labels: &labels };
        Parser::parse(text).unwrap().holds(row, &span)
    }

    #[test]
    fn expressions_are_those_of_clients() {
        for text in [
            "openat",
            "pen",
            "TID==12",
            "TID == 12 && Process == bash",
            "duration>10ms",
            "!(duration > 1s)",
            "label matches ^open",
            "Process contains AS || nothing",
            "\"system call\"",
            "TID < 100",
        ] {
            assert!(holds(text), "{text}");
        }
        for text in ["read", "TID==1", "duration<10ms", "unknown == 1", "!openat", "TID != 12"] {
            assert!(!holds(text), "{text}");
        }
        for text in ["(", "a &&", "\"a", "a b", "(((", "TID ==", "["] {
            assert!(Parser::parse(text).is_err(), "{text}");
        }
        assert!(Parser::parse(&"!".repeat(10_000)).is_err());
        assert!(Parser::parse(&"(".repeat(3_000)).is_err());
    }
}
