//! The processes of a cluster, which tests start and kill.

#![allow(dead_code)] // each test file uses a part

use std::net::{Ipv4Addr, TcpListener};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use datafusion::arrow::record_batch::RecordBatch;
use ltt_read::OpenOptions;
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
    /// The environment variables of all processes.
    variables: Vec<(&'static str, String)>,
}

impl Cluster {
    /// Starts a cluster, and waits until it is ready.
    pub(crate) fn start(executors: usize) -> Cluster {
        Cluster::start_with(executors, &[])
    }

    /// Starts a cluster of processes with environment variables, and waits until it is ready.
    pub(crate) fn start_with(executors: usize, variables: &[(&'static str, String)]) -> Cluster {
        let ports = free_ports(1 + 2 * executors);
        let variables = variables.to_vec();
        let scheduler = spawn_scheduler(ports[0], executors, &variables);
        let executors = ports[1..].chunks_exact(2).map(|of| [of[0], of[1]]);
        let executors =
            executors.map(|of| (spawn_executor(ports[0], of, &variables), of)).collect();
        let cluster = Cluster { port: ports[0], executors, scheduler, variables };
        cluster.wait();
        cluster
    }

    /// Returns the command that asks the cluster with the program.
    pub(crate) fn query(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lttv-cluster"));
        command.envs(self.variables.iter().cloned());
        command.args(["query", "--scheduler", &self.scheduler()]).args(args);
        command
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

    /// Starts executors in place of dead ones, and waits until the scheduler knows of all.
    pub(crate) fn restart_executors(&mut self, numbers: &[usize]) {
        for &number in numbers {
            let (child, ports) = &mut self.executors[number];
            kill(child);
            // A new address, as that of a new machine: the scheduler still waits for the dead one.
            *ports = free_ports(2).try_into().expect("two ports");
            *child = spawn_executor(self.port, *ports, &self.variables);
        }
        sleep(Duration::from_secs(DEAD_AFTER + 1));
        self.wait();
    }

    /// Kills the scheduler.
    pub(crate) fn kill_scheduler(&mut self) {
        kill(&mut self.scheduler);
    }

    /// Starts the scheduler again, and waits until it knows all executors.
    pub(crate) fn restart_scheduler(&mut self) {
        self.scheduler = spawn_scheduler(self.port, self.executors.len(), &self.variables);
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

fn command(variables: &[(&'static str, String)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lttv-cluster"));
    command.envs(variables.iter().cloned());
    // The end of the test is the end of the input, and so of the process.
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn spawn_scheduler(port: u16, executors: usize, variables: &[(&'static str, String)]) -> Child {
    let mut command = command(variables);
    command.args(["scheduler", "--with-parent", "--listen", &format!("127.0.0.1:{port}")]);
    command.args(["--executors", &executors.to_string()]);
    command.args(["--dead-after", &DEAD_AFTER.to_string()]).spawn().expect("a scheduler")
}

fn spawn_executor(scheduler: u16, ports: [u16; 2], variables: &[(&'static str, String)]) -> Child {
    let mut command = command(variables);
    command.args(["executor", "--with-parent", "--threads", "1"]);
    command.args(["--scheduler", &format!("127.0.0.1:{scheduler}"), "--memory", "20"]);
    command.args(["--port", &ports[0].to_string(), "--task-port", &ports[1].to_string()]);
    command.args(["--dead-after", &DEAD_AFTER.to_string()]).spawn().expect("an executor")
}

pub(crate) fn free_ports(count: usize) -> Vec<u16> {
    let bind = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let listeners: Vec<_> = (0..count).map(bind).collect();
    listeners.iter().map(|of| of.local_addr().expect("an address").port()).collect()
}

/// Opens the traces at a path for a cluster, divided into slices.
pub(crate) fn session(path: &Path, slices: usize) -> TraceSession {
    session_of(&[path.to_owned()], slices)
}

/// Opens the traces at some paths for a cluster, divided into slices.
pub(crate) fn session_of(paths: &[PathBuf], slices: usize) -> TraceSession {
    let slices = NonZeroUsize::new(slices).expect("not zero");
    let traceset = open_all(paths);
    let dataset = Dataset::new(&traceset, paths).expect("a dataset");
    TraceSession::new(traceset, dataset.divided(slices).options()).expect("a session")
}

/// Opens the traces at a path.
pub(crate) fn open(path: &Path) -> Traceset {
    open_all(&[path.to_owned()])
}

/// Opens the traces at some paths.
pub(crate) fn open_all(paths: &[PathBuf]) -> Traceset {
    Traceset::from(OpenOptions::new().open_all_of(paths).expect("traces").traces)
}

/// Asks a cluster.
pub(crate) async fn ask(
    client: &Client,
    sql: &str,
) -> Result<(Vec<RecordBatch>, Counts), ClientError> {
    let (batches, counts, _) = ask_with_repeats(client, sql).await?;
    Ok((batches, counts))
}

/// Asks a cluster, and returns how many times the query was repeated.
pub(crate) async fn ask_with_repeats(
    client: &Client,
    sql: &str,
) -> Result<(Vec<RecordBatch>, Counts, u32), ClientError> {
    let mut query = client.query(sql).await?;
    let mut batches = Vec::new();
    let rows = async {
        while let Some(batch) = query.next().await? {
            batches.push(batch);
        }
        Ok::<(), ClientError>(())
    };
    timeout(PATIENCE, rows).await.unwrap_or_else(|_| panic!("{sql}: no answer in {PATIENCE:?}"))?;
    Ok((batches, query.counts().await?, query.repeats()))
}
