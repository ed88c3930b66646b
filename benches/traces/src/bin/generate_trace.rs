//! Generates a trace for benchmarks.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use ltt_read::schema::Format;
use lttv_traces::{Input, Kind, Options};

/// Generate a trace for benchmarks; equal arguments generate equal traces
#[derive(Parser)]
struct Arguments {
    /// Kind of tracer to imitate
    #[arg(long, value_enum, default_value_t = Kind::Kernel)]
    kind: Kind,
    /// Number of events
    #[arg(long, default_value_t = 5_000_000)]
    events: u64,
    /// Number of CPUs and of data streams
    #[arg(long, default_value_t = 8)]
    cpus: u32,
    /// Version of the Common Trace Format: 1 for 1.8, or 2
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    ctf: u8,
    /// Seed of the pseudo-random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Packet size in bytes
    #[arg(long, default_value_t = 1 << 20)]
    packet_bytes: u64,
    /// Mean time between events of the whole trace, in nanoseconds
    #[arg(long, default_value_t = 250)]
    mean_gap: u64,
    /// Write no index files
    #[arg(long)]
    no_index: bool,
    /// Directory to write to. Without it, the trace is kept below target/bench-traces for
    /// later runs, and its directory is printed
    #[arg(short, long)]
    output: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let options = Options {
        format: if arguments.ctf == 2 { Format::Ctf2 } else { Format::Ctf1 },
        seed: arguments.seed,
        packet_bytes: arguments.packet_bytes,
        index: !arguments.no_index,
        mean_gap: arguments.mean_gap,
    };
    let Arguments { kind, cpus, events, .. } = arguments;
    let input = Input { kind, cpus, events, options };
    let made = match &arguments.output {
        Some(dir) => input.write(dir),
        None => input.cached().map(|dir| println!("{}", dir.display())),
    };
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate_trace: {error}");
            ExitCode::FAILURE
        }
    }
}
