//! The use of CPUs, memory and network.

use std::time::Duration;

use ltt_read::TraceIndex;
use lttv_common::kernel_trace;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes, Name};
use lttv_context::framework::{Failure, Module, ModuleInfo};
use lttv_hooks::Priority;
use lttv_state::analysis::{Attached, attach};
use lttv_state::usage::{Figure, Pages, TraceUsage, Traffic, UsageAnalysis, UsageOptions};

use super::print::{self, Style};
use super::{Host, places, report_with};
use crate::tables::usage::{self as tables, Shown};

/// The module `usage`.
#[derive(Debug)]
pub(super) struct Usages;

impl Module<Host> for Usages {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "usage",
            summary: "The use of CPUs, memory and network by threads, processes and interfaces",
            description: "Reports how long CPUs were busy, with switches, migrations and mean \
                          frequencies; the same for threads and processes, with the memory pages and \
                          packets of each; and packets by network interface. In \
                          traces/[TRACE]/usage. A figure whose events were not recorded is left \
                          out, and `missing` names them.",
            requires: &["batchAnalysis"],
        }
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let work = &mut host.data;
        if !work.has(&kernel_trace::USAGE) {
            return Ok(());
        }
        let kernel = work.kernel_at_begin();
        let (context, window) = (&mut work.batch.context, work.window.range());
        let handle = attach(context, kernel, window, UsageAnalysis::new(UsageOptions::new()));
        report_with(host, Priority::DEFAULT, move |host| report(host, handle));
        Ok(())
    }
}

fn report(host: &mut Host, handle: Attached<UsageAnalysis>) -> Result<(), AttributeError> {
    let reached = host.data.interrupted_at();
    let extensions = host.data.batch.context.extensions_mut();
    let usage = match reached {
        Some(time) => handle.take_until(extensions, time),
        None => handle.take(extensions),
    };
    let spans = host.data.spans();
    for (index, _) in (0..).map(TraceIndex).zip(spans).filter(|(_, span)| span.is_some()) {
        let Some(of) = usage.traces().get(index.0).filter(|of| !of.cpus().is_empty()) else {
            continue;
        };
        if host.data.style == Style::Text {
            let traces = vec![(index, of)];
            let mut all = Shown { traces, has_traces: false, has_intervals: false }.tables();
            all.retain(|table| !table.rows().is_empty());
            print::tables(&mut host.data.output.borrow_mut(), &all);
        } else {
            let trace = &host.data.batch.context.contexts().traces()[index.0];
            let place = places::of_trace(&mut host.attributes, trace)?;
            let place = host.attributes.subtree(place, "usage")?;
            export(&mut host.attributes, place, of)?;
        }
    }
    Ok(())
}

fn export(
    attributes: &mut Attributes,
    place: AttributeId,
    of: &TraceUsage,
) -> Result<(), AttributeError> {
    let missing = tables::missing(of);
    if !missing.is_empty() {
        attributes.set(place, "missing", &*missing.join(", "))?;
    }
    let total = of.total();
    attributes.set(place, "switches", total.switches)?;
    set_recorded(attributes, place, of, &work(total.migrations, total.pages, total.sent))?;
    set_recorded(attributes, place, of, &received(total.received))?;
    let again = [(Figure::Retransmissions, "retransmissions", total.retransmissions)];
    set_recorded(attributes, place, of, &again)?;
    let all = attributes.subtree(place, "cpus")?;
    for cpu in of.cpus() {
        let place = attributes.subtree(all, Name::Index(cpu.sum.number.into()))?;
        let times = [
            ("busy_time", cpu.sum.busy_time),
            ("idle_time", cpu.sum.idle_time),
            ("unknown_time", cpu.sum.unknown_time),
        ];
        for (name, time) in times {
            attributes.set(place, name, Duration::from_nanos(time))?;
        }
        attributes.set(place, "switches", cpu.switches)?;
        if let Some(frequency) = &cpu.frequency {
            attributes.set(place, "frequency_hz", frequency.mean_hz)?;
        }
    }
    let all = attributes.subtree(place, "processes")?;
    for process in of.processes() {
        let place = attributes.subtree(all, &*process.pid.to_string())?;
        attributes.set(place, "command", &*process.name)?;
        attributes.set(place, "threads", process.threads)?;
        attributes.set(place, "cpu_time", Duration::from_nanos(process.cpu_time))?;
        attributes.set(place, "switches", process.switches)?;
        set_recorded(
            attributes,
            place,
            of,
            &work(process.migrations, process.pages, process.sent),
        )?;
    }
    // Ids of threads are used again, so that the number of a thread is its place among all.
    let all = attributes.subtree(place, "threads")?;
    for thread in of.threads() {
        let Some(facts) = of.thread_facts().get(thread.thread.index()) else { continue };
        let place = attributes.subtree(all, Name::Index(thread.thread.index() as u64))?;
        if let Some(tid) = facts.tid {
            attributes.set(place, "tid", tid)?;
        }
        attributes.set(place, "command", &*facts.name)?;
        attributes.set(place, "cpu_time", Duration::from_nanos(thread.cpu_time))?;
        attributes.set(place, "switches", thread.switches)?;
        set_recorded(attributes, place, of, &work(thread.migrations, thread.pages, thread.sent))?;
    }
    let all = attributes.subtree(place, "interfaces")?;
    for interface in of.interfaces() {
        let name = if interface.name.is_empty() { "unknown" } else { &interface.name };
        let place = attributes.subtree(all, name)?;
        set_recorded(attributes, place, of, &sent(interface.sent))?;
        set_recorded(attributes, place, of, &received(interface.received))?;
    }
    Ok(())
}

/// A number, its name, and the figure that must have been recorded.
type Count = (Figure, &'static str, u64);

/// Sets the numbers that were recorded.
fn set_recorded(
    attributes: &mut Attributes,
    place: AttributeId,
    of: &TraceUsage,
    counts: &[Count],
) -> Result<(), AttributeError> {
    for (figure, name, count) in counts {
        if of.is_recorded(*figure) {
            attributes.set(place, *name, *count)?;
        }
    }
    Ok(())
}

/// Returns the numbers of what threads did.
fn work(migrations: u64, pages: Pages, packets: Traffic) -> Vec<Count> {
    let mut counts = vec![
        (Figure::Migrations, "migrations", migrations),
        (Figure::Pages, "pages_allocated", pages.allocated),
        (Figure::Pages, "pages_freed", pages.freed),
        (Figure::Pages, "allocation_failures", pages.failures),
    ];
    counts.extend(sent(packets));
    counts
}

fn sent(of: Traffic) -> [Count; 2] {
    [(Figure::Sent, "sent_packets", of.packets), (Figure::Sent, "sent_bytes", of.bytes)]
}

fn received(of: Traffic) -> [Count; 2] {
    [
        (Figure::Received, "received_packets", of.packets),
        (Figure::Received, "received_bytes", of.bytes),
    ]
}
