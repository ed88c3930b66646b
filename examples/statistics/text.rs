//! Statistics as tables, and as a tree.

use std::io::{self, Write};
use std::time::Duration;

use lttv_context::attributes::{AttributeId, AttributeValue, Attributes, Indented};
use lttv_state::stats::{Statistics, TraceStatistics};

use crate::json::busiest;

/// Prints the tables of all traces, and the tree unless the number of processes is limited.
pub(crate) fn print(
    out: &mut impl Write,
    statistics: &Statistics,
    top: Option<usize>,
) -> Result<(), Box<dyn std::error::Error>> {
    for (index, trace) in statistics.traces().iter().enumerate() {
        let duration = AttributeValue::from(Duration::from_nanos(trace.time()));
        writeln!(out, "Trace {index}: {} to {}, {duration}", trace.start(), trace.end())?;
        cpus(out, trace)?;
        processes(out, trace, top)?;
        devices(out, trace)?;
    }
    if top.is_none() {
        let mut tree = Attributes::new();
        statistics.export(&mut tree, AttributeId::ROOT)?;
        writeln!(out, "\n{}", Indented(&tree))?;
    }
    Ok(())
}

/// Returns a part of a whole in per cent.
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

fn cpus(out: &mut impl Write, trace: &TraceStatistics) -> io::Result<()> {
    writeln!(
        out,
        "\n{:>5} {:>8} {:>8} {:>8} {:>11} {:>9} {:>8} {:>10} {:>12} {:>13}",
        "CPU",
        "USER %",
        "SYSTEM %",
        "IDLE %",
        "INTERRUPT %",
        "SOFTIRQ %",
        "? %",
        "EVENTS",
        "READ bytes",
        "WRITTEN bytes"
    )?;
    for cpu in trace.cpus() {
        let of = |time| percent(time, trace.time());
        let bytes = trace.sum(|leaf| leaf.cpu == cpu.number);
        writeln!(
            out,
            "{:>5} {:>8.3} {:>8.3} {:>8.3} {:>11.3} {:>9.3} {:>8.3} {:>10} {:>12} {:>13}",
            cpu.number,
            of(cpu.times.user),
            of(cpu.times.system),
            of(cpu.times.idle),
            of(cpu.times.interrupt),
            of(cpu.times.softirq),
            of(cpu.times.unknown),
            cpu.events,
            bytes.bytes_read(),
            bytes.bytes_written()
        )?;
    }
    Ok(())
}

fn processes(out: &mut impl Write, trace: &TraceStatistics, top: Option<usize>) -> io::Result<()> {
    writeln!(
        out,
        "\n{:>8} {:>8} {:16} {:>8} {:>14} {:>14} {:>14} {:>12} {:>12}",
        "TID",
        "PID",
        "NAME",
        "CPU %",
        "CPU ns",
        "USER ns",
        "SYSTEM ns",
        "READ bytes",
        "WRITTEN bytes"
    )?;
    for sum in busiest(trace, top) {
        let Some(facts) = trace.process_facts().get(sum.process.index()) else { continue };
        let id = |id: Option<i32>| id.map_or("?".to_owned(), |id| id.to_string());
        writeln!(
            out,
            "{:>8} {:>8} {:16} {:>8.3} {:>14} {:>14} {:>14} {:>12} {:>12}",
            id(facts.tid),
            id(facts.pid),
            facts.name,
            percent(sum.cpu_time, trace.time()),
            sum.cpu_time,
            sum.user_time,
            sum.system_time,
            facts.bytes_read,
            facts.bytes_written
        )?;
    }
    Ok(())
}

fn devices(out: &mut impl Write, trace: &TraceStatistics) -> io::Result<()> {
    for device in trace.devices() {
        writeln!(
            out,
            "\nBlock device {} ({}): {:.3} % busy, {:.3} requests on average; \
             {} inserted, {} merged, {} issued, {} completed; \
             {} read ({} bytes), {} wrote ({} bytes), {} others",
            device.number,
            device.name,
            percent(device.busy_time, trace.time()),
            device.average_queue_length(trace.time()),
            device.inserted,
            device.merged,
            device.issued,
            device.completed(),
            device.reads,
            device.bytes_read,
            device.writes,
            device.bytes_written,
            device.others
        )?;
    }
    Ok(())
}
