//! Runs of events whose fields are read column by column: those with bodies of fixed size, and those
//! whose dynamic parts are texts and sequences, since the other fields have a constant distance from
//! the start, from the end or from the end of such a part.

use smallvec::SmallVec;

use super::column::{Column, ColumnValues};
use crate::base::bits;
use crate::base::zeros::zero_in_half;
use crate::cursor::{Run, RunEvents};
use crate::event::{Field, first_zero, scalar_at};
use crate::layout::node::{Elements, Node, NodeKind};
use crate::layout::program::Slot;
use crate::layout::region::Region;
use crate::layout::skip::ByteAlignedSkip;
use crate::layout::{FixedRead, WordRead};
use crate::schema::Encoding;

/// The number of bytes of texts that are copied as a whole. Nearly all texts of constant length are
/// names of threads, which have this one.
const TEXT: usize = 16;

/// The way to read a field of many events: the place of its bytes, and their form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gather {
    start: Place,
    form: Form,
}

impl Gather {
    /// Returns `true` if the field is read from bodies at equal distances without the place of each.
    pub(super) fn needs_no_places(&self) -> bool {
        self.start.base == Base::Start && matches!(self.form, Form::Number(_))
    }
}

/// A place in each body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    base: Base,
    /// The distance from the base in bytes, modulo 2⁶⁴.
    at: usize,
}

/// The place from which the distance of a field is constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// The start of the body.
    Start,
    /// The end of the body, for fields after its last dynamic part.
    End,
    /// The end of another dynamic part.
    Part(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A number.
    Number(Number),
    /// A UTF-8 text of [`TEXT`] bytes, in which a null byte may end the text early.
    Text,
    /// A text or blob up to a place.
    Bytes { end: Place, ends: Ends },
    /// A sequence of numbers up to a place.
    List { end: Place, element: Number },
    /// An integer within a word, with the bit at which it starts.
    Word(WordRead, u8),
    /// Any other field of constant size, with the bit at which it starts.
    Other(u8),
}

/// A little-endian number of whole bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    U8,
    U16,
    U32,
    U64,
    I32,
    I64,
    F64,
}

/// The end of the value within the bytes of a field of dynamic size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// All bytes belong to the value.
    WithField,
    /// A null byte is the last one of the field.
    BeforeLast,
    /// A null byte may end the value early.
    AtNull,
}

/// The layout of bodies in runs.
#[derive(Debug, Clone)]
pub(super) struct RunLayout<'r> {
    region: &'r Region,
    /// The anchors at the ends of the dynamic parts.
    parts: SmallVec<[Slot; 4]>,
    /// The number of bytes after the last one of them.
    tail: usize,
}

impl<'r> RunLayout<'r> {
    /// Returns the layout of a region of bodies; `None` if a field may start within a byte after a
    /// dynamic part, or if there are other dynamic parts than texts and sequences.
    pub(super) fn new(region: &'r Region) -> Option<Self> {
        if region.fixed.is_some() {
            return Some(RunLayout { region, parts: SmallVec::new(), tail: 0 });
        }
        let tail = region.byte_aligned_skip.as_ref()?.tail();
        let parts = region.dynamic_skip.as_ref()?.anchors().collect();
        Some(RunLayout { region, parts, tail: usize::try_from(tail).ok()? })
    }

    /// Returns the way to read a field; `None` if it depends on the event.
    pub(super) fn gather(&self, field: &Field) -> Option<Gather> {
        let at = usize::try_from(field.place.offset / 8).ok()?;
        let start = match field.is_at(self.region.start.anchor) {
            true => Place { base: Base::Start, at },
            false => {
                let anchor = self.parts.iter().find(|anchor| field.is_at(**anchor))?;
                let place = self.end_of(*anchor)?;
                Place { at: place.at.wrapping_add(at), ..place }
            }
        };
        let node = self.region.nodes.get(field.node as usize)?;
        let bit = (field.place.offset % 8) as u8;
        let at_byte = if bit == 0 { self.form_of_bytes(field, node) } else { None };
        let form = match at_byte {
            Some(form) => form,
            None => match field.plain {
                Some(read) => Form::Word(read, bit),
                None if has_constant_size(node) => Form::Other(bit),
                None => return None,
            },
        };
        Some(Gather { start, form })
    }

