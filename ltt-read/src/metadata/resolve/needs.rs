//! Demands of dependent fields on their targets.

use crate::schema::{FieldClass, FieldKind, Selector, Variant};

/// The use that a dependent field makes of its target.
#[derive(Clone, Copy)]
pub(super) enum Use<'s> {
    /// The target is a number of bytes or elements.
    Length,
    /// The target selects the option of a variant.
    Variant(&'s Variant),
    /// The target determines if an optional field is present.
    Option(&'s Selector),
}

impl Use<'_> {
    pub(super) fn what(self) -> &'static str {
        match self {
            Use::Length => "length",
            Use::Variant(_) | Use::Option(_) => "selector",
        }
    }
}

/// Describes the kind of a field class.
pub(super) fn kind(class: &FieldClass) -> &'static str {
    match &class.kind {
        FieldKind::BitArray(_) => "a bit array",
        FieldKind::BitMap(..) => "a bit map",
        FieldKind::Bool(..) => "a boolean",
        FieldKind::Integer(_, i) | FieldKind::VarInteger(i) if i.signed => "a signed integer",
        FieldKind::Integer(..) | FieldKind::VarInteger(_) => "an unsigned integer",
        FieldKind::Float(_) => "a floating-point number",
        FieldKind::String(_) => "a string",
        FieldKind::Blob(_) => "a BLOB",
        FieldKind::Array(_) => "an array",
        FieldKind::Struct(_) => "a structure",
        FieldKind::Option(_) => "an optional field",
        FieldKind::Variant(_) => "a variant",
    }
}
