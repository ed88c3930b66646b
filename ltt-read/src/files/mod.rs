//! Finding and opening the files of traces.

pub(crate) mod entries;
pub(crate) mod file_id;
pub(crate) mod findings;
pub(crate) mod once;
