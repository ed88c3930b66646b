//! The busy time of each CPU, and the busiest threads.
//!
//! ```text
//! cargo run --release --example statistics -- TRACE…
//! ```
//!
//! This shows the use of the library; `lttv stats` is the program.

use std::error::Error;
use std::io::{self, Write};

use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::kernel::KernelState;
use lttv_state::stats::Statistics;

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths: Vec<_> = std::env::args_os().skip(1).collect();
    if paths.is_empty() {
        paths.push(concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/kernel").into());
    }
    let mut context = TracesetContext::new(Traceset::open_many(paths)?);
    // Statistics follow the state of the kernel. `attach_window` is for a part of the time.
    let kernel = context.attach(KernelState::new());
    let statistics = Statistics::attach(&mut context, kernel);
    _ = context.read(&Bounds::all())?;
    let statistics = statistics.take(context.extensions());
    // An error if the trace is damaged.
    context.finish()?;

    let mut out = io::stdout().lock();
    for trace in statistics.traces() {
        for cpu in trace.cpus() {
            writeln!(out, "CPU {}: {:.3} % busy", cpu.number, cpu.busy_percent().unwrap_or(0.0))?;
        }
        let mut threads = trace.processes();
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.cpu_time));
        for thread in threads.iter().take(10) {
            let facts = &trace.process_facts()[thread.process.index()];
            writeln!(out, "{} ns {}", thread.cpu_time, facts.name)?;
        }
    }
    Ok(())
}
