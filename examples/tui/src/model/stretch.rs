//! Reading back in time, a stretch after another.

use ltt_read::Timestamp;
use lttv_context::{TimeSpan, TracesetPosition};
use lttv_requests::EventsRequest;

/// The first stretch, in ns; each further one is longer.
const FIRST: u64 = 1_000_000;
const LONGER: u64 = 4;

/// Stretches before a position, from the last to the first: each ends where the one
/// before it begins. Events can only be read forward, so that what is sought
/// before a position is sought in one of these after the other.
#[derive(Debug, Clone)]
pub struct Stretches {
    position: Option<TracesetPosition>,
    end: Timestamp,
    first: Timestamp,
    width: u64,
    over: bool,
}

impl Stretches {
    /// Those before a position, within the span of its traceset.
    pub fn before(position: TracesetPosition, span: TimeSpan) -> Self {
        let end = position.time().unwrap_or(span.end);
        Stretches { position: Some(position), end, first: span.begin, width: FIRST, over: false }
    }

    /// Whether there are no more.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Makes a request one for the next stretch; `None` if there is none.
    pub fn next<'h>(&mut self, request: EventsRequest<'h>) -> Option<EventsRequest<'h>> {
        if self.over {
            return None;
        }
        let begin = Timestamp::from_ns(self.end.ns().saturating_sub_unsigned(self.width));
        self.over = begin <= self.first;
        let begin = if self.over { Timestamp::MIN } else { begin };
        let request = match self.position.take() {
            Some(position) => request.until_position(&position),
            None => request.until(self.end),
        };
        self.end = begin;
        self.width = self.width.saturating_mul(LONGER);
        Some(request.from(begin))
    }
}
