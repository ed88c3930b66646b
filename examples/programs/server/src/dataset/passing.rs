//! The events that pass a filter, found on a thread of their own.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;

use ltt_read::Timestamp;
use lttv_common::cancel;
use lttv_common::settings;
use lttv_context::{Bounds, EndReason, Subscription, Traceset, TracesetContext};
use lttv_filter::{Environment, Expression, FilterError};
use lttv_state::filter::KernelFilters;
use lttv_state::kernel::KernelState;

use super::faults::{Faults, ReadFaults};
use super::reading::release;
use super::time_counts::{Moved, TimeCounts};
use super::{Counted, Group};

/// The number of events between two snapshots.
const STEP: u64 = 1 << 18;
/// The number of filters of a dataset whose events are kept.
const MOST_FILTERS: usize = 4;

/// The events of each group that pass a filter.
#[derive(Debug, Clone)]
pub struct Passed {
    /// The numbers of the events in the order of the traceset, the first one being 0, in place of times.
    pub numbers: Counted,
    /// The times of the events of each group whose clock went back.
    moved: Vec<Moved>,
}

impl Passed {
    /// Returns the number of events of a group whose own time is before a time. `counted` are the events of
    /// the traceset.
    pub fn before(&self, group: usize, counted: &Counted, time: Timestamp) -> u64 {
        let delivered = Timestamp::from_ns(counted.delivered_before(time) as i64);
        self.moved[group].before(time, self.numbers.times[group].before(delivered))
    }
}

/// A search for the events that pass a filter.
#[derive(Debug)]
pub struct Passing {
    latest: RwLock<Passed>,
    stop: Arc<AtomicBool>,
}

/// The filters that were requested last.
#[derive(Debug, Default)]
pub(super) struct PassingFilters {
    kept: Mutex<VecDeque<(String, Arc<Passing>)>>,
}

/// The greatest length of a filter in bytes. Each condition takes up to 1 KB for each event type.
pub const LONGEST_FILTER: usize = 2000;

/// Held while a filter is compiled, so that many of them take no more memory than one.
static COMPILING: Mutex<()> = Mutex::new(());

/// A failure to compile a filter.
#[derive(Debug, thiserror::Error)]
pub enum FilterFault {
    /// The text is too long.
    #[error("a filter has at most {LONGEST_FILTER} bytes")]
    TooLong,
    /// The text is no filter, or does not fit the traces.
    #[error(transparent)]
    Wrong(#[from] FilterError),
}

/// Compiles a filter as all programs of this project do.
///
/// # Errors
///
/// If the text is no filter or too long, or does not fit the traces.
pub fn compile(filter: &str, traceset: &Traceset) -> Result<KernelFilters, FilterFault> {
    if filter.len() > LONGEST_FILTER {
        return Err(FilterFault::TooLong);
    }
    let _one_at_a_time = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    let expression = Expression::parse(filter)?;
    let environment = Environment::new().in_zone(settings::current().zone());
    Ok(KernelFilters::new(&expression, traceset.traces(), &environment)?)
}

impl PassingFilters {
    /// Returns the events that pass a filter. They are searched for in the background when the
    /// filter is new, while a search for the one not used for the longest time ends.
    ///
    /// # Errors
    ///
    /// If the text is no filter, or does not fit the traces.
    pub(super) fn of(
        &self,
        filter: &str,
        traceset: &Traceset,
        groups: &[Group],
        faults: &Arc<Faults>,
    ) -> Result<Arc<Passing>, FilterFault> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|(text, _)| text == filter);
        let entry = match known.and_then(|at| kept.remove(at)) {
            Some(entry) => entry,
            None => {
                // Faults are found before the thread starts.
                compile(filter, traceset)?;
                (filter.to_owned(), Passing::search(filter, traceset.clone(), groups, faults))
            }
        };
        let passing = Arc::clone(&entry.1);
        kept.push_front(entry);
        while kept.len() > MOST_FILTERS {
            if let Some((_, unused)) = kept.pop_back() {
                unused.stop.store(true, Ordering::Relaxed);
            }
        }
        Ok(passing)
    }
}

impl Drop for PassingFilters {
    fn drop(&mut self) {
        let kept = self.kept.get_mut().unwrap_or_else(PoisonError::into_inner);
        kept.iter().for_each(|(_, passing)| passing.stop.store(true, Ordering::Relaxed));
    }
}

impl Passing {
    fn search(
        filter: &str,
        traceset: Traceset,
        groups: &[Group],
        faults: &Arc<Faults>,
    ) -> Arc<Self> {
        let numbers =
            Counted { times: vec![TimeCounts::default(); groups.len()], is_complete: false };
        let moved = vec![Moved::default(); groups.len()];
        let latest = RwLock::new(Passed { numbers, moved });
        let passing = Arc::new(Passing { latest, stop: Arc::default() });
        let (shared, filter) = (Arc::clone(&passing), filter.to_owned());
        let faults = Arc::clone(faults);
        let group = |(number, group): (usize, &Group)| vec![number; group.traces.len()];
        let groups: Vec<usize> = groups.iter().enumerate().flat_map(group).collect();
        thread::spawn(move || shared.read(&filter, &traceset, groups).tell(&faults));
        passing
    }

    fn read(&self, filter: &str, traceset: &Traceset, groups: Vec<usize>) -> ReadFaults {
        // The caller has compiled it before.
        let Ok(mut filters) = compile(filter, traceset) else { return ReadFaults::default() };
        let mut context = TracesetContext::new(traceset);
        if filters.uses_state() {
            filters = filters.with_state(context.attach(KernelState::new()));
        }
        let passed = context.attach_data(self.snapshot());
        let mut number = 0;
        context.on_event(Subscription::to_every_event(), move |call| {
            if filters.matches(call) {
                let (time, delivery) = (call.event.timestamp(), call.delivery_time());
                let group = groups[call.trace.index().0];
                let passed = &mut call.extensions[passed];
                let place = Timestamp::from_ns(number);
                passed.numbers.times[group].push(Some(place), place);
                passed.moved[group].push(time, delivery);
            }
            number += 1;
        });
        let set = |context: &TracesetContext<'_>, is_complete| {
            let mut passed = context.extensions()[passed].clone();
            passed.numbers.times.iter_mut().for_each(TimeCounts::flush);
            passed.moved.iter_mut().for_each(Moved::flush);
            passed.numbers.is_complete = is_complete;
            *self.latest.write().unwrap_or_else(PoisonError::into_inner) = passed;
        };
        let read = context.read_steps(&Bounds::all(), STEP, |context| {
            release(traceset);
            set(context, false);
            cancel::unless(&self.stop)
        });
        // The bounds contain no position that could be stale.
        if read.is_ok_and(|end| end.reason == EndReason::EndOfTraceset) {
            set(&context, true);
        }
        ReadFaults::of(&mut context)
    }

    /// Returns the events that were found so far.
    pub fn snapshot(&self) -> Passed {
        self.latest.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
