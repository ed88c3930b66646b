//! The subcommands of the program `lttv`.
//!
//! Each module has the arguments of one subcommand, and a function that runs it. The shared
//! options are in [`lttv_common::args`]. A new subcommand is a module here, and one line each in the list
//! and in the dispatch of `main.rs`. Those that only the program has need its feature `tui`.

pub mod analysis;
pub mod calls;
pub mod chart;
pub mod compare;
#[cfg(feature = "tui")]
pub mod completions;
pub mod convert;
pub mod counters;
pub mod critical_path;
pub mod disk;
pub mod dump;
pub mod every;
pub mod history;
pub mod info;
pub mod irq;
pub mod latency;
#[cfg(feature = "tui")]
pub mod man;
pub mod nearby;
#[cfg(feature = "tui")]
pub mod record;
pub mod run;
pub mod selection;
pub mod serve;
pub mod spans;
pub mod sql;
pub mod state;
pub mod stats;
pub mod sync;
pub mod usage;
pub mod wait;
mod wait_graph;
pub mod why;
