//! Reads traces tracefile by tracefile, and adds up every field through columns.
//!
//! Prints what `visit_fields` prints for the same traces, except for fields that cannot be columns.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use ltt_read::{Trace, open_all};
use lttv_benches::{Sums, sum_columns};

fn main() -> ExitCode {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    if paths.is_empty() {
        eprintln!("usage: sum_columns TRACE...");
        return ExitCode::FAILURE;
    }
    match sums(&paths) {
        Ok((events, sums)) => {
            println!("{events} events, {sums:?}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("sum_columns: {error}");
            ExitCode::FAILURE
        }
    }
}

fn sums(paths: &[String]) -> Result<(u64, Sums), Box<dyn Error>> {
    let (mut events, mut sums) = (0, Sums::default());
    let opened = paths.iter().map(open_all).collect::<Result<Vec<Vec<Arc<Trace>>>, _>>()?;
    for trace in opened.iter().flatten() {
        events += sum_columns(trace, &mut sums)?;
    }
    Ok((events, sums))
}
