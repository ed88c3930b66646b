//! Analyses in a context, beside its other hooks.

use std::any::type_name;
use std::cell::RefCell;
use std::fmt;
use std::ops::RangeBounds;

use ltt_read::{Event, Timestamp, TraceIndex, TracefileNumber};
use lttv_context::{
    Contexts, EventCall, Extension, ExtensionIdentity, Extensions, Growth, Handle, Setup,
    Subscription, TracesetContext,
};
use lttv_hooks::Priority;

use super::kernel_analysis::{End, EventsOfSlice, KernelAnalysis};
use super::window::Window;
use crate::kernel::{KernelState, Marks, OtherEvent, RecordedEvent, SavedKernelState, StateChange};

/// The priority of the [hooks of an analysis](KernelAnalysis::attach): after the kernel state.
pub(crate) const AFTER_STATE: Priority = match Priority::new(30) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};

/// The priority of the hook that tells the analysis an event: after its hooks, and before those that may
/// take the result.
const AFTER_OWN_HOOKS: Priority = match Priority::new(31) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};

/// The priority of hooks that follow the time before an event changes the state: they begin and end windows.
pub(crate) const BEFORE_STATE: Priority = match Priority::new(24) {
    Ok(priority) => priority,
    Err(_) => Priority::FIRST,
};

/// A handle of an analysis in a context, created by [`attach`]. It is valid only in that context.
pub struct Attached<A: KernelAnalysis>(Handle<Attachment<A>>);

impl<A: KernelAnalysis> Clone for Attached<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: KernelAnalysis> Copy for Attached<A> {}

impl<A: KernelAnalysis> fmt::Debug for Attached<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Attached").field(&self.0).finish()
    }
}

/// Adds an analysis to a context, for the events that [`read`](TracesetContext::read) reads from now
/// on; events that are replayed only change states. `kernel` must be attached to the context.
///
/// The context stands at the start of the traceset, or at the start of the window with its state: after
/// [`ContextState::seek_time`](lttv_context::ContextState::seek_time). An analysis that [keeps
/// state](KernelAnalysis::keeps_state) begins in the first position only; its state is then a part of
/// checkpoints, and follows when the context seeks with state. The [window](super#windows) begins with
/// the first event in it that is read. A window without limits of a growing traceset grows with it, if
/// the analysis [does](KernelAnalysis::GROWS); otherwise the context
/// [refuses](TracesetContext::refuse_growth) traces, tracefiles and event types that are new.
///
/// ```
/// use ltt_read::TraceIndex;
/// use lttv_context::{Bounds, TracesetContext, Traceset};
/// use lttv_state::analysis::attach;
/// use lttv_state::kernel::KernelState;
/// use lttv_state::stats::StatisticsAnalysis;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let kernel = context.attach(KernelState::new());
/// let start = context.extensions()[kernel].trace(TraceIndex(0)).expect("one trace").start_time();
/// let window = start.saturating_add(1_000_000)..start.saturating_add(3_000_000);
/// context.state().seek_time(window.start);
/// let statistics = attach(&mut context, kernel, window.clone(), StatisticsAnalysis::new());
/// assert_eq!(context.read(&Bounds::all().until(window.end))?.errors, 0);
///
/// let statistics = statistics.take(context.extensions_mut());
/// for cpu in statistics.traces()[0].cpus() {
///     assert_eq!(cpu.busy_time + cpu.idle_time + cpu.unknown_time, 2_000_000);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn attach<A: KernelAnalysis + 'static>(
    context: &mut TracesetContext<'_>,
    kernel: Handle<KernelState>,
    window: impl RangeBounds<Timestamp>,
    mut analysis: A,
) -> Attached<A> {
    let window = Window::of(&window);
    let grows = A::GROWS && window.is_everything();
    if !grows {
        context.refuse_growth::<A>();
    }
    let state = &context.extensions()[kernel];
    analysis.prepare(context.contexts(), state);
    let (own, part) = analysis.begin(state, window);
    analysis.attach(context, &mut |_| kernel);
    let keeps_state = analysis.keeps_state();
    let attachment = Attachment(RefCell::new(Collection {
        kernel,
        window,
        keeps_state,
        initial: own.clone(),
        own,
        part,
        slice: A::Slice::default(),
        is_open: false,
        events: Vec::new(),
        before: 0,
        traces: traces_of(context.contexts()),
        stage: if window.start().is_some() { Stage::Before } else { Stage::Within },
        analysis: Some(analysis),
    }));
    let every_event = |priority| Subscription::to_every_event().priority(priority);
    // States are told replayed events as well, as hooks of extensions are.
    let handle = if keeps_state {
        context.attach(attachment)
    } else {
        let handle = context.attach_data(attachment);
        context.on_event(every_event(AFTER_OWN_HOOKS), move |call| tell(handle, kernel, call));
        handle
    };
    if !window.is_everything() {
        context.on_event(every_event(BEFORE_STATE), move |call| {
            let time = call.delivery_time().as_ns();
            if let Some((of, kernel)) = call.extensions.get_pair_mut(handle, kernel) {
                let of = of.0.get_mut();
                of.pass_start(kernel, time);
                of.pass_end(kernel, time);
            }
        });
    }
    if grows {
        context.on_growth(move |context| grow(context, handle));
    }
    Attached(handle)
}

