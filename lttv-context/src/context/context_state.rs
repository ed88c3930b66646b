//! The state of extensions at the current position: checkpoints and seeking with state.

#[cfg(feature = "checkpoint-files")]
use std::path::Path;

use ltt_read::Timestamp;

use super::TracesetContext;
use crate::bounds::{Bounds, EndReason, ReadEnd};
#[cfg(feature = "checkpoint-files")]
use crate::checkpoint_file::CheckpointFileError;
use crate::state::{Checkpoint, CheckpointMismatch, CheckpointPolicy, Checkpoints};
use crate::traceset::StalePosition;

/// The state of the extensions of a context, returned by [`TracesetContext::state`]: to bring it to a
/// position, and to keep it in checkpoints.
///
/// ```
/// use lttv_context::{Bounds, CheckpointPolicy, Traceset, TracesetContext};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// context.state().set_policy(CheckpointPolicy::every(1000));
/// let half = context.contexts().time_span().expect("events").start.saturating_add(300_000_000);
/// assert!(context.state().seek_time(half) > 0);
/// assert!(context.is_state_current() && context.checkpoints().len() > 1);
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug)]
pub struct ContextState<'c, 'h> {
    context: &'c mut TracesetContext<'h>,
}

impl<'h> TracesetContext<'h> {
    /// Returns the state of extensions, to seek with it and to change checkpoints.
    pub fn state(&mut self) -> ContextState<'_, 'h> {
        ContextState { context: self }
    }

    /// Returns `true` if the state of extensions is that of the current position. This holds while
    /// events are read in order, and no longer after seeking.
    pub fn is_state_current(&self) -> bool {
        self.state.is_current()
    }

    /// Returns the checkpoints so far.
    pub fn checkpoints(&self) -> &Checkpoints {
        self.state.checkpoints()
    }

    pub(super) fn checkpoint_here(&mut self) -> Checkpoint {
        Checkpoint::new(self.position(), self.extensions().save())
    }

    /// Counts events that were read, and saves a checkpoint if one is due.
    pub(super) fn count_read_events(&mut self, events: u64) {
        if self.state.count(events) {
            self.state().save_checkpoint();
        }
    }

    /// Returns the memory limit of checkpoints, in bytes.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn checkpoint_memory(&self) -> usize {
        self.state.policy().memory
    }

    /// Sets the checkpoints to some that are known to fit this context.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn replace_checkpoints(&mut self, checkpoints: Checkpoints) {
        self.state.set_checkpoints(checkpoints);
    }

    fn check_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), CheckpointMismatch> {
        self.check_position(checkpoint.position())?;
        self.state.check(checkpoint.states())
    }

    fn go_to_checkpoint(&mut self, checkpoint: Option<Checkpoint>) {
        let Some(checkpoint) = checkpoint else {
            self.seek_time(Timestamp::MIN);
            return;
        };
        let states = checkpoint.states();
        if self.state.check(states).is_err() || self.seek_position(checkpoint.position()).is_err() {
            self.seek_time(Timestamp::MIN);
            return;
        }
        self.state.restore(states);
    }
}

impl ContextState<'_, '_> {
    /// Seeks a time and computes the state of extensions there: restores the nearest checkpoint and
    /// replays the events since. Returns the number of replayed events.
    pub fn seek_time(&mut self, time: Timestamp) -> u64 {
        self.seek_checkpoint(time);
        self.catch_up(&Bounds::all().until_start_of(time))
    }

    /// Seeks the last checkpoint before a time, or the start if there is none, and restores the
    /// state of extensions there. [Replaying](Self::replay) from there to the time brings the state
    /// to that time.
    pub fn seek_checkpoint(&mut self, time: Timestamp) {
        let nearest = self.context.checkpoints().nearest(time).cloned();
        self.context.go_to_checkpoint(nearest);
    }

    /// Computes the state of extensions at the current position, after seeking: restores the nearest
    /// checkpoint and replays the events since. Returns the number of replayed events: 0 if the state
    /// was current.
    pub fn update(&mut self) -> u64 {
        if self.context.is_state_current() {
            return 0;
        }
        let position = self.context.position();
        let nearest = self.context.checkpoints().nearest_position(&position).cloned();
        self.context.go_to_checkpoint(nearest);
        self.catch_up(&Bounds::all().until_position(&position))
    }

