//! Cues: the visitor calls that a region's fields make, one after the other.
//!
//! Nodes say all of a field to those who ask for one. Whoever visits every
//! field goes through cues instead, which leave nothing to find out.

use super::node::{Node, NodeKind};
use super::program::Slot;
use super::{FieldInfo, FixedRead};
use crate::schema::Encoding;

/// One call. The field is at `slots[anchor] + offset`; who goes from cue to cue
/// has to look the anchor up at the first, and again where one says so.
#[derive(Debug)]
pub(crate) struct Cue {
    pub(crate) kind: CueKind,
    pub(crate) anchor: Slot,
    pub(crate) offset: u64,
    pub(crate) info: FieldInfo,
}

/// The commonest kinds of fields, and how to find out about the others: told
/// apart by one branch. The integers are of whole bytes, in little-endian
/// order, at a byte boundary: each is one load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CueKind {
    U8,
    U16,
    U32,
    U64,
    I32,
    I64,
    F64,
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
    /// No call: the cues that follow have this anchor.
    Anchor,
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
    pub(crate) fn new(index: u32, node: &Node, at_byte: bool) -> Self {
        let kind = match &node.kind {
            NodeKind::Uint(read) | NodeKind::Sint(read) if at_byte => integer(*read),
            NodeKind::Float64(read) if at_byte && read.is_little_endian() => Some(CueKind::F64),
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
        };
        Cue {
            kind: kind.unwrap_or(CueKind::Scalar { node: index }),
            anchor: node.anchor,
            offset: node.offset,
            info: node.info.clone(),
        }
    }

    /// Whether its field holds no others.
    pub(crate) fn is_scalar(&self) -> bool {
        use CueKind::{Anchor, BeginStruct, Dynamic, EndStruct};
        !matches!(self.kind, BeginStruct | EndStruct | Anchor | Dynamic { .. })
    }

    /// The end of a structure, after cues that have an anchor.
    pub(crate) fn end(node: &Node, anchor: Slot) -> Self {
        Cue { kind: CueKind::EndStruct, anchor, offset: 0, info: node.info.clone() }
    }

    /// A change of the anchor before the cue of a node.
    pub(crate) fn anchor(node: &Node) -> Self {
        let info = node.info.clone();
        Cue { kind: CueKind::Anchor, anchor: node.anchor, offset: 0, info }
    }
}

fn integer(read: FixedRead) -> Option<CueKind> {
    match (read.is_little_endian(), read.bits(), read.is_signed()) {
        (true, 8, false) => Some(CueKind::U8),
        (true, 16, false) => Some(CueKind::U16),
        (true, 32, false) => Some(CueKind::U32),
        (true, 64, false) => Some(CueKind::U64),
        (true, 32, true) => Some(CueKind::I32),
        (true, 64, true) => Some(CueKind::I64),
        _ => None,
    }
}
