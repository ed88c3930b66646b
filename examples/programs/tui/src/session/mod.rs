//! A tab: a traceset, and the data that its viewers share.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ltt_read::Timestamp;
use lttv_common::clocks::HostTimes;
use lttv_common::definitions::Definitions;
use lttv_context::attributes::Attributes;
use lttv_context::{Handle, TimeSpan, Traceset, TracesetContext};
use lttv_filter::{Environment, Expression, FilterError, Zone};
use lttv_requests::views::{SharedView, TimeWindow, ViewerId};
use lttv_requests::{Budget, ChunkReport, Notification, Owner, Replay, Scheduler};
use lttv_state::filter::KernelFilters;
use lttv_state::kernel::KernelState;
use lttv_state::stats::Statistics;
use lttv_state::waits::WaitGraph;

use self::following::Following;
use self::overview::Overview;
use self::statistics_tree::StatisticsTree;
use self::tab_losses::TabLosses;
use self::tab_notes::TabNotes;
use self::window_collection::WindowCollection;
use self::window_history::WindowHistory;
use self::words::Words;
use crate::model::axis::Axis;
use crate::model::event_export::EventExport;
use crate::model::event_list::Servers;
use crate::model::search::Search;
use crate::model::threads::ThreadKey;

mod export;
mod following;
mod go_to;
mod opening;
mod overview;
mod search;
mod selected_process;
mod selection;
mod statistics_tree;
mod stop;
mod tab_losses;
pub mod tab_notes;
pub mod traceset_change;
mod wait_graph;
mod window_calls;
mod window_collection;
mod window_history;
mod window_latency;
mod window_statistics;
pub(crate) mod words;

pub use following::{MEMORY, Recording};
pub use go_to::GoToError;
pub use opening::OpenError;
pub use selected_process::SelectedProcess;
pub use tab_losses::ShownLosses;
pub use window_calls::{ChartCall, ChartRow, WindowCalls};
pub use window_collection::OfWindow;
pub use window_latency::WindowLatency;
pub use window_statistics::WindowStatistics;

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
    /// The selected process.
    pub process: Option<SelectedProcess>,
    /// The selected thread of a user-space trace and its label.
    pub thread: Option<(ThreadKey, String)>,
    /// The selected time range.
    pub selection: Option<TimeWindow>,
    /// The time at which the user started to select a range by keys, which ends at the current
    /// time.
    pub(crate) selecting_from: Option<Timestamp>,
    /// The mark: the time at which the selection of a range has started.
    pub(crate) mark: Option<Timestamp>,
    /// The width of labels that the user has chosen; `None` for one that suits the screen.
    pub divider: Option<u16>,
    /// The width of labels, to the left of charts, in columns of the screen.
    pub label_width: u16,
    /// The width of charts, in columns of the screen.
    pub chart_width: u16,
    /// The notifications of computations in the background that viewers have not received yet.
    notifications: Vec<Notification>,
    /// The replay that charts wait for.
    replay: Option<Replay>,
    search: Option<Search>,
    export: Option<EventExport>,
    /// The direction of the search that the user has stopped: `true` for backwards.
    pub(crate) stopped_search: Option<bool>,
    overview: Overview,
    statistics_tree: StatisticsTree,
    window_statistics: WindowCollection<WindowStatistics>,
    window_latency: WindowCollection<WindowLatency>,
    /// The definitions of periods beside those that come with the program.
    definitions: Arc<Definitions>,
    window_calls: WindowCollection<WindowCalls>,
    wait_graph: WindowCollection<WaitGraph>,
    losses: TabLosses,
    /// The windows to go back to.
    pub(crate) windows: WindowHistory,
    /// The corrections of clocks, also for traces that are added.
    pub clocks: HostTimes,
    /// A message to the user, such as the result of the last search.
    pub message: Option<String>,
    /// The traces and files that could not be opened.
    pub failures: Vec<String>,
    /// The traces and files that were skipped as duplicates when opening.
    pub notices: Vec<String>,
    pub(crate) words: Words,
    /// The notes on the traces.
    pub notes: TabNotes,
    /// The recording of the traces; `None` if they were complete when they were opened.
    following: Option<Following>,
    /// The time span of the traceset.
    span: TimeSpan,
    /// The time of the first event.
    first: Timestamp,
    /// The times of the first and the last event, when they are needed.
    events: OnceCell<TimeSpan>,
    /// The time zone of dates and times of day.
    zone: OnceCell<Zone>,
}

impl Session {
    /// Returns the traceset of the tab.
    pub fn traceset(&self) -> &Traceset {
        self.scheduler.context().traceset()
    }

