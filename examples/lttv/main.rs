//! The main program of LTTV: loads modules and runs them.
//!
//! ```text
//! cargo run --release --example lttv -- -m textDump -t TRACE -e 'event.name == sched_switch'
//! cargo run --release --example lttv -- -m interrupts -m diskPerformance -t TRACE -s
//! cargo run --release --example lttv -- -l -t TRACE
//! cargo run --release --example lttv -- -m textDump --help
//! ```
//!
//! # LTTV's options
//!
//! Options have the names that they have in LTTV, with hyphens or underscores between words
//! (`--path_output`). Differences:
//!
//! | LTTV | here |
//! |---|---|
//! | `-L`, `--modules-path` | modules are part of the program; none is loaded at run time |
//! | `-v`, `-d`, `-e`, `-f`, `--edebug` … | there is one level of messages, on standard error; `-e` and `-f` belong to the filter |
//! | `-M`, `--memory` | none: it was for finding leaks |
//! | `textFilter -l` | `-l` needs no module; `--list-fields` is its long form |
//! | `textDump -s`, `--field_names` | `--no-field-names`, since it omitted the names of fields; `-s` is `--stats` |
//! | `textDump -c`, `-p`, `--cpu_stats`, `--process_stats` | none: they had no effect, and statistics contain both |
//! | `textDump -o`, `-a` | the same options of module `print`, for the output of all modules |
//! | `precomputeState -o`, `-q`, `-r` | `precompute --history` and `--checkpoints`, with other file formats |
//! | `depanalysis --limit-events` | `depAnalysis --dep-limit`, the number of steps of the path that are printed |
//! | `sync`, `sync_chain_batch` | none: clocks of several machines are not synchronised |
//! | `batchtest` | the tests and benchmarks of the crates |

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod cli;
mod run;

use std::process::ExitCode;

fn main() -> ExitCode {
    run::main()
}
