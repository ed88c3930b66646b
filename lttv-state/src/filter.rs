//! `state.` fields of filters: what the process does that runs where an event
//! happened.
//!
//! The fields are LTTV's:
//!
//! | field | what it is |
//! |---|---|
//! | `state.pid` | the id of the process (what user space calls a thread id) |
//! | `state.tgid` | that of its thread group (what user space calls a process id) |
//! | `state.ppid` | that of its parent |
//! | `state.cpu` | the CPU of the event |
//! | `state.creation_time` | when it was forked, if that was seen |
//! | `state.insertion_time` | when the trace first told of it |
//! | `state.process_name`, `state.thread_brand` | its names |
//! | `state.execution_mode` | `USER_MODE`, `SYSCALL`, `TRAP`, `IRQ`, `SOFTIRQ`, `MODE_UNKNOWN` |
//! | `state.execution_submode` | the name of the system call, interrupt or exception; `NONE`, `UNKNOWN` |
//! | `state.process_status` | `RUN`, `WAIT`, `WAIT_CPU`, `WAIT_FORK`, `EXIT`, `ZOMBIE`, `DEAD`, `UNNAMED` |
//!
//! Labels may be written small, too (`user_mode`, `unknown`, `run`). What is not
//! known is absent: a comparison with it is false. Whether a filter sees the state
//! before an event or after it, the priority of the hook decides that asks it.
//!
//! ```
//! use lttv_context::{Bounds, TracesetContext, Traceset};
//! use lttv_filter::{Environment, Expression};
//! use lttv_state::filter::KernelFilters;
//! use lttv_state::kernel::KernelState;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let passed = std::cell::Cell::new(0);
//! let traceset = Traceset::open(path)?;
//! let mut context = TracesetContext::new(&traceset);
//! let kernel = context.attach(KernelState::new());
//! let expression: Expression = "state.execution_mode = SYSCALL and state.pid > 0".parse()?;
//! let filters = KernelFilters::new(&expression, traceset.traces(), &Environment::new())?;
//! let filters = filters.asking(kernel);
//!
//! let counter = &passed;
//! context.on_event("*", move |call| {
//!     counter.set(counter.get() + u64::from(filters.matches(call)));
//! });
//! context.middle(&Bounds::all())?;
//! assert!(passed.get() > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;
use std::sync::Arc;

use ltt_read::{Event, Trace};
use lttv_context::{EventCall, Handle};
use lttv_filter::model::{FieldType, IntegerType, Label, Unit};
use lttv_filter::{
    Environment, Expression, FilterError, Filters, StateField, StateFields, StateView,
};

use crate::kernel::{ExecutionMode, KernelState, NameId, Process, ProcessStatus, TraceState};

/// Filters for the events of several traces, whose `state.` fields a kernel's state
/// tells.
///
/// They are asked in hooks: those of a context that the state is attached to, called
/// after it took notice of the event, or before, as one likes.
#[derive(Debug)]
pub struct KernelFilters {
    filters: Filters,
    kernel: Option<Handle<KernelState>>,
    asks_state: bool,
}

impl KernelFilters {
    /// Compiles an expression.
    ///
    /// # Errors
    ///
    /// As [`Filters::new`]; there are `state.` fields.
    pub fn new(
        expression: &Expression,
        traces: &[Arc<Trace>],
        environment: &Environment,
    ) -> Result<Self, FilterError> {
        let filters = Filters::within(expression, traces, environment, &KernelFields)?;
        Ok(KernelFilters { filters, kernel: None, asks_state: expression.asks_state() })
    }

    /// The same, asking this state. Without one, `state.` fields are absent.
    #[must_use]
    pub fn asking(self, kernel: Handle<KernelState>) -> Self {
        KernelFilters { kernel: Some(kernel), ..self }
    }

    /// Whether any field is one of the state: if not, no state is needed.
    pub fn asks_state(&self) -> bool {
        self.asks_state
    }

    /// The filters, as they are without state.
    pub fn filters(&self) -> &Filters {
        &self.filters
    }

    /// Whether the event of a hook passes, in the state as it is when the hook is
    /// called.
    #[inline]
    pub fn matches(&self, call: &EventCall<'_, '_>) -> bool {
        let kernel = self.kernel.filter(|_| self.asks_state);
        match kernel.and_then(|kernel| call.extensions.get(kernel)) {
            Some(kernel) => self.filters.matches_in(&call.event, &KernelView::at(kernel, call)),
            None => self.filters.matches(&call.event),
        }
    }
}

/// Which fields there are, for compiling filters.
#[derive(Debug, Clone, Copy, Default)]
pub struct KernelFields;

/// The state where and when an event happened, for filters to look at.
#[derive(Debug, Clone, Copy)]
pub struct KernelView<'s> {
    state: Option<&'s TraceState>,
    process: Option<&'s Process>,
    cpu: Option<u32>,
}

/// A field.
#[derive(Debug, Clone, Copy)]
enum Of {
    Pid,
    Tgid,
    Ppid,
    Cpu,
    CreationTime,
    InsertionTime,
    ProcessName,
    ThreadBrand,
    Mode,
    Submode,
    Status,
}

