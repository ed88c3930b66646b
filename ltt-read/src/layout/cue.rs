//! Cues: the visitor calls for a region's fields, prepared in order.
//!
//! Nodes contain all information for reading a single field. To visit every field, a walk
//! goes through the cues instead, which need no further analysis.

use super::node::{Node, NodeKind};
use super::program::{Len, Slot};
use super::{FieldInfo, WordRead};
use crate::schema::Encoding;

/// A prepared visitor call. The field is `offset` bits after its base, and the base is at
/// `slots[anchor] + base`. A walk computes the base at the first cue and at each
/// [`CueKind::Base`].
#[derive(Debug)]
pub(crate) struct Cue {
    pub(crate) kind: CueKind,
    /// The offset in bytes, for the kinds that need it.
    pub(crate) at: u8,
    pub(crate) anchor: Slot,
    pub(crate) base: u64,
    pub(crate) offset: u64,
    /// The encoding of an integer.
    pub(crate) word: WordRead,
    pub(crate) info: FieldInfo,
}

/// The reference point of cues: a number of bits after an anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) anchor: Slot,
    pub(crate) offset: u64,
}

impl Base {
    /// The greatest distance after the base, in bytes, at which a number or a short text is
    /// read without a bounds check.
    pub(crate) const REACH: usize = u8::MAX as usize;

    /// Returns the base for a node that cannot use the base of a previous node.
    pub(crate) fn of(node: &Node) -> Self {
        Base { anchor: node.anchor, offset: node.offset / 8 * 8 }
    }

    /// Returns `true` if this base can be used for a node, too.
    pub(crate) fn reaches(self, node: &Node) -> bool {
        let distance = node.offset.wrapping_sub(self.offset);
        self.anchor == node.anchor && distance / 8 <= Self::REACH as u64
    }
}

/// The kind of a cue, distinguished by one branch: the most frequent kinds of fields, and
/// references to the nodes of all other fields.
///
/// Successive integers of one kind are a run of up to four, with straight-line code: the fewer
/// branches an event takes, the better they are predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CueKind {
    /// An unsigned integer that starts at a byte and is one load.
    Uint,
    /// Such an integer, followed by cues of one, two or three of them.
    Uint2,
    Uint3,
    Uint4,
    /// A little-endian signed integer of 32 bits.
    Int,
    /// Such an integer, followed by cues of one, two or three of them.
    Int2,
    Int3,
    Int4,
    /// Any other signed integer that starts at a byte and is one load.
    Sint,
    /// A little-endian number of 64 bits.
    F64,
    /// A UTF-8 string of 16 bytes, in which a null byte may end the text early. Names of
    /// threads are the most frequent strings of all.
    Text16,
    /// A null-terminated UTF-8 string that ends at the anchor `end`.
    Utf8 {
        end: Slot,
    },
    /// A UTF-8 string of `len` bytes, in which a null byte may end the text early.
    Text {
        len: u32,
    },
    /// Such a string whose length is in a slot.
    TextOf {
        len: Slot,
    },
    /// A sequence of little-endian numbers of `size` bytes. The cue of its elements follows.
    Numbers {
        len: Slot,
        size: u8,
    },
    /// Any other field that contains no fields.
    Scalar {
        node: u32,
    },
    BeginStruct,
    EndStruct,
    /// No call. The cues after it have another base.
    Base,
    /// An array, a variant or an option: the data determines the calls of the cues up to
    /// `next`.
    Dynamic {
        node: u32,
        next: u32,
    },
}

impl Cue {
    /// Creates the cue of the node `index`, after those of the fields within it.
    /// `at_byte` is `true` if the node is known to start at a byte boundary.
    pub(crate) fn new(index: u32, node: &Node, base: Base, at_byte: bool) -> Self {
        let offset = node.offset.wrapping_sub(base.offset);
        let at = u8::try_from(offset / 8).ok().filter(|_| at_byte && offset.is_multiple_of(8));
        let read = match node.kind {
            NodeKind::Uint(read) | NodeKind::Sint(read) => Some(read),
            _ => None,
        };
        // It starts at a byte, whatever its class demands.
        let word = at.and(read).and_then(|read| WordRead::new(read, 8));
        let kind = match (&node.kind, at, word) {
            (NodeKind::Uint(_), _, Some(_)) => Some(CueKind::Uint),
            (NodeKind::Sint(read), _, Some(_)) if read.bits() == 32 => Some(CueKind::Int),
            (NodeKind::Sint(_), _, Some(_)) => Some(CueKind::Sint),
            (NodeKind::Float64(read), Some(_), _) if read.is_little_endian() => Some(CueKind::F64),
            (NodeKind::Text { encoding: Encoding::Utf8, len }, Some(_), _)
                if len.constant() == Some(16) =>
            {
                Some(CueKind::Text16)
            }
            (kind, ..) => Self::kind(index, kind, node),
        };
        Cue {
            kind: kind.unwrap_or(CueKind::Scalar { node: index }),
            at: at.unwrap_or(0),
            anchor: base.anchor,
            base: base.offset,
            offset,
            word: word.unwrap_or(WordRead::ALL),
            info: node.info.clone(),
        }
    }

