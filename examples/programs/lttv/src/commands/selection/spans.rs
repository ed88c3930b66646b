//! The options that select spans.

use lttv_common::args::InputArgs;
use lttv_common::report::Usage;
use lttv_filter::Expression;
use lttv_state::spans::{Family, error_number};

use super::condition::{all_of, any, is_one_of, matches, parse_pattern, quoted};
use super::groups::{CpuArgs, DurationArgs, NameArgs, NumberArgs, ThreadArgs};

/// The options that select spans.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Selection")]
pub struct SelectionArgs {
    /// The names.
    #[command(flatten)]
    pub names: NameArgs,

    /// The threads.
    #[command(flatten)]
    pub threads: ThreadArgs,

    /// The CPUs.
    #[command(flatten)]
    pub cpus: CpuArgs,

    /// Only system calls that used these files; patterns are accepted
    #[arg(long, value_name = "FILE,…", value_delimiter = ',', value_parser = parse_pattern)]
    pub file: Vec<String>,

    /// The numbers of interrupts.
    #[command(flatten)]
    pub numbers: NumberArgs,

    /// Only system calls with one of these results: a number, or an error such as ENOENT
    #[arg(long, value_name = "RESULT,…", value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(value_parser = parse_result)]
    pub result: Vec<i64>,

    /// The durations.
    #[command(flatten)]
    pub durations: DurationArgs,
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
        if !self.numbers.irq.is_empty() {
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
        self.with(input, std::iter::empty())
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
        self.with(input, self.durations.conditions())
    }

    fn with(
        &self,
        input: &InputArgs,
        more: impl Iterator<Item = String>,
    ) -> Result<Option<Expression>, Usage> {
        if input.filters.iter().any(|text| text.trim().is_empty()) {
            return Err(Usage::new("--filter: an expression is empty"));
        }
        // The name of an interrupt follows its number.
        let name = any(self.names.name.iter().map(|pattern| {
            let after_number = quoted(&format!("* {pattern}"));
            format!("name =~ {} || name =~ {after_number}", quoted(pattern))
        }));
        let own = [matches("file", &self.file), is_one_of("result", &self.result)];
        let conditions = name.into_iter().chain(self.threads.conditions());
        let conditions = conditions.chain(self.cpus.conditions()).chain(own.into_iter().flatten());
        let conditions = conditions.chain(self.numbers.conditions()).chain(more);
        all_of(input.filters.iter().cloned().chain(conditions))
    }
}
