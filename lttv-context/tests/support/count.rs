//! An extension that counts events.

use std::ops::ControlFlow;

use lttv_context::{Extension, ExtensionIdentity, Handle, Setup, Subscription};
use lttv_hooks::Priority;

/// An extension whose state is the number of events so far, also of those that other hooks do not
/// receive. The other fields are options.
#[derive(Debug, Default)]
pub(crate) struct Count {
    pub(crate) events: u64,
    /// The version and options in its identity.
    pub(crate) version: u32,
    pub(crate) options: u64,
    /// The number of an event, from 1, after which its hook asks to end the read.
    pub(crate) breaks_at: Option<u64>,
    /// `true` if it may start to count anywhere.
    pub(crate) starts_anywhere: bool,
}

impl Extension for Count {
    type Checkpoint = u64;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        let all = Subscription::to_every_event().priority(Priority::STATE);
        setup.hooks.on_event(all, move |call| {
            let count = &mut call.extensions[handle];
            count.events += 1;
            match count.breaks_at == Some(count.events) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
    }

    fn reset(&mut self) {
        self.events = 0;
    }

    fn save(&self) -> u64 {
        self.events
    }

    fn restore(&mut self, saved: &u64) {
        self.events = *saved;
    }

    fn checkpoint_bytes(_: &u64, _: Option<&u64>) -> usize {
        size_of::<Self::Checkpoint>()
    }

    fn identity(&self) -> ExtensionIdentity {
        ExtensionIdentity { name: "count", version: self.version, options: self.options }
    }

    fn needs_earlier_state(&self) -> bool {
        !self.starts_anywhere
    }
}
