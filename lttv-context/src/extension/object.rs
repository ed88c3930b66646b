//! Extensions as objects, whose type their context does not know.

use std::any::{Any, type_name};
use std::sync::Arc;

use ltt_read::Timestamp;

use super::Extension;
use super::codec::Codec;
use crate::state::{
    AnyCodec, AnyExtension, Cell, ExtensionIdentity, Extensions, Handle, Saved, SavedState,
};

impl Extensions {
    pub(crate) fn add<E: Extension>(&mut self, extension: E) -> Handle<E> {
        self.push(Cell::Extension(Box::new(extension)))
    }
}

impl<E: Extension> AnyExtension for E {
    fn type_name(&self) -> &'static str {
        type_name::<E>()
    }

    fn identity(&self) -> ExtensionIdentity {
        Extension::identity(self)
    }

    fn needs_earlier_state(&self) -> bool {
        Extension::needs_earlier_state(self)
    }

    fn reset(&mut self) {
        Extension::reset(self);
    }

    fn reach(&mut self, time: Timestamp) {
        Extension::reach(self, time);
    }

    fn save(&self) -> Saved {
        let (identity, saved) = (Extension::identity(self), Extension::save(self));
        Arc::new(StateOf::<E> { identity, saved })
    }

    fn matches(&self, saved: &Saved) -> bool {
        saved_of::<E>(saved).is_some()
    }

    fn restore(&mut self, saved: &Saved) {
        if let Some(saved) = saved_of::<E>(saved) {
            Extension::restore(self, saved);
        }
    }

    fn codec(&self) -> Option<AnyCodec> {
        let Codec { name, version, options, write, read } = Extension::codec(self)?;
        Some(AnyCodec {
            name,
            version,
            options,
            write: Box::new(move |saved, before, out| {
                if let Some(saved) = saved_of::<E>(saved) {
                    write(saved, before.and_then(saved_of::<E>), out);
                }
            }),
            read: Box::new(move |value, bytes, before| {
                let extension = value.downcast_ref::<E>()?;
                let saved = read(extension, bytes, before.and_then(saved_of::<E>))?;
                Some(Arc::new(StateOf::<E> { identity: Extension::identity(extension), saved }))
            }),
        })
    }
}

/// A saved state with the identity of its extension.
struct StateOf<E: Extension> {
    identity: ExtensionIdentity,
    saved: E::Checkpoint,
}

impl<E: Extension> SavedState for StateOf<E> {
    fn identity(&self) -> Option<ExtensionIdentity> {
        Some(self.identity)
    }

    fn bytes(&self, before: Option<&Saved>) -> usize {
        E::checkpoint_bytes(&self.saved, before.and_then(saved_of::<E>))
    }
}

fn saved_of<E: Extension>(saved: &Saved) -> Option<&E::Checkpoint> {
    let saved: &dyn Any = &**saved;
    Some(&saved.downcast_ref::<StateOf<E>>()?.saved)
}
