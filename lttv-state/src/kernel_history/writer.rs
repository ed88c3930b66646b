//! The context extension that writes kernel states to a history.

use std::mem::replace;

use ltt_read::schema::EventTypeId;
use ltt_read::{Merge, Timestamp, TraceIndex, TracefileIndex};
use lttv_context::{
    Codec, Contexts, Extension, Growth, Handle, Setup, Subscription, TracesetContext,
};

use super::field::EnumTexts;
use super::machine::{Cause, Machine, Output};
use crate::analysis::{AFTER_STATE, BEFORE_STATE};
use crate::history::{Builder, History, HistoryError, Store};
use crate::kernel::KernelState;

/// A context extension that stores the kernel states of all traces while the context is
/// read.
///
/// Read the context once, from start to end; then [`finish`](Self::finish) returns the
/// history. Seeking back in between does no harm: states that are stored already are not
/// stored again.
///
/// The builder may contain other attributes, too: this extension adds attributes only below
/// the trace numbers. Several analyses can therefore store their results in one history in
/// one pass.
///
/// ```
/// use lttv_context::{Bounds, TracesetContext, Traceset};
/// use lttv_state::history::Builder;
/// use lttv_state::kernel::KernelState;
/// use lttv_state::kernel_history::KernelHistory;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let kernel = context.attach(KernelState::new());
/// let start = KernelHistory::start_of(context.contexts());
/// let writer = context.attach(KernelHistory::new(kernel, Builder::in_memory(start)));
/// assert_eq!(context.state().replay(&Bounds::all())?.errors, 0);
///
/// let history = KernelHistory::finish(&mut context, writer)?;
/// let cpu = history.tree().find(lttv_state::tree::Quark::ROOT, "0/CPUs/0")?.expect("a CPU");
/// assert!(history.intervals(cpu, history.start()..history.end())?.count() > 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct KernelHistory {
    kernel: Handle<KernelState>,
    /// The builder and its state; `None` once the history is finished.
    storing: Option<Storing>,
    /// The last time of the traces.
    last: Timestamp,
    /// `true` if the traces were growing at the start, so that their last time is known at the end.
    grows: bool,
    /// The number of event types of each trace that are followed.
    types: Vec<usize>,
}

/// The storing of states in a builder, or in a draft for one.
#[derive(Debug)]
pub(super) struct Storing<S = Builder> {
    pub(super) builder: S,
    enum_texts: Option<EnumTexts>,
    machines: Vec<Machine>,
    /// The time before which states are stored already. This matters only after seeking
    /// back.
    from: Timestamp,
    pub(super) failed: Option<HistoryError>,
}

impl KernelHistory {
    /// Creates an extension that follows `kernel`, which must have been attached to the
    /// same context before. It stores in `builder`, which must start at
    /// [`start_of`](Self::start_of) the context. A [resumed](Builder::resume) builder
    /// continues after its stored states; the context has to be read from the start
    /// nevertheless.
    pub fn new(kernel: Handle<KernelState>, builder: Builder) -> KernelHistory {
        let (from, last) = (builder.earliest(), builder.now());
        let storing =
            Storing { builder, enum_texts: None, machines: Vec::new(), from, failed: None };
        KernelHistory { kernel, storing: Some(storing), last, grows: false, types: Vec::new() }
    }

    /// Returns the start of the history of a context's traces: 1 ns before the first event, so
    /// that the state before it has a time, too. Reads events up to the first one with a time, and
    /// none of tracefiles without a clock.
    pub fn start_of(contexts: &Contexts) -> Timestamp {
        let traces = contexts.traceset().traces();
        let has_clock = |trace: TraceIndex, tracefile: TracefileIndex| {
            let trace = &traces[trace.0];
            let class = trace.tracefiles().get(tracefile.0).and_then(|of| of.stream_class());
            let class = class.and_then(|of| trace.schema().stream_classes.get(of.index()));
            class.is_none_or(|class| class.default_clock.is_some())
        };
        let mut merge = Merge::with_tracefiles(traces, has_clock);
        let mut times = std::iter::from_fn(|| merge.next().map(|event| event.timestamp()));
        // Events without a time have no place in a history.
        let first = times.find_map(|time| time);
        let first = first.or_else(|| contexts.time_span().map(|span| span.start));
        first.map_or(Timestamp::default(), |first| first.saturating_sub(1))
    }

