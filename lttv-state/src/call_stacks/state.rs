//! The stacks of all threads, as an extension.

use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Timestamp, Trace, TraceIndex};
use lttv_context::{EventCall, Extension, ExtensionIdentity, Handle, Setup, Subscription};
use lttv_hooks::Priority;

use super::actions::{FunctionEvent, PairEvent, TypeActions};
use super::collector::Collector;
use super::functions::{CallTarget, RawCode};
use super::missing::Missing;
use super::paths::PathId;
use super::rules::CallRules;
use super::saved::{SavedCallStacks, SavedTrace};
use super::thread::{IdentityFields, ThreadIndex, ThreadKey, TraceProcess};
use super::tracker::{Step, Tracker};
use crate::spans::marker::Marker;

/// The call stacks of the threads of user space programs at the current position of a context, as an
/// extension.
///
/// A stack is followed for each process and thread (the contexts `vpid` and `vtid`), from the entries
/// and exits of instrumented functions and the [pairs](super::EventPair) of [`CallRules`]:
///
/// * An exit from a function that has others on top of it ends these as well.
/// * An exit from a function that is not on the stack, or at an empty stack, is ignored.
///
/// [`CallStacks`](super::CallStacks) collects figures while this state is followed.
///
/// ```
/// use lttv_context::{Bounds, TracesetContext, Traceset};
/// use lttv_state::call_stacks::{CallRules, CallStackState, EventPair};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// // A kernel trace contains no functions, but pairs of any events can be followed.
/// let pair = EventPair::of_events("irq", "irq_handler_entry", "irq_handler_exit")?;
/// let rules = CallRules::with_pairs(&[pair], traceset.traces())?;
/// let mut context = TracesetContext::new(&traceset);
/// let stacks = context.attach(CallStackState::new(rules));
/// assert_eq!(context.read(&Bounds::all().events(3000))?.errors, 0);
///
/// let state = context.extensions()[stacks].trace(ltt_read::TraceIndex(0)).expect("one trace");
/// for (thread, calls) in state.stacks() {
///     println!("{thread:?}: {} calls", calls.count());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct CallStackState {
    rules: CallRules,
    traces: Vec<TraceCallState>,
    is_part: bool,
}

/// The call stacks of a trace.
#[derive(Debug)]
pub struct TraceCallState {
    pub(super) trace: Arc<Trace>,
    pub(super) tracker: Tracker,
    pub(super) collectors: Vec<Collector>,
    /// The number of collectors so far.
    pub(super) collected: u64,
    pub(super) missing: Missing,
}

/// A call that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenCall {
    /// The target of the call.
    pub code: CallTarget,
    /// The path, valid for the figures of the same context.
    pub path: PathId,
    /// The time of the entry.
    pub entered: Timestamp,
}

impl CallStackState {
    /// Creates the state before the first event.
    pub fn new(rules: CallRules) -> Self {
        CallStackState { rules, ..CallStackState::default() }
    }

    /// Creates the state of a part of a traceset, at the start of which the stacks are unknown.
    pub(super) fn of_part(rules: CallRules) -> Self {
        CallStackState { is_part: true, ..CallStackState::new(rules) }
    }

    /// Returns the rules.
    pub fn rules(&self) -> &CallRules {
        &self.rules
    }

    /// Returns the stacks of a trace; `None` if the traceset has no such trace.
    pub fn trace(&self, trace: TraceIndex) -> Option<&TraceCallState> {
        self.traces.get(trace.0)
    }

    pub(super) fn traces_mut(&mut self) -> &mut [TraceCallState] {
        &mut self.traces
    }

    pub(super) fn trace_mut(&mut self, trace: TraceIndex) -> Option<&mut TraceCallState> {
        self.traces.get_mut(trace.0)
    }

    /// Returns the number, the key and the call path of the thread of an event of any type, in the
    /// tracefile with a number; `None` if there are too many threads.
    #[inline]
    pub(crate) fn find_thread(
        &mut self,
        trace: TraceIndex,
        event: &Event<'_>,
        identity: &IdentityFields,
        tracefile: usize,
        time: i64,
    ) -> Option<(usize, ThreadKey, Option<PathId>)> {
        let tracker = &mut self.traces.get_mut(trace.0)?.tracker;
        let thread = tracker.index.find_or_add_of(event, identity, tracefile)?;
        tracker.update_threads(time);
        let path = tracker.stacks.get(thread)?.frames.last().map(|frame| frame.path);
        Some((thread, tracker.index.all().get(thread)?.0, path))
    }

    /// Returns the thread with a number, and its name.
    pub(crate) fn thread(&self, trace: TraceIndex, number: usize) -> Option<(ThreadKey, Arc<str>)> {
        self.traces.get(trace.0)?.tracker.index.all().get(number).cloned()
    }

