//! Latencies of threads, system calls, interrupts and disks.

use std::time::Duration;

use crate::tables::latency::{self as tables, Choice};
use ltt_read::{TimeSpan, TraceIndex};
use lttv_common::kernel_trace;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes};
use lttv_context::framework::{Failure, Module, ModuleInfo};
use lttv_hooks::Priority;
use lttv_state::analysis::{Attached, attach};
use lttv_state::latency::{By, Distribution, Family, LatencyAnalysis, Settings, TraceLatency};

use super::print::{self, Style};
use super::{Host, places, report_with};

/// The module `latency`.
#[derive(Debug)]
pub(super) struct Latency;

impl Module<Host> for Latency {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "latency",
            summary: "How long waits for CPUs, system calls, interrupts and requests to disks take",
            description: "Reports for each family of durations, in traces/[TRACE]/latency/FAMILY: \
                          their number, total, mean, standard deviation (of a sample), least and \
                          greatest, and percentiles with an error of at most 1 %. The same for \
                          each subject, such as a system call, in FAMILY/subjects/SUBJECT. A family \
                          whose events were not recorded has only their names, in `missing`. \
                          Durations that end between --begin and --end are counted, from their \
                          true begin.",
            requires: &["batchAnalysis"],
        }
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let work = &mut host.data;
        if !work.has(&kernel_trace::LATENCY) {
            return Ok(());
        }
        let kernel = work.kernel_at_begin();
        let (context, window) = (&mut work.batch.context, work.window.range());
        let handle = attach(context, kernel, window, LatencyAnalysis::new(Settings::new()));
        if let Some(begin) = work.window.begin {
            // What is open there is known only from the events before it.
            context.seek_time_with_state(begin);
        }
        report_with(host, Priority::DEFAULT, move |host| report(host, handle));
        Ok(())
    }
}

fn report(host: &mut Host, handle: Attached<LatencyAnalysis>) -> Result<(), AttributeError> {
    for (index, span) in (0..).map(TraceIndex).zip(host.data.spans()) {
        let Some(TimeSpan { end, .. }) = span else { continue };
        let latency = handle.take_until(host.data.batch.context.extensions_mut(), end);
        let Some(of) = latency.trace(index) else { continue };
        if host.data.style == Style::Text {
            let choice = Choice {
                families: Vec::new(),
                by: By::Subject,
                rows: Some(10),
                bins: None,
                has_traces: false,
            };
            let of = [(index, of)];
            let title = format!("Latencies of trace {}", index.0);
            let mut all = vec![tables::overview(&choice, title, &of)];
            let families = choice.families(&of);
            all.extend(families.iter().map(|family| tables::rows(&choice, *family, &of)));
            all.push(tables::top(&choice, &of));
            print::tables(&mut host.data.output.borrow_mut(), &all);
        } else {
            let trace = &host.data.batch.context.contexts().traces()[index.0];
            let place = places::of_trace(&mut host.attributes, trace)?;
            export(&mut host.attributes, place, of)?;
        }
    }
    Ok(())
}

fn export(
    attributes: &mut Attributes,
    place: AttributeId,
    of: &TraceLatency,
) -> Result<(), AttributeError> {
    let all = attributes.subtree(place, "latency")?;
    for family in Family::ALL {
        let place = attributes.subtree(all, family.key())?;
        let missing = of.missing(family);
        if !missing.is_empty() {
            attributes.set(place, "missing", &*missing.join(", "))?;
            continue;
        }
        export_durations(attributes, place, of.total(family).durations())?;
        let subjects = attributes.subtree(place, "subjects")?;
        for row in of.rows(family, By::Subject) {
            let name = row.subject.map_or_else(String::new, |subject| of.subject(subject));
            let name = if name.is_empty() { "unknown" } else { &name };
            let place = attributes.subtree(subjects, name)?;
            export_durations(attributes, place, row.figures.durations())?;
        }
    }
    Ok(())
}

fn export_durations(
    attributes: &mut Attributes,
    place: AttributeId,
    of: &Distribution,
) -> Result<(), AttributeError> {
    let spread = of.spread();
    attributes.set(place, "count", spread.count())?;
    if spread.count() == 0 {
        return Ok(());
    }
    attributes.set(place, "total_time", Duration::from_nanos(spread.total()))?;
    attributes.set(place, "mean_ns", spread.mean())?;
    if let Some(deviation) = spread.sample_deviation() {
        attributes.set(place, "deviation_ns", deviation)?;
    }
    attributes.set(place, "least_time", Duration::from_nanos(spread.least().value))?;
    attributes.set(place, "greatest_time", Duration::from_nanos(spread.greatest().value))?;
    for (name, percentage) in [("p50_time", 50.0), ("p90_time", 90.0), ("p99_time", 99.0)] {
        if let Some(value) = of.percentile(percentage) {
            attributes.set(place, name, Duration::from_nanos(value))?;
        }
    }
    Ok(())
}
