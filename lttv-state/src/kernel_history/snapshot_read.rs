//! Reading of snapshots from histories.

use ltt_read::{Timestamp, TraceIndex};

use super::machine::{ANOMALIES, CPU, CPUS, DEVICE, DEVICES, SOURCE, SOURCES, THREAD, THREADS};
use super::snapshot::{CpuState, DeviceState, Snapshot, SourceState, ThreadState};
use crate::history::{History, HistoryError, Interval};
use crate::kernel::{Anomalies, DeviceNumber, SourceKind};
use crate::tree::Quark;
use crate::value::StateValue;

impl Snapshot {
    /// Reads the state of the machine of a trace at a time: the state after all
    /// events with times up to and including `time`. Times before the history yield its
    /// first state, times after it the last one. If the history does not contain the trace,
    /// the snapshot is empty.
    ///
    /// # Errors
    ///
    /// Returns an error if the history is damaged.
    pub fn from_history(
        history: &History,
        trace: TraceIndex,
        time: Timestamp,
    ) -> Result<Snapshot, HistoryError> {
        let t = time.as_ns().clamp(history.first(), history.last());
        let state = history.state_at(Timestamp::from_ns(t))?;
        let at = At { history, state: &state };
        let Some(base) = history.tree().child(Quark::ROOT, &trace.0.to_string()) else {
            return Ok(Snapshot::default());
        };
        let sources = SourceKind::ALL.into_iter().flat_map(|kind| {
            at.group(base, SOURCES[kind as usize]).filter_map(move |(name, quark)| {
                Some((kind, name.parse().ok()?, at.fields(quark, &SOURCE)))
            })
        });
        let sources = sources.map(|(kind, number, [running, name])| SourceState {
            kind,
            number,
            name: text(name),
            running: number32(running),
        });
        let devices = at.group(base, DEVICES).filter_map(|(number, quark)| {
            let (major, minor) = number.split_once(',')?;
            let number = DeviceNumber { major: major.parse().ok()?, minor: minor.parse().ok()? };
            let [mode, name, requests] = at.fields(quark, &DEVICE);
            let mode = mode.as_str()?.parse().ok()?;
            let in_flight = number32(requests).unwrap_or(0);
            Some(DeviceState { number, name: text(name), mode, in_flight })
        });
        let anomalies = Anomalies::default();
        let anomalies = anomalies.iter().filter_map(|(name, _)| {
            let quark = child(history, child(history, base, ANOMALIES)?, name)?;
            Some((name, at.value(quark).as_i64()?.unsigned_abs()))
        });
        Ok(Snapshot {
            cpus: at.group(base, CPUS).filter_map(|(name, cpu)| at.cpu(base, name, cpu)).collect(),
            threads: at.group(base, THREADS).filter_map(|(name, of)| at.thread(name, of)).collect(),
            sources: sources.filter(|s| s.running.is_some() || !s.name.is_empty()).collect(),
            devices: devices.collect(),
            anomalies: anomalies.collect(),
        }
        .sorted())
    }
}

/// The values of all attributes at one time.
#[derive(Clone, Copy)]
struct At<'h, 's> {
    history: &'h History,
    state: &'s [Interval<'h>],
}

impl<'h> At<'h, '_> {
    fn value(&self, quark: Quark) -> StateValue<'h> {
        self.state.get(quark.index()).map_or(StateValue::Null, |interval| interval.value)
    }

    /// Returns the values of an attribute and of some of its children, by their names.
    fn fields<const N: usize>(&self, base: Quark, names: &[&str; N]) -> [StateValue<'h>; N] {
        let of = |name: &&str| match *name {
            "" => self.value(base),
            name => {
                child(self.history, base, name).map_or(StateValue::Null, |quark| self.value(quark))
            }
        };
        names.each_ref().map(of)
    }

    /// Iterates over the attributes in a group with their names.
    fn group(&self, base: Quark, name: &str) -> impl Iterator<Item = (&'h str, Quark)> + use<'h> {
        let tree = self.history.tree();
        let children = child(self.history, base, name).map(|group| tree.children(group));
        children.into_iter().flatten().filter_map(|quark| Some((tree.name(quark)?, quark)))
    }

    /// Reads the state of a CPU; `None` if it has no mode at this time.
    fn cpu(&self, base: Quark, number: &str, quark: Quark) -> Option<CpuState> {
        let [mode, thread, frequency, pending] = self.fields(quark, &CPU);
        let thread = int(thread);
        let name = thread.and_then(|thread| {
            let threads = child(self.history, base, THREADS)?;
            let id = match thread {
                0 => format!("0_{number}"),
                thread => thread.to_string(),
            };
            Some(text(self.fields(child(self.history, threads, &id)?, &["Name"])[0]))
        });
        Some(CpuState {
            number: number.parse().ok()?,
            mode: mode.as_str()?.parse().ok()?,
            thread,
            thread_name: name.unwrap_or_default(),
            frequency: unsigned(frequency),
            pending_softirqs: number32(pending).unwrap_or(0),
        })
    }

    /// Reads the state of a thread; `None` if it does not exist at this time.
    fn thread(&self, id: &str, quark: Quark) -> Option<ThreadState> {
        let [status, mode, submode, name, pid, parent, cpu, kind, brand, executable, function] =
            self.fields(quark, &THREAD);
        Some(ThreadState {
            tid: id.split('_').next()?.parse().ok()?,
            pid: int(pid),
            parent: int(parent),
            name: text(name),
            brand: text(brand),
            executable: text(executable),
            kind: kind.as_str().and_then(|text| text.parse().ok()),
            cpu: number32(cpu),
            // A thread without a status does not exist at this time.
            status: status.as_str()?.parse().ok()?,
            mode: mode.as_str().and_then(|text| text.parse().ok()).unwrap_or_default(),
            submode: text(submode),
            function: unsigned(function).unwrap_or(0),
        })
    }
}

fn child(history: &History, base: Quark, name: &str) -> Option<Quark> {
    history.tree().child(base, name)
}

fn text(value: StateValue<'_>) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn int(value: StateValue<'_>) -> Option<i32> {
    value.as_i64()?.try_into().ok()
}

fn number32(value: StateValue<'_>) -> Option<u32> {
    value.as_i64()?.try_into().ok()
}

fn unsigned(value: StateValue<'_>) -> Option<u64> {
    match value {
        StateValue::U64(number) => Some(number),
        _ => None,
    }
}
