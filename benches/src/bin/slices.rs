//! Computes an analysis on several threads, and prints its elapsed and its processor time:
//!
//! ```text
//! target/release/slices statistics TRACE --threads 2 --rounds 5
//! valgrind --tool=callgrind target/release/slices statistics TRACE --threads 2 --rounds 0
//! ```

use std::any::Any;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use lttv_context::{Bounds, SliceThreads, Traceset, TracesetContext, UnorderedReader};
use lttv_state::analysis::read;
use lttv_state::kernel_history::{HistoryTarget, record_on};
use lttv_state::latency::{LatencyAnalysis, Settings};
use lttv_state::stats::StatisticsAnalysis;
use lttv_state::usage::{UsageAnalysis, UsageOptions};
use rustix::time::{ClockId, clock_gettime};

#[derive(Parser)]
#[command(about)]
struct Cli {
    work: Work,
    trace: PathBuf,
    /// Numbers of threads, in turns
    #[arg(long, value_delimiter = ',', default_value = "2")]
    threads: Vec<usize>,
    /// 0 for one round without measuring it
    #[arg(long, default_value_t = 1)]
    rounds: usize,
    /// Destination of a history, instead of memory
    #[arg(long)]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Work {
    /// The number of events, without an order; with one thread, in order.
    Count,
    Statistics,
    Usage,
    Latency,
    History,
}

fn main() -> Result<(), Box<dyn Error>> {
    let cli = Cli::parse();
    if cli.rounds == 0 {
        drop(work(&cli, &Traceset::open(&cli.trace)?, cli.threads[0])?);
        return Ok(());
    }
    let mut least = vec![[Duration::MAX; 2]; cli.threads.len()];
    for _ in 0..cli.rounds {
        for (threads, least) in cli.threads.iter().zip(&mut least) {
            let traceset = Traceset::open(&cli.trace)?;
            let (begin, elapsed) = (processor_time(), Instant::now());
            let result = work(&cli, &traceset, *threads)?;
            let times = [elapsed.elapsed(), processor_time() - begin];
            for (least, time) in least.iter_mut().zip(times) {
                *least = (*least).min(time);
            }
            drop(result);
        }
    }
    println!("threads  elapsed  processor time");
    for (threads, [elapsed, cpu]) in cli.threads.iter().zip(least) {
        println!("{threads:7} {:8.1} {:8.1} ms", ms(elapsed), ms(cpu));
    }
    Ok(())
}

fn work(cli: &Cli, traceset: &Traceset, threads: usize) -> Result<Box<dyn Any>, Box<dyn Error>> {
    Ok(match cli.work {
        Work::Count if threads == 1 => {
            let mut context = TracesetContext::new(traceset);
            Box::new(context.read(&Bounds::all())?.events)
        }
        Work::Count => {
            let reader = UnorderedReader::new(traceset).threads(threads);
            Box::new(reader.read(|(): &mut (), _| (), |_| ControlFlow::Continue(())).events)
        }
        Work::Usage => {
            Box::new(read(traceset).threads(threads).run(UsageAnalysis::new(UsageOptions::new())))
        }
        Work::Latency => {
            Box::new(read(traceset).threads(threads).run(LatencyAnalysis::new(Settings::new())))
        }
        Work::Statistics => {
            Box::new(read(traceset).threads(threads).run(StatisticsAnalysis::new()))
        }
        Work::History => {
            let target =
                cli.output.as_deref().map_or(HistoryTarget::Memory, HistoryTarget::Replace);
            let go_on = |_| ControlFlow::Continue(());
            Box::new(record_on(SliceThreads::new(threads), traceset, target, |_| (), go_on)?)
        }
    })
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns the processor time of all threads of this process.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
