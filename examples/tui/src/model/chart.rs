//! Filling a chart of a time window by a request, and keeping the one before it
//! in sight until there is something better.

use std::cell::{Ref, RefCell};
use std::fmt;
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_context::{EventCall, Handle, Level};
use lttv_filter::Filters;
use lttv_requests::{EventsRequest, FinishReason, Owner, Scheduler, SubmitError};
use lttv_state::kernel::KernelState;

use super::axis::Axis;
use super::search::after_state;

/// What can be drawn over an axis of time, from events and the state at them.
pub trait Chart: 'static {
    /// An empty one.
    fn new(axis: Axis) -> Self;

    /// The state at the begin of the window.
    fn begin(&mut self, kernel: &KernelState);

    /// An event in the window, after the state took notice of it.
    fn event(&mut self, kernel: &KernelState, call: &EventCall<'_, '_>);

    /// All events before a time have been seen.
    fn advance(&mut self, time: Timestamp);
}

/// A chart that is being filled.
#[derive(Debug)]
pub struct Filling<C> {
    /// The chart.
    pub chart: C,
    axis: Axis,
    reached: Timestamp,
    is_over: bool,
}

/// A chart, and the one before it.
pub struct Filled<C> {
    owner: Owner,
    now: Option<Rc<RefCell<Filling<C>>>>,
    before: Option<Rc<RefCell<Filling<C>>>>,
}

impl<C> Default for Filled<C> {
    fn default() -> Self {
        Filled { owner: Owner::fresh(), now: None, before: None }
    }
}

impl<C: Chart> Filled<C> {
    /// Makes it one over an axis, if it is not yet.
    ///
    /// # Errors
    ///
    /// None: the request knows no position.
    pub fn set_axis(
        &mut self,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
        axis: Axis,
        filters: Option<&Rc<Filters>>,
    ) -> Result<(), SubmitError> {
        if self.axis() == Some(axis) {
            return Ok(());
        }
        self.restart(scheduler, kernel, axis, filters)
    }

    /// Fills it anew, with events that pass a filter.
    ///
    /// # Errors
    ///
    /// None: the request knows no position.
    pub fn restart(
        &mut self,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
        axis: Axis,
        filters: Option<&Rc<Filters>>,
    ) -> Result<(), SubmitError> {
        scheduler.cancel_owner(self.owner);
        let window = axis.window();
        let filling =
            Filling { chart: C::new(axis), axis, reached: window.begin(), is_over: false };
        let now = Rc::new(RefCell::new(filling));
        // What has hardly begun is of less use than what was there before.
        if let Some(last) = self.now.replace(now.clone())
            && (self.before.is_none() || last.borrow().progress() > 0.5)
        {
            self.before = Some(last);
        }
        let (begin, event, chunk, end) = (now.clone(), now.clone(), now.clone(), now);
        let mut request = EventsRequest::new(self.owner).from(window.begin()).until(window.end());
        if let Some(filters) = filters.cloned() {
            let passes = move |call: &EventCall<'_, '_>| filters.matches(&call.event);
            request = request.filter(passes);
        }
        let request = request
            .before_request(move |call, _| {
                if let Some(kernel) = call.extensions.get(kernel) {
                    begin.borrow_mut().chart.begin(kernel);
                }
            })
            .on_event(after_state(), move |call, _| {
                let now = &mut *event.borrow_mut();
                now.reached = call.time();
                if let Some(kernel) = call.extensions.get(kernel) {
                    now.chart.event(kernel, call);
                }
            })
            .after_chunk(Level::Traceset, move |_, _| {
                let now = &mut *chunk.borrow_mut();
                now.chart.advance(now.reached);
            })
            .after_request(move |_, _, reason| {
                let now = &mut *end.borrow_mut();
                if reason != FinishReason::Cancelled {
                    now.reached = window.end();
                    now.chart.advance(now.reached);
                }
                now.is_over = true;
            });
        scheduler.submit(request)?;
        Ok(())
    }

    /// The axis.
    pub fn axis(&self) -> Option<Axis> {
        Some(self.now.as_ref()?.borrow().axis)
    }

    /// The chart as far as it is filled.
    pub fn now(&self) -> Option<Ref<'_, Filling<C>>> {
        Some(self.now.as_ref()?.borrow())
    }

    /// The chart before it, while the new one is not filled.
    pub fn before(&self) -> Option<Ref<'_, Filling<C>>> {
        let is_over = self.now.as_ref().is_some_and(|now| now.borrow().is_over);
        Some(self.before.as_ref().filter(|_| !is_over)?.borrow())
    }

    /// Which part of it is filled, from 0 to 1.
    pub fn progress(&self) -> f64 {
        self.now.as_ref().map_or(0.0, |now| now.borrow().progress())
    }

    /// What was drawn means nothing any more.
    pub fn forget(&mut self, scheduler: &mut Scheduler<'static>) {
        scheduler.cancel_owner(self.owner);
        (self.now, self.before) = (None, None);
    }
}

impl<C> Filling<C> {
    /// The axis.
    pub fn axis(&self) -> Axis {
        self.axis
    }

    fn progress(&self) -> f64 {
        let window = self.axis.window();
        match self.is_over {
            true => 1.0,
            false => {
                let reached = self.reached.ns().abs_diff(window.begin().ns());
                (reached as f64 / window.width() as f64).min(0.999)
            }
        }
    }
}

impl<C> fmt::Debug for Filled<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filled").field("owner", &self.owner).finish_non_exhaustive()
    }
}
