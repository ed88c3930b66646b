//! Models that any user interface can draw, filled by requests (feature `views`).
//!
//! A model contains the data that a viewer shows: rows of a table, segments of a chart,
//! counts of a histogram. It creates the requests that fill it, and its hooks store their
//! results in it. The application submits the requests, and can draw the model at any
//! time, even while it is being filled. Models do not draw, do not block, and do not
//! depend on a toolkit: colours, texts and menus are those of the application.
//!
//! | model | content |
//! |---|---|
//! | [`Histogram`] | events per column of a time window |
//! | [`EventTable`] | a page of events, scrolled by events or by time |
//! | [`EventTimes`] | the times of all events, packed |
//! | [`Timeline`] | rows of segments, down to a given resolution |
#![cfg_attr(
    feature = "state",
    doc = "| [`ControlFlow`] | the states of each process, in a [`Timeline`] |"
)]
#![cfg_attr(
    feature = "state",
    doc = "| [`CpuThreads`] | the thread on each CPU, in a [`Timeline`] |"
)]
#![cfg_attr(
    feature = "state",
    doc = "| [`Resources`] | the states of CPUs, interrupts and devices, in a [`Timeline`] |"
)]
#![cfg_attr(
    all(feature = "state", feature = "synchronize"),
    doc = "| [`HostMessages`] | the messages between the processes of several hosts |"
)]
//! | [`SharedView`] | the selection that viewers of one traceset share: the time window, the current time and position, and the filter |
//!
//! ```
//! use lttv_context::{Traceset, TracesetContext};
//! use lttv_requests::views::{Histogram, SharedView};
//! use lttv_requests::{Budget, Owner, Scheduler};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let context = TracesetContext::new(Traceset::open(path)?);
//! let (traceset, span) = (context.traceset().revision(), context.contexts().time_span());
//! let mut view: SharedView<String> = SharedView::new(traceset, span);
//! let mut scheduler = Scheduler::new(context);
//! let (owner, viewer) = (Owner::unique(), view.add_viewer());
//! let histogram = Histogram::new(view.window(), 80);
//!
//! view.fit(None); // show the whole traceset
//! if view.take_changes(viewer).window.is_some() {
//!     scheduler.cancel_owner(owner);
//!     histogram.show(view.window());
//!     for missing in histogram.missing() {
//!         scheduler.submit(histogram.request(owner, missing))?;
//!     }
//! }
//! while scheduler.service_chunk(Budget::default()).has_more() {}
//! assert_eq!(histogram.counts().iter().sum::<u64>(), 6087);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Stopping and continuing
//!
//! A user may stop long requests and continue them later.
//! [`Scheduler::cancel_owner`](crate::Scheduler::cancel_owner) stops those of a viewer, and
//! [`Scheduler::stop_all`](crate::Scheduler::stop_all) all of them. What models have received
//! stays. To continue, the application requests what is missing: charts and [`Histogram`]
//! tell it by `missing`, and [`EventTable`] by [`EventTable::resume`].
//!
//! # Adding a trace to an open view
//!
//! Traces are added and removed by a new traceset. The application replaces the context of
//! its scheduler, tells the shared view, and compiles filters again. Requests that have
//! started end; viewers then request their content in the new traceset. A position of an
//! event is [translated](lttv_context::TracesetPosition::in_traceset):
//!
//! ```
//! use lttv_context::{Traceset, TracesetContext};
//! use lttv_filter::{Expression, Filters};
//! use lttv_requests::views::{EventTable, Histogram, SharedView};
//! use lttv_requests::{Budget, Owner, Scheduler, Start};
//!
//! # let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces");
//! let traceset = Traceset::open(format!("{traces}/kernel"))?;
//! let mut view: SharedView<String> = SharedView::new(
//!     traceset.revision(),
//!     TracesetContext::new(&traceset).contexts().time_span(),
//! );
//! let owner = Owner::unique();
//! let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
//! let (viewer, histogram) = (view.add_viewer(), Histogram::new(view.window(), 80));
//! let table = EventTable::new(owner, 20, |call| call.event.event_type().name().to_owned());
//! scheduler.submit(table.show(Start::Begin))?;
//! while scheduler.service_chunk(Budget::default()).has_more() {}
//! view.set_position(&table.rows()[5].position, Some(viewer))?;
//!
//! // The user opens another trace.
//! let mut grown = traceset.clone();
//! for trace in Traceset::open(format!("{traces}/ust"))?.traces() {
//!     grown.add(trace.clone());
//! }
//! let position = view.position().and_then(|at| at.in_traceset(&traceset, &grown));
//! let context = TracesetContext::new(&grown); // attach the same extensions here
//! view.set_traceset(grown.revision(), context.contexts().time_span());
//! scheduler.replace_context(context);
//! if let Some(position) = &position {
//!     view.set_position(position, None)?;
//! }
//!
//! // Each viewer requests its content again.
//! if view.take_changes(viewer).traceset {
//!     let filter = Expression::parse("tracefile.cpu >= 0")?;
//!     table.set_filter(Filters::new(&filter, grown.traces())?);
//!     scheduler.submit(table.show(position.map_or(Start::Time(view.time()), Start::from)))?;
//!     histogram.show(view.window());
//!     histogram.clear();
//!     for missing in histogram.missing() {
//!         scheduler.submit(histogram.request(owner, missing))?;
//!     }
//! }
//! while scheduler.service_chunk(Budget::default()).has_more() {}
//! assert_eq!(table.find(view.position().expect("it was set")), Some(0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "state")]
mod chart;
#[cfg(feature = "state")]
mod control_flow;
#[cfg(feature = "state")]
mod cpu_threads;
mod event_table;
mod event_times;
mod histogram;
#[cfg(all(feature = "state", feature = "synchronize"))]
mod host_messages;
#[cfg(feature = "state")]
mod resources;
mod row;
mod shared_view;
mod time_window;
mod timeline;

#[cfg(feature = "state")]
pub use chart::{KernelChart, KernelKey};
#[cfg(feature = "state")]
pub use control_flow::{ControlFlow, ProcessKey, ProcessLabel, ProcessState};
#[cfg(feature = "state")]
pub use cpu_threads::{CpuKey, CpuThread, CpuThreads};
pub use event_table::{EventTable, TableRow};
pub use event_times::EventTimes;
pub use histogram::Histogram;
#[cfg(all(feature = "state", feature = "synchronize"))]
pub use host_messages::{HostMessage, HostMessageEnd, HostMessages};
#[cfg(feature = "state")]
pub use resources::{Resource, ResourceKey, ResourceState, Resources, SoftirqMode};
pub use row::{Row, Segment, SegmentState};
pub use shared_view::{Changes, SharedView, ViewerId};
pub use time_window::TimeWindow;
pub use timeline::Timeline;
