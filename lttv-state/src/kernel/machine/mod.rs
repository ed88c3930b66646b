//! The state of one traced machine, and the transitions of it.
//!
//! Transitions are those of the kernel, whatever a tracer calls its events: see
//! [`transition`](super::transition) for that. Here nothing is known of traces.

mod devices;
mod dump;
mod files;
mod interrupts;
mod life;
mod scheduling;
mod stack;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use ltt_read::Timestamp;

use super::anomalies::Anomalies;
use super::cpu::{Cpu, MAX_CPUS, OTHERS};
use super::cpu_index::CpuIndex;
use super::effect::Effect;
use super::journal::Journal;
use super::modes::{CpuMode, ExecutionMode, ProcessStatus, ProcessType};
use super::names::{NameId, Names};
use super::process::{Frame, Process, TID_END, Tid};
use super::resources::{BlockDevice, DeviceNumber, Source, SourceKind, unpack};
use super::saved_names::SavedNames;
use super::table::{ProcessIx, ProcessTable, SavedTable};
use super::told_names::{self, ToldNames};

pub(super) use dump::Dumped;
#[cfg(feature = "checkpoint-files")]
pub(super) use dump::{MAX_FILE_TABLES, MAX_PROBES, MAX_SYSCALLS};
pub(super) use life::Birth;
pub(super) use scheduling::Switch;
#[cfg(feature = "checkpoint-files")]
pub(super) use stack::{MAX_DEPTH, MAX_FUNCTIONS};

/// Where and when an event happened.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    pub(super) cpu: u32,
    /// Its place among the CPUs that are known.
    pub(super) place: usize,
    pub(super) time: i64,
}

/// The state of one traced machine.
#[derive(Debug)]
pub struct TraceState {
    pub(super) names: Arc<Names>,
    /// As the last checkpoint has them.
    saved_names: RefCell<SavedNames>,
    pub(super) processes: ProcessTable,
    told_names: ToldNames,
    /// In the order in which they appeared.
    pub(super) cpus: Vec<Cpu>,
    cpu_index: CpuIndex,
    /// Of CPUs that are not known yet, by number, in Hz.
    pub(super) frequencies: Vec<(u32, u64)>,
    /// By kind.
    pub(super) sources: [Vec<Source>; 4],
    /// Of sources, packed.
    pub(super) journal: Journal<u32>,
    pub(super) devices: Vec<BlockDevice>,
    /// While the kernel's state is dumped: file tables and who has them.
    pub(super) file_tables: HashMap<u64, ProcessIx>,
    pub(super) probes: Arc<Vec<(u64, NameId)>>,
    /// Names of system calls by number, where a dump told them.
    pub(super) syscalls: Arc<Vec<NameId>>,
    pub(super) anomalies: Anomalies,
    pub(super) effect: Effect,
    /// The time before the first event.
    pub(super) begin: i64,
    pub(super) credit: u64,
}

/// What events changed: some of it more than once.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    pub(crate) processes: Vec<ProcessIx>,
    /// Those whose handlers began or ended, or that got a name.
    pub(crate) sources: Vec<(SourceKind, u32)>,
    packed: Vec<u32>,
}

/// A state, saved.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SavedState {
    pub(super) names: SavedNames,
    pub(super) processes: SavedTable,
    pub(super) cpus: Vec<Cpu>,
    pub(super) frequencies: Vec<(u32, u64)>,
    pub(super) sources: [Vec<Source>; 4],
    pub(super) devices: Vec<BlockDevice>,
    pub(super) file_tables: HashMap<u64, ProcessIx>,
    pub(super) probes: Arc<Vec<(u64, NameId)>>,
    /// Names of system calls by number, where a dump told them.
    pub(super) syscalls: Arc<Vec<NameId>>,
    pub(super) anomalies: Anomalies,
    pub(super) credit: u64,
}

/// How many processes may be looked at for a gap in events, per event: so that a
/// trace of nothing but gaps takes no more than linear time.
const CREDIT_PER_EVENT: u64 = 16;
pub(super) const FIRST_CREDIT: u64 = 1 << 24;

