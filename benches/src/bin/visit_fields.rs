//! Reads traces in time order, and visits every field.

use std::process::ExitCode;

use ltt_read::{Merge, open_all};
use lttv_benches::Sums;

fn main() -> ExitCode {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let opened: Result<Vec<_>, _> = paths.iter().map(open_all).collect();
    let traces = match opened {
        Ok(traces) if !paths.is_empty() => traces.concat(),
        Ok(_) => {
            eprintln!("usage: visit_fields TRACE...");
            return ExitCode::FAILURE;
        }
        Err(error) => {
            eprintln!("visit_fields: {error}");
            return ExitCode::FAILURE;
        }
    };
    let (mut merge, mut events, mut sums) = (Merge::new(&traces), 0u64, Sums::default());
    while let Some(event) = merge.next() {
        sums.add(&event);
        events += 1;
    }
    println!("{events} events, {sums:?}");
    ExitCode::SUCCESS
}
