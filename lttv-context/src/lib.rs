//! Contexts for tracesets, traces and tracefiles: the events of many traces in one order,
//! delivered to hooks between exact bounds.
//!
//! A [`TracesetContext`] reads a [`Traceset`] and keeps a current position in it. Functions are
//! added for events by name, and called in order of priority:
//!
//! ```
//! use lttv_context::{Bounds, Traceset, TracesetContext};
//! use ltt_read::Timestamp;
//! use std::ops::ControlFlow;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! # let (from, to) = (1_795_233_416_300_000_000, 1_795_233_416_400_000_000);
//! let traceset = Traceset::open(path)?;
//! let (mut opened, mut switches) = (0, 0);
//! let mut context = TracesetContext::new(&traceset);
//! context.on_event("syscall_entry_open*", |_| opened += 1);
//! context.on_event("sched_switch", |_| {
//!     switches += 1;
//!     // Stop after 1000 switches.
//!     if switches == 1000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
//! });
//! context.seek_time(Timestamp::from_ns(from));
//! let read = context.read(&Bounds::all().until(Timestamp::from_ns(to)))?;
//! println!("{} events, then {:?}", read.events, read.reason);
//! # assert!(read.events > 0);
//! context.finish()?; // an error if a trace is damaged
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Overview
//!
//! | task | items |
//! |---|---|
//! | choose events by name, channel, provider, fields | [`Subscription`] |
//! | call hooks only for events that pass a filter | [`set_filter`](TracesetContext::set_filter) |
//! | access an event, its fields, its place, and shared data | [`EventCall`] |
//! | add and remove hooks from within hooks | [`Commands`] |
//! | run code before and after a read | [`HookSet`], [`begin_read`](TracesetContext::begin_read), [`end_read`](TracesetContext::end_read) |
//! | limit a read | [`Bounds`], with [`ReadEnd`] as the result |
//! | see whether traces are damaged | [`ReadEnd::errors`], [`take_errors`](TracesetContext::take_errors) |
//! | return to a position | [`TracesetPosition`] |
//! | seek a time | [`seek_time`](TracesetContext::seek_time) |
//! | keep state that is right after every seek | [`Extension`], [`Checkpoints`] |
//! | use all processors | [`ParallelReader`] |
//! | detect traces that have changed or grown | [`Fingerprint`], [`Traceset::complete_before`] |
//!
//! Typed values in a named tree, [`attributes`], are independent of traces.
//!
//! # Features
//!
//! None is on by default.
//!
//! | feature | adds |
//! |---|---|
//! | `checkpoint-files` | storing and loading checkpoints and the state of extensions, for instance to continue when a trace has grown |
//! | `framework` | modules, their options, and batch runs, from which programs are built (module `framework`) |
//! | `live` | live sessions of LTTng's relay daemon, as a source of a [`Recording`] |
//! | `synchronize` | relating the clocks of several hosts by the messages between them (module `synchronize`) |
//!
//! # Contexts
//!
//! A [`TracesetContext`] contains a [`TraceContext`] for each trace and a [`TracefileContext`] for
//! each tracefile ([`Contexts`]). Each level has attributes, typed values in a named tree, to which
//! analyses add their results: [`Traceset::attributes`], [`TraceContext::attributes`],
//! [`TracefileContext::attributes`].
//!
//! Where LTTV derived subtypes of contexts to add its state, there are trait objects: an
//! [`Extension`] of any type is attached to a context, which keeps it as an object of an object-safe
//! trait, and is accessed by a typed [`Handle`].
//!
//! # Order
//!
//! Events are ordered by timestamp. Events of the same time are ordered by trace, by tracefile
//! (sorted by channel and CPU) and by place in the tracefile. Events without a time come before
//! all others. If the clock of a tracefile goes back, events stay in file order: the events
//! after that have the *time of delivery* from which the clock went back. Bounds, positions and
//! seeks all use this order, so a traceset can be read in any number of pieces with the same
//! result.
//!
//! # Threads
//!
//! A context, its hooks and its extensions stay in one thread and need not be [`Send`].
//! Tracesets, positions and checkpoints may be sent to other threads. A background thread
//! therefore creates its own context, and all contexts share the traces.
//!
//! # Cost
//!
//! An event without hooks costs a test of one bit in addition to reading it, or a table lookup
//! where hooks are for many types: the loop that merges events skips it. For other events, a
//! list prepared in advance is walked, with one indirect call for each hook. Nothing is
//! allocated.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]
#![forbid(unsafe_code)]

/// The code in the README, which has to compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

pub use {ltt_read, lttv_hooks};

pub mod attributes;
#[cfg(feature = "framework")]
pub mod framework;
#[cfg(feature = "synchronize")]
pub mod synchronize;
#[cfg(feature = "testing")]
pub mod testing;

mod bounds;
#[cfg(feature = "checkpoint-files")]
mod checkpoint_file;
mod context;
mod extension;
mod fingerprint;
mod hooks;
mod parallel;
mod recording;
mod state;
mod traceset;

pub use bounds::{Bounds, EndReason, ReadEnd};
#[cfg(feature = "checkpoint-files")]
pub use checkpoint_file::{CheckpointFileError, CheckpointFileFault};
pub use context::{
    ContextState, GrowthError, IncrementalSeek, ReadError, ReadId, Scheduling, TracesetContext,
};
pub use extension::{Codec, Extension, Growth, Setup};
pub use fingerprint::Fingerprint;
pub use hooks::{
    Commands, EventCall, HookError, HookSet, IntoOutcome, Level, ReadCall, Scope, Subscription,
    Unmatched,
};
pub use ltt_read::TimeSpan;
pub use parallel::{
    Joining, MAX_THREADS, MissingState, ParallelReader, ParallelResult, SliceAnalysis,
    SliceThreads, TimeSlice, UnorderedReader, UnorderedResult,
};
pub use recording::{Grow, Recording, RecordingError, RecordingState};
pub use state::{
    Checkpoint, CheckpointMismatch, CheckpointPolicy, Checkpoints, ExtensionIdentity, Extensions,
    Handle,
};
pub use traceset::{
    Contexts, Revision, StalePosition, TraceContext, TracefileContext, Traceset, TracesetPosition,
};
