//! Kinds of leaves. Leaves of one kind have the same mode and submode, and see events of
//! the same types.

use ltt_read::schema::EventTypeId;

use crate::kernel::{ExecutionMode, NameId};

/// The number of a kind. Numbers are dense, except [`OTHER`](Kind::OTHER).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind(pub(super) u16);

impl Kind {
    /// The kind of all leaves whose kind has no number of its own.
    pub(super) const OTHER: Kind = Kind(u16::MAX);

    pub(super) fn index(self) -> usize {
        self.0.into()
    }
}

/// All kinds, and the layout of their leaves' event counters: a leaf has counters only for
/// the event types that leaves of its kind have seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Kinds {
    /// The kinds, indexed by [`place`]; `None` if the mode and submode have not been seen
    /// yet.
    known: Vec<Option<Kind>>,
    /// The mode and submode of each kind.
    names: Vec<(ExecutionMode, NameId)>,
    /// The number of event types.
    types: usize,
    /// The index of a counter, by kind and then event type; [`NONE`] if there is no counter
    /// yet.
    slots: Vec<u8>,
    /// The number of event types with counters, by kind.
    used: Vec<u8>,
}

/// The maximum number of kinds, unless there are very many event types.
const MAX_KINDS: usize = 1 << 10;
/// The maximum length of the table of slots.
const MAX_SLOTS: usize = 1 << 22;
const NONE: u8 = u8::MAX;

impl Kinds {
    /// Creates an empty table for a number of event types.
    pub(super) fn new(types: usize) -> Self {
        Kinds { types, ..Kinds::default() }
    }

    /// Adds event types, up to a number of them.
    pub(super) fn add_event_types(&mut self, types: usize) {
        if types <= self.types {
            return;
        }
        let mut slots = Vec::with_capacity(self.used.len() * types);
        for kind in 0..self.used.len() {
            slots.extend_from_slice(&self.slots[kind * self.types..(kind + 1) * self.types]);
            slots.resize((kind + 1) * types, NONE);
        }
        (self.slots, self.types) = (slots, types);
    }

    /// Returns the kind of a mode and submode, which is added if it is new.
    #[inline]
    pub(super) fn of(&mut self, mode: ExecutionMode, submode: NameId) -> Kind {
        let at = place(mode, submode);
        match self.known.get(at) {
            Some(Some(kind)) => *kind,
            _ => self.add(mode, submode),
        }
    }

    /// Returns the kind of a mode and submode, if it has been seen.
    pub(super) fn get(&self, mode: ExecutionMode, submode: NameId) -> Option<Kind> {
        *self.known.get(place(mode, submode))?
    }

    /// Returns the mode and submode of a kind; unknown ones if it has no number.
    pub(super) fn name(&self, kind: Kind) -> (ExecutionMode, NameId) {
        self.names.get(kind.index()).copied().unwrap_or((ExecutionMode::Unknown, NameId::UNKNOWN))
    }

    /// Adds a kind; it is [`OTHER`](Kind::OTHER) once the limits are reached.
    #[cold]
    fn add(&mut self, mode: ExecutionMode, submode: NameId) -> Kind {
        let at = place(mode, submode);
        if self.known.len() <= at {
            self.known.resize(at + 1, None);
        }
        let number = self.used.len();
        let kind = if number < MAX_KINDS && (number + 1) * self.types <= MAX_SLOTS {
            self.used.push(0);
            self.names.push((mode, submode));
            self.slots.resize((number + 1) * self.types, NONE);
            Kind(number as u16)
        } else {
            Kind::OTHER
        };
        self.known[at] = Some(kind);
        kind
    }

    /// Returns the index of an event type's counter in leaves of a kind. If there is no
    /// counter, it is beyond all indices that a leaf can have.
    #[inline]
    pub(super) fn slot(&self, kind: Kind, event_type: EventTypeId) -> u8 {
        let at = kind.index() * self.types + event_type.index();
        self.slots.get(at).copied().unwrap_or(NONE)
    }

    /// Returns the index of an event type's counter in leaves of a kind, which is added if
    /// it is new; `None` if there are too many.
    pub(super) fn slot_or_add(&mut self, kind: Kind, event_type: EventTypeId) -> Option<u8> {
        let used = self.used.get_mut(kind.index())?;
        let slot = self.slots.get_mut(kind.index() * self.types + event_type.index())?;
        if *slot == NONE && *used < NONE {
            *slot = *used;
            *used += 1;
        }
        (*slot != NONE).then_some(*slot)
    }

    /// Returns the number of event types for which leaves of a kind have counters.
    pub(super) fn used(&self, kind: Kind) -> u8 {
        self.used.get(kind.index()).copied().unwrap_or(0)
    }

    /// Returns for each kind the event types for which its leaves have counters, in order,
    /// with the indices of the counters.
    pub(super) fn types(&self) -> Vec<Vec<(EventTypeId, u8)>> {
        let of = |slots: &[u8]| {
            let all = (0..).map(EventTypeId).zip(slots.iter().copied());
            all.filter(|(_, slot)| *slot != NONE).collect()
        };
        self.slots.chunks(self.types.max(1)).map(of).collect()
    }
}

/// Packs a mode and submode into one index.
#[inline]
fn place(mode: ExecutionMode, submode: NameId) -> usize {
    submode.index() << 3 | mode as usize
}
