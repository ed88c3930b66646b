//! Runs of events whose fields are read column by column: those with bodies of fixed size, and those
//! with one dynamic part, since the fields after it have a constant distance from the end.

use super::column::{Column, ColumnValues};
use crate::base::bits;
use crate::base::zeros::zero_in_half;
use crate::cursor::Run;
use crate::event::{Field, scalar_at};
use crate::layout::node::{Node, NodeKind};
use crate::layout::program::Slot;
use crate::layout::region::Region;
use crate::layout::{FixedRead, WordRead};
use crate::schema::Encoding;

/// The number of bytes of texts that are copied as a whole. Nearly all texts of constant length are
/// names of threads, which have this one.
const TEXT: usize = 16;

/// The way to read a field of many events: the place of its bytes, and their form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gather {
    base: Base,
    /// The distance of the field from its base in bytes, modulo 2⁶⁴.
    at: usize,
    form: Form,
}

/// The place from which the distance of a field is constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Start,
    /// The end of the body, for fields after its only dynamic part.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    U8,
    U16,
    U32,
    U64,
    I32,
    I64,
    F64,
    /// A UTF-8 text of [`TEXT`] bytes, in which a null byte may end the text early.
    Text,
    /// A null-terminated UTF-8 text, with the number of bytes between it and the end of the body.
    Terminated {
        after: usize,
    },
    /// An integer within a word, with the bit at which it starts.
    Word(WordRead, u8),
    /// Any other field of constant size, with the bit at which it starts.
    Other(u8),
}

/// The layout of bodies in runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunLayout<'r> {
    region: &'r Region,
    /// The anchor of the only dynamic part, and the number of bytes after it.
    part: Option<(Slot, usize)>,
}

impl<'r> RunLayout<'r> {
    /// Returns the layout of a region of bodies; `None` if they have several dynamic parts, or one
    /// within a byte.
    pub(super) fn new(region: &'r Region) -> Option<Self> {
        if region.fixed.is_some() {
            return Some(RunLayout { region, part: None });
        }
        let after = region.byte_aligned_skip.as_ref()?.after_only_part()?;
        let anchor = region.dynamic_skip.as_ref()?.anchor_of_only_part()?;
        Some(RunLayout { region, part: Some((anchor, usize::try_from(after).ok()?)) })
    }

    /// Returns the way to read a field; `None` if it depends on the event.
    pub(super) fn gather(self, field: &Field) -> Option<Gather> {
        let RunLayout { region, part } = self;
        let offset = usize::try_from(field.place.offset / 8).ok()?;
        let (base, at) = match part {
            _ if field.is_at(region.start.anchor) => (Base::Start, offset),
            Some((anchor, after)) if field.is_at(anchor) => (Base::End, offset.wrapping_sub(after)),
            // The field is in another region.
            _ => return None,
        };
        let node = region.nodes.get(field.node as usize)?;
        let bit = (field.place.offset % 8) as u8;
        let at_byte = if bit == 0 { Form::of_bytes(field, node, part) } else { None };
        let form = match at_byte {
            Some(form) => form,
            None => match field.plain {
                Some(read) => Form::Word(read, bit),
                None if has_constant_size(node) => Form::Other(bit),
                None => return None,
            },
        };
        Some(Gather { base, at, form })
    }
}

fn has_constant_size(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Uint(_) | NodeKind::Sint(_) | NodeKind::Bool(_) | NodeKind::Bits(_) => true,
        NodeKind::Float32(_) | NodeKind::Float64(_) | NodeKind::FloatOther(_) => true,
        NodeKind::Text { len, .. } | NodeKind::Blob { len } => len.constant().is_some(),
        _ => false,
    }
}

impl Form {
    /// Returns the form of a field that starts at a byte boundary, if there is a special one for it.
    fn of_bytes(field: &Field, node: &Node, part: Option<(Slot, usize)>) -> Option<Form> {
        match node.kind {
            NodeKind::Uint(read) | NodeKind::Sint(read) => Form::of_integer(read),
            NodeKind::Float64(read) if read.is_little_endian() => Some(Form::F64),
            NodeKind::Text { .. } if field.is_text && field.bytes == Some(TEXT as u64) => {
                Some(Form::Text)
            }
            NodeKind::Terminated { encoding: Encoding::Utf8, end } => {
                let (_, after) = part.filter(|(anchor, _)| *anchor == end)?;
                Some(Form::Terminated { after })
            }
            _ => None,
        }
    }

    fn of_integer(read: FixedRead) -> Option<Form> {
        Some(match (read.is_little_endian(), read.bits(), read.is_signed()) {
            (true, 8, false) => Form::U8,
            (true, 16, false) => Form::U16,
            (true, 32, false) => Form::U32,
            (true, 64, false) => Form::U64,
            (true, 32, true) => Form::I32,
            (true, 64, true) => Form::I64,
            _ => return None,
        })
    }
}

/// The places of the bodies of events of one type, in bytes from the start of their packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bodies<'b> {
    starts: &'b [usize],
    ends: &'b [usize],
    /// The distance between the starts; 0 if it varies.
    stride: usize,
}

impl<'b> Bodies<'b> {
    pub(super) fn new(starts: &'b [usize], ends: &'b [usize]) -> Self {
        let stride = match starts {
            [first, second, ..] => second.saturating_sub(*first),
            _ => 0,
        };
        let is_stride = starts.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == stride);
        Bodies { starts, ends, stride: if is_stride { stride } else { 0 } }
    }
}

