//! The memory maps of processes.

mod call;
mod mapping;

use std::collections::HashMap;
use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, TraceIndex};
use lttv_context::{EventCall, Extension, Handle, Setup, Subscription};
use lttv_hooks::Priority;

use self::call::{Call, CallKind, Fields, Unit, integers};
use self::mapping::{Access, MAX_MAPPINGS, Space, range};
use super::extension::KernelState;
use super::machine::TraceState;
use super::process::{Process, Serial, Tid};
use super::transition::Transition;

pub use mapping::{Backing, Mapping};

/// The priority of the hooks: after the kernel state, before hooks that may read the maps.
const AFTER_STATE: Priority = match Priority::new(30) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};

/// The memory maps of processes, as an extension beside the [`KernelState`]: few analyses need
/// them, and without this extension they cost nothing.
///
/// The system calls `mmap`, `munmap`, `mprotect`, `mremap` and `brk` change the maps of the
/// process that makes them, from both their entry and their exit; calls that fail change
/// nothing. A fork copies the maps, an exec and the exit of the first thread of a process drop
/// them. State dumps contain earlier mappings. Everything else that happened before the
/// trace, or while events were lost, is unknown: so are the stack, and what an exec maps
/// itself. LTTng 0.x does not record arguments of system calls, only its state dump is used.
///
/// A process has at most 2¹⁴ mappings, and all processes of a trace have at most 2²² of them;
/// further ones are left out. Lengths are rounded up to multiples of 4096. Checkpoints contain
/// the maps, but cannot be stored in files.
///
/// ```
/// use lttv_context::{Bounds, TracesetContext, Traceset};
/// use lttv_state::kernel::{KernelState, MemoryMaps};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let kernel = context.attach(KernelState::new());
/// let maps = context.attach(MemoryMaps::new(kernel));
/// assert_eq!(context.read(&Bounds::all().events(4000))?.errors, 0);
///
/// let trace = ltt_read::TraceIndex(0);
/// let state = context.extensions()[kernel].trace(trace).expect("one trace");
/// for (_, process) in state.processes() {
///     for mapping in context.extensions()[maps].of(trace, state, process) {
///         println!("{}: {:x?}", state.name(process.name()), mapping.addresses());
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MemoryMaps {
    kernel: Handle<KernelState>,
    traces: Vec<TraceMaps>,
}

/// The memory maps of a trace.
#[derive(Debug, Clone, Default, PartialEq)]
struct TraceMaps {
    /// The mappings by serial number of the process.
    spaces: HashMap<Serial, Arc<Space>>,
    /// The system calls that have started, by serial number of the thread.
    calls: HashMap<Serial, Call>,
    /// The number of mappings of all processes.
    mappings: usize,
}

/// The maximum number of mappings of a trace.
const MAX_ALL: usize = 1 << 22;

/// The memory maps in a checkpoint. Checkpoints share the maps that did not change.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedMemoryMaps(Vec<TraceMaps>);

impl MemoryMaps {
    /// Creates an extension that follows the state of `kernel`, which must be attached to the
    /// same context.
    pub fn new(kernel: Handle<KernelState>) -> Self {
        MemoryMaps { kernel, traces: Vec::new() }
    }

    /// Returns the mappings of a process, ordered by address. The threads of a process share
    /// them. `state` is the state of the trace, which contains the process.
    pub fn of(&self, trace: TraceIndex, state: &TraceState, process: &Process) -> &[Mapping] {
        let spaces = self.traces.get(trace.0).map(|of| &of.spaces);
        let space = spaces.and_then(|of| of.get(&owner(state, process)));
        space.map_or(&[], |space| space.mappings())
    }
}

/// Returns the serial number under which the maps of a thread are kept: that of the first
/// thread of its process, or its own one if the first thread is unknown.
fn owner(state: &TraceState, process: &Process) -> Serial {
    let first = process.pid().filter(|pid| Some(*pid) != process.tid());
    let first = first.and_then(|pid| state.find(pid));
    first.map_or(process.serial(), |(_, first)| first.serial())
}

impl TraceMaps {
    /// Changes the mappings of a process.
    fn change(&mut self, of: Serial, change: impl FnOnce(&mut Space)) {
        let space = self.spaces.entry(of).or_default();
        let before = space.mappings().len();
        // One change adds two mappings at most.
        if self.mappings + 2 > MAX_ALL {
            return;
        }
        change(Arc::make_mut(space));
        self.mappings = self.mappings - before + space.mappings().len();
    }

