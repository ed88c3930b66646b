//! LTTV's main program: loads modules, which do the rest.
//!
//! ```text
//! cargo run --release --example lttv -- -m textDump -t TRACE -e 'event.name == sched_switch'
//! cargo run --release --example lttv -- -m interrupts -m diskPerformance -t TRACE -s
//! cargo run --release --example lttv -- -m textDump --help
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
            eprintln!("lttv: error: {error}");
            ExitCode::FAILURE
        }
    }
}
