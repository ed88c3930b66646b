//! The program `lttv-cluster`.

mod local;
mod processes;
mod query;
mod tables;

use std::error::Error;

use lttv_common::report::{self, Report};

/// Ask traces in SQL on several machines
///
/// A cluster is one scheduler and any number of executors. All of them, and all clients, open the traces on
/// the same paths.
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "lttv-cluster", version, after_long_help = AFTER)]
pub struct ClusterArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum Command {
    /// Start a cluster of processes on this machine, and ask it
    Local(local::LocalArgs),
    /// Ask a running cluster
    Query(query::QueryArgs),
    /// Run a scheduler
    Scheduler(processes::SchedulerArgs),
    /// Run an executor
    Executor(processes::ExecutorArgs),
}

const AFTER: &str = "\
Examples:
  lttv-cluster local --executors 2 \"select cpu, count(*) from events group by cpu\" TRACE
  lttv-cluster scheduler --listen 10.0.0.1:50050
  lttv-cluster executor --scheduler 10.0.0.1:50050 --listen 10.0.0.2
  lttv-cluster query --scheduler 10.0.0.1:50050 \"select …\" /net/TRACE

There is no authentication: run a cluster in a trusted network only.

Exit status: 0 if everything was read and written; 1 if something could not be read or written;
2 for a wrong command line or query.";

fn run(args: &ClusterArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    match &args.command {
        Command::Local(args) => local::run(args, report),
        Command::Query(args) => query::run(args, report),
        Command::Scheduler(args) => processes::scheduler(args),
        Command::Executor(args) => processes::executor(args),
    }
}

/// Parses the command line and runs the program.
pub fn main() -> std::process::ExitCode {
    report::main("lttv-cluster", run)
}