    /// Applies an event, and passes it to the collectors if it is heard.
    #[inline]
    fn apply(
        &mut self,
        trace: TraceIndex,
        actions: &TypeActions,
        event: &Event<'_>,
        tracefile: usize,
        time: i64,
        is_heard: bool,
    ) {
        let Some(TraceCallState { tracker, collectors, .. }) = self.traces.get_mut(trace.0) else {
            return;
        };
        if let Some(binary) = &actions.binary {
            let process = actions.identity.process(event).or(tracker.index.process_of_trace());
            tracker.binaries.apply(process, binary, event);
            if !actions.has_calls() {
                return;
            }
        }
        let collectors = if is_heard { collectors.as_mut_slice() } else { &mut [] };
        collectors.iter_mut().for_each(|collector| collector.advance(time, &tracker.stacks));
        let thread = tracker.index.find_or_add_of(event, &actions.identity, tracefile);
        let Some(thread) = thread else {
            collectors.iter_mut().for_each(Collector::omitted_event);
            return;
        };
        tracker.update_threads(time);
        match &actions.function {
            Some(FunctionEvent::Entry(address)) => {
                if let Some(address) = event.integer(address) {
                    let step = Step::Enter(RawCode::address(address));
                    tracker.step(thread, step, time, collectors);
                }
            }
            Some(FunctionEvent::Exit(address)) => {
                let address = address.as_ref().and_then(|address| event.integer(address));
                let step = Step::Exit(address.map(RawCode::address));
                tracker.step(thread, step, time, collectors);
            }
            None => {}
        }
        if let Some(text) = &actions.marker {
            let text = event.get(text);
            let step = match text.as_ref().and_then(|text| text.as_str()).map(|text| text.bytes) {
                Some(text) => match Marker::of(text) {
                    Marker::Begin { name } => {
                        Some(Step::Enter(RawCode::section(tracker.sections.find_or_add(name))))
                    }
                    Marker::End => Some(Step::Exit(None)),
                    // Sections of processes need not be nested.
                    _ => None,
                },
                None => None,
            };
            if let Some(step) = step {
                tracker.step(thread, step, time, collectors);
            }
            return;
        }
        if actions.ends.is_empty() && actions.begins.is_empty() {
            return;
        }
        for (side, events) in [(1, &actions.ends), (0, &actions.begins)] {
            for PairEvent { pair, always } in events {
                let filter = || self.rules.filters(*pair)?[side].for_trace(trace);
                if *always || filter().is_some_and(|filter| filter.matches(event)) {
                    let code = RawCode::pair(*pair);
                    let step = if side == 0 { Step::Enter(code) } else { Step::Exit(Some(code)) };
                    tracker.step(thread, step, time, collectors);
                }
            }
        }
    }

    /// Applies the event of a call of a hook.
    #[inline]
    fn event(
        call: &mut EventCall<'_, '_>,
        handle: Handle<Self>,
        trace: TraceIndex,
        actions: &TypeActions,
    ) {
        let (tracefile, time) = (call.tracefile.number().0, call.delivery_time().as_ns());
        let is_heard = match call.known_to_reach_all_hooks() {
            Some(is_heard) => is_heard,
            None => call.reaches_all_hooks(),
        };
        if let Some(state) = call.extensions.get_mut(handle) {
            state.apply(trace, actions, &call.event, tracefile, time, is_heard);
        }
    }
}

impl TraceCallState {
    /// Iterates over the threads seen so far, each with its calls, outermost first.
    pub fn stacks(&self) -> impl Iterator<Item = (ThreadKey, impl Iterator<Item = OpenCall>)> {
        self.tracker.index.all().iter().zip(&self.tracker.stacks).map(|((key, _), stack)| {
            let calls = stack.frames.iter().map(|frame| OpenCall {
                code: frame.code.code(),
                path: frame.path,
                entered: Timestamp::from_ns(frame.entered),
            });
            (*key, calls)
        })
    }

    /// Returns the path of the innermost call of a thread; `None` if its stack is empty.
    pub fn path(&self, thread: ThreadKey) -> Option<PathId> {
        let stack = self.tracker.stacks.get(self.tracker.index.find(thread)?)?;
        stack.frames.last().map(|frame| frame.path)
    }
}

impl Extension for CallStackState {
    type Checkpoint = SavedCallStacks;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        let tracefiles = setup.contexts.tracefiles().len();
        for trace in setup.contexts.traces() {
            let (index, trace) = (trace.index(), trace.trace());
            let state = &mut setup.extensions[handle];
            let mut missing = Missing::default();
            let types = (0..trace.schema().event_types.len()).map(|at| EventTypeId(at as u32));
            for id in types {
                let Some(actions) = TypeActions::of(trace, index, id, &state.rules) else {
                    continue;
                };
                missing.add(&actions);
                let actions = Box::new(actions);
                let events = Subscription::to_type(index, id).priority(Priority::STATE);
                setup
                    .hooks
                    .on_event(events, move |call| Self::event(call, handle, index, &actions));
            }
            let of_trace = TraceProcess::of(trace);
            missing.finish(&of_trace);
            let index = ThreadIndex::new(of_trace, tracefiles);
            let part = state.is_part.then(Default::default);
            let tracker = Tracker { index, part, ..Tracker::default() };
            state.traces.push(TraceCallState {
                trace: trace.clone(),
                tracker,
                collectors: Vec::new(),
                collected: 0,
                missing,
            });
        }
    }

    fn reset(&mut self) {
        for trace in &mut self.traces {
            SavedTrace::default().restore(&mut trace.tracker);
        }
    }

    fn save(&self) -> SavedCallStacks {
        SavedCallStacks::of(self.traces.iter().map(|trace| &trace.tracker))
    }

    fn restore(&mut self, saved: &SavedCallStacks) {
        for (trace, saved) in self.traces.iter_mut().zip(&saved.traces) {
            saved.restore(&mut trace.tracker);
        }
    }

    fn checkpoint_bytes(saved: &SavedCallStacks, _: Option<&SavedCallStacks>) -> usize {
        saved.bytes()
    }

    fn identity(&self) -> ExtensionIdentity {
        let name = std::any::type_name::<Self>();
        ExtensionIdentity { name, version: 0, options: self.rules.fingerprint() }
    }

    fn needs_earlier_state(&self) -> bool {
        !self.is_part
    }
}
