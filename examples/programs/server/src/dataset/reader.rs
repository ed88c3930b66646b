//! The thread that reads events on request.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use lttv_common::text::clock_text::{ClockStyle, ClockText};
use lttv_common::text_dump::lttv::Lttv;
use lttv_context::{Traceset, TracesetContext};
use lttv_filter::Zone;
use lttv_requests::{Budget, Owner, RequestId, Scheduler};

use super::faults::{Faults, ReadFaults};
use super::reading::release;

/// The time after which new requests are accepted while others are served.
const SLICE: Duration = Duration::from_millis(2);
/// The time without requests after which the memory of what was read is released.
const REST: Duration = Duration::from_secs(1);
/// The number of requests after which it is released, too.
const MOST_JOBS: u32 = 8;

/// A thread with a scheduler of requests.
#[derive(Debug)]
pub struct Reader {
    jobs: Sender<Job>,
}

/// A function that runs on the thread.
type Job = Box<dyn FnOnce(&mut EventReader) + Send>;

/// A function that submits a request, and returns its id.
type Submit = Box<dyn FnOnce(&mut EventReader) -> Option<RequestId> + Send>;

/// The objects of the thread.
pub struct EventReader {
    /// The scheduler of requests.
    pub scheduler: Scheduler<'static>,
    /// The format of the fields of events, which hooks share.
    pub format: Rc<RefCell<Lttv>>,
    /// The requests that are submitted one after the other.
    in_turn: VecDeque<(Owner, Submit)>,
    /// The one of them that is served.
    served: Option<RequestId>,
    faults: Arc<Faults>,
}

impl Reader {
    /// Starts the thread. It ends when the reader is dropped.
    pub(super) fn start(traceset: &Traceset, faults: &Arc<Faults>) -> Reader {
        let (jobs, receiver) = channel();
        let (traceset, faults) = (traceset.clone(), Arc::clone(faults));
        thread::spawn(move || serve(&traceset, &receiver, faults));
        Reader { jobs }
    }

    /// Runs a function on the thread, such as one that submits requests.
    pub fn run(&self, job: impl FnOnce(&mut EventReader) + Send + 'static) {
        // The thread lives as long as the reader.
        _ = self.jobs.send(Box::new(job));
    }

    /// Submits a short request when all earlier ones of this kind have ended. A scheduler serves what
    /// starts first; with many clients, those whose lines are later in the trace would wait for long.
    pub fn submit_in_turn(
        &self,
        owner: &RequestOwner<'_>,
        submit: impl FnOnce(&mut EventReader) -> Option<RequestId> + Send + 'static,
    ) {
        let owner = owner.owner;
        self.run(move |reader| reader.in_turn.push_back((owner, Box::new(submit))));
    }

    /// Returns an owner of requests. They are cancelled when it is dropped.
    pub fn owner(&self) -> RequestOwner<'_> {
        RequestOwner { reader: self, owner: Owner::unique() }
    }
}

/// An owner of requests, which are cancelled when it is dropped.
#[derive(Debug)]
pub struct RequestOwner<'r> {
    reader: &'r Reader,
    owner: Owner,
}

impl RequestOwner<'_> {
    /// Returns the owner.
    pub fn owner(&self) -> Owner {
        self.owner
    }
}

impl Drop for RequestOwner<'_> {
    fn drop(&mut self) {
        let owner = self.owner;
        self.reader.run(move |reader| {
            reader.in_turn.retain(|(of, _)| *of != owner);
            _ = reader.scheduler.cancel_owner(owner);
        });
    }
}

fn serve(traceset: &Traceset, jobs: &Receiver<Job>, faults: Arc<Faults>) {
    let clock = ClockText::new(ClockStyle::Seconds, Zone::local());
    let mut reader = EventReader {
        scheduler: Scheduler::new(TracesetContext::new(traceset)),
        format: Rc::new(RefCell::new(Lttv::new(traceset.traces(), clock, false))),
        in_turn: VecDeque::new(),
        served: None,
        faults,
    };
    let (mut is_busy, mut unreleased) = (false, 0);
    loop {
        // While requests are served, other jobs may be waiting, such as one that cancels them.
        let wait = match (is_busy, unreleased) {
            (true, _) => Duration::ZERO,
            (false, 0) => Duration::MAX,
            (false, _) => REST,
        };
        match jobs.recv_timeout(wait) {
            Ok(job) => {
                job(&mut reader);
                unreleased += 1;
                is_busy = true;
                continue;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if !is_busy || unreleased > MOST_JOBS {
            release(traceset);
            unreleased = 0;
        }
        is_busy = reader.serve();
    }
}

impl fmt::Debug for EventReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventReader").field("scheduler", &self.scheduler).finish_non_exhaustive()
    }
}

impl EventReader {
    /// Serves requests for a moment. Returns `true` if there is more to do.
    fn serve(&mut self) -> bool {
        // A request also ends when its client goes away, or before it starts: neither is reported.
        let is_pending = |id| self.scheduler.pending().any(|pending| pending.request == id);
        self.served = self.served.filter(|served| is_pending(*served));
        while self.served.is_none()
            && let Some((_, submit)) = self.in_turn.pop_front()
        {
            self.served = submit(self);
        }
        let report = self.scheduler.service_chunk(Budget::time(SLICE));
        // Taking the faults would interrupt requests.
        let merge = self.scheduler.context().merge();
        if !report.has_more() && !merge.errors().is_empty() {
            ReadFaults::of(self.scheduler.context_mut()).tell(&self.faults);
        }
        report.has_more() || !self.in_turn.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use ltt_read::Timestamp;
    use lttv_requests::EventsRequest;

    use super::*;

    /// A time within which a request for a few events ends.
    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn requests_of_clients_that_went_away_keep_no_others_waiting() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
        let reader = {
            let traceset = Traceset::open(path).unwrap();
            Reader::start(&traceset, &Arc::new(Faults::new(&traceset)))
        };
        let submit = |owner: &RequestOwner<'_>, request: fn(Owner) -> EventsRequest<'static>| {
            let (send, ended) = channel();
            let id = owner.owner();
            reader.submit_in_turn(owner, move |reader| {
                let begun = send.clone();
                let request = request(id)
                    .before_request(move |_, _| _ = begun.send("begun"))
                    .after_request(move |_, _, _| _ = send.send("ended"));
                reader.scheduler.submit(request).ok()
            });
            ended
        };
        let (gone, never, last) = (reader.owner(), reader.owner(), reader.owner());
        // Each event of it takes a moment, so that the client goes away before its end.
        let slow = submit(&gone, |owner| {
            EventsRequest::new(owner).on_every_event(|_, _| thread::sleep(Duration::from_millis(2)))
        });
        assert_eq!(slow.recv_timeout(SOON), Ok("begun"));
        // A request after the last event may end before it starts.
        let after = submit(&never, |owner| EventsRequest::new(owner).starting_at(Timestamp::MAX));
        let found = submit(&last, |owner| EventsRequest::new(owner).max_events(5));
        drop(gone);
        assert_eq!(slow.recv_timeout(SOON), Ok("ended"));
        assert_eq!(found.recv_timeout(SOON), Ok("begun"));
        assert_eq!(found.recv_timeout(SOON), Ok("ended"));
        drop(after);
    }
}
