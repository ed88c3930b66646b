//! The files and bytes of the state of a context.

use std::path::Path;

use ltt_read::Timestamp;

use super::CheckpointFileError;
use crate::context::ContextState;

impl ContextState<'_, '_> {
    /// Reads checkpoints from a file that was created for the same traces, with at least the
    /// extensions that are attached here. They replace the current checkpoints. If they exceed the
    /// [memory limit](crate::CheckpointPolicy::memory), some are left out, evenly spread. Returns the number
    /// of checkpoints taken.
    ///
    /// The file may be hostile: memory use is proportional to its size and to the memory limit. A
    /// file is used only if all of it is intact.
    ///
    /// # Errors
    ///
    /// Returns [`CheckpointFileError`] if the file cannot be read, is damaged, or does not fit the
    /// traces and extensions. Nothing changes then. In all of these cases the checkpoints can be
    /// created again from the traces.
    pub fn load_checkpoints(
        &mut self,
        path: impl AsRef<Path>,
    ) -> Result<usize, CheckpointFileError> {
        self.context.load_checkpoints(path.as_ref())
    }

    /// Writes the current checkpoints to a file, from which any later context of the same traces
    /// can [load](Self::load_checkpoints) them. The state of extensions without a
    /// [`Codec`](crate::Codec) is left out.
    ///
    /// An existing file of this name is replaced once the new one is complete and on disk. If
    /// anything fails, the existing file stays unchanged. The file contains complete states for the
    /// first checkpoint, and mostly differences for the others.
    ///
    /// ```
    /// use lttv_context::{Bounds, CheckpointFileFault, CheckpointPolicy, Traceset, TracesetContext};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// // Without an analysis there is nothing to store.
    /// context.state().set_policy(CheckpointPolicy::every(1000));
    /// assert_eq!(context.state().replay(&Bounds::all())?.errors, 0);
    /// let stored = context.state().store_checkpoints("lttv.checkpoints");
    /// let error = stored.expect_err("no extension");
    /// assert!(matches!(error.fault, CheckpointFileFault::NothingToStore));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`CheckpointFileError`] if writing fails, or if no extension can be stored.
    pub fn store_checkpoints(&self, path: impl AsRef<Path>) -> Result<(), CheckpointFileError> {
        self.context.store_checkpoints(path.as_ref())
    }

    /// Converts the state of extensions at the current position to bytes, for
    /// [`restore_bytes`](Self::restore_bytes). Returns `None` if the state is [not
    /// current](crate::TracesetContext::is_state_current), or if an extension has no [`Codec`](crate::Codec).
    ///
    /// Unlike a checkpoint, the bytes contain no position, so the caller has to remember the time.
    /// In return they remain valid when the traces have grown and positions have changed.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        self.context.state_to_bytes()
    }

    /// Seeks the first event at `time` or later, and restores a state of extensions that
    /// [`to_bytes`](Self::to_bytes) has converted at this place, before all such
    /// events. Returns `false` and changes nothing if the bytes are not a state of the attached
    /// extensions.
    ///
    /// The bytes may be hostile: memory use is proportional to their number. The caller has to
    /// ensure that `time` is the time of the state.
    ///
    /// ```
    /// use lttv_context::{Bounds, Codec, Extension, Handle, Setup, Traceset, TracesetContext};
    ///
    /// /// Counts events.
    /// struct Count(u64);
    ///
    /// impl Extension for Count {
    ///     type Checkpoint = u64;
    ///
    ///     fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
    ///         setup.hooks.on_event("*", move |call| call.extensions[handle].0 += 1);
    ///     }
    /// #   fn reset(&mut self) {
    /// #       self.0 = 0;
    /// #   }
    /// #   fn save(&self) -> u64 {
    /// #       self.0
    /// #   }
    /// #   fn restore(&mut self, saved: &u64) {
    /// #       self.0 = *saved;
    /// #   }
    /// #   fn checkpoint_bytes(_: &u64, _: Option<&u64>) -> usize {
    /// #       size_of::<u64>()
    /// #   }
    /// #   fn codec(&self) -> Option<Codec<Self>> {
    /// #       Some(Codec {
    /// #           name: "count",
    /// #           version: 1,
    /// #           options: 0,
    /// #           write: |count, _, out| out.extend_from_slice(&count.to_le_bytes()),
    /// #           read: |_, bytes, _| Some(u64::from_le_bytes(bytes.try_into().ok()?)),
    /// #       })
    /// #   }
    ///     // ...
    /// }
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let count = context.attach(Count(0));
    /// let span = context.contexts().time_span().expect("events");
    /// let half = span.start.saturating_add(span.end.since(span.start) / 2);
    /// assert_eq!(context.state().replay(&Bounds::all().until(half))?.errors, 0);
    /// let bytes = context.state().to_bytes().expect("a codec");
    /// let before = context.extensions()[count].0;
    /// let rest = context.state().replay(&Bounds::all())?.events;
    ///
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let count = context.attach(Count(0));
    /// assert!(context.state().restore_bytes(&bytes, half));
    /// assert_eq!(context.extensions()[count].0, before);
    /// assert_eq!(context.state().replay(&Bounds::all())?.events, rest);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restore_bytes(&mut self, bytes: &[u8], time: Timestamp) -> bool {
        self.context.restore_state(bytes, time)
    }
}
