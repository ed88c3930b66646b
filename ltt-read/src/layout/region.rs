//! A compiled region of a packet: its program and its nodes.

use smallvec::SmallVec;

use super::cue::Cue;
use super::hops::Hops;
use super::node::Node;
use super::program::{Cost, Op, Scratch, Slot, Window, run};
use super::strides::Strides;
use crate::error::DecodeError;
use crate::schema::ByteOrder;

/// What is known of a bit position before decoding: `rest` modulo `modulus`,
/// a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Phase {
    pub(crate) modulus: u64,
    pub(crate) rest: u64,
}

impl Phase {
    /// A multiple of `align` bits.
    pub(crate) fn aligned(align: u64) -> Self {
        Phase { modulus: align, rest: 0 }
    }

    /// Whether it is known to be a byte boundary.
    pub(crate) fn is_byte(self) -> bool {
        self.modulus >= 8 && self.rest.is_multiple_of(8)
    }

    pub(crate) fn plus(self, bits: u64) -> Self {
        Phase { rest: (self.rest.wrapping_add(bits)) & (self.modulus - 1), ..self }
    }

    /// What is known when nothing beyond `modulus` is.
    pub(crate) fn weaken(self, modulus: u64) -> Self {
        let modulus = self.modulus.min(modulus);
        Phase { modulus, rest: self.rest & (modulus - 1) }
    }

    /// What holds for both.
    pub(crate) fn common(self, other: Self) -> Self {
        let modulus = self.modulus.min(other.modulus);
        let differ = (self.rest ^ other.rest) & (modulus - 1);
        self.weaken(if differ == 0 { modulus } else { 1 << differ.trailing_zeros() })
    }
}

/// Where a region begins, and what is known there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    /// The anchor that holds the region's first position.
    pub(crate) anchor: Slot,
    /// First slot that the region may use for anchors of its own.
    pub(crate) free_slot: Slot,
    pub(crate) phase: Phase,
    /// Byte order of the field before it, if known.
    pub(crate) order: Option<ByteOrder>,
}

/// A compiled region: one or more scopes that follow each other.
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) ops: Box<[Op]>,
    /// The same as hops, if it can be said so.
    pub(crate) hops: Option<Hops>,
    /// And these as strides.
    pub(crate) strides: Option<Strides>,
    pub(crate) nodes: Box<[Node]>,
    pub(crate) cues: Box<[Cue]>,
    /// First node of each scope's root structure.
    pub(crate) roots: SmallVec<[Option<u32>; 3]>,
    /// Size in bits, if it is always the same.
    pub(crate) fixed: Option<u64>,
    /// Slots that must exist to run the program: `0..slots`.
    pub(crate) slots: Slot,
    /// Whether walking the nodes moves element anchors.
    pub(crate) moves_anchors: bool,
    pub(crate) start: Start,
    pub(crate) end_phase: Phase,
    pub(crate) end_order: Option<ByteOrder>,
}

impl Region {
    /// [`run`](Self::run), for those who let others find out what is wrong.
    #[inline(always)]
    pub(crate) fn end(&self, window: Window<'_>, pos: u64, scratch: &mut Scratch) -> Option<u64> {
        if pos > window.end {
            return None;
        }
        let Some(hops) = &self.hops else { return self.run(window, pos, scratch).ok() };
        let slots = scratch.slots.get_mut(..self.slots as usize)?;
        *slots.get_mut(self.start.anchor as usize)? = pos;
        hops.end(window, pos, slots)
    }

    /// Finds the end of the region that begins at `pos`, noting anchors.
    pub(crate) fn run(
        &self,
        window: Window<'_>,
        pos: u64,
        scratch: &mut Scratch,
    ) -> Result<u64, DecodeError> {
        if scratch.slots.len() < self.slots as usize {
            scratch.slots.resize(self.slots as usize, 0);
        }
        scratch.slots[self.start.anchor as usize] = pos;
        // Two visitor calls at most for each field, if it is there once.
        scratch.cost = Cost::of_region(pos, 2 * self.nodes.len() as u64);
        run(&self.ops, window, pos, scratch)
    }
}
