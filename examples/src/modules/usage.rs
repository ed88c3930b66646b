//! The use of CPUs, memory and network.

use std::time::Duration;

use ltt_read::TraceIndex;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes, Name};
use lttv_context::framework::{BatchEnd, BatchOutcome, Failure, Module, ModuleInfo};
use lttv_hooks::Priority;
use lttv_state::usage::{Figure, Pages, TraceUsage, Traffic, Usage, UsageHandle, UsageOptions};

use super::print::{self, Style};
use super::{Host, places, report_with};
use crate::kernel_trace;
use crate::usage_tables::{self, Tables};

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
        let handle = Usage::attach_window(context, kernel, window, UsageOptions::new());
        report_with(host, Priority::DEFAULT, move |host| report(host, handle));
        Ok(())
    }
}

fn report(host: &mut Host, handle: UsageHandle) -> Result<(), AttributeError> {
    let was_cancelled = |end: &BatchEnd| end.outcome != BatchOutcome::Complete;
    let context = &mut host.data.batch.context;
    let reached = host.data.end.as_ref().filter(|end| was_cancelled(end));
    let usage = match reached.and_then(|_| context.position().time()) {
        Some(time) => handle.take_until(context.extensions(), time),
        None => handle.take(context.extensions()),
    };
    let spans = host.data.spans();
    for (index, _) in (0..).map(TraceIndex).zip(spans).filter(|(_, span)| span.is_some()) {
        let Some(of) = usage.traces().get(index.0).filter(|of| !of.cpus().is_empty()) else {
            continue;
        };
        if host.data.style == Style::Text {
            let mut tables = Tables::new(false, false);
            tables.add(index, of);
            let all = tables.finish();
            let all: Vec<_> = all.into_iter().filter(|table| !table.rows().is_empty()).collect();
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
    let missing = usage_tables::missing(of);
    if !missing.is_empty() {
        attributes.set(place, "missing", &*missing.join(", "))?;
    }
    let total = of.total();
    let set = Export { of };
    set.switches(attributes, place, total.switches, total.migrations)?;
    set.pages(attributes, place, total.pages)?;
    set.traffic(attributes, place, total.sent, Some(total.received))?;
    if of.is_recorded(Figure::Retransmissions) {
        attributes.set(place, "retransmissions", total.retransmissions)?;
    }
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
        set.switches(attributes, place, process.switches, process.migrations)?;
        set.pages(attributes, place, process.pages)?;
        set.traffic(attributes, place, process.sent, None)?;
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
        set.switches(attributes, place, thread.switches, thread.migrations)?;
        set.pages(attributes, place, thread.pages)?;
        set.traffic(attributes, place, thread.sent, None)?;
    }
    let all = attributes.subtree(place, "interfaces")?;
    for interface in of.interfaces() {
        let name = if interface.name.is_empty() { "unknown" } else { &interface.name };
        let place = attributes.subtree(all, name)?;
        set.traffic(attributes, place, interface.sent, Some(interface.received))?;
    }
    Ok(())
}

/// The export of figures of a trace, as far as they were recorded.
#[derive(Debug, Clone, Copy)]
struct Export<'u> {
    of: &'u TraceUsage,
}

impl Export<'_> {
    fn set(
        self,
        attributes: &mut Attributes,
        place: AttributeId,
        figure: Figure,
        counts: &[(&str, u64)],
    ) -> Result<(), AttributeError> {
        if self.of.is_recorded(figure) {
            for (name, count) in counts {
                attributes.set(place, *name, *count)?;
            }
        }
        Ok(())
    }

    fn switches(
        self,
        attributes: &mut Attributes,
        place: AttributeId,
        switches: u64,
        migrations: u64,
    ) -> Result<(), AttributeError> {
        attributes.set(place, "switches", switches)?;
        self.set(attributes, place, Figure::Migrations, &[("migrations", migrations)])
    }

    fn pages(
        self,
        attributes: &mut Attributes,
        place: AttributeId,
        of: Pages,
    ) -> Result<(), AttributeError> {
        let counts = [
            ("pages_allocated", of.allocated),
            ("pages_freed", of.freed),
            ("allocation_failures", of.failures),
        ];
        self.set(attributes, place, Figure::Pages, &counts)
    }

    fn traffic(
        self,
        attributes: &mut Attributes,
        place: AttributeId,
        sent: Traffic,
        received: Option<Traffic>,
    ) -> Result<(), AttributeError> {
        let counts = [("sent_packets", sent.packets), ("sent_bytes", sent.bytes)];
        self.set(attributes, place, Figure::Sent, &counts)?;
        let Some(received) = received else { return Ok(()) };
        let counts = [("received_packets", received.packets), ("received_bytes", received.bytes)];
        self.set(attributes, place, Figure::Received, &counts)
    }
}
