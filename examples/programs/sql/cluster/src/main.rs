//! Asks traces in SQL on several machines.
//!
//! ```text
//! cargo run --release -- local --executors 2 "select name, count(*) from events group by name" TRACE
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

fn main() -> std::process::ExitCode {
    lttv_cluster::commands::main()
}
