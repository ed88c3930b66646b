//! The selection of the spans that figures are of.

use std::sync::Arc;

use lttv_context::Traceset;

use crate::spans::outcome::{Addition, Log, Outcome};
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
                Outcome::Ended(ended) => {
                    let span = spans.next();
                    is_selected =
                        span.is_some_and(|span| self.filter.matches(span, names, &mut reader));
                    if is_selected {
                        function(*outcome);
                        if let Addition::Request { sectors } = ended.more {
                            let (subject, thread) = (ended.subject, ended.thread);
                            function(Outcome::Completed { subject, thread, sectors });
                        }
                    }
                }
                // It follows the duration that the waker ended.
                Outcome::Woken { .. } if is_selected => function(*outcome),
                // The others are those of all spans, or of none.
                _ => {}
            }
        }
    }

    /// Returns those of some spans that are selected.
    pub(super) fn of<'s>(&self, spans: &'s [Span], names: &SpanNames<'_>) -> Vec<&'s Span> {
        let mut reader = EventReader::new(&self.traceset);
        spans.iter().filter(|span| self.filter.matches(span, names, &mut reader)).collect()
    }
}
