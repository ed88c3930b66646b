//! Numbers of events by type.

use ltt_read::schema::EventTypeId;
use smallvec::SmallVec;

/// How many events of each type there were. Most leaves see few types.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    few: SmallVec<[(u32, u64); 2]>,
    /// By type, once there are many.
    many: Vec<u64>,
}

const MAX_FEW: usize = 16;

impl Tally {
    /// Counts an event.
    #[inline]
    pub fn count(&mut self, event_type: EventTypeId) {
        self.add_to(event_type.0, 1);
    }

    #[inline]
    fn add_to(&mut self, of: u32, events: u64) {
        if let Some(count) = self.many.get_mut(of as usize) {
            *count += events;
        } else if let Some((_, count)) = self.few.iter_mut().find(|(is, _)| *is == of) {
            *count += events;
        } else {
            self.grow(of, events);
        }
    }

    #[cold]
    fn grow(&mut self, of: u32, events: u64) {
        if self.many.is_empty() && self.few.len() < MAX_FEW {
            self.few.push((of, events));
            return;
        }
        let few = std::mem::take(&mut self.few);
        for (of, events) in few.into_iter().chain([(of, events)]) {
            if self.many.len() <= of as usize {
                self.many.resize(of as usize + 1, 0);
            }
            self.many[of as usize] += events;
        }
    }

    /// Adds others.
    pub fn add(&mut self, other: &Tally) {
        other.iter().for_each(|(event_type, events)| self.add_to(event_type.0, events));
    }

    /// All types that there were events of, with their number.
    pub fn iter(&self) -> impl Iterator<Item = (EventTypeId, u64)> {
        let many = (0..).zip(self.many.iter().copied()).filter(|(_, events)| *events > 0);
        self.few.iter().copied().chain(many).map(|(of, events)| (EventTypeId(of), events))
    }

    /// How many events there were in all.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, events)| events).sum()
    }
}

impl PartialEq for Tally {
    fn eq(&self, other: &Self) -> bool {
        let sorted = |tally: &Tally| {
            let mut all: Vec<_> = tally.iter().collect();
            all.sort_unstable();
            all
        };
        sorted(self) == sorted(other)
    }
}

impl Eq for Tally {}
