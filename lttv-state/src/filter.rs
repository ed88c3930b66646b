//! `state.` fields of filter expressions: the state of the process that runs on the CPU of
//! an event.
//!
//! | field | value |
//! |---|---|
//! | `state.tid` | the thread id (the kernel, and LTTV, call it the pid) |
//! | `state.pid` | the process id, which is that of the thread group; also `state.tgid` |
//! | `state.ppid` | the id of its parent |
//! | `state.cpu` | the CPU of the event |
//! | `state.creation_time` | the time at which it was forked; absent if the fork is not in the trace |
//! | `state.insertion_time` | the time at which the trace first mentions it |
//! | `state.process_name`, `state.thread_brand` | its name, and the name that it gave itself as a thread |
//! | `state.executable` | the path of the file that it executes, from its last `exec` in the trace |
//! | `state.execution_mode` | `USER_MODE`, `SYSCALL`, `TRAP`, `IRQ`, `SOFTIRQ`, `MODE_UNKNOWN` |
//! | `state.execution_submode` | the name of the system call, interrupt or exception; `NONE`, `UNKNOWN` |
//! | `state.process_status` | `RUN`, `WAIT`, `WAIT_CPU`, `WAIT_FORK`, `EXIT`, `ZOMBIE`, `DEAD`, `UNNAMED` |
//!
//! | `state.target_tid`, `state.target_pid`, `state.target_process_name`, `state.target_process_status` | the same of the process that the event is about: woken up, migrated, forked, exiting, dumped, or switched out; absent at other events |
//!
//! Fields without other names have those that LTTV gives them.
//!
//! At events of kernel traces without a context field `tid`, `pid` or `procname`, the words
//! `tid`, `pid` and `comm` are the ids and the name of the process that runs on the CPU when
//! the event is recorded. At a context switch this is the process that is switched out, as in
//! LTTng's contexts, whatever the priority of the hook is.
//!
//! Labels may also be written in lower case (`user_mode`, `unknown`, `run`), also `none` and
//! `unknown` for the submode. An unknown value is absent: a comparison with it is false. The priority of the hook that evaluates
//! a filter decides whether the filter sees the state before or after the event.
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
//! let expression: Expression = "state.execution_mode = SYSCALL and state.tid > 0".parse()?;
//! let filters = KernelFilters::new(&expression, traceset.traces(), &Environment::new())?;
//! let filters = filters.with_state(kernel);
//!
//! let counter = &passed;
//! context.on_event("*", move |call| {
//!     counter.set(counter.get() + u64::from(filters.matches(call)));
//! });
//! assert_eq!(context.read(&Bounds::all())?.errors, 0);
//! assert!(passed.get() > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;
use std::sync::Arc;

use ltt_read::{Event, Timestamp, Trace};
use lttv_context::{EventCall, Handle};
use lttv_filter::model::{FieldType, Hint, IntegerType, Label, Spelling};
use lttv_filter::{
    Environment, Expression, FilterError, Filters, StateField, StateFields, StateView,
};

use crate::kernel::{ExecutionMode, KernelState, NameId, Process, ProcessStatus, TraceState};

/// Filters for the events of several traces, with the kernel state as their `state.`
/// fields.
///
/// A hook evaluates them. The hook belongs to a context that the [`KernelState`] is
/// attached to; its priority decides whether it sees the state before or after the event.
#[derive(Debug)]
pub struct KernelFilters {
    filters: Filters,
    kernel: Option<Handle<KernelState>>,
    /// `true` if the compiled filters read a field of the state.
    asks_state: bool,
}

impl KernelFilters {
    /// Creates filters from an expression, compiled for each trace. In addition to the
    /// fields of events, the expression may use `state.` fields.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Filters::new`].
    pub fn new(
        expression: &Expression,
        traces: &[Arc<Trace>],
        environment: &Environment,
    ) -> Result<Self, FilterError> {
        let filters = Filters::with_state(expression, traces, environment, &KernelFields)?;
        let asks_state = filters.uses_state();
        Ok(KernelFilters { filters, kernel: None, asks_state })
    }

    /// Sets the kernel state that `state.` fields are read from. Without it, these fields
    /// are absent.
    #[must_use]
    pub fn with_state(self, kernel: Handle<KernelState>) -> Self {
        KernelFilters { kernel: Some(kernel), ..self }
    }

