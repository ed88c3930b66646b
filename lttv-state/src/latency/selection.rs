//! The selection of the spans that figures are of, and the parts that they belong to.

use std::sync::Arc;

use lttv_context::Traceset;

use super::collector::Collector;
use crate::spans::outcome::{Log, Outcome};
use crate::spans::{EventReader, Span, SpanFilter, SpanNames};

/// A filter of spans, with the traces whose events it reads.
#[derive(Debug, Clone)]
pub(super) struct Selection {
    filter: Arc<SpanFilter>,
    traceset: Traceset,
}

impl Selection {
    /// Creates the selection of the spans of a traceset that pass a filter.
    pub(super) fn new(filter: SpanFilter, traceset: &Traceset) -> Self {
        Selection { filter: Arc::new(filter), traceset: traceset.clone() }
    }

    /// Removes those of some spans that are not selected.
    pub(super) fn retain(&self, spans: &mut Vec<Span>, names: &SpanNames<'_>) {
        let mut reader = EventReader::new(&self.traceset);
        spans.retain(|span| self.filter.matches(span, names, &mut reader));
    }
}

/// Adds the outcomes of a log of a traceset to a collector, in order: those of selected spans, each to its part.
pub(super) fn collect(
    log: &Log,
    traceset: &Traceset,
    selection: Option<&Selection>,
    names: &SpanNames<'_>,
    collector: &mut Collector,
) {
    let mut reader = EventReader::new(traceset);
    let mut spans = log.spans.iter().flatten();
    let mut is_selected = false;
    for outcome in &log.outcomes {
        match outcome {
            Outcome::Ended(_) | Outcome::Moved { .. } => {
                let Some(span) = spans.next() else { continue };
                is_selected =
                    selection.is_none_or(|of| of.filter.matches(span, names, &mut reader));
                if is_selected {
                    let mut division = collector.division.take();
                    let part = division.as_mut().map_or(super::division::NO_PART, |division| {
                        division.part(outcome, span, names, &mut reader)
                    });
                    collector.division = division;
                    collector.put_in(*outcome, part);
                }
            }
            // It follows the duration that the waker ended.
            Outcome::Woken { .. } if !is_selected => {}
            Outcome::Woken { .. } => collector.put(*outcome),
            // The others are those of all spans, or of none.
            _ if selection.is_none() => collector.put(*outcome),
            _ => {}
        }
    }
}
