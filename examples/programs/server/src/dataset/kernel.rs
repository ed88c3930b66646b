//! The history of kernel states, built on a thread of its own.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use ltt_read::TraceIndex;
use lttv_common::cache::CacheFolder;
use lttv_common::kernel_trace::{Domain, Use, recorded};
use lttv_context::Traceset;
use lttv_state::history::{History, HistoryError, Live};
use lttv_state::kernel::needs::RecordedEvents;
use lttv_state::kernel_history::{self, HistoryTarget, record_live};

use super::busy_times::BusyTimes;
use super::faults::{Faults, ReadFaults};
use super::job::Job;
use super::reading::release;
use super::threads::{ThreadIds, ThreadRows};
use crate::error::OutputError;

/// The name of the file of the history in the cache.
const FILE: &str = "kernel.history";

/// The history of the kernel traces of a traceset.
#[derive(Debug)]
pub struct Kernel {
    stage: RwLock<Stage>,
    traces: Vec<TraceIndex>,
    events: Vec<RecordedEvents>,
    threads: ThreadIds,
    busy: Job<BusyTimes>,
}

#[derive(Debug)]
enum Stage {
    Waiting,
    Growing(Live),
    Ready(History),
    Failed,
}

/// The history so far.
#[derive(Debug, Clone)]
pub enum KernelStage {
    /// There is no history yet.
    Waiting,
    /// The history up to some time.
    Growing(History),
    /// The whole history.
    Ready(History),
    /// The history cannot be built.
    Failed,
}

impl Kernel {
    /// Starts to build the history, until `stop` is set. `None` if there are no kernel
    /// traces, or none with events that change states.
    pub(super) fn build(
        traceset: &Traceset,
        folder: Option<Arc<CacheFolder>>,
        faults: Arc<Faults>,
        stop: Arc<AtomicBool>,
    ) -> Option<Arc<Kernel>> {
        let of_traces = recorded(traceset).into_iter().enumerate();
        let (traces, events): (Vec<_>, Vec<_>) = of_traces
            .filter(|(index, events)| {
                events.has_kernel()
                    && Domain::of(&traceset.traces()[*index], events) == Domain::Kernel
            })
            .map(|(index, events)| (TraceIndex(index), events))
            .unzip();
        if traces.is_empty() {
            return None;
        }
        let kernel = Arc::new(Kernel {
            stage: RwLock::new(Stage::Waiting),
            traces,
            events,
            threads: ThreadIds::default(),
            busy: Job::default(),
        });
        let shared = Arc::clone(&kernel);
        let traceset = traceset.clone();
        thread::spawn(move || shared.record(&traceset, folder.as_deref(), &faults, &stop));
        Some(kernel)
    }

    fn record(
        &self,
        traceset: &Traceset,
        folder: Option<&CacheFolder>,
        faults: &Faults,
        stop: &AtomicBool,
    ) {
        let file = folder.map(|folder| folder.file(FILE));
        if let Some(file) = &file
            && let Ok(history) = kernel_history::open(file, traceset)
        {
            release(traceset);
            return self.set(Stage::Ready(history));
        }
        let record = |target| {
            let started = |live| self.set(Stage::Growing(live));
            record_live(traceset, target, started, |_| {
                release(traceset);
                match stop.load(Ordering::Relaxed) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })
        };
        let recorded = match &file {
            // Another server may be writing the file, or the directory may be full.
            Some(file) => record(HistoryTarget::File(file)).or_else(|error| match error {
                HistoryError::Unfinished => Err(error),
                _ => record(HistoryTarget::Memory),
            }),
            None => record(HistoryTarget::Memory),
        };
        self.set(match recorded {
            Ok(mut recorded) => {
                ReadFaults::of_history(&mut recorded).tell(faults);
                Stage::Ready(recorded.history)
            }
            Err(_) => Stage::Failed,
        });
    }

    fn set(&self, stage: Stage) {
        *self.stage.write().unwrap_or_else(PoisonError::into_inner) = stage;
    }

    /// Returns the indices of the kernel traces.
    pub fn traces(&self) -> &[TraceIndex] {
        &self.traces
    }

    /// Returns `true` if a trace has the events that a use of kernel states needs.
    pub fn serves(&self, of: &Use) -> bool {
        self.events.iter().any(|events| of.is_served(events))
    }

    /// Returns the history so far, if there is any.
    ///
    /// # Errors
    ///
    /// If it cannot be built.
    pub fn history(&self) -> Result<Option<History>, OutputError> {
        match self.stage() {
            KernelStage::Waiting => Ok(None),
            KernelStage::Growing(history) | KernelStage::Ready(history) => Ok(Some(history)),
            KernelStage::Failed => Err(OutputError::Stopped),
        }
    }

    /// Returns the rows of threads in a history of this kernel.
    ///
    /// # Errors
    ///
    /// If the history is damaged.
    pub fn thread_rows(&self, history: &History) -> Result<Arc<ThreadRows>, OutputError> {
        Ok(self.threads.rows(history, &self.traces)?)
    }

    /// Returns the times in which the CPUs of some rows were busy, if they are known. The first call with a
    /// complete history starts to read them.
    pub fn busy_times(&self, history: &History, rows: &ThreadRows) -> Option<&BusyTimes> {
        if !history.is_complete() {
            return None;
        }
        let cpus = rows.cpus.iter().flat_map(|(_, cpus)| cpus);
        let cpus: Vec<_> = cpus.map(|cpu| cpu.thread).collect();
        let history = history.clone();
        self.busy.get(move || BusyTimes::read(&history, cpus).ok().flatten())
    }

    /// Returns the history so far.
    pub fn stage(&self) -> KernelStage {
        match &*self.stage.read().unwrap_or_else(PoisonError::into_inner) {
            Stage::Waiting => KernelStage::Waiting,
            Stage::Growing(live) => KernelStage::Growing(live.latest()),
            Stage::Ready(history) => KernelStage::Ready(history.clone()),
            Stage::Failed => KernelStage::Failed,
        }
    }
}
