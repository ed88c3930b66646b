//! Numbers of events by type.

use ltt_read::schema::EventTypeId;

/// How many events of each type there were. Most leaves see one.
#[derive(Debug, Clone)]
pub struct Tally(Kept);

/// Small, so that it is near to what is counted besides.
#[derive(Debug, Clone)]
enum Kept {
    /// None if the number is 0.
    One {
        of: u32,
        events: u64,
    },
    More(Box<More>),
}

#[derive(Debug, Clone, Default)]
struct More {
    few: Vec<(u32, u64)>,
    /// By type, once there are many.
    many: Vec<u64>,
}

const MAX_FEW: usize = 16;

impl Default for Tally {
    fn default() -> Self {
        Tally(Kept::One { of: 0, events: 0 })
    }
}

impl Tally {
    /// Counts an event.
    #[inline]
    pub fn count(&mut self, event_type: EventTypeId) {
        self.add_to(event_type.0, 1);
    }

    #[inline]
    fn add_to(&mut self, of: u32, events: u64) {
        match &mut self.0 {
            Kept::One { of: one, events: known } if *one == of => *known += events,
            Kept::One { .. } => self.begin(of, events),
            Kept::More(more) => more.add_to(of, events),
        }
    }

    /// Counts those of another type than so far.
    #[cold]
    fn begin(&mut self, of: u32, events: u64) {
        match self.0 {
            Kept::One { events: 0, .. } => self.0 = Kept::One { of, events },
            Kept::One { of: one, events: known } => {
                let few = vec![(one, known), (of, events)];
                self.0 = Kept::More(Box::new(More { few, many: Vec::new() }));
            }
            Kept::More(_) => {}
        }
    }

    /// Adds others.
    pub fn add(&mut self, other: &Tally) {
        other.iter().for_each(|(event_type, events)| self.add_to(event_type.0, events));
    }

    /// All types that there were events of, with their number.
    pub fn iter(&self) -> impl Iterator<Item = (EventTypeId, u64)> {
        let (one, more) = match &self.0 {
            Kept::One { of, events } => (Some((*of, *events)), None),
            Kept::More(more) => (None, Some(more)),
        };
        let all = one.into_iter().chain(more.into_iter().flat_map(|more| more.iter()));
        all.filter(|(_, events)| *events > 0).map(|(of, events)| (EventTypeId(of), events))
    }

    /// How many events there were in all.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, events)| events).sum()
    }
}

impl More {
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

    fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        self.few.iter().copied().chain((0..).zip(self.many.iter().copied()))
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