    /// Returns the place of an anchor at the end of a dynamic part.
    fn end_of(&self, anchor: Slot) -> Option<Place> {
        let number = self.parts.iter().position(|part| *part == anchor)?;
        Some(match number + 1 == self.parts.len() {
            true => Place { base: Base::End, at: self.tail.wrapping_neg() },
            false => Place { base: Base::Part(u8::try_from(number).ok()?), at: 0 },
        })
    }

    /// Returns the form of a field that starts at a byte boundary, if there is a special one for it.
    fn form_of_bytes(&self, field: &Field, node: &Node) -> Option<Form> {
        let bytes = |ends, end| Some(Form::Bytes { end: self.end_of(end)?, ends });
        // The part that starts with the field ends at the anchor of what follows it.
        let own_end = || self.part_after(field.place.anchor);
        match &node.kind {
            NodeKind::Text { .. } if field.is_text && field.bytes == Some(TEXT as u64) => {
                Some(Form::Text)
            }
            NodeKind::Terminated { encoding: Encoding::Utf8, end } => bytes(Ends::BeforeLast, *end),
            NodeKind::Text { encoding: Encoding::Utf8, len } if len.constant().is_none() => {
                bytes(Ends::AtNull, own_end()?)
            }
            NodeKind::Blob { len } if len.constant().is_none() => {
                bytes(Ends::WithField, own_end()?)
            }
            NodeKind::Array { len, elements: Elements::Fixed { stride, .. } }
                if len.constant().is_none() =>
            {
                let element = self.region.nodes.get(field.node as usize + 1)?;
                let number = Number::of(element).filter(|number| 8 * number.bytes() == *stride)?;
                Some(Form::List { end: self.end_of(own_end()?)?, element: number })
            }
            _ => Number::of(node).map(Form::Number),
        }
    }

    /// Returns the anchor at the end of the dynamic part that follows another anchor.
    fn part_after(&self, anchor: Slot) -> Option<Slot> {
        if anchor == self.region.start.anchor {
            return self.parts.first().copied();
        }
        let before = self.parts.iter().position(|part| *part == anchor)?;
        self.parts.get(before + 1).copied()
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

impl Number {
    fn of(node: &Node) -> Option<Number> {
        match node.kind {
            NodeKind::Uint(read) | NodeKind::Sint(read) => Number::of_integer(read),
            NodeKind::Float64(read) if read.is_little_endian() => Some(Number::F64),
            _ => None,
        }
    }

    fn of_integer(read: FixedRead) -> Option<Number> {
        Some(match (read.is_little_endian(), read.bits(), read.is_signed()) {
            (true, 8, false) => Number::U8,
            (true, 16, false) => Number::U16,
            (true, 32, false) => Number::U32,
            (true, 64, false) => Number::U64,
            (true, 32, true) => Number::I32,
            (true, 64, true) => Number::I64,
            _ => return None,
        })
    }

    /// Returns its size in bytes.
    fn bytes(self) -> u64 {
        match self {
            Number::U8 => 1,
            Number::U16 => 2,
            Number::U32 | Number::I32 => 4,
            Number::U64 | Number::I64 | Number::F64 => 8,
        }
    }
}

/// The ends of the dynamic parts of events of one type, without the last part of each: a list for
/// each part, in bytes from the start of the packet.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts(Box<[Vec<usize>]>);

impl Parts {
    /// Creates the lists that some ways to read fields need.
    pub(super) fn new<'g>(gathers: impl Iterator<Item = &'g Gather>) -> Self {
        let part = |place: Place| match place.base {
            Base::Part(part) => usize::from(part) + 1,
            Base::Start | Base::End => 0,
        };
        let needed = gathers.map(|gather| match gather.form {
            Form::Bytes { end, .. } | Form::List { end, .. } => part(gather.start).max(part(end)),
            _ => part(gather.start),
        });
        Parts(vec![Vec::new(); needed.max().unwrap_or(0)].into())
    }

    /// Finds the ends of the parts of some bodies.
    pub(super) fn find(&mut self, skip: Option<&ByteAlignedSkip>, data: &[u8], bodies: &[usize]) {
        let Some(skip) = skip.filter(|_| !self.0.is_empty()) else { return };
        self.0.iter_mut().for_each(Vec::clear);
        for body in bodies {
            let mut lists = self.0.iter_mut();
            let end = skip.ends(data, *body as u64, |end| {
                if let Some(list) = lists.next() {
                    list.push(end as usize);
                }
            });
            debug_assert!(end.is_some(), "the bodies of a run have been skipped once");
        }
    }
}

/// The places of the bodies of events of one type, in bytes from the start of their packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bodies<'b> {
    starts: &'b [usize],
    ends: &'b [usize],
    parts: &'b [Vec<usize>],
    /// The distance between the starts; 0 if it varies.
    stride: usize,
}

