//! The division of figures by properties of single spans: their files, CPUs, sizes and results.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

use super::group_by::GroupBy;
use crate::spans::outcome::{Addition, Outcome};
use crate::spans::subjects::OTHERS;
use crate::spans::{EventReader, Span, SpanNames};

/// The part of durations that are not divided, or that lack the property.
pub(super) const NO_PART: u32 = u32::MAX - 1;
/// The maximum number of files that are told apart.
const MAX_FILES: usize = 1 << 16;

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
    /// The files beyond the limit of those that are told apart.
    Others,
}

/// A division of figures, with the files so far.
#[derive(Debug, Clone)]
pub(super) struct Division {
    by: GroupBy,
    files: Vec<Arc<str>>,
    places: HashMap<Arc<str>, u32>,
}

impl Division {
    /// Creates a division by a property of single spans.
    pub(super) fn new(by: GroupBy) -> Self {
        Division { by, files: Vec::new(), places: HashMap::new() }
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
                file => self.file(file),
            },
            GroupBy::Cpu => span.cpu,
            GroupBy::Size => size(outcome).map_or(NO_PART, bytes_class),
            GroupBy::Result => match (span.result, span.error()) {
                (_, Some(error)) => error.into(),
                (Some(_), None) => 0,
                (None, None) => NO_PART,
            },
            _ => NO_PART,
        }
    }

    fn file(&mut self, file: &str) -> u32 {
        if let Some(known) = self.places.get(file) {
            return *known;
        }
        if self.files.len() >= MAX_FILES {
            return OTHERS;
        }
        let (file, place) = (Arc::<str>::from(file), self.files.len() as u32);
        self.files.push(file.clone());
        self.places.insert(file, place);
        place
    }

    /// Adds the files of a later part. Returns a function that converts its numbers of parts.
    pub(super) fn add_all(&mut self, later: &Division) -> impl Fn(u32) -> u32 + use<> {
        let places: Vec<u32> = later.files.iter().map(|file| self.file(file)).collect();
        let has_files = self.by == GroupBy::File;
        move |part| match places.get(part as usize) {
            Some(place) if has_files => *place,
            _ => part,
        }
    }

    /// Returns the value that a part stands for; `None` if the durations lack the property.
    pub(super) fn value(&self, part: u32) -> Option<PartOf> {
        Some(match (self.by, part) {
            (_, NO_PART) => return None,
            (_, OTHERS) => PartOf::Others,
            (GroupBy::File, part) => PartOf::File(self.files.get(part as usize)?.clone()),
            (GroupBy::Cpu, part) => PartOf::Cpu(part),
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
