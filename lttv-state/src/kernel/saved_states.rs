//! States of the traces of a traceset at several times.

use std::collections::BTreeMap;

use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{Contexts, Extension, Handle, TracesetContext};

use super::extension::{KernelState, SavedKernelState};
use super::own_states::OwnStates;

/// States of the traces of a traceset at several times, from which reads of later windows continue
/// instead of reading everything before: see [`Read::saved`](crate::analysis::Read::saved).
///
/// The state at a time is that before the first event that [seeking](TracesetContext::seek_time) the
/// time leads to. Each trace has states of its own, which remain valid in a traceset with other traces.
/// With the feature `checkpoint-files`, `to_bytes` and `set_bytes` keep those of a trace in a file.
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_state::analysis::read;
/// use lttv_state::kernel::SavedStates;
/// use lttv_state::stats::StatisticsAnalysis;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let mut states = SavedStates::every(1000);
/// let all = read(&traceset).saved(&mut states).run(StatisticsAnalysis::default());
/// assert_eq!((all.events, states.len()), (6087, 6));
///
/// // At most 1000 events are read again before the window.
/// let last = all.kernel.traces().next().expect("a trace").effect().time();
/// let window = last.saturating_sub(1_000_000)..;
/// let found = read(&traceset).saved(&mut states).window(window).run(StatisticsAnalysis::default());
/// assert!(found.events > 0 && found.events_before <= 1000);
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SavedStates {
    traces: Vec<OfTrace>,
    /// The states of analyses of all traces, by their times.
    own: BTreeMap<Timestamp, OwnStates>,
    every: u64,
    added: usize,
}

/// The states of a trace, by their times.
#[derive(Debug, Clone, Default)]
struct OfTrace {
    states: BTreeMap<Timestamp, SavedKernelState>,
    /// States that have not been decoded yet.
    #[cfg(feature = "checkpoint-files")]
    bytes: Vec<u8>,
    /// The options of the kernel state that was saved.
    #[cfg(feature = "checkpoint-files")]
    options: u64,
}

/// The number of events between two states by default. Following so many takes about 50 ms.
const EVERY: u64 = 1 << 20;

/// The number of states of a trace beyond which every other one is removed.
const MOST: usize = 256;

impl Default for SavedStates {
    fn default() -> Self {
        Self::every(EVERY)
    }
}

impl SavedStates {
    /// Creates an empty set, to which a read adds a state every `events` events (at least 1).
    #[must_use]
    pub fn every(events: u64) -> Self {
        let every = events.max(1);
        SavedStates { traces: Vec::new(), own: BTreeMap::new(), every, added: 0 }
    }

    /// Returns the number of states of all traces, without those in bytes that no read has needed yet.
    pub fn len(&self) -> usize {
        self.traces.iter().map(|of| of.states.len()).sum()
    }

    /// Returns `true` if there are no states.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of times at which reads have added states.
    pub fn added(&self) -> usize {
        self.added
    }

    /// Returns the number of events between two states.
    pub(crate) fn distance(&self) -> u64 {
        self.every
    }

    /// Sets each trace of a state to the last one that is saved at `time` or before. Returns the times
    /// from which events have to be read, by trace; `None` if these are the starts of all traces.
    pub(crate) fn restore(
        &mut self,
        contexts: &Contexts,
        kernel: &mut KernelState,
        time: Timestamp,
    ) -> Option<Vec<Timestamp>> {
        self.prepare(contexts, kernel);
        let restored = |(trace, of): (TraceIndex, &OfTrace)| {
            if !kernel.changes(trace) {
                // Nothing that its events tell is needed.
                return time;
            }
            let last = of.states.range(..=time).next_back();
            let Some((at, saved)) = last else { return Timestamp::MIN };
            kernel.restore_trace(contexts, trace, saved);
            *at
        };
        let times: Vec<_> = (0..).map(TraceIndex).zip(&self.traces).map(restored).collect();
        times.iter().any(|at| *at > Timestamp::MIN).then_some(times)
    }

    /// Seeks a time near `time` in a context whose only extension with a state is the kernel state,
    /// and sets the state there. [Replaying](lttv_context::ContextState::replay) up to the start of
    /// `time` leads to the state at that time. Without a state before it, the context is at the start.
    pub fn seek(
        &mut self,
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
        time: Timestamp,
    ) {
        context.seek_time(Timestamp::MIN);
        let mut state = std::mem::take(&mut context.extensions_mut()[kernel]);
        let times = self.restore(context.contexts(), &mut state, time);
        context.extensions_mut()[kernel] = state;
        if let Some(times) = times {
            context.seek_times(&times);
            context.state().set(|_| {});
        }
    }

