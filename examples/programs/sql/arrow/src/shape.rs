//! The mapping of field classes to the types of Arrow.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields};
use ltt_read::schema::{FieldClass, FieldKind, FixedLen, Integer, Struct, Variant, VariantOption};

/// The type of a column, or of a value within one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// An integer of 8, 16, 32 or 64 bits.
    Integer {
        bits: u8,
        signed: bool,
    },
    Boolean,
    Float32,
    Float64,
    Text,
    Bytes,
    /// The labels of an integer, joined by `|`.
    Labels,
    /// The names of the set flags of a bit map.
    Flags,
    List(Box<Shape>),
    Struct(Vec<Member>),
    /// A structure without members: `true` where there is one.
    Empty,
    /// The name of the selected option, and a member for each option.
    Variant(Vec<Member>),
}

/// A named part of a structure or variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: Arc<str>,
    pub(crate) shape: Shape,
}

/// The name of the member of a variant that contains the name of the selected option.
pub(crate) const TAG: &str = "tag";

impl Shape {
    /// Returns the shape of a field class. The contents of an option have the shape of the
    /// option, because all columns may be null.
    pub(crate) fn of(class: &FieldClass) -> Shape {
        match &class.kind {
            FieldKind::Integer(len, integer) => Shape::integer(len, integer),
            FieldKind::VarInteger(integer) => Shape::Integer { bits: 64, signed: integer.signed },
            FieldKind::Bool(..) => Shape::Boolean,
            FieldKind::Float(len) if len.bits <= 32 => Shape::Float32,
            FieldKind::Float(_) => Shape::Float64,
            FieldKind::BitArray(_) | FieldKind::BitMap(..) => {
                Shape::Integer { bits: 64, signed: false }
            }
            FieldKind::String(_) => Shape::Text,
            FieldKind::Blob(_) => Shape::Bytes,
            FieldKind::Array(array) => Shape::List(Box::new(Shape::of(&array.element))),
            FieldKind::Struct(of) if of.members.is_empty() => Shape::Empty,
            FieldKind::Struct(of) => Shape::Struct(members(of)),
            FieldKind::Option(option) => Shape::of(&option.class),
            FieldKind::Variant(variant) => Shape::Variant(options(variant)),
            _ => Shape::Empty,
        }
    }

    /// Returns the shape of the smallest integer that has enough bits.
    fn integer(len: &FixedLen, integer: &Integer) -> Shape {
        let bits = match len.bits {
            0..=8 => 8,
            9..=16 => 16,
            17..=32 => 32,
            _ => 64,
        };
        Shape::Integer { bits, signed: integer.signed }
    }

    /// Returns the shape that holds the values of both shapes. Returns `None` if there is none.
    pub(crate) fn union(&self, other: &Shape) -> Option<Shape> {
        match (self, other) {
            (a, b) if a == b => Some(a.clone()),
            (Shape::Integer { bits: a, signed: s }, Shape::Integer { bits: b, signed: t }) => {
                if s == t {
                    return Some(Shape::Integer { bits: *a.max(b), signed: *s });
                }
                let (unsigned, signed) = if *s { (*b, *a) } else { (*a, *b) };
                let bits = signed.max(unsigned.checked_mul(2)?);
                (bits <= 64).then_some(Shape::Integer { bits, signed: true })
            }
            (Shape::Float32 | Shape::Float64, Shape::Float32 | Shape::Float64) => {
                Some(Shape::Float64)
            }
            _ => None,
        }
    }

    /// Returns `true` for a single value, which needs no visitor.
    pub(crate) fn is_scalar(&self) -> bool {
        !matches!(self, Shape::List(_) | Shape::Struct(_) | Shape::Empty | Shape::Variant(_))
    }

