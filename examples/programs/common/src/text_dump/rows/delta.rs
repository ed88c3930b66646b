//! Times since previous events.

use std::collections::HashMap;

use ltt_read::Timestamp;

/// A thread of one of several traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Thread {
    pub(super) trace: usize,
    pub(super) tid: i64,
    /// The CPU of an idle thread.
    pub(super) cpu: Option<u32>,
}

/// The times of the last events: of all, and of each thread.
#[derive(Debug, Default)]
pub(super) struct Deltas {
    last: Option<Timestamp>,
    threads: HashMap<Thread, Timestamp>,
}

impl Deltas {
    /// Returns the times in ns since the previous event, and since the previous one of the thread,
    /// and takes this event as the previous one.
    pub(super) fn advance(
        &mut self,
        time: Option<Timestamp>,
        thread: Option<Thread>,
    ) -> (Option<i64>, Option<i64>) {
        let Some(time) = time else { return (None, None) };
        let since = |last: Timestamp| time.as_ns().saturating_sub(last.as_ns());
        let of_thread = thread.and_then(|thread| self.threads.insert(thread, time));
        (self.last.replace(time).map(since), of_thread.map(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_own_previous_event() {
        let mut deltas = Deltas::default();
        let thread = |tid, cpu| Some(Thread { trace: 0, tid, cpu });
        let mut at = |ns, thread| deltas.advance(Some(Timestamp::from_ns(ns)), thread);
        assert_eq!(at(5, thread(1, None)), (None, None));
        assert_eq!(at(7, thread(2, None)), (Some(2), None));
        assert_eq!(at(10, thread(1, None)), (Some(3), Some(5)));
        assert_eq!(at(11, thread(0, Some(0))), (Some(1), None));
        assert_eq!(at(12, thread(0, Some(1))), (Some(1), None), "another idle thread");
        assert_eq!(at(9, thread(1, None)), (Some(-3), Some(-1)), "a clock goes back");
        assert_eq!(at(20, None), (Some(11), None));
        assert_eq!(deltas.advance(None, thread(1, None)), (None, None));
    }
}
