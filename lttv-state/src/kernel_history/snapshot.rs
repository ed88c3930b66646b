//! The state of a machine at one time, by itself.

use crate::kernel::{
    BlockDeviceMode, CpuMode, DeviceNumber, ExecutionMode, NameId, Process, ProcessStatus,
    ProcessType, SourceKind, Tid, TraceState,
};

/// What a machine was doing at one time.
///
/// Taken from a state that events have been applied to, or
/// [read](Snapshot::read) from a history: they are equal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Snapshot {
    /// By number.
    pub cpus: Vec<CpuState>,
    /// By id; the idle threads come first, by CPU.
    pub threads: Vec<ThreadState>,
    /// Interrupts and exceptions that came so far or have a name, by kind and
    /// number.
    pub sources: Vec<SourceState>,
    /// By number.
    pub devices: Vec<DeviceState>,
    /// What was odd so far, and how often: see
    /// [`Anomalies`](crate::kernel::Anomalies). Those that did not happen are not
    /// listed.
    pub anomalies: Vec<(&'static str, u64)>,
}

/// A CPU at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuState {
    /// Its number.
    pub number: u32,
    /// What it is busy with.
    pub mode: CpuMode,
    /// The id of who runs there, `None` if not known.
    pub thread: Option<Tid>,
    /// The name of who runs there, empty if not known.
    pub thread_name: String,
    /// In Hz.
    pub frequency: Option<u64>,
    /// Soft interrupts raised and not begun, a bit each.
    pub pending_softirqs: u32,
}

/// A thread at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadState {
    /// Its id; 0 for the idle thread of each CPU.
    pub tid: Tid,
    /// The id of its thread group, `None` if not known.
    pub pid: Option<Tid>,
    /// The id of its parent, `None` if not known.
    pub parent: Option<Tid>,
    /// Empty if not known.
    pub name: String,
    /// The name it gave itself (LTTng 0.x), or empty.
    pub brand: String,
    /// Whether it is part of the kernel, `None` if not known.
    pub kind: Option<ProcessType>,
    /// The CPU that it runs on, or waits for, or ran on last.
    pub cpu: Option<u32>,
    /// Whether it runs, or what it waits for.
    pub status: ProcessStatus,
    /// What it is in.
    pub mode: ExecutionMode,
    /// Which system call, interrupt or exception that is: `NONE` for none,
    /// `UNKNOWN` if not known.
    pub submode: String,
    /// The address of the function that it is in (LTTng 0.x), 0 if not known.
    pub function: u64,
}

/// An interrupt or exception at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceState {
    /// What it is.
    pub kind: SourceKind,
    /// Its number among those of its kind.
    pub number: u32,
    /// Its name, empty if not known.
    pub name: String,
    /// How many of its handlers run; `None` if it did not come yet.
    pub running: Option<u32>,
}

/// A block device at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceState {
    /// Its number.
    pub number: DeviceNumber,
    /// Its name, empty if not known.
    pub name: String,
    /// What it is busy with.
    pub mode: BlockDeviceMode,
    /// How many requests it has been given and not completed.
    pub in_flight: u32,
}

impl Snapshot {
    /// The state as it is now.
    pub fn of(state: &TraceState) -> Snapshot {
        let name = |id: NameId| state.name(id).to_owned();
        let cpus = state.cpus().map(|(number, cpu)| {
            let running = state.running(number).filter(|running| running.tid().is_some());
            CpuState {
                number,
                mode: state.cpu_mode(number),
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
                kind: process.kind(),
                cpu: process.cpu(),
                status: process.status(),
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

    /// In the order that the fields promise.
    pub(super) fn sorted(mut self) -> Snapshot {
        self.cpus.sort_by_key(|cpu| cpu.number);
        self.threads.sort_by_key(|thread| (thread.tid, thread.cpu));
        self.sources.sort_by_key(|source| (source.kind, source.number));
        self.devices.sort_by_key(|device| device.number);
        self
    }
}
