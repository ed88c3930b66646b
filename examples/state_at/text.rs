//! The state as tables.

use std::io::{self, Write};

use ltt_read::Timestamp;
use lttv_state::kernel_history::Snapshot;

/// Prints the states of all traces.
pub(crate) fn print(out: &mut impl Write, time: i64, states: &[Snapshot]) -> io::Result<()> {
    for (trace, state) in states.iter().enumerate() {
        writeln!(out, "Trace {trace} at {}", Timestamp::from_ns(time))?;
        cpus(out, state)?;
        processes(out, state)?;
        busy(out, state)?;
        for (name, count) in &state.anomalies {
            writeln!(out, "{}: {count}", name.replace('_', " "))?;
        }
    }
    Ok(())
}

fn cpus(out: &mut impl Write, state: &Snapshot) -> io::Result<()> {
    writeln!(out, "\n{:>5} {:8} {:>8} NAME", "CPU", "MODE", "TID")?;
    for cpu in &state.cpus {
        let tid = tid(cpu.thread);
        writeln!(out, "{:>5} {:8} {tid:>8} {}", cpu.number, cpu.mode, cpu.thread_name)?;
    }
    Ok(())
}

fn processes(out: &mut impl Write, state: &Snapshot) -> io::Result<()> {
    writeln!(
        out,
        "\n{:>8} {:>8} {:>8} {:16} {:>3} {:9} {:12} SUBMODE",
        "TID", "PID", "PPID", "NAME", "CPU", "STATUS", "MODE"
    )?;
    for process in &state.threads {
        let submode = match process.submode.as_str() {
            "NONE" | "UNKNOWN" => "",
            submode => submode,
        };
        let cpu = process.cpu.map_or("?".to_owned(), |cpu| cpu.to_string());
        writeln!(
            out,
            "{:>8} {:>8} {:>8} {:16} {cpu:>3} {:9} {:12} {submode}",
            process.tid,
            tid(process.pid),
            tid(process.parent),
            process.name,
            process.status,
            process.mode,
        )?;
    }
    Ok(())
}

fn busy(out: &mut impl Write, state: &Snapshot) -> io::Result<()> {
    writeln!(out)?;
    for source in state.sources.iter().filter(|source| source.running > Some(0)) {
        writeln!(out, "{:?} {} ({}): busy", source.kind, source.number, source.name)?;
    }
    for device in &state.devices {
        writeln!(
            out,
            "block device {} ({}): {}, {} requests in flight",
            device.number, device.name, device.mode, device.in_flight
        )?;
    }
    Ok(())
}

fn tid(tid: Option<i32>) -> String {
    tid.map_or("?".to_owned(), |tid| tid.to_string())
}
