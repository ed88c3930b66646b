//! Machines in bytes, without periods of the user.

use super::{CpuState, Machine};
use crate::spans::threads::{Detail, ThreadState};

/// The version of the bytes: increased whenever the same machines lead to others.
const VERSION: u32 = 6;

impl Machine {
    /// Converts the machines of all traces to bytes.
    pub(crate) fn to_bytes(machines: &[Machine]) -> Vec<u8> {
        // Writing to memory does not fail; an empty result is rejected by the reader.
        postcard::to_stdvec(&(VERSION, machines)).unwrap_or_default()
    }

    /// Decodes the machines of a number of traces. `None` if the bytes are damaged or of another version.
    pub(crate) fn decoded(bytes: &[u8], traces: usize) -> Option<Vec<Machine>> {
        let (saved, rest) = postcard::take_from_bytes::<(u32, Vec<Machine>)>(bytes).ok()?;
        let (version, machines) = saved;
        let fits = version == VERSION && machines.len() == traces && rest.is_empty();
        (fits && machines.iter().all(Machine::is_valid)).then_some(machines)
    }

    /// Returns `true` if all numbers are those of parts that exist.
    fn is_valid(&self) -> bool {
        let Machine { cpus, threads, handlers, disks, futexes, markers, .. } = self;
        let is_futex = |futex: u32| (futex as usize) < futexes.facts.len();
        let is_call = |of: &ThreadState| match of.call.detail {
            Detail::Wait(futex) | Detail::Wake(futex) => is_futex(futex),
            Detail::Nothing | Detail::File(_) | Detail::Copy(..) => true,
        };
        let is_cpu = |cpu: &CpuState| cpu.stack.len() <= super::interrupts::MAX_DEPTH;
        threads.is_valid()
            && threads.states.iter().all(is_call)
            && cpus.iter().all(is_cpu)
            && handlers.is_valid()
            && disks.is_valid()
            && futexes.is_valid()
            && markers.is_valid()
    }
}
