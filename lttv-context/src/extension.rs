//! Extensions: the state that analyses add to a context and that every hook can access.

use std::any::{Any, type_name};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use crate::checkpoint::CheckpointMismatch;
use crate::commands::Commands;
use crate::contexts::Contexts;

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
///     tids: Vec<u64>,
/// }
///
/// impl Extension for Running {
///     type Checkpoint = Vec<u64>;
///
///     fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
///         setup.extensions[handle].tids = vec![0; setup.contexts.tracefiles().len()];
///         let switches = Subscription::to("sched_switch").fields(["next_tid"]);
///         setup.hooks.on_event(switches.priority(Priority::STATE), move |call| {
///             let tid = call.integer(0).unwrap_or(0);
///             call.extensions[handle].tids[call.tracefile.number()] = tid;
///         });
///     }
///
///     fn reset(&mut self) {
///         self.tids.fill(0);
///     }
///
///     fn save(&self) -> Vec<u64> {
///         self.tids.clone()
///     }
///
///     fn restore(&mut self, saved: &Vec<u64>) {
///         self.tids.clone_from(saved);
///     }
/// }
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let running = context.attach(Running::default());
/// context.read(&Bounds::all().events(1000))?;
/// assert!(context.extensions()[running].tids.iter().any(|tid| *tid > 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Extension: Sized + 'static {
    /// The saved state of the extension. Dozens of checkpoints may be kept, so parts that seldom
    /// change are best shared by [`Arc`].
    type Checkpoint: Send + Sync + 'static;

    /// Adds the hooks of the extension, and prepares it for the traces of the context. Hooks access
    /// the extension through the handle.
    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>);

    /// Sets the state to that before the first event.
    fn reset(&mut self);

    /// Returns a copy of the current state, between two events.
    fn save(&self) -> Self::Checkpoint;

    /// Sets the state to a saved one.
    fn restore(&mut self, checkpoint: &Self::Checkpoint);

    /// Computes the number of bytes of memory that a checkpoint occupies, without those that it
    /// shares with the previous one, `before`. The [memory limit](crate::CheckpointPolicy::memory) uses this
    /// number.
    ///
    /// The default is the size of the type, without any memory that it points to.
    fn checkpoint_bytes(checkpoint: &Self::Checkpoint, before: Option<&Self::Checkpoint>) -> usize {
        let (_, _) = (checkpoint, before);
        size_of::<Self::Checkpoint>()
    }

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

/// The identity of the checkpoints of an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExtensionIdentity {
    /// The name of the extension.
    pub name: &'static str,
    /// A version that increases whenever different states are saved from the same trace.
    pub version: u32,
    /// A hash of the options, or any number that identifies them.
    pub options: u64,
}

impl fmt::Display for ExtensionIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (version {}, options {:x})", self.name, self.version, self.options)
    }
}

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

/// The argument of [`Extension::install`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Setup<'a, 'h> {
    /// All traces and tracefiles of the traceset.
    pub contexts: &'a Contexts,
    /// The extensions attached so far. The new extension is the last of them.
    pub extensions: &'a mut Extensions,
    /// The hooks for events to add. They stay as long as the context exists, and are also called
    /// when events are replayed to compute the state.
    pub hooks: &'a mut Commands<'h>,
}

/// A handle of an extension or of data attached to a context. It is valid only in that context.
pub struct Handle<T> {
    index: usize,
    of: PhantomData<fn() -> T>,
}

/// The extensions and data attached to a context.
///
/// Indexing with a [`Handle`] of another context may panic. [`get`](Self::get) does not panic.
#[derive(Default)]
pub struct Extensions {
    cells: Vec<Cell>,
}

/// A saved state of an extension.
pub(crate) type Saved = Arc<dyn SavedState>;

/// Operations on saved states of all types.
pub(crate) trait SavedState: Any + Send + Sync {
    /// Returns the identity of the extension, or `None` for plain data.
    fn identity(&self) -> Option<ExtensionIdentity>;

    /// Returns the number of bytes of memory that the state occupies, without those that it shares
    /// with `before`.
    fn bytes(&self, before: Option<&Saved>) -> usize;
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

/// A placeholder for plain data, which is not saved.
struct NoState;

impl SavedState for NoState {
    fn identity(&self) -> Option<ExtensionIdentity> {
        None
    }

