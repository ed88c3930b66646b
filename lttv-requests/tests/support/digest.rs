//! An extension whose state depends on every event and on the order of events.

use lttv_context::{EventCall, Extension, Growth, Handle, Setup, Subscription};
use lttv_hooks::Priority;

use super::tracesets::Known;

#[derive(Debug, Default, PartialEq, Eq, Clone)]
pub(crate) struct Digest {
    events: u64,
    sum: u64,
}

impl Digest {
    pub(crate) fn add(&mut self, event: Known) {
        self.events += 1;
        let event = u64::from(event.number) << 8 | (event.trace << 4 | event.tracefile) as u64;
        self.sum = (self.sum ^ event).wrapping_mul(0x0100_0000_01b3);
    }
}

/// The identity of an event in the model.
pub(crate) fn known(call: &EventCall<'_, '_>) -> Known {
    let number = call.event.field("number").and_then(|v| v.as_u64()).expect("a number");
    Known {
        time: call.delivery_time(),
        trace: call.trace.index().0,
        tracefile: call.tracefile.index().0,
        number: number as u32,
    }
}

impl Extension for Digest {
    type Checkpoint = Digest;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        let all = Subscription::to_every_event().priority(Priority::STATE);
        setup.hooks.on_event(all, move |call| {
            let event = known(call);
            call.extensions[handle].add(event);
        });
    }

    fn growth(&self) -> Option<Growth<Self>> {
        Some(|_, _| {})
    }

    fn reset(&mut self) {
        *self = Digest::default();
    }

    fn save(&self) -> Digest {
        self.clone()
    }

    fn restore(&mut self, checkpoint: &Digest) {
        self.clone_from(checkpoint);
    }

    fn checkpoint_bytes(_: &Digest, _: Option<&Digest>) -> usize {
        size_of::<Self::Checkpoint>()
    }
}
