//! Cues: the visitor calls for a region's fields, prepared in order.
//!
//! Nodes contain all information for reading a single field. To visit every field, a walk
//! goes through the cues instead, which need no further analysis.

use super::node::{Node, NodeKind};
use super::program::Slot;
use super::{FieldInfo, FixedRead};
use crate::schema::Encoding;

/// A prepared visitor call. The field is `offset` bits after its base, and the base is at
/// `slots[anchor] + base`. A walk computes the base at the first cue and at each
/// [`CueKind::Base`].
#[derive(Debug)]
pub(crate) struct Cue {
    pub(crate) kind: CueKind,
    pub(crate) anchor: Slot,
    pub(crate) base: u64,
    pub(crate) offset: u64,
    pub(crate) info: FieldInfo,
}

/// The reference point of cues: a number of bits after an anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) anchor: Slot,
    pub(crate) offset: u64,
}

impl Base {
    /// The greatest distance after the base, in bytes, at which an integer is read
    /// without a bounds check.
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
/// references to the nodes of all other fields. Numbers consist of whole bytes in
/// little-endian order, `at` bytes after their base, so that each is one load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CueKind {
    U8 {
        at: u8,
    },
    U16 {
        at: u8,
    },
    U32 {
        at: u8,
    },
    U64 {
        at: u8,
    },
    I32 {
        at: u8,
    },
    I64 {
        at: u8,
    },
    F64 {
        at: u8,
    },
    /// A null-terminated UTF-8 string that ends at the anchor `end`.
    Utf8 {
        end: Slot,
    },
    /// A UTF-8 string of `len` bytes, in which a null byte may end the text early.
    Text {
        len: u32,
    },
    /// Any other field that contains no fields.
    Scalar {
        node: u32,
    },
    BeginStruct,
    EndStruct,
    /// No call. The cues from `next` on have another base.
    Base {
        next: u32,
    },
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
        let kind = match (&node.kind, at) {
            (NodeKind::Uint(read) | NodeKind::Sint(read), Some(at)) => integer(*read, at),
            (NodeKind::Float64(read), Some(at)) if read.is_little_endian() => {
                Some(CueKind::F64 { at })
            }
            (kind, _) => Self::kind(index, kind, node),
        };
        Cue {
            kind: kind.unwrap_or(CueKind::Scalar { node: index }),
            anchor: base.anchor,
            base: base.offset,
            offset,
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
        use CueKind::{Base, BeginStruct, Dynamic, EndStruct};
        !matches!(self.kind, BeginStruct | EndStruct | Base { .. } | Dynamic { .. })
    }

    /// Creates the cue for the end of a structure, after cues with the base `base`.
    pub(crate) fn end(node: &Node, base: Base) -> Self {
        Cue::without_field(CueKind::EndStruct, node, base)
    }

    /// Creates the cue for a change of the base before the cue of a node, which has the
    /// index `next`.
    pub(crate) fn base(next: usize, node: &Node, base: Base) -> Self {
        Cue::without_field(CueKind::Base { next: next as u32 }, node, base)
    }

    fn without_field(kind: CueKind, node: &Node, base: Base) -> Self {
        let Base { anchor, offset: base } = base;
        Cue { kind, anchor, base, offset: 0, info: node.info.clone() }
    }
}

fn integer(read: FixedRead, at: u8) -> Option<CueKind> {
    match (read.is_little_endian(), read.bits(), read.is_signed()) {
        (true, 8, false) => Some(CueKind::U8 { at }),
        (true, 16, false) => Some(CueKind::U16 { at }),
        (true, 32, false) => Some(CueKind::U32 { at }),
        (true, 64, false) => Some(CueKind::U64 { at }),
        (true, 32, true) => Some(CueKind::I32 { at }),
        (true, 64, true) => Some(CueKind::I64 { at }),
        _ => None,
    }
}
