//! What serves all processes: interrupts, exceptions and block devices.

use super::modes::{BlockDeviceMode, ExecutionMode, IrqMode};
use super::names::NameId;

/// What interrupts a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// Interrupts of devices, by line.
    Irq,
    /// Interrupts of the processor itself and of others, by vector.
    Vector,
    /// Deferred work, by kind.
    Softirq,
    /// Exceptions, by number.
    Trap,
}

impl SourceKind {
    /// All kinds, in order.
    pub const ALL: [SourceKind; 4] =
        [SourceKind::Irq, SourceKind::Vector, SourceKind::Softirq, SourceKind::Trap];

    /// The mode of a process that it interrupts.
    pub const fn mode(self) -> ExecutionMode {
        match self {
            SourceKind::Irq | SourceKind::Vector => ExecutionMode::Irq,
            SourceKind::Softirq => ExecutionMode::Softirq,
            SourceKind::Trap => ExecutionMode::Trap,
        }
    }

    /// What it is called: `irq`, `vector`, `softirq`, `trap`. It precedes its number
    /// where it has no name.
    pub const fn label(self) -> &'static str {
        match self {
            SourceKind::Irq => "irq",
            SourceKind::Vector => "vector",
            SourceKind::Softirq => "softirq",
            SourceKind::Trap => "trap",
        }
    }
}

/// Numbers from here on are not kept apart.
pub(super) const MAX_SOURCES: u32 = 1 << 16;
/// So many block devices at most.
pub(super) const MAX_DEVICES: usize = 1 << 10;

/// An interrupt, soft interrupt or exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct Source {
    pub(super) name: NameId,
    pub(super) running: u32,
    pub(super) entries: u64,
}

impl Source {
    /// Its name, empty before it was first heard of.
    pub fn name(&self) -> NameId {
        self.name
    }

    /// On how many CPUs, or how many times, its handler runs now.
    pub fn running(&self) -> u32 {
        self.running
    }

    /// How often it came so far.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Whether its handler runs.
    pub fn mode(&self) -> IrqMode {
        match (self.running, self.entries) {
            (0, 0) => IrqMode::Unknown,
            (0, _) => IrqMode::Idle,
            _ => IrqMode::Busy,
        }
    }
}

/// Which interrupt a frame is of, in one number: [`SourceKind`] and number.
pub(super) fn pack(kind: SourceKind, number: u32) -> u32 {
    number.min(MAX_SOURCES) << 2 | kind as u32
}

/// The other way round.
pub(super) fn unpack(source: u32) -> (SourceKind, u32) {
    (SourceKind::ALL[(source & 3) as usize], source >> 2)
}

/// Number of a block device: major and minor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct DeviceNumber {
    /// Of its driver.
    pub major: u32,
    /// Of the device among those of its driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// From the kernel's own encoding, which tracers record.
    pub fn from_kernel(dev: u32) -> Self {
        DeviceNumber { major: dev >> 20, minor: dev & 0xf_ffff }
    }
}

impl std::fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{},{}", self.major, self.minor)
    }
}

/// Which way a request moves data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub enum RequestKind {
    /// From the device.
    Read,
    /// To the device.
    Write,
    /// Neither: to discard or to flush.
    Other,
}

/// A block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct BlockDevice {
    pub(super) number: DeviceNumber,
    pub(super) name: NameId,
    pub(super) in_flight: u32,
    pub(super) last: Option<RequestKind>,
}

impl BlockDevice {
    /// Its number.
    pub fn number(&self) -> DeviceNumber {
        self.number
    }

    /// Its name, empty if not known.
    pub fn name(&self) -> NameId {
        self.name
    }

    /// How many requests it has been given and not completed.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// What it is busy with.
    pub fn mode(&self) -> BlockDeviceMode {
        match (self.last, self.in_flight) {
            (None, _) => BlockDeviceMode::Unknown,
            (_, 0) => BlockDeviceMode::Idle,
            (Some(RequestKind::Read), _) => BlockDeviceMode::BusyReading,
            (Some(_), _) => BlockDeviceMode::BusyWriting,
        }
    }
}