    /// Extends the filters to later versions of traces that are being recorded, and to traces
    /// after them: see [`Filters::grow_with_state`].
    pub fn grow(&mut self, traces: &[Arc<Trace>]) {
        self.filters.grow_with_state(traces, &KernelFields);
        self.asks_state = self.filters.uses_state();
    }

    /// Returns `true` if the result for any event depends on the kernel state: by a `state.`
    /// field, or by a word such as `tid` that the events do not record. Otherwise the filters
    /// need no kernel state.
    pub fn uses_state(&self) -> bool {
        self.asks_state
    }

    /// Returns the compiled filters, which have no access to a kernel state.
    pub fn filters(&self) -> &Filters {
        &self.filters
    }

    /// Returns `true` if the event of a hook call passes, with the state as it is during
    /// the call.
    #[inline]
    pub fn matches(&self, call: &EventCall<'_, '_>) -> bool {
        let kernel = self.kernel.filter(|_| self.asks_state);
        match kernel.and_then(|kernel| call.extensions.get(kernel)) {
            Some(kernel) => self.filters.matches_in(&call.event, &KernelView::new(kernel, call)),
            None => self.filters.matches(&call.event),
        }
    }
}

/// The `state.` fields of the kernel state, for compiling filters.
#[derive(Debug, Clone, Copy, Default)]
pub struct KernelFields;

/// The kernel state at an event, as the source of `state.` fields.
#[derive(Debug, Clone, Copy)]
pub struct KernelView<'s> {
    kernel: &'s KernelState,
    state: Option<&'s TraceState>,
    process: Option<&'s Process>,
    cpu: Option<u32>,
    time: Timestamp,
}

/// A `state.` field.
#[derive(Debug, Clone, Copy)]
enum FieldKind {
    Tid,
    Pid,
    Ppid,
    Cpu,
    CreationTime,
    InsertionTime,
    ProcessName,
    ThreadBrand,
    Executable,
    Mode,
    Submode,
    Status,
    TargetTid,
    TargetPid,
    TargetName,
    TargetStatus,
    /// The fields that words stand for.
    OwnTid,
    OwnPid,
    OwnName,
}

const FIELDS: &[(&str, FieldKind, &str)] = &[
    ("tid", FieldKind::Tid, "id of the thread"),
    ("pid", FieldKind::Pid, "id of the process (thread group)"),
    ("ppid", FieldKind::Ppid, "id of the parent"),
    ("cpu", FieldKind::Cpu, "CPU of the event"),
    ("creation_time", FieldKind::CreationTime, "time at which the process was forked"),
    (
        "insertion_time",
        FieldKind::InsertionTime,
        "time at which the trace first mentions the process",
    ),
    ("process_name", FieldKind::ProcessName, "name of the process"),
    ("thread_brand", FieldKind::ThreadBrand, "name that the thread gave itself"),
    ("executable", FieldKind::Executable, "path of the file that the process executes"),
    ("execution_mode", FieldKind::Mode, "mode in which the process executes"),
    ("execution_submode", FieldKind::Submode, "system call, interrupt or exception"),
    ("process_status", FieldKind::Status, "scheduling status of the process"),
    ("target_tid", FieldKind::TargetTid, "id of the thread that the event is about"),
    ("target_pid", FieldKind::TargetPid, "id of the process that the event is about"),
    ("target_process_name", FieldKind::TargetName, "name of the process that the event is about"),
    (
        "target_process_status",
        FieldKind::TargetStatus,
        "scheduling status of the process that the event is about",
    ),
];

/// The fields that words stand for. Their numbers follow those of [`FIELDS`].
const OF_WORDS: [(&str, &str, FieldKind); 3] = [
    ("tid", "tid of the event", FieldKind::OwnTid),
    ("pid", "pid of the event", FieldKind::OwnPid),
    ("comm", "comm of the event", FieldKind::OwnName),
];

/// Returns LTTV's labels of the modes, and the labels of its specification.
fn mode_labels() -> impl Iterator<Item = (usize, &'static str)> {
    let small = ["unknown", "user_mode", "syscall", "trap", "irq", "softirq"];
    let spelled = ExecutionMode::ALL.iter().map(|mode| mode.as_str());
    spelled.enumerate().chain(small.into_iter().enumerate())
}

