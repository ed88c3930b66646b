//! One machine's state on its way into a history.

use hashbrown::HashSet;

use super::field::{Field, NameTexts, Spellings};
use super::node::Node;
use crate::history::{Builder, Error};
use crate::kernel::{
    BlockDevice, Changed, Process, ProcessIx, Serial, SourceKind, TraceState, Transition,
};
use crate::tree::Quark;

pub(super) const CPUS: &str = "CPUs";
pub(super) const CPU: [&str; 4] = ["", "Thread", "Frequency", "Pending"];
pub(super) const THREADS: &str = "Threads";
pub(super) const THREAD: [&str; 10] =
    ["", "Mode", "Submode", "Name", "PID", "PPID", "CPU", "Kind", "Brand", "Function"];
pub(super) const SOURCES: [&str; 4] = ["IRQs", "Vectors", "Softirqs", "Traps"];
pub(super) const SOURCE: [&str; 2] = ["", "Name"];
pub(super) const DEVICES: &str = "Devices";
pub(super) const DEVICE: [&str; 3] = ["", "Name", "Requests"];
pub(super) const ANOMALIES: &str = "Anomalies";

/// Where the state of a machine is stored, and what was stored last.
#[derive(Debug)]
pub(super) struct Machine {
    base: Quark,
    threads_base: Quark,
    /// By their places in the state.
    cpus: Vec<Option<Node<4>>>,
    /// By place in the table of processes.
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
    node: Node<10>,
}

/// Where states go.
#[derive(Debug)]
pub(super) struct Place<'p> {
    pub(super) builder: &'p mut Builder,
    pub(super) spellings: &'p Spellings,
    pub(super) t: i64,
}

/// The event that a state was changed by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cause {
    pub(super) transition: Transition,
    pub(super) cpu: Option<u32>,
}

