//! Spellings of the drafts that preceded CTF 2.0.
//!
//! Traces in these drafts exist; Trace Compass ships some. The spellings have no other
//! meaning in CTF 2.0, so they are accepted everywhere without an option.

use super::kind::Kind;

/// Returns the current name of a renamed property.
pub(super) fn current_name(name: &str) -> Option<&'static str> {
    match name {
        "user-attributes" => Some("attributes"),
        "default-clock-class-name" => Some("default-clock-class-id"),
        _ => None,
    }
}

/// The types of enumerations, which were separate field classes.
pub(super) const KINDS: &[(&str, Kind)] = &[
    ("fixed-length-unsigned-enumeration", Kind::Integer { signed: false }),
    ("fixed-length-signed-enumeration", Kind::Integer { signed: true }),
    ("variable-length-unsigned-enumeration", Kind::VarInteger { signed: false }),
    ("variable-length-signed-enumeration", Kind::VarInteger { signed: true }),
];
