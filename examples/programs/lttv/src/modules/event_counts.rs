//! Numbers of events by type and CPU.

use std::collections::BTreeMap;

use ltt_read::TraceIndex;
use lttv_common::table::{Declaration, Table};
use lttv_context::attributes::{Kind, Text};
use lttv_context::framework::{Failure, ModuleInfo, OptionSpec};
use lttv_context::{Contexts, Handle, Subscription};

use super::Host;
use super::analysis::{AnalysisModule, Tables};

/// Returns the module `eventCounts`.
pub(super) fn module() -> AnalysisModule {
    let info = ModuleInfo {
        name: "eventCounts",
        summary: "Count events by type and CPU",
        description: "Counts the events of each type, of each CPU, and of both, in the tables \
                      `event_types`, `cpus` and `cpu_event_types`; `totals` has their sums.",
        requires: &["batchAnalysis"],
    };
    let help = "Count only events of this name, with the wildcards * and ?";
    let events = OptionSpec::new("events", Kind::Text, help).value_name("NAME").default_value("*");
    AnalysisModule::new(info, attach).with_options([events])
}

fn attach(host: &mut Host) -> Result<Option<Tables>, Failure> {
    let events = events(host)?;
    let context = &mut host.data.batch.context;
    let tracefiles = context.contexts().tracefiles().iter();
    let types = tracefiles.map(|tracefile| tracefile.trace().schema().event_types.len());
    let none = types.map(|types| vec![0; types]).collect();
    let counts = context.attach_data(Counts { by_tracefile: none });
    host.data.on_chosen(events, move |call| {
        let counts = &mut call.extensions[counts].by_tracefile[call.tracefile.number().0];
        counts[call.event.type_id().index()] += 1;
    });
    Ok(Some(Box::new(move |host| Ok(tables(host, counts)))))
}

/// Returns the subscription to the events that are counted.
pub(super) fn events(host: &Host) -> Result<Subscription, Failure> {
    let name = host.options.get::<Text>("events")?;
    Ok(Subscription::to(name.map_or("*", |name| name)))
}

/// Numbers of events, by tracefile number and event type index.
#[derive(Debug)]
pub(super) struct Counts {
    by_tracefile: Vec<Vec<u64>>,
}

/// The number of events of a trace, with what they are counted by.
pub(super) type Row<K> = (TraceIndex, K, u64);

impl Counts {
    /// Returns the numbers of events above 0, by trace and a key that is made of the number of the
    /// CPU and the name of the event.
    pub(super) fn by<'c, K: Ord>(
        &self,
        contexts: &'c Contexts,
        key: impl Fn(Option<u32>, &'c str) -> K,
    ) -> Vec<Row<K>> {
        let mut sums = BTreeMap::new();
        for (tracefile, counts) in contexts.tracefiles().iter().zip(&self.by_tracefile) {
            let types = tracefile.trace().schema().event_types.iter().zip(counts);
            for (event_type, count) in types.filter(|(_, count)| **count > 0) {
                let key = key(tracefile.tracefile().cpu(), event_type.name());
                *sums.entry((tracefile.trace_index(), key)).or_insert(0) += count;
            }
        }
        sums.into_iter().map(|((trace, key), count)| (trace, key, count)).collect()
    }
}

fn tables(host: &Host, counts: Handle<Counts>) -> Vec<Table> {
    let (context, has_traces) = (&host.data.batch.context, host.data.has_traces());
    let (counts, contexts) = (&context.extensions()[counts], context.contexts());
    let totals = counts.by(contexts, |_, _| ());
    let types = counts.by(contexts, |_, event| event.to_owned());
    let cpus = counts.by(contexts, |cpu, _| cpu);
    let both = counts.by(contexts, |cpu, event| (cpu, event.to_owned()));
    vec![
        table(("totals", "Events"), has_traces, &totals).with(count).build(),
        table(("event_types", "Events by type"), has_traces, &types)
            .text("event", "EVENT", |row| row.1.as_str())
            .with(count)
            .build(),
        table(("cpus", "Events by CPU"), has_traces, &cpus)
            .integer("cpu", "CPU", |row| row.1)
            .with(count)
            .build(),
        table(("cpu_event_types", "Events by CPU and type"), has_traces, &both)
            .integer("cpu", "CPU", |row| row.1.0)
            .text("event", "EVENT", |row| row.1.1.as_str())
            .with(count)
            .build(),
    ]
}

/// Starts a table about traces.
pub(super) fn table<'r, K>(
    (key, title): (&'static str, &str),
    has_traces: bool,
    rows: &'r [Row<K>],
) -> Declaration<'r, Row<K>> {
    Table::of(key, title, rows).trace_if(has_traces, |row| row.0)
}

fn count<K>(table: Declaration<'_, Row<K>>) -> Declaration<'_, Row<K>> {
    table.count("count", "COUNT", |row| row.2)
}
