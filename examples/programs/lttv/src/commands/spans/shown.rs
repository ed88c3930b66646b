//! The parts of a span that printers read.

use lttv_context::Traceset;
use lttv_state::spans::{EventReader, Span, SpanNames};

/// A span to be printed, with what its parts are read from.
pub(super) struct Shown<'s, 't, 'n> {
    pub(super) span: &'s Span,
    pub(super) names: &'s SpanNames<'n>,
    pub(super) reader: &'s mut EventReader<'t>,
    pub(super) traceset: &'t Traceset,
}
