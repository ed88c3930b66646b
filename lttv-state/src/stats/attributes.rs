//! Export of statistics as attributes, in the layout of LTTV's tree.

use std::collections::BTreeMap;
use std::time::Duration;

use lttv_context::attributes::{AttributeError, AttributeId, AttributeType, Attributes, Name};

use super::extra::RequestCounts;
use super::leaf::{Counts, LeafKey};
use super::{Statistics, TraceStatistics};
use crate::kernel::{ExecutionMode, Serial, Tid};

impl Statistics {
    /// Adds the statistics to an attribute tree: those of each trace below its number, as
    /// [`TraceStatistics::export`] does, and their sums.
    ///
    /// # Errors
    ///
    /// Returns an error if an attribute of that name has another type.
    pub fn export(&self, into: &mut Attributes, at: AttributeId) -> Result<(), AttributeError> {
        if let Some((start, end)) = self.start().zip(self.end()) {
            into.set(at, "start time", start)?;
            into.set(at, "end time", end)?;
            into.set(at, "duration", Duration::from_nanos(self.time()))?;
        }
        let traces = into.subtree(at, "traces")?;
        for (number, trace) in (0_u64..).zip(&self.traces) {
            let place = into.subtree(traces, number)?;
            trace.export(into, place)?;
            let labels = Labels::of(trace);
            for (key, counts) in trace.leaves() {
                // Traces of different machines have different devices of one number.
                Sums { trace, labels: &labels, key, counts, by_device: false }.add_to(into, at)?;
            }
        }
        Ok(())
    }
}

impl TraceStatistics {
    /// Adds the statistics to an attribute tree: `start time`, `end time`, `duration`,
    /// `processes/ID-BIRTH/cpu/[N]/functions/0xADDRESS/mode_types/MODE/submodes/SUBMODE`,
    /// sums for each process, for each CPU and for all, and `devices/MAJOR,MINOR`.
    ///
    /// Each CPU has its `user`, `system`, `idle`, `interrupt`, `softirq` and `unknown time`,
    /// see [`CpuTimes`](super::CpuTimes). The mode of an idle process is `IDLE` in place of
    /// the system call that LTTV takes it for. The idle process of CPU N is called
    /// `swapper/N`.
    ///
    /// The leaves that have them, and their sums, contain `bytes read` and `bytes written`,
    /// and requests to block devices in total and by device.
    ///
    /// # Errors
    ///
    /// Returns an error if an attribute of that name has another type.
    pub fn export(&self, into: &mut Attributes, at: AttributeId) -> Result<(), AttributeError> {
        if !self.is_empty() {
            into.set(at, "start time", self.start())?;
            into.set(at, "end time", self.end())?;
            into.set(at, "duration", Duration::from_nanos(self.time()))?;
        }
        let processes = into.subtree(at, "processes")?;
        let cpus = into.subtree(at, "cpu")?;
        let labels = Labels::of(self);
        for (key, counts) in self.leaves() {
            let sums = Sums { trace: self, labels: &labels, key, counts, by_device: true };
            sums.add_to(into, at)?;
            let cpu = into.subtree(cpus, u64::from(key.cpu))?;
            sums.add_to(into, cpu)?;
            let process = into.subtree(processes, labels.label(key.process))?;
            sums.add_to(into, process)?;
            let of_cpu = into.subtree(process, "cpu")?;
            let cpu = into.subtree(of_cpu, u64::from(key.cpu))?;
            sums.add_to(into, cpu)?;
            let functions = into.subtree(cpu, "functions")?;
            let function = into.subtree(functions, &*format!("{:#x}", key.function))?;
            sums.add_to(into, function)?;
        }
        self.export_cpus(into, cpus)?;
        self.export_facts(into, processes, &labels)?;
        self.export_devices(into, at)
    }

    /// Adds the times of each CPU to its subtree.
    fn export_cpus(&self, into: &mut Attributes, cpus: AttributeId) -> Result<(), AttributeError> {
        for cpu in self.cpus() {
            let place = into.subtree(cpus, u64::from(cpu.number))?;
            for (name, time) in [
                ("user time", cpu.times.user),
                ("system time", cpu.times.system),
                ("idle time", cpu.times.idle),
                ("interrupt time", cpu.times.interrupt),
                ("softirq time", cpu.times.softirq),
                ("unknown time", cpu.times.unknown),
            ] {
                into.set(place, name, Duration::from_nanos(time))?;
            }
        }
        Ok(())
    }

