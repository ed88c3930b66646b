//! The task that reads.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use lttv_context::EventCall;

use super::events::EventStream;
use crate::budget::Budget;
use crate::chunk::{Chunk, Status};
use crate::error::SubmitError;
use crate::identity::RequestId;
use crate::request::EventsRequest;
use crate::scheduler::Scheduler;

/// A scheduler that tasks of one thread share. Clones are the same scheduler.
pub struct AsyncScheduler<'h> {
    inner: Rc<Inner<'h>>,
}

pub(super) struct Inner<'h> {
    scheduler: RefCell<Scheduler<'h>>,
    driver: RefCell<Option<Waker>>,
    /// How many streams have to be read before anything more is.
    full: Cell<usize>,
    is_closed: Cell<bool>,
}

impl<'h> AsyncScheduler<'h> {
    /// Shares a scheduler.
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

    /// Submits a request: as [`Scheduler::submit`].
    ///
    /// # Errors
    ///
    /// As there, and if it is called from a hook.
    pub fn submit(&self, request: EventsRequest<'h>) -> Result<RequestId, SubmitError> {
        self.with(|scheduler| scheduler.submit(request)).unwrap_or(Err(SubmitError::InHook))
    }

    /// Submits a request, to which a hook is added. What that makes of events is the
    /// stream's items; it can leave events out.
    ///
    /// A stream that is not read holds up all requests when it has thousands of
    /// items; to drop it cancels its request.
    ///
    /// # Errors
    ///
    /// As [`submit`](Self::submit).
    pub fn events<T: 'h>(
        &self,
        request: EventsRequest<'h>,
        map: impl FnMut(&mut EventCall<'_, 'h>) -> Option<T> + 'h,
    ) -> Result<EventStream<'h, T>, SubmitError> {
        EventStream::submit(&self.inner, request, map)
    }

    /// Does something with the scheduler: cancels requests, pauses it, uses its
    /// background. `None` if it is called from a hook.
    pub fn with<R>(&self, act: impl FnOnce(&mut Scheduler<'h>) -> R) -> Option<R> {
        self.inner.with(act)
    }

    /// Serves requests as long as the stream is polled; each chunk is an item.
    /// While nothing pends, it waits. One task should do this.
    pub fn serve(&self, budget: Budget) -> Serve<'h> {
        Serve { inner: self.inner.clone(), budget, has_given: false }
    }

    /// Makes [`serve`](Self::serve) end. Requests that pend are left as they are.
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

/// Serves requests: see [`AsyncScheduler::serve`].
pub struct Serve<'h> {
    inner: Rc<Inner<'h>>,
    budget: Budget,
    /// Whether it is others' turn.
    has_given: bool,
}

impl Stream for Serve<'_> {
    type Item = Chunk;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Chunk>> {
        let this = self.get_mut();
        if this.inner.is_closed.get() {
            return Poll::Ready(None);
        }
        if std::mem::take(&mut this.has_given) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if this.inner.full.get() == 0
            && let Ok(mut scheduler) = this.inner.scheduler.try_borrow_mut()
        {
            let chunk = scheduler.service_chunk(this.budget);
            drop(scheduler);
            let nothing = Chunk { status: chunk.status, ..Chunk::default() };
            if chunk.status == Status::More || chunk != nothing {
                this.has_given = true;
                return Poll::Ready(Some(chunk));
            }
        }
        this.inner.driver.replace(Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Clone for AsyncScheduler<'_> {
    fn clone(&self) -> Self {
        AsyncScheduler { inner: self.inner.clone() }
    }
}

impl fmt::Debug for AsyncScheduler<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncScheduler")
            .field("scheduler", &self.inner.scheduler)
            .field("is_closed", &self.inner.is_closed)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Serve<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve").field("budget", &self.budget).finish_non_exhaustive()
    }
}
