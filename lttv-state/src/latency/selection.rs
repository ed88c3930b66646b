//! The selection of the spans that figures are of.

use std::sync::Arc;

use lttv_context::Traceset;

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

    /// Calls a function with the outcomes of a log that belong to selected spans, in order.
    pub(super) fn pass(&self, log: &Log, names: &SpanNames<'_>, mut function: impl FnMut(Outcome)) {
        let mut reader = EventReader::new(&self.traceset);
        let mut spans = log.spans.iter().flatten();
        let mut is_selected = false;
        for outcome in &log.outcomes {
            match outcome {
                Outcome::Ended(_) | Outcome::Moved { .. } => {
                    let span = spans.next();
                    is_selected =
                        span.is_some_and(|span| self.filter.matches(span, names, &mut reader));
                    if is_selected {
                        function(*outcome);
                    }
                }
                // It follows the duration that the waker ended.
                Outcome::Woken { .. } if is_selected => function(*outcome),
                // The others are those of all spans, or of none.
                _ => {}
            }
        }
    }

    /// Removes those of some spans that are not selected.
    pub(super) fn retain(&self, spans: &mut Vec<Span>, names: &SpanNames<'_>) {
        let mut reader = EventReader::new(&self.traceset);
        spans.retain(|span| self.filter.matches(span, names, &mut reader));
    }
}
