//! The effects of event types on the stacks.

use ltt_read::schema::{EventTypeId, Format, Scope};
use ltt_read::selection::{EventSelection, Verdict};
use ltt_read::{Field, Trace, TraceIndex};

use super::binaries::BinaryEvent;
use super::rules::{CallRules, PairId};
use super::thread::IdentityFields;
use crate::kernel::{Rule, Transition};

/// The effect of the events of a type on the stacks, resolved for one trace.
#[derive(Debug)]
pub(super) struct TypeActions {
    pub(super) identity: IdentityFields,
    pub(super) function: Option<FunctionEvent>,
    /// The text of a marker.
    pub(super) marker: Option<Field>,
    is_of_kernel: bool,
    pub(super) binary: Option<BinaryEvent>,
    /// The pairs that an event may end; before those that it may begin.
    pub(super) ends: Vec<PairEvent>,
    pub(super) begins: Vec<PairEvent>,
}

/// An event of an instrumented function.
#[derive(Debug)]
pub(super) enum FunctionEvent {
    /// The entry to the function at an address.
    Entry(Field),
    /// The exit from the function at an address; without a field, from the innermost function.
    Exit(Option<Field>),
}

/// An event that may begin or end a pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairEvent {
    pub(super) pair: PairId,
    /// `true` if each event of the type does.
    pub(super) always: bool,
}

impl TypeActions {
    /// Returns what the events of a type do; `None` if they do nothing.
    pub(super) fn of(
        trace: &Trace,
        index: TraceIndex,
        id: EventTypeId,
        rules: &CallRules,
    ) -> Option<Self> {
        let (function, marker) = match rules.follow_markers() {
            true => (None, marker_text(trace, id)),
            false => (FunctionEvent::of(trace, id), None),
        };
        let side = |side: usize| {
            let event = |pair: PairId| {
                let always = match rules.filters(pair)?[side].verdict(index, id) {
                    Verdict::Never => return None,
                    Verdict::Always => true,
                    _ => false,
                };
                Some(PairEvent { pair, always })
            };
            rules.ids().filter_map(event).collect::<Vec<_>>()
        };
        let (begins, ends) = (side(0), side(1));
        let binary = BinaryEvent::of(trace, id);
        let identity = IdentityFields::of(trace, id);
        let is_of_kernel = function.is_some() && trace.schema().format == Format::Ftrace;
        let actions =
            TypeActions { identity, function, marker, is_of_kernel, binary, ends, begins };
        (actions.has_calls() || actions.binary.is_some()).then_some(actions)
    }
}

impl TypeActions {
    /// Returns `true` if the events are those of functions of the kernel, whose addresses all processes share.
    pub(super) fn is_of_kernel(&self) -> bool {
        self.is_of_kernel
    }

    /// Returns `true` if the events begin or end calls.
    pub(super) fn has_calls(&self) -> bool {
        self.function.is_some()
            || self.marker.is_some()
            || !self.begins.is_empty()
            || !self.ends.is_empty()
    }
}

/// Returns `true` if a trace declares events of functions. Recordings of ftrace always do: they also declare events
/// that were not recorded.
///
/// ```
/// use ltt_read::Trace;
/// use lttv_state::call_stacks::declares_calls;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
/// assert!(!declares_calls(&*Trace::open(path)?));
/// # Ok::<(), ltt_read::Error>(())
/// ```
pub fn declares_calls(trace: &Trace) -> bool {
    let mut types = (0..trace.schema().event_types.len()).map(|at| EventTypeId(at as u32));
    types.any(|id| FunctionEvent::of(trace, id).is_some())
}

/// Returns `true` if a trace declares events with which programs mark sections, as recordings of ftrace always do.
///
/// ```
/// use ltt_read::Trace;
/// use lttv_state::call_stacks::declares_markers;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/ftrace/trace.dat");
/// assert!(declares_markers(&*Trace::open(path)?));
/// # Ok::<(), ltt_read::Error>(())
/// ```
pub fn declares_markers(trace: &Trace) -> bool {
    let mut types = (0..trace.schema().event_types.len()).map(|at| EventTypeId(at as u32));
    types.any(|id| marker_text(trace, id).is_some())
}

/// Returns the field with the text of markers; `None` if events of a type are none.
fn marker_text(trace: &Trace, id: EventTypeId) -> Option<Field> {
    Rule::of(trace, id).filter(|rule| rule.transition == Transition::Marker)?;
    trace.field(id, Scope::Payload, "buf")
}

impl FunctionEvent {
    fn of(trace: &Trace, id: EventTypeId) -> Option<Self> {
        let (provider, name) = trace.event_type(id).name().split_once(':')?;
        if trace.schema().format == Format::Ftrace && provider == "ftrace" {
            let function = trace.field(id, Scope::Payload, "func");
            return match name {
                "funcgraph_entry" => function.map(FunctionEvent::Entry),
                "funcgraph_exit" => Some(FunctionEvent::Exit(function)),
                _ => None,
            };
        }
        if !matches!(provider, "lttng_ust_cyg_profile" | "lttng_ust_cyg_profile_fast") {
            return None;
        }
        let address = trace.field(id, Scope::Payload, "addr");
        match name {
            "func_entry" => address.map(FunctionEvent::Entry),
            "func_exit" => Some(FunctionEvent::Exit(address)),
            _ => None,
        }
    }
}
