//! The subcommands of the program `lttv`.
//!
//! Each module has the arguments of one subcommand, and a function that runs it. The shared
//! options are in [`common`].

pub mod common;
pub mod dump;
pub mod run;
