//! Definitions of counters.

use std::sync::Arc;

use ltt_read::Trace;
use lttv_filter::{Environment, Expression, FilterError};

use crate::filter::KernelFilters;
use crate::spans::period::{can_pass, missing_field};

/// A numeric field of events over time.
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_filter::{Environment, Expression};
/// use lttv_state::analysis::read;
/// use lttv_state::counters::{Counter, CounterAnalysis, CounterSettings};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let written = Counter::new("written", Expression::parse("syscall_exit_write && ret > 0")?, "ret")
///     .delta()
///     .key("cpu", "cpu")
///     .unit("B");
/// let settings = CounterSettings::new([written], traceset.traces(), &Environment::new())?;
/// let found = read(&traceset).run(CounterAnalysis::new(settings)).output;
/// for series in found.series() {
///     println!("{:?}: {:?}", series.keys().collect::<Vec<_>>(), series.figures().last());
/// }
/// # assert!(found.series().len() > 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Counter {
    pub(super) name: String,
    pub(super) event: Expression,
    pub(super) value: String,
    pub(super) is_delta: bool,
    /// `true` if the field is a text that contains the value: see [`Counter::of_markers`].
    pub(super) is_marker: bool,
    /// The labels and fields that tell series apart.
    pub(super) key: Vec<(String, String)>,
    unit: String,
}

/// An error in the definition of counters.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CounterError {
    /// Two counters have the same name.
    #[error("there are two counters `{0}`")]
    Twice(String),
    /// Two labels of a counter's key are the same.
    #[error("the key of the counter `{counter}` has two labels `{label}`")]
    Label {
        /// The name of the counter.
        counter: String,
        /// The label that occurs twice.
        label: String,
    },
    /// Events of a counter are in the traces, but none of them has a field.
    #[error(
        "no event of the counter `{counter}` has a field `{field}`{}",
        nearest.as_ref().map_or(String::new(), |name| format!("; did you mean `{name}`?"))
    )]
    Field {
        /// The name of the counter.
        counter: String,
        /// The name of the field.
        field: String,
        /// The field with the nearest name, if one is near.
        nearest: Option<String>,
    },
    /// An expression does not fit the traces.
    #[error("the expression of the counter `{counter}` is wrong")]
    Expression {
        /// The name of the counter.
        counter: String,
        /// The error.
        source: FilterError,
    },
}

ltt_read::debug_as_chain!(CounterError);

impl Counter {
    /// Creates a counter with the expression that its events pass, and the name of the field with its value.
    pub fn new(name: impl Into<String>, event: Expression, value: impl Into<String>) -> Self {
        let (is_delta, is_marker, key, unit) = Default::default();
        Counter { name: name.into(), event, value: value.into(), is_delta, is_marker, key, unit }
    }

    /// Creates a counter of texts such as `C|PID|NAME|VALUE`, which programs for Android write to `trace_marker`, with
    /// the name of the field. The key begins with the labels `pid` and `name`.
    pub fn of_markers(
        name: impl Into<String>,
        event: Expression,
        field: impl Into<String>,
    ) -> Self {
        Counter { is_marker: true, ..Counter::new(name, event, field) }
    }

    /// Makes the field an increment: the value is the sum of all up to a time.
    #[must_use]
    pub fn delta(self) -> Self {
        Counter { is_delta: true, ..self }
    }

    /// Adds a field to the key, with its label: there is a series for each of its values. Besides fields there are the
    /// words `cpu`, `tid`, `pid` and `comm`.
    #[must_use]
    pub fn key(mut self, label: impl Into<String>, field: impl Into<String>) -> Self {
        self.key.push((label.into(), field.into()));
        self
    }

    /// Sets the unit of the values, for people.
    #[must_use]
    pub fn unit(self, unit: impl Into<String>) -> Self {
        Counter { unit: unit.into(), ..self }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the labels of the key.
    pub(super) fn labels(&self) -> Vec<String> {
        let own = ["pid", "name"].map(str::to_owned).into_iter().filter(|_| self.is_marker);
        own.chain(self.key.iter().map(|(label, _)| label.clone())).collect()
    }

    /// Iterates over the fields that are read of events.
    fn fields(&self) -> impl Iterator<Item = &str> {
        self.key.iter().map(|(_, field)| field).chain([&self.value]).map(|field| &**field)
    }

    /// Returns `true` if a trace has events that can pass the expression, with the fields that are read of them.
    pub fn is_served_by(&self, trace: &Arc<Trace>, environment: &Environment) -> bool {
        can_pass(trace, [(&self.event, self.fields())], environment)
    }

    /// Returns the unit; empty if there is none.
    pub fn unit_text(&self) -> &str {
        &self.unit
    }
}

/// Definitions of counters that fit the traces.
#[derive(Debug, Clone)]
pub(super) struct Counters {
    pub(super) all: Arc<[Counter]>,
    pub(super) environment: Environment,
}

impl Counters {
    /// Checks definitions of counters.
    pub(super) fn new(
        all: Vec<Counter>,
        traces: &[Arc<Trace>],
        environment: &Environment,
    ) -> Result<Self, CounterError> {
        for (at, of) in all.iter().enumerate() {
            let counter = || of.name.clone();
            if all[..at].iter().any(|before| before.name == of.name) {
                return Err(CounterError::Twice(counter()));
            }
            let labels = of.labels();
            if let Some(at) = (1..labels.len()).find(|at| labels[..*at].contains(&labels[*at])) {
                let (counter, label) = (counter(), labels[at].clone());
                return Err(CounterError::Label { counter, label });
            }
            let filters = KernelFilters::new(&of.event, traces, environment)
                .map_err(|source| CounterError::Expression { counter: counter(), source })?;
            if let Some((field, nearest)) = missing_field(&filters, traces, of.fields()) {
                return Err(CounterError::Field { counter: counter(), field, nearest });
            }
        }
        Ok(Counters { all: all.into(), environment: environment.clone() })
    }

    /// Returns a number that differs for other definitions.
    pub(super) fn checksum(&self) -> u64 {
        let of = |of: &Counter| {
            format!(
                "{:?}",
                (&of.name, of.event.text(), &of.value, of.is_delta, of.is_marker, &of.key)
            )
        };
        crc32fast::hash(self.all.iter().map(of).collect::<String>().as_bytes()).into()
    }
}
