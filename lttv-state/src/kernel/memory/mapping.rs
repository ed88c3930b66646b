//! Mappings, and the address space that they make up.

use std::ops::Range;

use crate::kernel::names::NameId;

/// The maximum number of mappings of a process.
pub(super) const MAX_MAPPINGS: usize = 1 << 14;
/// The unit to which the kernel rounds lengths up. Machines with larger pages round to those.
const PAGE: u64 = 4096;

/// A mapped range of the addresses of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mapping {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) access: Access,
    pub(super) backing: Backing,
}

/// The bits of `PROT_READ`, `PROT_WRITE` and `PROT_EXEC`, and 8 for a shared mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Access(u8);

/// The contents of a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backing {
    /// Memory without a file.
    Anonymous,
    /// Memory below the program break, without a file.
    Heap,
    /// A file that the process mapped.
    File {
        /// The descriptor of the file when it was mapped.
        descriptor: i32,
        /// The name of the file; empty if unknown.
        name: NameId,
        /// The position in the file of the first byte of the mapping.
        offset: u64,
    },
    /// A file that was mapped before the trace, from a state dump.
    Inode {
        /// The number of the file in its file system.
        number: u64,
        /// The position in the file of the first byte of the mapping.
        offset: u64,
    },
}

impl Mapping {
    /// Returns the addresses from the first byte to the one after the last byte.
    pub fn addresses(&self) -> Range<u64> {
        self.start..self.end
    }

    /// Returns `true` if the process may read.
    pub fn is_readable(&self) -> bool {
        self.access.0 & 1 != 0
    }

    /// Returns `true` if the process may write.
    pub fn is_writable(&self) -> bool {
        self.access.0 & 2 != 0
    }

    /// Returns `true` if the process may execute the contents as code.
    pub fn is_executable(&self) -> bool {
        self.access.0 & 4 != 0
    }

    /// Returns `true` if other processes see what the process writes.
    pub fn is_shared(&self) -> bool {
        self.access.0 & Access::SHARED != 0
    }

    /// Returns the contents: memory or a file.
    pub fn backing(&self) -> Backing {
        self.backing
    }

    /// Returns the part of the mapping from an address on.
    fn from(self, start: u64) -> Self {
        let passed = start.saturating_sub(self.start);
        let backing = match self.backing {
            Backing::File { descriptor, name, offset } => {
                Backing::File { descriptor, name, offset: offset.saturating_add(passed) }
            }
            Backing::Inode { number, offset } => {
                Backing::Inode { number, offset: offset.saturating_add(passed) }
            }
            other => other,
        };
        Mapping { start, backing, ..self }
    }
}

impl Access {
    const SHARED: u8 = 8;
    const PROTECTION: u8 = 7;

    /// Creates an access from bits of `PROT_READ`, `PROT_WRITE` and `PROT_EXEC`; others are
    /// ignored.
    pub(super) fn new(protection: u64, is_shared: bool) -> Self {
        let shared = if is_shared { Access::SHARED } else { 0 };
        Access(shared | protection as u8 & Access::PROTECTION)
    }
}

/// The mappings of a process, ordered by address. They do not overlap.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Space {
    mappings: Vec<Mapping>,
    /// The program break; `None` before it is known.
    program_break: Option<u64>,
}

/// Returns the range of addresses that a system call means; `None` if it is empty or beyond
/// the last address.
pub(super) fn range(start: u64, length: u64) -> Option<Range<u64>> {
    let length = length.checked_next_multiple_of(PAGE)?;
    let end = start.checked_add(length)?;
    (length > 0).then_some(start..end)
}

impl Space {
    pub(super) fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    /// Adds a mapping in place of all others at its addresses. It is left out if there are
    /// too many.
    pub(super) fn map(&mut self, mapping: Mapping) {
        self.unmap(mapping.addresses());
        if self.mappings.len() < MAX_MAPPINGS {
            let at = self.mappings.partition_point(|of| of.start < mapping.start);
            self.mappings.insert(at, mapping);
        }
    }

    /// Adds a mapping, unless another one has any of its addresses.
    pub(super) fn map_if_free(&mut self, mapping: Mapping) {
        let next = self.mappings.partition_point(|of| of.end <= mapping.start);
        if self.mappings.get(next).is_none_or(|next| next.start >= mapping.end) {
            self.map(mapping);
        }
    }

    /// Removes the mappings in a range.
    pub(super) fn unmap(&mut self, range: Range<u64>) {
        let within = self.split(&range);
        self.mappings.drain(within);
    }

    /// Changes what the process may do in a range.
    pub(super) fn protect(&mut self, range: Range<u64>, protection: u64) {
        let within = self.split(&range);
        for mapping in &mut self.mappings[within] {
            mapping.access = Access::new(protection, mapping.is_shared());
        }
    }

    /// Moves, grows or shrinks the mapping at an address. With `keeps`, the old range stays
    /// mapped.
    pub(super) fn remap(&mut self, old: Range<u64>, new: Range<u64>, keeps: bool) {
        let at = self.mappings.partition_point(|of| of.end <= old.start);
        let Some(mapping) = self.mappings.get(at).filter(|of| of.start <= old.start) else {
            return;
        };
        let mapping = mapping.from(old.start);
        if !keeps {
            self.unmap(old);
        }
        self.map(Mapping { start: new.start, end: new.end, ..mapping });
    }

    /// Applies the result of `brk`: the program break is at an address now.
    pub(super) fn set_break(&mut self, now: u64) {
        let Some(before) = self.program_break.replace(now) else { return };
        let round = |address: u64| address.checked_next_multiple_of(PAGE).unwrap_or(address);
        let (before, now) = (round(before), round(now));
        if now < before {
            return self.unmap(now..before);
        }
        if now > before {
            let access = Access::new(1 | 2, false);
            // The heap grows as one mapping.
            let at = self.mappings.partition_point(|of| of.end < before);
            match self.mappings.get_mut(at) {
                Some(heap)
                    if heap.end == before
                        && (heap.backing, heap.access) == (Backing::Heap, access) =>
                {
                    let start = heap.start;
                    self.unmap(before..now);
                    if let Some(heap) = self.mappings.iter_mut().find(|of| of.start == start) {
                        heap.end = now;
                    }
                }
                _ => self.map(Mapping { start: before, end: now, access, backing: Backing::Heap }),
            }
        }
    }

    /// Splits the mappings at both ends of a range, and returns the indices of those within.
    fn split(&mut self, range: &Range<u64>) -> Range<usize> {
        let [start, end] = [range.start, range.end].map(|address| self.split_at(address));
        start..end.max(start)
    }

    /// Splits the mapping that contains an address, and returns the index of the first one
    /// that does not start before it. A part too many is left out.
    fn split_at(&mut self, address: u64) -> usize {
        let at = self.mappings.partition_point(|of| of.start < address);
        let Some(before) = at.checked_sub(1) else { return at };
        let mapping = self.mappings[before];
        if mapping.end > address {
            self.mappings[before].end = address;
            if self.mappings.len() < MAX_MAPPINGS {
                self.mappings.insert(at, mapping.from(address));
            }
        }
        at
    }
}
