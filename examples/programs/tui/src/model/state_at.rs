//! The state of a process at a time.

use std::cell::RefCell;
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_common::activity::{Doing, Stretch, WakeUp};
use lttv_context::Handle;
use lttv_requests::views::ProcessKey;
use lttv_requests::{EventsRequest, FinishReason, Owner, Scheduler, SubmitError};
use lttv_state::kernel::{KernelState, Transition};

/// The activity of a process around a time, with its start, its end and its wake-ups, which
/// requests find.
#[derive(Debug)]
pub struct StateAt {
    owner: Owner,
    place: Option<(ProcessKey, Timestamp)>,
    found: Rc<RefCell<Found>>,
    /// `true` if the wake-up at the start was requested.
    has_asked_start: bool,
}

/// The answer so far.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// The activity; `None` if the process does not exist at the time, or before the answer.
    pub stretch: Option<Stretch>,
    /// The wake-up at the start of the activity, of a process that is ready to run.
    pub woken: Option<WakeUp>,
    /// `true` if the state at the time is known.
    pub is_known: bool,
    /// `true` if the end is known, or that there is none.
    pub is_complete: bool,
}

impl StateAt {
    /// Creates an empty model, whose requests are of an owner.
    pub fn new(owner: Owner) -> Self {
        StateAt { owner, place: None, found: Rc::default(), has_asked_start: false }
    }

    /// Returns the answer so far.
    pub fn found(&self) -> Found {
        self.found.borrow().clone()
    }

    /// Returns the process and the time of the answer.
    pub fn place(&self) -> Option<(ProcessKey, Timestamp)> {
        self.place
    }

    /// Removes the answer. The requests must have ended.
    pub fn clear(&mut self) {
        (self.place, self.has_asked_start) = (None, false);
        self.found = Rc::default();
    }

    /// Requests the state of a process after all events up to a time, unless it is the one
    /// that was requested before.
    ///
    /// # Errors
    ///
    /// Never: the requests contain no position.
    pub fn ask(
        &mut self,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
        place: Option<(ProcessKey, Timestamp)>,
    ) -> Result<(), SubmitError> {
        if self.place == place {
            return self.ask_start(scheduler, kernel);
        }
        scheduler.cancel_owner(self.owner);
        self.clear();
        self.place = place;
        let Some((process, time)) = place else { return Ok(()) };
        let [begin, event, end] = [(); 3].map(|()| self.found.clone());
        let request = EventsRequest::new(self.owner).starting_at(time.saturating_add(1));
        scheduler.submit(
            request
                .before_request(move |call, _| {
                    let state = call.extensions.get(kernel);
                    let state = state.and_then(|kernel| kernel.trace(process.trace));
                    let found = &mut *begin.borrow_mut();
                    found.stretch = state.and_then(|state| Stretch::at(state, process.serial));
                    found.is_known = true;
                })
                .on_every_event(move |call, control| {
                    let found = &mut *event.borrow_mut();
                    let Some(stretch) = &mut found.stretch else { return control.stop() };
                    if call.trace.index() != process.trace {
                        return;
                    }
                    let Some(kernel) = call.extensions.get(kernel) else { return };
                    let Some(state) = kernel.trace(process.trace) else { return };
                    let transition = kernel.transition(process.trace, call.event.type_id());
                    if transition.is_some()
                        && stretch.event(state, transition, kernel.cpu_of(call), call.time())
                    {
                        control.stop();
                    }
                })
                .after_request(move |_, _, reason| {
                    let is_cut = matches!(reason, FinishReason::Cancelled | FinishReason::Panicked);
                    end.borrow_mut().is_complete |= !is_cut;
                }),
        )?;
        Ok(())
    }

    /// Requests the wake-up at the start of the activity, once it is known that the process is
    /// ready to run.
    fn ask_start(
        &mut self,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
    ) -> Result<(), SubmitError> {
        let since = match &self.found.borrow().stretch {
            Some(of) if !self.has_asked_start && of.doing() == Doing::Ready => of.since(),
            _ => return Ok(()),
        };
        self.has_asked_start = true;
        let Some((process, _)) = self.place else { return Ok(()) };
        let found = self.found.clone();
        let request = EventsRequest::new(self.owner).starting_at(since).through(since);
        scheduler.submit(request.on_every_event(move |call, control| {
            let Some(kernel) = call.extensions.get(kernel) else { return };
            if call.trace.index() != process.trace
                || kernel.transition(process.trace, call.event.type_id())
                    != Some(Transition::Wakeup)
            {
                return;
            }
            let Some(state) = kernel.trace(process.trace) else { return };
            let Some(index) = state.effect().subject() else { return };
            let is_it = state.process(index).is_some_and(|of| of.serial() == process.serial);
            if let Some(cpu) = kernel.cpu_of(call).filter(|_| is_it) {
                let (transition, time) = (Some(Transition::Wakeup), call.time());
                found.borrow_mut().woken = WakeUp::of_event(state, transition, cpu, time, index);
                control.stop();
            }
        }))?;
        Ok(())
    }
}
