//! Settings of the system's memory allocator.
//!
//! The allocator of glibc keeps what each thread has freed, in up to eight arenas for a processor, and
//! raises its own limits when large blocks are freed. Answers are computed by many threads, one after the
//! other, so that most of the memory of a busy hour would stay. Two arenas and fixed limits take no more
//! time, and give it back.

use std::env;
use std::ffi::OsStr;
use std::process::Command;

/// The environment variables that glibc reads when a program starts.
const SETTINGS: [(&str, &str); 3] = [
    ("MALLOC_ARENA_MAX", "2"),
    ("MALLOC_TRIM_THRESHOLD_", "1048576"),
    ("MALLOC_MMAP_THRESHOLD_", "1048576"),
];

/// Starts the program again with the settings, in the same process. Returns if the user has made settings,
/// and if it cannot be started again.
pub(crate) fn apply() {
    let is_set = |name: &str| env::var_os(name).is_some();
    if cfg!(target_env = "gnu") && !SETTINGS.iter().any(|(name, _)| is_set(name)) {
        start_again();
    }
}

#[cfg(unix)]
fn start_again() {
    use std::os::unix::process::CommandExt;

    let Ok(program) = env::current_exe() else { return };
    let mut arguments = env::args_os();
    let name = arguments.next();
    let mut again = Command::new(&program);
    again.arg0(name.as_deref().unwrap_or(OsStr::new(&program))).args(arguments).envs(SETTINGS);
    // It returns an error only.
    _ = again.exec();
}

#[cfg(not(unix))]
fn start_again() {}
