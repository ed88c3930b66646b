//! The state as tables.

use std::io::{self, Write};

use ltt_read::Timestamp;
use lttv_state::kernel::{IrqMode, NameId, Process, SourceKind, TraceState};

/// Prints the states of all traces.
pub(crate) fn print<'s>(
    out: &mut impl Write,
    time: i64,
    states: impl Iterator<Item = &'s TraceState>,
) -> io::Result<()> {
    for (trace, state) in states.enumerate() {
        writeln!(out, "Trace {trace} at {}", Timestamp::from_ns(time))?;
        cpus(out, state)?;
        processes(out, state)?;
        busy(out, state)?;
        let anomalies = state.anomalies();
        for (name, count) in anomalies.iter().filter(|(_, count)| *count > 0) {
            writeln!(out, "{}: {count}", name.replace('_', " "))?;
        }
    }
    Ok(())
}

fn cpus(out: &mut impl Write, state: &TraceState) -> io::Result<()> {
    writeln!(out, "\n{:>5} {:8} {:>8} NAME", "CPU", "MODE", "TID")?;
    for (number, _) in state.cpus() {
        let running = state.running(number);
        let name = running.map(|process| state.name(process.name())).unwrap_or_default();
        let tid = tid(running.and_then(Process::tid));
        writeln!(out, "{number:>5} {:8} {tid:>8} {name}", state.cpu_mode(number))?;
    }
    Ok(())
}

fn processes(out: &mut impl Write, state: &TraceState) -> io::Result<()> {
    let mut known: Vec<_> = state.processes().map(|(_, process)| process).collect();
    known.retain(|process| process.tid().is_some());
    known.sort_by_key(|process| (process.tid(), process.cpu(), process.serial()));
    writeln!(
        out,
        "\n{:>8} {:>8} {:>8} {:16} {:>3} {:9} {:12} SUBMODE",
        "TID", "PID", "PPID", "NAME", "CPU", "STATUS", "MODE"
    )?;
    for process in known {
        let submode = match process.submode() {
            NameId::NONE | NameId::UNKNOWN => "",
            id => state.name(id),
        };
        let cpu = process.cpu().map_or("?".to_owned(), |cpu| cpu.to_string());
        writeln!(
            out,
            "{:>8} {:>8} {:>8} {:16} {cpu:>3} {:9} {:12} {submode}",
            tid(process.tid()),
            tid(process.pid()),
            tid(process.parent()),
            state.name(process.name()),
            process.status(),
            process.mode(),
        )?;
    }
    Ok(())
}

fn busy(out: &mut impl Write, state: &TraceState) -> io::Result<()> {
    writeln!(out)?;
    for kind in SourceKind::ALL {
        for (number, source) in state.sources(kind).iter().enumerate() {
            if source.mode() == IrqMode::Busy {
                writeln!(out, "{kind:?} {number} ({}): busy", state.name(source.name()))?;
            }
        }
    }
    for device in state.devices() {
        writeln!(
            out,
            "block device {} ({}): {}, {} requests in flight",
            device.number(),
            state.name(device.name()),
            device.mode(),
            device.in_flight()
        )?;
    }
    Ok(())
}

fn tid(tid: Option<i32>) -> String {
    tid.map_or("?".to_owned(), |tid| tid.to_string())
}
