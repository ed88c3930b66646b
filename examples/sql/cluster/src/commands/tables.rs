//! The tables of a query on the command line: those of traces, and files of Parquet.

use std::error::Error;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

use datafusion::catalog::MemorySchemaProvider;
use datafusion::common::TableReference;
use datafusion::execution::options::ParquetReadOptions;
use datafusion::prelude::SessionContext;
use jiff::tz::TimeZone;
use lttv_context::Traceset;
use lttv_examples::opening;
use lttv_examples::report::{Report, Usage};
use lttv_examples::settings;
use lttv_examples::time::{TimeArg, Times};
use lttv_sql::TraceSession;
use lttv_sql::remote::Dataset;

/// The schema of the tables in files.
const FILES: &str = "files";

/// The options that select what is read.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct TablesArgs {
    /// Directories that contain traces, on the same paths on all machines
    #[arg(value_name = "TRACE")]
    pub(super) traces: Vec<PathBuf>,

    /// Add the tables of a directory that `export` has written, as files.TYPE
    #[arg(long, value_name = "DIR")]
    parquet: Vec<PathBuf>,

    /// Start of the time window
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    begin: Option<TimeArg>,

    /// End of the time window, inclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    end: Option<TimeArg>,

    /// Take times in UTC instead of the local time zone
    #[arg(long)]
    utc: bool,

    /// Divide the events into about this many slices of time, more than there are processors
    #[arg(long, value_name = "N")]
    pub(super) slices: Option<NonZeroUsize>,

    /// Add columns of the kernel state to tables of events: the thread that runs after each
    #[arg(long)]
    kernel_state: bool,

    /// Sort by time where a query asks for it, also if traces seem to be in order
    #[arg(long)]
    unordered: bool,
}

impl TablesArgs {
    /// Opens the traces for planning.
    pub(super) fn session(
        &self,
        report: &mut Report,
        slices: NonZeroUsize,
    ) -> Result<TraceSession, Box<dyn Error>> {
        if self.traces.is_empty() && self.parquet.is_empty() {
            return Err(Usage::new("a TRACE is needed, or --parquet").into());
        }
        let traceset = match self.traces.is_empty() {
            true => Traceset::from(Vec::new()),
            false => opening::open(report, &self.traces)?,
        };
        let zone = if self.utc { TimeZone::UTC } else { settings::current().zone() };
        let times = Times::new(zone, traceset.traces());
        let window = times.window(self.begin.as_ref(), self.end.as_ref()).map_err(Usage::new)?;
        let slices = self.slices.unwrap_or(slices);
        let dataset = Dataset::new(&traceset, &self.traces)?
            .window(window)
            .divided(slices)
            .unordered(self.unordered)
            .kernel_state(self.kernel_state);
        Ok(TraceSession::new(traceset, dataset.options())?)
    }

    /// Adds the tables in files.
    pub(super) async fn add_files(&self, context: &SessionContext) -> Result<(), Box<dyn Error>> {
        let catalog = context.catalog_names().into_iter().find_map(|name| context.catalog(&name));
        if let Some(catalog) = catalog.filter(|_| !self.parquet.is_empty()) {
            catalog.register_schema(FILES, Arc::new(MemorySchemaProvider::new()))?;
        }
        for folder in &self.parquet {
            for (name, path) in exported(folder)? {
                let table = TableReference::partial(FILES, name);
                let options = ParquetReadOptions::default();
                let path = path.to_string_lossy().into_owned();
                context.register_parquet(table, &path, options).await?;
            }
        }
        Ok(())
    }
}

/// Returns the tables of a directory that `export` has written.
fn exported(folder: &Path) -> Result<Vec<(String, PathBuf)>, Box<dyn Error>> {
    let failed = |error| format!("{}: {error}", folder.display());
    let mut tables = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = absolute(entry.map_err(failed)?.path()).map_err(failed)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let has_parquet = |path: &Path| {
            let files = fs::read_dir(path).into_iter().flatten().flatten();
            files.into_iter().any(|file| file.path().extension().is_some_and(|of| of == "parquet"))
        };
        if let Some(name) = name.filter(|_| path.is_dir() && has_parquet(&path)) {
            let table = name.strip_prefix("name=").unwrap_or(&name).to_owned();
            tables.push((table, path));
        }
    }
    tables.sort();
    match tables.is_empty() {
        true => {
            Err(format!("{}: no files of Parquet, as `export` writes them", folder.display())
                .into())
        }
        false => Ok(tables),
    }
}
