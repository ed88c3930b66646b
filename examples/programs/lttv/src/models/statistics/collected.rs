//! The statistics and events of a window, as they are read.

use std::collections::BTreeMap;

use lttv_state::stats::Statistics;

use super::call::Call;
use super::picked::Picked;

/// The statistics of a window.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) statistics: Statistics,
    /// The longest system call, whose time is the window, if one was requested.
    pub(crate) longest: Option<Call>,
    /// The events of each trace by name: those that pass the filters.
    pub(crate) events: Vec<BTreeMap<String, u64>>,
    pub(crate) is_filtered: bool,
    pub(crate) picked: Picked,
    /// The names of the traces in tables, by trace index.
    pub(crate) names: Vec<String>,
    /// The contradictions in each trace, such as exits of system calls without an entry.
    pub(crate) anomalies: Vec<Vec<(String, u64)>>,
}
