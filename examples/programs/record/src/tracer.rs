//! The tracers, and the reasons for which one cannot be used.

use std::fmt;
use std::str::FromStr;

/// A tracer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracer {
    /// The kernel's ftrace, by its files.
    Ftrace,
    /// The kernel's ftrace, by the program `trace-cmd`.
    TraceCmd,
    /// The program `perf`.
    Perf,
    /// The program `lttng`.
    Lttng,
}

impl Tracer {
    /// All tracers.
    pub const ALL: [Tracer; 4] = [Tracer::Ftrace, Tracer::TraceCmd, Tracer::Perf, Tracer::Lttng];

    /// The tracers to try if none is chosen, the one that tells most first.
    pub(crate) const PREFERRED: [Tracer; 3] = [Tracer::Lttng, Tracer::Ftrace, Tracer::Perf];

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Tracer::Ftrace => "ftrace",
            Tracer::TraceCmd => "trace-cmd",
            Tracer::Perf => "perf",
            Tracer::Lttng => "lttng",
        }
    }
}

impl fmt::Display for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Tracer {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Tracer::ALL.into_iter().find(|tracer| tracer.name() == name);
        found.ok_or_else(|| format!("`{name}` is no tracer"))
    }
}

/// A tracer that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// The tracer.
    pub tracer: Tracer,
    /// The reason.
    pub reason: String,
    /// The ways to get what is missing.
    pub remedies: Vec<String>,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.tracer, self.reason)?;
        self.remedies.iter().try_for_each(|remedy| write!(f, "\n    {remedy}"))
    }
}
