//! The asynchronous scheduler, and the stream that drives it.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use lttv_context::EventCall;

use super::events::EventStream;
use crate::budget::Budget;
use crate::chunk::{ChunkReport, Status};
use crate::identity::RequestId;
use crate::request::{EventsRequest, SubmitError};
use crate::scheduler::Scheduler;

/// A scheduler that tasks of one thread share. Clones refer to one scheduler.
#[derive(Debug, Clone)]
pub struct AsyncScheduler<'h> {
    inner: Rc<Inner<'h>>,
}

#[derive(Debug)]
pub(super) struct Inner<'h> {
    scheduler: RefCell<Scheduler<'h>>,
    driver: RefCell<Option<Waker>>,
    /// The number of full streams. Reading stops until it is zero.
    full: Cell<usize>,
    is_closed: Cell<bool>,
}

impl<'h> AsyncScheduler<'h> {
    /// Creates an asynchronous scheduler from a scheduler.
    pub fn new(scheduler: Scheduler<'h>) -> Self {
        AsyncScheduler {
            inner: Rc::new(Inner {
                scheduler: RefCell::new(scheduler),
                driver: RefCell::default(),
                full: Cell::new(0),
                is_closed: Cell::new(false),
            }),
        }
    }

    /// Adds a request, like [`Scheduler::submit`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Scheduler::submit`], and [`SubmitError::InHook`] if it is
    /// called from a hook.
    pub fn submit(&self, request: EventsRequest<'h>) -> Result<RequestId, SubmitError> {
        self.with(|scheduler| scheduler.submit(request)).unwrap_or(Err(SubmitError::InHook))
    }

    /// Adds a request with a hook that converts events to the items of a stream. Events
    /// for which `map` returns `None` are left out.
    ///
    /// A stream that is not read suspends all requests once it holds thousands of items.
    /// Dropping the stream cancels its request.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`submit`](Self::submit).
    pub fn events<T: 'h>(
        &self,
        request: EventsRequest<'h>,
        map: impl FnMut(&mut EventCall<'_, 'h>) -> Option<T> + 'h,
    ) -> Result<EventStream<'h, T>, SubmitError> {
        EventStream::submit(&self.inner, request, map)
    }

    /// Calls a function with the scheduler, for example to cancel requests, to pause it,
    /// or to use its background. Returns `None` without calling it if a hook is running.
    pub fn with<R>(&self, act: impl FnOnce(&mut Scheduler<'h>) -> R) -> Option<R> {
        self.inner.with(act)
    }

    /// Returns a stream that serves requests while it is polled. Each chunk is an item.
    /// The stream waits while no work remains. Only one task should poll such a stream.
    pub fn serve(&self, budget: Budget) -> impl Stream<Item = ChunkReport> + Unpin + use<'h> {
        Serve { inner: self.inner.clone(), budget, has_returned_chunk: false }
    }

    /// Closes the streams of [`serve`](Self::serve). Pending requests are neither ended
    /// nor served.
    pub fn close(&self) {
        self.inner.is_closed.set(true);
        self.inner.wake_driver();
    }
}

impl<'h> Inner<'h> {
    pub(super) fn with<R>(&self, act: impl FnOnce(&mut Scheduler<'h>) -> R) -> Option<R> {
        let done = act(&mut *self.scheduler.try_borrow_mut().ok()?);
        self.wake_driver();
        Some(done)
    }

    pub(super) fn add_full(&self) {
        self.full.set(self.full.get() + 1);
    }

    pub(super) fn remove_full(&self) {
        self.full.set(self.full.get().saturating_sub(1));
        self.wake_driver();
    }

    fn wake_driver(&self) {
        if let Some(waker) = self.driver.take() {
            waker.wake();
        }
    }
}

/// A stream that serves requests: see [`AsyncScheduler::serve`].
struct Serve<'h> {
    inner: Rc<Inner<'h>>,
    budget: Budget,
    /// `true` if the last poll returned a chunk, so that other tasks run first.
    has_returned_chunk: bool,
}

impl Stream for Serve<'_> {
    type Item = ChunkReport;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ChunkReport>> {
        let this = self.get_mut();
        if this.inner.is_closed.get() {
            return Poll::Ready(None);
        }
        if std::mem::take(&mut this.has_returned_chunk) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if this.inner.full.get() == 0
            && let Ok(mut scheduler) = this.inner.scheduler.try_borrow_mut()
        {
            let chunk = scheduler.service_chunk(this.budget);
            drop(scheduler);
            let nothing = ChunkReport { status: chunk.status, ..ChunkReport::default() };
            if chunk.status == Status::More || chunk != nothing {
                this.has_returned_chunk = true;
                return Poll::Ready(Some(chunk));
            }
        }
        this.inner.driver.replace(Some(cx.waker().clone()));
        Poll::Pending
    }
}
