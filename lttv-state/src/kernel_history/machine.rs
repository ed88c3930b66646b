//! Writing of one machine's state to a history.

use hashbrown::HashSet;
use ltt_read::Timestamp;

use super::field::{EnumTexts, Field, NameTexts};
use super::node::Node;
use crate::history::{HistoryError, Store};
use crate::kernel::{
    BlockDevice, Changed, Process, ProcessIndex, Serial, SourceKind, TraceState, Transition,
};
use crate::tree::Quark;
use crate::value::StateValue;

pub(super) const CPUS: &str = "CPUs";
pub(super) const CPU: [&str; 4] = ["", "Thread", "Frequency", "Pending"];
pub(super) const THREADS: &str = "Threads";
pub(super) const THREAD: [&str; 11] = [
    "",
    "Mode",
    "Submode",
    "Name",
    "PID",
    "PPID",
    "CPU",
    "Kind",
    "Brand",
    "Executable",
    "Function",
];
pub(super) const SOURCES: [&str; 4] = ["IRQs", "Vectors", "Softirqs", "Traps"];
pub(super) const SOURCE: [&str; 2] = ["", "Name"];
pub(super) const DEVICES: &str = "Devices";
pub(super) const DEVICE: [&str; 3] = ["", "Name", "Requests"];
pub(super) const ANOMALIES: &str = "Anomalies";

/// The attributes of a machine, and the values that were stored last.
#[derive(Debug)]
pub(super) struct Machine {
    base: Quark,
    threads_base: Quark,
    /// The nodes of CPUs, by index in the state.
    cpus: Vec<Option<Node<4>>>,
    /// The nodes of threads, by place in the table of processes.
    threads: Vec<Option<Thread>>,
    sources: [Vec<Option<Node<2>>>; 4],
    devices: Vec<Node<3>>,
    anomalies: crate::kernel::Anomalies,
    names: NameTexts,
    changed: Changed,
}

#[derive(Debug)]
struct Thread {
    serial: Serial,
    tid: i32,
    node: Node<11>,
}

/// The destination of states: a builder, its texts and the time.
#[derive(Debug)]
pub(super) struct Output<'p, S> {
    pub(super) builder: &'p mut S,
    pub(super) enum_texts: &'p EnumTexts,
    pub(super) t: Timestamp,
}

/// The event or the loss of events that changed a state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cause {
    /// `None` for a loss.
    pub(super) transition: Option<Transition>,
    pub(super) cpu: Option<u32>,
}

impl Cause {
    /// Returns a loss of events of a CPU.
    pub(super) fn loss(cpu: u32) -> Self {
        Cause { transition: None, cpu: Some(cpu) }
    }
}

impl Machine {
    /// Creates the attributes of the machine of a trace.
    pub(super) fn new(builder: &mut impl Store, index: usize) -> Result<Machine, HistoryError> {
        let base = builder.add_child(Quark::ROOT, &index.to_string())?;
        let threads_base = builder.add_child(base, THREADS)?;
        Ok(Machine {
            base,
            threads_base,
            cpus: Vec::new(),
            threads: Vec::new(),
            sources: Default::default(),
            devices: Vec::new(),
            anomalies: crate::kernel::Anomalies::default(),
            names: NameTexts::default(),
            changed: Changed::default(),
        })
    }

    /// Stores the changes of an event, or the whole state if the changes or the event are
    /// unknown.
    pub(super) fn store(
        &mut self,
        out: &mut Output<'_, impl Store>,
        state: &mut TraceState,
        cause: Option<Cause>,
    ) -> Result<(), HistoryError> {
        let mut changed = std::mem::take(&mut self.changed);
        let is_known = state.changes(&mut changed);
        let stored = match cause {
            Some(cause) if is_known => self.store_changed(out, state, cause, &changed),
            _ => self.store_all(out, state),
        };
        self.changed = changed;
        stored
    }

    /// Stores the changes of an event.
    #[inline]
    fn store_changed(
        &mut self,
        out: &mut Output<'_, impl Store>,
        state: &TraceState,
        cause: Cause,
        changed: &Changed,
    ) -> Result<(), HistoryError> {
        // Processes that are gone come first: others may have their ids.
        for ix in &changed.processes {
            self.clear_if_gone(out, state, *ix)?;
        }
        if let Some(cpu) = cause.cpu {
            self.store_cpu(out, state, cpu)?;
        }
        for ix in &changed.processes {
            self.store_thread(out, state, *ix)?;
            // The process may be running, or may have been running before.
            if let Some(cpu) = state.process(*ix).and_then(Process::cpu)
                && Some(cpu) != cause.cpu
            {
                self.store_cpu(out, state, cpu)?;
            }
        }
        for (kind, number) in &changed.sources {
            self.store_source(out, state, *kind, *number)?;
        }
        match cause.transition {
            Some(
                Transition::BlockInsert
                | Transition::BlockMerge
                | Transition::BlockIssue
                | Transition::BlockComplete,
            ) => {
                if let Some(device) = state.effect().request().and_then(|of| of.device) {
                    self.store_device(out, state, device)?;
                }
            }
            Some(Transition::DeviceName) => self.store_all_devices(out, state)?,
            Some(Transition::Frequency) => self.store_all_cpus(out, state)?,
            _ => {}
        }
        if self.anomalies != *state.anomalies() {
            self.store_anomalies(out, state)?;
        }
        Ok(())
    }

