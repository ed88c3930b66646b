//! The state of one traced machine, and its transitions.
//!
//! Transitions are operations of the kernel and do not depend on a tracer's event names,
//! which [`transition`](super::transition) maps to them. This module does not depend on
//! traces.

mod devices;
mod dump;
mod files;
mod interrupts;
mod lifecycle;
mod scheduling;
mod stack;

#[cfg(feature = "analyses")]
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use ltt_read::Timestamp;

use super::anomalies::Anomalies;
use super::cpu::{Cpu, MAX_CPUS, OTHERS};
use super::cpu_index::CpuIndex;
use super::effect::{Effect, LossOnCpu};
use super::journal::Journal;
use super::known_threads::KnownThreads;
use super::losses::{Losses, OpenLoss};
use super::modes::{CpuMode, ExecutionMode, ProcessStatus, ProcessType};
use super::name_cache::{NameCache, text_before_terminator};
use super::names::{NameId, Names};
use super::packets::Entered;
use super::process::{Frame, Process, TID_END, Tid};
use super::resources::{BlockDevice, DeviceNumber, Source, SourceKind, unpack};
use super::saved_names::SavedNames;
use super::syscall_names::SyscallNames;
use super::table::{ProcessIndex, ProcessTable, SavedTable};

pub(super) use dump::Dumped;
#[cfg(feature = "checkpoint-files")]
pub(super) use dump::{MAX_FILE_TABLES, MAX_PROBES, MAX_SYSCALLS};
pub(super) use lifecycle::NewProcess;
pub(super) use scheduling::Switch;
#[cfg(feature = "checkpoint-files")]
pub(super) use stack::{MAX_DEPTH, MAX_FUNCTIONS};

/// The CPU and the time of an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    pub(super) cpu: u32,
    /// The index of the CPU in `TraceState::cpus`.
    pub(super) place: usize,
    pub(super) time: i64,
}

/// The state of one traced machine.
#[derive(Debug)]
pub struct TraceState {
    pub(super) names: Arc<Names>,
    /// The names as of the last checkpoint.
    saved_names: RefCell<SavedNames>,
    pub(super) processes: ProcessTable,
    name_cache: NameCache,
    /// The CPUs, in the order of their first appearance.
    pub(super) cpus: Vec<Cpu>,
    cpu_index: CpuIndex,
    /// The frequencies of CPUs without an entry in `cpus`: CPU number and Hz, ordered by
    /// number.
    pub(super) frequencies: Vec<(u32, u64)>,
    /// The interrupts, softirqs and exceptions, by kind and number.
    pub(super) sources: [Vec<Source>; 4],
    /// The changed sources, packed.
    pub(super) journal: Journal<u32>,
    pub(super) devices: Vec<BlockDevice>,
    /// The owner of each file table, during a state dump.
    pub(super) file_tables: HashMap<u64, ProcessIndex>,
    pub(super) probes: Arc<Vec<(u64, NameId)>>,
    /// The names of system calls by number, from dumps and `known_calls`.
    pub(super) syscalls: Arc<Vec<NameId>>,
    /// The names for the machine that was recorded, if it is known.
    pub(super) known_calls: Option<&'static SyscallNames>,
    /// The threads that the recording tells of apart from its events.
    pub(super) known_threads: Arc<KnownThreads>,
    pub(super) anomalies: Anomalies,
    pub(super) effect: Effect,
    pub(super) losses: Losses,
    /// The time of the first event, in ns.
    pub(super) begin: i64,
    /// `true` if the trace has events of switches, between which the running process is known.
    pub(super) has_switches: bool,
    /// `true` if the trace has the first wake-ups of threads, which end their forks.
    pub(super) tells_ends_of_forks: bool,
    pub(super) scan_budget: u64,
}

/// The processes and sources that events changed, possibly with duplicates.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    pub(crate) processes: Vec<ProcessIndex>,
    /// The sources whose handlers were entered or left, or that got a name.
    pub(crate) sources: Vec<(SourceKind, u32)>,
    packed: Vec<u32>,
}

