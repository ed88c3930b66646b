//! Kinds of leaves: those of one mode and submode, which see events of the same types.

use ltt_read::schema::EventTypeId;

use crate::kernel::{ExecutionMode, NameId};

/// A kind of leaf, by a small number. Dense, but for [`OTHER`](Kind::OTHER).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind(pub(super) u16);

impl Kind {
    /// One of the many that have no number of their own.
    pub(super) const OTHER: Kind = Kind(u16::MAX);

    pub(super) fn index(self) -> usize {
        self.0.into()
    }
}

/// All kinds, and where leaves of each keep their counters of events: they have them
/// for those types only that leaves of their kind have seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Kinds {
    /// By [`place`]; none where it was not met yet.
    known: Vec<Option<Kind>>,
    /// By kind.
    names: Vec<(ExecutionMode, NameId)>,
    /// How many event types there are.
    types: usize,
    /// By kind, then event type: place of the counter, [`NONE`] if there is none yet.
    slots: Vec<u8>,
    /// By kind: how many event types have places.
    used: Vec<u8>,
}

/// So many kinds have numbers, unless there are very many types of events.
const MAX_KINDS: usize = 1 << 10;
/// So large gets the table of slots.
const MAX_SLOTS: usize = 1 << 22;
const NONE: u8 = u8::MAX;

impl Kinds {
    /// For a trace with so many event types.
    pub(super) fn new(types: usize) -> Self {
        Kinds { types, ..Kinds::default() }
    }

    #[inline]
    pub(super) fn of(&mut self, mode: ExecutionMode, submode: NameId) -> Kind {
        let at = place(mode, submode);
        match self.known.get(at) {
            Some(Some(kind)) => *kind,
            _ => self.add(mode, submode),
        }
    }

    /// The kind of a mode and submode, if that was met.
    pub(super) fn get(&self, mode: ExecutionMode, submode: NameId) -> Option<Kind> {
        *self.known.get(place(mode, submode))?
    }

    /// The mode and submode of a kind; nothing known, if it has no number.
    pub(super) fn name(&self, kind: Kind) -> (ExecutionMode, NameId) {
        self.names.get(kind.index()).copied().unwrap_or((ExecutionMode::Unknown, NameId::UNKNOWN))
    }

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

    /// The place of a type's counter among those of a leaf of a kind. If there is
    /// none, it is beyond all that a leaf can have.
    #[inline]
    pub(super) fn slot(&self, kind: Kind, event_type: EventTypeId) -> u8 {
        let at = kind.index() * self.types + event_type.index();
        self.slots.get(at).copied().unwrap_or(NONE)
    }

    /// The same, but makes one if there is none. `None` if there are too many.
    pub(super) fn slot_or_add(&mut self, kind: Kind, event_type: EventTypeId) -> Option<u8> {
        let used = self.used.get_mut(kind.index())?;
        let slot = self.slots.get_mut(kind.index() * self.types + event_type.index())?;
        if *slot == NONE && *used < NONE {
            *slot = *used;
            *used += 1;
        }
        (*slot != NONE).then_some(*slot)
    }

    /// How many types leaves of a kind have counters for.
    pub(super) fn used(&self, kind: Kind) -> u8 {
        self.used.get(kind.index()).copied().unwrap_or(0)
    }

    /// By kind: the types that its leaves have counters for, in order, each with its
    /// place.
    pub(super) fn types(&self) -> Vec<Vec<(EventTypeId, u8)>> {
        let of = |slots: &[u8]| {
            let all = (0..).map(EventTypeId).zip(slots.iter().copied());
            all.filter(|(_, slot)| *slot != NONE).collect()
        };
        self.slots.chunks(self.types.max(1)).map(of).collect()
    }
}

/// A mode and submode in one number.
#[inline]
fn place(mode: ExecutionMode, submode: NameId) -> usize {
    submode.index() << 3 | mode as usize
}
