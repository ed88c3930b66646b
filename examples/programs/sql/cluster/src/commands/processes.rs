//! The subcommands of the processes of a cluster.

use std::error::Error;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

use lttv_common::report::Usage;
use tokio::runtime::Runtime;

use crate::executor::{ExecutorOptions, run_executor};
use crate::scheduler::{SchedulerOptions, run_scheduler};
use crate::timeouts::Timeouts;

/// The options of every process of a cluster.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ProcessArgs {
    /// Notice a dead executor within this time; the same for all processes
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u64).range(3..=86_400))]
    pub(super) dead_after: u64,

    /// Report what happens
    #[arg(short, long)]
    verbose: bool,

    /// End when standard input ends
    #[arg(long, hide = true)]
    with_parent: bool,
}

/// The options of a scheduler.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SchedulerArgs {
    /// Address to listen on
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:50050")]
    listen: SocketAddr,

    /// Name or address by which other machines reach this one [default: the address of --listen]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,

    /// Refuse queries until there are this many executors
    #[arg(long, value_name = "N", default_value_t = 1)]
    executors: usize,

    #[command(flatten)]
    process: ProcessArgs,
}

/// The options of an executor.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ExecutorArgs {
    /// The scheduler
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    scheduler: String,

    /// Address to listen on
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,

    /// Name or address by which other machines reach this one [default: the address of --listen]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,

    /// Port for results; tasks use the next one, unless --task-port is given
    #[arg(long, value_name = "PORT", default_value_t = 50051)]
    port: u16,

    /// Port for tasks
    #[arg(long, value_name = "PORT")]
    task_port: Option<u16>,

    /// Read this many slices at the same time [default: the number of processors]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Percentage of the memory of the machine for sorting and joining
    #[arg(long, value_name = "PERCENT", default_value_t = 70)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=100))]
    memory: u8,

    /// Directory for intermediate results [default: a new one, which is removed at the end]
    #[arg(long, value_name = "DIR")]
    work_dir: Option<PathBuf>,

    /// Wait for the scheduler at the start
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    wait: u16,

    #[command(flatten)]
    process: ProcessArgs,
}

/// Runs a scheduler.
pub(super) fn scheduler(args: &SchedulerArgs) -> Result<(), Box<dyn Error>> {
    args.process.begin();
    let options = SchedulerOptions {
        address: args.listen,
        host: args.host.clone().unwrap_or_else(|| args.listen.ip().to_string()),
        executors: args.executors,
        timeouts: Timeouts::after(args.process.dead_after),
    };
    Ok(Runtime::new()?.block_on(run_scheduler(&options))?)
}

/// Runs an executor.
pub(super) fn executor(args: &ExecutorArgs) -> Result<(), Box<dyn Error>> {
    args.process.begin();
    let (host, port) = host_and_port(&args.scheduler)?;
    let next = args.port.checked_add(1);
    let task_port = args
        .task_port
        .or(next)
        .ok_or_else(|| Usage::new("--port: there is no next port for tasks: use --task-port"))?;
    let options = ExecutorOptions {
        scheduler: (host.to_owned(), port),
        address: args.listen,
        host: args.host.clone().unwrap_or_else(|| args.listen.to_string()),
        ports: (args.port, task_port),
        threads: args.threads,
        memory: f64::from(args.memory) / 100.0,
        work_dir: args.work_dir.clone(),
        patience: args.wait,
        timeouts: Timeouts::after(args.process.dead_after),
    };
    Ok(Runtime::new()?.block_on(run_executor(&options))?)
}

/// Parses the address of a scheduler.
pub(super) fn host_and_port(address: &str) -> Result<(&str, u16), Usage> {
    let parts = address.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    parts.filter(|(host, _)| !host.is_empty()).ok_or_else(|| {
        Usage::new(format_args!("--scheduler: {address:?} is no host with a port: HOST:PORT"))
    })
}

impl ProcessArgs {
    /// Starts the log, and follows the parent process.
    fn begin(&self) {
        let level = if self.verbose { log::LevelFilter::Info } else { log::LevelFilter::Error };
        env_logger::Builder::new().filter_level(level).parse_default_env().init();
        if self.with_parent {
            thread::spawn(|| {
                // The parent writes nothing: reading ends when it ends, whatever ended it.
                _ = std::io::stdin().read_to_end(&mut Vec::new());
                std::process::exit(0);
            });
        }
    }
}
