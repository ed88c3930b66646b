//! Tracking of packets: the CPU of a tracefile's events, and the events lost between
//! packets.

use ltt_read::{Event, Field, Trace, TracefileIndex};

use super::machine::TraceState;
use super::rule::{CpuField, Rule};

/// The packet that contains a tracefile's last event, and the CPU of that event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct PacketTracker {
    file: u32,
    offset: u64,
    /// The number of the packet in its file.
    number: u64,
    discarded: Option<u64>,
    sequence: Option<u64>,
    /// True if events were lost after the last event of the packet.
    lost_after: bool,
    cpu: u32,
    /// The index of that CPU in the state of its trace, once it has been looked up.
    #[cfg_attr(feature = "checkpoint-files", serde(skip, default = "not_looked_up"))]
    place: u32,
}

/// The facts about a packet that its first relevant event tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketFacts {
    pub(super) file: u32,
    pub(super) offset: u64,
    number: u64,
    discarded: Option<u64>,
    sequence: Option<u64>,
    sequence_bits: u8,
    /// The CPU number in the packet's context, if events take it from there.
    pub(super) cpu: Option<u32>,
}

impl PacketFacts {
    /// Returns the facts about the packet of an event.
    pub(super) fn of(field: &CpuField, event: &Event<'_>) -> Self {
        let packet = event.packet();
        let cpu = match field {
            CpuField::Packet(field) => event.integer(field),
            CpuField::Tracefile | CpuField::Event(_) => None,
        };
        PacketFacts {
            file: event.file_index() as u32,
            offset: packet.offset,
            number: packet.number,
            discarded: packet.discarded,
            sequence: packet.sequence,
            sequence_bits: packet.sequence_bits,
            cpu: cpu.map(|cpu| u32::try_from(cpu).unwrap_or(u32::MAX)),
        }
    }
}

/// The index of a CPU that has not been looked up yet.
const NOT_LOOKED_UP: u32 = u32::MAX;

#[cfg(feature = "checkpoint-files")]
fn not_looked_up() -> u32 {
    NOT_LOOKED_UP
}

/// Reads the CPU number in a field of an event; 0 if the field is absent.
pub(super) fn cpu_number(field: &Field, event: &Event<'_>) -> u32 {
    u32::try_from(event.integer(field).unwrap_or(0)).unwrap_or(u32::MAX)
}

impl PacketTracker {
    /// Creates a tracker for a tracefile before its first event.
    pub(super) fn new(cpu: u32) -> Self {
        let (file, offset) = (u32::MAX, u64::MAX);
        PacketTracker {
            file,
            offset,
            number: 0,
            discarded: None,
            sequence: None,
            lost_after: false,
            cpu,
            place: NOT_LOOKED_UP,
        }
    }

    /// Returns the tracker as it is stored in checkpoints: without the index of the CPU,
    /// which is looked up again.
    pub(super) fn without_index(self) -> Self {
        PacketTracker { place: NOT_LOOKED_UP, ..self }
    }

    /// Advances to an event. Returns whether events of the CPU were lost before it.
    #[inline]
    pub(super) fn advance(&mut self, rule: &Rule, event: &Event<'_>) -> bool {
        let packet = event.packet();
        let is_new = packet.offset != self.offset || event.file_index() as u32 != self.file;
        let gap = is_new && {
            let facts = PacketFacts::of(&rule.cpu, event);
            self.enter_packet(&facts, event.trace(), event.tracefile_index())
        };
        match &rule.cpu {
            CpuField::Event(field) => self.set_cpu(cpu_number(field, event)),
            CpuField::Tracefile | CpuField::Packet(_) => {}
        }
        gap
    }

    /// Advances to an event of which the CPU number has been recorded, if it is in the event, and the
    /// packet, if it may be a new one. Returns whether events of the CPU were lost before it.
    #[inline]
    pub(super) fn advance_to(
        &mut self,
        packet: Option<&PacketFacts>,
        cpu: Option<u32>,
        (trace, tracefile): (&Trace, TracefileIndex),
    ) -> bool {
        let packet = packet.filter(|packet| !self.is_in(packet));
        let gap = packet.is_some_and(|packet| self.enter_packet(packet, trace, tracefile));
        if let Some(cpu) = cpu {
            self.set_cpu(cpu);
        }
        gap
    }

