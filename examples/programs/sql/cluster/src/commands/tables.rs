//! The tables of a query on the command line: those of traces, and files of Parquet.

use std::error::Error;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

use datafusion::catalog::MemorySchemaProvider;
use datafusion::common::TableReference;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::execution::options::ParquetReadOptions;
use datafusion::prelude::SessionContext;
use lttv_common::opening;
use lttv_common::report::{Report, Usage};
use lttv_common::settings;
use lttv_common::time::Times;
use lttv_context::Traceset;
use lttv_filter::{TimeText, Zone};
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

    /// Add the tables of a directory that `export` has written, as files.TYPE; also s3://BUCKET/PATH
    #[arg(long, value_name = "DIR")]
    parquet: Vec<PathBuf>,

    /// Start of the time window
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    begin: Option<TimeText>,

    /// End of the time window, inclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    end: Option<TimeText>,

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
        let zone = if self.utc { Zone::UTC } else { settings::current().zone() };
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
            for (name, path) in exported(folder, context).await? {
                let table = TableReference::partial(FILES, name);
                let options = ParquetReadOptions::default();
                context.register_parquet(table, &path, options).await?;
            }
        }
        Ok(())
    }
}

/// Returns the names and addresses of the tables of a directory that `export` has written.
async fn exported(
    folder: &Path,
    context: &SessionContext,
) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let address = folder.to_str().filter(|text| text.starts_with("s3://"));
    let tables = match address {
        Some(address) => in_store(address, context).await,
        None => in_directory(folder).map_err(Into::into),
    };
    let mut tables = tables.map_err(|error| format!("{}: {error}", folder.display()))?;
    if tables.is_empty() {
        let what = "no files of Parquet, as `export` writes them";
        return Err(format!("{}: {what}", folder.display()).into());
    }
    for (name, _) in &mut tables {
        if let Some(table) = name.strip_prefix("name=") {
            *name = table.to_owned();
        }
    }
    tables.sort();
    Ok(tables)
}

/// Returns the folders of a directory that contain files of Parquet.
fn in_directory(folder: &Path) -> io::Result<Vec<(String, String)>> {
    let mut tables = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = absolute(entry?.path())?;
        let is_parquet =
            |file: fs::DirEntry| file.path().extension().is_some_and(|of| of == "parquet");
        let mut files = fs::read_dir(&path).into_iter().flatten().flatten();
        if let Some(name) = path.file_name().filter(|_| files.any(is_parquet)) {
            let name = name.to_string_lossy().into_owned();
            tables.push((name, path.to_string_lossy().into_owned()));
        }
    }
    Ok(tables)
}

/// Returns the folders of a bucket, below a prefix, that contain files of Parquet.
async fn in_store(
    address: &str,
    context: &SessionContext,
) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let url = ListingTableUrl::parse(format!("{}/", address.trim_end_matches('/')))?;
    let store = context.runtime_env().object_store(&url)?;
    let mut tables = Vec::new();
    for folder in store.list_with_delimiter(Some(url.prefix())).await?.common_prefixes {
        let files = store.list_with_delimiter(Some(&folder)).await?.objects;
        let has_parquet = files.iter().any(|file| file.location.extension() == Some("parquet"));
        if let Some(name) = folder.filename().filter(|_| has_parquet) {
            let bucket = url.object_store();
            let address = format!("{}/{folder}/", bucket.as_str().trim_end_matches('/'));
            tables.push((name.to_owned(), address));
        }
    }
    Ok(tables)
}
