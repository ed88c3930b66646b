//! The options that select spans.

use lttv_common::args::InputArgs;
use lttv_common::report::Usage;
use lttv_common::time::parse_length;
use lttv_filter::Expression;
use lttv_state::spans::{Family, error_number};

/// The options that select spans.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Selection")]
pub struct SelectionArgs {
    /// Only spans of these names; patterns such as 'open*' are accepted
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub name: Vec<String>,

    /// Only spans of these threads
    #[arg(long, value_name = "TID,…", value_delimiter = ',')]
    pub tid: Vec<i32>,

    /// Only spans of the threads of these processes
    #[arg(long, value_name = "PID,…", value_delimiter = ',')]
    pub pid: Vec<i32>,

    /// Only spans of threads of these names; patterns are accepted
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub comm: Vec<String>,

    /// Only spans that ended on these CPUs
    #[arg(long, value_name = "CPU,…", value_delimiter = ',')]
    pub cpu: Vec<u32>,

    /// Only system calls that used these files; patterns are accepted
    #[arg(long, value_name = "FILE,…", value_delimiter = ',')]
    pub file: Vec<String>,

    /// Only interrupts, vectors and softirqs of these numbers
    #[arg(long, value_name = "NUMBER,…", value_delimiter = ',')]
    pub irq: Vec<u32>,

    /// Only system calls with one of these results: a number, or an error such as ENOENT
    #[arg(long, value_name = "RESULT,…", value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(value_parser = parse_result)]
    pub result: Vec<i64>,

    /// Only spans of at least this duration, such as 10ms
    #[arg(long, visible_alias = "over", value_name = "LENGTH", value_parser = parse_length)]
    pub min: Option<u64>,

    /// Only spans of at most this duration
    #[arg(long, value_name = "LENGTH", value_parser = parse_length)]
    pub max: Option<u64>,
}

/// Parses the result of a system call.
fn parse_result(text: &str) -> Result<i64, String> {
    let error = error_number(text).map(|number| -i64::from(number));
    error
        .or_else(|| text.parse().ok())
        .ok_or_else(|| "expected a number or the name of an error such as ENOENT".to_owned())
}

impl SelectionArgs {
    /// Returns those of some families whose spans can pass the options.
    pub(crate) fn families_of(&self, families: &[Family]) -> Vec<Family> {
        let handlers = [Family::HardIrq, Family::Vector, Family::Softirq];
        let mut families = families.to_vec();
        if !self.file.is_empty() || !self.result.is_empty() {
            families.retain(|family| *family == Family::Syscall);
        }
        if !self.irq.is_empty() {
            families.retain(|family| handlers.contains(family));
        }
        families
    }

    /// Returns the condition of the options, without durations, and of the filters; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If an expression is wrong.
    pub(crate) fn condition(&self, input: &InputArgs) -> Result<Option<Expression>, Usage> {
        self.all_of(input, Vec::new())
    }

    /// Returns the condition of the options and filters; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If an expression is wrong.
    pub(crate) fn condition_with_durations(
        &self,
        input: &InputArgs,
    ) -> Result<Option<Expression>, Usage> {
        let min = self.min.map(|min| format!("duration >= {min}"));
        let max = self.max.map(|max| format!("duration <= {max}"));
        self.all_of(input, min.into_iter().chain(max).collect())
    }

    fn all_of(&self, input: &InputArgs, mut all: Vec<String>) -> Result<Option<Expression>, Usage> {
        let texts = [("name", &self.name), ("comm", &self.comm), ("file", &self.file)];
        for (property, patterns) in texts {
            all.extend(any(patterns.iter().map(|pattern| {
                let pattern = pattern.replace('\\', "\\\\").replace('"', "\\\"");
                match property {
                    // The name of an interrupt follows its number.
                    "name" => format!("name =~ \"{pattern}\" || name =~ \"* {pattern}\""),
                    property => format!("{property} =~ \"{pattern}\""),
                }
            })));
        }
        let numbers = |property: &str, values: Vec<i64>| {
            any(values.into_iter().map(|value| format!("{property} == {value}")))
        };
        let wide = |values: &[i32]| values.iter().map(|of| i64::from(*of)).collect();
        let unsigned = |values: &[u32]| values.iter().map(|of| i64::from(*of)).collect();
        all.extend(numbers("tid", wide(&self.tid)));
        all.extend(numbers("pid", wide(&self.pid)));
        all.extend(numbers("cpu", unsigned(&self.cpu)));
        all.extend(numbers("irq", unsigned(&self.irq)));
        all.extend(numbers("result", self.result.clone()));
        if input.filters.iter().any(|text| text.trim().is_empty()) {
            return Err(Usage::new("--filter: an expression is empty"));
        }
        let texts = input.filters.iter().chain(&all).map(String::as_str);
        let parsed = (texts.clone().count() > 0).then(|| Expression::parse_all(texts));
        parsed.transpose().map_err(|error| Usage::filter("--filter:", &error))
    }
}

/// Returns the condition that one of several is true; `None` if there are none.
fn any(conditions: impl Iterator<Item = String>) -> Option<String> {
    let all: Vec<String> = conditions.collect();
    (!all.is_empty()).then(|| all.join(" || "))
}
