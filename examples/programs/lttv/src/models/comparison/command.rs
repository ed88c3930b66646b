//! The names of processes in comparisons.

use lttv_state::kernel::Tid;

/// The command of idle processes, and their mode while no interrupt is handled.
pub(super) const IDLE: &str = "idle";
/// The command of processes that are not known.
const UNKNOWN: &str = "unknown";

/// Returns the command of a process.
pub(super) fn command(tid: Option<Tid>, name: &str) -> String {
    match (tid, name) {
        (Some(0), _) => IDLE.to_owned(),
        (Some(tid), "") => format!("({tid})"),
        (Some(_), name) => name.to_owned(),
        (None, _) => UNKNOWN.to_owned(),
    }
}
