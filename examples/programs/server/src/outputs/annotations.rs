//! Annotations: the times in which events were lost.

use std::collections::BTreeMap;

use super::work::Work;
use super::xy;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::protocol::models::{Annotation, Answer};
use crate::protocol::parameters::{ParameterError, Parameters};

/// The category of lost events.
const LOSSES: &str = "Lost Events";
/// The greatest number of annotations in an answer.
const MOST: usize = 10_000;

/// Answers the names of all categories.
pub(super) fn categories(dataset: &Dataset, work: &mut Work<'_>) -> Result {
    let names: &[&str] = if dataset.losses().is_empty() { &[] } else { &[LOSSES] };
    work.json(&Answer::complete(BTreeMap::from([("annotationCategories", names)])))
}

/// Answers the losses in a range of time.
pub(super) fn losses(dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
    const CATEGORIES: &str = "requested_marker_categories";
    let samples = parameters.samples("nbTimes")?;
    let is_wanted = match parameters.get(CATEGORIES) {
        None => true,
        Some(list) => {
            let list = list.as_array().ok_or(ParameterError::invalid(CATEGORIES, "not a list"))?;
            list.is_empty() || list.iter().any(|of| of == LOSSES)
        }
    };
    let (start, end) = (samples.start(), samples.end());
    let touching = dataset.losses().iter().filter(|of| of.start <= end && of.end >= start);
    let annotations = touching.take(MOST).map(|loss| Annotation {
        time: loss.start,
        duration: loss.end.saturating_sub(loss.start),
        entry: -1,
        place: "CHART",
        label: match loss.events {
            0 => "lost events".to_owned(),
            count => format!("{count} lost events"),
        },
        style: xy::style(LOSSES, "#d64545", "area"),
    });
    let mut all = BTreeMap::new();
    if is_wanted && !dataset.losses().is_empty() {
        all.insert(LOSSES, annotations.collect::<Vec<_>>());
    }
    work.json(&Answer::complete(BTreeMap::from([("annotations", all)])))
}
