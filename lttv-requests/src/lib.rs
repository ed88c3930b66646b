//! A scheduler that serves many viewers of one traceset. Each viewer requests the events
//! of an interval, and a [`Scheduler`] reads each stretch of the traceset once for all
//! requests that cover it, a chunk at a time, so that the application stays responsive.
//!
//! The crate has no threads, no timers and no user interface. All work happens in
//! [`Scheduler::service_chunk`], which an application calls when it has time.
//!
//! # Requesting events
//!
//! An [`EventsRequest`] contains the interval, the conditions on events, and the hooks to
//! call. In this example a list requests ten events urgently while a histogram goes
//! through the whole traceset:
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
//! let end = context.contexts().time_span().expect("some events").end;
//! let mut scheduler = Scheduler::new(context);
//!
//! let (histogram, table) = (Owner::unique(), Owner::unique());
//! scheduler.submit(
//!     EventsRequest::new(histogram).on_every_event(|_, _| events.set(events.get() + 1)),
//! )?;
//! scheduler.service_chunk(Budget::time(Duration::from_millis(2)).and_events(1000));
//!
//! // The user clicks.
//! let ten = scheduler.submit(
//!     EventsRequest::new(table)
//!         .urgency(Urgency::HIGH)
//!         .starting_at(end - Duration::from_millis(1))
//!         .max_events(10)
//!         .on_event("sched_*", |call, _| list.borrow_mut().push(call.event_time())),
//! )?;
//! let chunk = scheduler.service_chunk(Budget::events(1000));
//! assert_eq!(chunk.finished[0].request, ten);
//! assert!(events.get() > 0); // interrupted meanwhile; continues where it was
//!
//! while scheduler.service_chunk(Budget::events(1000)).has_more() {
//!     // Draw a frame, handle input.
//! }
//! for error in scheduler.context().merge().errors() {
//!     eprintln!("{error:?}"); // The trace is damaged.
//! }
//! assert_eq!(events.get(), 6087);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Viewer`] is a model that implements what is done before, at and after the events. The
//! scheduler owns it ([`Scheduler::submit_viewer`]), so that nothing has to be shared with hooks. Hooks
//! that are closures, as above, suit what has no model, several kinds of events, the levels of traces and
//! tracefiles, and models that outlive their requests, such as those of the module `views`.
//!
//! Requests do not affect each other: each receives the same events in the same order as
//! if it were the only one, each event once. Its hooks before and after are called in
//! pairs, however it ends.
//!
//! # Filters
//!
//! A filter that was compiled from an expression knows much in advance: times, tracefiles
//! and types of events that cannot pass. While all running requests have such filters, or
//! are restricted to a trace, the scheduler reads only what one of them wants: with
//! `event.time >= …`, reading starts there. This changes neither the events that requests
//! receive nor the order in which they do. Nothing is left out while an extension keeps
//! state, since it needs all events: an application with state should serve requests that
//! need none by a scheduler of their own. See [`EventFilter::selection`].
//!
//! # State
//!
//! Extensions of the scheduler's context are kept up to date: at each event, hooks find
//! the state of that event. When reading continues elsewhere, the scheduler restores the
//! nearest saved state (a checkpoint, or the state at which a request was interrupted)
//! and replays events from there. Replaying counts as work: it is done in chunks as well,
//! and [`ChunkReport::replay`] reports its progress.
//!
//! One state is kept for each position at which requests wait, unlike in LTTV, which was
//! designed for a single one. In a test with random interruptions
//! (`benches/responsiveness.rs`, half a million events), 1.04 million events were
//! replayed to restore state with one state per position, 1.34 million with a single
//! state, and 28 million without any.
//!
//! # In the background
//!
//! A [`Background`] runs computations over the whole traceset while no request is
//! pending: checkpoints for fast seeking, statistics, or any other analysis that the
//! application registers. Viewers can show partial results at any time, and are notified
//! when a computation is complete. Schedulers of one traceset, such as those of several
//! tabs, [share](Background#several-schedulers) one background.
//!
//! # Driving the scheduler
//!
//! An application calls [`Scheduler::service_chunk`] from a loop that draws frames, from
//! a thread that receives requests through a channel, or from a task. The examples
//! `embed_requests`, `embed_thread` and `embed_async` implement one frontend in these
//! three ways. A scheduler stays in its thread; tracesets, times and positions can be
//! sent to other threads.
//!
//! # Features
//!
//! None is enabled by default.
//!
//! * `views`: models of viewers that any user interface can draw, in the module `views`.
//! * `state`: filters by kernel state and, with `views`, charts of it, based on
//!   `lttv-state`.
//! * `synchronize`: with `views` and `state`, the messages between the processes of several hosts.
//! * `async`: futures and streams for any executor, in the module `task`.
//! * `testing`: tools for tests of programs that serve requests, in the module `testing`.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]
#![forbid(unsafe_code)]

/// The README, whose code must compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

#[cfg(feature = "state")]
pub use lttv_state;
pub use {ltt_read, lttv_context, lttv_filter, lttv_hooks};

mod budget;
mod chunk;
mod identity;
mod request;
mod resume;
mod scheduler;
#[cfg(feature = "async")]
pub mod task;
#[cfg(feature = "testing")]
pub mod testing;
mod viewer;
#[cfg(feature = "views")]
pub mod views;

pub use budget::Budget;
pub use chunk::{
    ChunkReport, FinishReason, Finished, Notification, NotificationOutcome, Replay, Status,
};
pub use identity::{ComputationId, Owner, RequestId};
pub use request::control::Control;
pub use request::request_filter::EventFilter;
pub use request::request_hooks::HookPlace;
pub use request::request_start::Start;
pub use request::{EventsRequest, SubmitError, Urgency};
pub use scheduler::background::{Background, ComputationProgress, Condition};
pub use scheduler::{Pending, Scheduler};
pub use viewer::{Viewer, ViewerHandle};
