//! Reading of traces as record batches.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_schema::ArrowError;
use ltt_read::schema::EventTypeId;
use ltt_read::selection::{EventSelection, Shortcut, Verdict};
use ltt_read::{Event, TimeSpan, Timestamp, Trace, TraceIndex, TracefileIndex};
use lttv_common::kernel_hooks::kernel_state;
use lttv_common::time::Window;
use lttv_context::{EndReason, ParallelReader, Subscription, Traceset, TracesetContext};
use lttv_filter::Filters;
use lttv_state::filter::{KernelFilters, KernelView};

use crate::batch::{Bulk, Decoder, Running, Selection};
use crate::damage::Damage;
use crate::priorities::Priorities;
use crate::sink::Sink;

/// The number of events between two calls of [`Sink::step`].
const STEP: u64 = 1 << 15;

/// The default maximum number of rows of a batch.
pub const BATCH_ROWS: usize = 8192;

/// The default maximum size of all rows in memory, in bytes.
const MEMORY: usize = 32 << 20;

/// A read of some tables of a traceset.
///
/// All tables are filled in one read. Rows are in the order of events: by time, unless a clock goes
/// back.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use lttv_arrow::{Scan, Selection, Tables};
/// use lttv_context::Traceset;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let table = Tables::new(&traceset).of("sched_switch").expect("a kernel trace");
/// let columns = Selection::named(table, ["timestamp", "cpu", "next_comm"]).expect("all known");
/// let mut rows = 0;
/// let scan = Scan::new(&traceset, vec![columns]);
/// let damage = scan.read(&mut |_, batch: arrow_array::RecordBatch| {
///     rows += batch.num_rows();
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(rows, 497);
/// assert!(damage.errors.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scan<'t> {
    traceset: &'t Traceset,
    selections: Vec<Selection>,
    window: Window,
    /// The only trace to read.
    only: Option<TraceIndex>,
    filters: Option<&'t KernelFilters>,
    rows: usize,
    memory: usize,
    has_keys: bool,
    is_in_order: bool,
    any_order: bool,
}

impl<'t> Scan<'t> {
    /// Creates a read of the chosen columns of some tables.
    pub fn new(traceset: &'t Traceset, selections: Vec<Selection>) -> Self {
        Scan {
            traceset,
            selections,
            window: Window::default(),
            only: None,
            filters: None,
            rows: BATCH_ROWS,
            memory: MEMORY,
            has_keys: false,
            is_in_order: false,
            any_order: false,
        }
    }

    /// Sets the window of time. Events without a time are only in a window without limits.
    #[must_use]
    pub fn window(self, window: Window) -> Self {
        Scan { window, ..self }
    }

    /// Returns the window of time.
    pub fn time_window(&self) -> Window {
        self.window
    }

    /// Restricts the read to one trace. `None` stands for all traces.
    #[must_use]
    pub fn only(self, only: Option<TraceIndex>) -> Self {
        Scan { only, ..self }
    }

    /// Returns the only trace to read; `None` for all traces.
    pub fn only_trace(&self) -> Option<TraceIndex> {
        self.only
    }

    /// Sets a filter of events.
    #[must_use]
    pub fn filters(self, filters: Option<&'t KernelFilters>) -> Self {
        Scan { filters, ..self }
    }

    /// Sets the maximum number of rows of a batch.
    #[must_use]
    pub fn batch_rows(self, rows: usize) -> Self {
        Scan { rows, ..self }
    }

    /// Sets the approximate size of the rows in memory, in bytes: when all tables together have
    /// more, the largest one is delivered.
    #[must_use]
    pub fn memory(self, memory: usize) -> Self {
        Scan { memory, ..self }
    }

    /// States that no clock goes back, as [`is_in_order`](crate::is_in_order) finds out. A table without
    /// nested columns is then read in bulk, which is faster.
    #[must_use]
    pub fn in_order(self, is_in_order: bool) -> Self {
        Scan { is_in_order, ..self }
    }

    /// Allows rows in any order.
    #[must_use]
    pub fn any_order(self, any_order: bool) -> Self {
        Scan { any_order, ..self }
    }

    /// Returns `true` if the table is read in bulk.
    ///
    /// # Errors
    ///
    /// If the number of a column is that of none.
    pub fn is_bulk(&self) -> Result<bool, ArrowError> {
        let traces = self.traceset.traces();
        let decoder = Decoder::new(traces, &self.selections, self.rows, self.has_keys)?;
        Ok(self.bulk(&decoder).is_some())
    }

    fn bulk(&self, decoder: &Decoder) -> Option<Bulk> {
        let [selection] = &*self.selections else { return None };
        if !self.is_in_order || self.needs_state() || self.filters.is_some() {
            return None;
        }
        let how = (self.window, self.any_order);
        Bulk::new(self.traceset.traces(), selection, self.only, how, decoder)
    }

