//! Numbers of events by type.

use ltt_read::schema::EventTypeId;
use smallvec::SmallVec;

/// How many events of each type there were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// By type, in order; none is 0. Most leaves see events of one type only.
    events: SmallVec<[(u32, u64); 1]>,
}

impl Tally {
    /// Counts an event.
    pub fn count(&mut self, event_type: EventTypeId) {
        self.add_to(event_type, 1);
    }

    /// Of numbers of events by type, in order.
    pub(super) fn of(events: impl Iterator<Item = (EventTypeId, u64)> + Clone) -> Self {
        let some = events.filter(|(_, events)| *events > 0);
        let mut of = SmallVec::with_capacity(some.clone().count());
        of.extend(some.map(|(event_type, events)| (event_type.0, events)));
        Tally { events: of }
    }

    pub(super) fn add_to(&mut self, event_type: EventTypeId, events: u64) {
        if events == 0 {
            return;
        }
        // Mostly they come in order.
        if self.events.last().is_none_or(|(last, _)| *last < event_type.0) {
            self.events.push((event_type.0, events));
            return;
        }
        match self.events.binary_search_by_key(&event_type.0, |(of, _)| *of) {
            Ok(at) => self.events[at].1 += events,
            Err(at) => self.events.insert(at, (event_type.0, events)),
        }
    }

    /// Adds others.
    pub fn add(&mut self, other: &Tally) {
        other.iter().for_each(|(event_type, events)| self.add_to(event_type, events));
    }

    /// All types that there were events of, in order, with their number.
    pub fn iter(&self) -> impl Iterator<Item = (EventTypeId, u64)> {
        self.events.iter().map(|(of, events)| (EventTypeId(*of), *events))
    }

    /// How many events there were in all.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, events)| events).sum()
    }
}