/// Tells an analysis an event that the kernel state has followed.
#[inline]
fn tell<A: KernelAnalysis + 'static>(
    handle: Handle<Attachment<A>>,
    kernel: Handle<KernelState>,
    call: &mut EventCall<'_, '_>,
) {
    let (is_read, time) = (call.reaches_all_hooks(), call.delivery_time());
    let of = (call.trace.index(), call.tracefile.number());
    if let Some((attachment, kernel)) = call.extensions.get_pair_mut(handle, kernel) {
        attachment.0.get_mut().event(kernel, of, &call.event, time, is_read);
    }
}

/// Prepares an analysis for what the traceset of its context has got.
fn grow<A: KernelAnalysis + 'static>(
    context: &mut TracesetContext<'_>,
    handle: Handle<Attachment<A>>,
) {
    let Some(of) = context.extensions_mut().get_mut(handle) else { return };
    let of = of.0.get_mut();
    of.flush();
    let (kernel, Some(mut analysis)) = (of.kernel, of.analysis.take()) else { return };
    analysis.prepare(context.contexts(), &context.extensions()[kernel]);
    let traces = traces_of(context.contexts());
    if let Some((of, kernel)) = context.extensions_mut().get_pair_mut(handle, kernel) {
        let of = of.0.get_mut();
        analysis.grow(&mut of.own, &mut of.part, kernel);
        (of.analysis, of.traces) = (Some(analysis), traces);
    }
}

/// Returns the index of the trace of each tracefile.
fn traces_of(contexts: &Contexts) -> Vec<usize> {
    contexts.tracefiles().iter().map(|of| of.trace_index().0).collect()
}

impl<A: KernelAnalysis + 'static> Attached<A> {
    /// Returns the result so far, as final: all events of the traceset, or of the window, have been
    /// read. What is still open counts up to the end.
    ///
    /// # Panics
    ///
    /// Panics if `extensions` are those of another context.
    pub fn take(self, extensions: &mut Extensions) -> A::Output {
        self.take_reached(extensions, None)
    }

    /// Returns the result so far, up to a time that has been read to.
    ///
    /// # Panics
    ///
    /// Panics if `extensions` are those of another context.
    pub fn take_until(self, extensions: &mut Extensions, time: Timestamp) -> A::Output {
        self.take_reached(extensions, Some(time))
    }

    fn take_reached(self, extensions: &mut Extensions, reached: Option<Timestamp>) -> A::Output {
        let kernel = extensions[self.0].0.borrow().kernel;
        let pair = extensions.get_pair_mut(self.0, kernel);
        let (of, kernel) = pair.expect("the state is in the same context");
        of.0.get_mut().result(kernel, reached)
    }
}

/// An analysis in a context. The cell is for checkpoints, for which the slice ends.
struct Attachment<A: KernelAnalysis>(RefCell<Collection<A>>);

/// An analysis and what it has collected.
struct Collection<A: KernelAnalysis> {
    /// `None` only while the context grows.
    analysis: Option<A>,
    kernel: Handle<KernelState>,
    window: Window,
    keeps_state: bool,
    /// The state of the analysis at the start.
    initial: A::State,
    own: A::State,
    part: A::Part,
    slice: A::Slice,
    /// `true` if the slice has begun.
    is_open: bool,
    /// The events of the slice.
    events: Vec<RecordedEvent>,
    /// The number of events before the slice.
    before: u64,
    /// The index of the trace of each tracefile.
    traces: Vec<usize>,
    stage: Stage<A::State>,
}

/// The position of a read, as to the window.
enum Stage<S> {
    Before,
    Within,
    /// After the window: the states at its end.
    After(SavedKernelState, S),
}

impl<A: KernelAnalysis> Collection<A> {
    /// Begins the window if an event that is read is in it, before the state follows the event.
    #[inline]
    fn pass_start(&mut self, kernel: &mut KernelState, time: i64) {
        if matches!(self.stage, Stage::Before) && time >= self.window.start {
            kernel.reach(Timestamp::from_ns(self.window.start));
            self.enter(kernel);
        }
    }

    /// Ends the window if an event is after it, before the state follows the event.
    #[inline]
    fn pass_end(&mut self, kernel: &KernelState, time: i64) {
        if matches!(self.stage, Stage::Within) && self.window.until.is_some_and(|end| time >= end) {
            self.flush();
            self.stage = Stage::After(kernel.save(), self.own.clone());
        }
    }

    /// Begins the window.
    #[cold]
    fn enter(&mut self, kernel: &KernelState) {
        self.flush();
        let Some(analysis) = &self.analysis else { return };
        if self.keeps_state {
            analysis.enter(&mut self.own, &mut self.part, kernel, self.window);
        } else {
            (self.own, self.part) = analysis.begin(kernel, self.window);
        }
        self.stage = Stage::Within;
    }

