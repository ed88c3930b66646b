//! `lttv sql`: SQL over traces, by a program of its own because of its size.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use lttv_common::report::{Report, Usage};

/// The name of the program.
const PROGRAM: &str = "lttv-sql";

const EXAMPLES: &str = "\
Examples:
  lttv sql TRACE                                        a shell
  lttv sql TRACE -c 'SELECT name, count(*) FROM events GROUP BY name'
  lttv sql -- --help                                    the options of lttv-sql";

/// Query traces with SQL, by the program lttv-sql
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct SqlArgs {
    /// Arguments of lttv-sql.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// Becomes the program for SQL.
///
/// # Errors
///
/// If there is none beside this program or in `PATH`, or if it cannot be executed.
pub fn run(args: &SqlArgs, _: &mut Report) -> Result<(), Box<dyn Error>> {
    let Some(program) = found() else {
        let reason = "SQL is a program of its own, lttv-sql, which is neither beside this one nor in PATH: \
                      cargo install --path examples/programs/sql/query";
        return Err(Usage::new(reason).into());
    };
    // Only returns if it fails.
    let error = Command::new(&program).args(&args.arguments).exec();
    Err(format!("{}: {error}", program.display()).into())
}

/// Returns the path of the program: beside this one, or in `PATH`.
fn found() -> Option<PathBuf> {
    let beside = env::current_exe().ok().and_then(|path| Some(path.parent()?.to_owned()));
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders = beside.into_iter().chain(env::split_paths(&path));
    folders.find_map(|folder| Some(folder.join(PROGRAM)).filter(|path| path.is_file()))
}
