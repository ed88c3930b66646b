//! Machines in bytes, without their past.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::cpu::Cpu;
use super::packets::Packets;
use super::{Actor, Anomalies, Devices, Form, Links, Machine, Sender, Status};
use crate::kernel::TID_END;
use crate::waits::graph::TimelineId;

/// The version of the bytes: increased whenever the same machines lead to others.
const VERSION: u32 = 2;

/// The encoded form of machines.
#[derive(Serialize, Deserialize)]
struct Saved {
    version: u32,
    actors: Vec<Actor>,
    links: Links,
    traces: Vec<SavedTrace>,
    packets: Vec<SavedPacket>,
    begin: i64,
    last: i64,
    anomalies: Anomalies,
}

#[derive(Serialize, Deserialize)]
struct SavedTrace {
    cpus: Vec<Cpu>,
    devices: Devices,
}

/// The protocol, the key and the sender of a packet.
type SavedPacket = (u32, Vec<u8>, Option<Sender>);

impl Machine {
    /// Converts the machines to bytes. [Their past](Self::forget_past) is left out.
    pub(in crate::waits) fn to_bytes(&self) -> Vec<u8> {
        let mut machine = self.clone();
        machine.forget_past();
        let Machine { actors, links, traces, packets, begin, last, anomalies } = machine;
        let traces = traces
            .into_iter()
            .map(|of| SavedTrace { cpus: of.cpus, devices: of.devices })
            .collect();
        let packets = packets.in_order();
        let version = VERSION;
        let saved = Saved { version, actors, links, traces, packets, begin, last, anomalies };
        // Writing to memory does not fail; an empty result is rejected by the reader.
        postcard::to_stdvec(&saved).unwrap_or_default()
    }

    /// Decodes machines of the same traces as `self`, which have seen no event. `None` if the bytes are
    /// damaged or of another version.
    pub(in crate::waits) fn decoded(&self, bytes: &[u8]) -> Option<Self> {
        let (saved, rest) = postcard::take_from_bytes::<Saved>(bytes).ok()?;
        let fits = saved.version == VERSION && saved.traces.len() == self.traces.len();
        if !rest.is_empty() || !fits || !saved.is_valid() {
            return None;
        }
        let Saved { actors, links, traces, packets, begin, last, anomalies, .. } = saved;
        let mut machine = Machine { actors, links, begin, last, anomalies, ..self.clone() };
        for (of, saved) in machine.traces.iter_mut().zip(traces) {
            (of.cpus, of.devices) = (saved.cpus, saved.devices);
        }
        for (number, actor) in (1..).zip(&machine.actors) {
            // The last thread with an id is the one that events mean.
            if !actor.is_idle() {
                machine.traces[actor.trace as usize].by_tid.set(actor.tid, NonZeroU32::new(number));
            }
        }
        machine.packets = Packets::default();
        for (protocol, key, sender) in packets {
            machine.packets.sent(protocol, &key, sender);
        }
        Some(machine)
    }
}

impl Saved {
    /// Returns `true` if all numbers are those of parts that exist.
    fn is_valid(&self) -> bool {
        let is_thread = |id: TimelineId| id.index() < self.actors.len();
        let is_sender = |of: Option<Sender>| of.is_none_or(|of| is_thread(of.thread));
        let are_links = (0..self.links.len())
            .all(|at| self.links.get(at).is_some_and(|link| is_thread(link.from)));
        let is_actor = |actor: &Actor| {
            let last = actor.intervals.last();
            (actor.trace as usize) < self.traces.len()
                && (0..TID_END).contains(&actor.tid)
                && actor.parent.is_none_or(is_thread)
                && last.is_none_or(|last| match last.form() {
                    Form::Linked(_, link) => (link as usize) < self.links.len(),
                    _ => true,
                })
                && (last.is_none() || actor.status != Status::Unseen)
        };
        let is_cpu = |cpu: &Cpu| {
            cpu.current.is_none_or(is_thread)
                && cpu.idle.is_none_or(is_thread)
                && is_sender(cpu.received)
                && cpu.raised.iter().all(|of| is_sender(*of))
                && cpu.contexts.iter().all(|of| is_sender(of.raiser))
        };
        are_links
            && self.actors.iter().all(is_actor)
            && self.traces.iter().flat_map(|of| &of.cpus).all(is_cpu)
            && self.packets.iter().all(|(_, _, sender)| is_sender(*sender))
    }
}
