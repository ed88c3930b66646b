//! Event counts by type.

use std::fmt;
use std::sync::Arc;

use ltt_read::schema::EventTypeId;

/// Counts are looked up in a tally of this many times their number, and merged with others.
const FEW: usize = 8;

/// The number of events of each type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// The counts, ordered by type; none is 0.
    events: Events,
}

#[derive(Clone)]
enum Events {
    Own(Vec<(u32, u64)>),
    /// A part of an allocation that many tallies share: an allocation for each would cost
    /// more.
    Part {
        of: Arc<Vec<(u32, u32)>>,
        begin: u32,
        len: u32,
    },
}

impl Default for Events {
    fn default() -> Self {
        Events::Own(Vec::new())
    }
}

impl Tally {
    /// Adds one event of a type.
    pub(super) fn count(&mut self, event_type: EventTypeId) {
        self.add_to(event_type, 1);
    }

    /// Adds a number of events of a type.
    pub(super) fn add_to(&mut self, event_type: EventTypeId, events: u64) {
        if events == 0 {
            return;
        }
        let mut own = self.take_own();
        // Types mostly come in order.
        if own.last().is_none_or(|(last, _)| *last < event_type.0) {
            own.push((event_type.0, events));
        } else {
            match own.binary_search_by_key(&event_type.0, |(of, _)| *of) {
                Ok(at) => own[at].1 += events,
                Err(at) => own.insert(at, (event_type.0, events)),
            }
        }
        self.events = Events::Own(own);
    }

    /// Takes the counts out as a vector, to be changed and put back.
    fn take_own(&mut self) -> Vec<(u32, u64)> {
        match &mut self.events {
            Events::Own(own) => std::mem::take(own),
            part @ Events::Part { .. } => part.iter().collect(),
        }
    }

    /// Adds the counts of another tally.
    pub(super) fn add(&mut self, other: &Tally) {
        let (own, others) = (self.events.len(), other.events.len());
        if own == 0 {
            self.events = other.events.clone();
        } else if others.saturating_mul(FEW) < own {
            other.iter().for_each(|(event_type, events)| self.add_to(event_type, events));
        } else if others > 0 {
            let mut merged = Vec::with_capacity(own + others);
            let mut rest = other.events.iter().peekable();
            for (of, events) in self.events.iter() {
                while let Some(next) = rest.next_if(|next| next.0 < of) {
                    merged.push(next);
                }
                let more = rest.next_if(|next| next.0 == of).map_or(0, |next| next.1);
                merged.push((of, events + more));
            }
            merged.extend(rest);
            self.events = Events::Own(merged);
        }
    }

    /// Iterates over the types with events, in ascending order, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (EventTypeId, u64)> {
        self.events.iter().map(|(of, events)| (EventTypeId(of), events))
    }

    /// Returns the number of all events.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, events)| events).sum()
    }
}

impl Events {
    fn len(&self) -> usize {
        match self {
            Events::Own(own) => own.len(),
            Events::Part { len, .. } => *len as usize,
        }
    }

    /// Iterates over the numbers of the types with events, in ascending order, with counts.
    fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        let (own, part): (&[_], &[_]) = match self {
            Events::Own(own) => (own, &[]),
            Events::Part { of, begin, len } => (&[], &of[*begin as usize..][..*len as usize]),
        };
        let part = part.iter().map(|(of, events)| (*of, u64::from(*events)));
        own.iter().copied().chain(part)
    }
}

impl PartialEq for Events {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Events {}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// A sum of many tallies, which finds each type without a search.
#[derive(Debug, Default)]
pub(super) struct TallySum {
    /// The counts by number of the type.
    events: Vec<u64>,
}

impl TallySum {
    /// Adds the counts of a tally.
    pub(super) fn add(&mut self, tally: &Tally) {
        for (of, events) in tally.events.iter() {
            let of = of as usize;
            if self.events.len() <= of {
                self.events.resize(of + 1, 0);
            }
            self.events[of] += events;
        }
    }

