//! Attributes as plain JSON: trees are objects, values are numbers, booleans and texts.

use std::borrow::Cow;
use std::ops::ControlFlow;

use lttv_context::attributes::{AttributeValue, Browse, Entries, Item, MAX_DEPTH, Name};
use serde::ser::{Error, SerializeMap};
use serde::{Serialize, Serializer};

/// A wrapper that serialises a structure without the types of its values.
///
/// The number of a member is `[N]`, as in paths. Other names are unchanged, unless they start
/// as a number does: they are written as in paths, so that no two members have one name.
#[derive(Clone, Copy)]
pub(super) struct Plain<'a>(pub(super) &'a dyn Browse);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Tree { tree: self.0, depth: 0 }.serialize(serializer)
    }
}

#[derive(Clone, Copy)]
struct Tree<'a> {
    tree: &'a dyn Browse,
    depth: usize,
}

impl Serialize for Tree<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A structure may contain itself.
        if self.depth > MAX_DEPTH {
            return Err(S::Error::custom("attributes are nested too deep"));
        }
        let mut map = serializer.serialize_map(None)?;
        let mut result = Ok(());
        let mut entry = |name: Name<'_>, item: Item<'_>| {
            let name = key(name);
            result = match item {
                Item::Value(value) => map.serialize_entry(&*name, &Value(value)),
                Item::Tree(tree) => {
                    map.serialize_entry(&*name, &Tree { tree, depth: self.depth + 1 })
                }
            };
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        _ = self.tree.entries(&mut Entries::new(&mut entry));
        result?;
        map.end()
    }
}

/// Returns the name of a member in JSON.
fn key(name: Name<'_>) -> Cow<'_, str> {
    match name {
        // Names in paths escape the bracket with a backslash.
        Name::Text(text) if !text.starts_with(['[', '\\']) => text.into(),
        _ => name.to_string().into(),
    }
}

struct Value<'a>(&'a AttributeValue<'a>);

impl Serialize for Value<'_> {
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
        let text = serde_json::to_string(&Plain(&of)).unwrap();
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
        let text = serde_json::to_string(&Plain(&of)).unwrap();
        assert_eq!(text, r#"{"cpus":{"[3]":0,"3":1,"\\[3]":2,"\\\\[3]":3,"":4}}"#);
    }
}
