//! Requests in asynchronous code, for any executor (feature `async`).
//!
//! One task drives the scheduler by polling the stream that [`AsyncScheduler::serve`]
//! returns. Any number of other tasks of this thread read [`EventStream`]s. All other
//! tasks can run between two chunks.
//!
//! ```
//! use futures_lite::{StreamExt, future};
//! use lttv_context::{Traceset, TracesetContext};
//! use lttv_requests::task::AsyncScheduler;
//! use lttv_requests::{Budget, EventsRequest, FinishReason, Owner, Scheduler};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let scheduler = Scheduler::new(TracesetContext::new(Traceset::open(path)?));
//! let scheduler = AsyncScheduler::new(scheduler);
//! let request = EventsRequest::new(Owner::unique()).max_events(100);
//! let mut times = scheduler.events(request, |call| Some(call.event_time()))?;
//!
//! let viewer = async {
//!     let mut seen = Vec::new();
//!     while let Some(time) = times.next().await {
//!         seen.push(time);
//!     }
//!     (seen.len(), times.reason())
//! };
//! let driver = async {
//!     let mut chunks = scheduler.serve(Budget::events(10));
//!     while let Some(chunk) = chunks.next().await {
//!         assert!(chunk.read <= 10);
//!     }
//!     unreachable!("the scheduler is not closed")
//! };
//! let seen = future::block_on(future::or(viewer, driver));
//! assert_eq!(seen, (100, Some(FinishReason::EventCount)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod events;
mod serve;

pub use events::EventStream;
pub use serve::AsyncScheduler;
