//! Nodes: the flat table of a region's fields, in decoding order.

use std::sync::Arc;

use super::program::{Element, Len, Slot};
use super::{FieldInfo, FixedRead};
use crate::schema::Encoding;

/// A field: what to do at its place. The place is `slots[anchor] + offset`.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) offset: u64,
    pub(crate) anchor: Slot,
    /// Index after this node's subtree.
    pub(crate) next: u32,
    /// Its cues and those of what it holds: from `cues.0` to before `cues.1`.
    pub(crate) cues: (u32, u32),
    pub(crate) kind: NodeKind,
    pub(crate) info: FieldInfo,
}

impl Node {
    /// Whether it holds other fields.
    pub(crate) fn is_compound(&self) -> bool {
        use NodeKind::{Array, Option, Struct, Variant};
        matches!(self.kind, Struct | Array { .. } | Variant { .. } | Option { .. })
    }
}

#[derive(Debug)]
#[repr(u8)] // a plain tag is told apart by fewer instructions
pub(crate) enum NodeKind {
    Uint(FixedRead),
    Sint(FixedRead),
    Bool(FixedRead),
    Bits(FixedRead),
    Float32(FixedRead),
    Float64(FixedRead),
    /// 16 bits, or 128 bits given as its two halves.
    FloatOther(FixedRead),
    VarUint,
    VarSint,
    /// Ends at the anchor `end`, terminator included.
    Terminated {
        encoding: Encoding,
        end: Slot,
    },
    /// `len` bytes, of which a null code unit may end the text early.
    Text {
        encoding: Encoding,
        len: Len,
    },
    Blob {
        len: Len,
    },
    /// The members follow.
    Struct,
    /// The element node follows.
    Array {
        len: Len,
        elements: Elements,
    },
    /// The option nodes follow, `next` of each leads to the following one.
    Variant {
        chosen: Slot,
    },
    /// The content node follows.
    Option {
        chosen: Slot,
    },
}

/// How to get from one array element to the next.
#[derive(Debug)]
pub(crate) enum Elements {
    /// Elements are this many bits apart; their fields count from `anchor`.
    Fixed { stride: u64, anchor: Slot },
    /// The element's program tells.
    Dynamic(Arc<Element>),
}