    /// Returns the kind of a field other than a number of whole bytes; `None` if there is
    /// no special kind for it.
    fn kind(index: u32, kind: &NodeKind, node: &Node) -> Option<CueKind> {
        match kind {
            NodeKind::Terminated { encoding: Encoding::Utf8, end } => {
                Some(CueKind::Utf8 { end: *end })
            }
            NodeKind::Text { encoding: Encoding::Utf8, len: Len::Slot(len) } => {
                Some(CueKind::TextOf { len: *len })
            }
            NodeKind::Text { encoding: Encoding::Utf8, len } => len.constant().and_then(|len| {
                let len = u32::try_from(len).ok()?;
                Some(CueKind::Text { len })
            }),
            NodeKind::Struct => Some(CueKind::BeginStruct),
            _ if node.is_compound() => Some(CueKind::Dynamic { node: index, next: node.cues.1 }),
            _ => None,
        }
    }

    /// Returns `true` if the field contains no other fields.
    pub(crate) fn is_scalar(&self) -> bool {
        use CueKind::{Base, BeginStruct, Dynamic, EndStruct, Numbers};
        !matches!(self.kind, BeginStruct | EndStruct | Base | Numbers { .. } | Dynamic { .. })
    }

    /// Returns `true` if elements with this cue at a distance of `stride` bits are numbers of whole bytes
    /// without gaps.
    pub(crate) fn is_number_of(&self, stride: u64) -> bool {
        use CueKind::{F64, Int, Sint, Uint};
        let bits = self.word.bits();
        stride == bits.into()
            && matches!(
                (self.kind, bits),
                (Uint, 8 | 16 | 32 | 64) | (Sint, 8 | 16 | 64) | (Int | F64, _)
            )
    }

    /// Returns `true` if the data determines which of the following calls are made.
    pub(crate) fn is_dynamic(&self) -> bool {
        matches!(self.kind, CueKind::Dynamic { .. })
    }

    /// Returns the base of the cue.
    pub(crate) fn base_of(&self) -> Base {
        Base { anchor: self.anchor, offset: self.base }
    }

    /// Creates the cue for the end of a structure, after cues with the base `base`.
    pub(crate) fn end(node: &Node, base: Base) -> Self {
        Cue::without_field(CueKind::EndStruct, node, base)
    }

    /// Creates the cue for a change of the base before the cue of a node.
    pub(crate) fn base(node: &Node, base: Base) -> Self {
        Cue::without_field(CueKind::Base, node, base)
    }

    fn without_field(kind: CueKind, node: &Node, base: Base) -> Self {
        let Base { anchor, offset: base } = base;
        Cue { kind, at: 0, anchor, base, offset: 0, word: WordRead::ALL, info: node.info.clone() }
    }
}

/// Joins successive integers of structures to runs.
pub(crate) fn join(nodes: &[Node], cues: &mut [Cue]) {
    for (index, node) in nodes.iter().enumerate() {
        if !matches!(node.kind, NodeKind::Struct) {
            continue;
        }
        // Members in other members are joined by those.
        let next = |i: &usize| Some(nodes.get(*i)?.next as usize);
        let members = std::iter::successors(Some(index + 1), next);
        let members = members.take_while(|i| *i < node.next as usize);
        let members: Vec<usize> = members.map(|i| nodes[i].cues.0 as usize).collect();
        for pair in members.windows(2).rev() {
            let (at, after) = (pair[0], pair[1]);
            if after != at + 1 {
                continue;
            }
            use CueKind::{Int, Int2, Int3, Int4, Uint, Uint2, Uint3, Uint4};
            let joined = match (cues[at].kind, cues[after].kind) {
                (Uint, Uint) => Uint2,
                (Uint, Uint2) => Uint3,
                (Uint, Uint3 | Uint4) => Uint4,
                (Int, Int) => Int2,
                (Int, Int2) => Int3,
                (Int, Int3 | Int4) => Int4,
                (kind, _) => kind,
            };
            cues[at].kind = joined;
        }
    }
}
