//! The divisions of figures that `--by` names.

use std::ffi::OsStr;

use clap::ValueEnum;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use lttv_common::report::Usage;
use lttv_filter::nearest;
use lttv_state::latency::{GroupBy, Period};

/// The division of the figures of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Division {
    /// The name: of the system call, interrupt, disk, file, futex or period; the priority
    Name,
    /// The thread
    Thread,
    /// The process
    Process,
    /// Both thread and name
    Both,
    /// The file of system calls
    File,
    /// The CPU on which the durations ended
    Cpu,
    /// The bytes that system calls and disk requests moved, between powers of two
    Size,
    /// The result of system calls: 0 for success, or the error
    Result,
}

impl From<Division> for GroupBy {
    fn from(division: Division) -> Self {
        match division {
            Division::Name => GroupBy::Subject,
            Division::Thread => GroupBy::Thread,
            Division::Process => GroupBy::Process,
            Division::Both => GroupBy::ThreadAndSubject,
            Division::File => GroupBy::File,
            Division::Cpu => GroupBy::Cpu,
            Division::Size => GroupBy::Size,
            Division::Result => GroupBy::Result,
        }
    }
}

/// A division, or the name of a label or value of periods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// A property of all spans.
    Property(Division),
    /// A label or value of periods.
    Value(String),
}

/// The parser of a [`By`].
#[derive(Debug, Clone)]
pub(super) struct ByParser;

impl TypedValueParser for ByParser {
    type Value = By;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<By, clap::Error> {
        let text = StringValueParser::new().parse_ref(command, argument, value)?;
        let property = Division::from_str(&text, false);
        Ok(property.map_or_else(|_| By::Value(text), By::Property))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let all = Division::value_variants().iter();
        Some(Box::new(all.filter_map(ValueEnum::to_possible_value)))
    }
}

impl By {
    /// Returns the property, and the name of the label or value with `true` if it is a label.
    ///
    /// # Errors
    ///
    /// If none of some periods has the label or value.
    pub(super) fn resolve(
        &self,
        periods: &[Period],
    ) -> Result<(GroupBy, Option<(String, bool)>), Usage> {
        let name = match self {
            By::Property(division) => return Ok(((*division).into(), None)),
            By::Value(name) => name,
        };
        let is_of = |period: &Period, own: &str| {
            let rest = name.strip_prefix(period.name()).and_then(|rest| rest.strip_prefix('.'));
            own == name || rest == Some(own)
        };
        for period in periods {
            let is_label = period.labels().any(|own| is_of(period, own));
            if is_label || period.values().any(|own| is_of(period, own)) {
                return Ok((GroupBy::Value, Some((name.clone(), is_label))));
            }
        }
        let divisions = Division::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let divisions: Vec<_> = divisions.map(|value| value.get_name().to_owned()).collect();
        let own = periods.iter().flat_map(|period| period.labels().chain(period.values()));
        let names = divisions.iter().map(String::as_str).chain(own);
        let perhaps =
            nearest(name, names).map_or(String::new(), |of| format!("; did you mean `{of}`?"));
        Err(Usage::new(format_args!(
            "--by: `{name}` is neither {} nor a label or value of a period{perhaps}",
            divisions.join(", ")
        )))
    }
}
