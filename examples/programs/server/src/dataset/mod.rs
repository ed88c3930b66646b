//! A traceset, with all that is computed from it in the background.
//!
//! | part | thread | used by |
//! |---|---|---|
//! | [`Events`] | counts events, once | histograms, numbers of lines |
//! | [`Kernel`] | builds the history of kernel states, once | charts of states, CPU usage |
//! | [`Waits`] | builds the wait graph, when it is first wanted | critical paths |
//! | [`Calls`] | reads the calls of functions, when they are first wanted | flame charts |
//! | [`Passing`] | searches the events that pass a filter | the same, with a filter |
//! | [`Reader`] | serves requests for events | tables, searches |
//!
//! Queries take a snapshot of what exists so far, and never wait for a lock that is held while
//! something is computed. All threads read the same traces, whose files are mapped into memory, and
//! release their pages as they go on.

mod busy_times;
mod calls;
mod chart;
mod critical_path;
mod disks;
mod events;
mod faults;
mod job;
mod kernel;
mod latency;
mod losses;
mod passing;
mod reader;
mod reading;
mod recent;
mod recording;
mod statistics;
mod stored_events;
mod threads;
mod time_counts;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use ltt_read::{Merge, TimeSpan, Timestamp, Trace, TraceIndex};
use lttv_common::cache::Cache;
use lttv_common::definitions::Definitions;
use lttv_context::{Traceset, TracesetContext};
use lttv_filter::Vocabulary;
use lttv_state::filter::KernelFields;
use lttv_state::history::History;
use lttv_state::latency::{Family, Latency, Period};
use lttv_state::stats::Statistics;
use lttv_state::waits::TimelineId;

use crate::error::OutputError;

pub use busy_times::BusyTimes;
pub use calls::{CallThread, Calls};
pub use chart::{ChartRow, Lane};
pub use critical_path::{PathHistory, PathRow, Waits};
pub use disks::Disk;
pub use events::{Counted, Events};
pub use faults::{Faults, ReadFaults, ToldFaults};
pub use kernel::{Kernel, KernelStage};
pub use losses::Loss;
pub use passing::{FilterFault, LONGEST_FILTER, Passed, Passing, compile};
pub use reader::{EventReader, Reader, RequestOwner};
pub use reading::Window;
pub use recording::{LOST, RECORDED};
pub use threads::{CpuAttributes, ThreadRow, ThreadRows};
pub use time_counts::TimeCounts;

/// The options of datasets.
#[derive(Debug, Clone, Default)]
pub struct DatasetOptions {
    /// The directory of computed data, if there is one.
    pub cache: Option<Cache>,
    /// Names of functions are looked up in the binaries that traces name, wherever they are.
    pub symbols: bool,
    /// The definitions of periods beside those that come with the program.
    pub definitions: Definitions,
}

/// The traces of a client's trace.
#[derive(Debug, Clone)]
pub struct Group {
    /// The name, chosen by the client.
    pub name: String,
    /// The indices of the traces in the traceset.
    pub traces: Range<usize>,
    /// The start of the first and the end of the last packet, in ns.
    pub span: (i64, i64),
    /// The time of the first event, in ns.
    pub first: Option<i64>,
}

/// A traceset with all that is computed from it.
#[derive(Debug)]
pub struct Dataset {
    traceset: Traceset,
    groups: Vec<Group>,
    span: (i64, i64),
    events: Arc<Events>,
    kernel: Option<Arc<Kernel>>,
    reader: Reader,
    losses: OnceLock<Vec<Loss>>,
    recording: OnceLock<Option<History>>,
    disks: job::Job<Vec<Disk>>,
    statistics: recent::Recent<Window, Statistics>,
    latency: recent::Recent<Window, Latency>,
    families: OnceLock<Vec<Family>>,
    periods: latency::Periods,
    calls: job::Job<Calls>,
    has_calls: OnceLock<bool>,
    symbols: bool,
    waits: job::Job<Waits>,
    paths: recent::Recent<TimelineId, PathHistory>,
    filters: passing::PassingFilters,
    vocabulary: OnceLock<Vocabulary>,
    faults: Arc<Faults>,
    stop: Arc<AtomicBool>,
}

/// The progress of counting events.
#[derive(Debug, Clone)]
pub struct Progress {
    /// All events are counted.
    pub is_complete: bool,
    /// The progress of each group.
    pub groups: Vec<GroupProgress>,
}

/// The progress of the traces of one client's trace.
#[derive(Debug, Clone, Copy)]
pub struct GroupProgress {
    /// The start, in ns.
    pub start: i64,
    /// The end, in ns.
    pub end: i64,
    /// The number of events so far.
    pub events: u64,
}