    /// Returns `true` if the last event was in a packet.
    pub(super) fn is_in(&self, packet: &PacketFacts) -> bool {
        packet.offset == self.offset && packet.file == self.file
    }

    /// Sets the CPU number of the last event.
    #[inline]
    fn set_cpu(&mut self, cpu: u32) {
        if cpu != self.cpu {
            (self.cpu, self.place) = (cpu, NOT_LOOKED_UP);
        }
    }

    /// Returns the CPU number of the last event.
    #[inline]
    pub(super) fn cpu(&self) -> u32 {
        self.cpu
    }

    /// Returns the number and the index of the CPU of the last event. The CPU is added to
    /// the state if it is new.
    #[inline]
    pub(super) fn locate(&mut self, state: &mut TraceState) -> (u32, usize) {
        if self.place == NOT_LOOKED_UP {
            self.look_up(state);
        }
        (self.cpu, self.place as usize)
    }

    /// Looks up the CPU, and adds it to the state if it is new. Its number changes if it
    /// shares an entry with others.
    #[cold]
    fn look_up(&mut self, state: &mut TraceState) {
        let place = state.add_cpu(self.cpu);
        self.place = place as u32;
        self.cpu = state.cpu_at(place).map_or(self.cpu, |cpu| cpu.number());
    }

    /// Returns the index of the CPU of the last event, if it has been looked up.
    #[inline]
    pub(super) fn place(&self) -> Option<usize> {
        (self.place != NOT_LOOKED_UP).then_some(self.place as usize)
    }

    /// Reads the CPU number of an event that need not have been [tracked](Self::advance).
    /// `None` if it is that of the last tracked event.
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
            CpuField::Event(field) => Some(cpu_number(field, event)),
        }
    }

    /// Advances to another packet. Returns whether events of the CPU were lost before its event.
    #[cold]
    fn enter_packet(&mut self, packet: &PacketFacts, trace: &Trace, of: TracefileIndex) -> bool {
        let is_first = self.offset == u64::MAX;
        if let Some(cpu) = packet.cpu {
            self.set_cpu(cpu);
        }
        // Packets without relevant events are not tracked.
        let passed = if is_first { 0 } else { self.packets_since(packet, trace, of) };
        let skipped = match (self.sequence, packet.sequence) {
            (Some(last), Some(this)) => {
                this.wrapping_sub(last) & mask(packet.sequence_bits) > passed
            }
            _ => false,
        };
        // A tracer without room cannot even close the packet: the events that its counter
        // has gained were lost after the last event of the packet.
        let grown = match (self.discarded, packet.discarded) {
            (Some(last), Some(this)) => last != this,
            (None, Some(this)) => this > 0 && packet.sequence == Some(0),
            _ => false,
        };
        // A packet in between may have been the one that lost them.
        let unseen = grown && passed > 1;
        let gap = !is_first && (self.lost_after || skipped || unseen);
        *self = PacketTracker {
            file: packet.file,
            offset: packet.offset,
            number: packet.number,
            discarded: packet.discarded,
            sequence: packet.sequence,
            lost_after: grown,
            cpu: self.cpu,
            place: self.place,
        };
        gap
    }

    /// Returns the number of packets from the current one to another one.
    fn packets_since(&self, to: &PacketFacts, trace: &Trace, tracefile: TracefileIndex) -> u64 {
        if to.file == self.file {
            return to.number.saturating_sub(self.number);
        }
        let index = trace.packet_index(tracefile);
        let (from, to) = ((self.file, self.number), (to.file, to.number));
        let places = index.entries().iter().map(|packet| (packet.file, packet.number));
        places.filter(|at| *at > from && *at <= to).count() as u64
    }
}

/// Returns a mask with the lowest `bits` bits set.
fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}
