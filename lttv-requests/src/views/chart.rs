//! A timeline that follows the state of the kernel.

use std::cell::RefCell;
use std::fmt::Debug;
use std::hash::Hash;
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_context::{Handle, Level};
use lttv_state::kernel::{KernelState, TraceState, Transition};

use super::timeline::Timeline;
use crate::finish::FinishReason;
use crate::identity::Owner;
use crate::request::EventsRequest;
use crate::window::TimeWindow;

/// A timeline with labels, filled by requests.
#[derive(Debug)]
pub(super) struct Chart<R: Rows> {
    pub(super) drawn: Drawn<R>,
    rows: R,
    /// The time of the last event.
    latest: Timestamp,
    /// Changes whenever requests of before are to stop.
    epoch: u64,
}

/// What is there to be drawn.
#[derive(Debug)]
pub(super) struct Drawn<R: Rows> {
    pub(super) timeline: Timeline<R::Key, R::State>,
    /// Of each row.
    pub(super) labels: Vec<R::Label>,
}

/// What the rows of a chart are of, and how they follow the state.
pub(super) trait Rows: Default + Sized + 'static {
    type Key: Clone + Eq + Hash + Debug;
    type State: Copy + PartialEq + Debug;
    type Label: Debug;

    /// Puts all rows of a machine right.
    fn look_at_all(&mut self, drawn: &mut Drawn<Self>, at: Place<'_>);

    /// Puts those rows right that may have changed by an event.
    fn follow(&mut self, drawn: &mut Drawn<Self>, at: Place<'_>, what: Transition);
}

/// A machine, and when it is looked at.
#[derive(Clone, Copy)]
pub(super) struct Place<'s> {
    /// The index of the trace.
    pub(super) trace: usize,
    pub(super) state: &'s TraceState,
    pub(super) time: Timestamp,
}

impl<R: Rows> Chart<R> {
    pub(super) fn new(window: TimeWindow, resolution: u64) -> Rc<RefCell<Self>> {
        let drawn = Drawn { timeline: Timeline::new(window, resolution), labels: Vec::new() };
        let (rows, latest) = (R::default(), window.begin());
        Rc::new(RefCell::new(Chart { drawn, rows, latest, epoch: 0 }))
    }

    /// Shows another window. What is known of it stays if it is a whole number of
    /// columns away. Requests of before stop.
    pub(super) fn show(&mut self, window: TimeWindow, resolution: u64) {
        let Drawn { timeline, labels } = &mut self.drawn;
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
        self.latest = timeline.known_until();
        self.epoch += 1;
    }

    /// A request for what is missing.
    pub(super) fn request<'h>(
        chart: &Rc<RefCell<Self>>,
        owner: Owner,
        state: Handle<KernelState>,
    ) -> EventsRequest<'h> {
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
