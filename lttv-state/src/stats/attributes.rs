//! Export of statistics as attributes, in the layout of LTTV's tree.

use std::time::Duration;

use lttv_context::attributes::{AttributeError, AttributeId, AttributeType, Attributes, Name};

use super::leaf::{Counts, LeafKey};
use super::{Statistics, TraceStatistics};

impl Statistics {
    /// Adds the statistics to an attribute tree: those of each trace below its number, as
    /// [`TraceStatistics::export`] does, and their sums.
    ///
    /// # Errors
    ///
    /// Returns an error if an attribute of that name has another type.
    pub fn export(&self, into: &mut Attributes, at: AttributeId) -> Result<(), AttributeError> {
        let traces = into.subtree(at, "traces")?;
        for (number, trace) in (0_u64..).zip(&self.traces) {
            let place = into.subtree(traces, number)?;
            trace.export(into, place)?;
            for (key, counts) in trace.leaves() {
                sums(into, at, trace, key, counts)?;
            }
        }
        Ok(())
    }
}

impl TraceStatistics {
    /// Adds the statistics to an attribute tree:
    /// `processes/ID-BIRTH/cpu/[N]/functions/0xADDRESS/ mode_types/MODE/submodes/SUBMODE`,
    /// sums for each process, for each CPU and for all, and `devices/MAJOR,MINOR`.
    ///
    /// # Errors
    ///
    /// Returns an error if an attribute of that name has another type.
    pub fn export(&self, into: &mut Attributes, at: AttributeId) -> Result<(), AttributeError> {
        let processes = into.subtree(at, "processes")?;
        let cpus = into.subtree(at, "cpu")?;
        for (key, counts) in self.leaves() {
            sums(into, at, self, key, counts)?;
            let cpu = into.subtree(cpus, u64::from(key.cpu))?;
            sums(into, cpu, self, key, counts)?;
            let process = into.subtree(processes, &*self.process_label(key))?;
            sums(into, process, self, key, counts)?;
            let of_cpu = into.subtree(process, "cpu")?;
            let cpu = into.subtree(of_cpu, u64::from(key.cpu))?;
            let functions = into.subtree(cpu, "functions")?;
            let function = into.subtree(functions, &*format!("{:#x}", key.function))?;
            sums(into, function, self, key, counts)?;
        }
        self.export_facts(into, processes)?;
        if self.devices().is_empty() {
            return Ok(());
        }
        let devices = into.subtree(at, "devices")?;
        for device in self.devices() {
            let place = into.subtree(devices, &*device.number.to_string())?;
            into.set(place, "name", &*device.name)?;
            for (name, value) in [
                ("reads", device.reads),
                ("writes", device.writes),
                ("other requests", device.others),
                ("bytes read", device.bytes_read),
                ("bytes written", device.bytes_written),
            ] {
                into.set(place, name, value)?;
            }
            let idle = self.time().saturating_sub(device.busy_time);
            into.set(place, "busy time", Duration::from_nanos(device.busy_time))?;
            into.set(place, "idle time", Duration::from_nanos(idle))?;
            into.set(place, "average queue length", device.average_queue_length(self.time()))?;
        }
        Ok(())
    }

    /// Adds the facts about each process to its subtree.
    fn export_facts(
        &self,
        into: &mut Attributes,
        processes: AttributeId,
    ) -> Result<(), AttributeError> {
        for sum in self.processes() {
            let Some(facts) = self.process_facts().get(sum.process.index()) else { continue };
            let label = self.label_of(sum.process);
            let place = into.subtree(processes, &*label)?;
            into.set(place, "name", &*facts.name)?;
            for (number, name) in (0_u64..).zip(&facts.former_names) {
                let names = into.subtree(place, "former names")?;
                into.set(names, number, &**name)?;
            }
            for (name, time) in [("start time", facts.start), ("end time", facts.end)] {
                if let Some(time) = time {
                    into.set(place, name, time)?;
                }
            }
            for (name, time) in [
                ("user time", sum.user_time),
                ("system time", sum.system_time),
                ("interrupt time", sum.interrupt_time),
                ("blocked time", facts.blocked_time),
                ("ready time", facts.ready_time),
            ] {
                into.set(place, name, Duration::from_nanos(time))?;
            }
            into.set(place, "bytes read", facts.bytes_read)?;
            into.set(place, "bytes written", facts.bytes_written)?;
        }
        Ok(())
    }

    fn process_label(&self, key: &LeafKey) -> String {
        self.label_of(key.process)
    }

    /// Returns the label of a process: its id and fork time, as in LTTV. If one of them is
    /// unknown, the label contains the serial number, to be unique.
    fn label_of(&self, process: crate::kernel::Serial) -> String {
        let facts = self.process_facts().get(process.index());
        match facts.and_then(|facts| Some((facts.tid?, facts.start))) {
            Some((tid, Some(start))) => format!("{tid}-{start}"),
            Some((tid, None)) => format!("{tid}-0.0 [{}]", process.0),
            None => format!("unknown process [{}]", process.0),
        }
    }
}

/// Adds the counts of a leaf to a subtree, and to the leaf's mode and submode below it.
fn sums(
    into: &mut Attributes,
    at: AttributeId,
    trace: &TraceStatistics,
    key: &LeafKey,
    counts: &Counts,
) -> Result<(), AttributeError> {
    add(into, at, trace, counts)?;
    let modes = into.subtree(at, "mode_types")?;
    let mode = into.subtree(modes, key.mode.as_str())?;
    let submodes = into.subtree(mode, "submodes")?;
    let submode = into.subtree(submodes, trace.name(key.submode))?;
    add(into, mode, trace, counts)?;
    add(into, submode, trace, counts)
}

/// Adds the counts of a leaf to the attributes of a subtree.
fn add(
    into: &mut Attributes,
    at: AttributeId,
    trace: &TraceStatistics,
    counts: &Counts,
) -> Result<(), AttributeError> {
    for (event_type, events) in counts.events.iter() {
        let types = into.subtree(at, "event_types")?;
        sum::<u64>(into, types, trace.event_name(event_type), |all| *all += events)?;
    }
    let events = counts.events.total();
    sum::<u64>(into, at, "events count", |all| *all += events)?;
    for (name, time) in [
        ("cpu time", counts.cpu_time),
        ("cumulative cpu time", counts.cumulative_cpu_time),
        ("elapsed time", counts.elapsed_time()),
        ("wait time", counts.wait_time),
    ] {
        let time = Duration::from_nanos(time);
        sum::<Duration>(into, at, name, |all| *all = all.saturating_add(time))?;
    }
    Ok(())
}

/// Applies a function to an attribute, which is added if it is new.
fn sum<'n, T: AttributeType>(
    into: &mut Attributes,
    at: AttributeId,
    name: impl Into<Name<'n>>,
    add: impl FnOnce(&mut T),
) -> Result<(), AttributeError> {
    let key = into.entry::<T>(at, name)?;
    if let Some(value) = into.get_mut(key) {
        add(value);
    }
    Ok(())
}