    /// Returns the type in Arrow.
    pub(crate) fn data_type(&self) -> DataType {
        match self {
            Shape::Integer { bits: 8, signed: true } => DataType::Int8,
            Shape::Integer { bits: 16, signed: true } => DataType::Int16,
            Shape::Integer { bits: 32, signed: true } => DataType::Int32,
            Shape::Integer { signed: true, .. } => DataType::Int64,
            Shape::Integer { bits: 8, .. } => DataType::UInt8,
            Shape::Integer { bits: 16, .. } => DataType::UInt16,
            Shape::Integer { bits: 32, .. } => DataType::UInt32,
            Shape::Integer { .. } => DataType::UInt64,
            Shape::Boolean | Shape::Empty => DataType::Boolean,
            Shape::Float32 => DataType::Float32,
            Shape::Float64 => DataType::Float64,
            Shape::Text | Shape::Labels => DataType::Utf8View,
            Shape::Bytes => DataType::Binary,
            Shape::Flags => Shape::List(Box::new(Shape::Text)).data_type(),
            Shape::List(element) => DataType::List(Arc::new(item(element))),
            Shape::Struct(members) => DataType::Struct(fields(members)),
            Shape::Variant(options) => {
                let tag = Field::new(TAG, DataType::Utf8View, true);
                let options = options.iter().map(Member::field);
                DataType::Struct(std::iter::once(tag).chain(options).collect())
            }
        }
    }
}

impl Member {
    fn field(&self) -> Field {
        Field::new(&*self.name, self.shape.data_type(), true)
    }
}

/// Returns the field of a list's elements.
pub(crate) fn item(element: &Shape) -> Field {
    Field::new("item", element.data_type(), true)
}

/// Returns the fields of a structure.
pub(crate) fn fields(members: &[Member]) -> Fields {
    members.iter().map(Member::field).collect()
}

/// Returns the members of a structure, each with the labels or flags that belong to it.
fn members(of: &Struct) -> Vec<Member> {
    let mut names = Names::default();
    let mut members = Vec::new();
    for member in &of.members {
        let name = names.unique(&member.name);
        let extra = extra(&member.class).map(|extra| (names.unique(&extra.name(&name)), extra));
        members.push(Member { name: name.into(), shape: Shape::of(&member.class) });
        if let Some((name, extra)) = extra {
            members.push(Member { name: name.into(), shape: extra.shape() });
        }
    }
    members
}

fn options(of: &Variant) -> Vec<Member> {
    let mut names = Names::default();
    names.unique(TAG);
    let option = |(number, option): (usize, &VariantOption)| Member {
        name: names.unique(&option_name(number, option)).into(),
        shape: Shape::of(&option.class),
    };
    of.options.iter().enumerate().map(option).collect()
}

/// Returns the name of an option of a variant: its number if it has none.
pub(crate) fn option_name(number: usize, option: &VariantOption) -> String {
    option.name.as_deref().map_or_else(|| number.to_string(), str::to_owned)
}

/// A kind of column that explains the numbers of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extra {
    Labels,
    Flags,
}

/// Returns the kind of the column that explains the numbers of a field class.
pub(crate) fn extra(class: &FieldClass) -> Option<Extra> {
    match &class.kind {
        FieldKind::Integer(_, integer) | FieldKind::VarInteger(integer) => {
            integer.mappings.is_some().then_some(Extra::Labels)
        }
        FieldKind::BitMap(..) => Some(Extra::Flags),
        FieldKind::Option(option) => extra(&option.class),
        _ => None,
    }
}

impl Extra {
    /// Returns the name of the column beside that of the numbers.
    pub(crate) fn name(self, of: &str) -> String {
        match self {
            Extra::Labels => format!("{of}_label"),
            Extra::Flags => format!("{of}_flags"),
        }
    }

    pub(crate) fn shape(self) -> Shape {
        match self {
            Extra::Labels => Shape::Labels,
            Extra::Flags => Shape::Flags,
        }
    }
}

/// Names that differ, also for engines that ignore case.
#[derive(Debug, Default)]
pub(crate) struct Names(HashSet<String>);

impl Names {
    /// Returns the name, with a number after it if it is taken.
    pub(crate) fn unique(&mut self, name: &str) -> String {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut candidates = std::iter::once(name.to_owned()).chain(numbered);
        let free = candidates.find(|name| self.0.insert(name.to_lowercase()));
        free.unwrap_or_default()
    }
}
