//! `lttv serve`: views for browsers and editors, with the feature `server` of the program.

use std::error::Error;

use lttv_common::report::Report;

const EXAMPLES: &str = "\
Examples:
  lttv serve --open TRACE
  lttv serve --root ~/lttng-traces --sync MACHINE1 MACHINE2";

/// Show traces in a browser, and to editors by the Trace Server Protocol
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    /// The arguments of the server.
    #[cfg(feature = "server")]
    #[command(flatten)]
    pub server: lttv_server::program::ServerArgs,

    /// Arguments that a program with the feature takes.
    #[cfg(not(feature = "server"))]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<std::ffi::OsString>,
}

/// Serves traces until the user interrupts the program.
///
/// # Errors
///
/// If the program was built without the feature `server`, if a trace cannot be opened, or if the address
/// is in use.
#[cfg(feature = "server")]
pub fn run(args: &ServeArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    lttv_server::program::run(&args.server, report)
}

/// Serves traces until the user interrupts the program.
///
/// # Errors
///
/// If the program was built without the feature `server`, if a trace cannot be opened, or if the address
/// is in use.
#[cfg(not(feature = "server"))]
pub fn run(_: &ServeArgs, _: &mut Report) -> Result<(), Box<dyn Error>> {
    let reason = "this program was built without the server: build it with the feature `server` \
                  (cargo install --path examples/programs/lttv --features server), or run lttv-server";
    Err(lttv_common::report::Usage::new(reason).into())
}
