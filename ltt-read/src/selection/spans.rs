//! Reading of several spans of time with one merge.

use crate::base::time::{TimeSpan, Timestamp};
use crate::merge::Merge;

/// A guide that moves a merge through spans of time, from each to the next, without
/// reading the packets between them.
///
/// The caller reads events that are wanted *or* later than [`last`](Self::last), and
/// calls [`move_on`](Self::move_on) at an event that is later.
///
/// If clocks go back, events of a span may come after later ones. Reading then continues
/// until [all events of the span have been delivered](Merge::delivered_by).
#[derive(Debug, Clone)]
pub(crate) struct Spans {
    spans: Vec<TimeSpan>,
    /// The index of the current span.
    at: usize,
    /// The time up to which the current span is read.
    last: Timestamp,
}

impl Spans {
    /// Creates a guide through spans that are in order and not adjacent.
    pub(crate) fn new(spans: Vec<TimeSpan>) -> Self {
        let mut spans = Spans { spans, at: 0, last: Timestamp::MIN };
        spans.restart();
        spans
    }

    /// Restarts at the first span. Does not seek the merge.
    pub(crate) fn restart(&mut self) {
        self.at = 0;
        self.last = self.spans.first().map_or(Timestamp::MIN, |span| span.end);
    }

    /// Restarts at the current position of the merge, which no event later than `latest`
    /// precedes. Seeks the start of the next span if that is after `latest`.
    pub(crate) fn enter(&mut self, merge: &mut Merge, latest: Option<Timestamp>) {
        let latest = latest.unwrap_or(Timestamp::MIN);
        self.restart();
        self.skip_finished(merge, latest);
        if let Some(span) = self.spans.get(self.at)
            && span.start > latest
        {
            merge.seek(span.start);
        }
    }

    /// Returns the time up to which events have to be read for now, which is at first the
    /// end of the current span. `None` after the last span.
    #[inline]
    pub(crate) fn last(&self) -> Option<Timestamp> {
        (self.at < self.spans.len()).then_some(self.last)
    }

    /// Moves to the next span after the merge returned an event whose `time` is later
    /// than [`last`](Self::last). The merge next returns that event again, or the first
    /// event of the next span that is not before it.
    pub(crate) fn move_on(&mut self, merge: &mut Merge, time: Timestamp) {
        let before = self.at;
        self.skip_finished(merge, time);
        match self.spans.get(self.at) {
            Some(next) if self.at > before && next.start > time => merge.seek(next.start),
            _ => merge.unread(),
        }
    }

    /// Skips the spans that end before `now`, the time that the merge has reached, if none of
    /// their events can follow.
    fn skip_finished(&mut self, merge: &mut Merge, now: Timestamp) {
        while let Some(span) = self.spans.get(self.at) {
            self.last = span.end;
            if span.end >= now {
                return;
            }
            let end = span.end.saturating_add(1);
            match merge.delivered_by(end) {
                Some(by) if by <= now => self.at += 1,
                by => {
                    self.last = by.map_or(Timestamp::MAX, |by| by.saturating_sub(1));
                    return;
                }
            }
        }
    }
}
