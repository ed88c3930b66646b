//! Snapshots: the state of a machine at one time, as plain data.

use crate::kernel::{
    BlockDeviceMode, CpuMode, DeviceNumber, ExecutionMode, NameId, Process, ProcessStatus,
    ProcessType, SourceKind, Tid, TraceState,
};

/// The state of a machine at one time.
///
/// A snapshot of a [`TraceState`] equals the snapshot [read](Snapshot::from_history) from a history
/// at the same time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Snapshot {
    /// The CPUs, ordered by number.
    pub cpus: Vec<CpuState>,
    /// The threads, ordered by id: first the idle threads, ordered by CPU.
    pub threads: Vec<ThreadState>,
    /// The interrupts, softirqs and exceptions that have occurred or have a name, ordered
    /// by kind and number.
    pub sources: Vec<SourceState>,
    /// The block devices, ordered by number.
    pub devices: Vec<DeviceState>,
    /// The counters of [`Anomalies`](crate::kernel::Anomalies) with their names, without
    /// those that are 0.
    pub anomalies: Vec<(&'static str, u64)>,
}

/// The state of a CPU at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuState {
    /// The CPU number.
    pub number: u32,
    /// The activity of the CPU.
    pub mode: CpuMode,
    /// The id of the running process; `None` if unknown.
    pub thread: Option<Tid>,
    /// The name of the running process; empty if unknown.
    pub thread_name: String,
    /// The clock frequency in Hz; `None` if unknown.
    pub frequency: Option<u64>,
    /// The softirqs that were raised and have not started, one bit each.
    pub pending_softirqs: u32,
}

/// The state of a thread at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadState {
    /// The id of the thread; 0 for the idle thread of each CPU.
    pub tid: Tid,
    /// The id of the thread group; `None` if unknown.
    pub pid: Option<Tid>,
    /// The id of the parent; `None` if unknown.
    pub parent: Option<Tid>,
    /// The name of the thread; empty if unknown.
    pub name: String,
    /// The name that the thread gave itself (LTTng 0.x); empty if there is none.
    pub brand: String,
    /// The path of the file that the process executes; empty if unknown.
    pub executable: String,
    /// The type: user or kernel thread; `None` if unknown.
    pub kind: Option<ProcessType>,
    /// The CPU that the thread runs on, waits for, or last ran on; `None` if unknown.
    pub cpu: Option<u32>,
    /// The scheduling status.
    pub status: ProcessStatus,
    /// The mode of the innermost frame.
    pub mode: ExecutionMode,
    /// The name of the system call, interrupt or exception; `NONE` if the mode has no
    /// submode, `UNKNOWN` if unknown.
    pub submode: String,
    /// The address of the current function (LTTng 0.x); 0 if unknown.
    pub function: u64,
}

/// The state of an interrupt, softirq or exception at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceState {
    /// The kind of the source.
    pub kind: SourceKind,
    /// The number of the source among those of its kind.
    pub number: u32,
    /// The name of the source; empty if unknown.
    pub name: String,
    /// The number of handlers that are running; `None` if the source has not occurred yet.
    pub running: Option<u32>,
}

/// The state of a block device at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceState {
    /// The major and minor number of the device.
    pub number: DeviceNumber,
    /// The name of the device; empty if unknown.
    pub name: String,
    /// The activity of the device.
    pub mode: BlockDeviceMode,
    /// The number of requests that were issued to the device and not completed.
    pub in_flight: u32,
}

impl Snapshot {
    /// Creates a snapshot of the current state.
    pub fn from_state(state: &TraceState) -> Snapshot {
        // Without switches, which threads run is known at events alone.
        let is_known = state.has_switches();
        let name = |id: NameId| state.name(id).to_owned();
        let cpus = state.cpus().map(|(number, cpu)| {
            let running = state.running(number).filter(|of| is_known && of.tid().is_some());
            CpuState {
                number,
                mode: if is_known { state.cpu_mode(number) } else { CpuMode::Unknown },
                thread: running.and_then(Process::tid),
                thread_name: running.map_or(String::new(), |running| name(running.name())),
                frequency: cpu.frequency(),
                pending_softirqs: cpu.pending_softirqs(),
            }
        });
        let threads = state.processes().filter_map(|(_, process)| {
            Some(ThreadState {
                tid: process.tid()?,
                pid: process.pid(),
                parent: process.parent(),
                name: name(process.name()),
                brand: name(process.brand()),
                executable: name(process.executable()),
                kind: process.kind(),
                cpu: process.cpu(),
                status: match process.status() {
                    ProcessStatus::Run if !is_known => ProcessStatus::Unknown,
                    status => status,
                },
                mode: process.mode(),
                submode: name(process.submode()),
                function: process.function(),
            })
        });
        let sources = SourceKind::ALL.into_iter().flat_map(|kind| {
            (0..).zip(state.sources(kind)).map(move |(number, source)| SourceState {
                kind,
                number,
                name: state.name(source.name()).to_owned(),
                running: (source.entries() > 0).then_some(source.running()),
            })
        });
        let devices = state.devices().iter().map(|device| DeviceState {
            number: device.number(),
            name: name(device.name()),
            mode: device.mode(),
            in_flight: device.in_flight(),
        });
        Snapshot {
            cpus: cpus.collect(),
            threads: threads.collect(),
            sources: sources.filter(|s| s.running.is_some() || !s.name.is_empty()).collect(),
            devices: devices.collect(),
            anomalies: state.anomalies().iter().filter(|(_, count)| *count > 0).collect(),
        }
        .sorted()
    }

    /// Sorts the snapshot into the documented order.
    pub(super) fn sorted(mut self) -> Snapshot {
        self.cpus.sort_by_key(|cpu| cpu.number);
        self.threads.sort_by_key(|thread| (thread.tid, thread.cpu));
        self.sources.sort_by_key(|source| (source.kind, source.number));
        self.devices.sort_by_key(|device| device.number);
        self
    }
}
