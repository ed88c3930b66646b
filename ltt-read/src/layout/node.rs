//! Nodes: the flat table of a region's fields, in decoding order.

use std::sync::Arc;

use super::program::{Element, Len, Slot};
use super::{FieldInfo, FixedRead};
use crate::schema::Encoding;

/// A field of a region, at the bit position `slots[anchor] + offset`.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) offset: u64,
    pub(crate) anchor: Slot,
    /// The index after this node's subtree.
    pub(crate) next: u32,
    /// The range of the cues of the field and of those within it: from `cues.0` to before
    /// `cues.1`.
    pub(crate) cues: (u32, u32),
    pub(crate) kind: NodeKind,
    pub(crate) info: FieldInfo,
}

impl Node {
    /// Returns `true` if the field contains other fields.
    pub(crate) fn is_compound(&self) -> bool {
        use NodeKind::{Array, Option, Struct, Variant};
        matches!(self.kind, Struct | Array { .. } | Variant { .. } | Option { .. })
    }
}

/// The kind of a field, with the data to decode it.
#[derive(Debug)]
#[repr(u8)] // a plain tag is distinguished by fewer instructions
pub(crate) enum NodeKind {
    Uint(FixedRead),
    Sint(FixedRead),
    Bool(FixedRead),
    Bits(FixedRead),
    Float32(FixedRead),
    Float64(FixedRead),
    /// A number of 16 bits, or of 128 bits whose halves have this encoding.
    FloatOther(FixedRead),
    VarUint,
    VarSint,
    /// A null-terminated string, which ends at the anchor `end`, including the
    /// terminator.
    Terminated {
        encoding: Encoding,
        end: Slot,
    },
    /// A string of `len` bytes, in which a null code unit may end the text early.
    Text {
        encoding: Encoding,
        len: Len,
    },
    Blob {
        len: Len,
    },
    /// A structure. The nodes of its members follow.
    Struct,
    /// An array. The node of its element follows.
    Array {
        len: Len,
        elements: Elements,
    },
    /// A variant. The nodes of its options follow, linked by `next`. The slot `chosen`
    /// has the number of the selected option.
    Variant {
        chosen: Slot,
    },
    /// An option. The node of its content follows. The slot `chosen` is 1 if the content
    /// is present, otherwise 0.
    Option {
        chosen: Slot,
    },
}

/// The layout of the elements of an array.
#[derive(Debug)]
pub(crate) enum Elements {
    /// Elements at a distance of `stride` bits, whose fields are relative to `anchor`.
    Fixed { stride: u64, anchor: Slot },
    /// Elements of dynamic size, with the program that computes it.
    Dynamic(Arc<Element>),
}
