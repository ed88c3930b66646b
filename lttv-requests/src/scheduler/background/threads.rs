//! Computations on threads of their own.

use std::any::Any;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;
use std::thread;

use ltt_read::Timestamp;
use lttv_hooks::Flow;

/// The work of a computation on a thread.
pub(super) type Work = Box<dyn FnOnce(&ThreadControl) -> Flow + Send>;

/// The end of the work: whether it is complete, or the payload of its panic.
pub(super) type WorkEnd = Result<Flow, Box<dyn Any + Send>>;

/// The link between a computation on a thread and the background that it belongs to. Clones refer to the
/// same computation, and may be used by any thread.
#[derive(Clone)]
pub struct ThreadControl(Arc<Shared>);

struct Shared {
    /// The time in ns before which all events have been processed.
    passed: AtomicI64,
    is_given_up: AtomicBool,
    end: Mutex<Option<WorkEnd>>,
    wakers: Arc<Wakers>,
}

impl ThreadControl {
    /// Notes that all events before a time have been processed. Returns `Break` if the computation has been
    /// given up: then the work should end soon.
    pub fn passed(&self, time: Timestamp) -> Flow {
        if self.0.passed.fetch_max(time.as_ns(), Ordering::AcqRel) < time.as_ns() {
            self.0.wakers.wake();
        }
        if self.is_given_up() { Flow::Break(()) } else { Flow::Continue(()) }
    }

    /// Returns `true` if the computation has been given up: no owner wants its result any more.
    pub fn is_given_up(&self) -> bool {
        self.0.is_given_up.load(Ordering::Acquire)
    }

    /// Starts work on a new thread.
    pub(super) fn start(name: &str, work: Work, wakers: &Arc<Wakers>) -> io::Result<Self> {
        let control = ThreadControl(Arc::new(Shared {
            passed: AtomicI64::new(i64::MIN),
            is_given_up: AtomicBool::new(false),
            end: Mutex::new(None),
            wakers: Arc::clone(wakers),
        }));
        let of_thread = control.clone();
        // Names of threads end at a null byte, which would be an error.
        let name = name.replace('\0', " ");
        thread::Builder::new().name(name).spawn(move || {
            let end = catch_unwind(AssertUnwindSafe(|| work(&of_thread)));
            *of_thread.0.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
            of_thread.0.wakers.wake();
        })?;
        Ok(control)
    }

    /// Returns the time before which all events have been processed.
    pub(super) fn time(&self) -> Timestamp {
        Timestamp::from_ns(self.0.passed.load(Ordering::Acquire))
    }

    /// Takes the end of the work, once it is there.
    pub(super) fn take_end(&self) -> Option<WorkEnd> {
        self.0.end.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Asks the work to end.
    pub(super) fn give_up(&self) {
        self.0.is_given_up.store(true, Ordering::Release);
    }
}

impl fmt::Debug for ThreadControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadControl")
            .field("passed", &self.time())
            .field("is_given_up", &self.is_given_up())
            .finish_non_exhaustive()
    }
}

/// The wakers of schedulers that wait for computations on threads.
#[derive(Debug, Default)]
pub(super) struct Wakers(Mutex<Vec<Waker>>);

impl Wakers {
    /// Adds a waker, unless it is there.
    pub(super) fn add(&self, waker: &Waker) {
        let mut wakers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !wakers.iter().any(|other| other.will_wake(waker)) {
            wakers.push(waker.clone());
        }
    }

    /// Wakes and removes all wakers.
    fn wake(&self) {
        let wakers = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        wakers.into_iter().for_each(Waker::wake);
    }
}
