//! Resources of a machine: interrupts, exceptions and block devices.

use ltt_read::Value;

use super::modes::{BlockDeviceMode, ExecutionMode, IrqMode};
use super::names::NameId;

/// The kind of an interrupt source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// Device interrupts, numbered by line.
    Irq,
    /// Interrupts of the processor itself and from other processors, numbered by vector.
    Vector,
    /// Softirqs, numbered by kind of deferred work.
    Softirq,
    /// Exceptions, by their number.
    Trap,
}

impl SourceKind {
    /// All kinds, in ascending order.
    pub const ALL: [SourceKind; 4] =
        [SourceKind::Irq, SourceKind::Vector, SourceKind::Softirq, SourceKind::Trap];

    /// Returns the mode of a process that is interrupted by a source of this kind.
    pub const fn mode(self) -> ExecutionMode {
        match self {
            SourceKind::Irq | SourceKind::Vector => ExecutionMode::Irq,
            SourceKind::Softirq => ExecutionMode::Softirq,
            SourceKind::Trap => ExecutionMode::Trap,
        }
    }

    /// Returns the label of the kind: `irq`, `vector`, `softirq` or `trap`. A source
    /// without a name is called by this label and its number.
    pub const fn label(self) -> &'static str {
        match self {
            SourceKind::Irq => "irq",
            SourceKind::Vector => "vector",
            SourceKind::Softirq => "softirq",
            SourceKind::Trap => "trap",
        }
    }
}

/// The exclusive upper limit of source numbers; all larger numbers share one entry.
pub(super) const MAX_SOURCES: u32 = 1 << 16;
/// The maximum number of block devices.
pub(super) const MAX_DEVICES: usize = 1 << 10;

/// An interrupt, softirq or exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct Source {
    pub(super) name: NameId,
    pub(super) running: u32,
    pub(super) entries: u64,
}

impl Source {
    /// Returns the name of the source, empty before the trace first mentions it.
    pub fn name(&self) -> NameId {
        self.name
    }

    /// Returns the number of handlers of the source that are running now, on all CPUs.
    pub fn running(&self) -> u32 {
        self.running
    }

    /// Returns the number of times that the source has occurred.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns whether a handler of the source runs.
    pub fn mode(&self) -> IrqMode {
        match (self.running, self.entries) {
            (0, 0) => IrqMode::Unknown,
            (0, _) => IrqMode::Idle,
            _ => IrqMode::Busy,
        }
    }
}

/// Packs the kind and number of a source into one integer.
pub(super) fn pack(kind: SourceKind, number: u32) -> u32 {
    number.min(MAX_SOURCES) << 2 | kind as u32
}

/// Unpacks the kind and number of a source.
pub(super) fn unpack(source: u32) -> (SourceKind, u32) {
    (SourceKind::ALL[(source & 3) as usize], source >> 2)
}

/// The number of a block device: major and minor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct DeviceNumber {
    /// The major number, which identifies the driver.
    pub major: u32,
    /// The minor number, which identifies the device among those of the driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// Decodes the kernel's internal encoding (20 bits of minor number), which tracers
    /// record.
    pub(crate) fn from_kernel(dev: u32) -> Self {
        DeviceNumber { major: dev >> 20, minor: dev & 0xf_ffff }
    }
}

impl std::fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{},{}", self.major, self.minor)
    }
}

/// The direction in which a request moves data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub enum RequestKind {
    /// Data is read from the device.
    Read,
    /// Data is written to the device.
    Write,
    /// No data is moved, as in a discard or a flush.
    Other,
}

/// The operation of a request to a block device, by the `rwbs` field of its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub enum RequestOperation {
    /// Data is read from the device.
    Read,
    /// Data is written to the device.
    Write,
    /// Data on the device is discarded.
    Discard,
    /// The device's cache is flushed, or another operation that moves no data.
    Flush,
}

impl RequestOperation {
    /// All operations, in ascending order.
    pub const ALL: [RequestOperation; 4] = [
        RequestOperation::Read,
        RequestOperation::Write,
        RequestOperation::Discard,
        RequestOperation::Flush,
    ];

