//! Typed properties of JSON objects.

use serde_json::{Map, Value};

pub(crate) type Checked<T> = Result<T, String>;

/// A JSON object.
pub(crate) struct Object<'v>(&'v Map<String, Value>);

impl<'v> Object<'v> {
    pub(crate) fn new(value: &'v Value) -> Checked<Self> {
        value.as_object().map(Object).ok_or_else(|| format!("no object: {value}"))
    }

    pub(crate) fn get(&self, property: &str) -> Option<&'v Value> {
        self.0.get(property)
    }

    pub(crate) fn required(&self, property: &str) -> Checked<&'v Value> {
        self.get(property).ok_or_else(|| format!("{property}: missing"))
    }

    /// Checks that there are no other properties than these and those of all objects.
    pub(crate) fn only(&self, known: &[&str]) -> Checked<()> {
        let common = ["attributes", "extensions"];
        let other = self.0.keys().find(|key| ![known, &common].concat().contains(&key.as_str()));
        other.map_or(Ok(()), |key| Err(format!("{key}: unknown property")))
    }

    /// Checks the properties of all objects: user attributes, and no extensions, since none exist.
    pub(crate) fn common(&self) -> Checked<()> {
        match (self.get("attributes"), self.get("extensions")) {
            (Some(attributes), _) if !attributes.is_object() => {
                Err("attributes: no object".to_owned())
            }
            (_, Some(_)) => Err("extensions: none are known".to_owned()),
            _ => Ok(()),
        }
    }

    /// Checks namespace, name and unique id.
    pub(crate) fn identity(&self) -> Checked<()> {
        ["namespace", "name", "uid"].iter().try_for_each(|key| self.optional_text(key).map(drop))
    }

    pub(crate) fn text(&self, property: &str) -> Checked<&'v str> {
        self.required(property)?.as_str().ok_or_else(|| format!("{property}: no text"))
    }

    pub(crate) fn optional_text(&self, property: &str) -> Checked<Option<&'v str>> {
        self.get(property).map(|_| self.text(property)).transpose()
    }

    /// Returns an unsigned integer, if the property is there.
    pub(crate) fn unsigned(&self, property: &str) -> Checked<Option<u64>> {
        let number = |value: &Value| {
            value.as_u64().ok_or_else(|| format!("{property}: no unsigned integer"))
        };
        self.get(property).map(number).transpose()
    }

    pub(crate) fn signed(&self, property: &str) -> Checked<Option<i64>> {
        let number =
            |value: &Value| value.as_i64().ok_or_else(|| format!("{property}: no integer"));
        self.get(property).map(number).transpose()
    }

    /// Returns the text of a property that has one of several values.
    pub(crate) fn one_of(&self, property: &str, allowed: &[&str]) -> Checked<Option<&'v str>> {
        match self.optional_text(property)? {
            Some(text) if !allowed.contains(&text) => Err(format!("{property}: {text}")),
            text => Ok(text),
        }
    }

    /// Checks that an alignment is a power of two.
    pub(crate) fn alignment(&self, property: &str) -> Checked<()> {
        match self.unsigned(property)? {
            Some(align) if !align.is_power_of_two() => Err(format!("{property}: {align}")),
            _ => Ok(()),
        }
    }

    /// Returns the elements of an array, if the property is there.
    pub(crate) fn array(&self, property: &str) -> Checked<Option<&'v [Value]>> {
        let elements = |value: &'v Value| {
            value.as_array().map(Vec::as_slice).ok_or_else(|| format!("{property}: no array"))
        };
        self.get(property).map(elements).transpose()
    }
}
