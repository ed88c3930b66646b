//! The times of all events, counted on a thread of their own.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use ltt_read::Timestamp;
use lttv_common::cache::CacheFolder;
use lttv_common::cancel;
use lttv_context::{Bounds, EndReason, Subscription, Traceset, TracesetContext};

use super::Group;
use super::faults::{Faults, Found, ReadFaults};
use super::reading::release;
use super::stored_events;
use super::time_counts::TimeCounts;

/// The number of events between two snapshots.
const STEP: u64 = 1 << 18;

/// The times of the events of each group.
#[derive(Debug)]
pub struct Events {
    latest: RwLock<Counted>,
}

/// A snapshot of the times.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    /// The times of each group.
    pub times: Vec<TimeCounts>,
    /// All events are counted.
    pub is_complete: bool,
}

impl Events {
    /// Starts to count the events of groups, until `stop` is set.
    pub(super) fn count(
        traceset: &Traceset,
        groups: &[Group],
        folder: Option<Arc<CacheFolder>>,
        faults: Arc<Faults>,
        stop: Arc<AtomicBool>,
    ) -> Arc<Self> {
        let times = vec![TimeCounts::default(); groups.len()];
        let counted = Counted { times, is_complete: false };
        let events = Arc::new(Events { latest: RwLock::new(counted) });
        let shared = Arc::clone(&events);
        let sizes: Vec<usize> = groups.iter().map(|group| group.traces.len()).collect();
        let group = |(number, group): (usize, &Group)| vec![number; group.traces.len()];
        let groups: Vec<usize> = groups.iter().enumerate().flat_map(group).collect();
        let traceset = traceset.clone();
        thread::spawn(move || {
            if let Some((times, earlier)) =
                folder.as_ref().and_then(|of| stored_events::read(of, &traceset, &sizes))
            {
                release(&traceset);
                faults.add_told(earlier);
                return shared.set(Counted { times, is_complete: true });
            }
            let all = shared.read(&traceset, &groups, &faults, &stop).told(&faults);
            let Some(counted) = all else { return };
            faults.add_losses(&traceset, counted.len());
            // Whoever sees that all are counted sees all faults.
            shared.set(counted.clone());
            if let Some(folder) = folder {
                let (times, told) = (&counted.times, faults.told());
                // A directory that cannot be written makes the next start slower, no more.
                _ = stored_events::store(&folder, &traceset, &sizes, times, &told);
            }
        });
        events
    }

    /// Counts all events. Returns `None` if `stop` is set.
    fn read(
        &self,
        traceset: &Traceset,
        groups: &[usize],
        faults: &Faults,
        stop: &AtomicBool,
    ) -> Found<Option<Counted>> {
        let mut context = TracesetContext::new(traceset);
        let times = context.attach_data(self.snapshot().times);
        let groups = groups.to_vec();
        context.on_event(Subscription::to_every_event(), move |call| {
            let (time, delivery) = (call.event.timestamp(), call.delivery_time());
            let group = groups[call.trace.index().0];
            call.extensions[times][group].push(time, delivery);
        });
        let read = context.read_steps(&Bounds::all(), STEP, |context| {
            release(traceset);
            let times = context.extensions()[times].clone();
            self.set(Counted { times, is_complete: false });
            ReadFaults::of(context).tell(faults);
            cancel::unless(stop)
        });
        // The bounds contain no position that could be stale.
        let is_all = read.is_ok_and(|end| end.reason == EndReason::EndOfTraceset);
        let output = is_all.then(|| {
            let mut times = std::mem::take(&mut context.extensions_mut()[times]);
            times.iter_mut().for_each(TimeCounts::flush);
            Counted { times, is_complete: true }
        });
        Found { output, faults: ReadFaults::of(&mut context) }
    }

    fn set(&self, counted: Counted) {
        *self.latest.write().unwrap_or_else(PoisonError::into_inner) = counted;
    }

    /// Returns the times of the events that were counted so far.
    pub fn snapshot(&self) -> Counted {
        self.latest.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Counted {
    /// Returns the number of events.
    pub fn len(&self) -> u64 {
        self.times.iter().map(TimeCounts::len).sum()
    }

    /// Returns `true` if there are no events.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of events that are delivered before a time.
    pub fn delivered_before(&self, time: Timestamp) -> u64 {
        self.times.iter().map(|times| times.delivered_before(time)).sum()
    }

    /// Returns the time of delivery of an event of all groups by its number, and the number of earlier
    /// events with that time.
    pub fn place(&self, number: u64) -> Option<(Timestamp, u64)> {
        if number >= self.len() {
            return None;
        }
        // The greatest time with at most that many events before it.
        let (mut low, mut high) = (i64::MIN, i64::MAX);
        if let [times] = &self.times[..] {
            low = times.delivery_time(number)?.as_ns();
            high = low;
        }
        while low < high {
            // Rounded up, so that the range always becomes smaller.
            let middle = ((i128::from(low) + i128::from(high) + 1) >> 1) as i64;
            match self.delivered_before(Timestamp::from_ns(middle)) <= number {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        let time = Timestamp::from_ns(low);
        Some((time, number - self.delivered_before(time)))
    }
}
