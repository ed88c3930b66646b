//! Reading of a window in the order of time, with the kernel state.

use std::error::Error;
use std::ops::ControlFlow;

use lttv_common::kernel_hooks::{AFTER_STATE, kernel_state};
use lttv_common::progress::Progress;
use lttv_common::time::Window;
use lttv_context::{EndReason, EventCall, Handle, Subscription, TracesetContext};
use lttv_hooks::Flow;
use lttv_state::kernel::KernelState;

use super::Conversion;

/// The number of events between two looks for an interrupt.
const BATCH: u64 = 1 << 14;

/// A read of all traces in one order.
pub(super) struct InOrder<'h> {
    conversion: &'h Conversion<'h>,
    window: Window,
    pub(super) context: TracesetContext<'h>,
    kernel: Handle<KernelState>,
}

impl<'h> InOrder<'h> {
    /// Prepares the read of a window, with the state at its begin.
    pub(super) fn new(conversion: &'h Conversion<'h>, window: Window) -> Self {
        let mut context = TracesetContext::new(&conversion.traceset);
        let kernel = context.attach(kernel_state(conversion.traces()));
        if let Some(begin) = window.begin {
            context.state().seek_time(begin);
        }
        InOrder { conversion, window, context, kernel }
    }

    /// Returns the kernel state at the current place.
    pub(super) fn state(&self) -> &KernelState {
        &self.context.extensions()[self.kernel]
    }

    /// Reads up to the end of the window. `each` receives every event, the kernel state after it,
    /// and `true` if the event is in the window and wanted. A `Break` ends the read.
    ///
    /// # Errors
    ///
    /// If the user has interrupted the program.
    pub(super) fn read(
        &mut self,
        mut each: impl FnMut(&EventCall<'_, '_>, &KernelState, bool) -> Flow + 'h,
    ) -> Result<(), Box<dyn Error>> {
        let (conversion, window, kernel) = (self.conversion, self.window, self.kernel);
        let every = Subscription::to_every_event().priority(AFTER_STATE);
        self.context.on_event(every, move |call: &mut EventCall<'_, '_>| {
            let is_wanted =
                window.contains(call.event.timestamp()) && conversion.wants(call, kernel);
            each(call, &call.extensions[kernel], is_wanted)
        });
        let bounds = match window.begin {
            Some(begin) => window.bounds().since(begin),
            None => window.bounds(),
        };
        let mut progress = Progress::new(false);
        let end = self.context.read_steps(&bounds, BATCH, |context| {
            progress.update(context.merge().progress());
            match conversion.check(0) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        })?;
        match end.reason {
            EndReason::Stopped => Ok(conversion.check(end.events)?),
            _ => Ok(()),
        }
    }
}
