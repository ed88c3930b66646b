//! Numbers over time, as the protocol has them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};

use super::work::Work;
use crate::error::OutputError;
use crate::protocol::models::{Answer, Axis, AxisRange, Style, StyleRef, StyleValue, TIME_AXIS};
use crate::protocol::samples::Samples;

/// The writer of an answer with series.
#[derive(Debug)]
pub(super) struct Writer<'a, 'w> {
    work: &'a mut Work<'w>,
    /// The times of all series, as JSON.
    x: String,
    is_first: bool,
}

#[derive(Serialize)]
struct SeriesHead<'a> {
    #[serde(rename = "seriesId")]
    id: i64,
    #[serde(rename = "seriesName")]
    name: &'a str,
    #[serde(rename = "xValuesDescription")]
    x_axis: Axis,
    #[serde(rename = "yValuesDescription")]
    y_axis: Axis,
    style: StyleRef<'a>,
}

/// The values or the ranges to which numbers belong.
#[derive(Clone, Copy)]
enum X<'a> {
    Values(&'a [i64]),
    Ranges(&'a [AxisRange]),
    /// Values as JSON.
    Text(&'a str),
}

/// Numbers of which the whole ones are written without a fraction, if clients can read them so.
struct Numbers<'a>(&'a [f64]);

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|number| Number(*number)))
    }
}

struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            number if !number.is_finite() => serializer.serialize_i64(0),
            number if number.fract() == 0.0 && number.abs() < (1u64 << 53) as f64 => {
                serializer.serialize_i64(number as i64)
            }
            number => serializer.serialize_f64(number),
        }
    }
}

impl<'a, 'w> Writer<'a, 'w> {
    /// Starts an answer.
    pub(super) fn start(
        work: &'a mut Work<'w>,
        title: &str,
        samples: &Samples,
    ) -> Result<Self, OutputError> {
        work.text(r#"{"model":{"title":"#)?;
        work.json(&title)?;
        work.text(r#","series":["#)?;
        let x: Vec<i64> = samples.iter().collect();
        let x = serde_json::to_string(&x).unwrap_or_default();
        Ok(Writer { work, x, is_first: true })
    }

    /// Writes a series with one number for each sample.
    pub(super) fn series(
        &mut self,
        id: i64,
        name: &str,
        y: &[f64],
        y_axis: Axis,
        style: &str,
    ) -> Result<(), OutputError> {
        let x = std::mem::take(&mut self.x);
        let written = self.write(id, name, (X::Text(&x), TIME_AXIS), (y, y_axis), style);
        self.x = x;
        written
    }

    /// Writes a series of points at times of their own.
    pub(super) fn points(
        &mut self,
        id: i64,
        name: &str,
        (x, y): (&[i64], &[f64]),
        y_axis: Axis,
        style: &str,
    ) -> Result<(), OutputError> {
        self.write(id, name, (X::Values(x), TIME_AXIS), (y, y_axis), style)
    }

    /// Writes a series of bars for ranges of values.
    pub(super) fn bars(
        &mut self,
        id: i64,
        name: &str,
        (x, x_axis): (&[AxisRange], Axis),
        (y, y_axis): (&[f64], Axis),
        style: &str,
    ) -> Result<(), OutputError> {
        self.write(id, name, (X::Ranges(x), x_axis), (y, y_axis), style)
    }

    fn write(
        &mut self,
        id: i64,
        name: &str,
        (x, x_axis): (X<'_>, Axis),
        (y, y_axis): (&[f64], Axis),
        style: &str,
    ) -> Result<(), OutputError> {
        let head = SeriesHead { id, name, x_axis, y_axis, style: StyleRef::new(style) };
        let head = serde_json::to_string(&head).unwrap_or_default();
        let separator = if std::mem::take(&mut self.is_first) { "" } else { "," };
        // The numbers follow the other members: all but the closing brace.
        self.work.text(separator)?;
        self.work.text(head.strip_suffix('}').unwrap_or_default())?;
        match x {
            X::Values(values) => self.numbers("xValues", values)?,
            X::Ranges(ranges) => self.numbers("xRanges", ranges)?,
            X::Text(text) => {
                self.work.text(r#","xValues":"#)?;
                self.work.text(text)?;
            }
        }
        self.numbers("yValues", &Numbers(y))?;
        self.work.text("}")
    }

    /// Writes a further member of a series.
    fn numbers(
        &mut self,
        name: &str,
        numbers: &(impl Serialize + ?Sized),
    ) -> Result<(), OutputError> {
        self.work.text(&format!(r#","{name}":"#))?;
        self.work.json(numbers)
    }

    /// Returns the work for the answer.
    pub(super) fn work(&self) -> &Work<'w> {
        self.work
    }

    /// Ends the answer.
    pub(super) fn end(self, is_complete: bool) -> Result<(), OutputError> {
        self.work.text("]}")?;
        self.work.end(is_complete)
    }
}

/// Returns the ids without repetitions, in their order.
pub(super) fn unique(ids: Vec<i64>) -> impl Iterator<Item = i64> {
    let mut seen = BTreeSet::new();
    ids.into_iter().filter(move |id| seen.insert(*id))
}

/// Creates the style of a series.
pub(super) fn style(name: &str, color: &str, kind: &str) -> Style {
    let text = |text: &str| StyleValue::Text(text.to_owned());
    Style {
        values: BTreeMap::from([
            ("style-name", text(name)),
            ("color", text(color)),
            ("background-color", text(color)),
            ("series-type", text(kind)),
            ("series-style", text("solid")),
            ("width", StyleValue::Number(1.0)),
        ]),
    }
}

/// Creates an answer with styles.
pub(super) fn styles<K: Serialize + Ord>(
    styles: impl IntoIterator<Item = (K, Style)>,
) -> Answer<BTreeMap<&'static str, BTreeMap<K, Style>>> {
    Answer::complete(BTreeMap::from([("styles", styles.into_iter().collect())]))
}
