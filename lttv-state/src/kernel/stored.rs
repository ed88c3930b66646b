//! The encoding of checkpoints in files, as differences from the checkpoint before.

use std::borrow::Cow;
use std::sync::Arc;

use ltt_read::TraceIndex;
use lttv_context::Codec;
use serde::{Deserialize, Serialize};

use super::anomalies::Anomalies;
use super::cpu::Cpu;
use super::extension::{KernelState, SavedKernelState};
use super::losses::OpenLoss;
use super::machine::SavedState;
use super::names::NameId;
use super::packets::PacketTracker;
use super::process::{OpenFile, ProcessRecord};
use super::resources::{BlockDevice, Source};
use super::table::{ProcessIndex, SavedTable};
use super::validate::{Limits, is_valid};

/// The version of the encoding: increased whenever the same states lead to other bytes.
const FORMAT: u32 = 4;

impl KernelState {
    /// Returns the codec of kernel state checkpoints.
    pub(super) fn stored(&self) -> Codec<KernelState> {
        Codec {
            name: "kernel state",
            version: super::VERSION << 16 | FORMAT,
            options: self.finds_initial_processes().into(),
            write,
            read,
        }
    }
}

/// The encoded form of a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
struct Stored<'b> {
    #[serde(borrow)]
    traces: Vec<StoredTrace<'b>>,
    packets: Cow<'b, [PacketTracker]>,
}

/// The encoded form of a machine's state.
#[derive(Debug, Serialize, Deserialize)]
struct StoredTrace<'b> {
    /// The names that were added.
    #[serde(borrow)]
    names: Vec<&'b str>,
    /// The processes that changed or were added, in the order of their places.
    processes: Vec<StoredProcess<'b>>,
    free: Cow<'b, [u32]>,
    next_serial: u32,
    cpus: Cow<'b, [Cpu]>,
    frequencies: Cow<'b, [(u32, u64)]>,
    sources: [Cow<'b, [Source]>; 4],
    devices: Cow<'b, [BlockDevice]>,
    /// The owners of file tables, ordered by table.
    file_tables: Vec<(u64, ProcessIndex)>,
    /// The symbols of probes, if they changed.
    probes: Option<Cow<'b, [(u64, NameId)]>>,
    /// The names of system calls, if they changed.
    syscalls: Option<Cow<'b, [NameId]>>,
    anomalies: Anomalies,
    losses: Cow<'b, [OpenLoss]>,
    scan_budget: u64,
}

/// The encoded form of a process.
#[derive(Debug, Serialize, Deserialize)]
struct StoredProcess<'b> {
    place: u32,
    process: Cow<'b, ProcessRecord>,
    /// The open files, if they differ from those of the previous process at that place.
    files: Option<Cow<'b, [OpenFile]>>,
}

/// Encodes a checkpoint as differences from the one before.
fn write(saved: &SavedKernelState, before: Option<&SavedKernelState>, out: &mut Vec<u8>) {
    let traces = saved.traces.iter().enumerate();
    let traces = traces
        .map(|(at, trace)| StoredTrace::of(trace, before.and_then(|before| before.traces.get(at))));
    let stored = Stored { traces: traces.collect(), packets: Cow::Borrowed(&saved.packets) };
    // Writing to memory does not fail; an empty result would be rejected by the reader.
    *out = postcard::to_extend(&stored, std::mem::take(out)).unwrap_or_default();
}

/// Decodes a checkpoint. Returns `None` if it does not fit the traces or is invalid.
fn read(
    of: &KernelState,
    bytes: &[u8],
    before: Option<&SavedKernelState>,
) -> Option<SavedKernelState> {
    let traces = (0..of.traces().len()).map(TraceIndex);
    of.decode(traces, of.tracefiles(), bytes, before)
}

impl KernelState {
    /// Decodes the state of a trace with a number of tracefiles. Returns `None` if it does not fit the
    /// trace or is invalid.
    pub(super) fn read_trace(
        &self,
        trace: TraceIndex,
        tracefiles: usize,
        bytes: &[u8],
        before: Option<&SavedKernelState>,
    ) -> Option<SavedKernelState> {
        self.decode(std::iter::once(trace), tracefiles, bytes, before)
    }

    /// Decodes the states of some traces, which have a number of tracefiles.
    fn decode(
        &self,
        of: impl ExactSizeIterator<Item = TraceIndex>,
        tracefiles: usize,
        bytes: &[u8],
        before: Option<&SavedKernelState>,
    ) -> Option<SavedKernelState> {
        let (stored, rest) = postcard::take_from_bytes::<Stored<'_>>(bytes).ok()?;
        let fits = stored.traces.len() == of.len() && stored.packets.len() == tracefiles;
        if !rest.is_empty() || !fits {
            return None;
        }
        let traces = stored.traces.into_iter().zip(of).enumerate().map(|(at, (trace, of))| {
            let before = before.and_then(|before| before.traces.get(at));
            trace.restored(&self.limits(of)?, before)
        });
        let packets = match before {
            Some(before) if *before.packets == *stored.packets => before.packets.clone(),
            _ => Arc::from(&*stored.packets),
        };
        Some(SavedKernelState { traces: traces.collect::<Option<_>>()?, packets })
    }
}

