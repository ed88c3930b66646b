//! The processes of a cluster, which tests start and kill.

#![allow(dead_code)] // each test file uses a part

use std::net::{Ipv4Addr, TcpListener};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use datafusion::arrow::record_batch::RecordBatch;
use futures::TryStreamExt;
use lttv_cluster::{Client, ClientError, Counts, Health, health};
use lttv_context::Traceset;
use lttv_sql::TraceSession;
use lttv_sql::remote::Dataset;
use tokio::time::timeout;

/// The time within which the tests' clusters notice a dead executor, in seconds.
pub(crate) const DEAD_AFTER: u64 = 3;

/// The longest time until a query has an answer or fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A scheduler with executors. All end with it.
pub(crate) struct Cluster {
    port: u16,
    executors: Vec<(Child, [u16; 2])>,
    scheduler: Child,
}

impl Cluster {
    /// Starts a cluster, and waits until it is ready.
    pub(crate) fn start(executors: usize) -> Cluster {
        let ports = free_ports(1 + 2 * executors);
        let scheduler = spawn_scheduler(ports[0], executors);
        let executors = ports[1..].chunks_exact(2).map(|of| [of[0], of[1]]);
        let executors = executors.map(|of| (spawn_executor(ports[0], of), of)).collect();
        let cluster = Cluster { port: ports[0], executors, scheduler };
        cluster.wait();
        cluster
    }

    /// Returns the address of the scheduler.
    pub(crate) fn scheduler(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Waits until the scheduler knows all executors.
    pub(crate) fn wait(&self) {
        let end = Instant::now() + Duration::from_secs(60);
        while !matches!(health(&self.scheduler()), Ok(Health::Ready)) {
            assert!(Instant::now() < end, "the cluster does not start");
            sleep(Duration::from_millis(20));
        }
    }

    /// Kills an executor.
    pub(crate) fn kill_executor(&mut self, number: usize) {
        kill(&mut self.executors[number].0);
    }

    /// Starts an executor in place of a dead one, and waits until the scheduler knows of both.
    pub(crate) fn restart_executor(&mut self, number: usize) {
        let (child, ports) = &mut self.executors[number];
        kill(child);
        // A new address, as that of a new machine: the scheduler still waits for the dead one.
        *ports = free_ports(2).try_into().expect("two ports");
        *child = spawn_executor(self.port, *ports);
        sleep(Duration::from_secs(DEAD_AFTER + 1));
        self.wait();
    }

    /// Kills the scheduler.
    pub(crate) fn kill_scheduler(&mut self) {
        kill(&mut self.scheduler);
    }

    /// Starts the scheduler again, and waits until it knows all executors.
    pub(crate) fn restart_scheduler(&mut self) {
        self.scheduler = spawn_scheduler(self.port, self.executors.len());
        self.wait();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.executors.iter_mut().for_each(|(child, _)| kill(child));
        kill(&mut self.scheduler);
    }
}

fn kill(child: &mut Child) {
    // It may be dead already.
    _ = child.kill();
    _ = child.wait();
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lttv-cluster"));
    // The end of the test is the end of the input, and so of the process.
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn spawn_scheduler(port: u16, executors: usize) -> Child {
    let mut command = command();
    command.args(["scheduler", "--with-parent", "--listen", &format!("127.0.0.1:{port}")]);
    command.args(["--executors", &executors.to_string()]);
    command.args(["--dead-after", &DEAD_AFTER.to_string()]).spawn().expect("a scheduler")
}

fn spawn_executor(scheduler: u16, ports: [u16; 2]) -> Child {
    let mut command = command();
    command.args(["executor", "--with-parent", "--threads", "1"]);
    command.args(["--scheduler", &format!("127.0.0.1:{scheduler}"), "--memory", "20"]);
    command.args(["--port", &ports[0].to_string(), "--task-port", &ports[1].to_string()]);
    command.args(["--dead-after", &DEAD_AFTER.to_string()]).spawn().expect("an executor")
}

fn free_ports(count: usize) -> Vec<u16> {
    let bind = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let listeners: Vec<_> = (0..count).map(bind).collect();
    listeners.iter().map(|of| of.local_addr().expect("an address").port()).collect()
}

/// Opens the traces at a path for a cluster, divided into slices.
pub(crate) fn session(path: &Path, slices: usize) -> TraceSession {
    let slices = NonZeroUsize::new(slices).expect("not zero");
    let traceset = open(path);
    let dataset = Dataset::new(&traceset, &[PathBuf::from(path)]).expect("a dataset");
    TraceSession::new(traceset, dataset.divided(slices).options()).expect("a session")
}

/// Opens the traces at a path.
pub(crate) fn open(path: &Path) -> Traceset {
    Traceset::open(path).expect("a trace")
}

/// Asks a cluster.
pub(crate) async fn ask(
    client: &Client,
    sql: &str,
) -> Result<(Vec<RecordBatch>, Counts), ClientError> {
    let mut query = client.query(sql).await?;
    let batches = timeout(PATIENCE, query.batches().try_collect::<Vec<_>>()).await;
    match batches.unwrap_or_else(|_| panic!("{sql}: no answer in {PATIENCE:?}")) {
        Ok(batches) => Ok((batches, query.counts().await?)),
        Err(error) => Err(query.explain(error)),
    }
}