/// Returns LTTV's labels of the statuses, in upper and lower case.
fn status_labels() -> impl Iterator<Item = (usize, &'static str)> {
    let small = ["unnamed", "wait_fork", "wait_cpu", "exit", "zombie", "wait", "run", "dead"];
    let spelled = ProcessStatus::ALL.iter().map(|status| status.as_str());
    spelled.enumerate().chain([(0, "UNNAMED")]).chain(small.into_iter().enumerate())
}

/// Returns the type of submodes: any text, and the special ones also in the spelling of
/// LTTV's specification.
fn submode() -> FieldType {
    let spelling = |(text, also): (&str, &str)| Spelling { text: text.into(), also: also.into() };
    FieldType::Spelled([("NONE", "none"), ("UNKNOWN", "unknown")].map(spelling).into())
}

fn enumeration(labels: impl Iterator<Item = (usize, &'static str)>) -> FieldType {
    let label = |(number, name): (usize, &str)| {
        let number = number as i128;
        Label { name: name.into(), ranges: vec![(number, number)] }
    };
    let labels: Vec<_> = labels.map(label).collect();
    let high = labels.iter().map(|label| label.ranges[0].1).max().unwrap_or(0);
    FieldType::Integer(IntegerType { labels, ..IntegerType::new(0, high) })
}

/// Returns the type of the status of the process that runs on a CPU, which cannot be that of one that waits.
fn running_status() -> FieldType {
    let mut of = enumeration(status_labels());
    if let FieldType::Integer(of) = &mut of {
        use ProcessStatus::*;
        let unusual = [WaitFork, WaitCpu, Wait, Zombie, Dead].map(|status| status as i128);
        of.hint = Some(Hint {
            ranges: unusual.map(|status| (status, status)).into(),
            help: "it is that of the process that runs on the CPU of the event; for that of a process that is \
                   woken up, switched out, forked, or exits: `state.target_process_status`",
        });
    }
    of
}

/// Other names of fields, which are accepted but not listed.
const OTHER_NAMES: [(&str, &str); 1] = [("tgid", "pid")];

/// Returns the index of a listed field.
fn position(name: &str) -> Option<usize> {
    let other = OTHER_NAMES.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
    let name = other.map_or(name, |(_, known)| known);
    FIELDS.iter().position(|(known, ..)| known.eq_ignore_ascii_case(name))
}

/// Returns the kind of a field.
fn kind(field: StateField) -> Option<FieldKind> {
    let at = field.0 as usize;
    let of_word = || OF_WORDS.get(at.checked_sub(FIELDS.len())?);
    FIELDS.get(at).map(|(_, kind, _)| *kind).or_else(|| of_word().map(|(.., kind)| *kind))
}

impl StateFields for KernelFields {
    fn find(&self, name: &str) -> Option<(StateField, FieldType)> {
        let of_word = || OF_WORDS.iter().position(|(_, known, _)| *known == name);
        let at = position(name).or_else(|| of_word().map(|at| FIELDS.len() + at))?;
        let field = StateField(at as u32);
        let of = match kind(field)? {
            FieldKind::Tid
            | FieldKind::Pid
            | FieldKind::Ppid
            | FieldKind::TargetTid
            | FieldKind::TargetPid
            | FieldKind::OwnTid
            | FieldKind::OwnPid => FieldType::integer(32, true),
            FieldKind::Cpu => FieldType::integer(32, false),
            FieldKind::CreationTime | FieldKind::InsertionTime => FieldType::time(),
            FieldKind::ProcessName
            | FieldKind::ThreadBrand
            | FieldKind::Executable
            | FieldKind::TargetName
            | FieldKind::OwnName => FieldType::Text,
            FieldKind::Submode => submode(),
            FieldKind::Mode => enumeration(mode_labels()),
            FieldKind::Status => running_status(),
            FieldKind::TargetStatus => enumeration(status_labels()),
        };
        Some((field, of))
    }

    fn names(&self) -> Vec<String> {
        FIELDS.iter().map(|(name, ..)| (*name).to_owned()).collect()
    }

    fn description(&self, name: &str) -> &'static str {
        position(name).map_or("", |at| FIELDS[at].2)
    }

    fn field_of_word(&self, word: &str, trace: &Trace) -> Option<&'static str> {
        let field = OF_WORDS.iter().find(|(known, ..)| *known == word)?.1;
        KernelState::follows(trace).then_some(field)
    }
}

