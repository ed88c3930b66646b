//! What analyses add to a context: their state, reached by every hook.

use std::any::{Any, type_name};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

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
pub(crate) type Saved = Arc<dyn Any + Send + Sync>;

struct Cell {
    value: Box<dyn Any>,
    type_name: &'static str,
    /// Whether it is an extension, not plain data.
    keeps_state: bool,
    reset: fn(&mut dyn Any),
    save: fn(&dyn Any) -> Saved,
    restore: fn(&mut dyn Any, &Saved),
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
            save: |value| match value.downcast_ref::<E>() {
                Some(extension) => Arc::new(extension.save()),
                None => Arc::new(()),
            },
            restore: |value, saved| {
                if let (Some(extension), Some(saved)) =
                    (value.downcast_mut::<E>(), saved.downcast_ref())
                {
                    extension.restore(saved);
                }
            },
        })
    }

    pub(crate) fn add_plain<T: 'static>(&mut self, value: T) -> Handle<T> {
        self.push(Cell {
            value: Box::new(value),
            type_name: type_name::<T>(),
            keeps_state: false,
            reset: |_| {},
            save: |_| Arc::new(()),
            restore: |_, _| {},
        })
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

    /// Whether states saved may be those of what is attached: plain data behind it
    /// does not matter.
    pub(crate) fn fits(&self, saved: &[Saved]) -> bool {
        self.cells.get(saved.len()..).is_some_and(|rest| rest.iter().all(|cell| !cell.keeps_state))
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
