//! Looking for the next or previous event of a process.

use std::cell::RefCell;
use std::rc::Rc;

use lttv_context::{EventCall, Handle, TimeSpan, TracesetPosition};
use lttv_hooks::Priority;
use lttv_requests::{EventsRequest, Owner, Scheduler, SubmitError, Urgency};
use lttv_state::kernel::KernelState;

use super::control_flow::RowKey;
use super::stretch::Stretches;
use lttv_context::Subscription;

/// A search that gets on whenever requests are served.
#[derive(Debug)]
pub struct Search {
    owner: Owner,
    process: RowKey,
    kernel: Handle<KernelState>,
    /// Where to look next, if it goes back.
    back: Option<Stretches>,
    found: Rc<RefCell<Found>>,
}

#[derive(Debug, Default)]
struct Found {
    position: Option<TracesetPosition>,
    is_over: bool,
}

/// How far a search is.
#[derive(Debug)]
pub enum Outcome {
    /// It goes on.
    Searching,
    /// An event was found at this position.
    Found(TracesetPosition),
    /// There is none.
    Nothing,
}

impl Search {
    /// Looks for the first event of a process after a position.
    ///
    /// # Errors
    ///
    /// If the position is of another traceset.
    pub fn forward(
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
        process: RowKey,
        from: &TracesetPosition,
    ) -> Result<Self, SubmitError> {
        let search =
            Search { owner: Owner::fresh(), process, kernel, back: None, found: Rc::default() };
        let found = search.found.clone();
        // The event at the position itself does not count.
        let mut is_first = !from.is_end();
        let request = EventsRequest::new(search.owner).from(from);
        let request = request.on_event(after_state(), move |call, control| {
            if !std::mem::take(&mut is_first) && is_of(call, kernel, process) {
                found.borrow_mut().position = Some(call.position());
                control.stop();
            }
        });
        search.submit(scheduler, request)?;
        Ok(search)
    }

    /// Looks for the last event of a process before a position.
    ///
    /// # Errors
    ///
    /// If the position is of another traceset.
    pub fn backward(
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
        process: RowKey,
        to: TracesetPosition,
        span: TimeSpan,
    ) -> Result<Self, SubmitError> {
        let mut search = Search {
            owner: Owner::fresh(),
            process,
            kernel,
            back: Some(Stretches::before(to, span)),
            found: Rc::default(),
        };
        search.further_back(scheduler)?;
        Ok(search)
    }

    /// How far it is; starts what comes next.
    ///
    /// # Errors
    ///
    /// None while the traceset stays the same.
    pub fn get_on(&mut self, scheduler: &mut Scheduler<'static>) -> Result<Outcome, SubmitError> {
        if !self.found.borrow().is_over {
            return Ok(Outcome::Searching);
        }
        if let Some(position) = self.found.borrow_mut().position.take() {
            return Ok(Outcome::Found(position));
        }
        if self.further_back(scheduler)? { Ok(Outcome::Searching) } else { Ok(Outcome::Nothing) }
    }

    /// Gives it up.
    pub fn cancel(&self, scheduler: &mut Scheduler<'static>) {
        scheduler.cancel_owner(self.owner);
    }

    fn further_back(&mut self, scheduler: &mut Scheduler<'static>) -> Result<bool, SubmitError> {
        let Some(stretches) = &mut self.back else { return Ok(false) };
        let Some(request) = stretches.next(EventsRequest::new(self.owner)) else {
            return Ok(false);
        };
        let (found, kernel, process) = (self.found.clone(), self.kernel, self.process);
        found.borrow_mut().is_over = false;
        let request = request.on_event(after_state(), move |call, _| {
            if is_of(call, kernel, process) {
                found.borrow_mut().position = Some(call.position());
            }
        });
        self.submit(scheduler, request)?;
        Ok(true)
    }

    fn submit(
        &self,
        scheduler: &mut Scheduler<'static>,
        request: EventsRequest<'static>,
    ) -> Result<(), SubmitError> {
        let found = self.found.clone();
        let request = request.urgency(Urgency::HIGH);
        scheduler
            .submit(request.after_request(move |_, _, _| found.borrow_mut().is_over = true))?;
        Ok(())
    }
}

/// All events, once the state took notice of them.
pub fn after_state() -> Subscription {
    Subscription::to_every_event().priority(Priority::DEFAULT)
}

/// Whether an event was done by a process, or to it.
fn is_of(call: &EventCall<'_, '_>, kernel: Handle<KernelState>, (trace, serial): RowKey) -> bool {
    if call.trace.index() != trace {
        return false;
    }
    let Some(kernel) = call.extensions.get(kernel) else { return false };
    if kernel.running_at(call).is_some_and(|running| running.serial().0 == serial) {
        return true;
    }
    let Some(state) = kernel.trace(trace) else { return false };
    let changes = kernel.transition(trace, call.event.type_id()).is_some();
    let target = state.effect().target().filter(|_| changes).and_then(|ix| state.process(ix));
    target.is_some_and(|target| target.serial().0 == serial)
}
