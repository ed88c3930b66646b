//! The subcommand that starts a cluster on this machine.

use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lttv_common::cancel;
use lttv_common::report::{Interrupted, Report};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::query::{self, OutputArgs};
use super::tables::TablesArgs;
use crate::health::{Health, health};

/// The slices of each executor, so that none waits long for the last one of another.
const SLICES: usize = 4;

/// The longest time until all processes run.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time between two looks at the processes.
const TICK: Duration = Duration::from_millis(50);

/// The options of a cluster on this machine.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct LocalArgs {
    /// Number of executors
    #[arg(long, value_name = "N", default_value = "2")]
    executors: NonZeroUsize,

    /// Slices that each executor reads at the same time
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZeroUsize,

    /// Notice a dead executor within this time
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u64).range(3..=86_400))]
    dead_after: u64,

    /// A query in SQL; without one the cluster runs until Ctrl-C
    #[arg(value_name = "QUERY")]
    query: Option<String>,

    #[command(flatten)]
    tables: TablesArgs,

    #[command(flatten)]
    output: OutputArgs,
}

/// Starts a cluster, and asks it.
pub(super) fn run(args: &LocalArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let cancel = cancel::on_interrupt()?;
    let Some(sql) = &args.query else {
        let cluster = Cluster::start(args, &cancel)?;
        let executors = args.executors;
        report.message(format_args!("scheduler at {}, executors: {executors}", cluster.scheduler));
        return cluster.wait(&cancel);
    };
    let slices = args.executors.saturating_mul(args.threads).get().saturating_mul(SLICES);
    let slices = NonZeroUsize::new(slices).unwrap_or(NonZeroUsize::MIN);
    let session = args.tables.session(report, slices)?;
    args.output.check(&session)?;
    let cluster = Cluster::start(args, &cancel)?;
    let runtime = Runtime::new()?;
    let scheduler = cluster.scheduler.to_string();
    let asked = query::ask(&scheduler, &session, sql, &args.tables, &args.output, &cancel);
    let counts = runtime.block_on(asked)?;
    query::tell(counts, &args.output, report);
    Ok(())
}

/// The processes of a cluster. They end with it.
struct Cluster {
    scheduler: SocketAddr,
    children: Vec<Child>,
    /// The intermediate results of all executors.
    _work: TempDir,
}

impl Cluster {
    /// Starts a scheduler and executors, and waits until they know each other.
    fn start(args: &LocalArgs, cancel: &AtomicBool) -> Result<Cluster, Box<dyn Error>> {
        let executors = args.executors.get();
        let ports = free_ports(1 + 2 * executors)?;
        let at = |port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let work = TempDir::with_prefix("lttv-cluster-")?;
        let program = std::env::current_exe()?;
        let dead_after = args.dead_after.to_string();
        let mut cluster = Cluster { scheduler: at(ports[0]), children: Vec::new(), _work: work };
        let mut scheduler = Command::new(&program);
        scheduler
            .args(["scheduler", "--with-parent", "--listen", &cluster.scheduler.to_string()])
            .args(["--executors", &executors.to_string(), "--dead-after", &dead_after]);
        cluster.spawn(&mut scheduler)?;
        for (number, ports) in ports[1..].chunks_exact(2).enumerate() {
            let mut executor = Command::new(&program);
            executor
                .args(["executor", "--with-parent", "--scheduler", &cluster.scheduler.to_string()])
                .args(["--port", &ports[0].to_string(), "--task-port", &ports[1].to_string()])
                .args(["--threads", &args.threads.to_string(), "--dead-after", &dead_after])
                .args(["--memory", &(70 / executors).max(1).to_string(), "--work-dir"])
                .arg(cluster._work.path().join(number.to_string()));
            cluster.spawn(&mut executor)?;
        }
        let end = Instant::now() + PATIENCE;
        while !matches!(health(&cluster.scheduler.to_string()), Ok(Health::Ready)) {
            cluster.check(cancel)?;
            if Instant::now() > end {
                return Err("the cluster did not start in time".into());
            }
            thread::sleep(TICK);
        }
        Ok(cluster)
    }

    fn spawn(&mut self, command: &mut Command) -> io::Result<()> {
        // The input ends with this process, and the child with its input.
        self.children.push(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?);
        Ok(())
    }

    /// Returns an error after the end of a process, or an interrupt by the user.
    fn check(&mut self, cancel: &AtomicBool) -> Result<(), Box<dyn Error>> {
        if cancel.load(Ordering::Relaxed) {
            return Err(Interrupted { events: 0 }.into());
        }
        for (number, child) in self.children.iter_mut().enumerate() {
            if let Some(status) = child.try_wait()? {
                let which = if number == 0 { "the scheduler" } else { "an executor" };
                return Err(format!("{which} ended: {status}").into());
            }
        }
        Ok(())
    }

    /// Waits for an interrupt by the user, which is the usual end.
    fn wait(mut self, cancel: &AtomicBool) -> Result<(), Box<dyn Error>> {
        while !cancel.load(Ordering::Relaxed) {
            self.check(cancel)?;
            thread::sleep(TICK);
        }
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in &mut self.children {
            // It may have ended already.
            _ = child.kill();
        }
        for child in &mut self.children {
            _ = child.wait();
        }
    }
}

/// Finds ports that are not in use.
fn free_ports(count: usize) -> io::Result<Vec<u16>> {
    // All are held until all are known, so that they differ.
    let bind = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let listeners = (0..count).map(bind).collect::<io::Result<Vec<_>>>()?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}
