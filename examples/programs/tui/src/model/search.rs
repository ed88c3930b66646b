//! Search for the next or previous event of a process or thread.

use std::cell::RefCell;
use std::rc::Rc;

use lttv_context::{EventCall, Handle, TracesetPosition};
use lttv_requests::views::{EventTable, ProcessKey};
use lttv_requests::{EventsRequest, Owner, Scheduler, SubmitError, Urgency};
use lttv_state::kernel::KernelState;

use super::thread_ids::ThreadIds;
use super::threads::ThreadKey;

/// The process or thread whose events are searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A process of a kernel trace: the events that it caused, and those about it.
    Process(ProcessKey),
    /// A thread of a user-space trace.
    Thread(ThreadKey),
}

/// A search, which makes progress whenever requests are served.
#[derive(Debug)]
pub struct Search {
    owner: Owner,
    found: Found,
}

/// The intermediate result of a search.
#[derive(Debug)]
enum Found {
    /// The position of the next event, once it is known.
    Next(Rc<RefCell<Next>>),
    /// A table with one row: the previous event.
    Previous(EventTable<()>),
}

#[derive(Debug, Default)]
struct Next {
    position: Option<TracesetPosition>,
    is_over: bool,
}

/// The state of a search.
#[derive(Debug)]
pub enum Outcome {
    /// The search continues.
    Searching,
    /// An event was found at this position.
    Found(TracesetPosition),
    /// There is no such event.
    Nothing,
}

impl Search {
    /// Starts a search for the first event of a target after a position.
    ///
    /// # Errors
    ///
    /// If the position is of another traceset.
    pub fn forward(
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
        target: Target,
        from: &TracesetPosition,
    ) -> Result<Self, SubmitError> {
        let (owner, found) = (Owner::unique(), Rc::new(RefCell::new(Next::default())));
        let [at_event, at_end] = [(); 2].map(|()| found.clone());
        // The event at the position itself is not a result.
        let here = from.clone();
        let request = EventsRequest::new(owner).urgency(Urgency::HIGH).starting_at(from);
        let request = request
            .filter(is_of(kernel, target))
            .on_every_event(move |call, control| {
                let position = call.position();
                if position != here {
                    at_event.borrow_mut().position = Some(position);
                    control.stop();
                }
            })
            .after_request(move |_, _, _| at_end.borrow_mut().is_over = true);
        scheduler.submit(request)?;
        Ok(Search { owner, found: Found::Next(found) })
    }

    /// Starts a search for the last event of a target before a position.
    ///
    /// # Errors
    ///
    /// If the position is of another traceset.
    pub fn backward(
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
        target: Target,
        to: &TracesetPosition,
    ) -> Result<Self, SubmitError> {
        let owner = Owner::unique();
        let table = EventTable::new(owner, 1, |_| ());
        table.set_filter(is_of(kernel, target));
        scheduler.submit(table.show_before(to))?;
        Ok(Search { owner, found: Found::Previous(table) })
    }

    /// Returns `true` if the search is for the previous event.
    pub fn is_backward(&self) -> bool {
        matches!(self.found, Found::Previous(_))
    }

    /// Returns the state of the search.
    pub fn outcome(&self) -> Outcome {
        let (is_over, position) = match &self.found {
            Found::Next(next) => (next.borrow().is_over, next.borrow().position.clone()),
            Found::Previous(table) => {
                let row = table.rows().front().map(|row| row.position.clone());
                (!table.is_busy(), row)
            }
        };
        match position.filter(|_| is_over) {
            Some(position) => Outcome::Found(position),
            None if is_over => Outcome::Nothing,
            None => Outcome::Searching,
        }
    }

    /// Cancels the requests of the search.
    pub fn cancel(&self, scheduler: &mut Scheduler<'static>) {
        scheduler.cancel_owner(self.owner);
    }
}

/// Returns the filter of the events of a target.
fn is_of(
    kernel: Handle<KernelState>,
    target: Target,
) -> impl FnMut(&EventCall<'_, '_>) -> bool + 'static {
    let mut ids = ThreadIds::default();
    move |call: &EventCall<'_, '_>| match target {
        Target::Process(process) => is_of_process(call, kernel, process),
        Target::Thread(thread) => {
            let trace = call.trace.index();
            trace == thread.trace && ids.of(trace, &call.event).tid == thread.vtid
        }
    }
}

/// Returns `true` if a process caused the event or is its target.
fn is_of_process(call: &EventCall<'_, '_>, kernel: Handle<KernelState>, of: ProcessKey) -> bool {
    if call.trace.index() != of.trace {
        return false;
    }
    let Some(kernel) = call.extensions.get(kernel) else { return false };
    if kernel.running_at(call).is_some_and(|running| running.serial() == of.serial) {
        return true;
    }
    let Some(state) = kernel.trace(of.trace) else { return false };
    let changes = kernel.transition(of.trace, call.event.type_id()).is_some();
    let target = state.effect().subject().filter(|_| changes).and_then(|ix| state.process(ix));
    target.is_some_and(|target| target.serial() == of.serial)
}
