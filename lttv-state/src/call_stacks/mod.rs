//! Call stacks: the number and the times of the calls of each function and call path.
//!
//! [`CallStackState`] follows the stack of each thread through the events of instrumented functions
//! (`lttng_ust_cyg_profile` and `lttng_ust_cyg_profile_fast`), of functions of the kernel (`function_graph` of ftrace),
//! and through named [pairs](EventPair) of
//! other events; or through the sections that programs [mark](CallRules::of_markers). [`CallStacks`] collects figures per function and per call path, and
//! [`FlameGraph`](crate::flame_graph::FlameGraph) puts the paths of threads together.
//!
//! ```
//! use lttv_context::{Bounds, TracesetContext, Traceset};
//! use lttv_state::call_stacks::{CallRules, CallStackState, CallStacks, EventPair};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let traceset = Traceset::open(path)?;
//! let pairs = [EventPair::of_events("softirq", "irq_softirq_entry", "irq_softirq_exit")?];
//! let rules = CallRules::with_pairs(&pairs, traceset.traces())?;
//! let mut context = TracesetContext::new(&traceset);
//! let stacks = context.attach(CallStackState::new(rules));
//! let calls = CallStacks::attach(&mut context, stacks);
//! assert_eq!(context.read(&Bounds::all())?.errors, 0);
//!
//! let calls = calls.take(context.extensions());
//! for function in calls.traces()[0].function_figures() {
//!     println!("{} calls, {} ns", function.calls.count(), function.total_time);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rules
//!
//! * There is one stack for each process and thread (the contexts `vpid` and `vtid`, else `pid` and
//!   `tid`). [`TraceCalls::missing`] tells what a trace lacks.
//! * An exit from a function that has others on top of it ends these as well. An exit from a
//!   function that is not on the stack, or at an empty stack, is ignored. [`CallAnomalies`] counts
//!   both.
//! * The self time of a path is the time between two events of its thread during which the path is
//!   the whole stack. What follows the last event of a thread is unknown, unless the
//!   [window](CallStacks::attach_window) has an end.
//! * Only calls that have ended have durations. The others are in [`ThreadCalls::open`].
//! * Memory is bounded: see the limits in [`CallAnomalies`].

mod actions;
mod binaries;
mod calls;
mod chart;
mod collector;
mod functions;
mod handle;
mod join;
mod missing;
mod parallel;
mod part;
mod paths;
mod rules;
mod saved;
mod state;
mod thread;
mod tracker;

pub use actions::{declares_calls, declares_markers};
pub use binaries::Binary;
pub use calls::{CallPath, CallStacks, FunctionFigures, ThreadCalls, TraceCalls};
pub use chart::ChartSpan;
pub use collector::{CallAnomalies, PathFigures};
pub(crate) use functions::RawCode;
pub use functions::{CallTarget, Function, FunctionId, SectionId};
pub use handle::CallStacksHandle;
pub use missing::{ENTRIES, EXITS, PROCESSES, THREADS};
pub use parallel::{ComputedCallStacks, call_stacks};
pub use paths::PathId;
pub(crate) use paths::Paths;
pub use rules::{CallRules, EventPair, PairId};
pub use state::{CallStackState, OpenCall, TraceCallState};
pub(crate) use thread::IdentityFields;
pub use thread::{ThreadId, ThreadKey};