impl<'b> Bodies<'b> {
    /// Returns the bodies of the first events of a run, which are of one type.
    pub(super) fn of_run(run: &'b RunEvents, count: usize) -> Self {
        let (starts, ends) = (&run.bodies[..count], &run.ends[..count]);
        match run.distance(count) {
            Some(stride) => Bodies { starts, ends, parts: &[], stride },
            None => Bodies::new(starts, ends),
        }
    }

    fn new(starts: &'b [usize], ends: &'b [usize]) -> Self {
        let stride = match starts {
            [first, second, ..] => second.saturating_sub(*first),
            _ => 0,
        };
        let is_stride = starts.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == stride);
        Bodies { starts, ends, parts: &[], stride: if is_stride { stride } else { 0 } }
    }

    /// Returns the starts of the bodies.
    pub(super) fn starts(self) -> &'b [usize] {
        self.starts
    }

    /// Sets the ends of the parts of the bodies.
    pub(super) fn with_parts(self, parts: &'b Parts) -> Self {
        Bodies { parts: &parts.0, ..self }
    }

    /// Returns a place in all bodies.
    fn places(self, data: &'b [u8], Place { base, at }: Place) -> Places<'b> {
        let (bases, stride) = match base {
            Base::Start => (self.starts, self.stride),
            Base::End => (self.ends, 0),
            Base::Part(part) => {
                (self.parts.get(usize::from(part)).map_or(&[][..], Vec::as_slice), 0)
            }
        };
        Places { data, bases, at, stride }
    }
}