    /// Stores the whole state.
    #[cold]
    fn store_all(
        &mut self,
        out: &mut Output<'_, impl Store>,
        state: &TraceState,
    ) -> Result<(), HistoryError> {
        let places = state.process_bound().max(self.threads.len());
        for ix in 0..places {
            self.clear_if_gone(out, state, ProcessIndex::at(ix))?;
        }
        self.store_all_cpus(out, state)?;
        for ix in 0..places {
            self.store_thread(out, state, ProcessIndex::at(ix))?;
        }
        for kind in SourceKind::ALL {
            let known = state.sources(kind).len().max(self.sources[kind as usize].len());
            for number in 0..known {
                self.store_source(out, state, kind, number as u32)?;
            }
        }
        self.store_all_devices(out, state)?;
        self.store_anomalies(out, state)?;
        self.clear_unknown(out)
    }

    /// Clears the threads that a continued history contains and that no longer exist.
    fn clear_unknown(&mut self, out: &mut Output<'_, impl Store>) -> Result<(), HistoryError> {
        let known: HashSet<Quark> =
            self.threads.iter().flatten().map(|thread| thread.node.base()).collect();
        let stored: Vec<Quark> = out.builder.tree().children(self.threads_base).collect();
        for quark in stored.into_iter().filter(|quark| !known.contains(quark)) {
            let mut gone = Node::of(out.builder, quark, &THREAD)?;
            gone.clear(out.builder, out.t, &THREAD)?;
        }
        Ok(())
    }

    /// Stores the states of all CPUs.
    fn store_all_cpus(
        &mut self,
        out: &mut Output<'_, impl Store>,
        state: &TraceState,
    ) -> Result<(), HistoryError> {
        state.cpus().try_for_each(|(number, _)| self.store_cpu(out, state, number))
    }

    /// Stores the state of a CPU.
    fn store_cpu(
        &mut self,
        out: &mut Output<'_, impl Store>,
        state: &TraceState,
        cpu: u32,
    ) -> Result<(), HistoryError> {
        let Some(at) = state.cpu_index(cpu) else { return Ok(()) };
        let Some(known) = state.cpu_at(at) else { return Ok(()) };
        let cpu = known.number();
        let node = match self.cpus.get_mut(at) {
            Some(Some(node)) => node,
            _ => {
                let base = child(out.builder, self.base, CPUS, &cpu.to_string())?;
                let node = Node::of(out.builder, base, &CPU)?;
                slot_mut(&mut self.cpus, at).insert(node)
            }
        };
        let pending = Some(known.pending_softirqs()).filter(|pending| *pending != 0);
        let fields = [
            out.enum_texts.cpu_modes[state.cpu_mode_at(at) as usize],
            Field::optional(state.running_at(at).and_then(Process::tid)),
            known.frequency().map_or(Field::Null, Field::U64),
            pending.map_or(Field::Null, |pending| Field::I64(pending.into())),
        ];
        node.set(out.builder, out.t, &CPU, &fields)
    }

    /// Clears the attributes of a process that is gone or has another id.
    fn clear_if_gone(
        &mut self,
        out: &mut Output<'_, impl Store>,
        state: &TraceState,
        ix: ProcessIndex,
    ) -> Result<(), HistoryError> {
        let Some(thread) = self.threads.get_mut(ix.index()) else { return Ok(()) };
        let is_gone = |stored: &mut Thread| {
            state.process(ix).is_none_or(|process| {
                process.serial() != stored.serial || process.tid() != Some(stored.tid)
            })
        };
        match thread.take_if(is_gone) {
            Some(mut gone) => gone.node.clear(out.builder, out.t, &THREAD),
            None => Ok(()),
        }
    }

