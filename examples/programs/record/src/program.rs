//! The programs of tracers.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::RecordError;

/// The greatest number of bytes of an error message that are shown.
const MAX_SAID: usize = 2000;

/// Returns the path of a program in the folders of a search path.
pub(crate) fn find(name: &str, search: &OsStr) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        path.metadata()
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(search).map(|folder| folder.join(name)).find(is_program)
}

/// Runs a program that reads no input. Returns what it printed. A lock is held until the program has ended, even if this
/// one ends before.
pub(crate) fn output<A: AsRef<OsStr>>(
    program: &Path,
    args: &[A],
    lock: Option<File>,
) -> Result<String, RecordError> {
    let stdin = lock.map_or_else(Stdio::null, Stdio::from);
    let run = Command::new(program).args(args).env("LC_ALL", "C").stdin(stdin).output();
    let run = run.map_err(RecordError::io("run", program))?;
    match run.status.success() {
        true => Ok(String::from_utf8_lossy(&run.stdout).into_owned()),
        false => {
            let name = program.file_name().unwrap_or_default().to_owned();
            let words =
                std::iter::once(name).chain(args.iter().map(|arg| OsString::from(arg.as_ref())));
            let words: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
            let said = if run.stderr.is_empty() { &run.stdout } else { &run.stderr };
            Err(RecordError::Program { program: words.join(" "), said: end(said) })
        }
    }
}

/// Returns the end of what a program has written.
pub(crate) fn end(said: &[u8]) -> String {
    let from = said.len().saturating_sub(MAX_SAID);
    String::from_utf8_lossy(&said[from..]).trim().to_owned()
}
