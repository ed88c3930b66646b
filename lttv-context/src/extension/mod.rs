//! Extensions: the analyses that a context keeps the state of.

mod codec;
mod growth;
mod object;
mod setup;

use std::any::type_name;

use ltt_read::Timestamp;

use crate::state::{ExtensionIdentity, Handle};

pub use codec::Codec;
pub use growth::Growth;
pub(crate) use growth::{AnyGrowth, Fixed};
pub use setup::Setup;

/// An analysis that keeps state while events are read.
///
/// An extension installs its hooks when it is attached to a context. It can save its state and
/// restore it later, so that seeking does not have to read everything again. Data for each
/// trace or tracefile belongs in arrays indexed by
/// [`TraceContext::index`](crate::TraceContext::index) or
/// [`TracefileContext::number`](crate::TracefileContext::number).
///
/// ```
/// use lttv_context::{Bounds, Extension, Handle, Setup, Subscription, TracesetContext, Traceset};
/// use ltt_read::Timestamp;
/// use lttv_hooks::Priority;
///
/// /// The thread that runs on each CPU.
/// #[derive(Default)]
/// struct Running {
///     tids: Vec<i64>,
/// }
///
/// impl Extension for Running {
///     type Checkpoint = Vec<i64>;
///
///     fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
///         setup.extensions[handle].tids = vec![0; setup.contexts.tracefiles().len()];
///         let switches = Subscription::to("sched_switch").fields(["next_tid"]);
///         setup.hooks.on_event(switches.priority(Priority::STATE), move |call| {
///             let tid = call.signed(0).unwrap_or(0);
///             call.extensions[handle].tids[call.tracefile.number().0] = tid;
///         });
///     }
///
///     fn reset(&mut self) {
///         self.tids.fill(0);
///     }
///
///     fn save(&self) -> Vec<i64> {
///         self.tids.clone()
///     }
///
///     fn restore(&mut self, saved: &Vec<i64>) {
///         self.tids.clone_from(saved);
///     }
///
///     fn checkpoint_bytes(saved: &Vec<i64>, _: Option<&Vec<i64>>) -> usize {
///         size_of_val(saved) + size_of_val(saved.as_slice())
///     }
/// }
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let running = context.attach(Running::default());
/// assert_eq!(context.read(&Bounds::all().events(1000))?.errors, 0);
/// assert!(context.extensions()[running].tids.iter().any(|tid| *tid > 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Extension: Sized + 'static {
    /// The saved state of the extension. Dozens of checkpoints may be kept, so parts that seldom
    /// change are best shared by [`Arc`](std::sync::Arc).
    type Checkpoint: Send + Sync + 'static;

    /// Adds the hooks of the extension, and prepares it for the traces of the context. Hooks access
    /// the extension through the handle.
    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>);

    /// Returns the function that prepares the extension for what the traces of its context have got
    /// since it was installed, or since the last call: event types, tracefiles and traces, which
    /// follow those known before. Hooks by name find new event types by themselves.
    ///
    /// Checkpoints of less are restored as well: what they do not contain is in its initial state.
    ///
    /// The default is `None`: a context with the extension [refuses](crate::GrowthError) to grow.
    fn growth(&self) -> Option<Growth<Self>> {
        None
    }

    /// Sets the state to that before the first event.
    fn reset(&mut self);

    /// Brings the state to a time after that of its last event, and not after that of the next one: called at the end
    /// of [`ContextState::seek_time`](crate::ContextState::seek_time). The default does nothing: only events change
    /// the state.
    fn reach(&mut self, time: Timestamp) {
        let _ = time;
    }

    /// Returns a copy of the current state, between two events.
    fn save(&self) -> Self::Checkpoint;

    /// Sets the state to a saved one.
    fn restore(&mut self, checkpoint: &Self::Checkpoint);

    /// Computes the number of bytes of memory that a checkpoint occupies, without those that it
    /// shares with the previous one, `before`. The [memory limit](crate::CheckpointPolicy::memory) uses this
    /// number.
    fn checkpoint_bytes(checkpoint: &Self::Checkpoint, before: Option<&Self::Checkpoint>) -> usize;

    /// Returns the codec that stores checkpoints in files. The default is `None`: checkpoints of
    /// the extension cannot be stored.
    fn codec(&self) -> Option<Codec<Self>> {
        None
    }

    /// Returns the identity that distinguishes checkpoints of this extension from those of others.
    /// Only checkpoints of the same type and the same identity are restored.
    ///
    /// The default contains the name, version and options of the [`codec`](Self::codec). Without a
    /// codec it contains the name of the type and version 0. An extension that has no codec and
    /// whose state depends on options has to include them here.
    fn identity(&self) -> ExtensionIdentity {
        let of_type = || ExtensionIdentity { name: type_name::<Self>(), version: 0, options: 0 };
        self.codec().map_or_else(of_type, |codec| ExtensionIdentity {
            name: codec.name,
            version: codec.version,
            options: codec.options,
        })
    }

    /// Returns `true` if the state depends on the events before the position at which reading
    /// starts.
    ///
    /// A [`TimeSlice`](crate::TimeSlice) that does not start with the first event is read with such an
    /// extension only if its state was computed for the start of the slice. The default is `true`.
    /// An extension that may start anywhere, such as one that counts and whose counts are added up
    /// afterwards, returns `false`.
    fn needs_earlier_state(&self) -> bool {
        true
    }
}
