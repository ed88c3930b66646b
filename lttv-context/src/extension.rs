//! What analyses add to a context: their state, reached by every hook.

use std::any::{Any, type_name};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use crate::checkpoint::CheckpointMismatch;
use crate::commands::Commands;
use crate::contexts::Contexts;

/// An analysis that keeps state while events go by.
///
/// Attached to a context, it installs its hooks there. It can save its state to
/// be restored later, so that seeking need not read everything again. Anything that
/// has to be known for each trace or tracefile goes into an array by
/// [`TraceContext::index`](crate::TraceContext::index) or
/// [`TracefileContext::number`](crate::TracefileContext::number).
///
/// ```
/// use lttv_context::{Bounds, Extension, Handle, Setup, Subscription, TracesetContext, Traceset};
/// use ltt_read::Timestamp;
/// use lttv_hooks::Priority;
///
/// /// Who runs on each CPU.
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
/// context.middle(&Bounds::all().events(1000))?;
/// assert!(context.extensions()[running].tids.iter().any(|tid| *tid > 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Extension: Sized + 'static {
    /// What is saved of it. Checkpoints are kept by the dozen: parts that seldom
    /// change are best shared by [`Arc`].
    type Checkpoint: Send + Sync + 'static;

    /// Installs its hooks, and prepares it for the traces at hand. Hooks reach it
    /// through the handle.
    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>);

    /// Makes it what it was before the first event.
    fn reset(&mut self);

    /// What it is now, between two events.
    fn save(&self) -> Self::Checkpoint;

    /// Makes it what it was when that was saved.
    fn restore(&mut self, checkpoint: &Self::Checkpoint);

    /// How many bytes of memory a checkpoint keeps, but for what it shares with the
    /// one `before` it: for the bound on [their memory](crate::Saving::memory).
    ///
    /// Unless told otherwise, what it points to is not counted.
    fn checkpoint_bytes(checkpoint: &Self::Checkpoint, before: Option<&Self::Checkpoint>) -> usize {
        let (_, _) = (checkpoint, before);
        size_of::<Self::Checkpoint>()
    }

    /// How its checkpoints are stored in files; `None` if they are not, as unless
    /// told otherwise.
    fn codec(&self) -> Option<Codec<Self>> {
        None
    }

    /// What tells its checkpoints from those of other extensions: only those of the same
    /// type and the same identity are restored.
    ///
    /// By default it is the name, version and options of its [`codec`](Self::codec); or
    /// the name of its type, version 0, without a codec. An extension whose state depends
    /// on options, and that has no codec, puts them in here.
    fn identity(&self) -> Identity {
        let of_type = || Identity { name: type_name::<Self>(), version: 0, options: 0 };
        self.codec().map_or_else(of_type, |codec| Identity {
            name: codec.name,
            version: codec.version,
            options: codec.options,
        })
    }

    /// Whether its state depends on the events before the place at which reading starts.
    ///
    /// A [`Slice`](crate::Slice) of time that does not start with the first event is only
    /// read with such extensions if their state was brought there. An extension that may
    /// start anywhere, such as one that counts and whose counts are added up afterwards,
    /// returns false.
    fn needs_earlier_state(&self) -> bool {
        true
    }
}

/// What tells the checkpoints of an extension from those of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The name of the extension.
    pub name: &'static str,
    /// Grows whenever other states are saved from the same trace.
    pub version: u32,
    /// A hash of its options, or any number that tells them apart.
    pub options: u64,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (version {}, options {:x})", self.name, self.version, self.options)
    }
}

/// How checkpoints of an extension are stored in files.
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
    /// Which extension it is, for files.
    pub name: &'static str,
    /// Grows whenever other bytes are written, or other states are saved from the
    /// same trace. Files of another version are refused: they can be made anew.
    pub version: u32,
    /// A hash of its options, or any number that tells them apart. Files of others
    /// are refused.
    pub options: u64,
    /// Appends a checkpoint to bytes: all of it, or what is other than in the one
    /// `before` it in the file.
    pub write: fn(&E::Checkpoint, Option<&E::Checkpoint>, &mut Vec<u8>),
    /// Makes a checkpoint from such bytes, which may be hostile: `None` if they are
    /// not what such an extension writes. The one before it in the file is what the
    /// other was written after; what is the same is best shared with it.
    #[expect(clippy::type_complexity)] // a name for it would not be shorter
    pub read: fn(&E, &[u8], Option<&E::Checkpoint>) -> Option<E::Checkpoint>,
}

impl<E: Extension> fmt::Debug for Codec<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Codec({:?}, version {})", self.name, self.version)
    }
}

/// What an extension is given to install itself.
#[derive(Debug)]
#[non_exhaustive]
pub struct Setup<'a, 'h> {
    /// All traces and tracefiles.
    pub contexts: &'a Contexts,
    /// The extensions that are there already, itself the last.
    pub extensions: &'a mut Extensions,
    /// Where to add its hooks for events. They stay as long as the context, and
    /// are called too when state is brought up to date.
    pub hooks: &'a mut Commands<'h>,
}

/// Leads to something attached to a context: valid there only.
pub struct Handle<T> {
    index: usize,
    of: PhantomData<fn() -> T>,
}

/// All that is attached to a context.
///
/// Indexing with a [`Handle`] panics if that is of another context; use
/// [`get`](Self::get) where that could be.
#[derive(Default)]
pub struct Extensions {
    cells: Vec<Cell>,
}

/// The state of an extension, saved.
pub(crate) type Saved = Arc<dyn SavedState>;

