//! Definitions of periods.

use std::sync::Arc;

use ltt_read::Trace;
use lttv_filter::{Environment, Expression, FilterError};

use super::fields::{can_pass, missing_field};
use super::open::Value;
use crate::filter::KernelFilters;

/// A kind of period: from an event that passes one expression to the first later event that passes
/// another one.
///
/// * Each event that passes the first expression begins a period, also while others are open.
/// * An event first ends all open periods whose second expression it passes and whose key it has,
///   and then begins new ones.
/// * A period with a parent begins only while a period of the parent is open, and ends with it at
///   the latest: what is open then is [incomplete](super::super::Unmatched::incomplete_periods).
///
/// Fields are named as in filters: a field of the event or its contexts, or one of the words
/// `cpu`, `tid`, `pid` and `comm` for what the event belongs to.
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_filter::{Environment, Expression};
/// use lttv_state::analysis::read;
/// use lttv_state::latency::{Family, GroupBy, LatencyAnalysis, Period, Settings};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let begin = Expression::parse("syscall_entry_write")?;
/// let end = Expression::parse("syscall_exit_write")?;
/// let write = Period::new("write", begin, end)
///     .key("tid", "tid")
///     .capture_at_begin("file", "fd");
/// let environment = Environment::new();
/// let settings = Settings::new().periods([write], traceset.traces(), &environment)?;
///
/// let latency = read(&traceset).run(LatencyAnalysis::new(settings)).output;
/// for row in latency.traces()[0].rows(Family::Period, GroupBy::Subject) {
///     let subject = latency.traces()[0].subject(row.subject.expect("by subject"));
///     println!("{subject}: {} periods", row.figures.durations().count());
/// }
/// # assert!(latency.traces()[0].total(Family::Period).durations().count() > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Period {
    pub(super) name: String,
    pub(super) parent: Option<String>,
    pub(super) begin: Expression,
    pub(super) end: Expression,
    /// The fields of the event that begins a period, and those of the event that ends it.
    pub(super) key: Vec<(String, String)>,
    /// The labels and the fields of the event that begins a period.
    pub(super) at_begin: Vec<(String, String)>,
    /// The labels and the fields of the event that ends a period.
    pub(super) at_end: Vec<(String, String)>,
    /// The values, which are read from the events of single spans.
    pub(in crate::spans) values: Vec<ValueField>,
}

/// A value of periods, and the field that it is read from.
#[derive(Debug, Clone, Hash)]
pub(in crate::spans) struct ValueField {
    pub(in crate::spans) name: String,
    pub(in crate::spans) field: String,
    /// `true` if the field is one of the event that ends a period.
    pub(in crate::spans) is_at_end: bool,
}

/// An error in the definition of periods.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum PeriodError {
    /// Two periods have the same name.
    #[error("there are two periods `{0}`")]
    Twice(String),
    /// The parent is not defined before the period.
    #[error("the parent `{parent}` of the period `{period}` is not defined before it")]
    Parent {
        /// The name of the period.
        period: String,
        /// The name of the parent.
        parent: String,
    },
    /// The key of a period has fewer fields than that of its parent.
    #[error(
        "the key of the period `{0}` has fewer fields than that of its parent, with which it starts"
    )]
    Key(String),
    /// Two labels or values of a period have the same name.
    #[error("the period `{period}` has two labels or values `{name}`")]
    Label {
        /// The name of the period.
        period: String,
        /// The name that occurs twice.
        name: String,
    },
    /// Events that begin or end a period are in the traces, but none of them has a field.
    #[error(
        "no event that {} the period `{period}` has a field `{field}`{}",
        if *is_at_end { "ends" } else { "begins" },
        nearest.as_ref().map_or(String::new(), |name| format!("; did you mean `{name}`?"))
    )]
    Field {
        /// The name of the period.
        period: String,
        /// The name of the field.
        field: String,
        /// `true` if the field is one of the events that end the period.
        is_at_end: bool,
        /// The field with the nearest name, if one is near.
        nearest: Option<String>,
    },
    /// An expression does not fit the traces.
    #[error("an expression of the period `{period}` is wrong")]
    Expression {
        /// The name of the period.
        period: String,
        /// The error.
        source: FilterError,
    },
}

ltt_read::debug_as_chain!(PeriodError);

impl Period {
    /// Creates a period with the expressions of the events that begin and end it.
    pub fn new(name: impl Into<String>, begin: Expression, end: Expression) -> Self {
        let (key, at_begin, at_end, values) = Default::default();
        Period { name: name.into(), parent: None, begin, end, key, at_begin, at_end, values }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the parent, which is defined before this period. The key of the period starts with that
    /// of the parent: of the parent's open periods with these values, the last one contains it.
    #[must_use]
    pub fn parent(self, name: impl Into<String>) -> Self {
        Period { parent: Some(name.into()), ..self }
    }

    /// Adds fields to the key: an event ends only periods that began with the same value.
    #[must_use]
    pub fn key(mut self, at_begin: impl Into<String>, at_end: impl Into<String>) -> Self {
        self.key.push((at_begin.into(), at_end.into()));
        self
    }

    /// Adds a field of the events that begin periods, by whose value they are grouped.
    #[must_use]
    pub fn capture_at_begin(mut self, label: impl Into<String>, field: impl Into<String>) -> Self {
        self.at_begin.push((label.into(), field.into()));
        self
    }

    /// Adds a field of the events that end periods, by whose value they are grouped.
    #[must_use]
    pub fn capture_at_end(mut self, label: impl Into<String>, field: impl Into<String>) -> Self {
        self.at_end.push((label.into(), field.into()));
        self
    }

    /// Adds a numeric field of the events that begin periods, which single periods
    /// [have](super::super::EventReader::period_values): they are not grouped by it.
    #[must_use]
    pub fn value_at_begin(self, name: impl Into<String>, field: impl Into<String>) -> Self {
        self.value(name.into(), field.into(), false)
    }

    /// Adds a numeric field of the events that end periods, which single periods
    /// [have](super::super::EventReader::period_values): they are not grouped by it.
    #[must_use]
    pub fn value_at_end(self, name: impl Into<String>, field: impl Into<String>) -> Self {
        self.value(name.into(), field.into(), true)
    }

    fn value(mut self, name: String, field: String, is_at_end: bool) -> Self {
        self.values.push(ValueField { name, field, is_at_end });
        self
    }

    /// Iterates over the names of the labels.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.at_begin.iter().chain(&self.at_end).map(|(label, _)| &**label)
    }

