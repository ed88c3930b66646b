//! Reading a traceset for an analysis.

use std::fmt;
use std::ops::{ControlFlow, RangeBounds};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ltt_read::{Error, Timestamp};
use lttv_context::{
    Bounds, EndReason, Extension, Handle, ReadEnd, SliceThreads, Traceset, TracesetContext,
};
use lttv_hooks::Flow;

use super::kernel_analysis::{End, KernelAnalysis};
use super::slices::{InOrder, InSlices};
use super::window::Window;
#[cfg(feature = "filter")]
use crate::filter::KernelFilters;
use crate::kernel::OwnStates;
use crate::kernel::{Follower, KernelState, Recorder, SavedStates};

/// A read of a traceset for an analysis of the kernel state, created by [`read`].
pub struct Read<'r> {
    traceset: &'r Traceset,
    kernel: KernelState,
    window: Window,
    threads: SliceThreads,
    #[cfg(feature = "filter")]
    filters: Option<KernelFilters>,
    saved: Option<&'r mut SavedStates>,
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
    /// The number of events that were read before the window, for the state at its start.
    pub events_before: u64,
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
        saved: None,
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

    /// Sets states from which the read continues instead of reading everything before a window, unless
    /// the analysis [keeps state](KernelAnalysis::keeps_state). The read adds states to them, until it
    /// meets damage: so the errors that a read meets do not depend on them.
    #[must_use]
    pub fn saved(self, states: impl Into<Option<&'r mut SavedStates>>) -> Self {
        Read { saved: states.into(), ..self }
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
        let (selected, of_filters) = self.select(&mut context);
        let Read { kernel, window, threads, saved, cancel, progress, .. } = self;
        let (recorder, kernel) = Recorder::new(context.contexts(), kernel);
        analysis.prepare(context.contexts(), &kernel);
        let mut of_context = None;
        analysis.attach(&mut context, &mut |context| {
            *of_context.get_or_insert_with(|| context.attach(kernel.empty_like()))
        });
        let mut follower = Follower::new(context.contexts(), recorder.clone(), kernel);
        let mut reading = Reading { context, threads, saved, cancel, progress, is_stopped: false };
        let of_hooks: Vec<_> = of_filters.into_iter().chain(of_context).collect();
        let new = || InSlices::new(&analysis, recorder.clone(), selected.clone());
        let mut events_before = 0;
        let (mut order, mut part) = match window.start() {
            Some(start) if analysis.keeps_state() => {
                let (first, mut part) = analysis.begin(follower.kernel(), window);
                let saved =
                    reading.restore_with(&analysis, follower.kernel_mut(), &of_hooks, start);
                let own = saved.unwrap_or(first);
                let mut order = InOrder { follower, own, events: 0 };
                let result = (&mut order, &mut part);
                events_before = reading.read_before(&new().before_window(), result, start);
                order.follower.kernel_mut().reach(start);
                analysis.enter(&mut order.own, &mut part, order.follower.kernel(), window);
                (order, part)
            }
            Some(start) => {
                reading.restore(follower.kernel_mut(), &of_hooks, start);
                let mut order = InOrder { follower, own: (), events: 0 };
                let only_state = InSlices::new(&(), recorder.clone(), None).before_window();
                events_before = reading.read_before(&only_state, (&mut order, &mut ()), start);
                order.follower.kernel_mut().reach(start);
                let (own, part) = analysis.begin(order.follower.kernel(), window);
                (InOrder { follower: order.follower, own, events: 0 }, part)
            }
            None => {
                let (own, part) = analysis.begin(follower.kernel(), window);
                (InOrder { follower, own, events: 0 }, part)
            }
        };
        let within = window.start().map_or(Bounds::all(), |start| Bounds::all().since(start));
        let mut events =
            reading.read_in_order(&new(), (&mut order, &mut part), &within, window.until());
        if let Some(until) = window.until() {
            // Where a clock goes back, events of the window may follow. The state at its end remains.
            let (kernel, own) = (order.follower.kernel().save(), order.own.clone());
            let (after, _) = reading.read(&new(), (&mut order, &mut part), &within.until(until));
            events += after;
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
        Analyzed {
            output,
            kernel,
            events,
            events_before,
            is_stopped,
            errors,
            errors_omitted,
            notices_omitted,
        }
    }

    /// Adds a hook that evaluates the filters. Returns where it leaves the result, and the state for
    /// filters that use it.
    fn select(
        &mut self,
        context: &mut TracesetContext<'r>,
    ) -> (Option<Arc<AtomicBool>>, Option<Handle<KernelState>>) {
        #[cfg(feature = "filter")]
        if let Some(filters) = self.filters.take() {
            let kernel = filters.uses_state().then(|| context.attach(self.kernel.empty_like()));
            let filters = match kernel {
                Some(kernel) => filters.with_state(kernel),
                None => filters,
            };
            let selected = Arc::new(AtomicBool::new(true));
            let found = Arc::clone(&selected);
            context.on_event("*", move |call| {
                found.store(filters.matches(call), Ordering::Relaxed);
            });
            return (Some(selected), kernel);
        }
        let _ = context;
        (None, None)
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
    saved: Option<&'r mut SavedStates>,
    cancel: Option<&'r AtomicBool>,
    progress: Option<Box<Watch<'r>>>,
    is_stopped: bool,
}

impl<'r> Reading<'r> {
    /// Seeks near the start of a window, and sets states to those there, if some are saved.
    fn restore(
        &mut self,
        kernel: &mut KernelState,
        of_hooks: &[Handle<KernelState>],
        start: Timestamp,
    ) {
        let Reading { context, saved, .. } = self;
        let mut none = SavedStates::default();
        let saved = saved.as_deref_mut().unwrap_or(&mut none);
        let Some(times) = saved.restore(context.contexts(), kernel, start) else { return };
        for handle in of_hooks {
            saved.seek(context, *handle, start);
        }
        context.seek_times(&times);
    }

    /// Seeks near the start of a window, and sets states to those there, if some are saved with the state
    /// of the analysis, which is returned.
    fn restore_with<A: KernelAnalysis>(
        &mut self,
        analysis: &A,
        kernel: &mut KernelState,
        of_hooks: &[Handle<KernelState>],
        start: Timestamp,
    ) -> Option<A::State> {
        let Reading { context, saved, .. } = self;
        let saved = saved.as_deref_mut()?;
        let decode = |kernel: &KernelState, own: &OwnStates| analysis.saved(kernel, own);
        let (at, own) = saved.restore_with(context.contexts(), kernel, start, decode)?;
        for handle in of_hooks {
            saved.seek(context, *handle, at);
        }
        context.seek_time(at);
        Some(own)
    }

    /// Reads the events before the start of a window, and saves the state there if many were read.
    /// Returns their number.
    fn read_before<A: KernelAnalysis>(
        &mut self,
        analysis: &InSlices<'_, A>,
        (order, part): (&mut InOrder<A::State>, &mut A::Part),
        start: Timestamp,
    ) -> u64 {
        let events = self.read_in_order(analysis, (order, part), &Bounds::all(), Some(start));
        let is_far = |saved: &SavedStates| events >= saved.distance() / 4;
        if self.saved.as_deref().is_some_and(is_far) {
            self.save(analysis, order, start, false);
        }
        events
    }

    /// Reads events within bounds and before a time, in pieces if states are to be saved. Returns their
    /// number.
    fn read_in_order<A: KernelAnalysis>(
        &mut self,
        analysis: &InSlices<'_, A>,
        (order, part): (&mut InOrder<A::State>, &mut A::Part),
        bounds: &Bounds,
        end: Option<Timestamp>,
    ) -> u64 {
        let to_end = end.map_or(bounds.clone(), |end| bounds.clone().until_start_of(end));
        let Some(distance) = self.saved.as_deref().map(SavedStates::distance) else {
            return self.read(analysis, (order, part), &to_end).0;
        };
        let mut events = 0;
        loop {
            let piece = to_end.clone().events(distance);
            let (read, reason) = self.read(analysis, (order, part), &piece);
            events += read;
            if reason != EndReason::EventCount {
                return events;
            }
            let next = self.context.position().time().map(|next| next.saturating_add(1));
            let Some(at) = next.filter(|at| end.is_none_or(|end| *at < end)) else { continue };
            let (read, reason) =
                self.read(analysis, (order, part), &bounds.clone().until_start_of(at));
            events += read;
            if reason == EndReason::Stopped {
                return events;
            }
            self.save(analysis, order, at, true);
        }
    }

    /// Saves the states at a time, unless something was met that makes them doubtful. See
    /// [`SavedStates::add`].
    fn save<A: KernelAnalysis>(
        &mut self,
        analysis: &InSlices<'_, A>,
        order: &InOrder<A::State>,
        at: Timestamp,
        is_on_the_way: bool,
    ) {
        let is_sound = self.can_save();
        let Some(saved) = self.saved.as_deref_mut().filter(|_| is_sound) else { return };
        let mut own = OwnStates::default();
        analysis.save(&order.own, &mut own);
        saved.add(self.context.contexts(), (order.follower.kernel(), own), at, is_on_the_way);
    }

    /// Returns `true` if the events so far are sound, and none can come later.
    fn can_save(&self) -> bool {
        let merge = self.context.merge();
        !self.is_stopped
            && !self.context.traceset().is_growing()
            && merge.errors().is_empty()
            && merge.errors_omitted() == 0
    }

    /// Reads events within bounds. Returns their number and why the read ended.
    fn read<A: KernelAnalysis>(
        &mut self,
        analysis: &InSlices<'_, A>,
        result: (&mut InOrder<A::State>, &mut A::Part),
        bounds: &Bounds,
    ) -> (u64, EndReason) {
        if self.is_stopped {
            return (0, EndReason::Stopped);
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
        let Ok(ReadEnd { events, reason, .. }) = read else { return (0, EndReason::Stopped) };
        self.is_stopped = reason == EndReason::Stopped;
        (events, reason)
    }
}
