//! Fills the model of a viewer by requests with a filter, as a whole process to be timed
//! against `lttv dump --count --filter`.
//!
//! Prints the number of events in the histogram, or of rows of the event list.

use std::path::PathBuf;
use std::rc::Rc;

use clap::{Parser, ValueEnum};
use lttv_context::{Traceset, TracesetContext, TracesetPosition};
use lttv_filter::{Expression, Filters};
use lttv_requests::views::{EventTable, Histogram, TimeWindow};
use lttv_requests::{Budget, Owner, Scheduler, Start};
use lttv_state::kernel::KernelState;

#[derive(Debug, Parser)]
#[command(about = "Fills the model of a viewer by requests with a filter")]
struct Cli {
    /// The viewer.
    #[arg(value_enum)]
    viewer: Viewer,
    /// The filter.
    filter: String,
    /// The directory of the traces.
    path: PathBuf,
    /// Keep the kernel state up to date.
    #[arg(long)]
    state: bool,
    /// The number of events of a chunk.
    #[arg(long, default_value_t = 100_000)]
    chunk: u64,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Viewer {
    /// A histogram of 200 columns over the whole traceset.
    Histogram,
    /// An event list of 50 rows from the start on.
    List,
    /// An event list of the last 50 rows.
    Last,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cli = Cli::parse();
    let traceset = Traceset::open(&cli.path)?;
    let filters = Rc::new(Filters::new(&Expression::parse(&cli.filter)?, traceset.traces())?);
    let mut context = TracesetContext::new(&traceset);
    let span = context.contexts().time_span().ok_or("no event has a time")?;
    if cli.state {
        context.attach(KernelState::new());
    }
    let mut scheduler = Scheduler::new(context);
    let owner = Owner::unique();
    let histogram = Histogram::new(TimeWindow::covering(span), 200);
    let table = EventTable::new(owner, 50, |call| call.event.event_type().name().to_owned());
    table.set_filter(filters.clone());
    match cli.viewer {
        Viewer::Histogram => {
            for missing in histogram.missing() {
                scheduler.submit(histogram.request(owner, missing).filter(filters.clone()))?;
            }
        }
        Viewer::List => _ = scheduler.submit(table.show(Start::Begin))?,
        Viewer::Last => {
            _ = scheduler.submit(table.show_before(&TracesetPosition::end(&traceset)))?;
        }
    }
    while scheduler.service_chunk(Budget::events(cli.chunk)).has_more() {}
    match cli.viewer {
        Viewer::Histogram => println!("{}", histogram.counts().iter().sum::<u64>()),
        Viewer::List | Viewer::Last => println!("{}", table.rows().len()),
    }
    Ok(())
}
