//! The registry of kinds of viewers.

use std::rc::Rc;

use super::instance::{Instance, InstanceId};
use super::{Setup, ViewerKind};
use crate::keys::{self, Key};
use crate::session::Session;

/// The registry of kinds of viewers, and of all viewers that exist in any tab.
#[derive(Debug, Default)]
pub struct ViewerKinds {
    kinds: Vec<Entry>,
    /// The number of viewers so far.
    opened: u64,
}

#[derive(Debug)]
struct Entry {
    kind: Rc<ViewerKind>,
    instances: Vec<InstanceId>,
}

/// The reason why a kind is refused or a viewer cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KindError {
    /// There is another kind of this name.
    #[error("there is already a viewer named `{0}`")]
    Duplicate(String),
    /// A name is empty, or contains other characters than letters, digits, `-` and `_`.
    #[error("`{0}` is not a name of a viewer: letters, digits, - and _")]
    Name(String),
    /// Two actions of the kind have this name.
    #[error("the viewer `{kind}` has two actions named `{action}`")]
    DuplicateAction {
        /// The name of the kind.
        kind: String,
        /// The name of the actions.
        action: String,
    },
    /// Two actions of the kind have this key.
    #[error("the viewer `{kind}` uses the key {key} twice")]
    DuplicateKey {
        /// The name of the kind.
        kind: String,
        /// The key.
        key: Key,
    },
    /// An action has a [reserved](crate::keys::is_reserved) key.
    #[error("the viewer `{kind}` cannot use the key {key}, which is reserved")]
    ReservedKey {
        /// The name of the kind.
        kind: String,
        /// The key.
        key: Key,
    },
    /// There is no kind of this name.
    #[error("there is no viewer named `{0}`")]
    Unknown(String),
}

impl ViewerKinds {
    /// Creates an empty registry.
    pub fn new() -> Self {
        ViewerKinds::default()
    }

    /// Adds a kind after the others.
    ///
    /// # Errors
    ///
    /// If the name is not valid or not unique, if two actions of the kind have the same name or
    /// key, or if a key is reserved.
    pub fn register(&mut self, kind: ViewerKind) -> Result<(), KindError> {
        let name = kind.name();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(is_part) {
            return Err(KindError::Name(name.to_owned()));
        }
        if self.find(name).is_some() {
            return Err(KindError::Duplicate(name.to_owned()));
        }
        let mut seen: Vec<Key> = Vec::new();
        for (at, action) in kind.actions().iter().enumerate() {
            let kind_name = name.to_owned();
            if kind.actions()[..at].iter().any(|other| other.name() == action.name()) {
                let action = action.name().to_owned();
                return Err(KindError::DuplicateAction { kind: kind_name, action });
            }
            for key in action.keys().iter().copied() {
                if keys::is_reserved(key) {
                    return Err(KindError::ReservedKey { kind: kind_name, key });
                }
                if seen.contains(&key) {
                    return Err(KindError::DuplicateKey { kind: kind_name, key });
                }
                seen.push(key);
            }
        }
        self.kinds.push(Entry { kind: Rc::new(kind), instances: Vec::new() });
        Ok(())
    }

    /// Removes a kind. All its viewers must have been closed.
    pub(crate) fn unregister(&mut self, name: &str) {
        self.kinds.retain(|entry| entry.kind.name() != name);
    }

    /// Iterates over all kinds, in the order of their registration.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ViewerKind> {
        self.kinds.iter().map(|entry| &*entry.kind)
    }

    /// Finds a kind by its name.
    pub fn find(&self, name: &str) -> Option<&ViewerKind> {
        self.iter().find(|kind| kind.name() == name)
    }

    /// Returns the viewers of a kind that exist, in the order of their creation. Empty if there
    /// is no such kind.
    pub fn instances(&self, name: &str) -> &[InstanceId] {
        let entry = self.kinds.iter().find(|entry| entry.kind.name() == name);
        entry.map_or(&[], |entry| &entry.instances)
    }

    /// Constructs a viewer.
    ///
    /// # Errors
    ///
    /// If there is no kind of this name.
    pub(crate) fn open(
        &mut self,
        name: &str,
        session: &mut Session,
    ) -> Result<Instance, KindError> {
        let entry = self.kinds.iter_mut().find(|entry| entry.kind.name() == name);
        let entry = entry.ok_or_else(|| KindError::Unknown(name.to_owned()))?;
        let id = InstanceId(self.opened);
        self.opened += 1;
        let (kind, mut setup) = (entry.kind.clone(), Setup::new(session));
        let viewer = kind.construct(&mut setup);
        let instance = Instance::new(id, kind, viewer, setup.finish());
        entry.instances.push(id);
        Ok(instance)
    }

    /// Closes a viewer: cancels its requests, and drops it.
    pub(crate) fn close(&mut self, instance: Instance, session: &mut Session) {
        for entry in &mut self.kinds {
            entry.instances.retain(|id| *id != instance.id());
        }
        instance.close(session);
    }
}
