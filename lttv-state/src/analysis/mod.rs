//! Analyses of the kernel state, and the way to run them.
//!
//! A [`KernelAnalysis`] is told each event that changes the [state](crate::kernel). [`read`] reads a
//! traceset, or a time window of it, on any number of threads: the result does not depend on their
//! number. [`attach`] adds an analysis to a context, beside other hooks. A pair of analyses is an
//! analysis of one read.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use lttv_context::Traceset;
//! use lttv_state::analysis::{End, KernelAnalysis, Window, read};
//! use lttv_state::kernel::{KernelState, StateChange};
//!
//! /// The number of system calls and interrupts that ended, by name.
//! struct Endings;
//!
//! impl KernelAnalysis for Endings {
//!     type State = BTreeMap<String, u64>;
//!     type Slice = ();
//!     type Part = ();
//!     type Output = BTreeMap<String, u64>;
//!
//!     fn begin(&self, _: &KernelState, _: Window) -> (Self::State, ()) {
//!         Default::default()
//!     }
//!
//!     fn changed(&self, all: &mut Self::State, (): &mut (), kernel: &KernelState, of: StateChange) {
//!         let Some(state) = kernel.trace(of.trace) else { return };
//!         if let Some(ended) = state.effect().ended() {
//!             *all.entry(state.name(ended.submode).to_owned()).or_default() += 1;
//!         }
//!     }
//!
//!     fn finish(&self, all: Self::State, (): (), _: End<'_>) -> Self::Output {
//!         all
//!     }
//! }
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let found = read(&Traceset::open(path)?).threads(2).run(Endings);
//! assert_eq!(found.events, 6087);
//! assert!(found.output.len() > 10);
//! # Ok::<(), ltt_read::Error>(())
//! ```
//!
//! # Stages
//!
//! The calling thread reads the events and [records](KernelAnalysis::record) what the state and the
//! analysis need of them, slice by slice. The state follows the slices in order, on whichever thread
//! is free, and [tells](KernelAnalysis::changed) the analysis each change. What the analysis writes
//! down in the slice meanwhile is [added](KernelAnalysis::add) by any thread. No event is read or
//! followed twice.
//!
//! # Windows
//!
//! The events before a window only change the state. [`begin`](KernelAnalysis::begin) gets the state
//! at the start of the window, and [`finish`](KernelAnalysis::finish) that at its end. An analysis
//! with a state of its own that needs the events before the window says so by
//! [`keeps_state`](KernelAnalysis::keeps_state).

mod attached;
mod kernel_analysis;
mod pair;
mod read;
mod slices;
mod window;

pub(crate) use attached::{AFTER_STATE, BEFORE_STATE};
pub use attached::{Attached, attach};
pub use kernel_analysis::{End, EventsOfSlice, KernelAnalysis, KernelOfContext};
pub use read::{Analyzed, Read, read};
#[cfg(test)]
pub(crate) use slices::check;
pub use window::Window;
