//! Going from one span of time to the next.

use crate::merge::Merge;
use crate::time::{TimeSpan, Timestamp};

/// Leads a merge through spans of time, from each to the next, without reading
/// the packets between.
///
/// Its user asks the merge for events that are wanted *or* later than
/// [`last`](Self::last), and if one is later calls [`move_on`](Self::move_on).
#[derive(Debug, Clone)]
pub struct Spans {
    spans: Vec<TimeSpan>,
    /// Which of them is read.
    at: usize,
}

impl Spans {
    /// Spans in order, with gaps between.
    pub fn new(spans: Vec<TimeSpan>) -> Self {
        Spans { spans, at: 0 }
    }

    /// Begins with the first, wherever a merge stands, which is not moved.
    pub fn restart(&mut self) {
        self.at = 0;
    }

    /// Begins where a merge stands. `latest` is known of what is before that: none
    /// of it is later. Moves the merge to the first span if that is behind this
    /// time.
    pub fn enter(&mut self, merge: &mut Merge, latest: Option<Timestamp>) {
        let latest = latest.unwrap_or(Timestamp::MIN);
        self.at = self.spans.partition_point(|span| span.end < latest);
        if let Some(span) = self.spans.get(self.at)
            && span.begin > latest
        {
            merge.seek(span.begin);
        }
    }

    /// The last time of the span that is read; `None` if there is none any
    /// more.
    #[inline]
    pub fn last(&self) -> Option<Timestamp> {
        self.spans.get(self.at).map(|span| span.end)
    }

    /// Goes on: a merge gave an event of a time behind the span that is read.
    /// The merge gives it again, or the first of the next span that is not
    /// before it.
    pub fn move_on(&mut self, merge: &mut Merge, time: Timestamp) {
        while self.last().is_some_and(|last| last < time) {
            self.at += 1;
        }
        match self.spans.get(self.at) {
            Some(next) if next.begin > time => merge.seek(next.begin),
            _ => merge.put_back(),
        }
    }
}
