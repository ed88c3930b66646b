//! The words of filters of a tab's traces, and the numbers of events that they stand for.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use lttv_context::Revision;
use lttv_filter::Vocabulary;
use lttv_state::filter::KernelFields;

use crate::session::Session;

/// The words of filters, made when they are first needed.
#[derive(Debug, Default)]
pub(crate) struct Words {
    vocabulary: Option<(Revision, Rc<Vocabulary>)>,
    /// The number of statistics that were counted, and the counts.
    counts: Option<(u64, Rc<EventCounts>)>,
}

/// The numbers of events of a traceset.
#[derive(Debug, Default)]
pub struct EventCounts {
    /// The number of events by name.
    pub types: HashMap<String, u64>,
    /// The number of events by CPU.
    pub cpus: BTreeMap<u32, u64>,
}

impl Session {
    /// Returns the words that filters of the tab's traces can contain.
    pub fn vocabulary(&mut self) -> Rc<Vocabulary> {
        let revision = self.traceset().revision();
        match &self.words.vocabulary {
            Some((known, vocabulary)) if *known == revision => vocabulary.clone(),
            _ => {
                let traces = self.traceset().traces();
                let vocabulary = Rc::new(Vocabulary::with_state(traces, &KernelFields));
                self.words.vocabulary = Some((revision, vocabulary.clone()));
                vocabulary
            }
        }
    }

    /// Returns the numbers of events of the traceset, as far as it has been read in the
    /// background; `None` at first.
    pub fn event_counts(&mut self) -> Option<Rc<EventCounts>> {
        self.wants_statistics();
        let (number, statistics) = self.statistics();
        let statistics = statistics?;
        match &self.words.counts {
            Some((known, counts)) if *known == number => return Some(counts.clone()),
            _ => {}
        }
        let mut counts = EventCounts::default();
        for trace in statistics.traces() {
            for (name, count) in trace.events() {
                *counts.types.entry(name.to_owned()).or_default() += count;
            }
            for cpu in trace.cpus() {
                *counts.cpus.entry(cpu.number).or_default() += cpu.events;
            }
        }
        let counts = Rc::new(counts);
        self.words.counts = Some((number, counts.clone()));
        Some(counts)
    }
}