/// A state in a checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SavedState {
    pub(super) names: SavedNames,
    pub(super) processes: SavedTable,
    pub(super) cpus: Vec<Cpu>,
    pub(super) frequencies: Vec<(u32, u64)>,
    pub(super) sources: [Vec<Source>; 4],
    pub(super) devices: Vec<BlockDevice>,
    pub(super) file_tables: HashMap<u64, ProcessIndex>,
    pub(super) probes: Arc<Vec<(u64, NameId)>>,
    /// The names of system calls by number, from dumps.
    pub(super) syscalls: Arc<Vec<NameId>>,
    pub(super) anomalies: Anomalies,
    pub(super) losses: Vec<OpenLoss>,
    pub(super) scan_budget: u64,
}

/// The number of processes that each event permits gaps to scan. This budget keeps the time
/// linear even for a trace in which every event follows a gap.
const SCAN_BUDGET_PER_EVENT: u64 = 16;
pub(super) const MAX_SCAN_BUDGET: u64 = 1 << 24;

impl TraceState {
    /// Creates the state of a machine before its first event.
    pub(super) fn new(begin: i64) -> Self {
        TraceState {
            names: Arc::default(),
            saved_names: RefCell::default(),
            processes: ProcessTable::default(),
            name_cache: NameCache::default(),
            cpus: Vec::new(),
            cpu_index: CpuIndex::default(),
            frequencies: Vec::new(),
            sources: Default::default(),
            journal: Journal::default(),
            devices: Vec::new(),
            file_tables: HashMap::new(),
            probes: Arc::default(),
            syscalls: Arc::default(),
            known_calls: None,
            known_threads: Arc::default(),
            anomalies: Anomalies::default(),
            effect: Effect::default(),
            losses: Losses::default(),
            begin,
            has_switches: true,
            tells_ends_of_forks: false,
            scan_budget: MAX_SCAN_BUDGET,
        }
    }

    /// Returns the names.
    #[cfg(feature = "analyses")]
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the names, shared with the state.
    pub(crate) fn shared_names(&self) -> Arc<Names> {
        self.names.clone()
    }