    fn bytes(&self, _: Option<&Saved>) -> usize {
        0
    }
}

fn saved_of<E: Extension>(saved: &Saved) -> Option<&E::Checkpoint> {
    let saved: &dyn Any = &**saved;
    Some(&saved.downcast_ref::<StateOf<E>>()?.saved)
}

/// A [`Codec`] of an extension of any type.
#[cfg_attr(not(feature = "checkpoint-files"), allow(dead_code))]
pub(crate) struct AnyCodec {
    pub(crate) name: &'static str,
    pub(crate) version: u32,
    pub(crate) options: u64,
    pub(crate) write: Box<WriteAny>,
    pub(crate) read: Box<ReadAny>,
}

type WriteAny = dyn Fn(&Saved, Option<&Saved>, &mut Vec<u8>);
type ReadAny = dyn Fn(&dyn Any, &[u8], Option<&Saved>) -> Option<Saved>;

impl AnyCodec {
    fn of<E: Extension>(value: &dyn Any) -> Option<AnyCodec> {
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
}

struct Cell {
    value: Box<dyn Any>,
    type_name: &'static str,
    /// `true` for an extension, `false` for plain data.
    keeps_state: bool,
    reset: fn(&mut dyn Any),
    identity: fn(&dyn Any) -> Option<ExtensionIdentity>,
    needs_earlier_state: fn(&dyn Any) -> bool,
    save: fn(&dyn Any) -> Saved,
    /// Returns `true` if a state belongs to an extension of this type.
    matches: fn(&Saved) -> bool,
    restore: fn(&mut dyn Any, &Saved),
    #[cfg_attr(not(feature = "checkpoint-files"), allow(dead_code))]
    codec: fn(&dyn Any) -> Option<AnyCodec>,
}

impl Extensions {
    /// Returns the extension or data of a handle. Returns `None` if the handle belongs to another
    /// context and refers to nothing of this type here.
    #[inline]
    pub fn get<T: 'static>(&self, handle: Handle<T>) -> Option<&T> {
        self.cells.get(handle.index)?.value.downcast_ref()
    }

    /// Returns the extension or data of a handle mutably. Returns `None` if the handle belongs to
    /// another context and refers to nothing of this type here.
    #[inline]
    pub fn get_mut<T: 'static>(&mut self, handle: Handle<T>) -> Option<&mut T> {
        self.cells.get_mut(handle.index)?.value.downcast_mut()
    }

    /// Returns two extensions or data mutably at the same time. Returns `None` if they are the
    /// same, or if [`get_mut`](Self::get_mut) returns `None` for one of the handles.
    #[inline]
    pub fn both_mut<T: 'static, U: 'static>(
        &mut self,
        first: Handle<T>,
        second: Handle<U>,
    ) -> Option<(&mut T, &mut U)> {
        // This is called for each event, and cheaper than `get_disjoint_mut`.
        let (first, second) = if first.index < second.index {
            let (before, from) = self.cells.split_at_mut_checked(second.index)?;
            (before.get_mut(first.index)?, from.first_mut()?)
        } else if first.index > second.index {
            let (before, from) = self.cells.split_at_mut_checked(first.index)?;
            (from.first_mut()?, before.get_mut(second.index)?)
        } else {
            return None;
        };
        Some((first.value.downcast_mut()?, second.value.downcast_mut()?))
    }

