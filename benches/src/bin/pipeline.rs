//! Reads a trace in one of several ways, to compare their instruction counts:
//!
//! ```text
//! perf stat -e instructions:u target/release/pipeline WAY TRACE
//! ```

use std::error::Error;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use ltt_read::Merge;
use lttv_context::{Bounds, ParallelReader, Subscription, Traceset, TracesetContext};
use lttv_filter::{Expression, FilterError, Filters};

#[derive(Parser)]
#[command(about)]
struct Cli {
    way: Way,
    trace: PathBuf,
    /// Event type of the hooks
    #[arg(long, default_value = "sched_switch")]
    event: String,
    /// Fields that the first hook reads
    #[arg(long, value_delimiter = ',', default_value = "prev_tid,next_tid")]
    fields: Vec<String>,
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Number of hooks for every event
    #[arg(long, default_value_t = 1)]
    hooks: u32,
    /// Filter expression
    #[arg(long, default_value = "")]
    filter: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum Way {
    /// Merge without a context
    Bare,
    /// Merge without a context, reading two fields of one event type
    BareFields,
    /// A context without hooks
    Context,
    /// A context with one hook by id that reads two fields
    ById,
    /// A context with hooks for every event
    Every,
    /// Counting the events of one type on several threads
    Parallel,
    /// Merge, with a filter tested on each event
    Asked,
    /// Merge of the events that pass a filter
    Chosen,
    /// A context with one hook, and a filter as its choice
    ChosenInContext,
}

fn main() -> Result<(), Box<dyn Error>> {
    let cli = Cli::parse();
    let traceset = Traceset::open(&cli.trace)?;
    let (mut events, mut sum) = (0u64, 0u64);
    let fields = || Subscription::to(&cli.event).fields(cli.fields.iter().map(String::as_str));
    let filters = || -> Result<Filters, FilterError> {
        Filters::new(&Expression::parse(&cli.filter)?, traceset.traces())
    };
    match cli.way {
        Way::Bare => {
            let mut merge = Merge::new(traceset.traces());
            while merge.next().is_some() {
                events += 1;
            }
        }
        Way::BareFields => {
            let handles = lttv_benches::handles(&traceset, &cli.event, &cli.fields);
            let mut merge = Merge::new(traceset.traces());
            while let Some(event) = merge.next() {
                events += 1;
                for field in &handles[event.trace_index().0][event.type_id().index()] {
                    sum = sum.wrapping_add(event.integer(field).unwrap_or(0));
                }
            }
        }
        Way::Context => {
            let mut context = TracesetContext::new(&traceset);
            events = context.read(&Bounds::all())?.events;
        }
        Way::ById => {
            let mut context = TracesetContext::new(&traceset);
            context.on_event(fields(), |call| {
                let both =
                    call.unsigned(0).unwrap_or(0).wrapping_add(call.unsigned(1).unwrap_or(0));
                sum = sum.wrapping_add(both);
            });
            events = context.read(&Bounds::all())?.events;
        }
        Way::Every => {
            let mut counts = vec![0u64; cli.hooks as usize];
            let mut context = TracesetContext::new(&traceset);
            for count in &mut counts {
                context.on_event(Subscription::to_every_event(), move |_| *count += 1);
            }
            events = context.read(&Bounds::all())?.events;
            drop(context);
            sum = counts.iter().sum();
        }
        Way::Parallel => {
            let read = ParallelReader::new(&traceset).threads(cli.threads).run(|slice| {
                let mut count = 0u64;
                let mut context = slice.context();
                context.on_event(cli.event.as_str(), |_| count += 1);
                slice.read(&mut context).expect("no extension");
                drop(context);
                count
            });
            events = read.events;
            sum = read.results.iter().sum();
        }
        Way::Asked => {
            let filters = filters()?;
            let mut merge = Merge::new(traceset.traces());
            while let Some(event) = merge.next() {
                events += 1;
                sum += u64::from(filters.matches(&event));
            }
        }
        Way::Chosen => {
            let filters = filters()?;
            let mut chosen = filters.read();
            while chosen.next().is_some() {
                sum += 1;
            }
        }
        Way::ChosenInContext => {
            let filters = filters()?;
            let mut context = TracesetContext::new(&traceset);
            context.set_filter(&filters);
            context.on_event(Subscription::to_every_event(), |_| sum += 1);
            events = context.read(&Bounds::all())?.events;
        }
    }
    println!("{events} events, {sum}");
    Ok(())
}
