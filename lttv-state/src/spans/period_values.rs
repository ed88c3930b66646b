//! The labels and values of single periods.

use std::borrow::Cow;

use ltt_read::Event;

use super::names::SpanNames;
use super::period::{Period, Value};
use super::reader::EventReader;
use super::span::Span;
use super::subjects::Group;

/// The value of a label, or of a [value](Period::value_at_begin), of a period.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PeriodValue<'n> {
    /// An integer.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// A text.
    Text(Cow<'n, str>),
}

impl std::fmt::Display for PeriodValue<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PeriodValue::Integer(value) => value.fmt(f),
            PeriodValue::Float(value) => value.fmt(f),
            PeriodValue::Text(text) => text.fmt(f),
        }
    }
}

impl EventReader<'_> {
    /// Returns the labels and then the values of a period, in the order of its definition, each with its name: `None`
    /// if an event lacks the field, or if the event was not seen. Empty of other spans.
    ///
    /// ```
    /// use lttv_context::Traceset;
    /// use lttv_filter::{Environment, Expression};
    /// use lttv_state::analysis::read;
    /// use lttv_state::spans::{
    ///     EventReader, Period, PeriodValue, Span, SpanAnalysis, SpanNames, SpanSettings, SpanVisitor,
    /// };
    ///
    /// /// The sum of a value.
    /// struct Sum<'t>(EventReader<'t>, i128);
    ///
    /// impl SpanVisitor for Sum<'_> {
    ///     fn span(&mut self, span: &Span, names: &SpanNames<'_>) {
    ///         for (name, value) in self.0.period_values(span, names) {
    ///             if let ("bytes", Some(PeriodValue::Integer(bytes))) = (name, value) {
    ///                 self.1 += bytes;
    ///             }
    ///         }
    ///     }
    /// }
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let traceset = Traceset::open(path)?;
    /// let begin = Expression::parse("syscall_entry_write")?;
    /// let end = Expression::parse("syscall_exit_write")?;
    /// let write = Period::new("write", begin, end).key("tid", "tid").value_at_end("bytes", "ret");
    /// let settings = SpanSettings::new();
    /// let settings = settings.periods([write], traceset.traces(), &Environment::new())?;
    /// let analysis = SpanAnalysis::new(settings, Sum(EventReader::new(&traceset), 0));
    /// let sum = read(&traceset).run(analysis).output.visitor.1;
    /// assert!(sum > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn period_values<'n>(
        &mut self,
        span: &Span,
        names: &SpanNames<'n>,
    ) -> Vec<(&'n str, Option<PeriodValue<'n>>)> {
        let Some((period, labels)) = names.period_and_labels(span) else { return Vec::new() };
        let known = labels.map(Some).chain(std::iter::repeat(None));
        let mut all: Vec<_> =
            period.labels().zip(known).map(|(name, value)| (name, value.flatten())).collect();
        for value in &period.values {
            let place = if value.is_at_end { span.last } else { span.first };
            let read = place.and_then(|place| {
                self.read(span.trace, place, |event| number(event, &value.field))
            });
            all.push((&*value.name, read.flatten()));
        }
        all
    }

    /// Returns the value of a label or value of a period, and `true` if it is a value. The name may follow that of the
    /// period and a point.
    pub(crate) fn period_value<'n>(
        &mut self,
        span: &Span,
        names: &SpanNames<'n>,
        name: &str,
    ) -> Option<(PeriodValue<'n>, bool)> {
        let (period, mut labels) = names.period_and_labels(span)?;
        let after_period = name.strip_prefix(period.name()).and_then(|rest| rest.strip_prefix('.'));
        let name = after_period.unwrap_or(name);
        if let Some(at) = period.labels().position(|label| label == name) {
            return Some((labels.nth(at).flatten()?, false));
        }
        let value = period.values.iter().find(|value| value.name == name)?;
        let place = if value.is_at_end { span.last } else { span.first };
        let read = self.read(span.trace, place?, |event| number(event, &value.field));
        Some((read.flatten()?, true))
    }
}

/// Returns the number in a field of an event.
fn number(event: &Event<'_>, field: &str) -> Option<PeriodValue<'static>> {
    let value = event.field(field)?;
    let integer = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    match (integer, value) {
        (Some(integer), _) => Some(PeriodValue::Integer(integer)),
        (None, ltt_read::Value::Bool(value)) => Some(PeriodValue::Integer(value.into())),
        (None, ltt_read::Value::Float(value)) => Some(PeriodValue::Float(value)),
        _ => None,
    }
}

impl<'n> SpanNames<'n> {
    /// Returns the definition of a period; `None` of other spans, and if there are too many groups.
    pub fn period(&self, span: &Span) -> Option<&'n Period> {
        self.period_and_labels(span).map(|(period, _)| period)
    }

    /// Returns the definition of a period, and the values of its labels as far as it was seen.
    fn period_and_labels(
        &self,
        span: &Span,
    ) -> Option<(&'n Period, impl Iterator<Item = Option<PeriodValue<'n>>>)> {
        let Group { period, values, texts } = self.group(span)?;
        let labels = values.iter().map(move |value| match value {
            Value::Missing => None,
            Value::Integer(value) => Some(PeriodValue::Integer(*value)),
            Value::Text(at) => {
                texts.get(*at as usize).map(|text| PeriodValue::Text(Cow::Borrowed(&**text)))
            }
        });
        Some((period, labels))
    }
}