    /// Finds the first extension or data of a type and returns its handle.
    pub fn find<T: 'static>(&self) -> Option<Handle<T>> {
        self.cells.iter().position(|cell| cell.value.is::<T>()).map(Handle::new)
    }

    /// Returns `true` if at least one extension is attached, and not only plain data.
    pub fn keep_state(&self) -> bool {
        self.cells.iter().any(|cell| cell.keeps_state)
    }

    /// Returns the number of extensions and data.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns `true` if neither extensions nor data are attached.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    pub(crate) fn add<E: Extension>(&mut self, extension: E) -> Handle<E> {
        self.push(Cell {
            value: Box::new(extension),
            type_name: type_name::<E>(),
            keeps_state: true,
            reset: |value| {
                if let Some(extension) = value.downcast_mut::<E>() {
                    extension.reset();
                }
            },
            identity: |value| value.downcast_ref::<E>().map(E::identity),
            needs_earlier_state: |value| {
                value.downcast_ref::<E>().is_some_and(E::needs_earlier_state)
            },
            save: |value| match value.downcast_ref::<E>() {
                Some(extension) => {
                    let (identity, saved) = (extension.identity(), extension.save());
                    Arc::new(StateOf::<E> { identity, saved })
                }
                None => Arc::new(NoState),
            },
            matches: |saved| saved_of::<E>(saved).is_some(),
            restore: |value, saved| {
                if let (Some(extension), Some(saved)) =
                    (value.downcast_mut::<E>(), saved_of::<E>(saved))
                {
                    extension.restore(saved);
                }
            },
            codec: AnyCodec::of::<E>,
        })
    }

    pub(crate) fn add_plain<T: 'static>(&mut self, value: T) -> Handle<T> {
        self.push(Cell {
            value: Box::new(value),
            type_name: type_name::<T>(),
            keeps_state: false,
            reset: |_| {},
            identity: |_| None,
            needs_earlier_state: |_| false,
            save: |_| Arc::new(NoState),
            matches: |_| true,
            restore: |_, _| {},
            codec: |_| None,
        })
    }

    /// Iterates over the extensions: index, type name, and codec if there is one.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn codecs(&self) -> impl Iterator<Item = (usize, &'static str, Option<AnyCodec>)> {
        let cells = self.cells.iter().enumerate().filter(|(_, cell)| cell.keeps_state);
        cells.map(|(at, cell)| (at, cell.type_name, (cell.codec)(&*cell.value)))
    }

    /// Decodes the state of the extension at index `at` with its codec.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn read_state(
        &self,
        at: usize,
        codec: &AnyCodec,
        bytes: &[u8],
        before: Option<&Saved>,
    ) -> Option<Saved> {
        (codec.read)(&*self.cells.get(at)?.value, bytes, before)
    }

    /// Creates a list of states that contains a placeholder for each extension or data.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn no_states(&self) -> Vec<Saved> {
        let nothing: Saved = Arc::new(NoState);
        vec![nothing; self.cells.len()]
    }

    fn push<T>(&mut self, cell: Cell) -> Handle<T> {
        self.cells.push(cell);
        Handle::new(self.cells.len() - 1)
    }

    pub(crate) fn reset(&mut self) {
        self.cells.iter_mut().for_each(|cell| (cell.reset)(&mut *cell.value));
    }

    pub(crate) fn save(&self) -> Vec<Saved> {
        self.cells.iter().map(|cell| (cell.save)(&*cell.value)).collect()
    }

    /// Checks that saved states fit what is attached, index by index. Placeholders for plain data
    /// fit any plain data, and are optional at the end.
    ///
    /// # Errors
    ///
    /// Returns [`CheckpointMismatch::Extension`] for the first index where a state does not fit.
    pub(crate) fn check(&self, saved: &[Saved]) -> Result<(), CheckpointMismatch> {
        for place in 0..self.cells.len().max(saved.len()) {
            let (cell, state) = (self.cells.get(place), saved.get(place));
            let attached = cell.and_then(|cell| (cell.identity)(&*cell.value));
            let found = state.and_then(|state| state.identity());
            // Different types may have the same name.
            let matches = cell.zip(state).is_none_or(|(cell, state)| (cell.matches)(state));
            if found != attached || attached.is_some() && !matches {
                return Err(CheckpointMismatch::Extension { place, found, attached });
            }
        }
        Ok(())
    }

    /// Returns the type names of the extensions whose state depends on earlier events.
    pub(crate) fn needing_earlier_state(&self) -> Vec<&'static str> {
        let cells = self.cells.iter().filter(|cell| (cell.needs_earlier_state)(&*cell.value));
        cells.map(|cell| cell.type_name).collect()
    }

    pub(crate) fn restore(&mut self, saved: &[Saved]) {
        for (cell, saved) in self.cells.iter_mut().zip(saved) {
            (cell.restore)(&mut *cell.value, saved);
        }
    }
}

impl<T: 'static> Index<Handle<T>> for Extensions {
    type Output = T;

    #[inline]
    fn index(&self, handle: Handle<T>) -> &T {
        self.get(handle).expect("the handle belongs to another context")
    }
}

impl<T: 'static> IndexMut<Handle<T>> for Extensions {
    #[inline]
    fn index_mut(&mut self, handle: Handle<T>) -> &mut T {
        self.get_mut(handle).expect("the handle belongs to another context")
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.cells.iter().map(|cell| cell.type_name)).finish()
    }
}

impl<T> Handle<T> {
    fn new(index: usize) -> Self {
        Handle { index, of: PhantomData }
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle<{}>({})", type_name::<T>(), self.index)
    }
}
