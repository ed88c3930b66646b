//! A timeline of kernel state.

use std::cell::RefCell;
use std::fmt::{self, Debug};
use std::hash::Hash;
use std::rc::Rc;

use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{Handle, Level};
use lttv_state::kernel::{KernelState, LossOnCpu, TraceState, Transition};

use super::row::SegmentState;
use super::time_window::TimeWindow;
use super::timeline::Timeline;
use crate::chunk::FinishReason;
use crate::identity::Owner;
use crate::request::EventsRequest;

/// A [`Timeline`] of kernel state with a label for each row:
/// [`ControlFlow`](super::ControlFlow) or [`Resources`](super::Resources). Clones refer
/// to one chart.
#[derive(Clone)]
pub struct KernelChart<K: KernelKey> {
    inner: Rc<RefCell<Chart<K>>>,
}

/// The key that identifies a row of a [`KernelChart`]. Only this crate implements this
/// trait.
pub trait KernelKey: HasRows + Copy + Eq + Hash + Debug + 'static {
    /// The state of a row.
    type State: SegmentState + Debug;
    /// The label of a row.
    type Label: Clone + Debug;
}

/// A key with the rows that it identifies.
pub trait HasRows: Sized {
    type Rows: KernelRows<Key = Self>;
}

/// The rows of a [`KernelChart`], and their updates from kernel state.
pub trait KernelRows: Default + 'static {
    type Key: KernelKey + HasRows<Rows = Self>;

    /// Updates all rows of a trace.
    fn update_all(&mut self, data: &mut ChartData<'_, Self::Key>, at: Snapshot<'_>);

    /// Updates the rows of a trace that an event may have changed.
    fn update_after(
        &mut self,
        data: &mut ChartData<'_, Self::Key>,
        at: Snapshot<'_>,
        transition: Transition,
    );

    /// Updates the rows of a trace at a loss of events, from which on their states are unknown.
    fn lose(&mut self, data: &mut ChartData<'_, Self::Key>, trace: TraceIndex, loss: &LossOnCpu);

    /// Returns the key by which rows are sorted.
    fn order(key: &Self::Key, label: &<Self::Key as KernelKey>::Label) -> impl Ord;
}

struct Chart<K: KernelKey> {
    /// The timeline and the labels of its rows, shared with the snapshots that
    /// [`KernelChart::timeline`] and [`KernelChart::labels`] have returned.
    timeline: Rc<Timeline<K, K::State>>,
    labels: Rc<Vec<K::Label>>,
    rows: K::Rows,
    /// The time of delivery of the last event.
    latest: Timestamp,
    /// A number that changes whenever previous requests are to stop.
    epoch: u64,
}

/// The data of a chart that is drawn, for modification.
#[allow(missing_debug_implementations, reason = "only this crate uses it")]
pub struct ChartData<'c, K: KernelKey> {
    pub(super) timeline: &'c mut Timeline<K, K::State>,
    /// The labels of the rows, by row.
    pub(super) labels: &'c mut Vec<K::Label>,
}

impl<K: KernelKey> Chart<K> {
    /// Returns the rows and the data that they update.
    fn parts(&mut self) -> (&mut K::Rows, ChartData<'_, K>) {
        let timeline = Rc::make_mut(&mut self.timeline);
        (&mut self.rows, ChartData { timeline, labels: Rc::make_mut(&mut self.labels) })
    }
}

/// The kernel state of a trace at a time.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot<'s> {
    /// The index of the trace.
    pub(super) trace: TraceIndex,
    pub(super) state: &'s TraceState,
    pub(super) time: Timestamp,
}

impl<K: KernelKey> KernelChart<K> {
    /// Creates a chart without rows. The resolution in ns is the time that a pixel
    /// represents.
    pub fn new(window: TimeWindow, resolution: u64) -> Self {
        let chart = Chart {
            timeline: Rc::new(Timeline::new(window, resolution)),
            labels: Rc::default(),
            rows: K::Rows::default(),
            latest: window.start(),
            epoch: 0,
        };
        KernelChart { inner: Rc::new(RefCell::new(chart)) }
    }

    /// Returns a snapshot of the timeline. Later requests do not change it.
    ///
    /// The snapshot shares its memory with the chart: the timeline is copied only if it
    /// still exists when the chart changes.
    pub fn timeline(&self) -> Rc<Timeline<K, K::State>> {
        self.inner.borrow().timeline.clone()
    }

    /// Returns a snapshot of the labels of the rows, by row, like
    /// [`timeline`](Self::timeline).
    pub fn labels(&self) -> Rc<Vec<K::Label>> {
        self.inner.borrow().labels.clone()
    }