impl Dataset {
    /// Starts to compute the data of a traceset, which can be reopened. Groups are names with their
    /// numbers of traces. `opening` is what opening the traces has met.
    pub fn open(
        traceset: Traceset,
        groups: impl IntoIterator<Item = (String, usize)>,
        opening: impl IntoIterator<Item = ToldFaults>,
        options: &DatasetOptions,
    ) -> Arc<Dataset> {
        let faults = Arc::new(Faults::new(&traceset));
        opening.into_iter().for_each(|of| faults.add_told(of));
        let spans = spans(&traceset);
        let whole = joined(&spans).unwrap_or((0, 0));
        let mut start = 0;
        let groups = groups.into_iter().map(|(name, count)| {
            let traces = start..start + count;
            start = traces.end;
            let span = joined(&spans[traces.clone()]).unwrap_or(whole);
            let first = first_event(&traceset.traces()[traces.clone()]).told(&faults);
            Group { name, traces, span, first }
        });
        let groups: Vec<Group> = groups.collect();
        let stop = Arc::new(AtomicBool::new(false));
        // Without a folder, everything is computed again.
        let folder = options.cache.as_ref().and_then(|cache| cache.folder(&traceset).ok());
        let folder = folder.map(Arc::new);
        let events = {
            let (folder, faults) = (folder.clone(), Arc::clone(&faults));
            Events::count(&traceset, &groups, folder, faults, Arc::clone(&stop))
        };
        let kernel = Kernel::build(&traceset, folder, Arc::clone(&faults), Arc::clone(&stop));
        let (periods, fault) = latency::Periods::new(&options.definitions, &traceset);
        let warnings = fault.into_iter().collect();
        faults.add_told(ToldFaults { warnings, ..ToldFaults::default() });
        Arc::new(Dataset {
            reader: Reader::start(&traceset, &faults),
            traceset,
            groups,
            span: whole,
            events,
            kernel,
            losses: OnceLock::new(),
            recording: OnceLock::new(),
            disks: job::Job::default(),
            statistics: recent::Recent::default(),
            latency: recent::Recent::default(),
            families: OnceLock::new(),
            periods,
            calls: job::Job::default(),
            has_calls: OnceLock::new(),
            symbols: options.symbols,
            waits: job::Job::default(),
            paths: recent::Recent::default(),
            filters: passing::PassingFilters::default(),
            vocabulary: OnceLock::new(),
            faults,
            stop,
        })
    }

    /// Returns the traces.
    pub fn traceset(&self) -> &Traceset {
        &self.traceset
    }

    /// Returns the client's traces.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Returns the start and the end of all traces, in ns.
    pub fn span(&self) -> (i64, i64) {
        self.span
    }

    /// Returns the client's trace that contains a trace.
    pub fn group_of(&self, trace: TraceIndex) -> Option<&Group> {
        self.groups.iter().find(|group| group.traces.contains(&trace.0))
    }

    /// Returns the counted events.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Returns the history of kernel states; `None` without a kernel trace.
    pub fn kernel(&self) -> Option<&Kernel> {
        self.kernel.as_deref()
    }

    /// Returns the reader of events.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Returns what a read on another thread needs: the traces, the list of its faults, and the flag that
    /// ends it.
    fn for_read(&self) -> (Traceset, Arc<Faults>, Arc<AtomicBool>) {
        (self.traceset.clone(), Arc::clone(&self.faults), Arc::clone(&self.stop))
    }

    /// Returns what all reads so far have met: errors, losses, clocks that go back.
    pub fn faults(&self) -> ToldFaults {
        self.faults.told()
    }

    /// Returns what the tracer has lost, in order of time.
    pub fn losses(&self) -> &[Loss] {
        self.losses.get_or_init(|| losses::of(&self.traceset, &self.groups))
    }

    /// Returns the history of what was recorded and lost.
    ///
    /// # Errors
    ///
    /// If the times of the traces are out of all bounds.
    pub fn recording(&self) -> Result<&History, OutputError> {
        let compute = || recording::history(&self.traceset, self.span).ok();
        self.recording.get_or_init(compute).as_ref().ok_or(OutputError::Stopped)
    }

    /// Returns the requests to disks, if they are known. The first call starts to read them.
    pub fn disks(&self) -> Option<&[Disk]> {
        let (traceset, faults, stop) = self.for_read();
        let disks = self.disks.get(move || disks::read(&traceset, &stop).told(&faults));
        disks.map(Vec::as_slice)
    }

    /// Returns the statistics of a window, if they are computed. The first call starts that.
    pub fn statistics(&self, window: Window) -> Option<Arc<Statistics>> {
        let (traceset, faults, _) = self.for_read();
        let compute = move |stop: &_| statistics::compute(&traceset, window, stop).told(&faults);
        self.statistics.of(window, compute)
    }

    /// Returns the window of a range of time in ns: that of everything if the range contains all
    /// events.
    pub fn window(&self, range: Option<(i64, i64)>) -> Window {
        let (start, end) = match self.events.snapshot().is_complete {
            true => self.range(),
            false => self.span,
        };
        range.filter(|(from, to)| *from > start || *to < end)
    }

