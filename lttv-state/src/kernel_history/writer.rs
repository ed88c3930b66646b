//! The extension of a context that stores what happens.

use ltt_read::schema::EventTypeId;
use lttv_context::{Codec, Contexts, Extension, Handle, Setup, Subscription, TracesetContext};
use lttv_hooks::Priority;

use super::field::Spellings;
use super::machine::{Cause, Machine, Place};
use crate::history::{Builder, Error, History};
use crate::kernel::KernelState;

/// Stores the kernel states of all traces of a context while it is read.
///
/// Read the context once, from its begin to its end; then
/// [`finish`](Self::finish) gives the history. Going back meanwhile does no harm:
/// what is stored already is not stored again.
///
/// The builder may have other attributes too: what this adds is below numbers,
/// those of the traces. So several analyses can store what they find in one
/// history, in one pass.
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
/// context.replay(&Bounds::all())?;
///
/// let history = KernelHistory::finish(&mut context, writer)?;
/// let cpu = history.tree().find(lttv_state::tree::Quark::ROOT, "0/CPUs/0")?.expect("a CPU");
/// assert!(history.intervals(cpu, history.start()..=history.end())?.count() > 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct KernelHistory {
    kernel: Handle<KernelState>,
    /// None once it is closed.
    storing: Option<Storing>,
    /// Of the traces, in ns.
    end: i64,
}

#[derive(Debug)]
struct Storing {
    builder: Builder,
    spellings: Option<Spellings>,
    machines: Vec<Machine>,
    /// States before this are stored; it only matters after going back.
    from: i64,
    failed: Option<Error>,
}

impl KernelHistory {
    /// Follows `kernel`, which must have been attached to the same context before,
    /// and stores in `builder`, which begins at [`start_of`](Self::start_of) the
    /// context. A builder that was [resumed](Builder::resume) goes on where it was:
    /// the context has to be read from the begin nevertheless.
    pub fn new(kernel: Handle<KernelState>, builder: Builder) -> KernelHistory {
        let (from, end) = (builder.earliest(), builder.now());
        let storing =
            Storing { builder, spellings: None, machines: Vec::new(), from, failed: None };
        KernelHistory { kernel, storing: Some(storing), end }
    }

    /// Where the history of all traces begins, in ns: 1 ns before the first of
    /// them, so that the state before its first event has a time too.
    pub fn start_of(contexts: &Contexts) -> i64 {
        contexts.time_span().map_or(0, |span| span.begin.ns().saturating_sub(1))
    }

    /// What is being built; `None` once it is finished.
    pub fn builder(&self) -> Option<&Builder> {
        Some(&self.storing.as_ref()?.builder)
    }

    /// As [`builder`](Self::builder), for example to let others see it
    /// [live](Builder::live).
    pub fn builder_mut(&mut self) -> Option<&mut Builder> {
        Some(&mut self.storing.as_mut()?.builder)
    }

    /// Why storing came to its end before the traces did.
    pub fn error(&self) -> Option<&Error> {
        self.storing.as_ref()?.failed.as_ref()
    }

    /// Ends the history, at the last event or packet of the context's traces.
    ///
    /// # Errors
    ///
    /// If storing failed since the begin, or does now; [`Error::Closed`] if it was
    /// finished already.
    pub fn finish(
        context: &mut TracesetContext<'_>,
        handle: Handle<KernelHistory>,
    ) -> Result<History, Error> {
        let Some(of) = context.extensions_mut().get_mut(handle) else { return Err(Error::Closed) };
        let end = of.end;
        let Some(Storing { builder, failed, .. }) = of.storing.take() else {
            return Err(Error::Closed);
        };
        match failed {
            Some(error) => Err(error),
            None => {
                let end = end.max(builder.now());
                builder.close(end)
            }
        }
    }

    /// An event has changed the state of a trace, or there is a state to begin with.
    #[inline]
    fn store(&mut self, kernel: &mut KernelState, trace: usize, cause: Option<Cause>, t: i64) {
        let Some(storing) = &mut self.storing else { return };
        if t < storing.from || storing.failed.is_some() {
            return;
        }
        if let Err(error) = storing.store(kernel, trace, cause, t) {
            storing.failed = Some(error);
        }
    }
}

impl Storing {
    #[inline]
    fn store(
        &mut self,
        kernel: &mut KernelState,
        trace: usize,
        cause: Option<Cause>,
        t: i64,
    ) -> Result<(), Error> {
        let Storing { builder, spellings, machines, .. } = self;
        let Some(state) = kernel.trace_mut(trace) else { return Ok(()) };
        let (Some(machine), Some(spellings)) = (machines.get_mut(trace), spellings) else {
            return Ok(());
        };
        // Events without a time come before all others.
        let t = t.max(builder.now());
        machine.store(&mut Place { builder, spellings, t }, state, cause)
    }

    /// Adds what is there before any event.
    fn begin(&mut self, kernel: &mut KernelState) -> Result<(), Error> {
        self.spellings = Some(Spellings::new(&mut self.builder)?);
        let traces = kernel.traces().len();
        for trace in 0..traces {
            self.machines.push(Machine::new(&mut self.builder, trace)?);
            let start = self.builder.start();
            if start >= self.from {
                self.store(kernel, trace, None, start)?;
            }
        }
        Ok(())
    }
}

impl Extension for KernelHistory {
    type Checkpoint = ();

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        let contexts = setup.contexts;
        let kernel = setup.extensions[handle].kernel;
        for trace in contexts.traces() {
            let index = trace.index();
            for at in 0..trace.trace().schema().event_types.len() {
                let id = EventTypeId(at as u32);
                let Some(transition) = setup.extensions[kernel].transition(index, id) else {
                    continue;
                };
                let events = Subscription::to_type(index, id);
                setup.hooks.on_event(events.priority(AFTER_STATE), move |call| {
                    let (tracefile, t) = (call.tracefile.number(), call.time().ns());
                    if let Some((kernel, of)) = call.extensions.both_mut(kernel, handle) {
                        let cpu = kernel.cpu_of_tracefile(tracefile);
                        of.store(kernel, index, Some(Cause { transition, cpu }), t);
                    }
                });
            }
        }
        let Some((kernel, of)) = setup.extensions.both_mut(kernel, handle) else { return };
        of.end = contexts.time_span().map_or(of.end, |span| span.end.ns().max(of.end));
        if let Some(storing) = &mut of.storing
            && let Err(error) = storing.begin(kernel)
        {
            storing.failed = Some(error);
        }
    }

    /// What is stored stays; what comes again is passed over.
    fn reset(&mut self) {
        if let Some(storing) = &mut self.storing {
            storing.from = storing.from.max(storing.builder.earliest());
        }
    }

    fn save(&self) {}

    fn restore(&mut self, (): &()) {
        self.reset();
    }

    /// There is nothing to be kept: with a kernel state from a file it goes on.
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

/// After the state, and before hooks that may want the history up to their event.
const AFTER_STATE: Priority = match Priority::new(30) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};
