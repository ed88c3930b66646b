//! Codecs, which store the states of extensions in files.

use std::fmt;

use super::Extension;

/// A codec that stores checkpoints of an extension in files.
///
/// ```
/// use lttv_context::{Codec, Extension, Handle, Setup};
///
/// struct Count(u64);
///
/// impl Extension for Count {
///     type Checkpoint = u64;
/// #   fn install(_: Handle<Self>, _: &mut Setup<'_, '_>) {}
/// #   fn reset(&mut self) {}
/// #   fn save(&self) -> u64 {
/// #       self.0
/// #   }
/// #   fn restore(&mut self, saved: &u64) {
/// #       self.0 = *saved;
/// #   }
/// #   fn checkpoint_bytes(_: &u64, _: Option<&u64>) -> usize {
/// #       size_of::<u64>()
/// #   }
///
///     fn codec(&self) -> Option<Codec<Self>> {
///         Some(Codec {
///             name: "count",
///             version: 1,
///             options: 0,
///             write: |count, _, out| out.extend_from_slice(&count.to_le_bytes()),
///             read: |_, bytes, _| Some(u64::from_le_bytes(bytes.try_into().ok()?)),
///         })
///     }
///     // ...
/// }
/// ```
pub struct Codec<E: Extension> {
    /// The name of the extension in files.
    pub name: &'static str,
    /// A version that increases whenever different bytes are written, or different states are saved
    /// from the same trace. Files of another version are refused and have to be created again.
    pub version: u32,
    /// A hash of the options, or any number that identifies them. Files with other options are
    /// refused.
    pub options: u64,
    /// Appends a checkpoint to a byte vector: either completely, or as the difference from the
    /// previous checkpoint in the file, which is the second argument.
    pub write: fn(&E::Checkpoint, Option<&E::Checkpoint>, &mut Vec<u8>),
    /// Decodes a checkpoint from such bytes, which may be hostile. Returns `None` if `write` would
    /// not have produced them. The last argument is the previous checkpoint in the file, with which
    /// the result should share equal parts.
    #[expect(clippy::type_complexity)] // a name for it would not be shorter
    pub read: fn(&E, &[u8], Option<&E::Checkpoint>) -> Option<E::Checkpoint>,
}

impl<E: Extension> fmt::Debug for Codec<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Codec({:?}, version {})", self.name, self.version)
    }
}