/// What checkpoints of all extensions can do.
pub(crate) trait SavedState: Any + Send + Sync {
    /// Which extension it is of; `None` for plain data.
    fn identity(&self) -> Option<Identity>;

    /// Bytes of memory that it keeps, but for what it shares with another.
    fn bytes(&self, before: Option<&Saved>) -> usize;
}

/// A checkpoint of an extension.
struct Of<E: Extension> {
    identity: Identity,
    saved: E::Checkpoint,
}

impl<E: Extension> SavedState for Of<E> {
    fn identity(&self) -> Option<Identity> {
        Some(self.identity)
    }

    fn bytes(&self, before: Option<&Saved>) -> usize {
        E::checkpoint_bytes(&self.saved, before.and_then(saved_of::<E>))
    }
}

/// In the place of plain data, which is not saved.
struct Nothing;

impl SavedState for Nothing {
    fn identity(&self) -> Option<Identity> {
        None
    }

    fn bytes(&self, _: Option<&Saved>) -> usize {
        0
    }
}

fn saved_of<E: Extension>(saved: &Saved) -> Option<&E::Checkpoint> {
    let saved: &dyn Any = &**saved;
    Some(&saved.downcast_ref::<Of<E>>()?.saved)
}

/// A [`Codec`] of any extension.
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
                Some(Arc::new(Of::<E> { identity: extension.identity(), saved }))
            }),
        })
    }
}

struct Cell {
    value: Box<dyn Any>,
    type_name: &'static str,
    /// Whether it is an extension, not plain data.
    keeps_state: bool,
    reset: fn(&mut dyn Any),
    identity: fn(&dyn Any) -> Option<Identity>,
    needs_earlier_state: fn(&dyn Any) -> bool,
    save: fn(&dyn Any) -> Saved,
    /// Whether a state is that of an extension of this type.
    is_of: fn(&Saved) -> bool,
    restore: fn(&mut dyn Any, &Saved),
    #[cfg_attr(not(feature = "checkpoint-files"), allow(dead_code))]
    codec: fn(&dyn Any) -> Option<AnyCodec>,
}

impl Extensions {
    /// What a handle leads to; `None` if that is of another context.
    #[inline]
    pub fn get<T: 'static>(&self, handle: Handle<T>) -> Option<&T> {
        self.cells.get(handle.index)?.value.downcast_ref()
    }

    /// What a handle leads to, to be changed.
    #[inline]
    pub fn get_mut<T: 'static>(&mut self, handle: Handle<T>) -> Option<&mut T> {
        self.cells.get_mut(handle.index)?.value.downcast_mut()
    }

    /// Two at once; `None` if they are the same.
    #[inline]
    pub fn both_mut<T: 'static, U: 'static>(
        &mut self,
        first: Handle<T>,
        second: Handle<U>,
    ) -> Option<(&mut T, &mut U)> {
        // Cheaper than `get_disjoint_mut`, and this is done for each event.
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

    /// The handle of the first of a type.
    pub fn find<T: 'static>(&self) -> Option<Handle<T>> {
        self.cells.iter().position(|cell| cell.value.is::<T>()).map(Handle::new)
    }

    /// Whether any of them keeps state, and is not plain data only.
    pub fn keep_state(&self) -> bool {
        self.cells.iter().any(|cell| cell.keeps_state)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are none.
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
                    Arc::new(Of::<E> { identity, saved })
                }
                None => Arc::new(Nothing),
            },
            is_of: |saved| saved_of::<E>(saved).is_some(),
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
            save: |_| Arc::new(Nothing),
            is_of: |_| true,
            restore: |_, _| {},
            codec: |_| None,
        })
    }

    /// The places of all that keep state, with how that is stored in files.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn codecs(&self) -> impl Iterator<Item = (usize, &'static str, Option<AnyCodec>)> {
        let cells = self.cells.iter().enumerate().filter(|(_, cell)| cell.keeps_state);
        cells.map(|(at, cell)| (at, cell.type_name, (cell.codec)(&*cell.value)))
    }

    /// A state that was stored by the codec of an extension.
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

    /// As many states as there are places, of nothing.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn no_states(&self) -> Vec<Saved> {
        let nothing: Saved = Arc::new(Nothing);
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

    /// Whether states saved are those of what is attached, place by place. Plain data,
    /// and how much there is of it at the end, does not matter.
    ///
    /// # Errors
    ///
    /// [`CheckpointMismatch::Extension`] for the first place where they are not.
    pub(crate) fn check(&self, saved: &[Saved]) -> Result<(), CheckpointMismatch> {
        for place in 0..self.cells.len().max(saved.len()) {
            let (cell, state) = (self.cells.get(place), saved.get(place));
            let attached = cell.and_then(|cell| (cell.identity)(&*cell.value));
            let found = state.and_then(|state| state.identity());
            // Types of one name may differ all the same.
            let is_of = cell.zip(state).is_none_or(|(cell, state)| (cell.is_of)(state));
            if found != attached || attached.is_some() && !is_of {
                return Err(CheckpointMismatch::Extension { place, found, attached });
            }
        }
        Ok(())
    }

    /// The names of the types of those whose state depends on earlier events.
    pub(crate) fn in_need_of_state(&self) -> Vec<&'static str> {
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
        self.get(handle).expect("a handle of this context")
    }
}

impl<T: 'static> IndexMut<Handle<T>> for Extensions {
    #[inline]
    fn index_mut(&mut self, handle: Handle<T>) -> &mut T {
        self.get_mut(handle).expect("a handle of this context")
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