    /// Iterates over the names of the values.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|value| &*value.name)
    }

    /// Iterates over the names of labels and values, each with its field.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        let labels = self.at_begin.iter().chain(&self.at_end).map(|(name, of)| (&**name, &**of));
        labels.chain(self.values.iter().map(|value| (&*value.name, &*value.field)))
    }

    /// Iterates over the fields that are read of the events that begin a period, or of those that end it.
    fn fields(&self, is_at_end: bool) -> impl Iterator<Item = &str> {
        let key = self.key.iter().map(move |(begin, end)| if is_at_end { end } else { begin });
        let labels = if is_at_end { &self.at_end } else { &self.at_begin };
        let values = self.values.iter().filter(move |value| value.is_at_end == is_at_end);
        key.chain(labels.iter().map(|(_, field)| field))
            .chain(values.map(|value| &value.field))
            .map(|field| &**field)
    }

    /// Returns `true` if a trace has events that can begin the period and events that can end it, with the fields that
    /// are read of them.
    pub fn is_served_by(&self, trace: &Arc<Trace>, environment: &Environment) -> bool {
        let ends = [(&self.begin, self.fields(false)), (&self.end, self.fields(true))];
        can_pass(trace, ends, environment)
    }

    /// Returns the name of the parent.
    pub fn parent_name(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// Checks that events which pass an expression have the fields that are read of them, if there are such events.
    fn check_fields(
        &self,
        filters: &KernelFilters,
        traces: &[Arc<Trace>],
        is_at_end: bool,
    ) -> Result<(), PeriodError> {
        let missing = missing_field(filters, traces, self.fields(is_at_end));
        let Some((field, nearest)) = missing else { return Ok(()) };
        let period = self.name.clone();
        Err(PeriodError::Field { period, field, is_at_end, nearest })
    }
}

/// Definitions of periods that fit each other and the traces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Periods {
    pub(super) all: Arc<[Period]>,
    /// The index of the parent of each period.
    pub(super) parents: Arc<[Option<usize>]>,
    pub(super) environment: Environment,
}

impl Periods {
    /// Checks definitions of periods.
    pub(crate) fn new(
        all: Vec<Period>,
        traces: &[Arc<Trace>],
        environment: &Environment,
    ) -> Result<Self, PeriodError> {
        let mut parents = Vec::new();
        for (at, period) in all.iter().enumerate() {
            let before = &all[..at];
            if before.iter().any(|of| of.name == period.name) {
                return Err(PeriodError::Twice(period.name.clone()));
            }
            let parent = period.parent.as_ref().map(|name| {
                let found = before.iter().position(|of| of.name == *name);
                found.ok_or_else(|| PeriodError::Parent {
                    period: period.name.clone(),
                    parent: name.clone(),
                })
            });
            let parent = parent.transpose()?;
            if parent.is_some_and(|parent| all[parent].key.len() > period.key.len()) {
                return Err(PeriodError::Key(period.name.clone()));
            }
            parents.push(parent);
            let names: Vec<_> = period.sources().map(|(name, _)| name).collect();
            if let Some(at) = (1..names.len()).find(|at| names[..*at].contains(&names[*at])) {
                let (period, name) = (period.name.clone(), names[at].to_owned());
                return Err(PeriodError::Label { period, name });
            }
            for (expression, is_at_end) in [(&period.begin, false), (&period.end, true)] {
                let filters =
                    KernelFilters::new(expression, traces, environment).map_err(|source| {
                        PeriodError::Expression { period: period.name.clone(), source }
                    })?;
                period.check_fields(&filters, traces, is_at_end)?;
            }
        }
        Ok(Periods { all: all.into(), parents: parents.into(), environment: environment.clone() })
    }

    /// Returns the definition with a number.
    pub(crate) fn get(&self, number: u32) -> Option<&Period> {
        self.all.get(number as usize)
    }

    /// Returns `true` if there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns a number that differs for other definitions.
    pub(crate) fn checksum(&self) -> u64 {
        let of = |period: &Period| {
            let Period { name, parent, key, at_begin, at_end, values, .. } = period;
            let (begin, end) = (period.begin.text(), period.end.text());
            format!("{:?}", (name, parent, begin, end, key, at_begin, at_end, values))
        };
        crc32fast::hash(self.all.iter().map(of).collect::<String>().as_bytes()).into()
    }
}

/// Describes a group of periods: its name, and the values by which it is grouped.
pub(crate) fn describe(
    periods: &Periods,
    period: u32,
    values: &[Value],
    texts: &[Arc<str>],
) -> String {
    let Some(of) = periods.get(period) else { return String::new() };
    let mut text = of.name.clone();
    for (label, value) in of.labels().zip(values) {
        let value = match value {
            Value::Missing => "?".to_owned(),
            Value::Integer(value) => value.to_string(),
            Value::Text(at) => texts.get(*at as usize).map_or("", |text| text).to_owned(),
        };
        text += &format!(" {label}={value}");
    }
    text
}
