//! The collected statistics of a trace.

use super::facts::{DeviceFacts, ProcessFacts};
use super::leaf::Leaves;

/// The statistics of a trace, collected up to a time.
#[derive(Debug, Clone)]
pub(super) struct Collected {
    pub(super) leaves: Leaves,
    /// The facts about processes, by serial number.
    pub(super) processes: Vec<ProcessFacts>,
    pub(super) devices: Vec<DeviceFacts>,
    pub(super) begin: i64,
    pub(super) last: i64,
}

impl Collected {
    /// Adds the statistics of the following part of the trace.
    pub(super) fn add(&mut self, later: &Collected) {
        self.leaves.add(&later.leaves);
        for (at, facts) in later.processes.iter().enumerate() {
            match self.processes.get_mut(at) {
                Some(mine) => mine.add(facts),
                None => self.processes.push(facts.clone()),
            }
        }
        for (at, device) in later.devices.iter().enumerate() {
            match self.devices.get_mut(at) {
                Some(mine) => mine.add(device),
                None => self.devices.push(device.clone()),
            }
        }
        self.last = later.last.max(self.last);
    }
}