impl Gather {
    /// Adds the field of several events to its column. `node` is the number of its node.
    pub(super) fn add(self, column: &mut Column, node: u32, run: &Run<'_>, bodies: Bodies<'_>) {
        use ColumnValues::{Bytes, Float, Signed, Unsigned};
        let data = run.window.data;
        let (bases, stride) = match self.base {
            Base::Start => (bodies.starts, bodies.stride),
            Base::End => (bodies.ends, 0),
        };
        let places = Places { data, at: self.at, bases, stride };
        match (self.form, column.values_mut()) {
            (Form::U8, Unsigned(to)) => places.add(to, |b| u8::from_le_bytes(b).into()),
            (Form::U16, Unsigned(to)) => places.add(to, |b| u16::from_le_bytes(b).into()),
            (Form::U32, Unsigned(to)) => places.add(to, |b| u32::from_le_bytes(b).into()),
            (Form::U64, Unsigned(to)) => places.add(to, u64::from_le_bytes),
            (Form::I32, Signed(to)) => places.add(to, |b| i32::from_le_bytes(b).into()),
            (Form::I64, Signed(to)) => places.add(to, i64::from_le_bytes),
            (Form::F64, Float(to)) => places.add(to, f64::from_le_bytes),
            (Form::Text, Bytes { offsets, bytes }) => places.add_texts(offsets, bytes),
            (Form::Terminated { after }, Bytes { offsets, bytes }) => {
                for (start, end) in places.starts().zip(bodies.ends) {
                    let text = data.get(start..end.saturating_sub(after + 1));
                    bytes.extend_from_slice(text.unwrap_or(&[]));
                    offsets.push(bytes.len() as i64);
                }
            }
            (Form::Word(read, bit), Unsigned(to)) => {
                to.extend(places.starts().map(|start| read.value(bits::word(data, start) >> bit)));
            }
            (Form::Word(read, bit), Signed(to)) => {
                let value = |start| read.value(bits::word(data, start) >> bit) as i64;
                to.extend(places.starts().map(value));
            }
            (Form::Other(bit), _) => {
                let node = &run.body.region.nodes[node as usize];
                for start in places.starts() {
                    let bit = (start as u64).saturating_mul(8).saturating_add(bit.into());
                    column.push(Some(scalar_at(node, bit, run.window)));
                }
            }
            _ => debug_assert!(false, "the column is of another kind than the field"),
        }
    }
}

/// The places of a field in many events.
#[derive(Clone, Copy)]
struct Places<'b> {
    data: &'b [u8],
    bases: &'b [usize],
    at: usize,
    /// The distance between the bases; 0 if it varies.
    stride: usize,
}

impl<'b> Places<'b> {
    #[inline(always)]
    fn starts(self) -> impl ExactSizeIterator<Item = usize> + use<'b> {
        self.bases.iter().map(move |base| base.wrapping_add(self.at))
    }

    /// Adds numbers of `N` bytes.
    #[inline(always)]
    fn add<const N: usize, T: Copy + Default>(
        self,
        to: &mut Vec<T>,
        number: impl Fn([u8; N]) -> T,
    ) {
        let Places { data, bases, at, stride } = self;
        // All bytes of the events of a run are within its packet.
        let Some(last) = data.len().checked_sub(N) else { return };
        let Some((first, rest)) = bases.split_first() else { return };
        // Events that follow each other directly need no places, except for the last one, after which
        // there may be no whole event.
        let rows = data.get(first.wrapping_add(at)..).filter(|_| stride >= N).unwrap_or(&[]);
        let rows = rows.chunks_exact(stride.max(1)).take(rest.len());
        let before = to.len();
        to.extend(rows.map(|row| number(row.first_chunk().copied().unwrap_or([0; N]))));
        let others = &bases[to.len() - before..];
        // A bound of the places costs less than a test of each.
        let before = to.len();
        to.resize(before + others.len(), T::default());
        for (value, base) in to[before..].iter_mut().zip(others) {
            let start = base.wrapping_add(at).min(last);
            *value = number(data[start..][..N].first_chunk().copied().unwrap_or([0; N]));
        }
    }

    /// Adds texts of [`TEXT`] bytes.
    fn add_texts(self, offsets: &mut Vec<i64>, bytes: &mut Vec<u8>) {
        let mut end = bytes.len();
        // Whole texts are copied, which is faster than to copy as many bytes as each has. The next
        // one overwrites what follows a text.
        bytes.resize(end + self.bases.len() * TEXT, 0);
        offsets.extend(self.bases.iter().map(|base| {
            let text: [u8; TEXT] = load(self.data, base.wrapping_add(self.at));
            if let Some(to) = bytes.get_mut(end..).and_then(|to| to.first_chunk_mut()) {
                *to = text;
            }
            end += zero_in_half(&text) as usize;
            end as i64
        }));
        bytes.truncate(end);
    }
}

/// Returns the bytes at an index. All bytes of the events of a run are within its packet, so that
/// there are some.
#[inline(always)]
fn load<const N: usize>(data: &[u8], start: usize) -> [u8; N] {
    let bytes = data.get(start..).and_then(|rest| rest.first_chunk());
    bytes.copied().unwrap_or([0; N])
}
