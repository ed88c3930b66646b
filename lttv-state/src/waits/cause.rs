//! The causes of waits, and the sources of the wake-ups that end them.

use std::fmt;

use crate::kernel::{DeviceNumber, NameId};

/// The cause of an interval in which a thread is blocked: what its end waited for, as far as the
/// wake-up that ended it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// Another thread, which woke the blocked one.
    Task,
    /// A timer.
    Timer,
    /// A block device: an interrupt in which a request was completed, or the softirq of block
    /// devices.
    Block,
    /// The network.
    Network,
    /// The handler of a device interrupt.
    Irq,
    /// A softirq of another kind.
    Softirq,
    /// An interrupt from another processor, or another one of the processor itself.
    Ipi,
    /// An interrupt of an unknown kind: the wake-up came while the CPU was idle, and interrupts
    /// were not recorded.
    Interrupt,
    /// Unknown: no wake-up was seen, or it is not known what ran on its CPU.
    Unknown,
    /// Unknown: the wait has not ended when the trace, or what was read of it, ends.
    Open,
}

impl Cause {
    /// All causes, in ascending order.
    pub const ALL: [Cause; 10] = [
        Cause::Task,
        Cause::Timer,
        Cause::Block,
        Cause::Network,
        Cause::Irq,
        Cause::Softirq,
        Cause::Ipi,
        Cause::Interrupt,
        Cause::Unknown,
        Cause::Open,
    ];

    /// Returns the name of the cause in results: `task`, `timer` and so on.
    pub const fn label(self) -> &'static str {
        match self {
            Cause::Task => "task",
            Cause::Timer => "timer",
            Cause::Block => "block",
            Cause::Network => "network",
            Cause::Irq => "irq",
            Cause::Softirq => "softirq",
            Cause::Ipi => "ipi",
            Cause::Interrupt => "interrupt",
            Cause::Unknown => "unknown",
            Cause::Open => "open",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}

/// The source of the wake-up that ended a wait, beyond its [`Cause`].
///
/// Names and devices are those of the trace of the thread:
/// [`WaitGraph::source_label`](super::WaitGraph::source_label) describes a source in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum WakeSource {
    /// Nothing more is known, or the source is a thread.
    #[default]
    None,
    /// A block device whose request was completed.
    Device(DeviceNumber),
    /// The softirq with a number.
    Softirq(u32),
    /// The device interrupt with a number.
    Irq(u32),
    /// A high-resolution timer.
    HighResolutionTimer,
    /// An interrupt of the processor itself, such as `local_timer` or `reschedule`.
    Vector(NameId),
}

/// A [`WakeSource`] in 32 bits: three for the kind, the others for a number. Block devices have
/// numbers of their own, see [`Devices`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct PackedSource(u32);

const NUMBER_BITS: u32 = 29;
const MAX_NUMBER: u32 = (1 << NUMBER_BITS) - 1;

/// The block devices that ended waits, in the order of their first appearance.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Devices(Vec<DeviceNumber>);

/// The greatest number of block devices. Further ones are left out of sources.
const MAX_DEVICES: usize = 1 << 10;

impl Devices {
    /// Returns the source that stands for a block device.
    pub(super) fn source(&mut self, device: Option<DeviceNumber>) -> PackedSource {
        let Some(device) = device else { return PackedSource::default() };
        let known = self.0.iter().position(|known| *known == device);
        let at = known.unwrap_or(self.0.len());
        if at >= MAX_DEVICES {
            return PackedSource::default();
        }
        if known.is_none() {
            self.0.push(device);
        }
        PackedSource::new(1, at as u32)
    }
}

impl PackedSource {
    const fn new(kind: u32, number: u32) -> Self {
        let number = if number > MAX_NUMBER { MAX_NUMBER } else { number };
        PackedSource(kind << NUMBER_BITS | number)
    }

    pub(super) const HIGH_RESOLUTION_TIMER: PackedSource = PackedSource::new(4, 0);

    pub(super) fn softirq(number: u32) -> Self {
        PackedSource::new(2, number)
    }

    pub(super) fn irq(number: u32) -> Self {
        PackedSource::new(3, number)
    }

    pub(super) fn vector(name: NameId) -> Self {
        PackedSource::new(5, name.index() as u32)
    }

    pub(super) const fn bits(self) -> u32 {
        self.0
    }

    pub(super) const fn from_bits(bits: u32) -> Self {
        PackedSource(bits)
    }

    /// Returns the source. `devices` are those of its trace.
    pub(super) fn unpack(self, devices: &Devices) -> WakeSource {
        let number = self.0 & MAX_NUMBER;
        match self.0 >> NUMBER_BITS {
            1 => devices
                .0
                .get(number as usize)
                .map_or(WakeSource::None, |of| WakeSource::Device(*of)),
            2 => WakeSource::Softirq(number),
            3 => WakeSource::Irq(number),
            4 => WakeSource::HighResolutionTimer,
            5 => WakeSource::Vector(NameId::at(number)),
            _ => WakeSource::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_survive_packing() {
        let mut devices = Devices::default();
        let disk = DeviceNumber { major: 254, minor: 0xf_ffff };
        let other = DeviceNumber { major: 8, minor: 1 };
        let sources = [devices.source(Some(disk)), devices.source(Some(other))];
        assert_eq!(devices.source(Some(disk)), sources[0]);
        assert_eq!(sources[0].unpack(&devices), WakeSource::Device(disk));
        assert_eq!(sources[1].unpack(&devices), WakeSource::Device(other));
        assert_eq!(PackedSource::default().unpack(&devices), WakeSource::None);
        assert_eq!(PackedSource::softirq(9).unpack(&devices), WakeSource::Softirq(9));
        assert_eq!(PackedSource::irq(u32::MAX).unpack(&devices), WakeSource::Irq(MAX_NUMBER));
        let timer = PackedSource::HIGH_RESOLUTION_TIMER.unpack(&devices);
        assert_eq!(timer, WakeSource::HighResolutionTimer);
        let vector = PackedSource::vector(NameId::NONE).unpack(&devices);
        assert_eq!(vector, WakeSource::Vector(NameId::NONE));
    }
}
