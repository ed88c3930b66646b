//! The subcommand that asks a running cluster.

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lttv_common::report::{Interrupted, Report, Usage};
use lttv_common::{cancel, inputs};
use lttv_sql::TraceSession;
use lttv_sql::shell::{Format, Results};
use tokio::runtime::Runtime;
use tokio::time::sleep;

use super::processes::host_and_port;
use super::tables::TablesArgs;
use crate::client::{Client, ClientError, Counts};

/// The default number of slices of a query.
const SLICES: NonZeroUsize = NonZeroUsize::new(16).expect("not zero");

/// The time between two looks at an interrupt by the user.
const TICK: Duration = Duration::from_millis(100);

/// The options of a query.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct QueryArgs {
    /// The scheduler
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    scheduler: String,

    /// A query in SQL
    #[arg(value_name = "QUERY")]
    query: String,

    #[command(flatten)]
    tables: TablesArgs,

    #[command(flatten)]
    output: OutputArgs,
}

/// The options of the output.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct OutputArgs {
    /// Format of the results
    #[arg(short, long, value_enum, default_value_t)]
    format: Format,

    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Report how many slices were read
    #[arg(long)]
    counts: bool,
}

/// Asks a running cluster.
pub(super) fn run(args: &QueryArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    host_and_port(&args.scheduler)?;
    let session = args.tables.session(report, SLICES)?;
    args.output.check(&session)?;
    let cancel = cancel::on_interrupt()?;
    let runtime = Runtime::new()?;
    let (tables, output) = (&args.tables, &args.output);
    let asked = ask(&args.scheduler, &session, &args.query, tables, output, &cancel);
    let counts = runtime.block_on(asked)?;
    tell(counts, output, report);
    Ok(())
}

impl OutputArgs {
    /// Refuses an output that would replace a file of the traces.
    pub(super) fn check(&self, session: &TraceSession) -> Result<(), Box<dyn Error>> {
        if let Some(path) = &self.output {
            inputs::refuse(path, session.traceset().traces(), &[])?;
        }
        Ok(())
    }
}

/// Runs a query and writes its result. Returns what it met in the traces, if the cluster tells.
pub(super) async fn ask(
    scheduler: &str,
    session: &TraceSession,
    sql: &str,
    tables: &TablesArgs,
    output: &OutputArgs,
    cancel: &AtomicBool,
) -> Result<Option<Counts>, Box<dyn Error>> {
    let client = Client::connect(scheduler, session).await?;
    tables.add_files(client.context()).await?;
    let mut query = client.query(sql).await.map_err(|error| match error {
        ClientError::Query(error) => Box::from(Usage::new(error.strip_backtrace())),
        other => Box::<dyn Error>::from(other),
    })?;
    let mut results = Results::open(output.format, output.output.as_deref(), query.schema())?;
    let mut rows = 0;
    loop {
        let batch = tokio::select! {
            batch = query.next() => batch,
            () = interrupt(cancel) => return Err(Interrupted { events: rows }.into()),
        };
        match batch {
            Ok(Some(batch)) => {
                rows += batch.num_rows() as u64;
                results.write(batch)?;
            }
            Ok(None) => break,
            Err(_) if cancel.load(Ordering::Relaxed) => {
                return Err(Interrupted { events: rows }.into());
            }
            Err(error) => return Err(error.into()),
        }
    }
    results.finish()?;
    match query.counts().await {
        Ok(counts) => Ok(Some(counts)),
        Err(ClientError::Uncounted(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Waits for an interrupt by the user.
async fn interrupt(cancel: &AtomicBool) {
    while !cancel.load(Ordering::Relaxed) {
        sleep(TICK).await;
    }
}

/// Reports what the reads of a query met.
pub(super) fn tell(counts: Option<Counts>, output: &OutputArgs, report: &mut Report) {
    let Some(Counts { slices, errors, notices }) = counts else {
        report.warning(format_args!(
            "the cluster does not tell what the query met: see the tables errors and notices"
        ));
        return;
    };
    if output.counts {
        report.message(format_args!("{slices} slices read"));
    }
    if errors > 0 {
        report.error(format_args!("{errors} errors in the traces: see the table errors"));
    }
    if notices > 0 {
        report.warning(format_args!("{notices} notices on the traces: see the table notices"));
    }
}
