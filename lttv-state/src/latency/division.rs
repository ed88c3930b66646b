//! The division of figures by properties of single spans: their files, CPUs, sizes, results and values.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

use super::group_by::GroupBy;
use crate::spans::outcome::{Addition, Outcome};
use crate::spans::subjects::OTHERS;
use crate::spans::{EventReader, PeriodValue, Span, SpanNames};

/// The part of durations that are not divided, or that lack the property.
pub(super) const NO_PART: u32 = u32::MAX - 1;
/// The maximum number of texts, such as files, that are told apart.
const MAX_TEXTS: usize = 1 << 16;
/// The number of the part of values below 1 in size, to which the number of their bits is added.
const VALUES: u32 = 1 << 30;
/// The addend for negative ones.
const NEGATIVE: u32 = 1 << 10;
/// The size beyond which values, only of floating-point numbers, share a class.
const GREATEST: i128 = 1 << 100;

/// The value of a property by which figures are divided.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartOf {
    /// The name of the file of system calls.
    File(Arc<str>),
    /// The number of the CPU on which the durations ended.
    Cpu(u32),
    /// The sizes in bytes of what system calls and disk requests moved: 0, or from one power of two to the next.
    Size(Range<u64>),
    /// The error of system calls; `None` if they succeeded.
    Result(Option<u16>),
    /// The value of a label of periods, as text.
    Label(Arc<str>),
    /// The values of periods: 0, or from one power of two to the next; negative ones likewise.
    Value(Range<i128>),
    /// The files or labels beyond the limit of those that are told apart.
    Others,
}

/// A division of figures, with the texts so far.
#[derive(Debug, Clone)]
pub(super) struct Division {
    by: GroupBy,
    /// The label or value of periods.
    value: Arc<str>,
    /// The files, or the values of a label.
    texts: Vec<Arc<str>>,
    places: HashMap<Arc<str>, u32>,
}

impl Division {
    /// Creates a division by a property of single spans, with the name of the label or value of periods.
    pub(super) fn new(by: GroupBy, value: &Arc<str>) -> Self {
        Division { by, value: value.clone(), texts: Vec::new(), places: HashMap::new() }
    }

    /// Returns the property.
    pub(super) fn by(&self) -> GroupBy {
        self.by
    }

    /// Returns the number of the part that an outcome and its span belong to.
    pub(super) fn part(
        &mut self,
        outcome: &Outcome,
        span: &Span,
        names: &SpanNames<'_>,
        reader: &mut EventReader<'_>,
    ) -> u32 {
        match self.by {
            GroupBy::File => match &*reader.file(span, names) {
                "" => NO_PART,
                file => self.text(file),
            },
            GroupBy::Cpu => span.cpu,
            GroupBy::Value => match reader.period_value(span, names, &self.value) {
                None => NO_PART,
                Some((PeriodValue::Integer(value), true)) => value_class(value),
                Some((PeriodValue::Float(value), true)) if value.is_nan() => NO_PART,
                Some((PeriodValue::Float(value), true)) => value_class(value as i128),
                Some((label, _)) => self.text(&label.to_string()),
            },
            GroupBy::Size => size(outcome).map_or(NO_PART, bytes_class),
            GroupBy::Result => match (span.result, span.error()) {
                (_, Some(error)) => error.into(),
                (Some(_), None) => 0,
                (None, None) => NO_PART,
            },
            _ => NO_PART,
        }
    }

    fn text(&mut self, text: &str) -> u32 {
        if let Some(known) = self.places.get(text) {
            return *known;
        }
        if self.texts.len() >= MAX_TEXTS {
            return OTHERS;
        }
        let (text, place) = (Arc::<str>::from(text), self.texts.len() as u32);
        self.texts.push(text.clone());
        self.places.insert(text, place);
        place
    }

    /// Adds the texts of a later part. Returns a function that converts its numbers of parts.
    pub(super) fn add_all(&mut self, later: &Division) -> impl Fn(u32) -> u32 + use<> {
        let places: Vec<u32> = later.texts.iter().map(|text| self.text(text)).collect();
        let has_texts = matches!(self.by, GroupBy::File | GroupBy::Value);
        move |part| match places.get(part as usize) {
            Some(place) if has_texts => *place,
            _ => part,
        }
    }

    /// Returns the value that a part stands for; `None` if the durations lack the property.
    pub(super) fn value(&self, part: u32) -> Option<PartOf> {
        Some(match (self.by, part) {
            (_, NO_PART) => return None,
            (_, OTHERS) => PartOf::Others,
            (GroupBy::File, part) => PartOf::File(self.texts.get(part as usize)?.clone()),
            (GroupBy::Cpu, part) => PartOf::Cpu(part),
            (GroupBy::Value, part @ VALUES..) => PartOf::Value(values_of(part)),
            (GroupBy::Value, part) => PartOf::Label(self.texts.get(part as usize)?.clone()),
            (GroupBy::Size, 0) => PartOf::Size(0..1),
            (GroupBy::Size, part) => {
                let start = 1_u64.checked_shl(part - 1)?;
                PartOf::Size(start..start.saturating_mul(2))
            }
            (_, part) => PartOf::Result(u16::try_from(part).ok().filter(|error| *error > 0)),
        })
    }
}

/// Returns the number of bytes that a system call or disk request moved; `None` of other durations.
fn size(outcome: &Outcome) -> Option<u64> {
    match outcome {
        Outcome::Ended(ended) => match ended.more {
            Addition::Call { bytes, .. } => Some(bytes),
            Addition::Request { sectors } => Some(sectors.saturating_mul(512)),
            Addition::Nothing | Addition::Handler { .. } => None,
        },
        Outcome::Moved { bytes, .. } => Some(*bytes),
        _ => None,
    }
}

/// Returns the number of the bits of a size.
fn bytes_class(bytes: u64) -> u32 {
    u64::BITS - bytes.leading_zeros()
}

/// Returns the part that a value belongs to.
fn value_class(value: i128) -> u32 {
    let bits = u128::BITS - value.clamp(-GREATEST, GREATEST).unsigned_abs().leading_zeros();
    VALUES + bits + if value < 0 { NEGATIVE } else { 0 }
}

/// Returns the values of a part.
fn values_of(part: u32) -> Range<i128> {
    let bits = part % NEGATIVE;
    let least = bits.checked_sub(1).map_or(0, |bits| 1_i128 << bits.min(100));
    let end = (2 * least).max(1);
    if part - VALUES < NEGATIVE { least..end } else { 1 - end..1 - least }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_in_its_class() {
        let limits = [i64::MIN.into(), i64::MAX.into(), u64::MAX.into(), GREATEST];
        for value in (-70..70).chain(limits) {
            let class = values_of(value_class(value));
            assert!(class.contains(&value), "{value}: {class:?}");
            let (least, end) = (class.start, class.end);
            for inner in [least, end - 1] {
                assert_eq!(value_class(inner), value_class(value), "{inner}");
            }
        }
        assert_eq!(values_of(value_class(0)), 0..1);
        assert_eq!(values_of(value_class(5)), 4..8);
        assert_eq!(values_of(value_class(-5)), -7..-3);
    }
}