    /// Reads events from the current position on, but calls only the hooks of extensions: this
    /// brings their state forward in pieces as large as the caller wants.
    ///
    /// No event is skipped. An end time stops the read at the place to which seeking it leads, as
    /// [`until_start_of`](Bounds::until_start_of) does.
    ///
    /// # Errors
    ///
    /// Returns [`StalePosition`] if the end position belongs to another traceset. Nothing is read
    /// then.
    pub fn replay(&mut self, bounds: &Bounds) -> Result<ReadEnd, StalePosition> {
        self.context.replay(bounds)
    }

    /// Replays events, and continues when a hook of an extension stops the read. Returns the number
    /// of replayed events.
    fn catch_up(&mut self, bounds: &Bounds) -> u64 {
        let mut events = 0;
        while let Ok(ReadEnd { events: more, reason, .. }) = self.replay(bounds) {
            events += more;
            if reason != EndReason::Stopped {
                break;
            }
        }
        events
    }

    /// Sets the policy by which checkpoints are saved from now on, while events are read in order.
    /// Existing checkpoints are subject to the same memory limit.
    pub fn set_policy(&mut self, policy: CheckpointPolicy) {
        self.context.state.set_policy(policy);
    }

    /// Adds a checkpoint at the current position. Returns `false` if the state of extensions is not
    /// that of the position.
    pub fn save_checkpoint(&mut self) -> bool {
        let checkpoint = self.checkpoint();
        let is_current = checkpoint.is_some();
        checkpoint.into_iter().for_each(|checkpoint| self.context.state.keep(checkpoint));
        is_current
    }

    /// Creates a checkpoint at the current position and returns it to the caller instead of keeping
    /// it. Returns `None` if the state of extensions is not that of the position.
    pub fn checkpoint(&mut self) -> Option<Checkpoint> {
        self.context.is_state_current().then(|| self.context.checkpoint_here())
    }

    /// Seeks a checkpoint of this context or of one with the same extensions, and restores its
    /// state.
    ///
    /// # Errors
    ///
    /// Returns [`CheckpointMismatch`] if the checkpoint belongs to another traceset, or if its
    /// extensions differ from those attached here in type, in
    /// [identity](crate::Extension::identity) or in order. Nothing changes then.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), CheckpointMismatch> {
        self.context.check_checkpoint(checkpoint)?;
        self.context.go_to_checkpoint(Some(checkpoint.clone()));
        Ok(())
    }

    /// Sets the checkpoints to those of another context of the same traceset, with the same
    /// extensions. Some are removed if they exceed the [memory limit](CheckpointPolicy::memory) of this
    /// context.
    ///
    /// # Errors
    ///
    /// Returns [`CheckpointMismatch`] if one of them does not fit this context, under the
    /// conditions of [`restore`](Self::restore). The previous checkpoints stay then.
    pub fn set_checkpoints(&mut self, checkpoints: Checkpoints) -> Result<(), CheckpointMismatch> {
        checkpoints.iter().try_for_each(|checkpoint| self.context.check_checkpoint(checkpoint))?;
        self.context.state.set_checkpoints(checkpoints);
        Ok(())
    }

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
    #[cfg(feature = "checkpoint-files")]
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
    #[cfg(feature = "checkpoint-files")]
    pub fn store_checkpoints(&self, path: impl AsRef<Path>) -> Result<(), CheckpointFileError> {
        self.context.store_checkpoints(path.as_ref())
    }

    /// Converts the state of extensions at the current position to bytes, for
    /// [`restore_bytes`](Self::restore_bytes). Returns `None` if the state is [not
    /// current](TracesetContext::is_state_current), or if an extension has no [`Codec`](crate::Codec).
    ///
    /// Unlike a checkpoint, the bytes contain no position, so the caller has to remember the time.
    /// In return they remain valid when the traces have grown and positions have changed.
    #[cfg(feature = "checkpoint-files")]
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
    #[cfg(feature = "checkpoint-files")]
    pub fn restore_bytes(&mut self, bytes: &[u8], time: Timestamp) -> bool {
        self.context.restore_state(bytes, time)
    }
}
