//! Block devices and CPU frequencies.

use super::{At, TraceState};
use crate::kernel::cpu::MAX_CPUS;
use crate::kernel::effect::{Request, RequestStep};
use crate::kernel::names::NameId;
use crate::kernel::resources::{BlockDevice, DeviceNumber, MAX_DEVICES, RequestKind};

impl TraceState {
    /// Records a step of a request to a device, or to an unknown one.
    pub(in crate::kernel) fn request(
        &mut self,
        number: Option<DeviceNumber>,
        kind: RequestKind,
        bytes: u64,
        step: RequestStep,
    ) {
        let device = number.and_then(|number| self.device_index(number));
        if number.is_some() && device.is_none() {
            return;
        }
        if let Some(state) = device.map(|device| &mut self.devices[device]) {
            match step {
                RequestStep::Inserted | RequestStep::Merged => {}
                RequestStep::Issued => {
                    state.in_flight = state.in_flight.saturating_add(1);
                    state.last = Some(kind);
                }
                RequestStep::Completed => {
                    state.in_flight = state.in_flight.saturating_sub(1);
                    state.last.get_or_insert(kind);
                }
            }
        }
        self.effect.rare_mut().request = Some(Request { device, kind, bytes, step });
    }

    /// Sets the name of a device.
    pub(in crate::kernel) fn name_device(&mut self, number: DeviceNumber, name: &[u8]) {
        let name = self.intern(name);
        if let Some(device) = self.device_index(number) {
            self.devices[device].name = name;
        }
    }

    /// Sets the frequency of a CPU, in Hz. Without a number it is the CPU of the event.
    pub(in crate::kernel) fn frequency(&mut self, at: At, cpu: Option<u32>, frequency: u64) {
        let place = cpu.map_or(Some(at.place), |cpu| self.cpu_index(cpu));
        if let Some(of) = place.and_then(|place| self.cpus.get_mut(place)) {
            of.frequency = Some(frequency);
            return;
        }
        // A CPU gets an entry with its first event or its tracefile only.
        let Some(cpu) = cpu else { return };
        match self.frequencies.binary_search_by_key(&cpu, |of| of.0) {
            Ok(known) => self.frequencies[known].1 = frequency,
            Err(at) if self.frequencies.len() < MAX_CPUS => {
                self.frequencies.insert(at, (cpu, frequency));
            }
            Err(_) => self.anomalies.impossible_numbers += 1,
        }
    }

    /// Returns the index of a device, which is added if it is new; `None` if there are too
    /// many.
    fn device_index(&mut self, number: DeviceNumber) -> Option<usize> {
        // There are few devices, and one or two of them are busy: searching is fast.
        let known = self.devices.iter().position(|device| device.number == number);
        if known.is_some() {
            return known;
        }
        if self.devices.len() >= MAX_DEVICES {
            self.anomalies.impossible_numbers += 1;
            return None;
        }
        self.devices.push(BlockDevice { number, name: NameId::EMPTY, in_flight: 0, last: None });
        Some(self.devices.len() - 1)
    }
}