impl Gather {
    /// Adds the field of several events to its column. `node` is the number of its node.
    pub(super) fn add(self, column: &mut Column, node: u32, run: &Run<'_>, bodies: Bodies<'_>) {
        use ColumnValues::{Bytes, List, Signed, Unsigned};
        let data = run.window.data;
        let places = bodies.places(data, self.start);
        match (self.form, column.values_mut()) {
            (Form::Number(number), values) => places.add_numbers(number, values),
            (Form::Text, Bytes { offsets, bytes }) => places.add_texts(offsets, bytes),
            (Form::Bytes { end, ends }, Bytes { offsets, bytes }) => {
                for field in places.up_to(bodies.places(data, end)) {
                    bytes.extend_from_slice(ends.value(field));
                    offsets.push(bytes.len() as i64);
                }
            }
            (Form::List { end, element }, List { offsets, elements }) => {
                for field in places.up_to(bodies.places(data, end)) {
                    element.add_each(field, elements);
                    offsets.push(elements.len() as i64);
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

impl Ends {
    /// Returns the value in the bytes of a field.
    #[inline(always)]
    fn value(self, field: &[u8]) -> &[u8] {
        match self {
            Ends::WithField => field,
            Ends::BeforeLast => field.split_last().map_or(field, |(_, value)| value),
            Ends::AtNull => &field[..first_zero(field).unwrap_or(field.len())],
        }
    }
}

impl Number {
    /// Adds all numbers in the bytes of a sequence.
    #[inline(always)]
    fn add_each(self, field: &[u8], to: &mut ColumnValues) {
        use ColumnValues::{Float, Signed, Unsigned};
        match (self, to) {
            (Number::U8, Unsigned(to)) => add_each(field, to, |b| u8::from_le_bytes(b).into()),
            (Number::U16, Unsigned(to)) => add_each(field, to, |b| u16::from_le_bytes(b).into()),
            (Number::U32, Unsigned(to)) => add_each(field, to, |b| u32::from_le_bytes(b).into()),
            (Number::U64, Unsigned(to)) => add_each(field, to, u64::from_le_bytes),
            (Number::I32, Signed(to)) => add_each(field, to, |b| i32::from_le_bytes(b).into()),
            (Number::I64, Signed(to)) => add_each(field, to, i64::from_le_bytes),
            (Number::F64, Float(to)) => add_each(field, to, f64::from_le_bytes),
            _ => debug_assert!(false, "the column is of another kind than the elements"),
        }
    }
}

/// Adds the numbers of `N` bytes.
#[inline(always)]
fn add_each<const N: usize, T>(field: &[u8], to: &mut Vec<T>, number: impl Fn([u8; N]) -> T) {
    to.extend(field.as_chunks().0.iter().map(|bytes| number(*bytes)));
}

/// The places of a field in many events.
#[derive(Clone, Copy)]
struct Places<'b> {
    data: &'b [u8],
    bases: &'b [usize],
    at: usize,
    /// The distance between the bases; 0 if it varies. If not, numbers are read by the first base.
    stride: usize,
}

impl<'b> Places<'b> {
    #[inline(always)]
    fn starts(self) -> impl ExactSizeIterator<Item = usize> + use<'b> {
        self.bases.iter().map(move |base| base.wrapping_add(self.at))
    }

    /// Returns the bytes of each field, up to another place.
    #[inline(always)]
    fn up_to(self, ends: Places<'b>) -> impl Iterator<Item = &'b [u8]> {
        let fields = self.starts().zip(ends.starts());
        fields.map(move |(start, end)| self.data.get(start..end).unwrap_or(&[]))
    }

    /// Adds numbers.
    #[inline(always)]
    fn add_numbers(self, number: Number, to: &mut ColumnValues) {
        use ColumnValues::{Float, Signed, Unsigned};
        match (number, to) {
            (Number::U8, Unsigned(to)) => self.add(to, |b| u8::from_le_bytes(b).into()),
            (Number::U16, Unsigned(to)) => self.add(to, |b| u16::from_le_bytes(b).into()),
            (Number::U32, Unsigned(to)) => self.add(to, |b| u32::from_le_bytes(b).into()),
            (Number::U64, Unsigned(to)) => self.add(to, u64::from_le_bytes),
            (Number::I32, Signed(to)) => self.add(to, |b| i32::from_le_bytes(b).into()),
            (Number::I64, Signed(to)) => self.add(to, i64::from_le_bytes),
            (Number::F64, Float(to)) => self.add(to, f64::from_le_bytes),
            _ => debug_assert!(false, "the column is of another kind than the field"),
        }
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
        let before = to.len();
        if stride == 0 {
            // A bound of the places costs less than a test of each.
            to.resize(before + bases.len(), T::default());
            for (value, base) in to[before..].iter_mut().zip(bases) {
                let start = base.wrapping_add(at).min(last);
                *value = number(data[start..][..N].first_chunk().copied().unwrap_or([0; N]));
            }
            return;
        }
        // Events that follow each other directly need no places. After the last one there may be no
        // whole event.
        let rows = data.get(first.wrapping_add(at)..).filter(|_| stride >= N).unwrap_or(&[]);
        let rows = rows.chunks_exact(stride).take(rest.len());
        to.extend(rows.map(|row| number(row.first_chunk().copied().unwrap_or([0; N]))));
        for row in to.len() - before..bases.len() {
            let base = first.wrapping_add(row.wrapping_mul(stride));
            to.push(number(load(data, base.wrapping_add(at))));
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
