//! A tab: a traceset, and the data that its viewers share.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ltt_read::{OnFailure, OpenOptions, Opened, Timestamp};
use lttv_context::attributes::Attributes;
use lttv_context::{
    CheckpointPolicy, Handle, TimeSpan, Traceset, TracesetContext, TracesetPosition,
};
use lttv_filter::{Environment, Expression, FilterError, Zone};
use lttv_requests::views::{ProcessKey, SharedView, TimeWindow, ViewerId};
use lttv_requests::{Budget, ChunkReport, Notification, Owner, Scheduler, SubmitError};
use lttv_state::filter::KernelFilters;
use lttv_state::kernel::KernelState;
use lttv_state::stats::Statistics;

use crate::model::axis::Axis;
use crate::model::event_list::Servers;
use crate::model::search::{Outcome, Search};
use crate::overview::Overview;
use crate::statistics_tree::StatisticsTree;
use crate::tab_notes::TabNotes;
use crate::words::Words;

/// The data that all viewers of a tab share.
#[derive(Debug)]
pub struct Session {
    /// The name of the tab.
    pub name: String,
    /// The time window, the current time and position, and the filter.
    pub tab: SharedView<String>,
    /// The scheduler of requests that need the kernel state.
    pub scheduler: Scheduler<'static>,
    /// The scheduler of other requests, which it serves faster.
    pub reader: Scheduler<'static>,
    /// The handle of the kernel state in the context of `scheduler`.
    pub kernel: Handle<KernelState>,
    /// The compiled filter of the tab.
    pub filters: Option<Rc<KernelFilters>>,
    /// The selected process and its label.
    pub process: Option<(ProcessKey, String)>,
    /// The selected time range.
    pub selection: Option<TimeWindow>,
    /// The time at which the user started to select a range by keys, which ends at the current
    /// time.
    pub(crate) selecting_from: Option<Timestamp>,
    /// The width of labels that the user has chosen; `None` for one that suits the screen.
    pub divider: Option<u16>,
    /// The width of labels, to the left of charts, in columns of the screen.
    pub label_width: u16,
    /// The width of charts, in columns of the screen.
    pub chart_width: u16,
    /// The notifications of computations in the background that viewers have not received yet.
    notifications: Vec<Notification>,
    search: Option<Search>,
    /// The direction of the search that the user has stopped: `true` for backwards.
    pub(crate) stopped_search: Option<bool>,
    overview: Overview,
    statistics_tree: StatisticsTree,
    /// A message to the user, such as the result of the last search.
    pub message: Option<String>,
    /// The traces and files that could not be opened.
    pub failures: Vec<String>,
    /// The traces and files that were skipped as duplicates when opening.
    pub notices: Vec<String>,
    pub(crate) words: Words,
    /// The notes on the traces.
    pub notes: TabNotes,
    /// The time span of the traceset.
    span: TimeSpan,
}

