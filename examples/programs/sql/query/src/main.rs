//! Asks traces in SQL.
//!
//! ```text
//! cargo run --release -p lttv-sql -- "select name, count(*) from events group by name" TRACE
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

fn main() -> std::process::ExitCode {
    lttv_sql::shell::main()
}
