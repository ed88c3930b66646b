//! A framework for programs made of independent analyses; a feature.
//!
//! The parts are usable apart from each other:
//!
//! * A [`Module`] is a unit of a program, such as an analysis or an output. [`Modules`] starts
//!   the modules that the user names, after those that they require.
//! * [`Options`] collects the options that modules declare, and their values.
//! * A [`Session`] is the state that the modules of a program share.
//! * A [`Batch`] reads a traceset once for any number of analyses.

mod batch;
mod modules;
mod options;
mod session;

pub use batch::{Batch, BatchEnd, BatchOutcome, BatchProgress};
pub use modules::{Failure, Module, ModuleError, ModuleInfo, Modules};
pub use options::{OptionError, OptionSpec, Options};
pub use session::Session;
