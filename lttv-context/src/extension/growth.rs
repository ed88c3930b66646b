//! Extensions of any type, as far as growing traces concern them.

use std::any::type_name;
use std::fmt::Debug;

use super::{Extension, Setup};
use crate::state::{Extensions, Handle};

/// A function that prepares an extension for what traces have got while they are recorded: see
/// [`Extension::growth`].
pub type Growth<E> = fn(Handle<E>, &mut Setup<'_, '_>);

/// An extension of any type that can be prepared for growth.
pub(crate) trait AnyGrowth: Debug {
    /// Returns the name of the extension's type.
    fn type_name(&self) -> &'static str;

    /// Returns `true` if the extension can grow.
    fn can_grow(&self, extensions: &Extensions) -> bool;

    /// Prepares the extension for new parts of the traces.
    fn grow(&self, setup: &mut Setup<'_, '_>);
}

impl<E: Extension> AnyGrowth for Handle<E> {
    fn type_name(&self) -> &'static str {
        type_name::<E>()
    }

    fn can_grow(&self, extensions: &Extensions) -> bool {
        extensions.get(*self).is_some_and(|extension| extension.growth().is_some())
    }

    fn grow(&self, setup: &mut Setup<'_, '_>) {
        if let Some(growth) = setup.extensions.get(*self).and_then(E::growth) {
            growth(*self, setup);
        }
    }
}

/// An analysis that cannot grow and is no extension, by the name of its type.
#[derive(Debug)]
pub(crate) struct Fixed(pub(crate) &'static str);

impl AnyGrowth for Fixed {
    fn type_name(&self) -> &'static str {
        self.0
    }

    fn can_grow(&self, _: &Extensions) -> bool {
        false
    }

    fn grow(&self, _: &mut Setup<'_, '_>) {}
}