impl<'s> KernelView<'s> {
    /// Creates a view of the state at the event of a hook call, as it is during the call.
    #[inline]
    pub fn new(kernel: &'s KernelState, call: &EventCall<'_, '_>) -> Self {
        let (state, cpu) = (kernel.trace(call.trace.index()), kernel.cpu_of(call));
        let process = state.zip(cpu).and_then(|(state, cpu)| state.running(cpu));
        KernelView { kernel, state, process, cpu, time: call.delivery_time() }
    }

    /// Returns the CPU of the event.
    #[cfg(feature = "analyses")]
    pub(crate) fn cpu(&self) -> Option<u32> {
        self.cpu
    }

    /// Returns the process that ran on the CPU when an event was recorded.
    pub(crate) fn own(&self, event: &Event<'_>) -> Option<&'s Process> {
        let out = self
            .state
            .zip(self.cpu)
            .and_then(|(state, cpu)| self.kernel.recorded_by(state, cpu, self.time, event));
        out.or(self.process)
    }

    /// Returns the process that an event is about.
    fn target(&self, event: &Event<'_>) -> Option<&'s Process> {
        self.kernel.subject_of(self.state?, self.cpu?, self.time, event)
    }

    /// Returns the text of a name; `None` if it is empty.
    pub(crate) fn name(&self, id: NameId) -> Option<&'s str> {
        self.state.map(|state| state.name(id)).filter(|name| !name.is_empty())
    }
}

impl StateView for KernelView<'_> {
    fn integer(&self, field: StateField, event: &Event<'_>) -> Option<u64> {
        let signed = |value: i64| value as u64;
        match kind(field)? {
            FieldKind::Cpu => self.cpu.map(u64::from),
            FieldKind::Tid => self.process?.tid().map(|tid| signed(tid.into())),
            FieldKind::Pid => self.process?.pid().map(|pid| signed(pid.into())),
            FieldKind::Ppid => self.process?.parent().map(|tid| signed(tid.into())),
            FieldKind::CreationTime => self.process?.creation().map(|time| signed(time.as_ns())),
            FieldKind::InsertionTime => Some(signed(self.process?.insertion().as_ns())),
            FieldKind::Mode => Some(self.process?.mode() as u64),
            FieldKind::Status => Some(self.process?.status() as u64),
            FieldKind::TargetTid => self.target(event)?.tid().map(|tid| signed(tid.into())),
            FieldKind::TargetPid => self.target(event)?.pid().map(|pid| signed(pid.into())),
            FieldKind::TargetStatus => Some(self.target(event)?.status() as u64),
            FieldKind::OwnTid => self.own(event)?.tid().map(|tid| signed(tid.into())),
            FieldKind::OwnPid => self.own(event)?.pid().map(|pid| signed(pid.into())),
            FieldKind::ProcessName
            | FieldKind::ThreadBrand
            | FieldKind::Executable
            | FieldKind::Submode
            | FieldKind::TargetName
            | FieldKind::OwnName => None,
        }
    }

    fn text<'t>(&'t self, field: StateField, event: &Event<'_>) -> Option<Cow<'t, [u8]>> {
        let id = match kind(field)? {
            FieldKind::ProcessName => self.process?.name(),
            FieldKind::ThreadBrand => self.process?.brand(),
            FieldKind::Executable => self.process?.executable(),
            FieldKind::Submode => self.process?.submode(),
            FieldKind::TargetName => self.target(event)?.name(),
            FieldKind::OwnName => self.own(event)?.name(),
            _ => return None,
        };
        self.name(id).map(|name| Cow::Borrowed(name.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_match_the_enumerations() {
        for (labels, spelled) in [
            (mode_labels().collect::<Vec<_>>(), ExecutionMode::ALL.len()),
            (status_labels().collect(), ProcessStatus::ALL.len()),
        ] {
            for (number, name) in &labels {
                let own = labels.iter().find(|(of, _)| of == number).map(|(_, own)| *own);
                let own = own.expect("each label has a spelling");
                let is_same = own.eq_ignore_ascii_case(name)
                    || own.strip_prefix("MODE_").is_some_and(|own| own.eq_ignore_ascii_case(name))
                    || own.is_empty() && name.eq_ignore_ascii_case("unnamed");
                assert!(is_same && *number < spelled, "{number} {name} {own}");
            }
        }
    }
}
