//! Kinds of field classes.

/// The kind of a field class, which is the value of its `type` property.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    BitArray,
    BitMap,
    Bool,
    Integer { signed: bool },
    VarInteger { signed: bool },
    Float,
    NullTerminated,
    StaticString,
    DynamicString,
    StaticBlob,
    DynamicBlob,
    StaticArray,
    DynamicArray,
    Structure,
    Optional,
    Variant,
}

/// The types of field classes in CTF 2.0.
pub(super) const KINDS: &[(&str, Kind)] = &[
    ("fixed-length-bit-array", Kind::BitArray),
    ("fixed-length-bit-map", Kind::BitMap),
    ("fixed-length-boolean", Kind::Bool),
    ("fixed-length-unsigned-integer", Kind::Integer { signed: false }),
    ("fixed-length-signed-integer", Kind::Integer { signed: true }),
    ("variable-length-unsigned-integer", Kind::VarInteger { signed: false }),
    ("variable-length-signed-integer", Kind::VarInteger { signed: true }),
    ("fixed-length-floating-point-number", Kind::Float),
    ("null-terminated-string", Kind::NullTerminated),
    ("static-length-string", Kind::StaticString),
    ("dynamic-length-string", Kind::DynamicString),
    ("static-length-blob", Kind::StaticBlob),
    ("dynamic-length-blob", Kind::DynamicBlob),
    ("static-length-array", Kind::StaticArray),
    ("dynamic-length-array", Kind::DynamicArray),
    ("structure", Kind::Structure),
    ("optional", Kind::Optional),
    ("variant", Kind::Variant),
];
