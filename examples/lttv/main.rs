//! LTTV's main program: loads modules, which do the rest.
//!
//! ```text
//! cargo run --release --example lttv -- -m textDump -t TRACE -e 'event.name == sched_switch'
//! cargo run --release --example lttv -- -m interrupts -m diskPerformance -t TRACE -s
//! cargo run --release --example lttv -- -m textDump --help
//! ```
//!
//! # LTTV's options
//!
//! Names are LTTV's where the option is, with hyphens or underscores between words
//! (`--path_output`). What is not:
//!
//! | LTTV | here |
//! |---|---|
//! | `-L`, `--modules-path` | modules are part of the program: nothing is loaded at run time |
//! | `-v`, `-d`, `-e`, `-f`, `--edebug` … | there is one level of messages, on standard error; `-e` is the filter's |
//! | `-M`, `--memory` | was for finding leaks |
//! | `textDump -s`, `--field_names` | left names of fields out, against its name: `--no-field-names`; `-s` is `--stats` |
//! | `textDump -c`, `-p`, `--cpu_stats`, `--process_stats` | did nothing: statistics have both |
//! | `textDump -o`, `-a` | of module `print`, for what all modules print |
//! | `precomputeState -o`, `-q`, `-r` | `precompute --history` and `--checkpoints`: other files, for other readers |
//! | `depanalysis --limit-events` | `depAnalysis --dep-limit`: steps of the path that is printed |
//! | `sync`, `sync_chain_batch` | clocks of several machines are not brought together |
//! | `batchtest` | the tests and benchmarks of the crates |

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod cli;
mod run;

use std::process::ExitCode;

fn main() -> ExitCode {
    run::main()
}