    /// Drops the mappings of a process.
    fn drop(&mut self, of: Serial) {
        if let Some(space) = self.spaces.remove(&of) {
            self.mappings -= space.mappings().len();
        }
        self.calls.remove(&of);
    }

    /// Copies the mappings of a process that forks, unless there are too many.
    fn copy(&mut self, from: Serial, to: Serial) {
        self.drop(to);
        let Some(space) = self.spaces.get(&from).cloned() else { return };
        if self.mappings + space.mappings().len() <= MAX_ALL {
            self.mappings += space.mappings().len();
            self.spaces.insert(to, space);
        }
    }

    /// Applies the result of a system call.
    fn result(&mut self, state: &TraceState, process: &Process, call: Call, result: u64) {
        // The kernel returns the negative number of an error.
        if result as i64 > -4096 && (result as i64) < 0 {
            return;
        }
        let of = owner(state, process);
        let [address, length, third, flags, descriptor, offset] = call.arguments;
        match call.kind {
            CallKind::Map => {
                let Some(range) = range(result, length) else { return };
                let is_shared = matches!(flags & 0xf, 1 | 3);
                let access = Access::new(third, is_shared);
                let descriptor = descriptor as i32;
                let backing = match flags & MAP_ANONYMOUS != 0 || descriptor < 0 {
                    true => Backing::Anonymous,
                    false => {
                        let name = state.file_name(process, descriptor);
                        Backing::File { descriptor, name, offset }
                    }
                };
                let mapping = Mapping { start: range.start, end: range.end, access, backing };
                self.change(of, |space| space.map(mapping));
            }
            CallKind::Unmap => {
                let Some(range) = range(address, length) else { return };
                self.change(of, |space| space.unmap(range));
            }
            CallKind::Protect => {
                let Some(range) = range(address, length) else { return };
                self.change(of, |space| space.protect(range, third));
            }
            CallKind::Remap => {
                let (Some(old), Some(new)) = (range(address, length), range(result, third)) else {
                    return;
                };
                self.change(of, |space| space.remap(old, new, flags & MREMAP_DONTUNMAP != 0));
            }
            CallKind::Break => self.change(of, |space| space.set_break(result)),
        }
    }

    /// Applies a mapping in a state dump. Those of the trace take precedence.
    fn dumped(&mut self, state: &TraceState, values: [u64; 6]) {
        let [pid, start, end, flags, number, offset] = values;
        let Some((_, process)) = Tid::try_from(pid).ok().and_then(|tid| state.find(tid)) else {
            return;
        };
        let is_shared = flags & VM_SHARED != 0;
        let access = Access::new(flags, is_shared);
        let backing = match number {
            0 => Backing::Anonymous,
            _ => Backing::Inode { number, offset },
        };
        let mapping = Mapping { start, end, access, backing };
        if start < end {
            self.change(owner(state, process), |space| space.map_if_free(mapping));
        }
    }

