//! The heap of programs: live bytes over time, peaks, sizes, and blocks that are not freed.
//!
//! [`HeapState`] follows the blocks of each process through the events of `lttng_ust_libc`
//! (`malloc`, `calloc`, `realloc`, `memalign`, `posix_memalign` and `free`); [`Heap`] collects figures.
//! With the events of instrumented functions, blocks belong to the
//! [call path](crate::call_stacks::PathId) that allocated them.
//!
//! ```
//! use lttv_context::{Bounds, TracesetContext, Traceset};
//! use lttv_state::call_stacks::{CallRules, CallStackState};
//! use lttv_state::heap::{Heap, HeapState};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/ust");
//! let mut context = TracesetContext::new(Traceset::open(path)?);
//! let stacks = context.attach(CallStackState::new(CallRules::default()));
//! let state = context.attach(HeapState::new(stacks));
//! let heap = Heap::attach(&mut context, state);
//! assert_eq!(context.read(&Bounds::all())?.errors, 0);
//!
//! for trace in heap.take(context.extensions()).traces() {
//!     for process in trace.processes() {
//!         println!("{:?}: {} bytes live", process.process, process.live_bytes);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rules
//!
//! * A block is known by its process and address. Without the context `vpid` in a trace of several
//!   processes their blocks mix: see [`PROCESSES`].
//! * `realloc` frees its block if it returns another one, or the same, or if the size is 0. If it
//!   fails, the block stays. An allocation that returns no block counts as failed.
//! * Freeing an unknown block (of before the trace, or twice) and allocating over a live one (whose
//!   `free` was lost) are counted.
//! * The figures need all events in order, so they are collected on one thread: parts of a trace
//!   cannot be added.

mod curve;
mod events;
mod figures;
mod handle;
mod missing;
mod state;

pub use curve::CurvePoint;
pub use events::declares_blocks;
pub use figures::{Heap, LiveBlock, ProcessHeap, SiteHeap, SizeClass, TraceHeap};
pub use handle::HeapHandle;
pub use missing::{ALLOCATIONS, FREES, PROCESSES};
pub use state::HeapState;
