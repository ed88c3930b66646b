//! Groups of options, of which commands have those that have a meaning for them.

use std::ops::RangeInclusive;

use lttv_common::time::parse_length;
use lttv_state::kernel::Tid;

use super::condition::{is_one_of, matches, parse_pattern};

/// The options that select threads.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Selection")]
pub struct ThreadArgs {
    /// Only these threads
    #[arg(long, value_name = "TID,…", value_delimiter = ',')]
    pub tid: Vec<Tid>,

    /// Only the threads of these processes
    #[arg(long, value_name = "PID,…", value_delimiter = ',')]
    pub pid: Vec<Tid>,

    /// Only threads of these names; patterns such as 'nginx*' are accepted
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = parse_pattern)]
    pub comm: Vec<String>,
}

impl ThreadArgs {
    /// Returns the conditions of the options.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = String> {
        let tid = is_one_of("tid", &self.tid);
        tid.into_iter().chain(self.conditions_of_process())
    }

    /// Returns the conditions of the options that say something of a whole process.
    pub(crate) fn conditions_of_process(&self) -> impl Iterator<Item = String> {
        [is_one_of("pid", &self.pid), matches("comm", &self.comm)].into_iter().flatten()
    }
}

/// The option that selects names of events, system calls, interrupts or disks.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Selection")]
pub struct NameArgs {
    /// Only these names; patterns such as 'open*' are accepted
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = parse_pattern)]
    pub name: Vec<String>,
}

impl NameArgs {
    /// Returns the conditions of the option.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = String> {
        matches("name", &self.name).into_iter()
    }
}

/// The option that selects CPUs.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Selection")]
pub struct CpuArgs {
    /// Only these CPUs; of what lasts, the one on which it ended
    #[arg(long, value_name = "CPU,…", value_delimiter = ',')]
    pub cpu: Vec<u32>,
}

impl CpuArgs {
    /// Returns the conditions of the option.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = String> {
        is_one_of("cpu", &self.cpu).into_iter()
    }
}

/// The option that selects numbers of interrupts.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Selection")]
pub struct NumberArgs {
    /// Only interrupts, vectors and softirqs of these numbers
    #[arg(long, value_name = "NUMBER,…", value_delimiter = ',')]
    pub irq: Vec<u32>,
}

impl NumberArgs {
    /// Returns the conditions of the option.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = String> {
        is_one_of("irq", &self.irq).into_iter()
    }
}

/// The options that select durations.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Selection")]
pub struct DurationArgs {
    /// Only what took at least this long, such as 10ms
    #[arg(long, visible_alias = "over", value_name = "LENGTH", value_parser = parse_length)]
    pub min: Option<u64>,

    /// Only what took at most this long
    #[arg(long, value_name = "LENGTH", value_parser = parse_length)]
    pub max: Option<u64>,
}

impl DurationArgs {
    /// Returns the conditions of the options.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = String> {
        let min = self.min.map(|min| format!("duration >= {min}"));
        let max = self.max.map(|max| format!("duration <= {max}"));
        [min, max].into_iter().flatten()
    }

    /// Returns the durations in ns; `None` if all are selected, also unknown ones.
    pub(crate) fn range(&self) -> Option<RangeInclusive<u64>> {
        let is_given = self.min.is_some() || self.max.is_some();
        is_given.then(|| self.min.unwrap_or(0)..=self.max.unwrap_or(u64::MAX))
    }
}