    /// Adds checkpoints at the times of states to a context whose only extension with a state is the kernel
    /// state, at times at which all traces have one. The context is at the start afterwards.
    pub fn add_checkpoints(
        &mut self,
        context: &mut TracesetContext<'_>,
        kernel: Handle<KernelState>,
    ) {
        // Decodes the states.
        self.seek(context, kernel, Timestamp::MIN);
        let traces = (0..context.contexts().traces().len()).map(TraceIndex);
        let state = &context.extensions()[kernel];
        let mut of_kernels: Vec<_> = traces
            .filter(|trace| state.changes(*trace))
            .map(|trace| &self.traces[trace.0])
            .collect();
        let Some(first) = of_kernels.pop() else { return };
        let is_everywhere =
            |time: &&Timestamp| of_kernels.iter().all(|of| of.states.contains_key(time));
        let times: Vec<_> = first.states.keys().filter(is_everywhere).copied().collect();
        for time in times {
            self.seek(context, kernel, time);
            context.state().save_checkpoint();
        }
        context.seek_time(Timestamp::MIN);
    }

    /// Sets all traces of a state to those that are saved with the state of an analysis, at the last time
    /// of `time` or before. Returns that time, from which events have to be read, and what `decode` makes of
    /// the states of analyses there; `None` if there is no such time.
    pub(crate) fn restore_with<S>(
        &mut self,
        contexts: &Contexts,
        kernel: &mut KernelState,
        time: Timestamp,
        mut decode: impl FnMut(&KernelState, &OwnStates) -> Option<S>,
    ) -> Option<(Timestamp, S)> {
        self.prepare(contexts, kernel);
        for (at, own) in self.own.range(..=time).rev() {
            let traces = || (0..contexts.traces().len()).map(TraceIndex);
            let saved = |trace: TraceIndex| self.traces.get(trace.0)?.states.get(at);
            if traces().any(|trace| kernel.changes(trace) && saved(trace).is_none()) {
                continue;
            }
            let before = kernel.save();
            for (trace, saved) in traces().filter_map(|trace| Some((trace, saved(trace)?))) {
                kernel.restore_trace(contexts, trace, saved);
            }
            match decode(kernel, own) {
                Some(state) => return Some((*at, state)),
                None => kernel.restore(&before),
            }
        }
        None
    }

    /// Adds the states of all traces at a time, and those of analyses. Of a read that goes on
    /// (`is_on_the_way`), only what is later than all others is added.
    pub(crate) fn add(
        &mut self,
        contexts: &Contexts,
        (kernel, own): (&KernelState, OwnStates),
        time: Timestamp,
        is_on_the_way: bool,
    ) {
        self.prepare(contexts, kernel);
        let mut later = self.own.range(time..).map(|(_, states)| states);
        let is_known = match is_on_the_way {
            true => later.any(|states| states.contains(&own)),
            false => self.own.get(&time).is_some_and(|states| states.contains(&own)),
        };
        let is_new = !own.is_empty() && !is_known;
        let mut added = is_new;
        for (trace, of) in (0..).map(TraceIndex).zip(&mut self.traces) {
            let is_last = of.states.last_key_value().is_none_or(|(last, _)| *last < time);
            let is_wanted = is_new || !is_on_the_way || is_last;
            if !kernel.changes(trace) || !is_wanted || of.states.contains_key(&time) {
                continue;
            }
            let Some(saved) = kernel.save_trace(contexts, trace) else { continue };
            of.states.insert(time, saved);
            added = true;
            thin_out(&mut of.states);
        }
        if is_new {
            self.own.entry(time).or_default().extend(own);
            thin_out(&mut self.own);
        }
        self.added += usize::from(added);
    }

    /// Decodes the states in bytes, and drops those of a kernel state with other options.
    fn prepare(&mut self, contexts: &Contexts, kernel: &KernelState) {
        self.traces.resize_with(contexts.traces().len().max(self.traces.len()), OfTrace::default);
        #[cfg(feature = "checkpoint-files")]
        for (trace, of) in (0..).map(TraceIndex).zip(&mut self.traces) {
            let options = kernel.stored().options;
            if std::mem::replace(&mut of.options, options) != options {
                of.states.clear();
            }
            let bytes = std::mem::take(&mut of.bytes);
            if !bytes.is_empty() {
                of.states.extend(decoded(contexts, (kernel, trace), &bytes).into_iter().flatten());
            }
        }
        #[cfg(not(feature = "checkpoint-files"))]
        let _ = kernel;
    }
}