const FIELDS: &[(&str, Of)] = &[
    ("pid", Of::Pid),
    ("tgid", Of::Tgid),
    ("ppid", Of::Ppid),
    ("cpu", Of::Cpu),
    ("creation_time", Of::CreationTime),
    ("insertion_time", Of::InsertionTime),
    ("process_name", Of::ProcessName),
    ("thread_brand", Of::ThreadBrand),
    ("execution_mode", Of::Mode),
    ("execution_submode", Of::Submode),
    ("process_status", Of::Status),
];

/// LTTV's labels of the modes, and those of its specification.
fn mode_labels() -> impl Iterator<Item = (usize, &'static str)> {
    let small = ["unknown", "user_mode", "syscall", "trap", "irq", "softirq"];
    let spelled = ExecutionMode::ALL.iter().map(|mode| mode.as_str());
    spelled.enumerate().chain(small.into_iter().enumerate())
}

fn status_labels() -> impl Iterator<Item = (usize, &'static str)> {
    let small = ["unnamed", "wait_fork", "wait_cpu", "exit", "zombie", "wait", "run", "dead"];
    let spelled = ProcessStatus::ALL.iter().map(|status| status.as_str());
    spelled.enumerate().chain([(0, "UNNAMED")]).chain(small.into_iter().enumerate())
}

fn enumeration(labels: impl Iterator<Item = (usize, &'static str)>) -> FieldType {
    let label = |(number, name): (usize, &str)| {
        let number = number as i128;
        Label { name: name.into(), ranges: vec![(number, number)] }
    };
    let labels: Vec<_> = labels.map(label).collect();
    let high = labels.iter().map(|label| label.ranges[0].1).max().unwrap_or(0);
    FieldType::Integer(IntegerType { low: 0, high, labels, unit: Unit::Number })
}

impl StateFields for KernelFields {
    fn find(&self, name: &str) -> Option<(StateField, FieldType)> {
        let at = FIELDS.iter().position(|(known, _)| known.eq_ignore_ascii_case(name))?;
        let of = match FIELDS[at].1 {
            Of::Pid | Of::Tgid | Of::Ppid => FieldType::integer(32, true),
            Of::Cpu => FieldType::integer(32, false),
            Of::CreationTime | Of::InsertionTime => FieldType::time(),
            Of::ProcessName | Of::ThreadBrand | Of::Submode => FieldType::Text,
            Of::Mode => enumeration(mode_labels()),
            Of::Status => enumeration(status_labels()),
        };
        Some((StateField(at as u32), of))
    }

    fn names(&self) -> Vec<String> {
        FIELDS.iter().map(|(name, _)| (*name).to_owned()).collect()
    }
}

impl<'s> KernelView<'s> {
    /// The state at the event that a hook got: as it is when the hook is called.
    #[inline]
    pub fn at(kernel: &'s KernelState, call: &EventCall<'_, '_>) -> Self {
        let (state, cpu) = (kernel.trace(call.trace.index()), kernel.cpu_of(call));
        let process = state.zip(cpu).and_then(|(state, cpu)| state.running(cpu));
        KernelView { state, process, cpu }
    }

    fn name(&self, id: NameId) -> Option<&'s str> {
        self.state.map(|state| state.name(id)).filter(|name| !name.is_empty())
    }
}

impl StateView for KernelView<'_> {
    fn integer(&self, field: StateField, _: &Event<'_>) -> Option<u64> {
        let (_, of) = FIELDS.get(field.0 as usize)?;
        let signed = |value: i64| value as u64;
        match of {
            Of::Cpu => self.cpu.map(u64::from),
            Of::Pid => self.process?.tid().map(|tid| signed(tid.into())),
            Of::Tgid => self.process?.pid().map(|tid| signed(tid.into())),
            Of::Ppid => self.process?.parent().map(|tid| signed(tid.into())),
            Of::CreationTime => self.process?.creation().map(|time| signed(time.ns())),
            Of::InsertionTime => Some(signed(self.process?.insertion().ns())),
            Of::Mode => Some(self.process?.mode() as u64),
            Of::Status => Some(self.process?.status() as u64),
            Of::ProcessName | Of::ThreadBrand | Of::Submode => None,
        }
    }

    fn text<'t>(&'t self, field: StateField, _: &Event<'_>) -> Option<Cow<'t, [u8]>> {
        let (_, of) = FIELDS.get(field.0 as usize)?;
        let process = self.process?;
        let id = match of {
            Of::ProcessName => process.name(),
            Of::ThreadBrand => process.brand(),
            Of::Submode => process.submode(),
            _ => return None,
        };
        self.name(id).map(|name| Cow::Borrowed(name.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_those_of_the_enumerations() {
        for (labels, spelled) in [
            (mode_labels().collect::<Vec<_>>(), ExecutionMode::ALL.len()),
            (status_labels().collect(), ProcessStatus::ALL.len()),
        ] {
            for (number, name) in &labels {
                let own = labels.iter().find(|(of, _)| of == number).map(|(_, own)| *own);
                let own = own.expect("each has one");
                let is_same = own.eq_ignore_ascii_case(name)
                    || own.strip_prefix("MODE_").is_some_and(|own| own.eq_ignore_ascii_case(name))
                    || own.is_empty() && name.eq_ignore_ascii_case("unnamed");
                assert!(is_same && *number < spelled, "{number} {name} {own}");
            }
        }
    }
}
