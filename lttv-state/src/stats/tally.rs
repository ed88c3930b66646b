//! Numbers of events by type.

use std::fmt;
use std::sync::Arc;

use ltt_read::schema::EventTypeId;

/// How many events of each type there were.
#[derive(Clone, Default)]
pub struct Tally {
    /// By type, in order; none is 0.
    events: Events,
}

#[derive(Clone)]
enum Events {
    Own(Vec<(u32, u64)>),
    /// A part of what many have in common: an allocation for each would cost more.
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
    /// Counts an event.
    pub fn count(&mut self, event_type: EventTypeId) {
        self.add_to(event_type, 1);
    }

    pub(super) fn add_to(&mut self, event_type: EventTypeId, events: u64) {
        if events == 0 {
            return;
        }
        let mut own = self.take_own();
        // Mostly they come in order.
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

    /// What it has, to be changed and given back.
    fn take_own(&mut self) -> Vec<(u32, u64)> {
        match &mut self.events {
            Events::Own(own) => std::mem::take(own),
            Events::Part { .. } => self.iter().map(|(of, events)| (of.0, events)).collect(),
        }
    }

    /// Adds others.
    pub fn add(&mut self, other: &Tally) {
        other.iter().for_each(|(event_type, events)| self.add_to(event_type, events));
    }

    /// All types that there were events of, in order, with their number.
    pub fn iter(&self) -> impl Iterator<Item = (EventTypeId, u64)> {
        let (own, part): (&[_], &[_]) = match &self.events {
            Events::Own(own) => (own, &[]),
            Events::Part { of, begin, len } => (&[], &of[*begin as usize..][..*len as usize]),
        };
        let part = part.iter().map(|(of, events)| (*of, u64::from(*events)));
        own.iter().copied().chain(part).map(|(of, events)| (EventTypeId(of), events))
    }

    /// How many events there were in all.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, events)| events).sum()
    }
}

impl PartialEq for Tally {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Tally {}

impl fmt::Debug for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events = self.iter().map(|(event_type, events)| (event_type.0, events));
        f.debug_map().entries(events).finish()
    }
}

/// So many types of events have most leaves at most.
const TYPES: usize = 8;

/// Those of many leaves, made one after the other.
#[derive(Debug)]
pub(super) struct Tallies {
    /// Some at the end mean nothing yet.
    all: Vec<(u32, u32)>,
    /// Where each ends.
    ends: Vec<u32>,
}

impl Tallies {
    /// None yet, of so many.
    pub(super) fn of(leaves: usize) -> Self {
        Tallies { all: Vec::with_capacity(TYPES * leaves), ends: Vec::with_capacity(leaves) }
    }

    /// Adds one, of numbers of events by type, in order.
    pub(super) fn add(&mut self, events: impl ExactSizeIterator<Item = (EventTypeId, u32)>) {
        let mut end = self.ends.last().map_or(0, |end| *end as usize);
        if self.all.len() < end + events.len() {
            self.all.reserve(end + events.len() - self.all.len());
            self.all.resize(self.all.capacity(), (0, 0));
        }
        // Whether there were any of a type cannot be predicted: those that there were none
        // of are written over.
        for (event_type, events) in events {
            self.all[end] = (event_type.0, events);
            end += usize::from(events > 0);
        }
        self.ends.push(end as u32);
    }

    /// All of them, in the order that they were added in.
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
