//! Collection of the bytes that processes move, and of requests to block devices.

use super::collect::{Collector, facts};
use super::facts::DeviceFacts;
use super::leaf::LeafKey;
use crate::kernel::{ProcessIndex, Request, RequestKind, RequestStep, TraceState, Transfer};

impl Collector {
    /// Counts bytes that a process read or wrote, for the process and for the leaf of the
    /// system call.
    #[cold]
    pub(super) fn transferred(
        &mut self,
        state: &TraceState,
        process: ProcessIndex,
        transfer: Transfer,
        bytes: u64,
    ) {
        let Some(process) = state.process(process) else { return };
        let facts = facts(&mut self.processes, process.serial().index());
        facts.bytes_read = facts.bytes_read.saturating_add(transfer.read(bytes));
        facts.bytes_written = facts.bytes_written.saturating_add(transfer.written(bytes));
        let place = state.effect().place();
        let Some(key) = self.log.key(place) else { return };
        let ended = state.effect().ended();
        let left = ended.map(|ended| LeafKey { mode: ended.mode, submode: ended.submode, ..*key });
        self.log.transferred(place, left.as_ref(), transfer, bytes);
    }

    /// Counts a step of a request to a block device.
    #[cold]
    pub(super) fn request(&mut self, state: &TraceState, request: Request) {
        let time = state.effect().time().as_ns();
        if request.step == RequestStep::Issued
            && let Some(running) = state.effect().cpu().and_then(|cpu| state.running(cpu))
        {
            let facts = facts(&mut self.processes, running.serial().index());
            let sum = match request.kind {
                RequestKind::Read => Some(&mut facts.blocks_read),
                RequestKind::Write => Some(&mut facts.blocks_written),
                RequestKind::Other => None,
            };
            if let Some(sum) = sum {
                *sum = sum.saturating_add(request.bytes);
            }
        }
        self.log.request(state.effect().place(), &request);
        let Some(at) = request.device else { return };
        while self.devices.len() <= at {
            let Some(device) = state.devices().get(self.devices.len()) else { return };
            self.devices.push(DeviceFacts::new(device.number(), time, 0));
        }
        let in_flight = state.devices()[at].in_flight();
        self.devices[at].request(request, in_flight, time);
    }
}
