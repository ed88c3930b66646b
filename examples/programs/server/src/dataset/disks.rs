//! The completed requests to block devices.

use std::sync::atomic::AtomicBool;

use ltt_read::TraceIndex;
use lttv_context::{Bounds, Subscription, Traceset, TracesetContext};
use lttv_state::kernel::{DeviceNumber, KernelState, RequestKind, RequestStep, Transition};

use super::faults::Found;

/// The requests to a block device.
#[derive(Debug, Clone)]
pub struct Disk {
    /// The trace.
    pub trace: TraceIndex,
    /// The number of the device.
    pub number: DeviceNumber,
    /// The name; empty if it is unknown.
    pub name: String,
    /// The reads: times in ns, and the bytes of all requests up to each.
    pub read: Vec<(i64, u64)>,
    /// The writes.
    pub written: Vec<(i64, u64)>,
}

/// The greatest number of requests that are stored.
const MOST: usize = 20_000_000;

/// Reads the requests to all block devices. The output is `None` if `stop` is set.
pub(super) fn read(traceset: &Traceset, stop: &AtomicBool) -> Found<Option<Vec<Disk>>> {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let disks = context.attach_data(Vec::<Disk>::new());
    let mut rest = MOST;
    context.on_event(Subscription::to_every_event(), move |call| {
        let trace = call.trace.index();
        let state = &call.extensions[kernel];
        let transition = state.transition(trace, call.event.type_id());
        if transition != Some(Transition::BlockComplete) || rest == 0 {
            return;
        }
        let Some(state) = state.trace(trace) else { return };
        let Some(request) = state.effect().request() else { return };
        let Some(device) = request.device.and_then(|at| state.devices().get(at)) else { return };
        if request.step != RequestStep::Completed {
            return;
        }
        let (number, bytes, kind) = (device.number(), request.bytes, request.kind);
        let name = state.name(device.name()).to_owned();
        let time = call.event_time().as_ns();
        let all = &mut call.extensions[disks];
        let known = all.iter().position(|disk| (disk.trace, disk.number) == (trace, number));
        let at = known.unwrap_or_else(|| {
            let (read, written) = (Vec::new(), Vec::new());
            all.push(Disk { trace, number, name, read, written });
            all.len() - 1
        });
        let list = match kind {
            RequestKind::Read => &mut all[at].read,
            RequestKind::Write => &mut all[at].written,
            RequestKind::Other => return,
        };
        rest -= 1;
        let before = list.last().map_or(0, |(_, bytes)| *bytes);
        list.push((time, before.saturating_add(bytes)));
    });
    let Found { output, faults } = super::reading::read(&mut context, &Bounds::all(), stop);
    let output = output.map(|()| {
        let mut all = std::mem::take(&mut context.extensions_mut()[disks]);
        all.sort_by_key(|disk| (disk.trace, disk.number));
        all
    });
    Found { output, faults }
}