    /// Returns the builder of the history; `None` once the history is finished.
    pub fn builder(&self) -> Option<&Builder> {
        Some(&self.storing.as_ref()?.builder)
    }

    /// Returns the builder of the history, for example to share it with
    /// [live](Builder::live) readers; `None` once the history is finished.
    pub fn builder_mut(&mut self) -> Option<&mut Builder> {
        Some(&mut self.storing.as_mut()?.builder)
    }

    /// Returns the error that stopped storing before the end of the traces; `None` if there
    /// was none.
    pub fn error(&self) -> Option<&HistoryError> {
        self.storing.as_ref()?.failed.as_ref()
    }

    /// Finishes the history 1 ns after the last event or packet of the context's traces, and
    /// opens it.
    ///
    /// # Errors
    ///
    /// Returns an error if storing failed before or fails now, and [`HistoryError::Closed`] if the
    /// history was finished already.
    pub fn finish(
        context: &mut TracesetContext<'_>,
        handle: Handle<KernelHistory>,
    ) -> Result<History, HistoryError> {
        let end = match context.extensions().get(handle) {
            Some(of) if of.grows => context.contexts().time_span().map(|span| span.end),
            _ => None,
        };
        let Some(of) = context.extensions().get(handle) else { return Err(HistoryError::Closed) };
        let last = of.last.max(end.unwrap_or(of.last));
        Self::reach(context, handle, last);
        let Some(of) = context.extensions_mut().get_mut(handle) else {
            return Err(HistoryError::Closed);
        };
        let Some(Storing { builder, failed, .. }) = of.storing.take() else {
            return Err(HistoryError::Closed);
        };
        match failed {
            Some(error) => Err(error),
            None => {
                let last = last.max(builder.now());
                builder.close(last.saturating_add(1))
            }
        }
    }

    /// Brings the history of a context to a time after that of the last event: stores the losses of events that begin
    /// before it.
    pub(super) fn reach(
        context: &mut TracesetContext<'_>,
        handle: Handle<KernelHistory>,
        time: Timestamp,
    ) {
        let Some(kernel) = context.extensions().get(handle).map(|of| of.kernel) else { return };
        let pair = context.extensions_mut().get_pair_mut(kernel, handle);
        let Some((kernel, of)) = pair else { return };
        let traces = kernel.traces().len();
        for trace in (0..traces).map(TraceIndex) {
            of.store_losses(kernel, trace, time);
        }
    }

    /// Stores the state of a trace after an event, or its initial state. The first error
    /// stops storing.
    #[inline]
    fn store(
        &mut self,
        kernel: &mut KernelState,
        trace: TraceIndex,
        cause: Option<Cause>,
        t: Timestamp,
    ) {
        if let Some(storing) = &mut self.storing {
            storing.store_or_fail(kernel, trace, cause, t);
        }
    }

    /// Stores the states at the losses of events of a trace that begin before a time.
    #[inline]
    fn store_losses(&mut self, kernel: &mut KernelState, trace: TraceIndex, before: Timestamp) {
        while let Some((cpu, since)) = kernel.pass_loss_before(trace, before) {
            self.store(kernel, trace, Some(Cause::loss(cpu)), since);
        }
    }

    /// Takes what stores states, to store them elsewhere for some time; `None` once the history is
    /// finished.
    pub(super) fn take_storing(&mut self) -> Option<Storing> {
        self.storing.take()
    }

    /// Returns what was [taken](Self::take_storing).
    pub(super) fn put_storing(&mut self, storing: Storing) {
        self.storing = Some(storing);
    }
}

impl<S: Store> Storing<S> {
    /// Replaces the builder and the error, which are returned.
    pub(super) fn exchange<T>(
        self,
        builder: T,
        failed: Option<HistoryError>,
    ) -> (Storing<T>, S, Option<HistoryError>) {
        let Storing { enum_texts, machines, from, .. } = self;
        (Storing { builder, enum_texts, machines, from, failed }, self.builder, self.failed)
    }

    /// Stores the state of a trace after an event, or its initial state. The first error
    /// stops storing.
    #[inline]
    pub(super) fn store_or_fail(
        &mut self,
        kernel: &mut KernelState,
        trace: TraceIndex,
        cause: Option<Cause>,
        t: Timestamp,
    ) {
        if t < self.from || self.failed.is_some() {
            return;
        }
        if let Err(error) = self.store(kernel, trace, cause, t) {
            self.failed = Some(error);
        }
    }

