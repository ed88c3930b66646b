//! A timeline that follows the state of the kernel.

use std::cell::{Ref, RefCell};
use std::fmt::{self, Debug};
use std::hash::Hash;
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_context::{Handle, Level};
use lttv_state::kernel::{KernelState, TraceState, Transition};

use super::row::SegmentState;
use super::timeline::Timeline;
use crate::finish::FinishReason;
use crate::identity::Owner;
use crate::request::EventsRequest;
use crate::window::TimeWindow;

/// A [`Timeline`] that follows the kernel's state, with a label for each row:
/// [`ControlFlow`](super::ControlFlow) or [`Resources`](super::Resources). Copies are
/// of the same chart.
pub struct KernelChart<R: KernelRows> {
    inner: Rc<RefCell<Chart<R>>>,
}

/// What the rows of a [`KernelChart`] are of, and how they follow the state. There are
/// no others than those of this crate.
pub trait KernelRows: Default + Sized + 'static {
    /// Which row.
    type Key: Copy + Eq + Hash + Debug;
    /// What a row can be in.
    type State: SegmentState + Debug;
    /// What is written beside it.
    type Label: Debug;

    /// Puts all rows of a machine right.
    #[doc(hidden)]
    fn look_at_all(&mut self, drawn: &mut Drawn<Self>, at: Place<'_>);

    /// Puts those rows right that may have changed by an event.
    #[doc(hidden)]
    fn follow(&mut self, drawn: &mut Drawn<Self>, at: Place<'_>, what: Transition);

    /// By what rows are sorted.
    #[doc(hidden)]
    fn order(key: &Self::Key, label: &Self::Label) -> impl Ord;
}

struct Chart<R: KernelRows> {
    drawn: Drawn<R>,
    rows: R,
    /// The time of the last event.
    latest: Timestamp,
    /// Changes whenever requests of before are to stop.
    epoch: u64,
}

/// What is there to be drawn.
pub struct Drawn<R: KernelRows> {
    pub(super) timeline: Timeline<R::Key, R::State>,
    /// Of each row.
    pub(super) labels: Vec<R::Label>,
}

/// A machine, and when it is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Place<'s> {
    /// The index of the trace.
    pub(super) trace: usize,
    pub(super) state: &'s TraceState,
    pub(super) time: Timestamp,
}

impl<R: KernelRows> KernelChart<R> {
    /// No rows yet. The resolution is in ns: the time that a pixel stands for.
    pub fn new(window: TimeWindow, resolution: u64) -> Self {
        let drawn = Drawn { timeline: Timeline::new(window, resolution), labels: Vec::new() };
        let (rows, latest) = (R::default(), window.begin());
        let chart = Chart { drawn, rows, latest, epoch: 0 };
        KernelChart { inner: Rc::new(RefCell::new(chart)) }
    }

    /// Its rows. To be let go before the scheduler works again.
    pub fn timeline(&self) -> Ref<'_, Timeline<R::Key, R::State>> {
        Ref::map(self.inner.borrow(), |inner| &inner.drawn.timeline)
    }

    /// What is written beside the rows; as [`timeline`](Self::timeline).
    pub fn labels(&self) -> Ref<'_, [R::Label]> {
        Ref::map(self.inner.borrow(), |inner| inner.drawn.labels.as_slice())
    }

    /// The rows in LTTV's order: processes by id (idle ones by CPU), then by birth and
    /// trace; resources by trace, CPUs first.
    pub fn order(&self) -> Vec<usize> {
        let inner = &self.inner.borrow().drawn;
        let mut rows: Vec<usize> = (0..inner.labels.len()).collect();
        rows.sort_by_cached_key(|row| {
            R::order(inner.timeline.rows()[*row].key(), &inner.labels[*row])
        });
        rows
    }

    /// Shows another window. Requests of before stop. If the resolution stays the
    /// same and the window moves by whole columns, what is known of it is kept:
    /// scrolling costs no more than what comes into sight.
    pub fn show(&self, window: TimeWindow, resolution: u64) {
        let inner = &mut *self.inner.borrow_mut();
        let Drawn { timeline, labels } = &mut inner.drawn;
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
        inner.latest = timeline.known_until();
        inner.epoch += 1;
    }

    /// The stretch of time that is not known: what a [`request`](Self::request)
    /// is for. `None` if all is known.
    pub fn missing(&self) -> Option<TimeWindow> {
        self.inner.borrow().drawn.timeline.missing()
    }

    /// The request that fills it, by the state that is attached to the scheduler's
    /// context.
    pub fn request<'h>(&self, owner: Owner, state: Handle<KernelState>) -> EventsRequest<'h> {
        let chart = &self.inner;
        let (epoch, window, missing) = {
            let chart = chart.borrow();
            let timeline = &chart.drawn.timeline;
            (chart.epoch, timeline.window(), timeline.missing())
        };
        let (begin, end) = missing.map_or((window.end(), window.end()), |m| (m.begin(), m.end()));
        let [at_begin, at_event, at_chunk, at_end] = [(); 4].map(|()| chart.clone());
        EventsRequest::new(owner)
            .from(begin)
            .until(end)
            .by_delivery()
            .before_request(move |call, _| {
                let chart = &mut *at_begin.borrow_mut();
                let Some(state) = call.extensions.get(state) else { return };
                if chart.epoch != epoch {
                    return;
                }
                chart.rows = R::default();
                for (trace, state) in state.traces().enumerate() {
                    let at = Place { trace, state, time: begin };
                    chart.rows.look_at_all(&mut chart.drawn, at);
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
                chart.latest = call.time();
                if let (Some(transition), Some(state)) = (transition, state.trace(trace)) {
                    let at = Place { trace, state, time: call.time() };
                    chart.rows.follow(&mut chart.drawn, at, transition);
                }
            })
            .after_chunk(Level::Traceset, move |_, _| {
                let chart = &mut *at_chunk.borrow_mut();
                if chart.epoch == epoch {
                    chart.drawn.timeline.know(chart.latest);
                }
            })
            .after_request(move |_, _, reason| {
                let chart = &mut *at_end.borrow_mut();
                let is_all = matches!(reason, FinishReason::EndTime | FinishReason::EndOfTraceset);
                if is_all && chart.epoch == epoch {
                    chart.drawn.timeline.know(end);
                }
            })
    }
}

impl<R: KernelRows> Clone for KernelChart<R> {
    fn clone(&self) -> Self {
        KernelChart { inner: self.inner.clone() }
    }
}

impl<R: KernelRows> fmt::Debug for KernelChart<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.borrow().drawn.fmt(f)
    }
}

impl<R: KernelRows> fmt::Debug for Drawn<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelChart")
            .field("window", &self.timeline.window())
            .field("rows", &self.labels.len())
            .finish_non_exhaustive()
    }
}
