//! Reading a traceset for an analysis.

use std::fmt;
use std::ops::{ControlFlow, RangeBounds};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ltt_read::{Error, Timestamp};
use lttv_context::{
    Bounds, EndReason, Extension, ReadEnd, SliceAnalysis, SliceThreads, Traceset, TracesetContext,
};
use lttv_hooks::Flow;

use super::kernel_analysis::{End, KernelAnalysis};
use super::slices::{InOrder, InSlices};
use super::window::Window;
#[cfg(feature = "filter")]
use crate::filter::KernelFilters;
use crate::kernel::{Follower, KernelState, Recorder};

/// A read of a traceset for an analysis of the kernel state, created by [`read`].
pub struct Read<'r> {
    traceset: &'r Traceset,
    kernel: KernelState,
    window: Window,
    threads: SliceThreads,
    #[cfg(feature = "filter")]
    filters: Option<KernelFilters>,
    cancel: Option<&'r AtomicBool>,
    progress: Option<Box<Watch<'r>>>,
}

/// A function that is called after each slice with the context that reads.
type Watch<'r> = dyn FnMut(&mut TracesetContext<'r>) + 'r;

/// The result of a read.
#[derive(Debug)]
#[must_use = "`errors` tells whether the read met damage"]
#[non_exhaustive]
pub struct Analyzed<T> {
    /// The result of the analysis.
    pub output: T,
    /// The kernel state at the end.
    pub kernel: KernelState,
    /// The number of events in the window.
    pub events: u64,
    /// `true` if the read was cancelled. The result is that up to there.
    pub is_stopped: bool,
    /// The errors met while reading. They do not depend on the number of threads.
    pub errors: Vec<Error>,
    /// The number of further errors that are not in `errors`, see
    /// [`Merge::errors_omitted`](ltt_read::Merge::errors_omitted).
    pub errors_omitted: u64,
    /// The number of notices that were omitted.
    pub notices_omitted: u64,
}

/// Creates a read of a whole traceset on one thread.
pub fn read(traceset: &Traceset) -> Read<'_> {
    Read {
        traceset,
        kernel: KernelState::new(),
        window: Window::everything(),
        threads: SliceThreads::new(1),
        #[cfg(feature = "filter")]
        filters: None,
        cancel: None,
        progress: None,
    }
}

impl<'r> Read<'r> {
    /// Sets the kernel state before the first event. The default is [`KernelState::new`].
    #[must_use]
    pub fn kernel(self, kernel: KernelState) -> Self {
        Read { kernel, ..self }
    }

    /// Sets a time window: see [windows](super#windows).
    #[must_use]
    pub fn window(self, window: impl RangeBounds<Timestamp>) -> Self {
        Read { window: Window::of(&window), ..self }
    }

    /// Sets filters, which select events: see
    /// [`StateChange::is_selected`](crate::kernel::StateChange::is_selected). The state follows from
    /// all events.
    #[cfg(feature = "filter")]
    #[must_use]
    pub fn filter(self, filters: KernelFilters) -> Self {
        Read { filters: Some(filters), ..self }
    }

