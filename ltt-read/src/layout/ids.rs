//! Event ids, mapped to event types and to data about their bodies.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;

use super::skip::BranchlessSkip;
use crate::report::DecodeError;
use crate::schema::EventTypeId;

/// A map from event ids to event types: an array for small ids, a hash map for the
/// others.
///
/// The array also has the sizes of bodies, once they are known, so that the decoding loop
/// finds both in one word.
#[derive(Debug)]
pub(crate) struct IdTable {
    dense: Box<[AtomicU64]>,
    /// For each small id, the branchless skip of its bodies. They are kept apart, so that an entry
    /// is found by one load at eight times the id.
    skips: Box<[OnceLock<BranchlessSkip>]>,
    sparse: HashMap<u64, EventTypeId>,
    only: Option<EventTypeId>,
}

/// A packed entry of the dense part. From the lowest bit on, it contains the event type,
/// the alignment of the body in bytes as a power of two, and the size code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IdEntry(u64);

impl IdEntry {
    pub(crate) const NONE: IdEntry = IdEntry(u32::MAX as u64);
    // Size codes: 0 = not known yet, 1 = dynamic, others = size in bits + 2.
    const DYNAMIC: u64 = 1;
    const ALIGN: u32 = 32;
    const SIZE: u32 = 35;

    fn new(event: EventTypeId, align: u32, fixed: Option<u64>) -> IdEntry {
        let most = u64::MAX >> Self::SIZE;
        let code = fixed.and_then(|bits| bits.checked_add(2)).filter(|code| *code <= most);
        let align = u64::from(align.min(7));
        let code = code.unwrap_or(Self::DYNAMIC);
        IdEntry(code << Self::SIZE | align << Self::ALIGN | u64::from(event.0))
    }

    pub(crate) fn event(self) -> EventTypeId {
        EventTypeId(self.0 as u32)
    }

    /// Returns the size of the body in bits; `None` if it is dynamic or not known yet.
    #[inline(always)]
    pub(crate) fn fixed(self) -> Option<u64> {
        (self.0 >> Self::SIZE).checked_sub(2)
    }

    /// Returns `true` if the size of the body is dynamic.
    #[inline(always)]
    pub(crate) fn is_dynamic(self) -> bool {
        self.0 >> Self::SIZE == Self::DYNAMIC
    }

    /// Returns the alignment of the body in bits, minus 1, for formats in which the
    /// header does not include the padding.
    #[inline(always)]
    pub(crate) fn align_mask(self) -> u64 {
        (8 << (self.0 >> Self::ALIGN & 7)) - 1
    }
}

/// The entries of small ids.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DenseIds<'t>(&'t [AtomicU64]);

impl DenseIds<'_> {
    /// Returns the entry of an id; `None` if it is not a small one.
    #[inline(always)]
    pub(crate) fn entry(self, id: u64) -> Option<IdEntry> {
        Some(IdEntry(self.0.get(id as usize)?.load(Ordering::Relaxed)))
    }
}

impl IdTable {
    /// Creates the map. Ids below `dense` are in the array, whatever their number.
    pub(super) fn new(ids: Vec<(u64, EventTypeId)>, dense: u64) -> Self {
        let limit = (ids.len() as u64 * 4).max(256).max(dense);
        let ends = ids.iter().map(|(id, _)| id.saturating_add(1));
        let dense_len = ends.filter(|n| *n <= limit).max().unwrap_or(0);
        let mut dense: Box<[AtomicU64]> =
            (0..dense_len).map(|_| AtomicU64::new(IdEntry::NONE.0)).collect();
        let mut sparse = HashMap::new();
        for (id, event) in &ids {
            match dense.get_mut(usize::try_from(*id).unwrap_or(usize::MAX)) {
                Some(entry) => *entry = AtomicU64::new(event.0.into()),
                None => drop(sparse.insert(*id, *event)),
            }
        }
        let only = if let [(_, event)] = ids[..] { Some(event) } else { None };
        IdTable { dense, skips: (0..dense_len).map(|_| OnceLock::new()).collect(), sparse, only }
    }

    /// Returns the entry of a small id; `None` if the id is not in the dense part.
    #[inline(always)]
    pub(crate) fn entry(&self, id: u64) -> Option<IdEntry> {
        self.dense().entry(id)
    }

    /// Returns the entries of all small ids.
    #[inline(always)]
    pub(crate) fn dense(&self) -> DenseIds<'_> {
        DenseIds(&self.dense)
    }

    /// Returns the branchless skip of the bodies of an id, if it is known.
    #[inline(always)]
    pub(crate) fn skip(&self, id: u64) -> Option<&BranchlessSkip> {
        self.skips.get(id as usize)?.get()
    }

    /// Stores the alignment of the body for an id, in bytes as a power of two of at most
    /// 7, and the size of the body in bits if it is fixed.
    #[cold]
    pub(crate) fn note_size(&self, id: u64, event: EventTypeId, align: u32, fixed: Option<u64>) {
        if let Some(dense) = self.dense.get(usize::try_from(id).unwrap_or(usize::MAX)) {
            dense.store(IdEntry::new(event, align, fixed).0, Ordering::Relaxed);
        }
    }

    /// Stores the branchless skip of the bodies of an id.
    #[cold]
    pub(crate) fn note_skip(&self, id: u64, skip: BranchlessSkip) {
        if let Some(known) = self.skips.get(usize::try_from(id).unwrap_or(usize::MAX)) {
            // Another thread may have stored the same skip.
            _ = known.set(skip);
        }
    }

    pub(super) fn get(&self, id: Option<u64>) -> Result<EventTypeId, DecodeError> {
        let id = match id {
            Some(id) => id,
            None => match self.only {
                Some(event) => return Ok(event),
                None => 0,
            },
        };
        let small = usize::try_from(id).ok().and_then(|i| self.dense.get(i));
        match small.map(|dense| IdEntry(dense.load(Ordering::Relaxed))) {
            Some(entry) if entry.event() != IdEntry::NONE.event() => Ok(entry.event()),
            _ => self.get_sparse(id),
        }
    }

    fn get_sparse(&self, id: u64) -> Result<EventTypeId, DecodeError> {
        self.sparse.get(&id).copied().ok_or(DecodeError::UnknownEventType { id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_ids_are_found() {
        let far = u64::MAX;
        let table = IdTable::new(vec![(3, EventTypeId(0)), (far, EventTypeId(1))], 0);
        assert_eq!(table.get(Some(3)), Ok(EventTypeId(0)));
        assert_eq!(table.get(Some(far)), Ok(EventTypeId(1)));
        assert_eq!(table.get(Some(4)), Err(DecodeError::UnknownEventType { id: 4 }));
        assert_eq!(table.get(None), Err(DecodeError::UnknownEventType { id: 0 }));
        let single = IdTable::new(vec![(7, EventTypeId(5))], 0);
        assert_eq!(single.get(None), Ok(EventTypeId(5)));
    }
}
