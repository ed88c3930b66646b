//! Validation of states from checkpoint files. The analysis relies on the properties
//! checked here, such as indices that are in range.

use super::cpu::MAX_CPUS;
use super::machine::{
    MAX_DEPTH, MAX_FILE_TABLES, MAX_FUNCTIONS, MAX_PROBES, MAX_SCAN_BUDGET, MAX_SYSCALLS,
    SavedState,
};
use super::names::{NameId, Names};
use super::process::{ProcessRecord, TID_END};
use super::resources::{MAX_DEVICES, MAX_SOURCES};
use super::table::SavedTable;

/// The limits of a state that depend on its trace.
#[derive(Debug)]
pub(super) struct Limits<'m> {
    /// The names before the first event.
    pub(super) names: &'m Names,
    /// The maximum number of processes in the trace.
    pub(super) processes: u64,
}

/// The maximum number of losses of a trace that are known ahead: at most one of each tracefile.
const MAX_LOSSES: usize = 1 << 20;

/// The exclusive upper limit of counters.
const MAX_COUNT: u64 = 1 << 62;

/// Returns `true` if a state is valid as a state of the machine after `before`, which is
/// valid. `places` are the places in which its processes differ from those of `before`.
pub(super) fn is_valid(
    state: &SavedState,
    limits: &Limits<'_>,
    before: Option<&SavedState>,
    places: &[usize],
) -> bool {
    let is_name = |name: NameId| name.index() < state.names.len();
    let is_first = before.is_none();
    let initial = state.names.texts().zip(&limits.names.texts).all(|(a, b)| a == b);
    let names = !is_first || initial && state.names.len() >= limits.names.len();
    let slots = state.processes.slots.len();
    let mut numbers: Vec<u32> = state.cpus.iter().map(|cpu| cpu.number()).collect();
    numbers.sort_unstable();
    let cpus = state.cpus.len() <= MAX_CPUS
        && numbers.is_sorted_by(|a, b| a < b)
        && state.frequencies.len() <= MAX_CPUS
        && state.frequencies.is_sorted_by(|a, b| a.0 < b.0)
        && (state.cpus.iter().flat_map(|cpu| [cpu.running, cpu.idle, cpu.unknown_process]))
            .all(|ix| ix.index() < slots);
    let sources = state.sources.iter().all(|sources| {
        sources.len() <= MAX_SOURCES as usize + 1
            && sources.iter().all(|source| {
                is_name(source.name) && source.entries < MAX_COUNT && source.running <= 1 << 30
            })
    });
    let devices = state.devices.len() <= MAX_DEVICES
        && state.devices.iter().all(|device| is_name(device.name));
    let file_tables = state.file_tables.len() <= MAX_FILE_TABLES
        && state.file_tables.values().all(|ix| ix.index() < slots);
    let probes = state.probes.len() <= MAX_PROBES
        && state.probes.is_sorted_by(|a, b| a.0 < b.0)
        && state.probes.iter().all(|(_, name)| is_name(*name));
    let syscalls =
        state.syscalls.len() <= MAX_SYSCALLS && state.syscalls.iter().all(|name| is_name(*name));
    let losses = state.losses.len() <= MAX_LOSSES
        && state.losses.is_sorted_by(|a, b| a.time <= b.time)
        && state.losses.iter().all(|loss| (loss.place as usize) < state.cpus.len());
    let counts = losses
        && state.scan_budget <= MAX_SCAN_BUDGET
        && state.anomalies.iter().all(|(_, count)| count < MAX_COUNT);
    let processes = is_table(&state.processes, limits, before.map(|before| &before.processes))
        && places.iter().all(|place| {
            let process = state.processes.slots.get(*place);
            process.is_some_and(|process| is_process(process, &state.processes, is_name))
        });
    names && cpus && sources && devices && file_tables && probes && syscalls && counts && processes
}

/// Returns `true` if the free list and the serial numbers of a process table are valid.
fn is_table(table: &SavedTable, limits: &Limits<'_>, before: Option<&SavedTable>) -> bool {
    let mut free = table.free.clone();
    free.sort_unstable();
    let is_free = |place: u32| {
        let slot = table.slots.get(place as usize);
        place > 0 && slot.is_some_and(|process| !process.alive)
    };
    // The first place is never alive.
    table.slots.first().is_some_and(|first| !first.alive)
        && free.is_sorted_by(|a, b| a < b)
        && free.into_iter().all(is_free)
        && before.is_none_or(|before| before.next_serial <= table.next_serial)
        && u64::from(table.next_serial) <= limits.processes
}

/// Returns `true` if a process is valid in a table.
fn is_process(
    process: &ProcessRecord,
    table: &SavedTable,
    is_name: impl Fn(NameId) -> bool,
) -> bool {
    (1..=MAX_DEPTH).contains(&process.stack.len())
        && process.stack.iter().all(|frame| is_name(frame.submode))
        && [process.name, process.brand, process.executable, process.opening]
            .into_iter()
            .all(&is_name)
        && process.files.is_sorted_by(|a, b| a.descriptor < b.descriptor)
        && process.files.iter().all(|file| is_name(file.name))
        && process.functions.len() <= MAX_FUNCTIONS
        && process.tid.is_none_or(|tid| (0..TID_END).contains(&tid))
        && (process.serial.0 < table.next_serial || !process.alive)
        && process.exit_signs <= 2
}
