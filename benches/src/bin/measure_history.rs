//! Builds and queries the history of a workload, and prints the costs, and digests that verify
//! the results.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use lttv_benches::states::{MeasureError, WORKLOADS, measure, workload};

#[derive(Debug, Parser)]
#[command(about)]
struct Options {
    /// Workload: 1M, 10M or wide
    #[arg(long, default_value = "1M")]
    workload: String,
    /// Directory of the history file [default: a temporary directory]
    #[arg(long)]
    dir: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn std::error::Error>> {
    let Some(workload) = workload(&options.workload) else {
        let names = WORKLOADS.map(|workload| workload.name).join(", ");
        return Err(format!("no workload {:?}, but {names}", options.workload).into());
    };
    let own = std::env::temp_dir().join(format!("measure-history-{}", std::process::id()));
    let dir = options.dir.as_ref().unwrap_or(&own);
    std::fs::create_dir_all(dir)?;
    let result: Result<(), MeasureError> = measure(workload, dir, &mut std::io::stdout().lock());
    if options.dir.is_none() {
        std::fs::remove_dir_all(&own)?;
    }
    Ok(result?)
}
