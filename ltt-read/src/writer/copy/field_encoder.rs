//! Encoding of the fields of an event for another layout.

use crate::event::{StrValue, Visitor};
use crate::ftrace::lengths::has_own_length;
use crate::layout::FieldInfo;
use crate::schema::{BitOrder, ByteOrder, FieldClass, FieldKind, FixedLen, Length, Member};
use crate::writer::bits::{BitWriter, leb128_length};
use crate::writer::encode::float;
use crate::writer::error::Problem;

/// A visitor that encodes the fields of an event for a copy of it.
///
/// [`StreamCopier::event_with`](crate::writer::StreamCopier::event_with) passes one to the
/// caller, who calls it for each field of the event in the order of
/// [`Event::visit_body`](crate::Event::visit_body): with the recorded values or with others.
///
/// The classes of the target have the structure of those of the event: the same members,
/// elements and options, in the same order. They may differ in size, byte order and
/// alignment, and in kind where the target's format lacks one.
#[derive(Debug)]
pub struct FieldEncoder<'a> {
    w: &'a mut BitWriter,
    /// The classes of the scopes that have not been visited, `None` for those that the target lacks.
    roots: std::slice::Iter<'a, Option<&'a FieldClass>>,
    /// The innermost class whose parts are being visited; `None` outside of all scopes.
    top: Option<Open<'a>>,
    /// The classes around it, outermost first.
    outer: Vec<Open<'a>>,
    /// The first problem, after which nothing is encoded.
    problem: Option<Problem>,
}

