//! The memory maps of processes.

use std::fmt::Write;

use lttv_context::Handle;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes};
use lttv_context::framework::{Failure, Module, ModuleInfo};
use lttv_hooks::Priority;
use lttv_state::kernel::{Backing, KernelState, Mapping, MemoryMaps, TraceState};

use super::print::Style;
use super::table::Table;
use super::{Host, places, report_with};

/// The module `memoryMaps`.
#[derive(Debug)]
pub(super) struct Maps;

impl Module<Host> for Maps {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "memoryMaps",
            summary: "Memory maps of processes at the end",
            description: "Reports the mappings of each process at the end of the trace or at \
                          --end, in traces/[TRACE]/memory_maps/PROCESS/ADDRESS: end, size, access \
                          and contents. Known are the mappings that the process made within the \
                          trace by system calls, those that it inherited, and those in state \
                          dumps.",
            requires: &["batchAnalysis"],
        }
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let kernel = host.data.kernel();
        let maps = host.data.batch.context.attach(MemoryMaps::new(kernel));
        report_with(host, Priority::DEFAULT, move |host| report(host, kernel, maps));
        Ok(())
    }
}

fn report(
    host: &mut Host,
    kernel: Handle<KernelState>,
    maps: Handle<MemoryMaps>,
) -> Result<(), AttributeError> {
    let context = &host.data.batch.context;
    let maps = &context.extensions()[maps];
    for trace in context.contexts().traces() {
        let index = trace.index();
        let Some(state) = context.extensions()[kernel].trace(index) else { continue };
        let mut table = Table::new(format!("Memory maps of trace {}", index.0))
            .numbers(["PID"])
            .text("NAME")
            .numbers(["START", "END"])
            .text("ACCESS")
            .text("CONTENTS");
        let is_text = host.data.style == Style::Text;
        for (_, process) in state.processes() {
            // Threads share the maps of their process.
            let Some(tid) = process.tid().filter(|tid| process.pid().is_none_or(|of| of == *tid))
            else {
                continue;
            };
            let name = state.name(process.name());
            for mapping in maps.of(index, state, process) {
                let (range, contents) = (mapping.addresses(), contents(state, mapping));
                if is_text {
                    table.row([
                        tid.to_string(),
                        name.to_owned(),
                        format!("{:x}", range.start),
                        format!("{:x}", range.end),
                        access(mapping),
                        contents,
                    ]);
                    continue;
                }
                let place = places::of_trace(&mut host.attributes, trace)?;
                let label = format!("{name} ({tid})");
                export(&mut host.attributes, place, &label, mapping, &contents)?;
            }
        }
        if is_text {
            // Writing to a buffer never fails.
            _ = write!(host.data.output.borrow_mut().buffer(), "{table}");
        }
    }
    Ok(())
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

fn export(
    attributes: &mut Attributes,
    place: AttributeId,
    process: &str,
    mapping: &Mapping,
    contents: &str,
) -> Result<(), AttributeError> {
    let all = attributes.subtree(place, "memory_maps")?;
    let of_process = attributes.subtree(all, process)?;
    let range = mapping.addresses();
    let place = attributes.subtree(of_process, &*format!("{:#x}", range.start))?;
    attributes.set(place, "end", &*format!("{:#x}", range.end))?;
    attributes.set(place, "bytes", range.end - range.start)?;
    attributes.set(place, "access", access(mapping))?;
    attributes.set(place, "contents", contents)?;
    Ok(())
}
