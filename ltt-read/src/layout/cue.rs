//! Cues: the visitor calls that a region's fields make, one after the other.
//!
//! Nodes say all of a field to those who ask for one. Whoever visits every
//! field goes through cues instead, which leave nothing to find out.

use super::node::{Node, NodeKind};
use super::program::Slot;
use super::{FieldInfo, FixedRead};
use crate::schema::Encoding;

/// One call. The field is `offset` bits behind its base, and that at
/// `slots[anchor] + base`; who goes from cue to cue has to look the base up at the
/// first, and again where one says so.
#[derive(Debug)]
pub(crate) struct Cue {
    pub(crate) kind: CueKind,
    pub(crate) anchor: Slot,
    pub(crate) base: u64,
    pub(crate) offset: u64,
    pub(crate) info: FieldInfo,
}

/// Where the fields of cues are counted from: bits behind an anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) anchor: Slot,
    pub(crate) offset: u64,
}

impl Base {
    /// How far behind it, in bytes, an integer may be that is read without further ado.
    pub(crate) const NEAR: usize = u8::MAX as usize;

    /// The one for a node, if it is not counted from that of a node before it.
    pub(crate) fn of(node: &Node) -> Self {
        Base { anchor: node.anchor, offset: node.offset / 8 * 8 }
    }

    /// Whether it can be that of a node, too.
    pub(crate) fn is_near(self, node: &Node) -> bool {
        let distance = node.offset.wrapping_sub(self.offset);
        self.anchor == node.anchor && distance / 8 <= Self::NEAR as u64
    }
}

/// The commonest kinds of fields, and how to find out about the others: told
/// apart by one branch. The numbers are of whole bytes, in little-endian order, so
/// many bytes `at` from their base: each is one load.
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
    /// A null-terminated string that ends at the anchor `end`.
    Utf8 {
        end: Slot,
    },
    /// `len` bytes, of which a null byte may end the text early.
    Text {
        len: u32,
    },
    /// Any other field that holds none.
    Scalar {
        node: u32,
    },
    BeginStruct,
    EndStruct,
    /// No call: the cues from `next` on have another base.
    Base {
        next: u32,
    },
    /// An array, a variant or an option: which of the cues up to `next` are
    /// called depends on data.
    Dynamic {
        node: u32,
        next: u32,
    },
}

impl Cue {
    /// The cue of the node `index`, which begins at a byte boundary or perhaps
    /// not, and has all its cues.
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

    /// The kind of what is no such number.
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

    /// Whether its field holds no others.
    pub(crate) fn is_scalar(&self) -> bool {
        use CueKind::{Base, BeginStruct, Dynamic, EndStruct};
        !matches!(self.kind, BeginStruct | EndStruct | Base { .. } | Dynamic { .. })
    }

    /// The end of a structure, after cues that have a base.
    pub(crate) fn end(node: &Node, base: Base) -> Self {
        Cue::without_field(CueKind::EndStruct, node, base)
    }

    /// A change of the base before the cue of a node, which is at `next`.
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
