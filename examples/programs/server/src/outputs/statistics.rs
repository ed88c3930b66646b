//! Statistics: events by type, times of CPUs and processes.

use std::collections::BTreeMap;

use lttv_state::stats::TraceStatistics;

use super::Output;
use super::work::Work;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::protocol::models::{Answer, DataProvider, DataType, Entry, Header, Kind, Tree};
use crate::protocol::parameters::Parameters;

/// The tree of statistics.
#[derive(Debug)]
pub(super) struct StatisticsTree;

const HEADERS: [Header; 6] = [
    Header::text("Name", "Event type, CPU or process"),
    Header::of("Events", "Number of events", DataType::Number),
    Header::of("CPU time", "Time on CPUs, in ns", DataType::Duration),
    Header::of("User", "Time in programs, in ns", DataType::Duration),
    Header::of("System", "Time in system calls and exceptions, in ns", DataType::Duration),
    Header::of("Interrupts", "Time in interrupts, in ns", DataType::Duration),
];

impl Output for StatisticsTree {
    fn description(&self) -> DataProvider {
        DataProvider {
            id: "org.lttv.statistics",
            name: "Statistics",
            description: "Events by type, times of CPUs and processes",
            kind: Kind::DataTree,
        }
    }

    fn tree(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let window = dataset.window(parameters.range()?);
        let Some(statistics) = dataset.statistics(window) else {
            return work.json(&Answer::<Tree>::running(None));
        };
        let mut rows = Rows::default();
        let groups = dataset
            .groups()
            .iter()
            .flat_map(|group| group.traces.clone().map(move |trace| (trace, group)));
        for (trace, group) in groups {
            if let Some(of) = statistics.traces().get(trace) {
                let traces = dataset.traceset().traces();
                let path = traces.get(trace).and_then(|of| of.path().file_name());
                let name = match group.traces.len() {
                    1 => group.name.clone(),
                    _ => path.map_or(String::new(), |name| name.to_string_lossy().into_owned()),
                };
                rows.trace(&name, of);
            }
        }
        let tree = Tree { headers: HEADERS.into(), entries: rows.entries, expand: Some(2) };
        work.json(&Answer::complete(tree))
    }
}

/// The numbers of a row after its name; `None` where it has none.
type Numbers = [Option<u64>; 5];

#[derive(Default)]
struct Rows {
    entries: Vec<Entry>,
}

impl Rows {
    fn add(&mut self, parent: Option<i64>, name: &str, numbers: Numbers) -> i64 {
        let id = self.entries.len() as i64;
        let numbers = numbers.iter().map(|of| of.map_or(String::new(), |of| of.to_string()));
        let labels = std::iter::once(name.to_owned()).chain(numbers).collect();
        self.entries.push(Entry { id, parent, labels, ..Entry::default() });
        id
    }

    fn trace(&mut self, name: &str, of: &TraceStatistics) {
        let events: BTreeMap<&str, u64> = of.events();
        let total = events.values().sum();
        let root = self.add(None, name, [Some(total), None, None, None, None]);
        let parent = self.add(Some(root), "Event types", [Some(total), None, None, None, None]);
        for (name, count) in &events {
            self.add(Some(parent), name, [Some(*count), None, None, None, None]);
        }
        let cpus = of.cpus();
        if cpus.iter().all(|cpu| cpu.times.covered() == 0) {
            return; // Not a kernel trace.
        }
        let parent = self.add(Some(root), "CPUs", [None; 5]);
        for cpu in &cpus {
            let times = [
                Some(cpu.events),
                Some(cpu.busy_time),
                Some(cpu.times.user),
                Some(cpu.times.system),
                Some(cpu.interrupt_time),
            ];
            self.add(Some(parent), &format!("CPU {}", cpu.number), times);
        }
        let parent = self.add(Some(root), "Processes", [None; 5]);
        let facts = of.process_facts();
        for process in of.processes() {
            let facts = facts.get(process.process.index());
            let name = facts.map_or(String::new(), |facts| {
                let tid = facts.tid.map_or("?".to_owned(), |tid| tid.to_string());
                format!("{} ({tid})", facts.name)
            });
            let times = [
                Some(process.events),
                Some(process.cpu_time),
                Some(process.user_time),
                Some(process.system_time),
                Some(process.interrupt_time),
            ];
            self.add(Some(parent), &name, times);
        }
    }
}