    /// Returns the latencies of a window, if they are computed. The first call starts that.
    pub fn latency(&self, window: Window) -> Option<Arc<Latency>> {
        let (traceset, faults, _) = self.for_read();
        let periods = self.periods.all.clone();
        let compute =
            move |stop: &_| latency::compute(&traceset, periods, window, stop).told(&faults);
        self.latency.of(window, compute)
    }

    /// Returns the families of latencies whose events the traces contain.
    pub fn families(&self) -> &[Family] {
        self.families.get_or_init(|| {
            let mut families = match &self.kernel {
                Some(_) => latency::families(&self.traceset),
                None => Vec::new(),
            };
            families.extend((!self.periods.all.is_empty()).then_some(Family::Period));
            families
        })
    }

    /// Returns the definitions of periods: those of the program that a trace serves, and those of files.
    pub fn periods(&self) -> &[Period] {
        &self.periods.all
    }

    /// Returns `true` if a trace contains the events of some period.
    pub fn has_periods(&self, trace: TraceIndex) -> bool {
        self.periods.traces.get(trace.0).is_some_and(|has| *has)
    }

    /// Returns `true` if the traces contain calls of functions.
    pub fn has_calls(&self) -> bool {
        *self.has_calls.get_or_init(|| calls::are_recorded(&self.traceset))
    }

    /// Returns the calls of functions, if they are known. The first call starts to read them.
    pub fn calls(&self) -> Option<&Calls> {
        let (traceset, faults, stop) = self.for_read();
        let symbols = self.symbols;
        self.calls.get(move || Calls::read(&traceset, symbols, &stop).told(&faults))
    }

    /// Returns the wait graph, if it is built. The first call starts that.
    pub fn waits(&self) -> Option<&Waits> {
        let (traceset, faults, stop) = self.for_read();
        self.waits.get(move || Waits::read(&traceset, &stop).told(&faults))
    }

    /// Returns the critical path of a thread of the wait graph, if it is found. The first call for
    /// a thread starts that.
    pub fn critical_path(&self, thread: TimelineId) -> Option<Arc<PathHistory>> {
        let graph = self.waits()?.graph.clone();
        self.paths.of(thread, move |_| PathHistory::find(&graph, thread))
    }

    /// Returns the events that pass a filter. The first call for a filter starts to search them.
    ///
    /// # Errors
    ///
    /// If the text is no filter, or does not fit the traces.
    pub fn passing(&self, filter: &str) -> Result<Arc<Passing>, FilterFault> {
        self.filters.of(filter, &self.traceset, &self.groups, &self.faults)
    }

    /// Returns the words of filters.
    pub fn vocabulary(&self) -> &Vocabulary {
        let vocabulary = || Vocabulary::with_state(self.traceset.traces(), &KernelFields);
        self.vocabulary.get_or_init(vocabulary)
    }

    /// Returns the times of the first event and of the last one that is counted, in ns.
    pub fn range(&self) -> (i64, i64) {
        let groups = self.progress().groups;
        let start = groups.iter().map(|group| group.start).min().unwrap_or(self.span.0);
        (start, groups.iter().map(|group| group.end).max().unwrap_or(self.span.1))
    }

    /// Returns how far the events are counted.
    pub fn progress(&self) -> Progress {
        let counted = self.events.snapshot();
        let groups = self.groups.iter().zip(&counted.times).map(|(group, times)| {
            let first = group.first.unwrap_or(group.span.0);
            // The first event is not always the earliest one; the last one is known when it is counted.
            let (start, end) = times.span().unwrap_or((first, first));
            let (start, end) = (start.min(first), end.max(first));
            GroupProgress { start, end, events: times.len() }
        });
        Progress { is_complete: counted.is_complete, groups: groups.collect() }
    }
}

impl Drop for Dataset {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Returns the time span of each trace.
fn spans(traceset: &Traceset) -> Vec<Option<TimeSpan>> {
    let context = TracesetContext::new(traceset);
    let traces = 0..traceset.traces().len();
    traces.map(|index| context.contexts().time_span_of(TraceIndex(index))).collect()
}

/// Returns the time of the first event of some traces, in ns.
fn first_event(traces: &[Arc<Trace>]) -> faults::Found<Option<i64>> {
    let (mut merge, mut output) = (Merge::new(traces), None);
    while output.is_none()
        && let Some(event) = merge.next()
    {
        output = event.timestamp().map(|time| time.as_ns());
    }
    faults::Found { output, faults: ReadFaults::of_merge(&mut merge) }
}

/// Returns the span of several traces, in ns.
fn joined(spans: &[Option<TimeSpan>]) -> Option<(i64, i64)> {
    let all = spans.iter().flatten().copied().reduce(TimeSpan::join)?;
    Some((all.start.as_ns(), all.end.as_ns()))
}

/// Returns a time that a history contains: its last one for later times, its first one for
/// earlier times.
pub fn clamped(history: &History, time: i64) -> Timestamp {
    let (first, last) = (history.start().as_ns(), history.end().as_ns().saturating_sub(1));
    Timestamp::from_ns(time.min(last).max(first))
}
