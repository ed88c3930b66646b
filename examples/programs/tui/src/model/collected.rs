//! Results that are collected from the events of a time window.

use std::cell::{Cell, Ref, RefCell};
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_context::{EventCall, Handle, Level, TracesetPosition};
use lttv_requests::views::TimeWindow;
use lttv_requests::{EventsRequest, FinishReason, Owner, Scheduler, Start, SubmitError};
use lttv_state::kernel::KernelState;

use super::axis::Axis;

/// A result that is collected from events, with the state after them.
pub trait Collect: Default + 'static {
    /// Takes note of the window and its columns, before the first event.
    fn start(&mut self, axis: Axis) {
        let _ = axis;
    }

    /// Adds an event in the window.
    fn event(&mut self, kernel: &KernelState, call: &EventCall<'_, '_>);
}

/// A result that may still be incomplete.
#[derive(Debug)]
pub struct Soon<C> {
    /// The result so far.
    pub found: C,
    axis: Axis,
    window: TimeWindow,
    /// The time up to which the window has been read.
    reached: Timestamp,
    is_complete: bool,
    /// The position of a collected event, and the number of events collected from there on.
    mark: Option<(TracesetPosition, u64)>,
}

/// The collection of a result from a time window, by a request.
#[derive(Debug)]
pub struct Collected<C> {
    owner: Owner,
    now: Option<Rc<RefCell<Soon<C>>>>,
}

impl<C> Soon<C> {
    /// Returns the time span of the window that has been read, in ns; at least 1.
    pub fn time(&self) -> u64 {
        self.reached.as_ns().abs_diff(self.window.start().as_ns()).max(1)
    }
}

impl<C: Collect> Collected<C> {
    /// Creates an empty collection, whose requests are of an owner.
    pub fn new(owner: Owner) -> Self {
        Collected { owner, now: None }
    }

    /// Starts collecting from a window, unless it is the current one.
    ///
    /// # Errors
    ///
    /// Never: the request contains no position.
    pub fn set_window(
        &mut self,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
        window: TimeWindow,
    ) -> Result<(), SubmitError> {
        self.set_axis(scheduler, kernel, Axis::new(window, 1))
    }

    /// Starts collecting from the window of an axis, unless it is the current one.
    ///
    /// # Errors
    ///
    /// Never: the request contains no position.
    pub fn set_axis(
        &mut self,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
        axis: Axis,
    ) -> Result<(), SubmitError> {
        if self.now.as_ref().is_some_and(|now| now.borrow().axis == axis) {
            return Ok(());
        }
        scheduler.cancel_owner(self.owner);
        let mut found = C::default();
        found.start(axis);
        let window = axis.window();
        let now =
            Soon { found, axis, window, reached: window.start(), is_complete: false, mark: None };
        self.now = Some(Rc::new(RefCell::new(now)));
        self.collect(scheduler, kernel)
    }

    /// Collects what is missing, after the request was cancelled.
    ///
    /// # Errors
    ///
    /// If the traceset has changed since then.
    pub fn resume(
        &mut self,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
    ) -> Result<(), SubmitError> {
        match self.now.as_ref().is_some_and(|now| !now.borrow().is_complete) {
            true => {
                scheduler.cancel_owner(self.owner);
                self.collect(scheduler, kernel)
            }
            false => Ok(()),
        }
    }

    /// Requests the events of the window that have not been collected.
    fn collect(
        &self,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
    ) -> Result<(), SubmitError> {
        let Some(now) = self.now.clone() else { return Ok(()) };
        let (window, mark) = (now.borrow().window, now.borrow().mark.clone());
        let (place, mut skip) = match mark {
            Some((position, events)) => (Start::from(position), events),
            None => (Start::from(window.start()), 0),
        };
        let [event, end] = [(); 2].map(|()| now.clone());
        let reached = Rc::new(Cell::new(now.borrow().reached));
        let latest = reached.clone();
        let is_new = Rc::new(Cell::new(false));
        let is_first = is_new.clone();
        let request =
            EventsRequest::new(self.owner).waiting().starting_at(place).until(window.end());
        let request = request
            .before_chunk(Level::Traceset, move |_, _| is_new.set(true))
            .on_every_event(move |call, _| {
                // A clock may go back. From a position on, such events are not left out.
                if call.event.timestamp().is_some_and(|time| time < window.start()) {
                    return;
                }
                if skip > 0 {
                    skip -= 1;
                    return;
                }
                reached.set(call.delivery_time());
                let now = &mut *event.borrow_mut();
                if is_first.take() {
                    now.mark = Some((call.position(), 0));
                }
                if let Some((_, events)) = &mut now.mark {
                    *events += 1;
                }
                if let Some(kernel) = call.extensions.get(kernel) {
                    now.found.event(kernel, call);
                }
            })
            .after_chunk(Level::Traceset, move |_, _| now.borrow_mut().reached = latest.get())
            .after_request(move |_, _, reason| {
                if !matches!(reason, FinishReason::Cancelled | FinishReason::Panicked) {
                    let now = &mut *end.borrow_mut();
                    (now.reached, now.is_complete) = (window.end(), true);
                }
            });
        scheduler.submit(request)?;
        Ok(())
    }

    /// Removes the result. Its requests must have ended.
    pub fn clear(&mut self) {
        self.now = None;
    }

    /// Returns the result so far; `None` before the first call of
    /// [`set_window`](Self::set_window).
    pub fn now(&self) -> Option<Ref<'_, Soon<C>>> {
        Some(self.now.as_ref()?.borrow())
    }

    /// Returns the part of the window that has been read, from 0 to 1.
    pub fn progress(&self) -> f64 {
        let Some(now) = self.now() else { return 0.0 };
        let read = now.reached.as_ns().abs_diff(now.window.start().as_ns());
        read as f64 / now.window.width() as f64
    }
}