    /// Sets whether texts that are known in advance are delivered as dictionaries with keys.
    #[cfg(feature = "export")]
    pub(crate) fn keys(self, has_keys: bool) -> Self {
        Scan { has_keys, ..self }
    }

    /// Returns `true` if the read follows the kernel state, and so cannot be divided.
    pub fn needs_state(&self) -> bool {
        self.selections.iter().any(Selection::needs_state)
            || self.filters.is_some_and(KernelFilters::uses_state)
    }

    /// Divides the read into at most `count` reads of neighbouring windows, of about the same size.
    /// Each event is in exactly one of them. Returns a single one if events may have no time, or
    /// if the read needs the kernel state.
    pub fn slices(&self, count: usize) -> Vec<Scan<'t>> {
        if count <= 1 || !self.is_divisible() {
            return vec![self.clone()];
        }
        let only = self.only.and_then(|only| self.traceset.traces().get(only.0));
        let only = only.map(|trace| Traceset::from(vec![Arc::clone(trace)]));
        let begin = self.window.begin.unwrap_or(Timestamp::MIN);
        let traceset = only.as_ref().unwrap_or(self.traceset);
        let mut reader = ParallelReader::new(traceset).threads(1).slices(count);
        if !self.window.is_everything() {
            let end = self.window.end.unwrap_or(Timestamp::MAX);
            reader = reader.within(begin..=end);
        }
        // The slices are only requested their places, and not read.
        let starts = reader.run(|slice| slice.start()).results;
        let is_inside =
            |start: &Timestamp| *start > begin && self.window.end.is_none_or(|end| *start <= end);
        let mut cuts: Vec<Timestamp> = starts.into_iter().filter(is_inside).collect();
        cuts.dedup();
        let mut slices = Vec::with_capacity(cuts.len() + 1);
        let mut begin = self.window.begin;
        for cut in cuts {
            let end = Some(cut.saturating_sub(1));
            slices.push(self.clone().window(Window { begin, end }));
            begin = Some(cut);
        }
        slices.push(self.clone().window(Window { begin, end: self.window.end }));
        slices
    }

    /// Divides the read into about `count` reads, each of one trace and a window: more of them for
    /// larger traces. Each event is in exactly one. If there are more traces than `count`, the reads
    /// are those of [`slices`](Self::slices), each of all traces.
    pub fn parts(&self, count: usize) -> Vec<Scan<'t>> {
        let traces = self.traceset.traces();
        if traces.len() <= 1 || traces.len() > count || self.only.is_some() || !self.is_divisible()
        {
            return self.slices(count);
        }
        let size =
            |trace: &Arc<Trace>| trace.tracefiles().iter().map(|of| u128::from(of.size())).sum();
        let sizes: Vec<u128> = traces.iter().map(size).collect();
        let total = sizes.iter().sum::<u128>().max(1);
        let slices = |(trace, size): (usize, u128)| {
            let share = (size * count as u128 + total / 2) / total;
            self.clone().only(Some(TraceIndex(trace))).slices((share as usize).max(1))
        };
        sizes.into_iter().enumerate().flat_map(slices).collect()
    }

    /// Returns `true` if the read can be divided by time: if all events have times, and it does not
    /// follow the kernel state.
    fn is_divisible(&self) -> bool {
        let traces = self.traceset.traces().iter();
        let mut streams = traces.flat_map(|trace| &trace.schema().stream_classes);
        streams.all(|stream| stream.default_clock.is_some()) && !self.needs_state()
    }

    /// Reads, and passes the batches of all tables to `sink`.
    ///
    /// # Errors
    ///
    /// If a batch cannot be built, because it is too large for Arrow. What is wrong with the traces
    /// is no error here: it is in the [`Damage`].
    pub fn read(&self, sink: &mut impl Sink) -> Result<Damage, ArrowError> {
        let traces = self.traceset.traces();
        let decoder = Decoder::new(traces, &self.selections, self.rows, self.has_keys)?;
        if let Some(bulk) = self.bulk(&decoder) {
            return bulk.read(traces, decoder, sink);
        }
        let wanted = Wanted {
            types: (traces.iter().enumerate())
                .map(|(trace, of)| {
                    let ids = (0..of.schema().event_types.len() as u32).map(EventTypeId);
                    let trace = TraceIndex(trace);
                    let is_read = self.only.is_none_or(|only| only == trace);
                    ids.map(|id| is_read && decoder.wants(trace, id)).collect()
                })
                .collect(),
            only: self.only,
            filters: self.filters.filter(|of| !of.uses_state()).map(KernelFilters::filters),
        };
        let rows = RefCell::new(Rows {
            decoder,
            sink,
            memory: self.memory,
            failure: None,
            last: Timestamp::MIN,
            goes_back: false,
        });
        let mut damage = Damage::default();
        let mut context = TracesetContext::new(self.traceset);
        let kernel = self.needs_state().then(|| context.attach(kernel_state(traces)));
        let priorities = kernel.map(|_| context.attach(Priorities::default()));
        match self.window.begin {
            Some(begin) if kernel.is_some() => _ = context.state().seek_time(begin),
            Some(begin) => context.seek_time(begin),
            None => {}
        }
        let late = self.filters.filter(|filters| filters.uses_state());
        context.set_filter(&wanted);
        let (window, target) = (self.window, &rows);
        context.on_event(Subscription::to_every_event(), move |call| {
            if !window.contains(call.event.timestamp()) {
                return ControlFlow::Continue(());
            }
            if let Some((filters, kernel)) = late.zip(kernel) {
                let view = KernelView::new(&call.extensions[kernel], call);
                if !filters.filters().matches_in(&call.event, &view) {
                    return ControlFlow::Continue(());
                }
            }
            let running = kernel.and_then(|kernel| {
                let state = &call.extensions[kernel];
                let (trace, process) = (state.trace(call.trace.index())?, state.running_at(call)?);
                let priority = priorities.and_then(|of| call.extensions[of].at(call));
                Some(Running { trace, process, priority })
            });
            target.borrow_mut().append(&call.event, running)
        });
        let mut bounds = self.window.bounds().max_examined(STEP);
        if let Some(begin) = self.window.begin {
            bounds = bounds.since(begin);
        }
        // The bounds contain no position that could be refused.
        while let Ok(read) = context.read(&bounds) {
            damage.take(&mut context);
            let goes_on = matches!(read.reason, EndReason::EventCount | EndReason::ExaminedCount);
            if !goes_on || rows.borrow_mut().sink.step(context.merge().progress()).is_break() {
                let is_whole = !goes_on && read.reason != EndReason::Stopped;
                drop(context);
                let mut rows = rows.into_inner();
                if is_whole {
                    rows.flush()?;
                }
                damage.goes_back = rows.goes_back;
                return rows.failure.map_or(Ok(damage), Err);
            }
        }
        Ok(damage)
    }
}

