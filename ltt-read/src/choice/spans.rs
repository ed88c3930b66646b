//! Going from one span of time to the next.

use crate::merge::Merge;
use crate::time::{TimeSpan, Timestamp};

/// Leads a merge through spans of time, from each to the next, without reading
/// the packets between.
///
/// Its user asks the merge for events that are wanted *or* later than
/// [`last`](Self::last), and if one is later calls [`move_on`](Self::move_on).
///
/// Where clocks go back, events of a span may come after later ones. Then reading goes on
/// until [all have come](Merge::delivered_by).
#[derive(Debug, Clone)]
pub struct Spans {
    spans: Vec<TimeSpan>,
    /// Which of them is read.
    at: usize,
    /// How far it is read.
    last: Timestamp,
}

impl Spans {
    /// Spans in order, with gaps between.
    pub fn new(spans: Vec<TimeSpan>) -> Self {
        let mut spans = Spans { spans, at: 0, last: Timestamp::MIN };
        spans.restart();
        spans
    }

    /// Begins with the first, wherever a merge stands, which is not moved.
    pub fn restart(&mut self) {
        self.at = 0;
        self.last = self.spans.first().map_or(Timestamp::MIN, |span| span.end);
    }

    /// Begins where a merge stands. `latest` is known of what is before that: none
    /// of it is later. Moves the merge to the first span if that is behind this
    /// time.
    pub fn enter(&mut self, merge: &mut Merge, latest: Option<Timestamp>) {
        let latest = latest.unwrap_or(Timestamp::MIN);
        self.restart();
        self.pass(merge, latest);
        if let Some(span) = self.spans.get(self.at)
            && span.begin > latest
        {
            merge.seek(span.begin);
        }
    }

    /// Returns the time up to which events are to be looked at for now: at first, the last
    /// one of the span that is read. `None` if there is no span any more.
    #[inline]
    pub fn last(&self) -> Option<Timestamp> {
        (self.at < self.spans.len()).then_some(self.last)
    }

    /// Goes on: the merge gave an event of a time after [`last`](Self::last). The merge
    /// gives it again, or the first of the next span that is not before it.
    pub fn move_on(&mut self, merge: &mut Merge, time: Timestamp) {
        let before = self.at;
        self.pass(merge, time);
        match self.spans.get(self.at) {
            Some(next) if self.at > before && next.begin > time => merge.seek(next.begin),
            _ => merge.put_back(),
        }
    }

    /// Passes over the spans that end before a time that a merge has come to, if no event
    /// of theirs can come any more.
    fn pass(&mut self, merge: &mut Merge, now: Timestamp) {
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
