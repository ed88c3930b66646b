//! Opening a tab, and replacing its traceset.

use std::cell::OnceCell;
use std::path::Path;

use ltt_read::{OnFailure, OpenOptions, Opened, Timestamp};
use lttv_common::cache::{Cache, KnownStates};
use lttv_common::clocks::{Corrected, CorrectionError, HostTimes};
use lttv_context::{CheckpointPolicy, Handle, TimeSpan, Traceset, TracesetContext};
use lttv_requests::views::{SharedView, TimeWindow};
use lttv_requests::{Budget, Scheduler};
use lttv_state::kernel::KernelState;

use super::Session;
use super::overview::Overview;
use super::statistics_tree::StatisticsTree;
use super::tab_losses::TabLosses;
use super::tab_notes::TabNotes;
use super::window_collection::WindowCollection;
use super::window_history::WindowHistory;
use super::words::Words;

/// The greatest width of the first time window, in ns.
pub(super) const FIRST_WIDTH: i64 = 1_000_000_000;

/// An error from opening a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A trace cannot be read.
    #[error(transparent)]
    Read(#[from] ltt_read::Error),
    /// No event has a time.
    #[error("no event of {0} has a time")]
    NoTime(String),
    /// All traces at the path are among those of the tab.
    #[error("{0} is already in this tab")]
    AlreadyOpen(String),
    /// The clocks cannot be corrected.
    #[error(transparent)]
    Clocks(#[from] CorrectionError),
    /// There is no trace of this index.
    #[error("there is no such trace")]
    NoTrace,
    /// The traces of the tab are being recorded.
    #[error("the traces of this tab are being recorded: none can be added or removed")]
    IsRecorded,
    /// The trace is the only one of its tab.
    #[error("the only trace of a tab stays; x closes the tab")]
    LastTrace,
}

impl Session {
    /// Opens all traces at or below the paths, each once. Traces that cannot be opened are in
    /// `failures`, and the first one is in the message.
    ///
    /// # Errors
    ///
    /// If no trace can be opened, or no event has a time.
    pub fn open(paths: &[impl AsRef<Path>]) -> Result<Self, OpenError> {
        Self::open_with(paths, |traceset| Ok(Corrected { traceset, times: HostTimes::default() }))
    }

    /// Opens all traces at or below the paths, like [`open`](Self::open), and corrects their
    /// clocks.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open) and of `correct`.
    pub fn open_with(
        paths: &[impl AsRef<Path>],
        correct: impl FnOnce(Traceset) -> Result<Corrected, CorrectionError>,
    ) -> Result<Self, OpenError> {
        let options = OpenOptions::new().on_failure(OnFailure::Continue);
        let Opened { traces, mut failures, notices } = options.open_all_of(paths)?;
        if traces.is_empty() && !failures.is_empty() {
            return Err(failures.remove(0).into());
        }
        let names: Vec<_> = paths
            .iter()
            .map(|path| path.as_ref())
            .map(|path| path.file_name().map_or(path.as_os_str(), |name| name))
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        let Corrected { traceset, times } = correct(Traceset::from(traces))?;
        let mut session = Session::new(names.join("+"), traceset)?;
        session.clocks = times;
        if let Some(first) = failures.first() {
            let more = match failures.len() - 1 {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            session.message = Some(format!("not read: {}{more}", ltt_read::ErrorChain(first)));
        }
        session.failures =
            failures.iter().map(|failure| ltt_read::ErrorChain(failure).to_string()).collect();
        session.notices = notices.iter().map(ToString::to_string).collect();
        Ok(session)
    }

    /// Creates a session of a traceset.
    ///
    /// # Errors
    ///
    /// If no event has a time.
    pub fn new(name: String, traceset: Traceset) -> Result<Self, OpenError> {
        Self::with_overview(name, traceset, None)
    }

    /// Creates a session of a traceset, which shares the background of another session of
    /// the same traceset, if any.
    fn with_overview(
        name: String,
        traceset: Traceset,
        other: Option<&Session>,
    ) -> Result<Self, OpenError> {
        let (mut context, kernel) = follower(&traceset);
        let span = context.contexts().time_span();
        let span = span.ok_or_else(|| OpenError::NoTime(name.clone()))?;
        let first = first_event(&mut context, span);
        let mut tab = SharedView::new(traceset.revision(), Some(span));
        let last =
            first.as_ns().saturating_add(FIRST_WIDTH).min(span.end.as_ns().saturating_add(1));
        if let Some(window) = TimeWindow::new(first, Timestamp::from_ns(last)) {
            tab.set_window(window, None);
        }
        tab.set_time(first, None);
        let mut scheduler = Scheduler::new(context);
        let overview = match other {
            Some(other) => other.overview.share(&other.scheduler, &mut scheduler),
            None => Overview::start(&mut scheduler, &traceset, span),
        };
        let windows = WindowHistory::new(tab.window());
        Ok(Session {
            name,
            tab,
            scheduler,
            overview,
            statistics_tree: StatisticsTree::default(),
            window_statistics: WindowCollection::default(),
            window_latency: WindowCollection::default(),
            definitions: other.map(|other| other.definitions.clone()).unwrap_or_default(),
            window_calls: WindowCollection::default(),
            wait_graph: WindowCollection::default(),
            losses: TabLosses::start(&traceset),
            following: None,
            reader: Scheduler::new(TracesetContext::new(&traceset)),
            kernel,
            filters: None,
            process: None,
            thread: None,
            selection: None,
            selecting_from: None,
            mark: None,
            divider: None,
            label_width: 0,
            chart_width: 1,
            notifications: Vec::new(),
            replay: None,
            search: None,
            export: None,
            stopped_search: None,
            windows,
            clocks: HostTimes::default(),
            message: None,
            failures: Vec::new(),
            notices: Vec::new(),
            words: Words::default(),
            notes: TabNotes::default(),
            span,
            first,
            events: OnceCell::new(),
            zone: OnceCell::new(),
        })
    }

    /// Uses the kernel states in a cache: where they are, viewers need not wait until everything before
    /// has been read.
    pub fn use_saved_states(&mut self, cache: Option<Cache>) {
        let mut known = KnownStates::of(cache, self.traceset());
        if let Some(states) = known.states() {
            states.add_checkpoints(self.scheduler.context_mut(), self.kernel);
        }
    }

    /// Replaces the contexts by those of another traceset. All requests end.
    ///
    /// # Errors
    ///
    /// If no event has a time. Nothing has changed then.
    pub(crate) fn replace_contexts(&mut self, traceset: &Traceset) -> Result<(), OpenError> {
        let (mut context, kernel) = follower(traceset);
        let span = context.contexts().time_span();
        let span = span.ok_or_else(|| OpenError::NoTime(self.name.clone()))?;
        let first = first_event(&mut context, span);
        self.stop_search();
        self.stop_export();
        self.stopped_search = None;
        self.scheduler.stop_all();
        self.reader.stop_all();
        self.scheduler.replace_context(context);
        // Viewers are reset, which tells them more than the end of their notifications.
        self.scheduler.service_chunk(Budget::events(1));
        self.notifications.clear();
        self.reader.replace_context(TracesetContext::new(traceset));
        self.overview = Overview::start(&mut self.scheduler, traceset, span);
        self.statistics_tree = StatisticsTree::default();
        self.window_statistics = WindowCollection::default();
        self.window_latency = WindowCollection::default();
        self.window_calls = WindowCollection::default();
        self.wait_graph = WindowCollection::default();
        self.losses = TabLosses::start(traceset);
        (self.kernel, self.span, self.first) = (kernel, span, first);
        self.events = OnceCell::new();
        self.clear_selection();
        Ok(())
    }

    /// Creates another session of the same traces, with the same time window and time.
    ///
    /// # Errors
    ///
    /// Never, since the events of this session have times.
    pub fn again(&self) -> Result<Self, OpenError> {
        let traceset = self.traceset().clone();
        let mut session = Session::with_overview(self.name.clone(), traceset, Some(self))?;
        session.tab.set_window(self.tab.window(), None);
        session.tab.set_time(self.tab.time(), None);
        session.forget_windows();
        session.zone = self.zone.clone();
        session.clocks = self.clocks.clone();
        Ok(session)
    }
}

/// Returns the time of the first event. The traces may start long before it.
fn first_event(context: &mut TracesetContext<'_>, span: TimeSpan) -> Timestamp {
    context.position().time().map_or(span.start, |time| time.max(span.start))
}

/// Creates a context that follows the kernel state.
fn follower(traceset: &Traceset) -> (TracesetContext<'static>, Handle<KernelState>) {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    // This takes the place of the statistics in the background's context: contexts can exchange
    // checkpoints only if they have the same number of extensions.
    context.attach_data(());
    context.state().set_policy(CheckpointPolicy::default());
    (context, kernel)
}