    /// Adds the facts about each device.
    fn export_devices(&self, into: &mut Attributes, at: AttributeId) -> Result<(), AttributeError> {
        if self.devices().is_empty() {
            return Ok(());
        }
        let devices = into.subtree(at, "devices")?;
        for device in self.devices() {
            let place = into.subtree(devices, &*device.number.to_string())?;
            into.set(place, "name", &*device.name)?;
            for (name, value) in [
                ("requests inserted", device.inserted),
                ("requests merged", device.merged),
                ("requests issued", device.issued),
                ("requests completed", device.completed()),
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
        labels: &Labels,
    ) -> Result<(), AttributeError> {
        for sum in self.processes() {
            let Some(facts) = self.process_facts().get(sum.process.index()) else { continue };
            let place = into.subtree(processes, labels.label(sum.process))?;
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
}

/// The labels of the processes of a trace.
struct Labels {
    all: BTreeMap<Serial, String>,
    idle: Vec<Serial>,
}

impl Labels {
    /// Creates the labels: the id and fork time of a process, as in LTTV. If one of them is
    /// unknown, the label contains the serial number, to be unique. An idle process has the
    /// name that Linux gives it.
    fn of(trace: &TraceStatistics) -> Self {
        let mut labels = Labels { all: BTreeMap::new(), idle: Vec::new() };
        for (key, _) in trace.leaves() {
            let facts = trace.process_facts().get(key.process.index());
            let known = facts.and_then(|facts| Some((facts.tid?, facts.start)));
            if let std::collections::btree_map::Entry::Vacant(place) = labels.all.entry(key.process)
            {
                let serial = key.process.0;
                place.insert(match known {
                    Some((IDLE, _)) => format!("swapper/{}", key.cpu),
                    Some((tid, Some(start))) => format!("{tid}-{start}"),
                    Some((tid, None)) => format!("{tid}-0.0 [{serial}]"),
                    None => format!("unknown process [{serial}]"),
                });
                if known.is_some_and(|(tid, _)| tid == IDLE) {
                    labels.idle.push(key.process);
                }
            }
        }
        labels.idle.sort_unstable();
        labels
    }

    /// Returns the label of a process with leaves.
    fn label(&self, process: Serial) -> &str {
        self.all.get(&process).map_or("", String::as_str)
    }

    /// Returns the spelling of the mode of a leaf.
    fn mode(&self, key: &LeafKey) -> &'static str {
        let is_own = key.mode == ExecutionMode::Syscall;
        match is_own && self.idle.binary_search(&key.process).is_ok() {
            true => "IDLE",
            false => key.mode.as_str(),
        }
    }
}

/// The id of the idle processes.
const IDLE: Tid = 0;

/// The counts of a leaf, to be added to sums.
struct Sums<'s> {
    trace: &'s TraceStatistics,
    labels: &'s Labels,
    key: &'s LeafKey,
    counts: &'s Counts,
    /// `true` if requests are also added by device.
    by_device: bool,
}

impl Sums<'_> {
    /// Adds the counts to a subtree, and to the leaf's mode and submode below it.
    fn add_to(&self, into: &mut Attributes, at: AttributeId) -> Result<(), AttributeError> {
        self.add(into, at)?;
        let modes = into.subtree(at, "mode_types")?;
        let mode = into.subtree(modes, self.labels.mode(self.key))?;
        let submodes = into.subtree(mode, "submodes")?;
        let submode = into.subtree(submodes, self.trace.name(self.key.submode))?;
        self.add(into, mode)?;
        self.add(into, submode)
    }

    /// Adds the counts to the attributes of a subtree.
    fn add(&self, into: &mut Attributes, at: AttributeId) -> Result<(), AttributeError> {
        let Sums { trace, counts, .. } = self;
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
        match counts.extra {
            Some(_) => self.add_extra(into, at),
            None => Ok(()),
        }
    }

    /// Adds the counters that only some leaves have.
    fn add_extra(&self, into: &mut Attributes, at: AttributeId) -> Result<(), AttributeError> {
        let Sums { trace, counts, .. } = self;
        let (read, written) = (counts.bytes_read(), counts.bytes_written());
        if (read, written) != (0, 0) {
            sum_up(into, at, "bytes read", read)?;
            sum_up(into, at, "bytes written", written)?;
        }
        for (device, requests) in counts.requests_by_device() {
            let steps = steps(&requests);
            for (name, number) in steps {
                sum_up(into, at, name, number)?;
            }
            let device = device.and_then(|device| trace.devices().get(device));
            if let Some(device) = device.filter(|_| self.by_device) {
                let devices = into.subtree(at, "devices")?;
                let place = into.subtree(devices, &*device.number.to_string())?;
                for (name, number) in steps {
                    sum_up(into, place, name, number)?;
                }
                sum_up(into, place, "bytes read", requests.bytes_read)?;
                sum_up(into, place, "bytes written", requests.bytes_written)?;
            }
        }
        Ok(())
    }
}

/// Returns the numbers of steps of requests, with their names.
fn steps(of: &RequestCounts) -> [(&'static str, u64); 4] {
    [
        ("requests inserted", of.inserted),
        ("requests merged", of.merged),
        ("requests issued", of.issued),
        ("requests completed", of.completed),
    ]
}

fn sum_up(
    into: &mut Attributes,
    at: AttributeId,
    name: &str,
    number: u64,
) -> Result<(), AttributeError> {
    sum::<u64>(into, at, name, |all| *all = all.saturating_add(number))
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
