//! Keys: a length and a selector at the start of a scope, on which any number of fields
//! of this and of later scopes may depend.

use ltt_read::schema::*;
use ltt_read::writer::FieldValue;
use proptest::prelude::*;

use super::shape::{fixed_len, length_class};

/// The number of options that the selector of a key chooses from.
pub(crate) const OPTIONS: usize = 3;

/// Returns the selector values that choose an option.
pub(crate) fn option_range(option: usize) -> (i128, i128) {
    let option = option as i128;
    (2 * option, 2 * option + 1)
}

pub(crate) fn length_key(scope: Scope) -> String {
    format!("key_length{}", scope as usize)
}

pub(crate) fn option_key(scope: Scope) -> String {
    format!("key_option{}", scope as usize)
}

/// The field classes of a key.
pub(crate) type KeyClasses = (FieldClass, FieldClass);

pub(crate) fn key_classes(format: Format, native: ByteOrder) -> impl Strategy<Value = KeyClasses> {
    let option = fixed_len(4..=64, native).prop_map(|(fixed, align)| {
        let mapping = |i| Mapping { label: format!("o{i}").into(), ranges: vec![option_range(i)] };
        let mappings = Some((0..OPTIONS).map(mapping).collect());
        FieldClass::new(
            FieldKind::Integer(fixed, Integer { mappings, ..Default::default() }),
            align,
        )
    });
    (length_class(format, native), option)
}

/// Returns a root structure with the key of its scope before all other members.
pub(crate) fn with_key(root: &FieldClass, scope: Scope, classes: &KeyClasses) -> FieldClass {
    let (length, option) = (length_key(scope), option_key(scope));
    let key = [(&*length, classes.0.clone()), (&*option, classes.1.clone())];
    let members = root.members().iter().map(|m| (&*m.name, (*m.class).clone()));
    let class = FieldClass::structure(key.into_iter().chain(members));
    FieldClass::new(class.kind, root.align)
}

/// The values of the keys of all scopes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Keys {
    pub(crate) lengths: [u64; 6],
    pub(crate) options: [usize; 6],
}

impl Keys {
    /// Returns the value of a key member with a name.
    pub(crate) fn value(&self, name: &str) -> Option<FieldValue> {
        let option = |i: usize| FieldValue::Uint(option_range(self.options[i]).0 as u64);
        let scope = |kind| name.strip_prefix(kind)?.parse::<usize>().ok();
        scope("key_length")
            .map(|i| FieldValue::Uint(self.lengths[i]))
            .or(scope("key_option").map(option))
    }

    fn name(dependency: &Dependency) -> &str {
        match dependency.path.last() {
            Some(PathStep::Name(name)) => name,
            _ => "",
        }
    }

    /// Returns the length that a key prescribes.
    pub(crate) fn length(&self, length: &Length) -> Option<u64> {
        let Length::Dynamic(dependency) = length else { return None };
        match self.value(Self::name(dependency))? {
            FieldValue::Uint(n) => Some(n),
            _ => None,
        }
    }

    /// Returns the option that a key prescribes.
    pub(crate) fn option(&self, selector: &Dependency) -> Option<usize> {
        let scope = Self::name(selector).strip_prefix("key_option")?.parse::<usize>().ok()?;
        Some(self.options[scope])
    }
}

/// Generates the keys of packet header and packet context, which are constant in a
/// stream.
pub(crate) fn packet_keys() -> impl Strategy<Value = Keys> {
    (prop::array::uniform6(0..5u64), prop::array::uniform6(0..OPTIONS))
        .prop_map(|(lengths, options)| Keys { lengths, options })
}

/// Generates the keys of an event in a packet with the keys `packet`.
pub(crate) fn event_keys(packet: Keys) -> impl Strategy<Value = Keys> {
    packet_keys().prop_map(move |mut keys| {
        for scope in [Scope::PacketHeader, Scope::PacketContext] {
            keys.lengths[scope as usize] = packet.lengths[scope as usize];
            keys.options[scope as usize] = packet.options[scope as usize];
        }
        keys
    })
}