    /// Returns the time span of the traceset.
    pub fn span(&self) -> TimeSpan {
        self.span
    }

    /// Returns the time of the first event, from which times from the start are measured. The
    /// [`span`](Self::span) may start long before it.
    pub fn first(&self) -> Timestamp {
        self.first
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
            self.window_statistics.cancel(*owner);
            self.window_latency.cancel(*owner);
            self.window_calls.cancel(*owner);
            self.wait_graph.cancel(*owner);
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
        let environment = Environment::new().in_zone(self.zone().clone());
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

    /// Returns the part of the events before the charts that was read for the state there, from 0 to 1;
    /// `None` if the state is there.
    pub(crate) fn state_progress(&self) -> Option<f64> {
        let replay = self.replay?;
        let begin = self.span.start.as_ns();
        let to = replay.to.unwrap_or(self.span.end).as_ns();
        let part = |ns: i64| ns.clamp(begin, to.max(begin)).abs_diff(begin) as f64;
        Some(part(replay.at.as_ns()) / part(to).max(1.0))
    }

    /// Returns a line about errors of reading so far; `None` without errors.
    pub fn damage(&self) -> Option<String> {
        // The background reads everything, the others only the visible part.
        let background = self.scheduler.background().and_then(|background| background.context());
        let shown = [self.scheduler.context(), self.reader.context()];
        let contexts = background.as_deref().into_iter().chain(shown);
        let count = |context: &TracesetContext<'_>| {
            context.merge().errors().len() as u64 + context.merge().errors_omitted()
        };
        let most = contexts.max_by_key(|context| count(context))?;
        let first = ltt_read::ErrorChain(most.merge().errors().first()?);
        // Errors that are not kept may be counted several times.
        Some(match (most.merge().errors().len(), most.merge().errors_omitted()) {
            (1, 0) => format!("cannot be read: {first}"),
            (errors, 0) => format!("{errors} errors, the first: {first}"),
            (errors, _) => format!("more than {errors} errors, the first: {first}"),
        })
    }

    /// Moves the window by this multiple of its width, rounded to columns, so that charts stay
    /// valid.
    pub fn scroll(&mut self, widths: f64) {
        let columns = (widths * self.axis().columns() as f64).round();
        self.scroll_columns(columns as i64);
    }

    /// Moves the window by this many columns of charts.
    fn scroll_columns(&mut self, columns: i64) {
        let axis = self.axis();
        let by = columns.saturating_mul(i64::try_from(axis.step()).unwrap_or(i64::MAX));
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

    /// Serves requests for about this time. Returns `true` if something has changed or there
    /// is more to do.
    pub fn service(&mut self, time: Duration) -> bool {
        let begin = Instant::now();
        let list = self.reader.service_chunk(Budget::time(time / 2));
        let left = time.saturating_sub(begin.elapsed());
        let charts = self.scheduler.service_chunk(Budget::time(left));
        self.take_search_result();
        self.take_export_result();
        self.notifications.extend_from_slice(&charts.notifications);
        self.replay = charts.replay;
        let is_something = |chunk: &ChunkReport| {
            let mut nothing = ChunkReport::default();
            // These tell how far a recording is, not that something was done.
            (nothing.final_until, nothing.status) = (chunk.final_until, chunk.status);
            chunk.has_more() || *chunk != nothing
        };
        let is_read = is_something(&list) || is_something(&charts);
        // Without events to read, there is time to wait for threads.
        let left = if is_read { Duration::ZERO } else { time.saturating_sub(begin.elapsed()) };
        self.serve_threads(left) || is_read
    }

    /// Takes the results of threads, and waits for them for at most this time. Returns `true` if
    /// something has changed or there is more to do.
    pub(crate) fn serve_threads(&mut self, time: Duration) -> bool {
        let (number, statistics) = self.statistics();
        let tree = self.statistics_tree.serve(number, statistics, self.traceset(), time);
        let left = if tree { Duration::ZERO } else { time };
        let window = self.window_statistics.serve(left);
        let left = if tree || window { Duration::ZERO } else { time };
        let window = self.window_latency.serve(left) || window;
        let left = if tree || window { Duration::ZERO } else { time };
        let window = self.window_calls.serve(left) || window;
        let left = if tree || window { Duration::ZERO } else { time };
        let window = self.wait_graph.serve(left) || window;
        let left = if tree || window { Duration::ZERO } else { time };
        self.losses.serve(left) || tree || window
    }

    /// Returns `true` if requests are pending, other than computations in the background.
    pub(crate) fn needs_service(&self) -> bool {
        self.reader.needs_service() || self.scheduler.needs_service()
    }
}
