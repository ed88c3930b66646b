//! What a system was doing, at every instant.
//!
//! * [`tree`]: attributes, named by paths such as `CPUs/0/Status`, each with a
//!   small dense number, its [`Quark`](tree::Quark); patterns such as
//!   `CPUs/*/Status` find many at once.
//! * [`history`]: what values the attributes had, and when. States go into a
//!   [`Builder`](history::Builder) as they change, and come out of a
//!   [`History`](history::History), kept in memory or in a file, in any order
//!   of time.
//! * [`value`]: the values themselves.
//!
//! These three know nothing of traces, and are all there is with default
//! features off: any program that has states can store them. Three more
//! follow the kernel through its traces:
//!
//! * [`kernel`]: what a system was doing, rebuilt from the events of its trace.
//! * [`kernel_history`]: all of that in a history, to be asked in any order.
//! * [`stats`]: where its time went.
//!
//! ```
//! use lttv_state::history::Builder;
//! use lttv_state::value::Value;
//!
//! let mut builder = Builder::in_memory(0);
//! let door = builder.add("house/door")?;
//! builder.set(door, 100, "open")?;
//! builder.set(door, 250, "closed")?;
//! let history = builder.close(1_000)?;
//!
//! let state = history.at(door, 180)?;
//! assert_eq!((state.start, state.end, state.value), (100, 249, Value::Str("open")));
//! # Ok::<(), lttv_state::history::Error>(())
//! ```
//!
//! # Features
//!
//! * `kernel` (default): what needs traces.
//! * `filter`: the state as `state.` fields of filters.
//! * `checkpoint-files`: checkpoints of the kernel state can be
//!   [stored](lttv_context::TracesetContext::store_checkpoints) in files.
#![deny(missing_docs, unsafe_code)]

/// The code in the README, which has to compile.
#[cfg(all(doctest, feature = "kernel"))]
#[doc = include_str!("../README.md")]
pub struct Readme;

#[cfg(feature = "filter")]
pub mod filter;
pub mod history;
#[cfg(feature = "kernel")]
pub mod kernel;
#[cfg(feature = "kernel")]
pub mod kernel_history;
#[cfg(feature = "kernel")]
pub mod stats;
pub mod tree;
pub mod value;