    /// Returns the text of a name.
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id)
    }

    /// Iterates over all processes that are known and not gone. They include the idle
    /// process and the placeholder of each CPU; the placeholder has no id.
    pub fn processes(&self) -> impl Iterator<Item = (ProcessIndex, &Process)> {
        self.processes.all()
    }

    /// Returns the process at an index; `None` if it is gone.
    pub fn process(&self, ix: ProcessIndex) -> Option<&Process> {
        self.processes.checked(ix)
    }

    /// Finds the process with an id greater than 0. The idle processes share the id 0: see
    /// [`Cpu::idle`].
    pub fn find(&self, tid: Tid) -> Option<(ProcessIndex, &Process)> {
        let ix = self.processes.find(tid)?;
        Some((ix, self.processes.process(ix)))
    }

    /// Returns the name of the thread with an id greater than 0, also if no event has told of it yet; empty if it is
    /// unknown.
    #[cfg(feature = "analyses")]
    pub(crate) fn name_of_thread(&self, tid: Tid) -> Cow<'_, str> {
        match self.find(tid) {
            Some((_, process)) => self.name(process.name()).into(),
            None => {
                let known = self.known_threads.get(tid);
                known.map_or_else(Cow::default, |known| String::from_utf8_lossy(&known.name))
            }
        }
    }

    /// Iterates over the known CPUs with their numbers, in ascending order.
    pub fn cpus(&self) -> impl Iterator<Item = (u32, &Cpu)> {
        self.cpu_index.sorted().map(|place| (self.cpus[place].number, &self.cpus[place]))
    }

    /// Returns the CPU with a number; `None` if it is unknown.
    pub fn cpu(&self, number: u32) -> Option<&Cpu> {
        self.cpus.get(self.cpu_index(number)?)
    }

    /// Returns the index of the CPU with a number: CPUs are counted from 0 in the order of
    /// their first appearance, whatever their numbers are. The index does not change while
    /// a trace is read, even after seeking. `None` if the CPU is unknown.
    #[inline]
    pub fn cpu_index(&self, number: u32) -> Option<usize> {
        self.cpu_index.get(number, &self.cpus).or_else(|| self.others())
    }

    /// Returns the index of the entry that the CPUs beyond the limit share, once the limit
    /// is reached.
    #[cold]
    fn others(&self) -> Option<usize> {
        let is_full = self.cpus.len() >= MAX_CPUS;
        is_full.then(|| self.cpu_index.get(OTHERS, &self.cpus)).flatten()
    }

    /// Returns the CPU at an [index](Self::cpu_index).
    pub(crate) fn cpu_at(&self, place: usize) -> Option<&Cpu> {
        self.cpus.get(place)
    }

    /// Returns `true` if the process that runs on a CPU is known until the CPU's next event. Without
    /// events of switches, it is known at events alone.
    pub(crate) fn has_switches(&self) -> bool {
        self.has_switches
    }

    /// Returns the number of known CPUs.
    pub(crate) fn cpu_count(&self) -> usize {
        self.cpus.len()
    }

    /// Returns the process that runs on the CPU at an [index](Self::cpu_index).
    #[inline]
    pub(crate) fn running_at(&self, place: usize) -> Option<&Process> {
        Some(self.processes.process(self.cpus.get(place)?.running))
    }

    /// Returns the process that runs on a CPU. While it is unknown, this is a placeholder
    /// without an id. `None` if the CPU is unknown.
    #[inline]
    pub fn running(&self, cpu: u32) -> Option<&Process> {
        self.running_at(self.cpu_index(cpu)?)
    }

    /// Returns the mode of a CPU: idle, busy with a process, an interrupt or an exception.
    pub fn cpu_mode(&self, cpu: u32) -> CpuMode {
        self.cpu_index(cpu).map_or(CpuMode::Unknown, |place| self.cpu_mode_at(place))
    }

    /// Returns the mode of the CPU at an [index](Self::cpu_index).
    #[inline]
    pub(crate) fn cpu_mode_at(&self, place: usize) -> CpuMode {
        let Some(running) = self.running_at(place) else { return CpuMode::Unknown };
        match (running.mode(), running.tid()) {
            (ExecutionMode::Irq, _) => CpuMode::Irq,
            (ExecutionMode::Softirq, _) => CpuMode::Softirq,
            (ExecutionMode::Trap, _) => CpuMode::Trap,
            (_, None) => CpuMode::Unknown,
            (_, Some(0)) => CpuMode::Idle,
            (_, Some(_)) => CpuMode::Busy,
        }
    }

    /// Returns the interrupts, softirqs or exceptions of a kind, indexed by number. The
    /// slice has empty entries for lower numbers that have not occurred.
    pub fn sources(&self, kind: SourceKind) -> &[Source] {
        &self.sources[kind as usize]
    }

    /// Returns the block devices that requests or dumps mentioned.
    pub fn devices(&self) -> &[BlockDevice] {
        &self.devices
    }

    /// Returns the block device with a number; `None` if it is unknown.
    pub fn device(&self, number: DeviceNumber) -> Option<&BlockDevice> {
        self.devices.iter().find(|device| device.number == number)
    }

    /// Returns the symbol at the address of a kernel probe; `None` if no dump contains it.
    pub fn probe(&self, address: u64) -> Option<&str> {
        let at = self.probes.binary_search_by_key(&address, |probe| probe.0).ok()?;
        Some(self.name(self.probes[at].1))
    }

    /// Returns the counters of contradictions so far.
    pub fn anomalies(&self) -> &Anomalies {
        &self.anomalies
    }

    /// Returns the effect of the last event that can change the state.
    #[inline]
    pub fn effect(&self) -> &Effect {
        &self.effect
    }

    /// Collects the changes made by events since the previous call. Returns `false` if they
    /// were not recorded, as in the first call and after a restore: everything may have
    /// changed.
    pub(crate) fn changes(&mut self, changed: &mut Changed) -> bool {
        let mut packed = std::mem::take(&mut changed.packed);
        let all = !self.processes.journal.read(&mut changed.processes);
        let all = !self.journal.read(&mut packed) || all;
        changed.sources.clear();
        changed.sources.extend(packed.iter().map(|source| unpack(*source)));
        changed.packed = packed;
        !all
    }

    /// Returns the processes that the last event may have changed, possibly with
    /// duplicates. They include processes that it removed: such an index may be vacant or
    /// belong to another process.
    ///
    /// Like [`effect`](Self::effect), this is for hooks after
    /// [`Priority::STATE`](lttv_hooks::Priority::STATE).
    #[inline]
    pub fn changed_processes(&self) -> &[ProcessIndex] {
        self.processes.journal.last_event()
    }

    /// Returns the time of the trace's first event.
    pub fn start_time(&self) -> Timestamp {
        Timestamp::from_ns(self.begin)
    }

    /// Returns the number of places in the table of processes. All indices are below it.
    pub(crate) fn process_bound(&self) -> usize {
        self.processes.places()
    }

    /// Starts the change records of an event: changes from here on, such as new CPUs, are
    /// attributed to it.
    #[inline]
    pub(super) fn begin_changes(&mut self) {
        // The changes of losses that no event has told of are those of the next event.
        if !self.losses.has_passed() {
            self.processes.journal.begin_event();
            self.journal.begin_event();
        }
    }

    /// Returns the losses of events that begin before a time and have not ended, as an event of the CPU at that time
    /// would [tell](Effect::losses) of them.
    ///
    /// A view of a window needs this at its end, since the next event may come much later.
    pub fn losses_before(&self, until: Timestamp) -> impl Iterator<Item = LossOnCpu> + '_ {
        let losses = self.losses.open().iter();
        losses.take_while(move |loss| loss.time < until.as_ns()).filter_map(|loss| {
            let OpenLoss { time: since, place, has_begun: is_told_again, .. } = *loss;
            let place = place as usize;
            let of = self.cpus.get(place)?;
            let mut lost = LossOnCpu::new(place, of.number, since);
            lost.is_told_again = is_told_again;
            lost.processes.push(of.running);
            self.add_waiting(&mut lost);
            Some(lost)
        })
    }

    /// Returns the time of the first loss of events of the CPU at an index that begins before a time and that the state
    /// does not follow yet.
    pub(crate) fn lost_before(&self, place: usize, until: i64) -> Option<i64> {
        let mut ahead = self.losses.open().iter().filter(|loss| !loss.has_begun);
        let loss = ahead.find(|loss| loss.place as usize == place && loss.time < until)?;
        Some(loss.time)
    }

    /// Applies the first loss of events that begins before a time. Returns its CPU and its time; `None` if there is
    /// no such loss. The next event tells of it.
    #[inline]
    pub(crate) fn pass_loss_before(&mut self, time: i64) -> Option<(u32, i64)> {
        let loss = self.losses.begin_before(time)?;
        Some((self.pass_loss(loss)?, loss.time))
    }

    /// Applies a loss of events of a CPU, whose number is returned.
    #[cold]
    fn pass_loss(&mut self, loss: OpenLoss) -> Option<u32> {
        let OpenLoss { time, place, .. } = loss;
        let place = place as usize;
        let cpu = self.cpus.get(place)?.number;
        self.begin_changes();
        let told = self.effect.losses().len();
        self.gap(At { cpu, place, time }, time);
        self.losses.pass(self.effect.rare_mut().losses.drain(told..));
        Some(cpu)
    }

    /// Ends the packet before a new one of a tracefile. Returns `true` if a loss ends that was known before.
    #[cold]
    pub(super) fn end_packet(&mut self, tracefile: u32) -> bool {
        let Some(loss) = self.losses.end(tracefile) else { return false };
        if !loss.has_begun {
            self.pass_loss(loss);
        }
        true
    }

    /// Enters the packet of an event that has started.
    #[cold]
    pub(super) fn enter_packet(
        &mut self,
        at: At,
        tracefile: u32,
        entered: Entered,
        ends_loss: bool,
    ) {
        if entered.gap {
            self.gap(at, self.cpus[at.place].last);
        } else if ends_loss {
            self.end_gap(at);
        }
        if let Some(time) = entered.loss_after {
            let place = at.place as u32;
            self.losses.add(OpenLoss { time, place, tracefile, has_begun: false });
        }
    }

    /// Starts an event, after its CPU has been looked up.
    #[inline]
    pub(super) fn begin(&mut self, at: At) {
        self.effect.begin(at.cpu, at.place, at.time);
        if self.losses.has_passed() {
            self.effect.rare_mut().losses.extend(self.losses.take_passed());
        }
        self.scan_budget = (self.scan_budget + SCAN_BUDGET_PER_EVENT).min(MAX_SCAN_BUDGET);
    }

    /// Ends an event that has been applied.
    #[inline]
    pub(super) fn finish(&mut self, at: At) {
        if let Some(cpu) = self.cpus.get_mut(at.place) {
            cpu.last = at.time;
        }
    }

    /// Adds a CPU and returns its index. If the limit is reached, this is the index of the
    /// shared entry.
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
        let (mode, status) = (ExecutionMode::Syscall, ProcessStatus::Unknown);
        process.stack = smallvec::smallvec![Frame::new(mode, NameId::NONE, status, self.begin)];
        process.kind = Some(ProcessType::Kernel);
        process.pid = Some(0);
        process.cpu = Some(number);
        let unknown_process = self.processes.add(None, self.begin);
        self.processes.get_mut(unknown_process).cpu = Some(number);
        let known = self.frequencies.binary_search_by_key(&number, |of| of.0);
        self.cpus.push(Cpu {
            number,
            running: unknown_process,
            idle,
            unknown_process,
            last: self.begin,
            pending_softirqs: 0,
            frequency: known.ok().map(|at| self.frequencies.remove(at).1),
        });
        let place = self.cpus.len() - 1;
        self.cpu_index.add(place, &self.cpus);
        place
    }

    /// Returns the process that runs on the CPU of an event that has
    /// [started](Self::begin).
    #[inline]
    fn current(&self, at: At) -> ProcessIndex {
        self.cpus[at.place].running
    }

    /// Returns the process with an id, which is added if it is new; the idle process of the
    /// CPU at an index for id 0. `None` if the id is out of range.
    fn find_or_add(&mut self, place: usize, tid: Tid, time: i64) -> Option<ProcessIndex> {
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
        let ix = self.processes.add(Some(tid), time);
        self.describe_known(ix, tid);
        Some(ix)
    }

    /// Sets what the recording tells of a thread apart from its events. Names that events tell come later and take
    /// precedence.
    #[cold]
    fn describe_known(&mut self, ix: ProcessIndex, tid: Tid) {
        let known = self.known_threads.clone();
        let Some(known) = known.get(tid) else { return };
        self.rename(ix, &known.name);
        let process = self.processes.get_mut(ix);
        (process.pid, process.parent) = (known.pid, known.parent);
    }

    /// Returns the index of the CPU that a process runs on; `None` if it does not run.
    fn runs_on(&self, ix: ProcessIndex) -> Option<usize> {
        let place = self.cpu_index(self.processes.get(ix).cpu?)?;
        (self.cpus[place].running == ix).then_some(place)
    }

    /// Checks a process id other than that of the event's own process. Returns `None` and
    /// counts an anomaly if it is out of range.
    pub(super) fn valid_tid(&mut self, tid: Option<Tid>) -> Option<Tid> {
        let possible = tid.filter(|tid| (0..TID_END).contains(tid));
        if possible != tid {
            self.anomalies.impossible_numbers += 1;
        }
        possible
    }

    /// Sets the name of a process, unless the name is empty.
    #[inline(never)]
    pub(super) fn rename(&mut self, ix: ProcessIndex, name: &[u8]) {
        if self.names.get(self.processes.get(ix).name).as_bytes() != name && !name.is_empty() {
            let name = self.intern(name);
            let process = self.processes.get_mut(ix);
            process.name = name;
            self.effect.rare_mut().renamed.push((process.serial, name));
        }
    }

    /// Sets the name of a process to the text in a field of constant length.
    #[inline]
    fn rename_by_field(&mut self, ix: ProcessIndex, field: &[u8]) {
        let name = self.processes.get(ix).name;
        if !self.name_cache.contains(ix, name, field) {
            self.rename(ix, text_before_terminator(field));
            self.name_cache.insert(ix, self.processes.get(ix).name, field);
        }
    }

    /// Returns the id of a name, which is added if it is new.
    pub(super) fn intern(&mut self, name: &[u8]) -> NameId {
        let text = String::from_utf8_lossy(name);
        match self.names.find(&text) {
            Some(id) => id,
            None => Arc::make_mut(&mut self.names).id(&text),
        }
    }

    /// Saves the state in a checkpoint.
    pub(super) fn save(&self) -> SavedState {
        let mut names = self.saved_names.borrow_mut();
        names.update(&self.names);
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
            losses: self.losses.open().to_vec(),
            scan_budget: self.scan_budget,
        }
    }

    /// Restores the state of a checkpoint.
    pub(super) fn restore(&mut self, saved: &SavedState) {
        if !saved.names.is_identical_to(&self.names) {
            Arc::make_mut(&mut self.names).replace(saved.names.texts());
        }
        *self.saved_names.get_mut() = saved.names.clone();
        self.processes.restore(&saved.processes);
        self.name_cache = NameCache::default();
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
        self.losses.set_open(&saved.losses);
        self.scan_budget = saved.scan_budget;
        self.effect = Effect::default();
    }
}