/// The rows of a read, and their receiver.
struct Rows<'s, S> {
    decoder: Decoder,
    sink: &'s mut S,
    memory: usize,
    failure: Option<ArrowError>,
    /// The time of the last event.
    last: Timestamp,
    goes_back: bool,
}

impl<S: Sink> Rows<'_, S> {
    #[inline]
    fn append(&mut self, event: &Event<'_>, running: Option<Running<'_>>) -> ControlFlow<()> {
        if let Some(time) = event.timestamp() {
            self.goes_back |= time < self.last;
            self.last = time;
        }
        self.decoder.append(event, running);
        while let Some(table) = self.decoder.next_full() {
            self.deliver(table)?;
        }
        if self.decoder.bytes() > self.memory
            && let Some(table) = self.decoder.largest()
        {
            self.deliver(table)?;
        }
        ControlFlow::Continue(())
    }

    fn deliver(&mut self, table: usize) -> ControlFlow<()> {
        match self.decoder.take(table) {
            Ok(Some(batch)) => self.sink.batch(table, batch),
            Ok(None) => ControlFlow::Continue(()),
            Err(error) => {
                self.failure = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Delivers the rest of all tables.
    fn flush(&mut self) -> Result<(), ArrowError> {
        for table in 0..self.decoder.tables() {
            if let Some(batch) = self.decoder.take(table)?
                && self.sink.batch(table, batch).is_break()
            {
                break;
            }
        }
        Ok(())
    }
}

/// The events of the tables that pass the filters.
struct Wanted<'f> {
    types: Vec<Vec<bool>>,
    only: Option<TraceIndex>,
    filters: Option<&'f Filters>,
}

impl Wanted<'_> {
    fn has(&self, trace: TraceIndex, id: EventTypeId) -> bool {
        let types = self.types.get(trace.0);
        types.and_then(|types| types.get(id.index())).is_some_and(|wanted| *wanted)
    }
}

impl EventSelection for Wanted<'_> {
    fn matches(&self, event: &Event<'_>) -> bool {
        self.has(event.trace_index(), event.type_id())
            && self.filters.is_none_or(|filters| filters.matches(event))
    }

    fn verdict(&self, trace: TraceIndex, id: EventTypeId) -> Verdict {
        match self.filters {
            _ if !self.has(trace, id) => Verdict::Never,
            Some(filters) => filters.verdict(trace, id),
            None => Verdict::Always,
        }
    }

    fn shortcut(&self, trace: TraceIndex, id: EventTypeId) -> Option<&Shortcut> {
        self.filters.filter(|_| self.has(trace, id))?.shortcut(trace, id)
    }

    fn may_match(&self, trace: TraceIndex, tracefile: TracefileIndex) -> bool {
        self.only.is_none_or(|only| only == trace)
            && self.filters.is_none_or(|filters| filters.may_match(trace, tracefile))
    }

    fn spans(&self) -> Vec<TimeSpan> {
        self.filters.map_or_else(|| vec![TimeSpan::ALL], EventSelection::spans)
    }
}
