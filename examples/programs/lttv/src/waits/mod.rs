//! The activities of threads over time: when they ran, when and in what they waited, and the
//! wake-ups that ended their waits.
//!
//! [`Lives`] follow the kernel state of a trace, also in a time window: a wait that is open at
//! its start counts from there, one that is open at its end up to there. Sums of consecutive
//! windows therefore add up to those of the whole.
//!
//! ```
//! use lttv_context::{Bounds, Traceset, TracesetContext};
//! use lttv::waits::{Lives, Sums};
//! use lttv_state::kernel::KernelState;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
//! let mut context = TracesetContext::new(Traceset::open(path)?);
//! let kernel = context.attach(KernelState::new());
//! let all = Lives::of_all(&context.extensions()[kernel], None);
//! let lives = context.attach_data(all);
//! context.on_event("*", move |call| Lives::record(call, lives, kernel));
//! assert_eq!(context.read(&Bounds::all())?.errors, 0);
//!
//! let end = context.contexts().time_span().expect("events with times").end;
//! let lives = &mut context.extensions_mut()[lives][0];
//! lives.finish(end);
//! for life in lives.threads() {
//!     println!("{:?} was blocked {} ns", life.tid(), Sums::of(life).blocked);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod agreement;
mod cause;
mod chain;
mod episodes;
mod labels;
mod lives;
mod sums;

pub use cause::{Cause, Waker};
pub use chain::{Step, chain};
pub use episodes::{Episode, ThreadLife};
pub use labels::Labels;
pub use lives::Lives;
pub use sums::{Details, Sums, Times, WaitKey, longest_first};
