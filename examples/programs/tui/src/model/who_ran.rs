//! The running processes at visible events.

use std::cell::RefCell;
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_context::{Handle, TracesetPosition};
use lttv_requests::{EventsRequest, Owner, Scheduler, SubmitError};
use lttv_state::kernel::{KernelState, Serial, Tid};

/// A process that was running at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ran {
    /// Its serial number in its trace.
    pub serial: Serial,
    /// Its thread id, if known.
    pub tid: Option<Tid>,
    /// The id of its thread group, if known.
    pub pid: Option<Tid>,
}

/// The greatest number of answers in memory.
const MOST: usize = 10_000;

/// The process at a position; `None` if it cannot be determined.
type Answer = (TracesetPosition, Option<Ran>);

/// The answers so far, in order of position.
#[derive(Debug)]
pub struct WhoRan {
    owner: Owner,
    known: Rc<RefCell<Vec<Answer>>>,
    /// The positions of the last request, in order.
    requested: Vec<TracesetPosition>,
}

impl WhoRan {
    /// Creates an empty model, whose requests are of an owner.
    pub fn new(owner: Owner) -> Self {
        WhoRan { owner, known: Rc::default(), requested: Vec::new() }
    }

    /// Lets the positions be requested again that are not known.
    pub fn resume(&mut self) {
        self.requested.clear();
    }

    /// Removes all answers. The requests must have ended.
    pub fn clear(&mut self) {
        self.known = Rc::default();
        self.requested.clear();
    }

    /// Returns the process that was running at the event of a position: `None` if it has not
    /// been determined yet, `Some(None)` if it cannot be determined.
    pub fn at(&self, position: &TracesetPosition) -> Option<Option<Ran>> {
        let known = self.known.borrow();
        let at = known.partition_point(|(other, _)| other < position);
        known.get(at).filter(|(other, _)| other == position).map(|(_, ran)| *ran)
    }

    /// Requests the processes at events, given by positions and times of delivery in order. Known answers are not
    /// requested again.
    ///
    /// # Errors
    ///
    /// If the positions are of another traceset.
    pub fn ask(
        &mut self,
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
        events: impl Iterator<Item = (TracesetPosition, Timestamp)>,
    ) -> Result<(), SubmitError> {
        let unknown: Vec<_> = events.filter(|(at, _)| self.at(at).is_none()).collect();
        let (Some(first), Some(last)) = (unknown.first(), unknown.last()) else { return Ok(()) };
        if unknown.iter().all(|(at, _)| self.requested.contains(at)) {
            return Ok(());
        }
        scheduler.cancel_owner(self.owner);
        if self.known.borrow().len() > MOST {
            self.known.borrow_mut().clear();
        }
        self.requested = unknown.iter().map(|(at, _)| at.clone()).collect();
        let request = EventsRequest::new(self.owner).starting_at(&first.0).through(last.1);
        let (known, mut next) = (self.known.clone(), 0);
        scheduler.submit(request.on_every_event(move |call, control| {
            let Some((position, time)) = unknown.get(next) else { return control.stop() };
            if call.delivery_time() != *time || call.position() != *position {
                return;
            }
            let kernel = call.extensions.get(kernel);
            let running = kernel.and_then(|kernel| kernel.process_of(call));
            let ran = running.map(|process| {
                let (serial, tid, pid) = (process.serial(), process.tid(), process.pid());
                Ran { serial, tid, pid }
            });
            let mut known = known.borrow_mut();
            let at = known.partition_point(|(other, _)| other < position);
            known.insert(at, (position.clone(), ran));
            next += 1;
            if next == unknown.len() {
                control.stop();
            }
        }))?;
        Ok(())
    }
}
