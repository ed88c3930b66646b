//! Viewers of a tab, with everything that ends with them.

use std::collections::HashSet;
use std::rc::Rc;

use lttv_requests::Owner;
use lttv_requests::views::ViewerId;

use super::{Viewer, ViewerKind};
use crate::session::Session;

/// The identity of a viewer, unique in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceId(pub(super) u64);

/// The environment in which a viewer is constructed.
#[derive(Debug)]
pub struct Setup<'s> {
    /// The session of the tab.
    pub session: &'s mut Session,
    links: Links,
}

/// The parts of a viewer outside of it, which are removed when it is closed.
#[derive(Debug)]
pub(super) struct Links {
    viewer: ViewerId,
    owners: Vec<Owner>,
}

impl<'s> Setup<'s> {
    pub(super) fn new(session: &'s mut Session) -> Self {
        let viewer = session.tab.add_viewer();
        Setup { session, links: Links { viewer, owners: Vec::new() } }
    }

    /// Returns the id by which the tab notifies the viewer of changes.
    pub fn viewer(&self) -> ViewerId {
        self.links.viewer
    }

    /// Creates an owner for requests and computations in the background. When the viewer is
    /// closed, those of all its owners are cancelled.
    pub fn owner(&mut self) -> Owner {
        let owner = Owner::unique();
        self.links.owners.push(owner);
        owner
    }

    pub(super) fn finish(self) -> Links {
        self.links
    }
}

/// A viewer of a tab.
#[derive(Debug)]
pub(crate) struct Instance {
    id: InstanceId,
    kind: Rc<ViewerKind>,
    pub(crate) viewer: Box<dyn Viewer>,
    links: Links,
    pub(crate) is_shown: bool,
    /// `true` if the user has stopped its requests, so that its data is incomplete.
    pub(crate) is_stopped: bool,
}

impl Instance {
    pub(super) fn new(
        id: InstanceId,
        kind: Rc<ViewerKind>,
        viewer: Box<dyn Viewer>,
        links: Links,
    ) -> Self {
        Instance { id, kind, viewer, links, is_shown: true, is_stopped: false }
    }

    /// Returns its identity.
    pub(crate) fn id(&self) -> InstanceId {
        self.id
    }

    /// Returns its kind.
    pub(crate) fn kind(&self) -> &ViewerKind {
        &self.kind
    }

    /// Returns `true` if an owner is one of the viewer.
    pub(crate) fn has_owner(&self, owner: Owner) -> bool {
        self.links.owners.contains(&owner)
    }

    /// Returns `true` if it has requests among those of these owners.
    pub(crate) fn is_busy(&self, owners: &HashSet<Owner>) -> bool {
        self.links.owners.iter().any(|owner| owners.contains(owner))
    }

    /// Cancels its requests, and drops it.
    pub(super) fn close(self, session: &mut Session) {
        session.cancel(&self.links.owners);
        session.tab.remove_viewer(self.links.viewer);
    }
}