impl Machine {
    pub(super) fn new(builder: &mut Builder, index: usize) -> Result<Machine, Error> {
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

    /// Stores what an event changed; or all, if it is not known what that is.
    pub(super) fn store(
        &mut self,
        place: &mut Place<'_>,
        state: &mut TraceState,
        cause: Option<Cause>,
    ) -> Result<(), Error> {
        let mut changed = std::mem::take(&mut self.changed);
        let is_known = state.changes(&mut changed);
        let stored = match cause {
            Some(cause) if is_known => self.store_changed(place, state, cause, &changed),
            _ => self.store_all(place, state),
        };
        self.changed = changed;
        stored
    }

    #[inline]
    fn store_changed(
        &mut self,
        place: &mut Place<'_>,
        state: &TraceState,
        cause: Cause,
        changed: &Changed,
    ) -> Result<(), Error> {
        // Those that are gone first: another one may have their ids.
        for ix in &changed.processes {
            self.clear_if_gone(place, state, *ix)?;
        }
        if let Some(cpu) = cause.cpu {
            self.cpu(place, state, cpu)?;
        }
        for ix in &changed.processes {
            self.thread(place, state, *ix)?;
            // It may be running, or have been.
            if let Some(cpu) = state.process(*ix).and_then(Process::cpu)
                && Some(cpu) != cause.cpu
            {
                self.cpu(place, state, cpu)?;
            }
        }
        for (kind, number) in &changed.sources {
            self.source(place, state, *kind, *number)?;
        }
        match cause.transition {
            Transition::BlockIssue | Transition::BlockComplete => {
                if let Some(request) = state.effect().request() {
                    self.device(place, state, request.device)?;
                }
            }
            Transition::DeviceName => self.all_devices(place, state)?,
            Transition::Frequency => self.all_cpus(place, state)?,
            _ => {}
        }
        if self.anomalies != *state.anomalies() {
            self.store_anomalies(place, state)?;
        }
        Ok(())
    }

    #[cold]
    fn store_all(&mut self, place: &mut Place<'_>, state: &TraceState) -> Result<(), Error> {
        let places = state.places().max(self.threads.len());
        for ix in 0..places {
            self.clear_if_gone(place, state, ProcessIx::at(ix))?;
        }
        self.all_cpus(place, state)?;
        for ix in 0..places {
            self.thread(place, state, ProcessIx::at(ix))?;
        }
        for kind in SourceKind::ALL {
            let known = state.sources(kind).len().max(self.sources[kind as usize].len());
            for number in 0..known {
                self.source(place, state, kind, number as u32)?;
            }
        }
        self.all_devices(place, state)?;
        self.store_anomalies(place, state)?;
        self.clear_unknown(place)
    }

    /// Threads that are there in a history that is gone on with, but no more.
    fn clear_unknown(&mut self, place: &mut Place<'_>) -> Result<(), Error> {
        let known: HashSet<Quark> =
            self.threads.iter().flatten().map(|thread| thread.node.base()).collect();
        let stored: Vec<Quark> = place.builder.tree().children(self.threads_base).collect();
        for quark in stored.into_iter().filter(|quark| !known.contains(quark)) {
            let mut gone = Node::of(place.builder, quark, &THREAD)?;
            gone.clear(place.builder, place.t, &THREAD)?;
        }
        Ok(())
    }

    fn all_cpus(&mut self, place: &mut Place<'_>, state: &TraceState) -> Result<(), Error> {
        state.cpus().try_for_each(|(number, _)| self.cpu(place, state, number))
    }

    fn cpu(&mut self, place: &mut Place<'_>, state: &TraceState, cpu: u32) -> Result<(), Error> {
        let Some(at) = state.cpu_index(cpu) else { return Ok(()) };
        let Some(known) = state.cpu_at(at) else { return Ok(()) };
        let cpu = known.number();
        let node = match self.cpus.get_mut(at) {
            Some(Some(node)) => node,
            _ => {
                let base = child(place.builder, self.base, CPUS, &cpu.to_string())?;
                let node = Node::of(place.builder, base, &CPU)?;
                grown(&mut self.cpus, at).insert(node)
            }
        };
        let pending = Some(known.pending_softirqs()).filter(|pending| *pending != 0);
        let fields = [
            place.spellings.cpu_modes[state.cpu_mode(cpu) as usize],
            Field::optional(state.running(cpu).and_then(Process::tid)),
            known.frequency().map_or(Field::Null, Field::U64),
            pending.map_or(Field::Null, |pending| Field::I64(pending.into())),
        ];
        node.set(place.builder, place.t, &CPU, fields)
    }

    /// A process that is gone, or has another id, has no states any more.
    fn clear_if_gone(
        &mut self,
        place: &mut Place<'_>,
        state: &TraceState,
        ix: ProcessIx,
    ) -> Result<(), Error> {
        let Some(thread) = self.threads.get_mut(ix.index()) else { return Ok(()) };
        let is_gone = |stored: &mut Thread| {
            state.process(ix).is_none_or(|process| {
                process.serial() != stored.serial || process.tid() != Some(stored.tid)
            })
        };
        match thread.take_if(is_gone) {
            Some(mut gone) => gone.node.clear(place.builder, place.t, &THREAD),
            None => Ok(()),
        }
    }

    fn thread(
        &mut self,
        place: &mut Place<'_>,
        state: &TraceState,
        ix: ProcessIx,
    ) -> Result<(), Error> {
        let Some(process) = state.process(ix) else { return Ok(()) };
        let Some(tid) = process.tid() else { return Ok(()) };
        let mut name = |id| self.names.field(id, state, place.builder);
        let spellings = place.spellings;
        let top = process.top();
        let fields = [
            spellings.statuses[top.status() as usize],
            spellings.modes[top.mode() as usize],
            name(top.submode())?,
            name(process.name())?,
            Field::optional(process.pid()),
            Field::optional(process.parent()),
            process.cpu().map_or(Field::Null, Field::number),
            process.kind().map_or(Field::Null, |kind| spellings.kinds[kind as usize]),
            name(process.brand())?,
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
                    (0, Some(cpu)) => place.builder.add_child(base, &format!("0_{cpu}")),
                    _ => place.builder.add_child(base, &tid.to_string()),
                }?;
                let node = Node::of(place.builder, base, &THREAD)?;
                let thread = Thread { serial, tid, node };
                grown(&mut self.threads, ix.index()).insert(thread)
            }
        };
        thread.node.set(place.builder, place.t, &THREAD, fields)
    }

    fn source(
        &mut self,
        place: &mut Place<'_>,
        state: &TraceState,
        kind: SourceKind,
        number: u32,
    ) -> Result<(), Error> {
        let Some(source) = state.sources(kind).get(number as usize) else { return Ok(()) };
        let known = &mut self.sources[kind as usize];
        let running = match source.entries() {
            0 => Field::Null,
            _ => Field::number(source.running()),
        };
        let fields = [running, self.names.field(source.name(), state, place.builder)?];
        let node = match known.get_mut(number as usize) {
            Some(Some(node)) => node,
            _ if fields == [Field::Null; 2] => return Ok(()),
            _ => {
                let kind = SOURCES[kind as usize];
                let base = child(place.builder, self.base, kind, &number.to_string())?;
                let node = Node::of(place.builder, base, &SOURCE)?;
                grown(known, number as usize).insert(node)
            }
        };
        node.set(place.builder, place.t, &SOURCE, fields)
    }

    fn all_devices(&mut self, place: &mut Place<'_>, state: &TraceState) -> Result<(), Error> {
        (0..state.devices().len()).try_for_each(|device| self.device(place, state, device))
    }

    fn device(
        &mut self,
        place: &mut Place<'_>,
        state: &TraceState,
        index: usize,
    ) -> Result<(), Error> {
        while self.devices.len() <= index {
            let Some(device) = state.devices().get(self.devices.len()) else { return Ok(()) };
            let number = device.number().to_string();
            let base = child(place.builder, self.base, DEVICES, &number)?;
            self.devices.push(Node::of(place.builder, base, &DEVICE)?);
        }
        let Some(device) = state.devices().get(index) else { return Ok(()) };
        let fields = [
            place.spellings.device_modes[BlockDevice::mode(device) as usize],
            self.names.field(device.name(), state, place.builder)?,
            Field::number(device.in_flight()),
        ];
        self.devices[index].set(place.builder, place.t, &DEVICE, fields)
    }

    #[cold]
    fn store_anomalies(&mut self, place: &mut Place<'_>, state: &TraceState) -> Result<(), Error> {
        for ((name, count), (_, before)) in state.anomalies().iter().zip(self.anomalies.iter()) {
            if count != before {
                let quark = child(place.builder, self.base, ANOMALIES, name)?;
                place.builder.set(quark, place.t, Some(count).filter(|count| *count > 0))?;
            }
        }
        self.anomalies = *state.anomalies();
        Ok(())
    }
}

/// The attribute two levels below another one.
fn child(builder: &mut Builder, base: Quark, group: &str, name: &str) -> Result<Quark, Error> {
    let group = builder.add_child(base, group)?;
    builder.add_child(group, name)
}

/// A place in a table that grows as needed.
fn grown<T>(table: &mut Vec<Option<T>>, at: usize) -> &mut Option<T> {
    if table.len() <= at {
        table.resize_with(at + 1, || None);
    }
    &mut table[at]
}
