//! The cost of many viewers that request the same interval, compared with one:
//!
//! ```text
//! target/release/deliveries [TRACE...]
//! ```
//!
//! Times are processor times, the least of several runs in turns, since other programs
//! disturb them. The bound is the cost per delivery beyond one and a half times the read for
//! one viewer.

use std::cell::Cell;
use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use lttv_benches::{bench_events, counting, drain, processor_time};
use lttv_context::{Traceset, TracesetContext};
use lttv_requests::Scheduler;
use lttv_traces::{Input, Kind};

#[derive(Parser)]
#[command(about)]
struct Cli {
    /// Directories of traces [default: a generated kernel trace]
    traces: Vec<PathBuf>,
    #[arg(long, default_value_t = 100)]
    viewers: u64,
    #[arg(long, default_value_t = 5)]
    runs: u32,
}

/// The bound: a multiple of the read for one viewer, and ns per delivery.
const BOUND: (f64, f64) = (1.5, 3.0);

fn main() -> Result<(), Box<dyn Error>> {
    let mut cli = Cli::parse();
    if cli.traces.is_empty() {
        let made = Input::new(Kind::Kernel, bench_events()).packet_bytes(64 << 10);
        cli.traces.push(made.cached()?);
    }
    for path in &cli.traces {
        let traceset = Traceset::open(path)?;
        let (mut one, mut many, mut events) = (Duration::MAX, Duration::MAX, 0);
        for _ in 0..cli.runs.max(1) {
            let (took, read) = serve(&traceset, 1);
            (one, events) = (one.min(took), read);
            many = many.min(serve(&traceset, cli.viewers).0);
        }
        let of_event = |time: Duration| time.as_nanos() as f64 / events.max(1) as f64;
        let (one, many) = (of_event(one), of_event(many));
        let delivery = (many - BOUND.0 * one) / cli.viewers as f64;
        println!(
            "{}: {events} events, {one:.1} ns each for one viewer, {many:.1} ns for {}: \
             {delivery:.2} ns a delivery beyond {} times the read of one, bound {:.2} ns",
            path.display(),
            cli.viewers,
            BOUND.0,
            BOUND.1,
        );
    }
    Ok(())
}

/// Serves viewers of everything. Returns the time and the number of events read.
fn serve(traceset: &Traceset, viewers: u64) -> (Duration, u64) {
    let begin = processor_time();
    let count = Cell::new(0);
    let mut scheduler = Scheduler::new(TracesetContext::new(traceset));
    for _ in 0..viewers {
        scheduler.submit(counting(&count)).expect("a sound request");
    }
    let (read, delivered) = drain(&mut scheduler);
    assert_eq!((delivered, count.get()), (read * viewers, delivered), "all get all");
    (processor_time().saturating_sub(begin), read)
}