/// A class of the target whose parts are being visited.
#[derive(Debug, Clone)]
enum Open<'a> {
    /// The members of a structure that have not been visited.
    Struct(std::slice::Iter<'a, Member>),
    /// The class of each element, and the number of those that are missing.
    Array(&'a FieldClass, u64),
    /// The class of the content of a variant or option.
    Content(&'a FieldClass),
    /// A class that has no counterpart in the target.
    Nothing,
}

impl<'a> FieldEncoder<'a> {
    /// Creates an encoder of the scopes that an event has, in order.
    pub(super) fn new(w: &'a mut BitWriter, roots: &'a [Option<&'a FieldClass>]) -> Self {
        FieldEncoder { w, roots: roots.iter(), top: None, outer: Vec::new(), problem: None }
    }

    pub(super) fn finish(self) -> Result<(), Problem> {
        self.problem.map_or(Ok(()), Err)
    }

    /// Returns the class of the field that is visited, after its alignment.
    #[inline]
    fn next(&mut self) -> Option<&'a FieldClass> {
        if self.problem.is_some() {
            return None;
        }
        let class = match &mut self.top {
            Some(Open::Struct(members)) => &*members.next()?.class,
            Some(Open::Array(class, missing)) => {
                *missing = missing.wrapping_sub(1);
                class
            }
            Some(Open::Content(class)) => class,
            Some(Open::Nothing) => return None,
            None => (*self.roots.next()?)?,
        };
        self.w.align(class.align);
        Some(class)
    }

    fn check(&mut self, done: Result<(), Problem>) {
        if let Err(problem) = done {
            self.problem.get_or_insert(problem);
        }
    }

    fn refuse(&mut self, found: &'static str) {
        self.check(Err(Problem::Kind { expected: "a field of the same kind", found }));
    }

    fn number(&mut self, value: i128, found: &'static str) {
        let Some(class) = self.next() else { return };
        match &class.kind {
            FieldKind::Integer(field, _)
            | FieldKind::Bool(field, _)
            | FieldKind::BitArray(field)
            | FieldKind::BitMap(field, _) => {
                let done = self.w.put(value as u64, *field);
                self.check(done);
            }
            FieldKind::VarInteger(integer) => {
                self.w.put_leb128(value, leb128_length(value, integer.signed));
            }
            _ => self.refuse(found),
        }
    }

    /// Appends bytes as an array of integers of 8 bits.
    fn elements(&mut self, element: &FieldClass, bytes: &[u8]) {
        let byte =
            FixedLen { bits: 8, byte_order: ByteOrder::Little, bit_order: BitOrder::Natural };
        for value in bytes {
            self.w.align(element.align);
            let done = self.w.put((*value).into(), byte);
            self.check(done);
        }
    }

    /// Encodes the length of a field, if the target has a field of its own for it.
    fn length(&mut self, field: &FieldInfo, len: u64) {
        if has_own_length(field.class()) {
            self.number(len.into(), "a length");
        }
    }

    fn open(&mut self, open: Option<Open<'a>>) {
        let before = self.top.replace(open.unwrap_or(Open::Nothing));
        self.outer.extend(before);
    }

    fn close(&mut self) {
        let closed = std::mem::replace(&mut self.top, self.outer.pop());
        if let Some(Open::Array(_, missing)) = closed
            && missing != 0
        {
            let what = "as many elements as the array has";
            self.check(Err(Problem::Kind { expected: what, found: "another number" }));
        }
    }
}

impl Visitor for FieldEncoder<'_> {
    fn uint(&mut self, _: &FieldInfo, value: u64) {
        self.number(value.into(), "an unsigned integer");
    }
    fn sint(&mut self, _: &FieldInfo, value: i64) {
        self.number(value.into(), "a signed integer");
    }
    fn boolean(&mut self, _: &FieldInfo, value: bool) {
        self.number(value.into(), "a boolean");
    }
    fn bits(&mut self, _: &FieldInfo, value: u64) {
        self.number(value.into(), "bits");
    }
    fn float(&mut self, _: &FieldInfo, value: f64) {
        match self.next().map(|class| &class.kind) {
            Some(FieldKind::Float(field)) => {
                let done = float(self.w, *field, value);
                self.check(done);
            }
            Some(_) => self.refuse("a floating-point number"),
            None => {}
        }
    }
    fn string(&mut self, _: &FieldInfo, value: StrValue<'_>) {
        let Some(class) = self.next() else { return };
        let FieldKind::String(target) = &class.kind else { return self.refuse("text") };
        let converted;
        let (mut bytes, mut padding) = match target.encoding == value.encoding {
            true => (value.bytes, value.padding),
            false => {
                converted = value.to_str_lossy();
                (converted.as_bytes(), 0)
            }
        };
        match target.length {
            Some(Length::Static(size)) => {
                bytes = &bytes[..bytes.len().min(size as usize)];
                padding = size.saturating_sub(bytes.len() as u64);
            }
            Some(Length::Dynamic(_)) => {}
            None => padding = target.encoding.unit_size().into(),
        }
        self.w.put_bytes(bytes);
        self.w.put_zeros(padding);
    }
    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {
        self.length(field, value.len() as u64);
        match self.next().map(|class| &class.kind) {
            Some(FieldKind::Blob(_)) => self.w.put_bytes(value),
            Some(FieldKind::Array(array)) => self.elements(&array.element, value),
            Some(_) => self.refuse("a blob"),
            None => {}
        }
    }
    fn begin_struct(&mut self, _: &FieldInfo) {
        let open = self.next().and_then(|class| match &class.kind {
            FieldKind::Struct(class) => Some(Open::Struct(class.members.iter())),
            _ => None,
        });
        self.open(open);
    }
    fn end_struct(&mut self, _: &FieldInfo) {
        self.close();
    }
    fn begin_array(&mut self, field: &FieldInfo, len: u64) {
        self.length(field, len);
        let open = self.next().and_then(|class| match &class.kind {
            FieldKind::Array(array) => Some(Open::Array(&array.element, len)),
            _ => None,
        });
        self.open(open);
    }
    fn end_array(&mut self, _: &FieldInfo) {
        self.close();
    }
    fn begin_variant(&mut self, _: &FieldInfo, option: usize) {
        let open = self.next().and_then(|class| match &class.kind {
            FieldKind::Variant(variant) => Some(Open::Content(&variant.options.get(option)?.class)),
            _ => None,
        });
        self.open(open);
    }
    fn end_variant(&mut self, _: &FieldInfo) {
        self.close();
    }
    fn begin_option(&mut self, _: &FieldInfo, present: bool) {
        let open = self.next().and_then(|class| match &class.kind {
            FieldKind::Option(option) => Some(Open::Content(&option.class)),
            // A sequence of none or one element stands for an option.
            FieldKind::Array(array) => Some(Open::Array(&array.element, present.into())),
            // So does a variant, whose last option has the content.
            FieldKind::Variant(variant) => {
                let option = if present { variant.options.last() } else { variant.options.first() };
                option.map(|option| Open::Content(&option.class))
            }
            _ => None,
        });
        self.open(open);
    }
    fn end_option(&mut self, _: &FieldInfo) {
        self.close();
    }
}
