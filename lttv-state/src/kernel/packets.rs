//! Which packet a tracefile's events are in, and what was lost between packets.

use ltt_read::{Event, Field};

use super::machine::TraceState;
use super::rule::{CpuField, Rule};

/// What is known of the packet that a tracefile's last event was in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct PacketSeen {
    file: u32,
    offset: u64,
    /// In its file.
    number: u64,
    discarded: Option<u64>,
    sequence: Option<u64>,
    /// Whether events were lost after its last event.
    lossy: bool,
    cpu: u32,
    /// The place of that CPU in the state of its trace, once it was looked up.
    #[cfg_attr(feature = "checkpoint-files", serde(skip, default = "nowhere"))]
    place: u32,
}

/// The place of a CPU that was not looked up yet.
const NOWHERE: u32 = u32::MAX;

#[cfg(feature = "checkpoint-files")]
fn nowhere() -> u32 {
    NOWHERE
}

/// The CPU that a field tells: 0 if it is not there.
fn number(field: &Field, event: &Event<'_>) -> u32 {
    u32::try_from(event.integer(field).unwrap_or(0)).unwrap_or(u32::MAX)
}

impl PacketSeen {
    /// Before the first event of a tracefile.
    pub(super) fn none(cpu: u32) -> Self {
        let (file, offset) = (u32::MAX, u64::MAX);
        PacketSeen {
            file,
            offset,
            number: 0,
            discarded: None,
            sequence: None,
            lossy: false,
            cpu,
            place: NOWHERE,
        }
    }

    /// The same, as it is in checkpoints: without what is looked up again.
    pub(super) fn saved(self) -> Self {
        PacketSeen { place: NOWHERE, ..self }
    }

    /// The CPU of an event, and whether it comes after a gap.
    #[inline]
    pub(super) fn enter(&mut self, rule: &Rule, event: &Event<'_>) -> (u32, bool) {
        let packet = event.packet();
        let is_new = packet.offset != self.offset || event.file_index() as u32 != self.file;
        let gap = is_new && self.next(rule, event);
        match &rule.cpu {
            CpuField::Event(field) => {
                let cpu = number(field, event);
                if cpu != self.cpu {
                    (self.cpu, self.place) = (cpu, NOWHERE);
                }
            }
            CpuField::Tracefile | CpuField::Packet(_) => {}
        }
        (self.cpu, gap)
    }

    /// The CPU of the last event.
    #[inline]
    pub(super) fn cpu(&self) -> u32 {
        self.cpu
    }

    /// The CPU of the last event, and its place in the state: it is known from then on.
    #[inline]
    pub(super) fn locate(&mut self, state: &mut TraceState) -> (u32, usize) {
        if self.place == NOWHERE {
            self.look_up(state);
        }
        (self.cpu, self.place as usize)
    }

    #[cold]
    fn look_up(&mut self, state: &mut TraceState) {
        let place = state.add_cpu(self.cpu);
        self.place = place as u32;
        self.cpu = state.cpu_at(place).map_or(self.cpu, |cpu| cpu.number());
    }

    /// The place of the CPU of the last event, if it was looked up.
    #[inline]
    pub(super) fn place(&self) -> Option<usize> {
        (self.place != NOWHERE).then_some(self.place as usize)
    }

    /// The CPU that an event tells which may not have been [entered](Self::enter); `None`
    /// if it is that of the last one that was.
    #[inline]
    pub(super) fn other_cpu(&self, field: &CpuField, event: &Event<'_>) -> Option<u32> {
        match field {
            CpuField::Tracefile => None,
            CpuField::Packet(field) => {
                let packet = event.packet();
                let is_same =
                    packet.offset == self.offset && event.file_index() as u32 == self.file;
                if is_same {
                    return None;
                }
                let cpu = event.integer(field)?;
                Some(u32::try_from(cpu).unwrap_or(u32::MAX))
            }
            CpuField::Event(field) => Some(number(field, event)),
        }
    }

    #[cold]
    fn next(&mut self, rule: &Rule, event: &Event<'_>) -> bool {
        let packet = event.packet();
        let is_first = self.offset == u64::MAX;
        if let CpuField::Packet(field) = &rule.cpu
            && let Some(cpu) = event.integer(field)
        {
            let cpu = u32::try_from(cpu).unwrap_or(u32::MAX);
            if cpu != self.cpu {
                (self.cpu, self.place) = (cpu, NOWHERE);
            }
        }
        // Packets without events of interest do not come here.
        let passed = if is_first { 0 } else { self.packets_to(event) };
        let skipped = match (self.sequence, packet.sequence) {
            (Some(last), Some(this)) => {
                this.wrapping_sub(last) & mask(packet.sequence_bits) > passed
            }
            _ => false,
        };
        // A tracer that found no room could not even close the packet: what its
        // counter grew by was lost after the packet's last event.
        let grown = match (self.discarded, packet.discarded) {
            (Some(last), Some(this)) => last != this,
            (None, Some(this)) => this > 0 && packet.sequence == Some(0),
            _ => false,
        };
        // It may have been a packet passed by that counted.
        let unseen = grown && passed > 1;
        let gap = !is_first && (self.lossy || skipped || unseen);
        *self = PacketSeen {
            file: event.file_index() as u32,
            offset: packet.offset,
            number: packet.number,
            discarded: packet.discarded,
            sequence: packet.sequence,
            lossy: grown,
            cpu: self.cpu,
            place: self.place,
        };
        gap
    }

    /// How many packets it is to the one of an event.
    fn packets_to(&self, event: &Event<'_>) -> u64 {
        let (file, number) = (event.file_index() as u32, event.packet().number);
        if file == self.file {
            return number.saturating_sub(self.number);
        }
        let index = event.trace().packet_index(event.tracefile_index());
        let (from, to) = ((self.file, self.number), (file, number));
        let places = index.entries().iter().map(|packet| (packet.file, packet.number));
        places.filter(|at| *at > from && *at <= to).count() as u64
    }
}

fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}
