//! The stretch of one activity of a process around a time.

use ltt_read::Timestamp;
use lttv_state::kernel::{Process, ProcessIndex, Serial, Tid, TraceState, Transition};

use super::{Doing, thread_label};

/// A process and its CPU, at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessAt {
    /// The command.
    pub name: String,
    /// The thread id.
    pub tid: Option<Tid>,
    /// The id of the thread group.
    pub pid: Option<Tid>,
    /// The CPU on which it runs or ran last.
    pub cpu: Option<u32>,
}

/// A wake-up: the interrupt or process that woke another one up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WakeUp {
    /// The name of the interrupt, such as `IRQ virtio0`, or of the process, such as `cat (215)`.
    pub by: String,
    /// The CPU on which it happened.
    pub cpu: u32,
    /// The time at which it happened.
    pub time: Timestamp,
}

/// The stretch of one activity of a process around a time: from its start to its end, and the
/// wake-up that ended it.
///
/// It is created from the state at the time, which also tells the start, and receives the
/// following events until the activity ends.
///
/// ```
/// use std::rc::Rc;
/// use std::cell::RefCell;
///
/// use lttv_context::{Bounds, Traceset, TracesetContext};
/// use lttv_common::activity::Stretch;
/// use lttv_hooks::Flow;
/// use lttv_state::kernel::KernelState;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let kernel = context.attach(KernelState::new());
/// let found: Rc<RefCell<Option<Stretch>>> = Rc::default();
/// let stretch = found.clone();
/// context.on_event("*", move |call| {
///     let (trace, kernel) = (call.trace.index(), &call.extensions[kernel]);
///     let Some(state) = kernel.trace(trace) else { return Flow::Continue(()) };
///     let stretch = &mut *stretch.borrow_mut();
///     let Some(stretch) = stretch else {
///         // The activity of thread 7, once the state knows the thread.
///         let all = state.processes().map(|(_, process)| process);
///         let mut all = all.filter(|process| process.tid() == Some(7));
///         *stretch = all.next().and_then(|of| Stretch::at(state, of.serial()));
///         return Flow::Continue(());
///     };
///     let transition = kernel.transition(trace, call.event.type_id());
///     let cpu = kernel.cpu_of(call);
///     match stretch.event(state, transition, cpu, call.delivery_time()) {
///         true => Flow::Break(()),
///         false => Flow::Continue(()),
///     }
/// });
/// context.read(&Bounds::all())?;
/// let found = found.borrow();
/// let found = found.as_ref().expect("there is such a process");
/// println!("{} {} until {:?}", found.process().name, found.words(), found.until());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    index: ProcessIndex,
    serial: Serial,
    process: ProcessAt,
    doing: Doing,
    words: String,
    since: Timestamp,
    until: Option<Timestamp>,
    then: Option<String>,
    wake_up: Option<WakeUp>,
}

impl ProcessAt {
    /// Copies the identity of a process.
    pub fn of(process: &Process, state: &TraceState) -> Self {
        ProcessAt {
            name: state.name(process.name()).to_owned(),
            tid: process.tid(),
            pid: process.pid(),
            cpu: process.cpu(),
        }
    }

    /// Returns the command and the thread id: `cat (215)`.
    pub fn label(&self) -> String {
        thread_label(self.tid, &self.name)
    }
}

impl WakeUp {
    /// Returns the wake-up of a process by an event that has been applied to the state, if it
    /// is one. The event is one of a CPU.
    pub fn of_event(
        state: &TraceState,
        transition: Option<Transition>,
        cpu: u32,
        time: Timestamp,
        process: ProcessIndex,
    ) -> Option<Self> {
        let running = state.cpu(cpu)?.running();
        let is_of_it = transition == Some(Transition::Wakeup)
            && state.effect().subject() == Some(process)
            && running != process;
        let running = state.process(running).filter(|_| is_of_it)?;
        // An interrupt has nothing to do with the process that it interrupted.
        let by = match running.mode().is_interrupt() {
            true => Doing::Runs(running.mode(), running.submode()).label(state),
            false => ProcessAt::of(running, state).label(),
        };
        Some(WakeUp { by, cpu, time })
    }
}

impl Stretch {
    /// Creates the stretch of a process that contains the current time of a state. `None` if
    /// there is no such process at the time.
    pub fn at(state: &TraceState, serial: Serial) -> Option<Self> {
        let mut all = state.processes();
        let (index, process) = all.find(|(_, process)| process.serial() == serial)?;
        let doing = Doing::of(process);
        Some(Stretch {
            index,
            serial,
            process: ProcessAt::of(process, state),
            doing,
            words: doing.words(state),
            since: process.top().change(),
            until: None,
            then: None,
            wake_up: None,
        })
    }

    /// Adds an event of a CPU that has been applied to the state. Returns `true` if the
    /// activity has ended.
    pub fn event(
        &mut self,
        state: &TraceState,
        transition: Option<Transition>,
        cpu: Option<u32>,
        time: Timestamp,
    ) -> bool {
        if self.until.is_some() {
            return true;
        }
        // Another process may have reused the slot.
        let now = state.process(self.index).filter(|now| now.serial() == self.serial);
        let doing = now.map_or(Doing::Unknown, Doing::of);
        if now.is_some() && (doing == self.doing || doing.words(state) == self.words) {
            // At the end of a state dump a name may change from unknown to none.
            self.doing = doing;
            return false;
        }
        self.until = Some(time);
        self.then = now.map(|_| doing.words(state));
        self.wake_up =
            cpu.and_then(|cpu| WakeUp::of_event(state, transition, cpu, time, self.index));
        true
    }

    /// Returns the process.
    pub fn process(&self) -> &ProcessAt {
        &self.process
    }

    /// Returns the activity.
    pub fn doing(&self) -> Doing {
        self.doing
    }

    /// Returns the activity in words.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// Returns the time at which the activity started.
    pub fn since(&self) -> Timestamp {
        self.since
    }

    /// Returns the time at which the activity ended; `None` if it did not end with the events
    /// so far.
    pub fn until(&self) -> Option<Timestamp> {
        self.until
    }

    /// Returns the next activity in words; `None` if the process has ended, or the activity
    /// has not.
    pub fn then(&self) -> Option<&str> {
        self.then.as_deref()
    }

    /// Returns the wake-up that ended the activity, if one did.
    pub fn wake_up(&self) -> Option<&WakeUp> {
        self.wake_up.as_ref()
    }
}
