//! Latencies that are being collected in a context.

use std::ops::{Bound, RangeBounds};

use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{Extensions, Handle, TracesetContext};

use super::extension::{Latencies, TraceLatencies};
use super::{Latency, Settings, TraceLatency};
use crate::kernel::KernelState;
use crate::last_event::last_event;

/// A handle of latencies that are being collected in a context. It is valid only in that context.
#[derive(Debug, Clone, Copy)]
pub struct LatencyHandle(pub(super) Handle<Latencies>);

impl Latency {
    /// Registers the collection of latencies for the events that
    /// [`read`](TracesetContext::read) reads from now on. `kernel` must be attached to the same
    /// context before.
    ///
    /// Checkpoints contain what is open at their position: after
    /// [`seek_time_with_state`](TracesetContext::seek_time_with_state) durations have their true
    /// begin. At the position of this call, nothing is known to be open: it is best called at the
    /// start of the traceset.
    pub fn attach(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        settings: Settings,
    ) -> LatencyHandle {
        LatencyHandle(context.attach(Latencies::new(kernel, settings)))
    }

    /// Registers the collection of latencies in a time window, and seeks the start of the window
    /// with the state there. The caller then reads to the end of the window.
    ///
    /// Durations that end in the window are included, from their true begin; see
    /// [`began_before`](TraceLatency::began_before).
    ///
    /// ```
    /// use ltt_read::TraceIndex;
    /// use lttv_context::{Bounds, TracesetContext, Traceset};
    /// use lttv_state::kernel::KernelState;
    /// use lttv_state::latency::{Family, Latency, Settings};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let kernel = context.attach(KernelState::new());
    /// let start = context.extensions()[kernel].trace(TraceIndex(0)).expect("a trace").start_time();
    /// let window = start.saturating_add(1_000_000)..start.saturating_add(300_000_000);
    /// let settings = Settings::new();
    /// let latency = Latency::attach_window(&mut context, kernel, settings, window.clone());
    /// assert_eq!(context.read(&Bounds::all().until(window.end))?.errors, 0);
    ///
    /// let latency = latency.take_until(context.extensions(), window.end);
    /// let calls = latency.traces()[0].total(Family::Syscall);
    /// assert!(calls.durations().count() > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attach_window(
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        settings: Settings,
        window: impl RangeBounds<Timestamp>,
    ) -> LatencyHandle {
        let handle = Self::attach(context, kernel, settings);
        if let Bound::Included(start) | Bound::Excluded(start) = window.start_bound() {
            context.seek_time_with_state(*start);
            handle.restart(context.extensions_mut(), *start);
        }
        handle
    }
}

impl LatencyHandle {
    /// Drops what was collected, and starts to collect at a time: that at which the context stands,
    /// with its state.
    pub fn restart(self, extensions: &mut Extensions, time: Timestamp) {
        self.restart_each(extensions, |_| time.as_ns());
    }

    pub(super) fn restart_each(self, extensions: &mut Extensions, time: impl Fn(usize) -> i64) {
        let Some(kernel) = extensions.get(self.0).map(|of| of.kernel) else { return };
        let Some((latencies, kernel)) = extensions.get_pair_mut(self.0, kernel) else { return };
        latencies.restart(|index| {
            let first = kernel.trace(TraceIndex(index)).map(|state| state.start_time().as_ns());
            time(index).max(first.unwrap_or(i64::MIN))
        });
    }

    /// Returns the latencies collected so far, as final: all events of the traceset have been read.
    /// `extensions` are those of the context, which hooks have access to as well.
    ///
    /// The latencies are empty if `extensions` are those of another context.
    pub fn take(self, extensions: &Extensions) -> Latency {
        self.take_each(extensions, |_, of| last_event(&of.trace).as_ns())
    }

    /// Returns the latencies collected so far, up to a time that has been read to. Those of the
    /// following events can be [added](Latency::add).
    pub fn take_until(self, extensions: &Extensions, time: Timestamp) -> Latency {
        self.take_each(extensions, |_, _| time.as_ns())
    }

    pub(super) fn take_each(
        self,
        extensions: &Extensions,
        end: impl Fn(usize, &TraceLatencies) -> i64,
    ) -> Latency {
        let Some(latencies) = extensions.get(self.0) else { return Latency::default() };
        let Some(kernel) = extensions.get(latencies.kernel) else { return Latency::default() };
        let periods = &latencies.settings.periods;
        let states = kernel.traces().zip(&latencies.traces).enumerate();
        let traces = states
            .map(|(trace, (state, of))| TraceLatency::new(state, of, periods, end(trace, of)));
        Latency { traces: traces.collect() }
    }
}
