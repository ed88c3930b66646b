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
use lttv_requests::views::EventTimes;
use lttv_state::filter::KernelFilters;
use lttv_state::kernel::KernelState;

use super::reading::release;
use super::{Counted, Group};

/// The number of events between two snapshots.
const STEP: u64 = 1 << 18;
/// The number of filters of a dataset whose events are kept.
const MOST_FILTERS: usize = 4;

/// The numbers of the events of each group that pass a filter.
#[derive(Debug)]
pub struct Passing {
    latest: RwLock<Counted>,
    stop: Arc<AtomicBool>,
}

/// The filters that were requested last.
#[derive(Debug, Default)]
pub(super) struct PassingFilters {
    kept: Mutex<VecDeque<(String, Arc<Passing>)>>,
}

/// Compiles a filter as all programs of this project do.
///
/// # Errors
///
/// If the text is no filter, or does not fit the traces.
pub fn compile(filter: &str, traceset: &Traceset) -> Result<KernelFilters, FilterError> {
    let expression = Expression::parse(filter)?;
    let environment = Environment::new().in_zone(settings::current().zone());
    KernelFilters::new(&expression, traceset.traces(), &environment)
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
    ) -> Result<Arc<Passing>, FilterError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|(text, _)| text == filter);
        let entry = match known.and_then(|at| kept.remove(at)) {
            Some(entry) => entry,
            None => {
                // Faults are found before the thread starts.
                compile(filter, traceset)?;
                (filter.to_owned(), Passing::search(filter, traceset.clone(), groups))
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
    fn search(filter: &str, traceset: Traceset, groups: &[Group]) -> Arc<Self> {
        let times = vec![EventTimes::new(); groups.len()];
        let latest = RwLock::new(Counted { times, is_complete: false });
        let passing = Arc::new(Passing { latest, stop: Arc::default() });
        let (shared, filter) = (Arc::clone(&passing), filter.to_owned());
        let group = |(number, group): (usize, &Group)| vec![number; group.traces.len()];
        let groups: Vec<usize> = groups.iter().enumerate().flat_map(group).collect();
        thread::spawn(move || shared.read(&filter, &traceset, groups));
        passing
    }

    fn read(&self, filter: &str, traceset: &Traceset, groups: Vec<usize>) {
        // The caller has compiled it before.
        let Ok(mut filters) = compile(filter, traceset) else { return };
        let mut context = TracesetContext::new(traceset);
        if filters.uses_state() {
            filters = filters.with_state(context.attach(KernelState::new()));
        }
        let numbers = context.attach_data(self.snapshot().times);
        let mut number = 0;
        context.on_event(Subscription::to_every_event(), move |call| {
            if filters.matches(call) {
                let group = groups[call.trace.index().0];
                call.extensions[numbers][group].push(Timestamp::from_ns(number));
            }
            number += 1;
        });
        let set = |context: &TracesetContext<'_>, is_complete| {
            let mut times = context.extensions()[numbers].clone();
            times.iter_mut().for_each(EventTimes::flush);
            let counted = Counted { times, is_complete };
            *self.latest.write().unwrap_or_else(PoisonError::into_inner) = counted;
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
    }

    /// Returns the events that were found so far: their numbers in the order of the traceset, the
    /// first one being 0, stand in place of times.
    pub fn snapshot(&self) -> Counted {
        self.latest.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