    /// Sets the number of threads, with the calling thread: see [`SliceThreads::new`].
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        self.in_slices(SliceThreads::new(threads))
    }

    /// Sets the number of threads and the number of events of each slice.
    #[must_use]
    pub fn in_slices(self, threads: SliceThreads) -> Self {
        Read { threads, ..self }
    }

    /// Sets a flag that stops the read when it is set.
    #[must_use]
    pub fn cancel(self, flag: &'r AtomicBool) -> Self {
        Read { cancel: Some(flag), ..self }
    }

    /// Sets a function that is called after each slice of some thousand events, with the context that
    /// reads: for its progress and notices.
    #[must_use]
    pub fn progress(self, watch: impl FnMut(&mut TracesetContext<'r>) + 'r) -> Self {
        Read { progress: Some(Box::new(watch)), ..self }
    }

    /// Reads the traces for an analysis.
    ///
    /// # Panics
    ///
    /// Panics if the analysis, the filters or the function of [`progress`](Self::progress) do.
    pub fn run<A: KernelAnalysis>(mut self, mut analysis: A) -> Analyzed<A::Output> {
        let mut context = TracesetContext::new(self.traceset);
        let selected = self.select(&mut context);
        let Read { kernel, window, threads, cancel, progress, .. } = self;
        let (recorder, kernel) = Recorder::new(context.contexts(), kernel);
        analysis.prepare(context.contexts(), &kernel);
        let mut of_context = None;
        analysis.attach(&mut context, &mut |context| {
            *of_context.get_or_insert_with(|| context.attach(kernel.empty_like()))
        });
        let follower = Follower::new(context.contexts(), recorder.clone(), kernel);
        let mut reading = Reading { context, threads, cancel, progress, is_stopped: false };
        let new = || InSlices::new(&analysis, recorder.clone(), selected.clone());
        let (mut order, mut part) = match window.start() {
            Some(start) if analysis.keeps_state() => {
                let (own, mut part) = analysis.begin(follower.kernel(), window);
                let mut order = InOrder { follower, own, events: 0 };
                let before = Bounds::all().until_start_of(start);
                reading.read(&new().before_window(), (&mut order, &mut part), &before);
                analysis.enter(&mut order.own, &mut part, order.follower.kernel(), window);
                (order, part)
            }
            Some(start) => {
                let mut order = InOrder { follower, own: (), events: 0 };
                let only_state = InSlices::new(&(), recorder.clone(), None);
                let before = Bounds::all().until_start_of(start);
                reading.read(&only_state.before_window(), (&mut order, &mut ()), &before);
                let (own, part) = analysis.begin(order.follower.kernel(), window);
                (InOrder { follower: order.follower, own, events: 0 }, part)
            }
            None => {
                let (own, part) = analysis.begin(follower.kernel(), window);
                (InOrder { follower, own, events: 0 }, part)
            }
        };
        let within = window.start().map_or(Bounds::all(), |start| Bounds::all().since(start));
        let to_end =
            window.until().map_or(within.clone(), |until| within.clone().until_start_of(until));
        let mut events = reading.read(&new(), (&mut order, &mut part), &to_end);
        if let Some(until) = window.until() {
            // Where a clock goes back, events of the window may follow. The state at its end remains.
            let (kernel, own) = (order.follower.kernel().save(), order.own.clone());
            events += reading.read(&new(), (&mut order, &mut part), &within.until(until));
            order.follower.kernel_mut().restore(&kernel);
            analysis.end_window(&mut order.own, own);
        }
        let Reading { mut context, is_stopped, .. } = reading;
        let InOrder { follower, own, .. } = order;
        let kernel = follower.into_kernel();
        let end = End { kernel: &kernel, window, is_stopped, reached: None };
        let output = analysis.finish(own, part, end);
        let (errors, errors_omitted) = (context.take_errors(), context.merge().errors_omitted());
        let notices_omitted = context.merge().notices_omitted();
        Analyzed { output, kernel, events, is_stopped, errors, errors_omitted, notices_omitted }
    }

    /// Adds a hook that evaluates the filters, and returns where it leaves the result.
    fn select(&mut self, context: &mut TracesetContext<'r>) -> Option<Arc<AtomicBool>> {
        #[cfg(feature = "filter")]
        if let Some(filters) = self.filters.take() {
            // Filters that ask the state have one of their own.
            let filters = match filters.uses_state() {
                true => filters.with_state(context.attach(self.kernel.empty_like())),
                false => filters,
            };
            let selected = Arc::new(AtomicBool::new(true));
            let found = Arc::clone(&selected);
            context.on_event("*", move |call| {
                found.store(filters.matches(call), Ordering::Relaxed);
            });
            return Some(selected);
        }
        let _ = context;
        None
    }
}

impl fmt::Debug for Read<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Read { traceset, window, threads, .. } = self;
        let mut all = f.debug_struct("Read");
        all.field("traceset", traceset).field("window", window).field("threads", threads);
        all.finish_non_exhaustive()
    }
}

/// A context that reads until it is stopped.
struct Reading<'r> {
    context: TracesetContext<'r>,
    threads: SliceThreads,
    cancel: Option<&'r AtomicBool>,
    progress: Option<Box<Watch<'r>>>,
    is_stopped: bool,
}

impl<'r> Reading<'r> {
    /// Reads events within bounds, and returns their number.
    fn read<A: SliceAnalysis>(
        &mut self,
        analysis: &A,
        result: (&mut A::State, &mut A::Part),
        bounds: &Bounds,
    ) -> u64 {
        if self.is_stopped {
            return 0;
        }
        let Reading { context, threads, cancel, progress, .. } = self;
        let passed = |context: &mut TracesetContext<'r>| -> Flow {
            if let Some(progress) = progress {
                progress(context);
            }
            match cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let read = context.read_analysis(analysis, result, bounds, *threads, passed);
        // The bounds contain no position that could be stale.
        let Ok(ReadEnd { events, reason, .. }) = read else { return 0 };
        self.is_stopped = reason == EndReason::Stopped;
        events
    }
}
