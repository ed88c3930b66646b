//! Serves many viewers of one traceset: each asks for the events of an interval,
//! and a [`Scheduler`] reads each stretch once for all who want it, a little at a
//! time, so that the application stays responsive.
//!
//! It has no threads, no timers, no user interface: all that is done is done in
//! [`Scheduler::service_chunk`], which an application calls when it has time.
//!
//! # Asking for events
//!
//! An [`EventsRequest`] says which events somebody wants, and what to call for
//! them. Here a list wants ten events, as soon as possible, while a histogram goes
//! through everything:
//!
//! ```
//! use std::cell::{Cell, RefCell};
//! use std::time::Duration;
//! use lttv_context::{Traceset, TracesetContext};
//! use lttv_requests::{Budget, EventsRequest, FinishReason, Owner, Scheduler, Urgency};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let (events, list) = (Cell::new(0), RefCell::new(Vec::new()));
//! let context = TracesetContext::new(Traceset::open(path)?);
//! let middle = context.contexts().time_span().expect("some events").end;
//! let mut scheduler = Scheduler::new(context);
//!
//! let (histogram, table) = (Owner::fresh(), Owner::fresh());
//! scheduler.submit(
//!     EventsRequest::new(histogram).on_every_event(|_, _| events.set(events.get() + 1)),
//! )?;
//! scheduler.service_chunk(Budget::time(Duration::from_millis(2)).and_events(1000));
//!
//! // The user has clicked.
//! let ten = scheduler.submit(
//!     EventsRequest::new(table)
//!         .urgency(Urgency::HIGH)
//!         .from(ltt_read::Timestamp::from_ns(middle.ns() - 1_000_000))
//!         .events(10)
//!         .on_event("sched_*", |call, _| list.borrow_mut().push(call.time())),
//! )?;
//! let chunk = scheduler.service_chunk(Budget::events(1000));
//! assert_eq!(chunk.finished[0].request, ten);
//! assert!(events.get() > 0); // has waited meanwhile, and goes on where it was
//!
//! while scheduler.service_chunk(Budget::events(1000)).has_more() {
//!     // Draw a frame, look for input.
//! }
//! assert_eq!(events.get(), 6087);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What a request gets does not depend on others: the same events in the same order
//! as if it were alone, each once, with its hooks before and after called in pairs
//! however it ends.
//!
//! # State
//!
//! Extensions of the scheduler's context are kept up to date: at each event, hooks
//! find the state that goes with it. When reading goes on elsewhere, the
//! scheduler restores what is nearest, a checkpoint or the state saved where a
//! request was interrupted, and replays from there. Replaying counts as work: it is
//! done in chunks, too, and [`Chunk::replay`] tells how far it is.
//!
//! A state is kept for each place where requests wait, not one for all as LTTV meant
//! to: in a test with random interruptions (`benches/responsiveness.rs`, half a
//! million events) 1.04 million events were read again to bring state to where
//! requests were; with a single state 1.34 million, without any 28 million.
//!
//! # In the background
//!
//! A [`Background`] computes over the whole traceset, while nobody waits for
//! anything else: states for quick seeking, statistics, whatever an application
//! registers. Viewers look at what there is so far, and are told when it is done.
//!
//! # Viewers
//!
//! A [`Tab`] is what viewers of one traceset have in common: the time window, the
//! current time and position, the filter. [`views`] has models that any user
//! interface can draw: an event table, a histogram, and charts of what processes
//! and CPUs did.
//!
//! ```
//! use lttv_context::{Traceset, TracesetContext};
//! use lttv_requests::views::Histogram;
//! use lttv_requests::{Budget, Owner, Scheduler, Tab};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let context = TracesetContext::new(Traceset::open(path)?);
//! let (traceset, span) = (context.traceset().generation(), context.contexts().time_span());
//! let mut tab: Tab<String> = Tab::new(traceset, span);
//! let mut scheduler = Scheduler::new(context);
//! let (owner, viewer) = (Owner::fresh(), tab.add_viewer());
//! let histogram = Histogram::new(tab.window(), 80);
//!
//! tab.fit(None); // somebody wants to see everything
//! if tab.take_changes(viewer).window.is_some() {
//!     scheduler.cancel_owner(owner);
//!     histogram.show(tab.window());
//!     for missing in histogram.missing() {
//!         scheduler.submit(histogram.request(owner, missing))?;
//!     }
//! }
//! while scheduler.service_chunk(Budget::default()).has_more() {}
//! assert_eq!(histogram.counts().iter().sum::<u64>(), 6087);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Who calls `service_chunk`
//!
//! A loop that draws frames; a thread that gets requests by a channel; a task. The
//! examples `embed_requests`, `embed_thread` and `embed_async` are the same
//! frontend in these three ways. A scheduler stays in its thread; tracesets, times
//! and positions may go anywhere.
//!
//! # Features
//!
//! * `state`: charts of kernel state, and filters that ask it, by `lttv-state`.
//! * `async`: futures and streams, whatever executes them: see `task`.
//! * `testing`: for tests of programs that serve requests: see `testing`.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

/// The code in the README, which has to compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

mod background;
mod budget;
mod chunk;
mod control;
mod cut;
mod error;
mod filter;
mod finish;
mod gate;
mod identity;
mod request;
mod resume;
mod scheduler;
mod served;
mod service;
mod start;
mod tab;
#[cfg(feature = "async")]
pub mod task;
#[cfg(feature = "testing")]
pub mod testing;
mod urgency;
pub mod views;
mod waiting;
mod window;

pub use background::{Background, ModuleId, Reached, Stage, When};
pub use budget::Budget;
pub use chunk::{Chunk, Replay, Status};
pub use control::Control;
pub use error::SubmitError;
pub use filter::EventFilter;
pub use finish::{FinishReason, Finished};
pub use identity::{Owner, RequestId};
pub use request::EventsRequest;
pub use scheduler::{Pending, Scheduler};
pub use start::Start;
pub use tab::{Changes, Tab, ViewerId};
pub use urgency::Urgency;
pub use window::TimeWindow;