    #[inline]
    fn store(
        &mut self,
        kernel: &mut KernelState,
        trace: TraceIndex,
        cause: Option<Cause>,
        t: Timestamp,
    ) -> Result<(), HistoryError> {
        let Storing { builder, enum_texts, machines, .. } = self;
        let Some(state) = kernel.trace_mut(trace) else { return Ok(()) };
        let (Some(machine), Some(enum_texts)) = (machines.get_mut(trace.0), enum_texts) else {
            return Ok(());
        };
        // Events without a time come first.
        let t = t.max(builder.now());
        machine.store(&mut Output { builder, enum_texts, t }, state, cause)
    }
}

impl Storing {
    /// Stores the state before the first event of each trace that is new.
    fn begin(&mut self, kernel: &mut KernelState) -> Result<(), HistoryError> {
        if self.enum_texts.is_none() {
            self.enum_texts = Some(EnumTexts::new(&mut self.builder)?);
        }
        let (known, traces) = (self.machines.len(), kernel.traces().len());
        for trace in known..traces {
            self.machines.push(Machine::new(&mut self.builder, trace)?);
            let start = if known == 0 { self.builder.start() } else { self.builder.now() };
            if start >= self.from {
                self.store(kernel, TraceIndex(trace), None, start)?;
            }
        }
        Ok(())
    }
}

impl Extension for KernelHistory {
    type Checkpoint = ();

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        let (contexts, of) = (setup.contexts, &mut setup.extensions[handle]);
        of.grows = contexts.traceset().is_growing();
        if !of.grows {
            of.last = contexts.time_span().map_or(of.last, |span| span.end.max(of.last));
        }
        follow(handle, setup);
    }

    fn growth(&self) -> Option<Growth<Self>> {
        Some(follow)
    }

    /// Keeps the stored states: states of events that are read again are skipped.
    fn reset(&mut self) {
        if let Some(storing) = &mut self.storing {
            storing.from = storing.from.max(storing.builder.earliest());
        }
    }

    fn save(&self) {}

    fn restore(&mut self, (): &()) {
        self.reset();
    }

    fn checkpoint_bytes(_: &(), _: Option<&()>) -> usize {
        size_of::<Self::Checkpoint>()
    }

    /// Returns a codec for an empty checkpoint, so that a kernel state from a checkpoint
    /// file can be restored.
    fn codec(&self) -> Option<Codec<Self>> {
        Some(Codec {
            name: "kernel history",
            version: 1,
            options: 0,
            write: |(), _, _| {},
            read: |_, bytes, _| bytes.is_empty().then_some(()),
        })
    }
}

/// Adds hooks for the event types that are new, and stores the first states of traces that are new.
fn follow(handle: Handle<KernelHistory>, setup: &mut Setup<'_, '_>) {
    let kernel = setup.extensions[handle].kernel;
    for trace in setup.contexts.traces() {
        let (index, types) = (trace.index(), trace.trace().schema().event_types.len());
        let known = &mut setup.extensions[handle].types;
        if known.len() <= index.0 {
            known.push(0);
        }
        let known = replace(&mut known[index.0], types);
        for id in (known..types).map(|at| EventTypeId(at as u32)) {
            let Some(transition) = setup.extensions[kernel].transition(index, id) else {
                continue;
            };
            let events = Subscription::to_type(index, id);
            setup.hooks.on_event(events.clone().priority(BEFORE_STATE), move |call| {
                let t = call.delivery_time();
                if let Some((kernel, of)) = call.extensions.get_pair_mut(kernel, handle) {
                    of.store_losses(kernel, index, t);
                }
            });
            setup.hooks.on_event(events.priority(AFTER_STATE), move |call| {
                let (tracefile, t) = (call.tracefile.number(), call.delivery_time());
                if let Some((kernel, of)) = call.extensions.get_pair_mut(kernel, handle) {
                    let cpu = kernel.cpu_of_tracefile(tracefile);
                    of.store(kernel, index, Some(Cause { transition: Some(transition), cpu }), t);
                }
            });
        }
    }
    let Some((kernel, of)) = setup.extensions.get_pair_mut(kernel, handle) else { return };
    if let Some(storing) = &mut of.storing
        && let Err(error) = storing.begin(kernel)
    {
        storing.failed = Some(error);
    }
}
