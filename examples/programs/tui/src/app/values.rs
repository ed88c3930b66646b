//! The lists of event types and CPUs, from which the user makes a filter.

use std::cmp::Reverse;

use super::App;
use super::pick::{OpenPick, PickSubject, Values};
use crate::session::words::EventCounts;
use crate::view::pick_list::PickList;

const HINT: &str = "Space marks several, Enter adds them to the filter, Esc leaves";

impl App {
    /// Lets the user pick event types.
    pub(super) fn pick_types(&mut self) {
        let session = &mut self.tabs[self.current].session;
        let (vocabulary, counts) = (session.vocabulary(), session.event_counts());
        let count = |name: &str| counts.as_ref().map(|counts| types_of(counts, name));
        let mut events: Vec<_> = vocabulary.events().iter().collect();
        events.sort_by_key(|event| Reverse(count(event.name())));
        let items = events.iter().map(|event| {
            let count = count(event.name()).map_or_else(String::new, |n| format!("{n:>9} events"));
            (event.name().to_owned(), format!("{count}  {}", event.channels().join(" ")))
        });
        let list = PickList::new("Show only events of these types", items).with_marks(HINT);
        let values = events.iter().map(|event| quoted(event.name())).collect();
        self.pick_values(Values { selector: "event.name", values }, list);
    }

    /// Lets the user pick CPUs.
    pub(super) fn pick_cpus(&mut self) {
        let session = &mut self.tabs[self.current].session;
        let (vocabulary, counts) = (session.vocabulary(), session.event_counts());
        let items = vocabulary.cpus().iter().map(|cpu| {
            let counts = counts.as_ref().map(|counts| counts.cpus.get(cpu).copied().unwrap_or(0));
            let count = counts.map_or_else(String::new, |n| format!("{n:>9} events"));
            (format!("CPU {cpu}"), count)
        });
        let list = PickList::new("Show only events of these CPUs", items).with_marks(HINT);
        let values = vocabulary.cpus().iter().map(u32::to_string).collect();
        self.pick_values(Values { selector: "tracefile.cpu", values }, list);
    }

    fn pick_values(&mut self, values: Values, list: PickList) {
        if values.values.is_empty() {
            self.message = Some(format!("the traces have no {}", values.selector));
            return;
        }
        self.pick = Some(OpenPick::new(PickSubject::Values(values), list));
    }

    /// Adds the condition that a property has one of the marked values to the filter, or the
    /// selected one if none is marked.
    pub(super) fn picked_values(&mut self, of: &Values, marked: &[usize], selected: usize) {
        let chosen = if marked.is_empty() { &[selected][..] } else { marked };
        let values: Vec<&str> =
            chosen.iter().filter_map(|at| of.values.get(*at)).map(String::as_str).collect();
        let term = match values[..] {
            [value] => format!("{} == {value}", of.selector),
            _ => format!("{} in ({})", of.selector, values.join(", ")),
        };
        let session = &mut self.tabs[self.current].session;
        let text = match session.tab.filter().map(|text| text.trim()) {
            None => term,
            Some(text) => format!("({text}) && {term}"),
        };
        if let Err(error) = session.set_filter(&text) {
            self.message = Some(ltt_read::ErrorChain(&error).to_string());
        }
    }
}

/// Returns the number of events of a name.
fn types_of(counts: &EventCounts, name: &str) -> u64 {
    counts.types.get(name).copied().unwrap_or(0)
}

/// Returns a text as a filter names it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
