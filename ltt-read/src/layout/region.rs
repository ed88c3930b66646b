//! Compiled regions of a packet: program, skip tables and nodes.

use smallvec::SmallVec;

use super::FieldInfo;
use super::cue::{Base, Cue, CueKind};
use super::node::Node;
use super::phase::Phase;
use super::program::{Cost, Op, Scratch, Slot, Window, run};
use super::shape::Shape;
use super::skip::{BranchlessSkip, ByteAlignedSkip, DynamicSkip};
use crate::report::DecodeError;
use crate::schema::ByteOrder;

/// The start of a region, and the static knowledge about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    /// The anchor that holds the region's first position.
    pub(crate) anchor: Slot,
    /// The first slot that the region may use for its own anchors.
    pub(crate) free_slot: Slot,
    pub(crate) phase: Phase,
    /// The byte order of the previous field, if known.
    pub(crate) order: Option<ByteOrder>,
}

/// A compiled region: one or more successive scopes.
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) ops: Box<[Op]>,
    /// The equivalent of `ops` as a skip table, if their form allows it.
    pub(crate) dynamic_skip: Option<DynamicSkip>,
    /// The equivalent of `dynamic_skip` without anchors and slots, if its form allows it.
    pub(crate) byte_aligned_skip: Option<ByteAlignedSkip>,
    pub(crate) nodes: Box<[Node]>,
    /// The first node of each scope's root structure; `None` for a scope without fields.
    pub(crate) roots: SmallVec<[Option<u32>; 3]>,
    /// The visits of these roots, without gaps.
    pub(crate) visits: Box<[RootVisit]>,
    /// The size in bits, if it is constant.
    pub(crate) fixed: Option<u64>,
    /// The number of slots that the program requires.
    pub(crate) slots: Slot,
    /// `true` if visiting the nodes changes the anchors of elements.
    pub(crate) moves_anchors: bool,
    pub(crate) start: Start,
    pub(crate) end_phase: Phase,
    pub(crate) end_order: Option<ByteOrder>,
}

/// The way to visit a root structure.
#[derive(Debug)]
pub(crate) struct RootVisit {
    pub(crate) info: FieldInfo,
    pub(crate) shape: Shape,
    /// The base of the first member; only of use with a shape.
    pub(crate) base: Base,
    /// `true` if that is the base of the root structure before it, too.
    pub(crate) keeps_base: bool,
    /// The cues of its members. Nodes and cues number them from here on.
    pub(crate) cues: Box<[Cue]>,
}

impl RootVisit {
    /// Creates the visit of a root structure, and takes its cues, the last ones of `cues`.
    pub(crate) fn new(root: usize, nodes: &mut [Node], cues: &mut Vec<Cue>) -> Self {
        // The base of a walk is computed at its first cue in any case.
        let begin = nodes[root].cues.0;
        let changes_base = cues.get(begin as usize).is_some_and(|cue| cue.kind == CueKind::Base);
        let first = begin + u32::from(changes_base);
        nodes[root].cues.0 = first;
        let own = cues.split_off(first as usize);
        cues.truncate(begin as usize);
        let mut cues = own.into_boxed_slice();
        for cue in &mut cues {
            if let CueKind::Dynamic { next, .. } = &mut cue.kind {
                *next -= first;
            }
        }
        let next = nodes[root].next as usize;
        for node in &mut nodes[root..next] {
            node.cues = (node.cues.0 - first, node.cues.1 - first);
        }
        RootVisit {
            info: nodes[root].info.clone(),
            shape: Shape::of(&cues),
            base: cues.first().map_or(Base::of(&nodes[root]), Cue::base_of),
            keeps_base: false,
            cues,
        }
    }
}

impl Region {
    /// Returns the way to visit the root structure at a node; `None` if it is none.
    pub(crate) fn visit_of(&self, node: usize) -> Option<&RootVisit> {
        self.visits.iter().find(|visit| visit.info.index() == node)
    }

    /// Returns the branchless skip of the region, if its form allows it.
    pub(crate) fn branchless_skip(&self) -> Option<BranchlessSkip> {
        let byte_aligned = self.byte_aligned_skip.as_ref();
        BranchlessSkip::new(self.start.phase, self.fixed, byte_aligned, self.slots)
    }

    /// Computes the end of the region that starts at `pos`, and notes anchors and slots.
    /// `None` if the data is not sound; [`run`](Self::run) then returns the error.
    #[inline(always)]
    pub(crate) fn end(&self, window: Window<'_>, pos: u64, scratch: &mut Scratch) -> Option<u64> {
        if pos > window.end {
            return None;
        }
        let Some(skip) = &self.dynamic_skip else {
            return self.run(window, pos, scratch).ok();
        };
        let slots = scratch.slots.get_mut(..self.slots as usize)?;
        *slots.get_mut(self.start.anchor as usize)? = pos;
        skip.end(window, pos, slots)
    }

    /// Computes the end of the region that starts at `pos`, and notes anchors and slots.
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
        // Each field causes at most two visitor calls if it occurs once.
        scratch.cost = Cost::of_region(pos, 2 * self.nodes.len() as u64);
        run(&self.ops, window, pos, scratch)
    }
}
