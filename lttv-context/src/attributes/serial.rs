//! Attributes in the formats of serde.
//!
//! A tree is a map from names, in the form of path components, to `{kind: content}`:
//! `{"cpus":{"tree":{"[0]":{"tree":{"events":{"uint":10}}}}}}`. This preserves kinds, order,
//! and the distinction between numbers and text as names, in any format. (Floats are preserved
//! exactly if the format does so: `serde_json` does with its feature `float_roundtrip`.)

use std::borrow::Cow;
use std::fmt;

use ltt_read::Timestamp;
use serde::de::{self, DeserializeSeed, EnumAccess, MapAccess, VariantAccess, Visitor};
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::browse::{Below, Browse, Item, try_each};
use super::key::AttributeId;
use super::path::{MAX_DEPTH, parse_name};
use super::tree::Attributes;
use super::value::{AttributeValue, Kind};

/// A wrapper that serialises any structure that can be browsed.
///
/// ```
/// use lttv_context::attributes::{Attributes, Serial};
///
/// let mut attributes = Attributes::new();
/// attributes.set_at("cpus/[0]/events", 10_u64)?;
/// let text = serde_json::to_string(&Serial(&attributes)).unwrap();
/// assert_eq!(text, r#"{"cpus":{"tree":{"[0]":{"tree":{"events":{"uint":10}}}}}}"#);
///
/// let back: Attributes = serde_json::from_str(&text).unwrap();
/// assert_eq!(back.to_string(), attributes.to_string());
/// # Ok::<(), lttv_context::attributes::AttributeError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Serial<'a, T: ?Sized>(pub &'a T);

impl<T: Browse + ?Sized> Serialize for Serial<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        TreeOut { tree: &self.0, depth: 0 }.serialize(serializer)
    }
}

impl Serialize for Attributes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Serial(self).serialize(serializer)
    }
}

impl Serialize for Below<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Serial(self).serialize(serializer)
    }
}

/// The name of the enumeration in formats where kinds are variants.
const ENUM: &str = "Attribute";

/// The names of the variants.
const VARIANTS: [&str; Kind::ALL.len()] = {
    let mut names = [""; Kind::ALL.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = Kind::ALL[index].name();
        index += 1;
    }
    names
};

struct TreeOut<'a> {
    tree: &'a dyn Browse,
    depth: usize,
}

impl Serialize for TreeOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.depth > MAX_DEPTH {
            return Err(S::Error::custom("attributes are nested too deep"));
        }
        // Some formats need the length first.
        let mut len = 0;
        try_each(self.tree, |_, _| {
            len += 1;
            Ok(())
        })?;
        let mut map = serializer.serialize_map(Some(len))?;
        try_each(self.tree, |name, item| {
            map.serialize_entry(&name.to_string(), &ItemOut { item, depth: self.depth })
        })?;
        map.end()
    }
}

struct ItemOut<'a> {
    item: Item<'a>,
    depth: usize,
}

impl Serialize for ItemOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = match self.item {
            Item::Value(value) => value,
            Item::Tree(tree) => {
                return variant(serializer, Kind::Tree, &TreeOut { tree, depth: self.depth + 1 });
            }
        };
        match value {
            AttributeValue::Bool(value) => variant(serializer, Kind::Bool, value),
            AttributeValue::Int(value) => variant(serializer, Kind::Int, value),
            AttributeValue::UInt(value) => variant(serializer, Kind::UInt, value),
            AttributeValue::Float(value) => variant(serializer, Kind::Float, &Float(*value)),
            AttributeValue::Time(value) => variant(serializer, Kind::Time, &value.as_ns()),
            AttributeValue::Duration(value) => variant(serializer, Kind::Duration, value),
            AttributeValue::Text(value) => variant(serializer, Kind::Text, value),
        }
    }
}

fn variant<S: Serializer, T: Serialize + ?Sized>(
    serializer: S,
    kind: Kind,
    content: &T,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_newtype_variant(ENUM, kind as u32, kind.name(), content)
}