    /// Stores the state of a process.
    fn store_thread(
        &mut self,
        out: &mut Output<'_, impl Store>,
        state: &TraceState,
        ix: ProcessIndex,
    ) -> Result<(), HistoryError> {
        let Some(process) = state.process(ix) else { return Ok(()) };
        let Some(tid) = process.tid() else { return Ok(()) };
        let mut name = |id| self.names.field(id, state, out.builder);
        let enum_texts = out.enum_texts;
        let top = process.top();
        let fields = [
            enum_texts.statuses[top.status() as usize],
            enum_texts.modes[top.mode() as usize],
            name(top.submode())?,
            name(process.name())?,
            Field::optional(process.pid()),
            Field::optional(process.parent()),
            process.cpu().map_or(Field::Null, Field::number),
            process.kind().map_or(Field::Null, |kind| enum_texts.kinds[kind as usize]),
            name(process.brand())?,
            name(process.executable())?,
            match process.function() {
                0 => Field::Null,
                address => Field::U64(address),
            },
        ];
        let thread = match self.threads.get_mut(ix.index()) {
            Some(Some(thread)) => thread,
            _ => {
                let (serial, base) = (process.serial(), self.threads_base);
                let base = match (tid, process.cpu()) {
                    (0, Some(cpu)) => out.builder.add_child(base, &format!("0_{cpu}")),
                    _ => out.builder.add_child(base, &tid.to_string()),
                }?;
                let node = Node::of(out.builder, base, &THREAD)?;
                let thread = Thread { serial, tid, node };
                slot_mut(&mut self.threads, ix.index()).insert(thread)
            }
        };
        thread.node.set(out.builder, out.t, &THREAD, &fields)
    }

    /// Stores the state of an interrupt, softirq or exception.
    fn store_source(
        &mut self,
        out: &mut Output<'_, impl Store>,
        state: &TraceState,
        kind: SourceKind,
        number: u32,
    ) -> Result<(), HistoryError> {
        let Some(source) = state.sources(kind).get(number as usize) else { return Ok(()) };
        let known = &mut self.sources[kind as usize];
        let running = match source.entries() {
            0 => Field::Null,
            _ => Field::number(source.running()),
        };
        let fields = [running, self.names.field(source.name(), state, out.builder)?];
        let node = match known.get_mut(number as usize) {
            Some(Some(node)) => node,
            _ if fields == [Field::Null; 2] => return Ok(()),
            _ => {
                let kind = SOURCES[kind as usize];
                let base = child(out.builder, self.base, kind, &number.to_string())?;
                let node = Node::of(out.builder, base, &SOURCE)?;
                slot_mut(known, number as usize).insert(node)
            }
        };
        node.set(out.builder, out.t, &SOURCE, &fields)
    }

    /// Stores the states of all block devices.
    fn store_all_devices(
        &mut self,
        out: &mut Output<'_, impl Store>,
        state: &TraceState,
    ) -> Result<(), HistoryError> {
        (0..state.devices().len()).try_for_each(|device| self.store_device(out, state, device))
    }

    /// Stores the state of a block device, and adds devices up to its index.
    fn store_device(
        &mut self,
        out: &mut Output<'_, impl Store>,
        state: &TraceState,
        index: usize,
    ) -> Result<(), HistoryError> {
        while self.devices.len() <= index {
            let Some(device) = state.devices().get(self.devices.len()) else { return Ok(()) };
            let number = device.number().to_string();
            let base = child(out.builder, self.base, DEVICES, &number)?;
            self.devices.push(Node::of(out.builder, base, &DEVICE)?);
        }
        let Some(device) = state.devices().get(index) else { return Ok(()) };
        let fields = [
            out.enum_texts.device_modes[BlockDevice::mode(device) as usize],
            self.names.field(device.name(), state, out.builder)?,
            Field::number(device.in_flight()),
        ];
        self.devices[index].set(out.builder, out.t, &DEVICE, &fields)
    }

    /// Stores the counters of anomalies that changed.
    #[cold]
    fn store_anomalies(
        &mut self,
        out: &mut Output<'_, impl Store>,
        state: &TraceState,
    ) -> Result<(), HistoryError> {
        for ((name, count), (_, before)) in state.anomalies().iter().zip(self.anomalies.iter()) {
            if count != before {
                let quark = child(out.builder, self.base, ANOMALIES, name)?;
                let count = Some(count).filter(|count| *count > 0);
                out.builder.set(quark, out.t, count.map_or(StateValue::Null, StateValue::U64))?;
            }
        }
        self.anomalies = *state.anomalies();
        Ok(())
    }
}

/// Returns the attribute `base/group/name`, which is added if it is new.
fn child(
    builder: &mut impl Store,
    base: Quark,
    group: &str,
    name: &str,
) -> Result<Quark, HistoryError> {
    let group = builder.add_child(base, group)?;
    builder.add_child(group, name)
}

/// Returns an element of a table, which grows as needed.
fn slot_mut<T>(table: &mut Vec<Option<T>>, at: usize) -> &mut Option<T> {
    if table.len() <= at {
        table.resize_with(at + 1, || None);
    }
    &mut table[at]
}
