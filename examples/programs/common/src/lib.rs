//! Shared parts of the programs of LTTV: options, reports, tables, times and forms of events.

#![deny(missing_docs, clippy::print_stdout, clippy::print_stderr)]

pub mod activity;
pub mod archives;
pub mod args;
pub mod bar;
pub mod bundled;
pub mod cache;
pub mod calls;
pub mod cancel;
pub mod clocks;
pub mod critical_path;
pub mod definitions;
pub mod escape;
pub mod extension;
pub mod fnv;
pub mod follow;
pub mod host;
pub mod inputs;
pub mod interrupts;
pub mod kernel_hooks;
pub mod kernel_trace;
pub mod losses;
pub mod notes;
pub mod open_error;
pub mod opening;
pub mod paint;
pub mod progress;
pub mod report;
pub mod settings;
pub mod spans;
mod stdin;
mod stdout_closed;
pub mod table;
pub mod text;
pub mod text_dump;
pub mod time;
pub mod trace_names;
pub mod units;
