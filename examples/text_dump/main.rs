//! Prints the events of traces as text, in time order.
//!
//! ```text
//! cargo run --release --example text_dump -- [OPTIONS] [TRACE…]
//! ```

mod cli;
mod run;
mod tally;
mod window;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match run::run(&cli::Cli::parse()) {
        Ok(run::Outcome::Complete) => ExitCode::SUCCESS,
        Ok(run::Outcome::Damaged) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("text_dump: error: {error}");
            ExitCode::FAILURE
        }
    }
}
