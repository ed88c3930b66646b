//! Events of a request as a stream.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use lttv_context::EventCall;

use super::serve::Inner;
use crate::chunk::FinishReason;
use crate::identity::RequestId;
use crate::request::{EventsRequest, SubmitError};

/// The number of items at which a stream is full: reading stops until half of them are
/// taken.
const FULL: usize = 4096;

/// A stream of items made from a request's events: see
/// [`AsyncScheduler::events`](super::AsyncScheduler::events). The stream ends when the
/// request does.
pub struct EventStream<'h, T> {
    scheduler: Rc<Inner<'h>>,
    request: RequestId,
    items: Rc<Items<T>>,
}

struct Items<T> {
    items: RefCell<VecDeque<T>>,
    reader: RefCell<Option<Waker>>,
    is_full: Cell<bool>,
    /// `true` if the request's hooks have been dropped.
    has_ended: Cell<bool>,
    /// `true` if the stream has been dropped.
    is_dropped: Cell<bool>,
    reason: Cell<Option<FinishReason>>,
}

/// The sending side, owned by the event hook. Dropping it ends the stream.
struct Writer<T>(Rc<Items<T>>);

impl<'h, T: 'h> EventStream<'h, T> {
    pub(super) fn submit(
        scheduler: &Rc<Inner<'h>>,
        request: EventsRequest<'h>,
        mut map: impl FnMut(&mut EventCall<'_, 'h>) -> Option<T> + 'h,
    ) -> Result<Self, SubmitError> {
        let items = Rc::new(Items {
            items: RefCell::default(),
            reader: RefCell::default(),
            is_full: Cell::new(false),
            has_ended: Cell::new(false),
            is_dropped: Cell::new(false),
            reason: Cell::new(None),
        });
        let (writer, at_end) = (Writer(items.clone()), items.clone());
        let inner = Rc::downgrade(scheduler);
        let request = request
            .on_every_event(move |call, request| {
                let items = &writer.0;
                if items.is_dropped.get() {
                    request.stop();
                    return ControlFlow::Continue(());
                }
                let Some(item) = map(call) else { return ControlFlow::Continue(()) };
                if items.push(item) < FULL {
                    return ControlFlow::Continue(());
                }
                if !items.is_full.replace(true)
                    && let Some(inner) = inner.upgrade()
                {
                    inner.add_full();
                }
                ControlFlow::Break(())
            })
            .after_request(move |_, _, reason| at_end.reason.set(Some(reason)));
        let submitted = scheduler.with(|scheduler| scheduler.submit(request));
        let request = submitted.unwrap_or(Err(SubmitError::InHook))?;
        Ok(EventStream { scheduler: scheduler.clone(), request, items })
    }
}

impl<T> EventStream<'_, T> {
    /// Returns the id of the request whose events the stream returns.
    pub fn request(&self) -> RequestId {
        self.request
    }

    /// Returns the reason why the request ended. `None` if it has not ended, and if it
    /// was cancelled before it started.
    pub fn reason(&self) -> Option<FinishReason> {
        self.items.reason.get()
    }
}

impl<T> Items<T> {
    /// Adds an item, and returns the number of items.
    fn push(&self, item: T) -> usize {
        let mut items = self.items.borrow_mut();
        items.push_back(item);
        let count = items.len();
        drop(items);
        self.wake_reader();
        count
    }

    fn wake_reader(&self) {
        if let Some(waker) = self.reader.take() {
            waker.wake();
        }
    }
}

impl<T> Drop for Writer<T> {
    fn drop(&mut self) {
        self.0.has_ended.set(true);
        self.0.wake_reader();
    }
}

impl<T> Stream for EventStream<'_, T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let items = &self.items;
        let item = items.items.borrow_mut().pop_front();
        if items.is_full.get() && items.items.borrow().len() < FULL / 2 {
            items.is_full.set(false);
            self.scheduler.remove_full();
        }
        if item.is_some() || items.has_ended.get() {
            return Poll::Ready(item);
        }
        items.reader.replace(Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl<T> Drop for EventStream<'_, T> {
    fn drop(&mut self) {
        self.items.is_dropped.set(true);
        if self.items.is_full.take() {
            self.scheduler.remove_full();
        }
        if !self.items.has_ended.get() {
            // A request cannot be cancelled from a hook; it then stops at its next event.
            self.scheduler.with(|scheduler| scheduler.cancel(self.request));
        }
    }
}

impl<T> fmt::Debug for EventStream<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("request", &self.request)
            .field("waiting", &self.items.items.borrow().len())
            .field("has_ended", &self.items.has_ended.get())
            .finish_non_exhaustive()
    }
}
