//! Search for the next or previous event of a process or thread.

use lttv_context::{EventCall, Handle, TracesetPosition};
use lttv_requests::views::{EventTable, ProcessKey};
use lttv_requests::{
    Control, EventsRequest, Owner, Scheduler, SubmitError, Urgency, Viewer, ViewerHandle,
};
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
    Next(ViewerHandle<Next>),
    /// A table with one row: the previous event.
    Previous(EventTable<()>),
}

#[derive(Debug)]
struct Next {
    /// The position at which the search starts. The event there is not a result.
    here: TracesetPosition,
    position: Option<TracesetPosition>,
}

impl Viewer for Next {
    fn event(&mut self, call: &mut EventCall<'_, '_>, request: &Control<'_>) {
        let position = call.position();
        if position != self.here {
            self.position = Some(position);
            request.stop();
        }
    }
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
        let owner = Owner::unique();
        let request = EventsRequest::new(owner).urgency(Urgency::HIGH).starting_at(from);
        let request = request.filter(is_of(kernel, target));
        let next = scheduler.submit_viewer(request, Next { here: from.clone(), position: None })?;
        Ok(Search { owner, found: Found::Next(next) })
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

    /// Returns the state of the search. After the end, it is known only once.
    pub fn outcome(&self, scheduler: &mut Scheduler<'static>) -> Outcome {
        let position = match &self.found {
            Found::Next(next) => match scheduler.take_viewer(*next) {
                Some(next) => next.position,
                None => return Outcome::Searching,
            },
            Found::Previous(table) if table.is_busy() => return Outcome::Searching,
            Found::Previous(table) => table.rows().front().map(|row| row.position.clone()),
        };
        position.map_or(Outcome::Nothing, Outcome::Found)
    }

    /// Cancels the requests of the search.
    pub fn cancel(&self, scheduler: &mut Scheduler<'static>) {
        scheduler.remove_owner(self.owner);
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
    if kernel.process_of(call).is_some_and(|running| running.serial() == of.serial) {
        return true;
    }
    let Some(state) = kernel.trace(of.trace) else { return false };
    let changes = kernel.transition(of.trace, call.event.type_id()).is_some();
    let target = state.effect().subject().filter(|_| changes).and_then(|ix| state.process(ix));
    target.is_some_and(|target| target.serial() == of.serial)
}
