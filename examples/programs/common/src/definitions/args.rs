//! The options that define periods.

use lttv_filter::Expression;
use lttv_state::latency::Period;

use super::Definitions;
use super::pairs::pairs;
use crate::report::Usage;

/// The option that adds definitions to those that come with the program.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct DefineArgs {
    /// Also show the periods that a TOML file defines, besides those that come with the program; may be repeated
    #[arg(long, value_name = "FILE")]
    pub define: Vec<String>,
}

impl DefineArgs {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// If one cannot be read, or is wrong.
    pub fn read(&self) -> Result<Definitions, Usage> {
        let mut all = Definitions::default();
        self.define.iter().try_for_each(|file| all.add(file))?;
        Ok(all)
    }
}

/// The options that define periods.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct PeriodArgs {
    /// Measure the periods that a TOML file defines; or cpu-idle, locks, net-transmit or ros2-callbacks, which
    /// need no file; may be repeated
    #[arg(long, value_name = "FILE|NAME", help_heading = "Periods")]
    pub define: Vec<String>,

    /// Measure periods from events of one expression to those of another; may be repeated
    #[arg(long, value_name = "NAME[(PARENT)] : BEGIN : END", help_heading = "Periods")]
    pub period: Vec<String>,

    /// The fields with equal values in the events that begin and end a period
    #[arg(long, value_name = "NAME : FIELD[=FIELD AT END],…", help_heading = "Periods")]
    pub period_key: Vec<String>,

    /// The fields by whose values periods are grouped, at their begin and at their end
    #[arg(long, value_name = "NAME : LABEL=FIELD,… [: …]", help_heading = "Periods")]
    pub period_captures: Vec<String>,
}

impl PeriodArgs {
    /// Returns the definitions of the periods.
    ///
    /// # Errors
    ///
    /// If an option has another form, if a file cannot be read or is wrong, if an expression is wrong, or if a
    /// key or captures name no period.
    pub fn definitions(&self) -> Result<Definitions, Usage> {
        let mut all = Definitions::default();
        for file in &self.define {
            let before = all.periods.len();
            all.add(file)?;
            if all.periods.len() == before {
                return Err(Usage::new(format_args!(
                    "--define: {file}: there is no [[span]]; `lttv counters` shows each [[counter]]"
                )));
            }
        }
        let periods = &mut all.periods;
        for text in &self.period {
            let [name, begin, end] = parts(text)[..] else {
                return Err(Usage::new(format_args!(
                    "--period: `{text}` is not NAME : BEGIN : END"
                )));
            };
            let parse =
                |text| Expression::parse(text).map_err(|error| Usage::filter("--period:", &error));
            let (begin, end) = (parse(begin)?, parse(end)?);
            periods.push(match name.strip_suffix(')').and_then(|name| name.split_once('(')) {
                Some((name, parent)) => Period::new(name.trim(), begin, end).parent(parent.trim()),
                None => Period::new(name, begin, end),
            });
        }
        for text in &self.period_key {
            let [name, fields] = parts(text)[..] else {
                return Err(Usage::new(format_args!("--period-key: `{text}` is not NAME : FIELD")));
            };
            let fields = pairs(fields);
            change(periods, "--period-key", name, |period| {
                fields.iter().fold(period, |period, (begin, end)| period.key(*begin, *end))
            })?;
        }
        for text in &self.period_captures {
            let parts = parts(text);
            let (Some(name), 2..=3) = (parts.first(), parts.len()) else {
                return Err(Usage::new(format_args!(
                    "--period-captures: `{text}` is not NAME : LABEL=FIELD [: LABEL=FIELD]"
                )));
            };
            let at = |at: usize| parts.get(at).map_or(Vec::new(), |fields| pairs(fields));
            let (begin, end) = (at(1), at(2));
            change(periods, "--period-captures", name, |period| {
                let period = begin
                    .iter()
                    .fold(period, |period, (label, field)| period.capture_at_begin(*label, *field));
                end.iter()
                    .fold(period, |period, (label, field)| period.capture_at_end(*label, *field))
            })?;
        }
        Ok(all)
    }
}

/// Replaces the period of a name by a changed one.
fn change(
    periods: &mut [Period],
    option: &str,
    name: &str,
    change: impl FnOnce(Period) -> Period,
) -> Result<(), Usage> {
    let found = periods.iter_mut().find(|period| period.name() == name);
    let unknown = || Usage::new(format_args!("{option}: there is no period `{name}`"));
    let period = found.ok_or_else(unknown)?;
    *period = change(period.clone());
    Ok(())
}

/// Divides a text at colons between blanks outside of quotes, since names of events may contain
/// colons.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quote) = (Vec::new(), 0, None);
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if open == c => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == ':' && text[..at].ends_with(' ') && text[at + 1..].starts_with(' ') => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            None => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_divided_at_colons_between_blanks() {
        assert_eq!(parts("r : my:begin : my:end"), ["r", "my:begin", "my:end"]);
        assert_eq!(parts("r : a == \"x : y\" : b"), ["r", "a == \"x : y\"", "b"]);
        assert_eq!(parts("r"), ["r"]);
    }

    #[test]
    fn wrong_options_are_refused_in_words() {
        let args = |period: &str, key: &str| PeriodArgs {
            period: vec![period.to_owned()],
            period_key: vec![key.to_owned()],
            ..PeriodArgs::default()
        };
        assert!(args("a : b : c", "a : id").definitions().is_ok());
        for (period, key) in [("a : b", "a : id"), ("a : b : c", "b : id"), ("a : = : c", "a : id")]
        {
            assert!(args(period, key).definitions().is_err(), "{period} {key}");
        }
    }
}
