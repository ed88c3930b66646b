//! Ids that are computed from names, so that they are the same in each run.

use std::path::Path;

use uuid::Uuid;

/// Returns the id of a trace with a path and a name.
pub(super) fn of_trace(path: &Path, name: &str) -> Uuid {
    of(&[b"trace", path.as_os_str().as_encoded_bytes(), name.as_bytes()])
}

/// Returns the id of an experiment.
pub(super) fn of_experiment(name: &str) -> Uuid {
    of(&[b"experiment", name.as_bytes()])
}

fn of(parts: &[&[u8]]) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_URL, &parts.join(&0))
}