    /// Returns the sum as a tally.
    pub(super) fn into_tally(self) -> Tally {
        let counts = (0..).zip(self.events).filter(|(_, events)| *events > 0);
        Tally { events: Events::Own(counts.collect()) }
    }
}

/// Most leaves see at most this number of event types.
const TYPES: usize = 8;

/// A builder of the tallies of many leaves in one allocation.
#[derive(Debug)]
pub(super) struct Tallies {
    /// The counts by type; elements after the last end are unused.
    all: Vec<(u32, u32)>,
    /// The end of each tally in `all`.
    ends: Vec<u32>,
}

impl Tallies {
    /// Creates a builder for a number of tallies.
    pub(super) fn of(leaves: usize) -> Self {
        Tallies { all: Vec::with_capacity(TYPES * leaves), ends: Vec::with_capacity(leaves) }
    }

    /// Adds a tally of counts by type, in ascending order.
    pub(super) fn add(&mut self, events: impl ExactSizeIterator<Item = (EventTypeId, u32)>) {
        let mut end = self.ends.last().map_or(0, |end| *end as usize);
        if self.all.len() < end + events.len() {
            self.all.reserve(end + events.len() - self.all.len());
            self.all.resize(self.all.capacity(), (0, 0));
        }
        // The processor cannot predict which counts are 0: these elements are written and
        // then overwritten by the next one.
        for (event_type, events) in events {
            self.all[end] = (event_type.0, events);
            end += usize::from(events > 0);
        }
        self.ends.push(end as u32);
    }

    /// Iterates over all tallies, in the order in which they were added.
    pub(super) fn into_all(self) -> impl Iterator<Item = Tally> {
        let Tallies { mut all, ends } = self;
        all.truncate(ends.last().map_or(0, |end| *end as usize));
        all.shrink_to_fit();
        let (all, mut begin) = (Arc::new(all), 0);
        ends.into_iter().map(move |end| {
            let events = Events::Part { of: all.clone(), begin, len: end - begin };
            begin = end;
            Tally { events }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Sums of tallies of any sizes, own ones and parts, are those of maps.
    #[test]
    fn tallies_add_up() {
        let sets: [&[u32]; 6] = [&[], &[4], &[0, 9], &[1, 2, 3, 4, 5], &[0, 8, 30], &[3; 1]];
        let many: Vec<u32> = (0..40).map(|of| of * 2).collect();
        let sets: Vec<&[u32]> = sets.into_iter().chain([&*many]).collect();
        let of = |types: &[u32]| {
            let mut tally = Tally::default();
            types.iter().for_each(|of| tally.add_to(EventTypeId(*of), u64::from(*of) + 1));
            tally
        };
        let part = |types: &[u32]| {
            let mut all = Tallies::of(1);
            all.add([7, 90].into_iter().map(|of| (EventTypeId(of), 2)));
            all.add(types.iter().map(|of| (EventTypeId(*of), *of + 1)));
            all.into_all().nth(1).expect("the second one")
        };
        for first in &sets {
            for second in &sets {
                let mut expected = BTreeMap::new();
                for of in first.iter().chain(*second) {
                    *expected.entry(EventTypeId(*of)).or_insert(0) += u64::from(*of) + 1;
                }
                for other in [of(second), part(second)] {
                    for mut sum in [of(first), part(first)] {
                        let mut all = TallySum::default();
                        [&sum, &other].into_iter().for_each(|tally| all.add(tally));
                        sum.add(&other);
                        assert_eq!(all.into_tally(), sum);
                        assert!(sum.iter().eq(expected.clone()), "{first:?} {second:?}");
                        // What follows is as if it had been counted.
                        sum.count(EventTypeId(5));
                        let five = expected.get(&EventTypeId(5)).map_or(1, |of| of + 1);
                        assert!(sum.iter().any(|found| found == (EventTypeId(5), five)));
                        assert_eq!(other, part(second));
                    }
                }
            }
        }
    }
}
