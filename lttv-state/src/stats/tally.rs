//! Event counts by type.

use std::fmt;
use std::sync::Arc;

use ltt_read::schema::EventTypeId;

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
        other.iter().for_each(|(event_type, events)| self.add_to(event_type, events));
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