    /// Returns the label of the operation: `read`, `write`, `discard` or `flush`.
    pub const fn label(self) -> &'static str {
        match self {
            RequestOperation::Read => "read",
            RequestOperation::Write => "write",
            RequestOperation::Discard => "discard",
            RequestOperation::Flush => "flush",
        }
    }

    /// Decodes the value of an `rwbs` field: the bits by which LTTng encodes the kernel's letters,
    /// or the letters themselves.
    pub(crate) fn of(value: Option<&Value<'_>>) -> RequestOperation {
        let (discards, writes, reads) = match value {
            Some(Value::Str(letters)) => of_letters(letters.bytes),
            Some(value) => {
                let bits = value.as_u64().or_else(|| value.as_i64().map(|bits| bits as u64));
                let bits = bits.unwrap_or(0);
                (bits & 2 != 0, bits & 1 != 0, bits & 4 != 0)
            }
            None => (false, false, false),
        };
        match (discards, writes, reads) {
            (true, ..) => RequestOperation::Discard,
            (_, true, _) => RequestOperation::Write,
            (_, _, true) => RequestOperation::Read,
            _ => RequestOperation::Flush,
        }
    }
}

/// Returns whether the kernel's letters for a request tell that it discards, writes and reads.
fn of_letters(letters: &[u8]) -> (bool, bool, bool) {
    // A flush before the operation is `F`, too. Letters after the operation are flags, such as `A` of reading ahead;
    // those of zones begin with `Z`.
    let operation = match letters {
        [b'F', operation @ (b'W' | b'R' | b'D'), ..] | [operation, ..] => *operation,
        [] => 0,
    };
    let appends = letters.starts_with(b"ZA");
    (operation == b'D', operation == b'W' || appends, operation == b'R')
}

impl From<RequestOperation> for RequestKind {
    fn from(operation: RequestOperation) -> Self {
        match operation {
            RequestOperation::Read => RequestKind::Read,
            RequestOperation::Write => RequestKind::Write,
            RequestOperation::Discard | RequestOperation::Flush => RequestKind::Other,
        }
    }
}

/// A block device of a traced machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct BlockDevice {
    pub(super) number: DeviceNumber,
    pub(super) name: NameId,
    pub(super) in_flight: u32,
    pub(super) last: Option<RequestKind>,
}

impl BlockDevice {
    /// Returns the major and minor number of the device.
    pub fn number(&self) -> DeviceNumber {
        self.number
    }

    /// Returns the name of the device, empty if unknown.
    pub fn name(&self) -> NameId {
        self.name
    }

    /// Returns the number of requests that were issued to the device and not completed.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Returns the activity of the device.
    pub fn mode(&self) -> BlockDeviceMode {
        match (self.last, self.in_flight) {
            (None, _) => BlockDeviceMode::Unknown,
            (_, 0) => BlockDeviceMode::Idle,
            (Some(RequestKind::Read), _) => BlockDeviceMode::BusyReading,
            (Some(_), _) => BlockDeviceMode::BusyWriting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_tell_the_operation() {
        let (discard, write, read) =
            ((true, false, false), (false, true, false), (false, false, true));
        let none = (false, false, false);
        for (expected, all) in [
            (read, "R RA RSM RF"),
            (write, "W WS WFS FWFS FWS ZA"),
            (discard, "D DS DE FD"),
            (none, "FF FFS FN N ZR ZRA F"),
        ] {
            for letters in all.split(' ') {
                assert_eq!(of_letters(letters.as_bytes()), expected, "{letters}");
            }
        }
        assert_eq!(of_letters(b""), none);
    }

    #[test]
    fn bits_tell_the_operation() {
        use RequestOperation::{Discard, Flush, Read, Write};
        for (bits, expected) in
            [(4, Read), (1, Write), (1 | 16, Write), (2 | 1, Discard), (8, Flush)]
        {
            assert_eq!(RequestOperation::of(Some(&Value::Uint(bits))), expected, "{bits}");
        }
    }
}
