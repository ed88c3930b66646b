//! Viewers, which the scheduler owns.

use std::any::Any;
use std::cell::{Ref, RefCell, RefMut};
use std::collections::HashMap;
use std::rc::Rc;

use crate::identity::{Owner, RequestId};
use crate::request::{EventsRequest, SubmitError};
use crate::scheduler::Scheduler;
use crate::viewer::{Viewer, ViewerHandle, with_viewer};

/// The viewers that have not been taken, by request. A viewer of the type `V` is a `RefCell<V>`,
/// which the hooks of its request share until it ends.
pub(crate) type Viewers = HashMap<RequestId, (Owner, Rc<dyn Any>)>;

/// # Viewers
///
/// A [`Viewer`] is a model that a request owns and fills. The application reads it between calls
/// of [`service_chunk`](Self::service_chunk), even while it is incomplete. When the request has
/// ended, also by [`cancel`](Self::cancel), the viewer stays until it is
/// [taken](Self::take_viewer), or until its owner [replaces](Self::replace) its requests or is
/// [removed](Self::remove_owner).
impl<'h> Scheduler<'h> {
    /// Adds a request that fills a viewer: see [`submit`](Self::submit). Hooks that the request has
    /// already are called before those of the viewer.
    ///
    /// # Errors
    ///
    /// Those of [`submit`](Self::submit).
    pub fn submit_viewer<V: Viewer>(
        &mut self,
        request: EventsRequest<'h>,
        viewer: V,
    ) -> Result<ViewerHandle<V>, SubmitError> {
        self.add_viewer(request, viewer, Self::submit)
    }

    /// Returns a viewer. `None` if it was taken or removed, or belongs to another scheduler.
    pub fn viewer<V: Viewer>(&self, handle: ViewerHandle<V>) -> Option<Ref<'_, V>> {
        let (_, viewer) = self.viewers.get(&handle.request)?;
        viewer.downcast_ref::<RefCell<V>>()?.try_borrow().ok()
    }

    /// Returns a viewer mutably. `None` if it was taken or removed, or belongs to another
    /// scheduler.
    pub fn viewer_mut<V: Viewer>(&mut self, handle: ViewerHandle<V>) -> Option<RefMut<'_, V>> {
        let (_, viewer) = self.viewers.get(&handle.request)?;
        viewer.downcast_ref::<RefCell<V>>()?.try_borrow_mut().ok()
    }

    /// Removes a viewer whose request has ended, and returns it. `None` if the request has not
    /// ended, or if there is no such viewer.
    pub fn take_viewer<V: Viewer>(&mut self, handle: ViewerHandle<V>) -> Option<V> {
        let (owner, viewer) = self.viewers.remove(&handle.request)?;
        let viewer = viewer.downcast::<RefCell<V>>().map_err(|other| other as Rc<dyn Any>);
        let viewer = viewer
            .and_then(|viewer| Rc::try_unwrap(viewer).map_err(|shared| shared as Rc<dyn Any>));
        match viewer {
            Ok(viewer) => Some(viewer.into_inner()),
            Err(viewer) => {
                self.viewers.insert(handle.request, (owner, viewer));
                None
            }
        }
    }

    /// Cancels all requests of the owner of a request, removes its viewers, and adds the request:
    /// no two requests of the owner add to one model.
    ///
    /// ```
    /// use lttv_context::{Traceset, TracesetContext};
    /// use lttv_requests::{EventsRequest, Owner, Scheduler};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut scheduler = Scheduler::new(TracesetContext::new(Traceset::open(path)?));
    /// let list = Owner::unique();
    /// let first = scheduler.replace(EventsRequest::new(list).max_events(10))?;
    /// let second = scheduler.replace(EventsRequest::new(list).max_events(20))?; // The user scrolls.
    /// assert!(scheduler.pending().map(|pending| pending.request).eq([second]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`submit`](Self::submit). Nothing is cancelled then.
    pub fn replace(&mut self, request: EventsRequest<'h>) -> Result<RequestId, SubmitError> {
        self.run_commands();
        self.resume_panic();
        let id = self.queue.check(&request)?;
        self.remove_owner(request.owner);
        self.enqueue(id, request);
        Ok(id)
    }

    /// Cancels all requests of the owner of a request, removes its viewers, and adds the request,
    /// which fills a viewer: see [`replace`](Self::replace).
    ///
    /// # Errors
    ///
    /// Those of [`submit`](Self::submit). Nothing is cancelled then.
    pub fn replace_viewer<V: Viewer>(
        &mut self,
        request: EventsRequest<'h>,
        viewer: V,
    ) -> Result<ViewerHandle<V>, SubmitError> {
        self.add_viewer(request, viewer, Self::replace)
    }

    fn add_viewer<V: Viewer>(
        &mut self,
        request: EventsRequest<'h>,
        viewer: V,
        add: impl FnOnce(&mut Self, EventsRequest<'h>) -> Result<RequestId, SubmitError>,
    ) -> Result<ViewerHandle<V>, SubmitError> {
        let owner = request.owner;
        let viewer = Rc::new(RefCell::new(viewer));
        let id = add(self, with_viewer(request, &viewer))?;
        self.viewers.insert(id, (owner, viewer));
        Ok(ViewerHandle::new(id))
    }

    /// Cancels all requests of an owner, and removes its viewers.
    pub fn remove_owner(&mut self, owner: Owner) {
        self.viewers.retain(|_, (of, _)| *of != owner);
        _ = self.cancel_owner(owner);
    }
}