    /// Returns the indices of the rows in LTTV's order: processes by id (idle processes
    /// by CPU), then by birth and trace; resources by trace, CPUs first.
    pub fn order(&self) -> Vec<usize> {
        let inner = &*self.inner.borrow();
        let mut rows: Vec<usize> = (0..inner.labels.len()).collect();
        rows.sort_by_cached_key(|row| {
            K::Rows::order(inner.timeline.rows()[*row].key(), &inner.labels[*row])
        });
        rows
    }

    /// Sets the window and the resolution in ns, and stops previous requests. If the
    /// resolution is unchanged and the window moves by whole columns, known segments are
    /// kept, so that scrolling only reads the part that comes into view.
    pub fn show(&self, window: TimeWindow, resolution: u64) {
        let inner = &mut *self.inner.borrow_mut();
        let ChartData { timeline, labels } = inner.parts().1;
        match timeline.scroll(window, resolution) {
            Some(stays) => {
                let mut stays = stays.into_iter();
                labels.retain(|_| stays.next().unwrap_or(false));
            }
            None => {
                *timeline = Timeline::new(window, resolution);
                labels.clear();
            }
        }
        inner.latest = inner.timeline.known_until();
        inner.epoch += 1;
    }

    /// Returns the interval that is not known, which a [`request`](Self::request) fills.
    /// `None` if all is known.
    pub fn missing(&self) -> Option<TimeWindow> {
        self.inner.borrow().timeline.missing()
    }

    /// Creates the request that fills the missing interval from the kernel state that is
    /// attached to the scheduler's context. In a growing traceset, it
    /// [waits](EventsRequest::waiting) for what is not final.
    pub fn request<'h>(&self, owner: Owner, state: Handle<KernelState>) -> EventsRequest<'h> {
        let chart = &self.inner;
        let (epoch, window, missing) = {
            let chart = chart.borrow();
            (chart.epoch, chart.timeline.window(), chart.timeline.missing())
        };
        let (begin, end) = missing.map_or((window.end(), window.end()), |m| (m.start(), m.end()));
        let [at_begin, at_event, at_chunk, at_end] = [(); 4].map(|()| chart.clone());
        EventsRequest::new(owner)
            .waiting()
            .starting_at(begin)
            .until(end)
            .by_delivery()
            .before_request(move |call, _| {
                let chart = &mut *at_begin.borrow_mut();
                let Some(state) = call.extensions.get(state) else { return };
                if chart.epoch != epoch {
                    return;
                }
                chart.rows = K::Rows::default();
                for (trace, state) in state.traces().enumerate() {
                    let at = Snapshot { trace: TraceIndex(trace), state, time: begin };
                    let (rows, mut data) = chart.parts();
                    rows.update_all(&mut data, at);
                }
            })
            .on_every_event(move |call, request| {
                let trace = call.trace.index();
                let Some(state) = call.extensions.get(state) else { return };
                let transition = state.transition(trace, call.event.type_id());
                let chart = &mut *at_event.borrow_mut();
                if chart.epoch != epoch {
                    return request.stop();
                }
                chart.latest = call.delivery_time();
                if let (Some(transition), Some(state)) = (transition, state.trace(trace)) {
                    let at = Snapshot { trace, state, time: call.delivery_time() };
                    let (rows, mut data) = chart.parts();
                    for loss in state.effect().losses().iter().filter(|loss| !loss.is_told_again())
                    {
                        rows.lose(&mut data, trace, loss);
                    }
                    rows.update_after(&mut data, at, transition);
                }
            })
            .after_chunk(Level::Traceset, move |_, _| {
                let chart = &mut *at_chunk.borrow_mut();
                if chart.epoch == epoch {
                    Rc::make_mut(&mut chart.timeline).know(chart.latest);
                }
            })
            .after_request(move |call, _, reason| {
                let chart = &mut *at_end.borrow_mut();
                let is_all = matches!(reason, FinishReason::EndTime | FinishReason::EndOfTraceset);
                if is_all && chart.epoch == epoch {
                    let traces =
                        call.extensions.get(state).into_iter().flat_map(KernelState::traces);
                    for (trace, state) in traces.enumerate() {
                        let (rows, mut data) = chart.parts();
                        let losses = state.losses_before(end).filter(|loss| !loss.is_told_again());
                        losses.for_each(|loss| rows.lose(&mut data, TraceIndex(trace), &loss));
                    }
                    Rc::make_mut(&mut chart.timeline).know(end);
                }
            })
    }
}

impl<K: KernelKey> fmt::Debug for KernelChart<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.inner.borrow();
        f.debug_struct("KernelChart")
            .field("window", &inner.timeline.window())
            .field("rows", &inner.labels.len())
            .finish_non_exhaustive()
    }
}
