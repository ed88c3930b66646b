//! The state of a process at a time.

use ltt_read::Timestamp;
use lttv_common::activity::{Doing, Stretch, WakeUp};
use lttv_context::{EventCall, Handle, ReadCall};
use lttv_requests::views::ProcessKey;
use lttv_requests::{
    Control, EventsRequest, FinishReason, Owner, Scheduler, SubmitError, Viewer, ViewerHandle,
};
use lttv_state::kernel::{KernelState, Transition};

/// The activity of a process around a time, with its start, its end and its wake-ups, which
/// requests find.
#[derive(Debug)]
pub struct StateAt {
    owner: Owner,
    place: Option<(ProcessKey, Timestamp)>,
    activity: Option<ViewerHandle<Activity>>,
    /// The wake-up at the start, once it was requested.
    start: Option<ViewerHandle<Start>>,
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

/// The viewer of the activity and its end.
struct Activity {
    kernel: Handle<KernelState>,
    process: ProcessKey,
    found: Found,
}

impl Viewer for Activity {
    fn begin(&mut self, call: &mut ReadCall<'_, '_>, _: &Control<'_>) {
        let kernel = call.extensions.get(self.kernel);
        let state = kernel.and_then(|kernel| kernel.trace(self.process.trace));
        self.found.stretch = state.and_then(|state| Stretch::at(state, self.process.serial));
        self.found.is_known = true;
    }

    fn event(&mut self, call: &mut EventCall<'_, '_>, request: &Control<'_>) {
        let Some(stretch) = &mut self.found.stretch else { return request.stop() };
        let trace = self.process.trace;
        if call.trace.index() != trace {
            return;
        }
        let Some(kernel) = call.extensions.get(self.kernel) else { return };
        let Some(state) = kernel.trace(trace) else { return };
        let transition = kernel.transition(trace, call.event.type_id());
        if transition.is_some()
            && stretch.event(state, transition, kernel.cpu_of(call), call.delivery_time())
        {
            request.stop();
        }
    }

    fn end(&mut self, _: &mut ReadCall<'_, '_>, _: &Control<'_>, reason: FinishReason) {
        self.found.is_complete =
            !matches!(reason, FinishReason::Cancelled | FinishReason::Panicked);
    }
}

/// The viewer of the wake-up at the start of the activity.
struct Start {
    kernel: Handle<KernelState>,
    process: ProcessKey,
    woken: Option<WakeUp>,
}

impl Viewer for Start {
    fn event(&mut self, call: &mut EventCall<'_, '_>, request: &Control<'_>) {
        let process = self.process;
        let Some(kernel) = call.extensions.get(self.kernel) else { return };
        if call.trace.index() != process.trace
            || kernel.transition(process.trace, call.event.type_id()) != Some(Transition::Wakeup)
        {
            return;
        }
        let Some(state) = kernel.trace(process.trace) else { return };
        let Some(index) = state.effect().subject() else { return };
        let is_it = state.process(index).is_some_and(|of| of.serial() == process.serial);
        if let Some(cpu) = kernel.cpu_of(call).filter(|_| is_it) {
            let (transition, time) = (Some(Transition::Wakeup), call.delivery_time());
            self.woken = WakeUp::of_event(state, transition, cpu, time, index);
            request.stop();
        }
    }
}

impl StateAt {
    /// Creates an empty model, whose requests are of an owner.
    pub fn new(owner: Owner) -> Self {
        StateAt { owner, place: None, activity: None, start: None }
    }

    /// Returns the answer so far.
    pub fn found(&self, scheduler: &Scheduler<'static>) -> Found {
        let activity = self.activity.and_then(|activity| scheduler.viewer(activity));
        let found = activity.map(|activity| activity.found.clone()).unwrap_or_default();
        let start = self.start.and_then(|start| scheduler.viewer(start));
        Found { woken: start.and_then(|start| start.woken.clone()), ..found }
    }

    /// Returns the process and the time of the answer.
    pub fn place(&self) -> Option<(ProcessKey, Timestamp)> {
        self.place
    }

    /// Removes the answer. The requests must have ended.
    pub fn clear(&mut self) {
        *self = StateAt::new(self.owner);
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
        self.clear();
        self.place = place;
        let Some((process, time)) = place else {
            scheduler.remove_owner(self.owner);
            return Ok(());
        };
        let request = EventsRequest::new(self.owner).starting_at(time.saturating_add(1));
        let activity = Activity { kernel, process, found: Found::default() };
        self.activity = Some(scheduler.replace_viewer(request, activity)?);
        Ok(())
    }

    /// Requests the wake-up at the start of the activity, once it is known that the process is
    /// ready to run.
    fn ask_start(
        &mut self,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
    ) -> Result<(), SubmitError> {
        let Some((process, _)) = self.place.filter(|_| self.start.is_none()) else { return Ok(()) };
        let activity = self.activity.and_then(|activity| scheduler.viewer(activity));
        let since = match activity.as_ref().and_then(|activity| activity.found.stretch.as_ref()) {
            Some(of) if of.doing() == Doing::Ready => of.since(),
            _ => return Ok(()),
        };
        drop(activity);
        let request = EventsRequest::new(self.owner).starting_at(since).through(since);
        self.start =
            Some(scheduler.submit_viewer(request, Start { kernel, process, woken: None })?);
        Ok(())
    }
}