/// Removes every other state if there are too many.
fn thin_out<T>(states: &mut BTreeMap<Timestamp, T>) {
    if states.len() > MOST {
        let mut keep = false;
        states.retain(|_, _| {
            keep = !keep;
            keep
        });
    }
}

/// # Bytes
#[cfg(feature = "checkpoint-files")]
impl SavedStates {
    /// Converts the states of a trace to bytes, for [`set_bytes`](Self::set_bytes). The bytes contain the
    /// version of the states, but nothing of the trace: the caller has to remember whose they are.
    pub fn to_bytes(&self, trace: TraceIndex) -> Vec<u8> {
        let codec = KernelState::new().stored();
        let mut stored = StoredStates { version: codec.version, options: 0, states: Vec::new() };
        if let Some(of) = self.traces.get(trace.0) {
            stored.options = of.options;
            let mut before = None;
            for (time, saved) in &of.states {
                let mut bytes = Vec::new();
                (codec.write)(saved, before, &mut bytes);
                stored.states.push((time.as_ns(), bytes));
                before = Some(saved);
            }
        }
        // Writing to memory does not fail; an empty result is rejected by the reader.
        postcard::to_stdvec(&stored).unwrap_or_default()
    }

    /// Sets the states of a trace to those in bytes. They are decoded when they are needed, and ignored
    /// if they are damaged, of another version or of a kernel state with other options. The bytes may be
    /// hostile: memory use is proportional to their number.
    pub fn set_bytes(&mut self, trace: TraceIndex, bytes: Vec<u8>) {
        self.traces.resize_with(self.traces.len().max(trace.0.saturating_add(1)), OfTrace::default);
        if let Some(of) = self.traces.get_mut(trace.0) {
            *of = OfTrace { bytes, ..OfTrace::default() };
        }
    }
}

/// # Bytes of analyses
#[cfg(feature = "checkpoint-files")]
impl SavedStates {
    /// Converts the states of analyses to bytes, for [`set_bytes_of_analyses`](Self::set_bytes_of_analyses).
    /// They belong to the states of [all traces](Self::to_bytes) of the traceset.
    pub fn bytes_of_analyses(&self) -> Vec<u8> {
        let own = self.own.iter().map(|(time, own)| (time.as_ns(), own)).collect();
        // Writing to memory does not fail; an empty result is rejected by the reader.
        postcard::to_stdvec::<(u32, Vec<_>)>(&(crate::kernel::VERSION, own)).unwrap_or_default()
    }

    /// Sets the states of analyses to those in bytes. They are ignored like those of
    /// [traces](Self::set_bytes).
    pub fn set_bytes_of_analyses(&mut self, bytes: &[u8]) {
        let decoded = postcard::from_bytes::<(u32, Vec<(i64, OwnStates)>)>(bytes);
        if let Ok((crate::kernel::VERSION, own)) = decoded {
            self.own = own.into_iter().map(|(ns, own)| (Timestamp::from_ns(ns), own)).collect();
        }
    }
}

/// The states of a trace in bytes.
#[cfg(feature = "checkpoint-files")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct StoredStates {
    version: u32,
    options: u64,
    /// The times, in ns, and the states, as differences from those before.
    states: Vec<(i64, Vec<u8>)>,
}

/// Decodes the states of a trace; `None` if they are damaged or others.
#[cfg(feature = "checkpoint-files")]
fn decoded(
    contexts: &Contexts,
    (kernel, trace): (&KernelState, TraceIndex),
    bytes: &[u8],
) -> Option<Vec<(Timestamp, SavedKernelState)>> {
    let (stored, rest) = postcard::take_from_bytes::<StoredStates>(bytes).ok()?;
    let codec = kernel.stored();
    if !rest.is_empty() || (stored.version, stored.options) != (codec.version, codec.options) {
        return None;
    }
    let tracefiles = contexts.tracefiles_of(trace).count();
    let mut states: Vec<(Timestamp, SavedKernelState)> = Vec::new();
    for (time, bytes) in &stored.states {
        let (before, time) = (states.last(), Timestamp::from_ns(*time));
        if before.is_some_and(|(before, _)| *before >= time) {
            return None;
        }
        let saved = kernel.read_trace(trace, tracefiles, bytes, before.map(|(_, state)| state))?;
        states.push((time, saved));
    }
    Some(states)
}
