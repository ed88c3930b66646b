//! Requests to block devices in a time window.

use std::collections::BTreeMap;

use ltt_read::TraceIndex;
use lttv_context::EventCall;
use lttv_state::kernel::{DeviceNumber, KernelState, RequestKind, RequestStep, Transition};

use super::collected::Collect;

/// The completed requests to a block device.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    /// The name; empty if unknown.
    pub name: String,
    /// The number of reads, and their bytes.
    pub read: (u64, u64),
    /// The number of writes, and their bytes.
    pub written: (u64, u64),
    /// The number of other requests.
    pub others: u64,
}

/// The block devices that completed requests in a time window.
#[derive(Debug, Default)]
pub struct Disks {
    all: BTreeMap<(TraceIndex, DeviceNumber), Disk>,
}

impl Disks {
    /// Iterates over all block devices, by trace index and device number.
    pub fn all(&self) -> impl Iterator<Item = (&(TraceIndex, DeviceNumber), &Disk)> {
        self.all.iter()
    }
}

impl Collect for Disks {
    fn event(&mut self, kernel: &KernelState, call: &EventCall<'_, '_>) {
        let trace = call.trace.index();
        let transition = kernel.transition(trace, call.event.type_id());
        if transition != Some(Transition::BlockComplete) {
            return;
        }
        let Some(state) = kernel.trace(trace) else { return };
        let Some(request) = state.effect().request() else { return };
        let Some(device) = request.device.and_then(|at| state.devices().get(at)) else { return };
        if request.step != RequestStep::Completed {
            return;
        }
        let disk = self.all.entry((trace, device.number())).or_default();
        if disk.name.is_empty() {
            disk.name = state.name(device.name()).to_owned();
        }
        let count = |of: &mut (u64, u64)| *of = (of.0 + 1, of.1.saturating_add(request.bytes));
        match request.kind {
            RequestKind::Read => count(&mut disk.read),
            RequestKind::Write => count(&mut disk.written),
            RequestKind::Other => disk.others += 1,
        }
    }
}
