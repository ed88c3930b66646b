//! The state of a system over time: attributes, a history of their values, and the state of
//! a Linux kernel rebuilt from its trace.
//!
//! * [`tree`]: attributes, named by paths such as `CPUs/0/Status`, each with a small dense
//!   number, its [`Quark`](tree::Quark). Patterns such as `CPUs/*/Status` match several
//!   attributes at once.
//! * [`history`]: the value of each attribute over time. A [`Builder`](history::Builder)
//!   stores states as they change, an [`IntervalBuilder`](history::IntervalBuilder) intervals
//!   in any order; a [`History`](history::History), in memory or in a file, returns the states
//!   for any time.
//! * [`value`]: the values of attributes.
//!
//! These three modules read no traces and are available with default features off: any
//! program that has states can store them. More modules follow the kernel through
//! its traces:
//!
//! * [`kernel`]: the state of a machine, rebuilt from the events of its kernel trace, and the
//!   [events that analyses need](kernel::needs).
//! * [`analysis`]: analyses of that state, and the way to run them on any number of threads.
//! * [`durations`]: summaries of durations.
//! * [`kernel_history`]: all kernel states of a trace in a history, for queries at any
//!   time.
//! * [`stats`]: the CPU time and the number of events of each process, CPU and mode.
//!
//! The feature `analyses` adds these:
//!
//! * `spans`: single system calls, runs on CPUs, waits, interrupts and requests to disks.
//! * `latency`: how long threads wait for CPUs, and system calls, interrupts and requests to disks take.
//! * `waits`: the states of threads over time, what they waited for, and critical paths.
//! * `counters`: numeric fields of events over time.
//! * `usage`: the use of CPUs, memory and network over time.
//!
//! and these, which follow programs and need no kernel trace:
//!
//! * `call_stacks`: the number and the times of the calls of each function and call path;
//! * `stack_samples`: the stacks of samples, events and waits, added up;
//! * `flame_graph`: calls or samples of several threads put together by the names of functions;
//! * `heap`: the memory that programs allocate, and by which calls;
//! * `symbols`: the names of functions, from state dumps and binaries.
//!
//! ```
//! use lttv_state::history::{Builder, Timestamp};
//! use lttv_state::value::StateValue;
//!
//! let ns = Timestamp::from_ns;
//! let mut builder = Builder::in_memory(ns(0));
//! let door = builder.add("house/door")?;
//! builder.set(door, ns(100), "open")?;
//! builder.set(door, ns(250), "closed")?;
//! let history = builder.close(ns(1_000))?;
//!
//! let state = history.at(door, ns(180))?;
//! assert_eq!((state.start, state.end, state.value), (ns(100), ns(250), StateValue::Str("open")));
//! # Ok::<(), lttv_state::history::HistoryError>(())
//! ```
//!
//! # Features
//!
//! * `kernel` (default): the modules that read traces.
//! * `analyses`: the modules `spans`, `latency`, `waits`, `counters`, `usage`, `call_stacks`, `stack_samples`, `flame_graph` and `heap`.
//! * `filter`: kernel states as `state.` fields of filter expressions.
//! * `checkpoint-files`: checkpoints of kernel states in files, see
//!   [`ContextState::store_checkpoints`](lttv_context::ContextState::store_checkpoints).
//! * `symbols`: the names of functions, from binaries.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]
#![forbid(unsafe_code)]

/// The example in the README, compiled as a documentation test.
#[cfg(all(doctest, feature = "kernel"))]
#[doc = include_str!("../README.md")]
pub struct Readme;

pub use ltt_read;
#[cfg(feature = "kernel")]
pub use lttv_context;
#[cfg(feature = "filter")]
pub use lttv_filter;
#[cfg(feature = "kernel")]
pub use lttv_hooks;

#[cfg(feature = "kernel")]
pub mod analysis;
#[cfg(feature = "analyses")]
pub mod call_stacks;
#[cfg(feature = "analyses")]
pub mod counters;
#[cfg(feature = "kernel")]
pub mod durations;
#[cfg(feature = "kernel")]
mod fast_hash;
#[cfg(feature = "filter")]
pub mod filter;
#[cfg(feature = "analyses")]
pub mod flame_graph;
#[cfg(feature = "analyses")]
pub mod heap;
pub mod history;
#[cfg(feature = "kernel")]
pub mod kernel;
#[cfg(feature = "kernel")]
pub mod kernel_history;
#[cfg(feature = "kernel")]
mod last_event;
#[cfg(feature = "analyses")]
pub mod latency;
#[cfg(feature = "analyses")]
pub mod spans;
#[cfg(feature = "analyses")]
pub mod stack_samples;
#[cfg(feature = "kernel")]
pub mod stats;
#[cfg(feature = "symbols")]
pub mod symbols;
pub mod tree;
#[cfg(feature = "analyses")]
pub mod usage;
pub mod value;
#[cfg(feature = "analyses")]
pub mod waits;
