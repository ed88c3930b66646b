//! Viewers: models that requests own.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

use lttv_context::{EventCall, Level, ReadCall, Subscription};

use crate::chunk::FinishReason;
use crate::identity::RequestId;
use crate::request::EventsRequest;
use crate::request::control::Control;

/// The model of a viewer, which a request fills and the scheduler owns: see
/// [`Scheduler::submit_viewer`](crate::Scheduler::submit_viewer).
///
/// A request calls [`begin`](Self::begin) once, then [`event`](Self::event) for each event and
/// [`end_chunk`](Self::end_chunk) after each chunk, and [`end`](Self::end) once. These are hooks at
/// the level of the traceset, in the [order of hooks](EventsRequest#order-of-hooks).
///
/// ```
/// use lttv_context::{EventCall, Subscription, Traceset, TracesetContext};
/// use lttv_requests::{Budget, Control, EventsRequest, Owner, Scheduler, Viewer};
///
/// #[derive(Default)]
/// struct Switches(u64);
///
/// impl Viewer for Switches {
///     fn events(&self) -> Subscription {
///         "sched_switch".into()
///     }
///
///     fn event(&mut self, _: &mut EventCall<'_, '_>, _: &Control<'_>) {
///         self.0 += 1;
///     }
/// }
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut scheduler = Scheduler::new(TracesetContext::new(Traceset::open(path)?));
/// let all = EventsRequest::new(Owner::unique());
/// let switches = scheduler.submit_viewer(all, Switches::default())?;
/// while scheduler.service_chunk(Budget::events(1000)).has_more() {
///     println!("{:?} so far", scheduler.viewer(switches).map(|switches| switches.0));
/// }
/// assert_eq!(scheduler.take_viewer(switches).map(|switches| switches.0), Some(497));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Viewer: 'static {
    /// Returns the events that [`event`](Self::event) is called for: all, by default.
    fn events(&self) -> Subscription {
        Subscription::to_every_event()
    }

    /// Takes note of the start of the request, with the state before its first event.
    fn begin(&mut self, call: &mut ReadCall<'_, '_>, request: &Control<'_>) {
        _ = (call, request);
    }

    /// Adds an event.
    fn event(&mut self, call: &mut EventCall<'_, '_>, request: &Control<'_>);

    /// Takes note of the end of a chunk, after which the application may show the model.
    fn end_chunk(&mut self, call: &mut ReadCall<'_, '_>, request: &Control<'_>) {
        _ = (call, request);
    }

    /// Takes note of the end of the request.
    fn end(&mut self, call: &mut ReadCall<'_, '_>, request: &Control<'_>, reason: FinishReason) {
        _ = (call, request, reason);
    }
}

/// A handle of a viewer. It is valid only for the scheduler that returned it: others find nothing.
pub struct ViewerHandle<V> {
    pub(crate) request: RequestId,
    of: PhantomData<fn() -> V>,
}

impl<V> ViewerHandle<V> {
    pub(crate) fn new(request: RequestId) -> Self {
        ViewerHandle { request, of: PhantomData }
    }

    /// Returns the id of the request that fills the viewer.
    pub fn request(self) -> RequestId {
        self.request
    }
}

impl<V> Clone for ViewerHandle<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for ViewerHandle<V> {}

impl<V> fmt::Debug for ViewerHandle<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ViewerHandle").field(&self.request).finish()
    }
}

/// Adds hooks to a request that call a viewer.
pub(crate) fn with_viewer<'h, V: Viewer>(
    request: EventsRequest<'h>,
    viewer: &Rc<RefCell<V>>,
) -> EventsRequest<'h> {
    let [begin, event, chunk, end] = [(); 4].map(|()| viewer.clone());
    let events = viewer.borrow().events();
    request
        .before_request(move |call, request| begin.borrow_mut().begin(call, request))
        .on_event(events, move |call, request| event.borrow_mut().event(call, request))
        .after_chunk(Level::Traceset, move |call, request| {
            chunk.borrow_mut().end_chunk(call, request);
        })
        .after_request(move |call, request, reason| end.borrow_mut().end(call, request, reason))
}
