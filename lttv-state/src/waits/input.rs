//! The fields of the events of a slice.

use ltt_read::Event;

use super::recorded::EventUse;
use crate::kernel::{DeviceNumber, Rule, Tid};

/// The fields of an event.
#[derive(Debug)]
pub(super) enum Input {
    /// The threads of a switch, and the state in which the previous one is left.
    Switch { previous: Tid, next: Tid, state: u64 },
    /// The thread that is woken or begins, or that a state dump describes.
    Thread(Tid),
    /// The number of an interrupt.
    Number(u32),
    /// The device that completed a request.
    Device(Option<DeviceNumber>),
    /// An end of a message, with what identifies the message.
    Message { is_sent: bool, protocol: u32, key: Box<[u8]> },
}

impl Input {
    /// Reads the fields of an event that changes the kernel state. `None` if none are needed, or if
    /// it lacks one.
    #[inline]
    pub(super) fn of(event_use: &EventUse, rule: &Rule, event: &Event<'_>) -> Option<Self> {
        let tid = |slot| rule.tid(event, slot);
        Some(match event_use {
            EventUse::Switch => {
                let state = rule.integer(event, 2).unwrap_or(0);
                Input::Switch { previous: tid(0)?, next: tid(1)?, state }
            }
            EventUse::Waking | EventUse::WakeUp | EventUse::Fork | EventUse::Dump => {
                Input::Thread(tid(0)?)
            }
            EventUse::Raise | EventUse::Irq | EventUse::Softirq => {
                Input::Number(rule.number(event, 0).unwrap_or(u32::MAX))
            }
            EventUse::Completed => Input::Device(rule.device(event)),
            EventUse::DumpEnd
            | EventUse::Vector
            | EventUse::Leave(_)
            | EventUse::TimerEntry
            | EventUse::TimerExit
            | EventUse::Packet
            | EventUse::Other => return None,
        })
    }
}

/// The fields of the events of a slice that have any, with the numbers of the events.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    inputs: Vec<(u32, Input)>,
    passed: usize,
}

impl Inputs {
    /// Adds the fields of the event with a number.
    #[inline]
    pub(super) fn push(&mut self, number: usize, input: Input) {
        self.inputs.push((number as u32, input));
    }

    /// Returns the fields of the event with a number, which follows those before.
    #[inline]
    pub(super) fn next(&mut self, number: usize) -> Option<&Input> {
        while (self.inputs.get(self.passed)?.0 as usize) < number {
            self.passed += 1;
        }
        let (of, input) = &self.inputs[self.passed];
        (*of as usize == number).then_some(input)
    }

    /// Removes all fields and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.inputs.clear();
        self.passed = 0;
    }
}