    /// Adds an event that the state has followed.
    #[inline]
    fn event(
        &mut self,
        kernel: &KernelState,
        (trace, tracefile): (TraceIndex, TracefileNumber),
        event: &Event<'_>,
        time: Timestamp,
        is_read: bool,
    ) {
        let ns = time.as_ns();
        // As in bounds of a read, the time of the event itself decides, not that of its delivery.
        let in_window = || self.window.contains(event.timestamp().unwrap_or(time));
        let counts = is_read && !matches!(self.stage, Stage::Before) && in_window();
        if !counts && !self.keeps_state {
            return;
        }
        let Some(analysis) = &self.analysis else { return };
        let event_type = event.type_id();
        if !self.is_open {
            analysis.begin_slice(&mut self.own, &mut self.slice);
            self.is_open = true;
        }
        let (number, transition) = (self.events.len(), kernel.transition(trace, event_type));
        let is_selected = true;
        if A::EVERY_EVENT || transition.is_some() {
            let marks = Marks { counts, is_selected };
            self.events.push(RecordedEvent::new(marks, (tracefile, ns), event_type));
        }
        analysis.record(&mut self.slice, (number, counts), (trace, tracefile), event);
        let (own, slice) = (&mut self.own, &mut self.slice);
        if let Some(transition) = transition {
            let change = StateChange {
                trace,
                tracefile,
                transition,
                event_type,
                time,
                counts,
                is_selected,
                number,
            };
            analysis.changed(own, slice, kernel, change);
        } else if A::EVERY_EVENT {
            let Some((elsewhere, place)) = kernel.place_of_other(trace, tracefile, event) else {
                return;
            };
            let other = OtherEvent {
                trace,
                tracefile,
                event_type,
                time,
                counts,
                is_selected,
                number,
                place,
                elsewhere,
            };
            analysis.unchanged(own, slice, kernel, other);
        }
        if self.events.len() as u64 >= A::SLICE_EVENTS {
            self.flush();
        }
    }

    /// Ends the slice and adds it.
    fn flush(&mut self) {
        let Some(analysis) = self.analysis.as_ref().filter(|_| self.is_open) else { return };
        let events =
            EventsOfSlice { before: self.before, events: &self.events, traces: &self.traces };
        analysis.end_slice(&mut self.own, &mut self.slice, events);
        analysis.add(&mut self.part, &mut self.slice, events);
        analysis.clear(&mut self.slice);
        self.before += self.events.len() as u64;
        self.events.clear();
        self.is_open = false;
    }

    /// Returns the result up to a time; without a time, that of the whole window.
    fn result(&mut self, kernel: &mut KernelState, reached: Option<Timestamp>) -> A::Output {
        if matches!(self.stage, Stage::Before) {
            self.enter(kernel);
        }
        self.flush();
        let analysis = self.analysis.as_ref().expect("the context does not grow now");
        let (window, is_stopped) = (self.window, reached.is_some());
        let finish = |own, kernel: &KernelState| {
            let end = End { kernel, window, is_stopped, reached };
            analysis.finish(own, self.part.clone(), end)
        };
        match &self.stage {
            Stage::After(saved, own) => {
                let (now, mut at_end) = (kernel.save(), self.own.clone());
                kernel.restore(saved);
                analysis.end_window(&mut at_end, own.clone());
                let output = finish(at_end, kernel);
                kernel.restore(&now);
                output
            }
            _ => finish(self.own.clone(), kernel),
        }
    }
}

/// Only for analyses that keep state.
impl<A: KernelAnalysis + 'static> Extension for Attachment<A> {
    type Checkpoint = A::State;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        let (kernel, window) = {
            let of = setup.extensions[handle].0.borrow();
            (of.kernel, of.window)
        };
        let events = Subscription::to_every_event();
        if window.until.is_some() {
            // The state of the window ends also with an event that is not read.
            setup.hooks.on_event(events.clone().priority(BEFORE_STATE), move |call| {
                let time = call.delivery_time().as_ns();
                if let Some((of, kernel)) = call.extensions.get_pair_mut(handle, kernel) {
                    of.0.get_mut().pass_end(kernel, time);
                }
            });
        }
        let events = events.priority(AFTER_OWN_HOOKS);
        setup.hooks.on_event(events, move |call| tell(handle, kernel, call));
    }

    /// Growth is refused by the name of the analysis.
    fn growth(&self) -> Option<Growth<Self>> {
        Some(|_, _| {})
    }

    fn identity(&self) -> ExtensionIdentity {
        let options = self.0.borrow().analysis.as_ref().map_or(0, A::options);
        ExtensionIdentity { name: type_name::<A>(), version: 1, options }
    }

    fn reset(&mut self) {
        let of = self.0.get_mut();
        of.flush();
        of.own.clone_from(&of.initial);
    }

    fn save(&self) -> A::State {
        let mut of = self.0.borrow_mut();
        of.flush();
        of.own.clone()
    }

    fn restore(&mut self, saved: &A::State) {
        let of = self.0.get_mut();
        of.flush();
        of.own.clone_from(saved);
    }

    fn checkpoint_bytes(saved: &A::State, before: Option<&A::State>) -> usize {
        A::state_bytes(saved, before)
    }
}
