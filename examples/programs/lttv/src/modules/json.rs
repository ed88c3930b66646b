//! Attributes as JSON: plain, with numbers, booleans and texts, or with the kind of each value.

use std::borrow::Cow;
use std::ops::ControlFlow;

use lttv_context::attributes::{AttributeValue, Browse, Entries, Item, Kind, MAX_DEPTH, Name};
use serde::ser::{Error, SerializeMap};
use serde::{Serialize, Serializer};

/// A wrapper that serialises a structure, whose trees are objects.
///
/// The number of a member is `[N]`, as in paths. With kinds, all names are written as in paths, and
/// each member is an object of one member, named by the kind: `{"cpus":{"tree":{"[0]":{"uint":1}}}}`.
/// Otherwise names are unchanged, unless they start as a number does, so that no two members have
/// one name.
#[derive(Clone, Copy)]
pub(super) struct Json<'a> {
    tree: &'a dyn Browse,
    has_kinds: bool,
    depth: usize,
}

impl<'a> Json<'a> {
    pub(super) fn plain(tree: &'a dyn Browse) -> Self {
        Json { tree, has_kinds: false, depth: 0 }
    }

    pub(super) fn with_kinds(tree: &'a dyn Browse) -> Self {
        Json { tree, has_kinds: true, depth: 0 }
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A structure may contain itself.
        if self.depth > MAX_DEPTH {
            return Err(S::Error::custom("attributes are nested too deep"));
        }
        let mut map = serializer.serialize_map(None)?;
        let mut result = Ok(());
        let mut entry = |name: Name<'_>, item: Item<'_>| {
            let below = |tree| Json { tree, depth: self.depth + 1, ..*self };
            result = match (item, self.has_kinds) {
                (Item::Value(value), false) => map.serialize_entry(&*plain(name), &Plain(value)),
                (Item::Tree(tree), false) => map.serialize_entry(&*plain(name), &below(tree)),
                (Item::Value(value), true) => {
                    map.serialize_entry(&name.to_string(), &WithKind(value))
                }
                (Item::Tree(tree), true) => {
                    let tree = OneMember(Kind::Tree, &below(tree));
                    map.serialize_entry(&name.to_string(), &tree)
                }
            };
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        _ = self.tree.entries(&mut Entries::new(&mut entry));
        result?;
        map.end()
    }
}

/// Returns the name of a member in plain JSON.
fn plain(name: Name<'_>) -> Cow<'_, str> {
    match name {
        // Names in paths escape the bracket with a backslash.
        Name::Text(text) if !text.starts_with(['[', '\\']) => text.into(),
        _ => name.to_string().into(),
    }
}

/// An object whose only member is named by a kind.
struct OneMember<'a, T>(Kind, &'a T);

impl<T: Serialize> Serialize for OneMember<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0.name(), self.1)])
    }
}

struct WithKind<'a>(&'a AttributeValue<'a>);

impl Serialize for WithKind<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = self.0.kind();
        match self.0 {
            AttributeValue::Float(value) if !value.is_finite() => {
                OneMember(kind, &value.to_string()).serialize(serializer)
            }
            AttributeValue::Duration(value) => OneMember(kind, value).serialize(serializer),
            value => OneMember(kind, &Plain(value)).serialize(serializer),
        }
    }
}

struct Plain<'a>(&'a AttributeValue<'a>);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            AttributeValue::Bool(value) => serializer.serialize_bool(*value),
            AttributeValue::Int(value) => serializer.serialize_i64(*value),
            AttributeValue::UInt(value) => serializer.serialize_u64(*value),
            AttributeValue::Float(value) if value.is_nan() => serializer.serialize_str("nan"),
            AttributeValue::Float(value) if value.is_infinite() => serializer.collect_str(value),
            AttributeValue::Float(value) => serializer.serialize_f64(*value),
            AttributeValue::Time(value) => serializer.serialize_i64(value.as_ns()),
            AttributeValue::Duration(value) => serializer.serialize_u128(value.as_nanos()),
            AttributeValue::Text(value) => serializer.serialize_str(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ltt_read::Timestamp;
    use lttv_context::attributes::{AttributeId, Attributes};

    use super::*;

    #[test]
    fn values_are_plain_and_exact() {
        let mut of = Attributes::new();
        let mut set = |name: &str, value: AttributeValue<'_>| {
            of.set(AttributeId::ROOT, name, value).unwrap();
        };
        set("count", 1200_u64.into());
        set("most", u64::MAX.into());
        set("least", i64::MIN.into());
        set("half", 0.5.into());
        set("none", f64::NAN.into());
        set("endless", f64::NEG_INFINITY.into());
        set("is", true.into());
        set("time", Timestamp::from_ns(1_700_000_000_123_456_789).into());
        set("length", Duration::new(9_007_199_255, 1).into());
        set("kworker/0:1 \"x\"\n", "a\\\u{9b}".into());
        let text = serde_json::to_string(&Json::plain(&of)).unwrap();
        let expected = r#"{"count":1200,"most":18446744073709551615,"least":-9223372036854775808,"#;
        let expected = expected.to_owned()
            + r#""half":0.5,"none":"nan","endless":"-inf","is":true,"#
            + r#""time":1700000000123456789,"length":9007199255000000001,"#
            + "\"kworker/0:1 \\\"x\\\"\\n\":\"a\\\\\u{9b}\"}";
        assert_eq!(text, expected);
    }

    #[test]
    fn no_two_members_have_one_name() {
        let mut of = Attributes::new();
        let tree = of.subtree(AttributeId::ROOT, "cpus").unwrap();
        let names = [
            Name::Index(3),
            Name::Text("3"),
            Name::Text("[3]"),
            Name::Text("\\[3]"),
            Name::Text(""),
        ];
        for (value, name) in (0_u64..).zip(names) {
            of.set(tree, name, value).unwrap();
        }
        let text = serde_json::to_string(&Json::plain(&of)).unwrap();
        assert_eq!(text, r#"{"cpus":{"[3]":0,"3":1,"\\[3]":2,"\\\\[3]":3,"":4}}"#);
    }

    #[test]
    fn kinds_are_members() {
        let mut of = Attributes::new();
        of.set_at("cpus/[0]/events", 10_u64).unwrap();
        let mut set = |name: &str, value: AttributeValue<'_>| {
            of.set(AttributeId::ROOT, name, value).unwrap();
        };
        set("[x]", f64::NAN.into());
        set("endless", f64::NEG_INFINITY.into());
        set("time", Timestamp::from_ns(-7).into());
        set("length", Duration::new(3, 1).into());
        let text = serde_json::to_string(&Json::with_kinds(&of)).unwrap();
        let expected = r#"{"cpus":{"tree":{"[0]":{"tree":{"events":{"uint":10}}}}},"#.to_owned()
            + r#""\\[x]":{"float":"NaN"},"endless":{"float":"-inf"},"#
            + r#""time":{"time":-7},"length":{"duration":{"secs":3,"nanos":1}}}"#;
        assert_eq!(text, expected);
    }
}