    /// Applies the changes of processes.
    fn process_changed(&mut self, state: &TraceState, transition: Transition) {
        let effect = state.effect();
        for gone in effect.removed() {
            self.drop(gone.serial());
        }
        let subject = effect.subject().and_then(|ix| state.process(ix));
        match (transition, subject) {
            (Transition::Exec, _) => {
                if let Some(running) = effect.cpu().and_then(|cpu| state.running(cpu)) {
                    self.drop(owner(state, running));
                    self.drop(running.serial());
                }
            }
            (Transition::Exit, Some(process)) => self.drop(process.serial()),
            (Transition::Fork, Some(child)) => {
                let parent = child.parent().and_then(|tid| state.find(tid));
                let parent = parent.map(|(_, parent)| owner(state, parent));
                let own = owner(state, child);
                // A thread shares the mappings of its process.
                match parent.filter(|parent| *parent != own) {
                    Some(parent) if own == child.serial() => self.copy(parent, own),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// The flag of a mapping without a file, on all machines but a few.
const MAP_ANONYMOUS: u64 = 0x20;
/// The flag of `mremap` that keeps the old range mapped.
const MREMAP_DONTUNMAP: u64 = 4;
/// The flag of a shared mapping in state dumps.
const VM_SHARED: u64 = 8;
/// The size of the pages in which some calls count offsets.
const PAGE: u64 = 4096;

impl MemoryMaps {
    /// Applies an event, after the kernel state has.
    fn event(call: &mut EventCall<'_, '_>, handle: Handle<Self>, fields: Option<&Fields>) {
        let trace = call.trace.index();
        let Some(kernel) = call.extensions.get(handle).map(|maps| maps.kernel) else { return };
        let cpu = call.extensions.get(kernel).and_then(|kernel| kernel.cpu_of(call));
        let Some((maps, kernel)) = call.extensions.get_pair_mut(handle, kernel) else { return };
        let (Some(maps), Some(state)) = (maps.traces.get_mut(trace.0), kernel.trace(trace)) else {
            return;
        };
        if let Some(transition) = kernel.transition(trace, call.event.type_id()) {
            maps.process_changed(state, transition);
        }
        if let Some(fields) = fields
            && let Some(running) = cpu.and_then(|cpu| state.running(cpu))
        {
            maps.apply(state, running, fields, &call.event);
        }
    }
}

impl TraceMaps {
    /// Applies an event about memory; `running` is the process of its CPU.
    fn apply(&mut self, state: &TraceState, running: &Process, fields: &Fields, event: &Event<'_>) {
        match fields {
            Fields::Call(kind, fields, unit) => {
                let mut arguments = integers(event, fields);
                if *unit == Unit::Pages {
                    arguments[5] = arguments[5].saturating_mul(PAGE);
                }
                if self.calls.len() < MAX_MAPPINGS && running.tid().is_some_and(|tid| tid > 0) {
                    self.calls.insert(running.serial(), Call { kind: *kind, arguments });
                }
            }
            Fields::Result(field) => {
                if self.calls.is_empty() {
                    return;
                }
                if let (Some(call), Some(result)) =
                    (self.calls.remove(&running.serial()), event.integer(field))
                {
                    self.result(state, running, call, result);
                }
            }
            Fields::Dumped(fields) => self.dumped(state, integers(event, fields)),
        }
    }
}

impl Extension for MemoryMaps {
    type Checkpoint = SavedMemoryMaps;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        let kernel = setup.extensions[handle].kernel;
        let contexts = setup.contexts;
        for trace in contexts.traces() {
            setup.extensions[handle].traces.push(TraceMaps::default());
            let index = trace.index();
            if !KernelState::follows(trace.trace()) {
                continue;
            }
            let types =
                (0..trace.trace().schema().event_types.len()).map(|at| EventTypeId(at as u32));
            for id in types {
                use Transition::{Exec, Exit, Fork, Free, Switch, SyscallExit, Wakeup};
                let transition = setup.extensions.get(kernel).and_then(|k| k.transition(index, id));
                let fields = match transition {
                    Some(SyscallExit) => Fields::of_exit(trace.trace(), id),
                    _ => Fields::of(trace.trace(), id),
                };
                let changes =
                    matches!(transition, Some(Exec | Exit | Fork | Free | Switch | Wakeup));
                if !changes && fields.is_none() {
                    continue;
                }
                let events = Subscription::to_type(index, id).priority(AFTER_STATE);
                setup
                    .hooks
                    .on_event(events, move |call| Self::event(call, handle, fields.as_ref()));
            }
        }
    }

    fn reset(&mut self) {
        self.traces.fill(TraceMaps::default());
    }

    fn save(&self) -> SavedMemoryMaps {
        SavedMemoryMaps(self.traces.clone())
    }

    fn restore(&mut self, saved: &SavedMemoryMaps) {
        self.traces.clone_from(&saved.0);
    }

    fn checkpoint_bytes(saved: &SavedMemoryMaps, before: Option<&SavedMemoryMaps>) -> usize {
        let traces = saved.0.iter().enumerate().map(|(at, trace)| {
            let before = before.and_then(|before| before.0.get(at));
            let of_space = |(serial, space): (&Serial, &Arc<Space>)| {
                let before = before.and_then(|before| before.spaces.get(serial));
                let is_shared = before.is_some_and(|before| Arc::ptr_eq(before, space));
                let own = size_of::<Space>() + size_of_val(space.mappings());
                size_of::<(Serial, Arc<Space>)>() + if is_shared { 0 } else { own }
            };
            let calls = trace.calls.len() * size_of::<(Serial, Call)>();
            size_of::<TraceMaps>() + calls + trace.spaces.iter().map(of_space).sum::<usize>()
        });
        size_of::<SavedMemoryMaps>() + traces.sum::<usize>()
    }
}
