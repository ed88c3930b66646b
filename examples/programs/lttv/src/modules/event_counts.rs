//! Numbers of events by type and CPU.

use std::ops::ControlFlow;

use ltt_read::Trace;
use lttv_context::attributes::{AttributeError, Browse, Entries, Kind, MergeRule, Text};
use lttv_context::framework::{Failure, Module, ModuleInfo, OptionSpec};
use lttv_context::{Handle, Subscription};
use lttv_hooks::Priority;

use super::{Host, places, report_with};

/// The module `eventCounts`.
#[derive(Debug)]
pub(super) struct EventCounts;

impl Module<Host> for EventCounts {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "eventCounts",
            summary: "Count events by type and CPU",
            description: "Counts the events of each type, per CPU and per trace, in the attributes \
                          traces/[TRACE]/cpus/[CPU]/event_types and traces/[TRACE]/event_types.",
            requires: &["batchAnalysis"],
        }
    }

    fn options(&self) -> Vec<OptionSpec> {
        let help = "Count only events of this name, with the wildcards * and ?";
        vec![OptionSpec::new("events", Kind::Text, help).value_name("NAME").default_value("*")]
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let events = events(host)?;
        let batch = &mut host.data.batch;
        let tracefiles = batch.context.contexts().tracefiles().iter();
        let types = tracefiles.map(|tracefile| tracefile.trace().schema().event_types.len());
        let none = types.map(|types| vec![0; types]).collect();
        let counts = batch.context.attach_data(Counts { by_tracefile: none });
        host.data.on_chosen(events, move |call| {
            let counts = &mut call.extensions[counts].by_tracefile[call.tracefile.number().0];
            counts[call.event.type_id().index()] += 1;
        });
        report_with(host, Priority::DEFAULT, move |host| report(host, counts));
        Ok(())
    }
}

/// Returns the subscription to the events that are counted.
pub(super) fn events(host: &Host) -> Result<Subscription, Failure> {
    let name = host.options.get::<Text>("events")?;
    Ok(Subscription::to(name.map_or("*", |name| name)))
}

/// Numbers of events, by tracefile number and event type index.
#[derive(Debug)]
struct Counts {
    by_tracefile: Vec<Vec<u64>>,
}

/// The numbers of events of one tracefile, by event type index.
struct OfTracefile<'a> {
    trace: &'a Trace,
    counts: &'a [u64],
}

impl Browse for OfTracefile<'_> {
    fn entries(&self, out: &mut Entries<'_>) -> ControlFlow<()> {
        out.value("events", self.counts.iter().sum::<u64>())?;
        out.subtree("event_types", &ByType(self))
    }
}

struct ByType<'a>(&'a OfTracefile<'a>);

impl Browse for ByType<'_> {
    fn entries(&self, out: &mut Entries<'_>) -> ControlFlow<()> {
        let OfTracefile { trace, counts } = self.0;
        let types = trace.schema().event_types.iter().zip(*counts);
        let mut seen = types.filter(|(_, count)| **count > 0);
        seen.try_for_each(|(event_type, count)| out.value(event_type.name(), *count))
    }
}

fn report(host: &mut Host, counts: Handle<Counts>) -> Result<(), AttributeError> {
    let context = &host.data.batch.context;
    let counts = &context.extensions()[counts].by_tracefile;
    for (tracefile, counts) in context.contexts().tracefiles().iter().zip(counts) {
        let found = OfTracefile { trace: tracefile.trace(), counts };
        let trace = tracefile.trace_context();
        let place = places::of_trace(&mut host.attributes, trace)?;
        host.attributes.merge(place, &found, MergeRule::Sum)?;
        let cpu = places::of_cpu(&mut host.attributes, trace, places::cpu(tracefile))?;
        host.attributes.merge(cpu, &found, MergeRule::Sum)?;
    }
    Ok(())
}