/// A float. Human-readable formats such as JSON often have no infinities and NaN, which are
/// text there.
struct Float(f64);

impl Serialize for Float {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() || !serializer.is_human_readable() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.collect_str(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(FloatVisitor)
        } else {
            f64::deserialize(deserializer).map(Float)
        }
    }
}

struct FloatVisitor;

impl Visitor<'_> for FloatVisitor {
    type Value = Float;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, \"inf\", \"-inf\" or \"NaN\"")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Float, E> {
        Ok(Float(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Float, E> {
        Ok(Float(value as f64))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Float, E> {
        Ok(Float(value as f64))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Float, E> {
        let unexpected = || E::invalid_value(de::Unexpected::Str(text), &self);
        text.parse().map(Float).map_err(|_| unexpected())
    }
}

impl<'de> Deserialize<'de> for Attributes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut tree = Attributes::new();
        TreeIn { into: &mut tree, at: AttributeId::ROOT }.deserialize(deserializer)?;
        Ok(tree)
    }
}

/// A visitor that reads a map into a tree. The maximum depth of the tree limits the recursion.
struct TreeIn<'t> {
    into: &'t mut Attributes,
    at: AttributeId,
}

impl<'de> DeserializeSeed<'de> for TreeIn<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TreeIn<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of attributes by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            let owned = parse_name(&name).map_err(de::Error::custom)?;
            if self.into.child(self.at, owned.borrowed()).is_some() {
                return Err(de::Error::custom(format_args!("attribute `{name}` is given twice")));
            }
            map.next_value_seed(ItemIn { into: self.into, at: self.at, name: &owned })?;
        }
        Ok(())
    }
}

/// A visitor that reads an attribute into a tree that has none of its name.
struct ItemIn<'t, 'n> {
    into: &'t mut Attributes,
    at: AttributeId,
    name: &'n super::name::OwnedName,
}

impl<'de> DeserializeSeed<'de> for ItemIn<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_enum(ENUM, &VARIANTS, self)
    }
}

impl<'de> Visitor<'de> for ItemIn<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an attribute by kind")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<(), A::Error> {
        let (kind, content) = data.variant::<KindIn>()?;
        let name = self.name.borrowed();
        let value: AttributeValue<'_> = match kind.0 {
            Kind::Tree => {
                let at = self.into.subtree(self.at, name).map_err(de::Error::custom)?;
                return content.newtype_variant_seed(TreeIn { into: self.into, at });
            }
            Kind::Bool => content.newtype_variant::<bool>()?.into(),
            Kind::Int => content.newtype_variant::<i64>()?.into(),
            Kind::UInt => content.newtype_variant::<u64>()?.into(),
            Kind::Float => content.newtype_variant::<Float>()?.0.into(),
            Kind::Time => Timestamp::from_ns(content.newtype_variant()?).into(),
            Kind::Duration => content.newtype_variant::<std::time::Duration>()?.into(),
            Kind::Text => content.newtype_variant::<String>()?.into(),
        };
        self.into.set(self.at, name, value).map(|_| ()).map_err(de::Error::custom)
    }
}

/// A kind by name, or by number in formats that number variants.
struct KindIn(Kind);

impl<'de> Deserialize<'de> for KindIn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(KindVisitor)
    }
}

struct KindVisitor;

impl Visitor<'_> for KindVisitor {
    type Value = KindIn;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a kind of attribute")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<KindIn, E> {
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name);
        kind.map(KindIn).ok_or_else(|| E::unknown_variant(name, &VARIANTS))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<KindIn, E> {
        let kind = usize::try_from(number).ok().and_then(|number| Kind::ALL.get(number));
        let unexpected = || E::invalid_value(de::Unexpected::Unsigned(number), &self);
        kind.copied().map(KindIn).ok_or_else(unexpected)
    }
}
