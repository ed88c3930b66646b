//! Names in TSDL: keywords, escaping, and names with a role.

use super::error::WriteError;
use crate::schema::{Role, Roles, Scope};

const KEYWORDS: [&str; 29] = [
    "_Bool",
    "_Complex",
    "_Imaginary",
    "align",
    "callsite",
    "char",
    "clock",
    "const",
    "double",
    "enum",
    "env",
    "event",
    "float",
    "floating_point",
    "int",
    "integer",
    "long",
    "short",
    "signed",
    "stream",
    "string",
    "struct",
    "trace",
    "typealias",
    "typedef",
    "unsigned",
    "variant",
    "void",
    "volatile",
];

/// Creates the error about a property that TSDL cannot express.
pub(super) fn inexpressible(place: &str, what: impl Into<String>) -> WriteError {
    WriteError::Inexpressible { place: place.to_owned(), format: "TSDL", what: what.into() }
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Returns a name that cannot be escaped, or an error if TSDL does not allow it.
pub(super) fn identifier<'a>(place: &str, name: &'a str) -> Result<&'a str, WriteError> {
    match is_identifier(name) && !KEYWORDS.contains(&name) {
        true => Ok(name),
        false => Err(inexpressible(place, format!("the name {name:?}"))),
    }
}

/// Returns a member name, with an additional underscore if readers would otherwise
/// misread it.
pub(super) fn escaped(place: &str, name: &str) -> Result<String, WriteError> {
    if KEYWORDS.contains(&name) || name.starts_with('_') {
        let name = format!("_{name}");
        return Ok(identifier(place, &name)?.to_owned());
    }
    Ok(identifier(place, name)?.to_owned())
}

/// Prints a string literal.
pub(super) fn quoted(text: &str) -> String {
    let mut literal = String::from('"');
    for c in text.chars() {
        match c {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\t' => literal.push_str("\\t"),
            '\r' => literal.push_str("\\r"),
            // Always three digits, so that a following digit is not part of the
            // escape.
            c if c.is_ascii_control() => literal.push_str(&format!("\\{:03o}", u32::from(c))),
            c => literal.push(c),
        }
    }
    literal.push('"');
    literal
}

/// Returns the role that readers assign to an integer of this name.
fn role_of_name(scope: Scope, name: &str) -> Option<Role> {
    Some(match (scope, name) {
        (Scope::PacketHeader, "magic") => Role::PacketMagic,
        (Scope::PacketHeader, "stream_id") => Role::StreamClassId,
        (Scope::PacketHeader, "stream_instance_id") => Role::StreamId,
        (Scope::PacketContext, "packet_size") => Role::PacketTotalLength,
        (Scope::PacketContext, "content_size") => Role::PacketContentLength,
        (Scope::PacketContext, "timestamp_begin") => Role::ClockTimestamp,
        (Scope::PacketContext, "timestamp_end") => Role::PacketEndTimestamp,
        (Scope::PacketContext, "events_discarded") => Role::DiscardedEvents,
        (Scope::PacketContext, "packet_seq_num") => Role::PacketSequence,
        (Scope::EventHeader, "id") => Role::EventTypeId,
        (Scope::EventHeader, "timestamp") => Role::ClockTimestamp,
        _ => return None,
    })
}

/// Checks that roles can be expressed. In TSDL, roles follow from names. Only timestamps
/// can have any name, since their class declares the clock.
pub(super) fn check_roles(
    place: &str,
    scope: Scope,
    name: &str,
    roles: Roles,
) -> Result<(), WriteError> {
    let expected = role_of_name(scope, name).map_or(Roles::NONE, Roles::from);
    let timestamp = expected.is_empty() && roles == Roles::from(Role::ClockTimestamp);
    if roles == expected || timestamp {
        return Ok(());
    }
    Err(inexpressible(place, "roles that do not follow from the name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(escaped("", "plain").unwrap(), "plain");
        assert_eq!(escaped("", "event").unwrap(), "_event");
        assert_eq!(escaped("", "_Bool").unwrap(), "__Bool");
        assert_eq!(escaped("", "_x").unwrap(), "__x");
        // With an underscore, this one would be a keyword.
        assert_eq!(escaped("", "Bool").unwrap(), "Bool");
        assert!(escaped("", "with space").is_err());
        assert!(escaped("", "").is_err());
        assert!(escaped("", "9").is_err());
        assert_eq!(quoted("a\"\\\u{1}2\né"), "\"a\\\"\\\\\\0012\\né\"");
    }

    #[test]
    fn roles_follow_names() {
        let id = Roles::from(Role::EventTypeId);
        assert!(check_roles("", Scope::EventHeader, "id", id).is_ok());
        assert!(check_roles("", Scope::EventHeader, "number", id).is_err());
        assert!(check_roles("", Scope::EventHeader, "id", Roles::NONE).is_err());
        assert!(check_roles("", Scope::Payload, "id", Roles::NONE).is_ok());
        let time = Roles::from(Role::ClockTimestamp);
        assert!(check_roles("", Scope::EventHeader, "t", time).is_ok());
    }
}
