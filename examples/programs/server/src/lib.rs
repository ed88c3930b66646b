//! A trace server: LTTV's views for browsers and editors, by the Trace Server Protocol.
//!
//! ```text
//! cargo run --release -p lttv-server -- TRACE…
//! ```
//!
//! The layers, from the lowest one:
//!
//! | module | purpose |
//! |---|---|
//! | [`protocol`] | the types of the protocol: parameters of requests, models of answers, samples |
//! | [`dataset`] | a traceset with all that is computed from it: histories, times of events |
//! | [`error`] | failures to compute answers |
//! | [`activity`] | for how long each row of a chart of states was active in a window |
//! | [`filters`] | faults of filters while they are written, and how they can go on |
//! | [`outputs`] | the views that clients know, each computed from a dataset |
//! | [`workspace`] | the open traces and experiments, and the directories that may be opened |
//! | [`http`] | paths, checks of requests, limits, and answers that are streamed |
//! | [`program`] | the command line |
//! | `allocator` | settings of the system's memory allocator |
//!
//! # The page at `/`
//!
//! The files of a page are in the folder `page`, and become part of the program. To add a file,
//! put it there, and add its name to the list in [`http::page`]. The page has the content
//! security policy [`http::page::POLICY`]: scripts, styles and images come from the server only,
//! and none are inline. A file is served at `/` and its path; the interface is at `/tsp/api`.

#![deny(clippy::print_stdout, clippy::print_stderr)]
#![forbid(unsafe_code)]

pub mod activity;
mod allocator;
pub mod dataset;
pub mod error;
pub mod filters;
pub mod http;
pub mod outputs;
pub mod program;
pub mod protocol;
pub mod spans;
pub mod workspace;
