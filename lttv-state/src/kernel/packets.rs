//! Tracking of packets: the CPU of a tracefile's events, and the events lost between
//! packets.

use std::sync::Arc;

use ltt_read::{Event, Field, Packet, Position, Trace, TracefileIndex};

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
    /// The number before that of the packet that may follow without a loss that is not known yet.
    sequence: Option<u64>,
    after: LossAfter,
    cpu: u32,
    /// The index of that CPU in the state of its trace, once it has been looked up.
    #[cfg_attr(feature = "checkpoint-files", serde(skip, default = "not_looked_up"))]
    place: u32,
}

/// Knowledge of a loss after the last event of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
enum LossAfter {
    /// Nothing tells of a loss. The next packet may.
    None,
    /// The next packet tells when the loss ends: its start is unknown.
    AtNextPacket,
    /// The loss is applied at its start.
    Ahead,
}

/// The facts about a packet that its first relevant event tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketFacts {
    pub(super) file: u32,
    pub(super) offset: u64,
    number: u64,
    /// The position of that event.
    position: Position,
    discarded: Option<u64>,
    counters: Counters,
    next: Option<Counters>,
    sequence_bits: u8,
    /// The CPU number in the packet's context, if events take it from there.
    pub(super) cpu: Option<u32>,
}

/// Facts about losses before a packet.
#[derive(Debug, Clone, Copy)]
struct Counters {
    sequence: Option<u64>,
    follows_loss: bool,
}

impl From<&Packet> for Counters {
    fn from(packet: &Packet) -> Self {
        Counters { sequence: packet.sequence, follows_loss: packet.follows_loss() }
    }
}

/// A packet that was entered.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entered {
    /// `true` if events of the CPU were lost before its event, which was not known before.
    pub(super) gap: bool,
    /// The time of its last event, in ns, if events were lost after it.
    pub(super) loss_after: Option<i64>,
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
            position: event.position(),
            discarded: packet.discarded,
            counters: packet.into(),
            next: event.packet_after().as_ref().map(Counters::from),
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
            after: LossAfter::None,
            cpu,
            place: NOT_LOOKED_UP,
        }
    }

    /// Returns the tracker as it is stored in checkpoints: without the index of the CPU,
    /// which is looked up again.
    pub(super) fn without_index(self) -> Self {
        PacketTracker { place: NOT_LOOKED_UP, ..self }
    }

    /// Advances to an event. Returns its packet, if that is a new one.
    #[inline]
    pub(super) fn advance(&mut self, rule: &Rule, event: &Event<'_>) -> Option<Entered> {
        let packet = event.packet();
        let is_new = packet.offset != self.offset || event.file_index() as u32 != self.file;
        let entered = is_new.then(|| {
            let facts = PacketFacts::of(&rule.cpu, event);
            self.enter_packet(&facts, event.trace(), event.tracefile_index())
        });
        match &rule.cpu {
            CpuField::Event(field) => self.set_cpu(cpu_number(field, event)),
            CpuField::Tracefile | CpuField::Packet(_) => {}
        }
        entered
    }

    /// Advances to an event of which the CPU number has been recorded, if it is in the event, and the
    /// packet, if it may be a new one. Returns the packet, if it is a new one.
    #[inline]
    pub(super) fn advance_to(
        &mut self,
        packet: Option<&PacketFacts>,
        cpu: Option<u32>,
        (trace, tracefile): (&Arc<Trace>, TracefileIndex),
    ) -> Option<Entered> {
        let packet = packet.filter(|packet| !self.is_in(packet));
        let entered = packet.map(|packet| self.enter_packet(packet, trace, tracefile));
        if let Some(cpu) = cpu {
            self.set_cpu(cpu);
        }
        entered
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

    /// Advances to another packet.
    #[cold]
    fn enter_packet(
        &mut self,
        packet: &PacketFacts,
        trace: &Arc<Trace>,
        of: TracefileIndex,
    ) -> Entered {
        let is_first = self.offset == u64::MAX;
        if let Some(cpu) = packet.cpu {
            self.set_cpu(cpu);
        }
        // Packets without relevant events are not tracked.
        let passed = if is_first { 0 } else { self.packets_since(packet, trace, of) };
        let mask = mask(packet.sequence_bits);
        let steps = |from: Option<u64>, to: &Counters| {
            from.zip(to.sequence).map(|(from, to)| to.wrapping_sub(from) & mask)
        };
        let skipped = steps(self.sequence, &packet.counters).is_some_and(|steps| steps > passed);
        let mut follows_loss =
            packet.counters.follows_loss && !(passed == 1 && self.after == LossAfter::Ahead);
        // A tracer without room cannot even close the packet: the events that its counter
        // has gained were lost after the last event of the packet.
        let grown = match (self.discarded, packet.discarded) {
            (Some(last), Some(this)) => last != this,
            (None, Some(this)) => this > 0 && packet.counters.sequence == Some(0),
            _ => false,
        };
        // Packets in between may have been those that lost them.
        let (mut grown, mut unseen) = (grown, grown && passed > 1);
        if passed > 1 {
            let after = (self.file as usize, self.number);
            let mut between = trace.packets_between(of, after, packet.position).peekable();
            let mut is_known = self.after == LossAfter::Ahead;
            while let Some(before) = between.next() {
                follows_loss |= before.follows_loss() && !is_known;
                is_known = false;
                if between.peek().is_none() {
                    unseen = before.discarded != self.discarded;
                    grown = before.discarded != packet.discarded;
                }
            }
        }
        let lost = self.after == LossAfter::AtNextPacket || skipped || unseen || follows_loss;
        let steps_to_next = packet.next.and_then(|next| steps(packet.counters.sequence, &next));
        let skips_next = steps_to_next.is_some_and(|steps| steps > 1 && steps <= mask >> 1);
        let is_lost_after = grown || skips_next || packet.next.is_some_and(|of| of.follows_loss);
        let last = || trace.latest_time_in_packet(of, packet.position);
        let loss_after = is_lost_after.then(last).flatten();
        let before_next = |next: Counters| next.sequence.map(|next| next.wrapping_sub(1) & mask);
        *self = PacketTracker {
            file: packet.file,
            offset: packet.offset,
            number: packet.number,
            discarded: packet.discarded,
            sequence: match packet.next {
                Some(next) if skips_next && loss_after.is_some() => before_next(next),
                _ => packet.counters.sequence,
            },
            after: match loss_after {
                Some(_) => LossAfter::Ahead,
                None if grown => LossAfter::AtNextPacket,
                None => LossAfter::None,
            },
            cpu: self.cpu,
            place: self.place,
        };
        Entered { gap: lost && !is_first, loss_after: loss_after.map(|time| time.as_ns()) }
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
