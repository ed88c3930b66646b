//! Runs analyses over traces, and prints what they found.
//!
//! ```text
//! cargo run --release --example batch_analysis -- [OPTIONS] [TRACE…]
//! ```

mod cli;
mod run;

use std::process::ExitCode;

use lttv_context::batch::Outcome;

fn main() -> ExitCode {
    match run::run() {
        Ok(run::Done { complete: true, .. }) => ExitCode::SUCCESS,
        // As a shell tells of a program that was interrupted.
        Ok(run::Done { outcome: Outcome::Cancelled, .. }) => ExitCode::from(130),
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("batch_analysis: error: {error}");
            ExitCode::FAILURE
        }
    }
}
