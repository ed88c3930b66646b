//! A histogram of events over time.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use ltt_read::Timestamp;

use super::time_window::TimeWindow;
use crate::chunk::FinishReason;
use crate::identity::Owner;
use crate::request::EventsRequest;

/// A histogram: the numbers of events per column of a time window.
///
/// Counts are kept when the window moves by whole columns, and only the remaining columns
/// have to be requested.
///
/// ```
/// use lttv_context::{Traceset, TracesetContext};
/// use lttv_requests::{Budget, Owner, Scheduler};
/// use lttv_requests::views::{Histogram, TimeWindow};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let context = TracesetContext::new(Traceset::open(path)?);
/// let all = TimeWindow::covering(context.contexts().time_span().expect("some events"));
/// let mut scheduler = Scheduler::new(context);
///
/// let histogram = Histogram::new(all, 100);
/// for missing in histogram.missing() {
///     scheduler.submit(histogram.request(Owner::unique(), missing))?;
/// }
/// while scheduler.service_chunk(Budget::events(1000)).has_more() {
///     let drawn = histogram.counts(); // known so far
///     assert_eq!(drawn.len(), 100);
/// }
/// assert_eq!(histogram.counts().iter().sum::<u64>(), 6087);
/// assert!(histogram.missing().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Histogram {
    inner: Rc<RefCell<Inner>>,
}

#[derive(Debug)]
struct Inner {
    begin: Timestamp,
    /// The width of a column, in ns.
    step: u64,
    columns: Vec<Column>,
    /// A number that changes whenever previous requests are to stop.
    epoch: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Column {
    events: u64,
    is_known: bool,
}

impl Inner {
    /// Returns the start of a column.
    fn begin_of(&self, column: usize) -> Timestamp {
        let offset = (column as u64).saturating_mul(self.step);
        Timestamp::from_ns(self.begin.as_ns().saturating_add_unsigned(offset))
    }

    /// Returns the index of the column of a time that is not before the first column.
    fn column(&self, time: Timestamp) -> usize {
        (time.as_ns().abs_diff(self.begin.as_ns()) / self.step) as usize
    }

    /// Returns the indices of the columns that overlap a window.
    fn columns_of(&self, window: TimeWindow) -> Range<usize> {
        let first = self.column(window.start().max(self.begin));
        let last = Timestamp::from_ns(window.end().as_ns() - 1).max(self.begin);
        first..(self.column(last) + 1).min(self.columns.len())
    }
}

impl Histogram {
    /// Creates a histogram without counts, of at least one column. The width of columns
    /// is a whole number of ns, so that the last column may extend past the window.
    pub fn new(window: TimeWindow, columns: usize) -> Self {
        let columns = columns.max(1);
        let inner = Inner {
            begin: window.start(),
            step: window.width().div_ceil(columns as u64),
            columns: vec![Column::default(); columns],
            epoch: 0,
        };
        Histogram { inner: Rc::new(RefCell::new(inner)) }
    }

    /// Returns the number of events in each column, as far as known.
    pub fn counts(&self) -> Vec<u64> {
        self.inner.borrow().columns.iter().map(|column| column.events).collect()
    }

    /// Returns the width of a column in ns.
    pub fn column_width(&self) -> u64 {
        self.inner.borrow().step
    }

    /// Returns the start of a column.
    pub fn column_start(&self, column: usize) -> Timestamp {
        self.inner.borrow().begin_of(column)
    }

    /// Sets the window, keeping the number of columns, and stops previous requests.
    pub fn show(&self, window: TimeWindow) {
        let mut inner = self.inner.borrow_mut();
        let count = inner.columns.len();
        let step = window.width().div_ceil(count as u64);
        let (old, new) = (inner.begin.as_ns(), window.start().as_ns());
        let by = old.abs_diff(new);
        let mut columns = vec![Column::default(); count];
        if step == inner.step && by % step == 0 && by / step < count as u64 {
            let by = (by / step) as usize;
            let (from, to) = if new > old { (by, 0) } else { (0, by) };
            columns[to..to + count - by].copy_from_slice(&inner.columns[from..from + count - by]);
        }
        for column in columns.iter_mut().filter(|column| !column.is_known) {
            column.events = 0;
        }
        let epoch = inner.epoch + 1;
        *inner = Inner { begin: window.start(), step, columns, epoch };
    }

    /// Removes all counts, for example because the filter has changed, and stops previous
    /// requests.
    pub fn clear(&self) {
        let mut inner = self.inner.borrow_mut();
        inner.columns.fill(Column::default());
        inner.epoch += 1;
    }

    /// Returns the intervals that are not known and have to be requested. After a request
    /// was cancelled, these are the columns that it had not completed, so that requests for
    /// them continue the count.
    pub fn missing(&self) -> Vec<TimeWindow> {
        let inner = self.inner.borrow();
        let groups = inner.columns.chunk_by(|a, b| a.is_known == b.is_known);
        let mut at = 0;
        let mut missing = Vec::new();
        for group in groups {
            let (begin, end) = (inner.begin_of(at), inner.begin_of(at + group.len()));
            at += group.len();
            if !group[0].is_known {
                missing.extend(TimeWindow::new(begin, end));
            }
        }
        missing
    }

    /// Creates a request that counts the events of an interval, to which a filter can be
    /// added. Columns are marked as known when the request has gone through all of them. In a
    /// growing traceset, it [waits](EventsRequest::waiting) for those that are not final.
    pub fn request<'h>(&self, owner: Owner, missing: TimeWindow) -> EventsRequest<'h> {
        let epoch = self.inner.borrow().epoch;
        let columns = self.inner.borrow().columns_of(missing);
        let (begin, step) = (self.inner.borrow().begin, self.inner.borrow().step);
        let [at_begin, at_event, at_column, at_end] = [(); 4].map(|()| self.inner.clone());
        let (all, within) = (columns.clone(), columns.clone());
        // The column of the last event, and its times.
        let (mut column, mut times) = (0, Timestamp::MIN..Timestamp::MIN);
        EventsRequest::new(owner)
            .without_state()
            .waiting()
            .starting_at(missing.start())
            .until(missing.end())
            .before_request(move |_, _| {
                let mut inner = at_begin.borrow_mut();
                if inner.epoch == epoch {
                    inner.columns[all.clone()].fill(Column::default());
                }
            })
            .count_columns(
                begin,
                step,
                move |time, events, request| {
                    let mut inner = at_event.borrow_mut();
                    if inner.epoch != epoch {
                        request.stop();
                        return;
                    }
                    if time < begin {
                        return;
                    }
                    if !times.contains(&time) {
                        column = inner.column(time);
                        times = inner.begin_of(column)..inner.begin_of(column + 1);
                    }
                    if let Some(column) = inner.columns.get_mut(column) {
                        column.events += events;
                    }
                },
                move |time| {
                    let mut inner = at_column.borrow_mut();
                    let column = inner.column(time);
                    if inner.epoch == epoch && within.contains(&column) {
                        inner.columns[column].is_known = true;
                    }
                },
            )
            .after_request(move |_, _, reason| {
                let mut inner = at_end.borrow_mut();
                let is_all = matches!(reason, FinishReason::EndTime | FinishReason::EndOfTraceset);
                if is_all && inner.epoch == epoch {
                    inner.columns[columns.clone()].iter_mut().for_each(|c| c.is_known = true);
                }
            })
    }
}