/// Returns the elements of a vector, if it is not shared with the previous checkpoint.
fn if_changed<'b, T: Clone>(
    now: &'b Arc<Vec<T>>,
    before: Option<&Arc<Vec<T>>>,
) -> Option<Cow<'b, [T]>> {
    let same = before.is_some_and(|before| Arc::ptr_eq(now, before));
    (!same).then(|| Cow::Borrowed(now.as_slice()))
}

/// Returns the stored vector, or that of the previous checkpoint if none was stored. `None`
/// if there is no previous checkpoint either.
fn stored_or_before<T: Clone>(
    stored: Option<Cow<'_, [T]>>,
    before: Option<&Arc<Vec<T>>>,
) -> Option<Arc<Vec<T>>> {
    match stored {
        Some(stored) => Some(Arc::new(stored.into_owned())),
        None => before.cloned(),
    }
}

impl<'b> StoredTrace<'b> {
    /// Creates the encoded form of a state, with the parts that differ from `before`.
    fn of(saved: &'b SavedState, before: Option<&SavedState>) -> Self {
        let known = before.map_or(0, |before| before.names.len());
        let slots = (0..).zip(&saved.processes.slots);
        let processes = slots.filter_map(|(place, process)| {
            let before = before.and_then(|before| before.processes.slots.get(place as usize));
            if before.is_some_and(|before| Arc::ptr_eq(before, process)) {
                return None;
            }
            let files = if_changed(&process.files, before.map(|before| &before.files));
            Some(StoredProcess { place, process: Cow::Borrowed(&**process), files })
        });
        let mut file_tables: Vec<_> =
            saved.file_tables.iter().map(|(table, of)| (*table, *of)).collect();
        file_tables.sort_unstable();
        StoredTrace {
            names: saved.names.texts_from(known).map(|name| &**name).collect(),
            processes: processes.collect(),
            free: Cow::Borrowed(&saved.processes.free),
            next_serial: saved.processes.next_serial,
            cpus: Cow::Borrowed(&saved.cpus),
            frequencies: Cow::Borrowed(&saved.frequencies),
            sources: saved.sources.each_ref().map(|sources| Cow::Borrowed(sources.as_slice())),
            devices: Cow::Borrowed(&saved.devices),
            file_tables,
            probes: if_changed(&saved.probes, before.map(|before| &before.probes)),
            syscalls: if_changed(&saved.syscalls, before.map(|before| &before.syscalls)),
            anomalies: saved.anomalies,
            losses: Cow::Borrowed(&saved.losses),
            scan_budget: saved.scan_budget,
        }
    }

    /// Returns the decoded state; `None` if it is invalid.
    fn restored(self, limits: &Limits<'_>, before: Option<&SavedState>) -> Option<SavedState> {
        let mut names = before.map(|before| before.names.clone()).unwrap_or_default();
        names.append(self.names.into_iter());
        let mut slots = before.map(|before| before.processes.slots.clone()).unwrap_or_default();
        let mut places = Vec::new();
        for StoredProcess { place, process, files } in self.processes {
            let place = place as usize;
            let mut process = process.into_owned();
            process.files = stored_or_before(files, slots.get(place).map(|before| &before.files))?;
            let process = Arc::new(process);
            // The processes are in the order of their places.
            if place == slots.len() {
                slots.push(process);
            } else {
                *slots.get_mut(place)? = process;
            }
            places.push(place);
        }
        let restored = SavedState {
            names,
            processes: SavedTable {
                slots,
                free: self.free.into_owned(),
                next_serial: self.next_serial,
            },
            cpus: self.cpus.into_owned(),
            frequencies: self.frequencies.into_owned(),
            sources: self.sources.map(Cow::into_owned),
            devices: self.devices.into_owned(),
            file_tables: self.file_tables.into_iter().collect(),
            probes: stored_or_before(self.probes, before.map(|before| &before.probes))?,
            syscalls: stored_or_before(self.syscalls, before.map(|before| &before.syscalls))?,
            anomalies: self.anomalies,
            losses: self.losses.into_owned(),
            scan_budget: self.scan_budget,
        };
        is_valid(&restored, limits, before, &places).then_some(restored)
    }
}

#[cfg(test)]
mod tests {
    use lttv_context::{Bounds, Extension, Traceset, TracesetContext};

    use super::*;

    /// The version of the encoding, and a checksum of the encoded checkpoints of the
    /// bundled trace.
    const STORED: (u32, u32) = (0xf_0004, 0x9922_c8d6);

    #[test]
    fn version_changes_with_encoded_bytes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
        let mut context = TracesetContext::new(Traceset::open(path).expect("a trace"));
        let kernel = context.attach(KernelState::new());
        let mut sum = crc32fast::Hasher::new();
        let mut before: Option<SavedKernelState> = None;
        while context
            .state()
            .replay(&Bounds::all().events(500))
            .expect("bounds without a position")
            .events
            > 0
        {
            let saved = context.extensions()[kernel].save();
            let mut bytes = Vec::new();
            write(&saved, before.as_ref(), &mut bytes);
            sum.update(&bytes);
            before = Some(saved);
        }
        let now = (context.extensions()[kernel].stored().version, sum.finalize());
        let (version, sum) = now;
        assert!(
            now == STORED,
            "the encoded checkpoints of the bundled trace, or their version, have changed: old files \
             would be misread. If states differ from before, increment `kernel::VERSION`; \
             if only their bytes differ, increment `FORMAT` in this file. Then set `STORED` \
             to ({version:#x}, {sum:#x})"
        );
        assert!(before.is_some_and(|last| last.traces.len() == 1));
    }
}
