//! The operations on the state of an extension, from its trait to a cell of any type.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use super::Extension;
use super::codec::Codec;
use crate::state::{
    AnyCodec, Cell, ExtensionIdentity, Extensions, Handle, Operations, Saved, SavedState,
};

impl Extensions {
    pub(crate) fn add<E: Extension>(&mut self, extension: E) -> Handle<E> {
        self.push(Cell::of_extension(extension, OperationsOf::<E>::TABLE))
    }
}

/// The table of operations of a type.
struct OperationsOf<E>(PhantomData<E>);

impl<E: Extension> OperationsOf<E> {
    const TABLE: &'static Operations = &Operations {
        reset: |value| {
            if let Some(extension) = value.downcast_mut::<E>() {
                extension.reset();
            }
        },
        identity: |value| value.downcast_ref::<E>().map(E::identity),
        needs_earlier_state: |value| value.downcast_ref::<E>().is_some_and(E::needs_earlier_state),
        save: |value| {
            let extension = value.downcast_ref::<E>()?;
            let (identity, saved) = (extension.identity(), extension.save());
            Some(Arc::new(StateOf::<E> { identity, saved }))
        },
        matches: |saved| saved_of::<E>(saved).is_some(),
        restore: |value, saved| {
            if let (Some(extension), Some(saved)) =
                (value.downcast_mut::<E>(), saved_of::<E>(saved))
            {
                extension.restore(saved);
            }
        },
        codec: codec_of::<E>,
    };
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

fn codec_of<E: Extension>(value: &dyn Any) -> Option<AnyCodec> {
    let Codec { name, version, options, write, read } = value.downcast_ref::<E>()?.codec()?;
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
            Some(Arc::new(StateOf::<E> { identity: extension.identity(), saved }))
        }),
    })
}