impl TraceState {
    /// A machine of which nothing is known.
    pub(super) fn new(begin: i64) -> Self {
        TraceState {
            names: Arc::default(),
            saved_names: RefCell::default(),
            processes: ProcessTable::default(),
            told_names: ToldNames::default(),
            cpus: Vec::new(),
            cpu_index: CpuIndex::default(),
            frequencies: Vec::new(),
            sources: Default::default(),
            journal: Journal::default(),
            devices: Vec::new(),
            file_tables: HashMap::new(),
            probes: Arc::default(),
            syscalls: Arc::default(),
            anomalies: Anomalies::default(),
            effect: Effect::default(),
            begin,
            credit: FIRST_CREDIT,
        }
    }

    /// The names that other parts mean by their ids.
    pub fn names(&self) -> &Names {
        &self.names
    }

    pub(crate) fn shared_names(&self) -> Arc<Names> {
        self.names.clone()
    }

    /// The name of an id.
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id)
    }

    /// All processes that are known and not gone; the idle process of each CPU
    /// too, and, without an id, what stands in for processes that are not known.
    pub fn processes(&self) -> impl Iterator<Item = (ProcessIx, &Process)> {
        self.processes.all()
    }

    /// The process at a place, `None` if it is gone.
    pub fn process(&self, ix: ProcessIx) -> Option<&Process> {
        self.processes.checked(ix)
    }

    /// The process of an id. The idle processes all have id 0: see
    /// [`Cpu::idle`].
    pub fn find(&self, tid: Tid) -> Option<(ProcessIx, &Process)> {
        let ix = self.processes.find(tid)?;
        Some((ix, self.processes.get(ix)))
    }

    /// The CPUs that are known, with their numbers, in the order of these.
    pub fn cpus(&self) -> impl Iterator<Item = (u32, &Cpu)> {
        self.cpu_index.sorted().map(|place| (self.cpus[place].number, &self.cpus[place]))
    }

    /// The CPU of a number.
    pub fn cpu(&self, number: u32) -> Option<&Cpu> {
        self.cpus.get(self.cpu_index(number)?)
    }

    /// Returns the place of a CPU among those that are known, in the order in which they
    /// appeared: from 0 on, whatever the numbers are. It stays the same while a trace is
    /// read, wherever reading goes. `None` if the CPU is not known.
    #[inline]
    pub fn cpu_index(&self, number: u32) -> Option<usize> {
        self.cpu_index.get(number, &self.cpus).or_else(|| self.others())
    }

    /// Returns the place of the CPU that stands for all that are not told apart.
    #[cold]
    fn others(&self) -> Option<usize> {
        let is_full = self.cpus.len() >= MAX_CPUS;
        is_full.then(|| self.cpu_index.get(OTHERS, &self.cpus)).flatten()
    }

    /// Returns the CPU at a [place](Self::cpu_index).
    pub(crate) fn cpu_at(&self, place: usize) -> Option<&Cpu> {
        self.cpus.get(place)
    }

    /// Returns how many CPUs are known.
    pub(crate) fn cpu_count(&self) -> usize {
        self.cpus.len()
    }

    /// Returns who runs on the CPU at a [place](Self::cpu_index).
    #[inline]
    pub(crate) fn running_at(&self, place: usize) -> Option<&Process> {
        Some(self.processes.get(self.cpus.get(place)?.running))
    }

    /// Who runs on a CPU; a process without an id while that is not known.
    #[inline]
    pub fn running(&self, cpu: u32) -> Option<&Process> {
        self.running_at(self.cpu_index(cpu)?)
    }

    /// What a CPU is busy with.
    pub fn cpu_mode(&self, cpu: u32) -> CpuMode {
        let Some(running) = self.running(cpu) else { return CpuMode::Unknown };
        match (running.mode(), running.tid) {
            (ExecutionMode::Irq, _) => CpuMode::Irq,
            (ExecutionMode::Softirq, _) => CpuMode::Softirq,
            (ExecutionMode::Trap, _) => CpuMode::Trap,
            (_, None) => CpuMode::Unknown,
            (_, Some(0)) => CpuMode::Idle,
            (_, Some(_)) => CpuMode::Busy,
        }
    }

    /// Interrupts or exceptions of a kind, by number. Those that did not come yet
    /// are there if others of higher number are known.
    pub fn sources(&self, kind: SourceKind) -> &[Source] {
        &self.sources[kind as usize]
    }

    /// The block devices that requests or dumps told of.
    pub fn devices(&self) -> &[BlockDevice] {
        &self.devices
    }

    /// The block device of a number.
    pub fn device(&self, number: DeviceNumber) -> Option<&BlockDevice> {
        self.devices.iter().find(|device| device.number == number)
    }

    /// The symbol at the address of a kernel probe, if a dump told it.
    pub fn probe(&self, address: u64) -> Option<&str> {
        let at = self.probes.binary_search_by_key(&address, |probe| probe.0).ok()?;
        Some(self.name(self.probes[at].1))
    }

    /// What was odd so far.
    pub fn anomalies(&self) -> &Anomalies {
        &self.anomalies
    }

    /// What the last event that changes states did.
    #[inline]
    pub fn effect(&self) -> &Effect {
        &self.effect
    }

    /// What events changed since the last call. False if that is not known, as in
    /// the first call and after going elsewhere: all may have changed.
    pub(crate) fn changes(&mut self, changed: &mut Changed) -> bool {
        let mut packed = std::mem::take(&mut changed.packed);
        let all = !self.processes.journal.read(&mut changed.processes);
        let all = !self.journal.read(&mut packed) || all;
        changed.sources.clear();
        changed.sources.extend(packed.iter().map(|source| unpack(*source)));
        changed.packed = packed;
        !all
    }

    /// The processes that the last event which changes states changed, or may have;
    /// some more than once. Those that it removed are here too: there may be nobody
    /// any more at that place, or somebody else.
    ///
    /// For hooks after [`Priority::STATE`](lttv_hooks::Priority::STATE), as
    /// [`effect`](Self::effect) is.
    #[inline]
    pub fn touched(&self) -> &[ProcessIx] {
        self.processes.journal.of_event()
    }

    /// The time of the trace's first event.
    pub fn begin_time(&self) -> Timestamp {
        Timestamp::from_ns(self.begin)
    }

    /// How many processes the trace told of so far: their serial numbers are below
    /// that.
    pub fn serials(&self) -> u32 {
        self.processes.next_serial()
    }

    /// How many places for processes there are: their indices are below that.
    pub fn places(&self) -> usize {
        self.processes.places()
    }

    /// An event is to be applied: what changes from here on, such as the CPUs that are
    /// known, is its doing.
    #[inline]
    pub(super) fn begin_changes(&mut self) {
        self.processes.journal.begin_event();
        self.journal.begin_event();
    }

    /// An event, of which nothing but its CPU has been applied, has begun.
    #[inline]
    pub(super) fn begin(&mut self, at: At) {
        self.effect.begin(at.cpu, at.place, at.time);
        self.credit = (self.credit + CREDIT_PER_EVENT).min(FIRST_CREDIT);
    }

    /// An event has been applied.
    #[inline]
    pub(super) fn finish(&mut self, at: At) {
        if let Some(cpu) = self.cpus.get_mut(at.place) {
            cpu.last = at.time;
        }
    }

    /// Makes a CPU known. Returns its place, or that of the one that stands for it if it
    /// is not told apart from others.
    #[cold]
    pub(super) fn add_cpu(&mut self, number: u32) -> usize {
        if let Some(known) = self.cpu_index(number) {
            return known;
        }
        let is_last = self.cpus.len() + 1 >= MAX_CPUS;
        let knows_others = self.cpu_index.get(OTHERS, &self.cpus).is_some();
        let number = if is_last && !knows_others { OTHERS } else { number };
        let idle = self.processes.add(Some(0), self.begin);
        let process = self.processes.get_mut(idle);
        let (mode, status) = (ExecutionMode::Syscall, ProcessStatus::Unnamed);
        process.stack = smallvec::smallvec![Frame::new(mode, NameId::NONE, status, self.begin)];
        process.kind = Some(ProcessType::Kernel);
        process.pid = Some(0);
        process.cpu = Some(number);
        let nobody = self.processes.add(None, self.begin);
        self.processes.get_mut(nobody).cpu = Some(number);
        let told = self.frequencies.binary_search_by_key(&number, |of| of.0);
        self.cpus.push(Cpu {
            number,
            running: nobody,
            idle,
            nobody,
            last: self.begin,
            pending_softirqs: 0,
            frequency: told.ok().map(|at| self.frequencies.remove(at).1),
        });
        let place = self.cpus.len() - 1;
        self.cpu_index.add(place, &self.cpus);
        place
    }

    /// Who runs on the CPU of an event that has [begun](Self::begin).
    #[inline]
    fn current(&self, at: At) -> ProcessIx {
        self.cpus[at.place].running
    }

    /// The process of an id on the CPU at a place, made if it is new. `None` if there
    /// can be no such process.
    fn find_or_add(&mut self, place: usize, tid: Tid, time: i64) -> Option<ProcessIx> {
        if tid == 0 {
            return Some(self.cpus.get(place)?.idle);
        }
        if let Some(ix) = self.processes.find(tid) {
            return Some(ix);
        }
        if !(1..TID_END).contains(&tid) {
            self.anomalies.impossible_numbers += 1;
            return None;
        }
        Some(self.processes.add(Some(tid), time))
    }

    /// The place of the CPU that a process runs on.
    fn runs_on(&self, ix: ProcessIx) -> Option<usize> {
        let place = self.cpu_index(self.processes.get(ix).cpu?)?;
        (self.cpus[place].running == ix).then_some(place)
    }

    /// An id that an event tells of another process than its own: `None` if there can be
    /// no such process.
    pub(super) fn possible(&mut self, tid: Option<Tid>) -> Option<Tid> {
        let possible = tid.filter(|tid| (0..TID_END).contains(tid));
        if possible != tid {
            self.anomalies.impossible_numbers += 1;
        }
        possible
    }

    /// Gives a process the name that an event tells.
    #[inline(never)]
    pub(super) fn rename(&mut self, ix: ProcessIx, name: &[u8]) {
        if self.names.get(self.processes.get(ix).name).as_bytes() != name && !name.is_empty() {
            let name = self.intern(name);
            let process = self.processes.get_mut(ix);
            process.name = name;
            self.effect.rest().renamed.push((process.serial, name));
        }
    }

    /// Gives a process the name in a field of constant length.
    #[inline]
    fn rename_by_field(&mut self, ix: ProcessIx, field: &[u8]) {
        let name = self.processes.get(ix).name;
        if !self.told_names.contain(ix, name, field) {
            self.rename(ix, told_names::text(field));
            self.told_names.note(ix, self.processes.get(ix).name, field);
        }
    }

    /// The id of a name.
    pub(super) fn intern(&mut self, name: &[u8]) -> NameId {
        let text = String::from_utf8_lossy(name);
        match self.names.find(&text) {
            Some(id) => id,
            None => Arc::make_mut(&mut self.names).id(&text),
        }
    }

    pub(super) fn save(&self) -> SavedState {
        let mut names = self.saved_names.borrow_mut();
        names.follow(&self.names);
        SavedState {
            names: names.clone(),
            processes: self.processes.save(),
            cpus: self.cpus.clone(),
            frequencies: self.frequencies.clone(),
            sources: self.sources.clone(),
            devices: self.devices.clone(),
            file_tables: self.file_tables.clone(),
            probes: self.probes.clone(),
            syscalls: self.syscalls.clone(),
            anomalies: self.anomalies,
            credit: self.credit,
        }
    }

    pub(super) fn restore(&mut self, saved: &SavedState) {
        if !saved.names.are(&self.names) {
            Arc::make_mut(&mut self.names).replace(saved.names.texts());
        }
        *self.saved_names.get_mut() = saved.names.clone();
        self.processes.restore(&saved.processes);
        self.told_names = ToldNames::default();
        self.cpus.clone_from(&saved.cpus);
        self.cpu_index = CpuIndex::of(&self.cpus);
        self.frequencies.clone_from(&saved.frequencies);
        self.sources.clone_from(&saved.sources);
        self.journal = Journal::default();
        self.devices.clone_from(&saved.devices);
        self.file_tables.clone_from(&saved.file_tables);
        self.probes = saved.probes.clone();
        self.syscalls = saved.syscalls.clone();
        self.anomalies = saved.anomalies;
        self.credit = saved.credit;
        self.effect = Effect::default();
    }
}
