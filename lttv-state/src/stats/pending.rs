//! Numbers of events on their way to the tallies of leaves.

use ltt_read::schema::EventTypeId;

/// Counts of what occurred lately, near to each other. The tally of a leaf is some
/// pointers away, and most events are of another leaf than the one before; what one
/// machine does within a short time are few leaves and types of events, again and again.
#[derive(Debug, Clone, Default)]
pub(super) struct Pending {
    /// By hash, one of each. As many as a power of two, or none before the first event.
    slots: Vec<Counted>,
    /// How many were given back since it grew.
    given_back: usize,
}

/// How many counts are kept at first, and at most.
const FEW: usize = 1 << 9;
const MOST: usize = 1 << 16;

/// How many events of a type a leaf had.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    /// Of the leaf.
    pub(super) place: u32,
    pub(super) event_type: EventTypeId,
    pub(super) events: u64,
}

impl Counted {
    const NOTHING: Counted = Counted { place: 0, event_type: EventTypeId(0), events: 0 };

    #[inline]
    fn hash(place: u32, event_type: EventTypeId) -> usize {
        let hash = place.wrapping_mul(0x9e37_79b1) ^ event_type.0.wrapping_mul(0x85eb_ca6b);
        (hash >> (u32::BITS - MOST.ilog2())) as usize
    }
}

impl Pending {
    /// Counts an event. What is given back has to make room for it, and is to be
    /// counted elsewhere.
    #[inline]
    pub(super) fn count(&mut self, place: u32, event_type: EventTypeId) -> Option<Counted> {
        let at = Counted::hash(place, event_type) & self.slots.len().wrapping_sub(1);
        match self.slots.get_mut(at) {
            Some(slot) if slot.place == place && slot.event_type == event_type => {
                slot.events += 1;
                None
            }
            _ => self.begin(Counted { place, event_type, events: 1 }),
        }
    }

    #[inline(never)]
    fn begin(&mut self, first: Counted) -> Option<Counted> {
        let slots = self.slots.len();
        if slots < MOST && self.given_back >= slots {
            self.grow(slots * 2);
        }
        let former = self.put(first);
        self.given_back += usize::from(former.is_some());
        former
    }

    #[cold]
    fn grow(&mut self, slots: usize) {
        let all = std::mem::replace(&mut self.slots, vec![Counted::NOTHING; slots.max(FEW)]);
        self.given_back = 0;
        // Each goes where no other goes: hashes that were told apart still are.
        all.into_iter().filter(|slot| slot.events > 0).for_each(|slot| _ = self.put(slot));
    }

    fn put(&mut self, counted: Counted) -> Option<Counted> {
        let at = Counted::hash(counted.place, counted.event_type) & (self.slots.len() - 1);
        let former = std::mem::replace(&mut self.slots[at], counted);
        (former.events > 0).then_some(former)
    }

    /// All that were counted, and not given back. There are none left.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Counted> + use<> {
        std::mem::take(self).slots.into_iter().filter(|slot| slot.events > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn nothing_gets_lost_where_slots_are_too_few() {
        let (leaves, types) = (MOST as u32 / 8, 24);
        let mut pending = Pending::default();
        let mut counted = HashMap::new();
        let mut note = |of: Counted| {
            *counted.entry((of.place, of.event_type.0)).or_insert(0) += of.events;
        };
        let all =
            |round: u32| (0..leaves).flat_map(move |l| (0..types).map(move |t| (l, t, round)));
        let mut given_back = 0;
        for (place, event_type, round) in (0..3).flat_map(all) {
            // Not all are as frequent.
            for _ in 0..=(place + event_type + round) % 3 {
                if let Some(former) = pending.count(place, EventTypeId(event_type)) {
                    given_back += 1;
                    note(former);
                }
            }
        }
        pending.take().for_each(&mut note);
        assert!(given_back > 0);
        assert_eq!(pending.take().count(), 0);
        assert_eq!(counted.len(), (leaves * types) as usize);
        // Over the three rounds each is counted 1 + 2 + 3 times, in some order.
        assert!(counted.values().all(|events| *events == 6));
    }
}
