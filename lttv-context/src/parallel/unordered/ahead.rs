//! File ranges that threads read next, to be prefetched by other threads.

use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};

use ltt_read::tuning::Upcoming;
use ltt_read::{TraceIndex, TracefileIndex};

use crate::traceset::Traceset;

/// The number of bytes that are prefetched before threads take their pieces.
const WINDOW: u64 = 64 << 20;

/// The size and alignment of prefetched ranges: the size of a large page.
const PART: u64 = 2 << 20;

/// The number of bytes that threads take between two times that parts are passed: small pieces are thousands.
const STEP: u64 = 4 << 20;

/// File ranges to prefetch, in the order in which threads take pieces of them. Pieces
/// end at packets, which are not known in advance, so that the places are those of the pieces up to
/// some packets.
pub(super) struct Ahead<'a> {
    traceset: &'a Traceset,
    tracefiles: &'a [(TraceIndex, TracefileIndex, bool)],
    /// The size of a piece in bytes.
    piece: u64,
    plan: Mutex<Plan>,
}

#[derive(Debug)]
struct Plan {
    /// The bytes that are left of each tracefile, its number, and the offset at which they begin.
    rests: BinaryHeap<(u64, usize, u64)>,
    /// The piece that is being prefetched: the number of its tracefile, its begin and its end.
    piece: (usize, u64, u64),
    /// The numbers of bytes that have been prefetched, and of bytes in pieces that threads have taken.
    asked: u64,
    taken: u64,
    /// The number of bytes that threads have to take before parts are passed again.
    passed_again: u64,
}

impl<'a> Ahead<'a> {
    /// Creates a plan of tracefiles with the given sizes; `None` for those that are left out.
    pub(super) fn new(
        traceset: &'a Traceset,
        tracefiles: &'a [(TraceIndex, TracefileIndex, bool)],
        sizes: &[Option<u64>],
        piece: u64,
    ) -> Self {
        let rests = sizes.iter().enumerate();
        let rests = rests.filter_map(|(number, size)| size.map(|size| (size, number, 0))).collect();
        let plan = Plan { rests, piece: (0, 0, 0), asked: 0, taken: 0, passed_again: 0 };
        Ahead { traceset, tracefiles, piece, plan: Mutex::new(plan) }
    }

    /// Returns `true` if something was requested.
    pub(super) fn is_used(&self) -> bool {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).asked > 0
    }

    /// Records that a piece was taken, and passes the next ranges to prefetch to `ahead`.
    pub(super) fn take(&self, bytes: u64, ahead: impl FnOnce(&mut dyn Iterator<Item = Upcoming>)) {
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        plan.taken += bytes;
        if plan.taken < plan.passed_again {
            return;
        }
        plan.passed_again = plan.taken + STEP;
        let parts = std::iter::from_fn(|| plan.next(self.piece));
        ahead(&mut parts.flat_map(|(tracefile, bytes)| {
            let (trace, index, _) = self.tracefiles[tracefile];
            Upcoming::of(&self.traceset.traces()[trace.0], index, bytes)
        }));
    }
}

impl Plan {
    /// Returns the next part of a tracefile within the window.
    fn next(&mut self, piece: u64) -> Option<(usize, std::ops::Range<u64>)> {
        while self.asked < self.taken.saturating_add(WINDOW) {
            let (tracefile, begin, end) = self.piece;
            if begin >= end {
                let (bytes, tracefile, begin) = self.rests.pop()?;
                let size = if bytes < piece.saturating_add(piece / 2) { bytes } else { piece };
                if size < bytes {
                    self.rests.push((bytes - size, tracefile, begin + size));
                }
                self.piece = (tracefile, begin, begin + size);
                continue;
            }
            let until = end.min((begin / PART + 1) * PART);
            self.piece.1 = until;
            self.asked += until - begin;
            // What threads have taken is on its way, unless nothing was requested until now.
            if self.asked > self.taken || self.taken == 0 {
                return Some((tracefile, begin..until));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(sizes: &[u64]) -> Plan {
        let rests = sizes.iter().enumerate().map(|(number, size)| (*size, number, 0)).collect();
        Plan { rests, piece: (0, 0, 0), asked: 0, taken: 0, passed_again: 0 }
    }

    /// Every byte is prefetched once, in order in each tracefile, and no more than the window in advance.
    #[test]
    fn all_bytes_are_asked_for_once() {
        let sizes = [200 << 20, 3, 0, (90 << 20) + 1, 17 << 20];
        let (mut plan, mut asked, mut total) = (plan(&sizes), [0; 5], 0);
        loop {
            while let Some((tracefile, bytes)) = plan.next(16 << 20) {
                assert_eq!(bytes.start, asked[tracefile]);
                assert!(bytes.start < bytes.end && bytes.end <= sizes[tracefile]);
                asked[tracefile] = bytes.end;
                total += bytes.end - bytes.start;
                assert!(total <= plan.taken + WINDOW + PART, "{total} at {}", plan.taken);
            }
            if plan.taken > sizes.iter().sum() {
                break;
            }
            assert!(total >= sizes.iter().sum::<u64>().min(plan.taken + WINDOW));
            plan.taken += 15 << 20;
        }
        assert_eq!(asked, sizes);
    }

    /// Pieces that were taken before the first prefetch are not prefetched.
    #[test]
    fn what_threads_read_already_is_passed_over() {
        let mut plan = plan(&[100 << 20, 40 << 20]);
        plan.taken = 50 << 20;
        let parts: Vec<_> = std::iter::from_fn(|| plan.next(16 << 20)).collect();
        let bytes: u64 = parts.iter().map(|(_, bytes)| bytes.end - bytes.start).sum();
        assert!((WINDOW..=WINDOW + 2 * PART).contains(&bytes), "{bytes}");
        assert_eq!(parts[0].0, 0);
        assert!(parts[0].1.start >= 46 << 20);
    }
}
