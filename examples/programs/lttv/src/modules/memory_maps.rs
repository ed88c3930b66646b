//! The memory maps of processes.

use ltt_read::TraceIndex;
use lttv_common::table::Table;
use lttv_context::Handle;
use lttv_context::framework::ModuleInfo;
use lttv_state::kernel::{Backing, KernelState, Mapping, MemoryMaps, TraceState};

use super::Host;
use super::analysis::AnalysisModule;

/// Returns the module `memoryMaps`.
pub(super) fn module() -> AnalysisModule {
    let info = ModuleInfo {
        name: "memoryMaps",
        summary: "Memory maps of processes at the end",
        description: "Reports the mappings of each process at the end of the trace or at --end: \
                      addresses, size, access and contents. Known are the mappings that the \
                      process made within the trace by system calls, those that it inherited, and \
                      those in state dumps.",
        requires: &["batchAnalysis"],
    };
    AnalysisModule::new(info, |host| {
        let kernel = host.data.kernel();
        let maps = host.data.batch.context.attach(MemoryMaps::new(kernel));
        Ok(Some(Box::new(move |host| Ok(vec![table(host, kernel, maps)]))))
    })
}

/// A mapping of a process.
struct Row<'m> {
    trace: TraceIndex,
    pid: i32,
    name: &'m str,
    of: &'m Mapping,
    contents: String,
}

fn table(host: &Host, kernel: Handle<KernelState>, maps: Handle<MemoryMaps>) -> Table {
    let context = &host.data.batch.context;
    let maps = &context.extensions()[maps];
    let mut rows = Vec::new();
    for (trace, state) in (0..).map(TraceIndex).zip(context.extensions()[kernel].traces()) {
        for (_, process) in state.processes() {
            // Threads share the maps of their process.
            let is_process = |tid: &i32| process.pid().is_none_or(|pid| pid == *tid);
            let Some(pid) = process.tid().filter(is_process) else { continue };
            let name = state.name(process.name());
            rows.extend(maps.of(trace, state, process).iter().map(|of| {
                let contents = contents(state, of);
                Row { trace, pid, name, of, contents }
            }));
        }
    }
    Table::of("memory_maps", "Memory maps", &rows)
        .trace_if(host.data.has_traces(), |row| row.trace)
        .integer("pid", "PID", |row| row.pid)
        .text("name", "NAME", |row| row.name)
        .text("start", "START", |row| format!("{:x}", row.of.addresses().start))
        .text("end", "END", |row| format!("{:x}", row.of.addresses().end))
        .bytes("bytes", "BYTES", |row| row.of.addresses().end - row.of.addresses().start)
        .text("access", "ACCESS", |row| access(row.of))
        .text("contents", "CONTENTS", |row| row.contents.as_str())
        .build()
}

/// Returns the permissions in the form of `/proc/PID/maps`.
fn access(of: &Mapping) -> String {
    let letter = |is, letter| if is { letter } else { '-' };
    [
        letter(of.is_readable(), 'r'),
        letter(of.is_writable(), 'w'),
        letter(of.is_executable(), 'x'),
        if of.is_shared() { 's' } else { 'p' },
    ]
    .into_iter()
    .collect()
}

/// Returns a text about the contents of a mapping.
fn contents(state: &TraceState, of: &Mapping) -> String {
    match of.backing() {
        Backing::Heap => "[heap]".to_owned(),
        Backing::File { descriptor, name, offset } => match state.name(name) {
            "" => format!("descriptor {descriptor} at {offset:#x}"),
            name => format!("{name} at {offset:#x}"),
        },
        Backing::Inode { number, offset } => format!("inode {number} at {offset:#x}"),
        _ => "[memory]".to_owned(),
    }
}
