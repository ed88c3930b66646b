//! The time up to which silent tracefiles are known to have no events.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::base::time::Timestamp;

/// The limit of silence, and the latest known time of the traces at past instants.
///
/// Events recorded before an instant are in the files after the limit has passed. The latest
/// time that any file had at that instant is therefore a time before which nothing is missing.
/// Clocks of the traces and of the reader need not be related.
#[derive(Debug)]
pub(super) struct Silence {
    limit: Duration,
    /// The latest times that were known, each with the instant at which it was seen first.
    seen: VecDeque<(Instant, Timestamp)>,
}

impl Silence {
    pub(super) fn new(limit: Duration) -> Silence {
        Silence { limit, seen: VecDeque::new() }
    }

    /// Notes the latest known time. Returns a time before which nothing is missing; `None` if
    /// there is no new one.
    pub(super) fn note(&mut self, now: Instant, latest: Timestamp) -> Option<Timestamp> {
        let is_later = self.seen.back().is_none_or(|(_, seen)| *seen < latest);
        if latest > Timestamp::MIN && is_later {
            self.seen.push_back((now, latest));
        }
        let mut quiet = None;
        while let Some((at, time)) = self.seen.front()
            && now.saturating_duration_since(*at) >= self.limit
        {
            // The last entry stays: it is what later times are compared with.
            quiet = Some(*time);
            if self.seen.len() == 1 {
                break;
            }
            self.seen.pop_front();
        }
        quiet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_ends_at_the_latest_time_that_is_old_enough() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let time = Timestamp::from_ns;
        let mut silence = Silence::new(Duration::from_millis(100));
        assert_eq!(silence.note(at(0), time(10)), None);
        assert_eq!(silence.note(at(50), time(20)), None);
        assert_eq!(silence.note(at(100), time(20)), Some(time(10)));
        assert_eq!(silence.note(at(149), time(30)), None);
        assert_eq!(silence.note(at(150), time(30)), Some(time(20)));
        assert_eq!(silence.note(at(400), time(30)), Some(time(30)));
    }
}