/// The greatest width of the first time window, in ns.
const FIRST_WIDTH: i64 = 1_000_000_000;

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
    /// There is no trace of this index.
    #[error("there is no such trace")]
    NoTrace,
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
        let mut session = Session::new(names.join("+"), Traceset::from(traces))?;
        if let Some(first) = failures.first() {
            let more = match failures.len() - 1 {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            session.message = Some(format!("not read: {first}{more}"));
        }
        session.failures = failures.iter().map(ToString::to_string).collect();
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
        // The trace may start long before the first event.
        let first = context.position().time().map_or(span.start, |time| time.max(span.start));
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
        Ok(Session {
            name,
            tab,
            scheduler,
            overview,
            statistics_tree: StatisticsTree::default(),
            reader: Scheduler::new(TracesetContext::new(&traceset)),
            kernel,
            filters: None,
            process: None,
            selection: None,
            selecting_from: None,
            divider: None,
            label_width: 0,
            chart_width: 1,
            notifications: Vec::new(),
            search: None,
            stopped_search: None,
            message: None,
            failures: Vec::new(),
            notices: Vec::new(),
            words: Words::default(),
            notes: TabNotes::default(),
            span,
        })
    }

    /// Replaces the contexts by those of another traceset. All requests end.
    ///
    /// # Errors
    ///
    /// If no event has a time. Nothing has changed then.
    pub(crate) fn replace_contexts(&mut self, traceset: &Traceset) -> Result<(), OpenError> {
        let (context, kernel) = follower(traceset);
        let span = context.contexts().time_span();
        let span = span.ok_or_else(|| OpenError::NoTime(self.name.clone()))?;
        self.stop_search();
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
        (self.kernel, self.span) = (kernel, span);
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
        Ok(session)
    }

    /// Returns the traceset of the tab.
    pub fn traceset(&self) -> &Traceset {
        self.scheduler.context().traceset()
    }

    /// Returns the time span of the traceset.
    pub fn span(&self) -> TimeSpan {
        self.span
    }

    /// Returns the schedulers that serve lists of events.
    pub fn servers(&mut self) -> Servers<'_> {
        Servers { reader: &mut self.reader, follower: &mut self.scheduler }
    }

    /// Cancels the requests of owners, and their computations in the background.
    pub(crate) fn cancel(&mut self, owners: &[Owner]) {
        for owner in owners {
            self.scheduler.cancel_owner(*owner);
            self.reader.cancel_owner(*owner);
            if let Some(background) = self.scheduler.background() {
                background.cancel_owner(*owner);
            }
        }
    }

    /// Removes and returns the notifications of computations in the background.
    pub(crate) fn take_notifications(&mut self) -> Vec<Notification> {
        std::mem::take(&mut self.notifications)
    }

    /// Returns the columns of charts.
    pub fn axis(&self) -> Axis {
        Axis::new(self.tab.window(), self.chart_width)
    }

    /// Sets the filter of the tab. An empty text removes it.
    ///
    /// # Errors
    ///
    /// If the text is not a filter; the previous filter stays.
    pub fn set_filter(&mut self, text: &str) -> Result<(), FilterError> {
        let filters = self.compile(text)?;
        self.note(filters.as_deref());
        self.filters = filters;
        self.tab.set_filter(self.filters.is_some().then(|| text.to_owned()), None);
        Ok(())
    }

    /// Compiles a filter for the traces; `None` if the text is empty.
    ///
    /// # Errors
    ///
    /// If the text is not a filter.
    pub fn compile(&self, text: &str) -> Result<Option<Rc<KernelFilters>>, FilterError> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        let expression = Expression::parse(text)?;
        let environment = Environment::new().in_zone(Zone::local());
        let filters = KernelFilters::new(&expression, self.traceset().traces(), &environment)?;
        Ok(Some(Rc::new(filters.with_state(self.kernel))))
    }

    /// Shows a message if a filter, or a part of it, is never or always true.
    pub fn note(&mut self, filters: Option<&KernelFilters>) {
        let notes = filters.map(|filters| filters.filters().notes());
        if let Some(first) = notes.and_then(|notes| notes.diagnostics().first()) {
            self.message = Some(format!("filter: {first}"));
        }
    }

    /// Requests statistics during the background read.
    pub fn wants_statistics(&self) {
        self.overview.want();
    }

    /// Returns the number of times that statistics were computed, and the latest ones.
    pub fn statistics(&self) -> (u64, Option<Arc<Statistics>>) {
        self.overview.statistics()
    }

    /// Requests that the statistics are made available as a tree.
    pub fn wants_statistics_tree(&self) {
        self.overview.want();
        self.statistics_tree.want();
    }

    /// Returns the number of times that statistics had been computed for the latest tree of
    /// them, and the tree: empty at first.
    pub fn statistics_tree(&self) -> (u64, Arc<Attributes>) {
        self.statistics_tree.latest()
    }

    /// Returns the part of the traceset that was read in the background, from 0 to 1.
    pub fn background_progress(&self) -> f64 {
        self.overview.progress(&self.scheduler)
    }

    /// Returns a line about errors of reading so far; `None` without errors.
    pub fn damage(&self) -> Option<String> {
        // The background reads everything, the others only the visible part.
        let background = self.scheduler.background().and_then(|background| background.context());
        let shown = [self.scheduler.context(), self.reader.context()];
        let contexts = background.as_deref().into_iter().chain(shown);
        let count = |context: &TracesetContext<'_>| {
            context.errors().len() as u64 + context.errors_omitted()
        };
        let most = contexts.max_by_key(|context| count(context))?;
        let first = most.errors().first()?;
        // Errors that are not kept may be counted several times.
        Some(match (most.errors().len(), most.errors_omitted()) {
            (1, 0) => format!("cannot be read: {first}"),
            (errors, 0) => format!("{errors} errors, the first: {first}"),
            (errors, _) => format!("more than {errors} errors, the first: {first}"),
        })
    }

    /// Moves the window by this multiple of its width, rounded to columns, so that charts stay
    /// valid.
    pub fn scroll(&mut self, widths: f64) {
        let axis = self.axis();
        let columns = (widths * axis.columns() as f64).round();
        let by = columns as i64 * i64::try_from(axis.step()).unwrap_or(i64::MAX);
        let begin = axis.window().start().as_ns().saturating_add(by);
        let end = begin.saturating_add_unsigned(axis.window().width());
        if let Some(window) = TimeWindow::new(Timestamp::from_ns(begin), Timestamp::from_ns(end)) {
            self.tab.set_window(window, None);
        }
    }

    /// Moves the current time by this many columns of charts.
    pub fn step(&mut self, columns: isize, by: Option<ViewerId>) {
        let by_ns = i64::try_from(self.axis().step()).unwrap_or(i64::MAX);
        let time = self.tab.time().as_ns().saturating_add(by_ns.saturating_mul(columns as i64));
        let time = time.clamp(self.span.start.as_ns(), self.span.end.as_ns());
        self.tab.set_time(Timestamp::from_ns(time), by);
    }

    /// Returns the current position, or the position of the current time.
    fn place(&mut self) -> TracesetPosition {
        if let Some(position) = self.tab.position() {
            return position.clone();
        }
        let time = self.tab.time();
        let context = self.reader.context_mut();
        context.seek_time(time);
        context.position()
    }

    /// Starts a search for the next or previous event of the selected process.
    ///
    /// # Errors
    ///
    /// Never while the traceset stays the same.
    pub fn search(&mut self, back: bool) -> Result<(), SubmitError> {
        let Some((process, name)) = self.process.clone() else {
            self.message = Some("select a process in the control flow first".to_owned());
            return Ok(());
        };
        self.stop_search();
        self.stopped_search = None;
        let place = self.place();
        let (scheduler, kernel) = (&mut self.scheduler, self.kernel);
        self.search = Some(match back {
            false => Search::forward(scheduler, kernel, process, &place)?,
            true => Search::backward(scheduler, kernel, process, &place)?,
        });
        let which = if back { "previous" } else { "next" };
        self.message = Some(format!("searching for the {which} event of {name} … (Esc stops)"));
        Ok(())
    }

    /// Returns whether the running search is for the previous event; `None` without a search.
    pub(crate) fn search_direction(&self) -> Option<bool> {
        self.search.as_ref().map(Search::is_backward)
    }

    /// Cancels the search for an event. Returns `false` if none is running.
    pub fn stop_search(&mut self) -> bool {
        let Some(search) = self.search.take() else { return false };
        search.cancel(&mut self.scheduler);
        self.message = None;
        true
    }

    /// Serves requests for about this time. Returns `true` if something has changed or there
    /// is more to do.
    pub fn service(&mut self, time: Duration) -> bool {
        let begin = Instant::now();
        let list = self.reader.service_chunk(Budget::time(time / 2));
        let left = time.saturating_sub(begin.elapsed());
        let charts = self.scheduler.service_chunk(Budget::time(left));
        self.take_search_result();
        self.notifications.extend_from_slice(&charts.notifications);
        let is_something =
            |chunk: &ChunkReport| chunk.has_more() || *chunk != ChunkReport::default();
        let is_read = is_something(&list) || is_something(&charts);
        // Without events to read, there is time to wait for the tree.
        let left = if is_read { Duration::ZERO } else { time.saturating_sub(begin.elapsed()) };
        self.serve_tree(left) || is_read
    }

    /// Builds the tree of statistics if it is visible, and waits for it for at most this time.
    /// Returns `true` if something has changed or there is more to do.
    pub(crate) fn serve_tree(&mut self, time: Duration) -> bool {
        let (number, statistics) = self.statistics();
        self.statistics_tree.serve(number, statistics, self.traceset(), time)
    }

    /// Returns `true` if requests are pending, other than computations in the background.
    pub(crate) fn needs_service(&self) -> bool {
        self.reader.needs_service() || self.scheduler.needs_service()
    }

    /// Shows the result of a search when it is complete.
    fn take_search_result(&mut self) {
        let Some(search) = &self.search else { return };
        match search.outcome() {
            Outcome::Searching => return,
            Outcome::Found(position) => {
                // The position is of this traceset, so it is not refused.
                _ = self.tab.set_position(&position, None);
                self.message = None;
            }
            Outcome::Nothing => self.message = Some("no such event".to_owned()),
        }
        self.search = None;
    }
}

/// Creates a context that follows the kernel state.
fn follower(traceset: &Traceset) -> (TracesetContext<'static>, Handle<KernelState>) {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    // In place of the statistics of the background's context: the contexts must have the
    // same number of extensions to exchange checkpoints.
    context.attach_data(());
    context.set_checkpoint_policy(CheckpointPolicy::default());
    (context, kernel)
}
