//! Saves checkpoints of the kernel state over a whole trace, and prints their memory, the size
//! of their file, and the times of seeks with them.

use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use ltt_read::Timestamp;
use lttv_context::{Bounds, CheckpointPolicy, Traceset, TracesetContext};
use lttv_state::kernel::KernelState;
use lttv_traces::{Input, Kind, Random};

/// Measure checkpoints of the kernel state
#[derive(Debug, Parser)]
struct Options {
    /// Directory of a kernel trace [default: a generated one]
    trace: Option<PathBuf>,
    /// Number of events of the generated trace
    #[arg(long, default_value_t = 20_000_000)]
    events: u64,
    /// Number of events between checkpoints
    #[arg(long, default_value_t = 50_000)]
    every: u64,
    /// Greatest memory of the checkpoints, in MiB
    #[arg(long, default_value_t = 128)]
    memory: usize,
    /// Number of seeks
    #[arg(long, default_value_t = 200)]
    seeks: usize,
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
    let trace = match &options.trace {
        Some(trace) => trace.clone(),
        None => Input::new(Kind::Kernel, options.events).packet_bytes(64 << 10).cached()?,
    };
    let traceset = Traceset::open(trace)?;
    let with_kernel = || {
        let mut context = TracesetContext::new(&traceset);
        context.attach(KernelState::new());
        context
    };
    let mut alone = with_kernel();
    let (events, replay) = timed(|| alone.state().replay(&Bounds::all()).map(|read| read.events));
    let (events, heap_without) = (events?, heap());
    drop(alone);

    let mut context = with_kernel();
    context.state().set_policy(CheckpointPolicy::every(options.every).memory(options.memory << 20));
    let (read, saving) = timed(|| context.state().replay(&Bounds::all()));
    _ = read?;
    let heap_with = heap();
    let checkpoints = context.checkpoints();
    println!("events                      {events}");
    println!("checkpoints                 {}", checkpoints.len());
    println!("their memory, as counted    {} bytes", checkpoints.bytes());
    println!("heap without, in all        {heap_without} kB");
    println!("heap with them, in all      {heap_with} kB");
    println!("replay                      {replay:?}");
    println!("replay, saving them         {saving:?}");

    let file = std::env::temp_dir().join(format!("measure-{}.checkpoints", std::process::id()));
    let (stored, storing) = timed(|| context.state().store_checkpoints(&file));
    stored?;
    let mut loaded = with_kernel();
    let (count, loading) = timed(|| loaded.state().load_checkpoints(&file));
    println!("file                        {} bytes", fs::metadata(&file)?.len());
    println!("storing                     {storing:?}");
    println!("loading {:<19} {loading:?}", count?);
    fs::remove_file(&file)?;

    let Some(span) = loaded.contexts().time_span() else { return Ok(()) };
    let mut random = Random::new(1);
    let mut seeks = Vec::new();
    for _ in 0..options.seeks {
        let after = random.below(span.end.as_ns().abs_diff(span.start.as_ns()).max(1));
        let time = Timestamp::from_ns(span.start.as_ns().saturating_add_unsigned(after));
        seeks.push(timed(|| black_box(loaded.state().seek_time(time))).1);
    }
    seeks.sort_unstable();
    if let (Some(median), Some(longest)) = (seeks.get(seeks.len() / 2), seeks.last()) {
        println!("going to a time, median     {median:?}");
        println!("going to a time, longest    {longest:?}");
    }
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begin = Instant::now();
    (work(), begin.elapsed())
}

/// Returns the anonymous memory of this process in kB, without mapped files; 0 if it is
/// unknown.
fn heap() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
