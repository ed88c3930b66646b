//! The types of fields to write, and values of them.
//!
//! | type | values |
//! |---|---|
//! | `int8` … `int64`, `uint8` … `uint64` | `int` |
//! | `float32`, `float64` | `float` |
//! | `bool`, `str`, `bytes` | the same |
//! | `list[TYPE]`, `[TYPE]` | `list` |
//! | `TYPE \| None` | the value or `None` |
//! | `(TYPE, {LABEL: NUMBER})` | `int`, or a label |
//! | `{NAME: TYPE}` | `dict` |

use std::sync::Arc;

use ltt_read::schema::{
    BitOrder, Blob, ByteOrder, Dependency, FieldClass, FieldKind, FixedLen, Integer, Length,
    Mapping, OptionField, Roles, Selector,
};
use ltt_read::writer::{FieldValue, presets};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The deepest nesting of types.
const MAX_DEPTH: usize = 16;

/// The type of a field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Spec {
    Integer { bits: u32, signed: bool },
    Enumeration { bits: u32, signed: bool, labels: Vec<(String, i128, i128)> },
    Float(u32),
    Bool,
    Text,
    Bytes,
    List(Box<Spec>),
    Option(Box<Spec>),
    Struct(Members),
}

/// The members of a structure.
pub(super) type Members = Vec<(String, Spec)>;

impl Spec {
    /// Returns the type that a user describes.
    pub(super) fn of(given: &Bound<'_, PyAny>, depth: usize) -> PyResult<Spec> {
        if depth > MAX_DEPTH {
            return Err(PyValueError::new_err("types are nested too deeply"));
        }
        if let Ok(text) = given.cast::<PyString>() {
            return Spec::named(&text.to_cow()?);
        }
        if let Ok(members) = given.cast::<PyDict>() {
            return members_of(members, depth + 1).map(Spec::Struct);
        }
        if let Ok(list) = given.cast::<PyList>()
            && list.len() == 1
        {
            return Ok(Spec::List(Box::new(Spec::of(&list.get_item(0)?, depth + 1)?.element()?)));
        }
        if let Ok(pair) = given.cast::<PyTuple>()
            && pair.len() == 2
        {
            let Spec::Integer { bits, signed } = Spec::of(&pair.get_item(0)?, depth + 1)? else {
                return Err(PyTypeError::new_err("an enumeration is of integers"));
            };
            let mut labels = Vec::new();
            for (label, range) in pair.get_item(1)?.cast::<PyDict>()?.iter() {
                let (low, high) = match range.extract::<(i128, i128)>() {
                    Ok(range) => range,
                    Err(_) => range.extract::<i128>().map(|number| (number, number))?,
                };
                labels.push((label.extract()?, low, high));
            }
            return Ok(Spec::Enumeration { bits, signed, labels });
        }
        Err(PyTypeError::new_err(format!("{} is no type of a field", given.repr()?)))
    }

    fn named(name: &str) -> PyResult<Spec> {
        let name = name.trim();
        if let Some(inner) = name.strip_suffix("| None") {
            return Ok(Spec::Option(Box::new(Spec::named(inner)?)));
        }
        if let Some(inner) = name.strip_prefix("list[").and_then(|rest| rest.strip_suffix(']')) {
            return Ok(Spec::List(Box::new(Spec::named(inner)?.element()?)));
        }
        Ok(match name {
            "int8" => Spec::Integer { bits: 8, signed: true },
            "int16" => Spec::Integer { bits: 16, signed: true },
            "int32" => Spec::Integer { bits: 32, signed: true },
            "int64" => Spec::Integer { bits: 64, signed: true },
            "uint8" => Spec::Integer { bits: 8, signed: false },
            "uint16" => Spec::Integer { bits: 16, signed: false },
            "uint32" => Spec::Integer { bits: 32, signed: false },
            "uint64" => Spec::Integer { bits: 64, signed: false },
            "float32" => Spec::Float(32),
            "float64" => Spec::Float(64),
            "bool" => Spec::Bool,
            "str" => Spec::Text,
            "bytes" => Spec::Bytes,
            other => {
                return Err(PyValueError::new_err(format!("`{other}` is no type of a field")));
            }
        })
    }

    /// Returns the type as that of an element of a list, if it needs no other member.
    pub(super) fn element(self) -> PyResult<Spec> {
        match self {
            Spec::List(_) | Spec::Bytes | Spec::Option(_) => Err(PyTypeError::new_err(
                "the elements of a list are single values or dictionaries",
            )),
            other => Ok(other),
        }
    }

    /// Returns the class of the field of a name.
    fn class(&self, name: &str) -> FieldClass {
        match self {
            Spec::Integer { bits, signed } => integer(*bits, *signed, None),
            Spec::Enumeration { bits, signed, labels } => {
                let mapping = |(label, low, high): &(String, i128, i128)| Mapping {
                    label: label.as_str().into(),
                    ranges: vec![(*low, *high)],
                };
                integer(*bits, *signed, Some(labels.iter().map(mapping).collect()))
            }
            Spec::Float(bits) => FieldClass::new(FieldKind::Float(fixed(*bits)), 8),
            Spec::Bool => FieldClass::new(FieldKind::Bool(fixed(8), None), 8),
            Spec::Text => FieldClass::string(),
            Spec::Bytes => {
                let length = Length::Dynamic(Dependency::sibling(&length_of(name)));
                let blob = Blob { length, media_type: None, roles: Roles::NONE };
                FieldClass::new(FieldKind::Blob(blob), 8)
            }
            Spec::List(element) => presets::sequence(&length_of(name), element.class(name)),
            Spec::Option(content) => {
                let option = OptionField {
                    class: Arc::new(content.class(name)),
                    present: Selector::Bool,
                    selector: Dependency::sibling(&presence_of(name)),
                };
                FieldClass::new(FieldKind::Option(option), 1)
            }
            Spec::Struct(members) => structure(members),
        }
    }

    /// Returns the value of an object.
    pub(super) fn value(&self, name: &str, of: &Bound<'_, PyAny>) -> PyResult<FieldValue> {
        let wrong = || {
            let kind = of.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
            PyTypeError::new_err(format!("{name}: expected {}, not {kind}", self.expected()))
        };
        match self {
            Spec::Enumeration { labels, signed, .. } => {
                if let Ok(text) = of.cast::<PyString>() {
                    let text = text.to_cow()?;
                    let found = labels.iter().find(|(label, ..)| *label == text);
                    let (_, low, _) = found.ok_or_else(|| {
                        PyValueError::new_err(format!("{name}: there is no label `{text}`"))
                    })?;
                    return number(*low, *signed).ok_or_else(wrong);
                }
                number(of.extract::<i128>().map_err(|_| wrong())?, *signed).ok_or_else(wrong)
            }
            Spec::Integer { bits, signed } => {
                if !of.is_instance_of::<PyInt>() && !of.hasattr("__index__")? {
                    return Err(wrong());
                }
                let value: i128 = of.extract()?;
                let (low, high) = match signed {
                    true => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
                    false => (0, (1_i128 << bits) - 1),
                };
                if value < low || value > high {
                    let text = format!("{name}: {value} is not from {low} to {high}");
                    return Err(pyo3::exceptions::PyOverflowError::new_err(text));
                }
                number(value, *signed).ok_or_else(wrong)
            }
            Spec::Float(_) => match of.cast::<PyFloat>() {
                Ok(value) => Ok(FieldValue::Float(value.value())),
                Err(_) => of.extract::<f64>().map(FieldValue::Float).map_err(|_| wrong()),
            },
            Spec::Bool => {
                of.cast::<PyBool>().map(|of| FieldValue::Bool(of.is_true())).map_err(|_| wrong())
            }
            Spec::Text => match of.cast::<PyString>() {
                Ok(text) => Ok(FieldValue::Str(text.to_cow()?.into_owned())),
                Err(_) => Err(wrong()),
            },
            Spec::Bytes => match of.cast::<PyBytes>() {
                Ok(bytes) => Ok(FieldValue::Bytes(bytes.as_bytes().to_vec())),
                Err(_) => of.extract::<Vec<u8>>().map(FieldValue::Bytes).map_err(|_| wrong()),
            },
            Spec::List(element) => {
                let items = of.try_iter().map_err(|_| wrong())?;
                let items = items.map(|item| element.value(name, &item?));
                Ok(FieldValue::Array(items.collect::<PyResult<_>>()?))
            }
            Spec::Option(_) if of.is_none() => Ok(FieldValue::absent()),
            Spec::Option(content) => Ok(FieldValue::present(content.value(name, of)?)),
            Spec::Struct(members) => match of.cast::<PyDict>() {
                Ok(dict) => structure_value(members, dict),
                Err(_) => Err(wrong()),
            },
        }
    }

    fn expected(&self) -> &'static str {
        match self {
            Spec::Integer { .. } => "int",
            Spec::Enumeration { .. } => "int or a label",
            Spec::Float(_) => "float",
            Spec::Bool => "bool",
            Spec::Text => "str",
            Spec::Bytes => "bytes",
            Spec::List(_) => "list",
            Spec::Option(content) => content.expected(),
            Spec::Struct(_) => "dict",
        }
    }

    /// Returns the number of members before the field that readers need for it.
    pub(super) fn has_helper(&self) -> bool {
        matches!(self, Spec::List(_) | Spec::Bytes | Spec::Option(_))
    }
}

/// Returns the members that a user describes.
pub(super) fn members_of(given: &Bound<'_, PyDict>, depth: usize) -> PyResult<Members> {
    let member = |(name, spec): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok((name.extract()?, Spec::of(&spec, depth)?))
    };
    given.iter().map(member).collect()
}

/// Returns the class of a structure. A list, bytes or an option have a member before them, for readers.
pub(super) fn structure(members: &[(String, Spec)]) -> FieldClass {
    let mut classes: Vec<(String, FieldClass)> = Vec::new();
    for (name, spec) in members {
        match spec {
            Spec::List(_) | Spec::Bytes => {
                classes.push((length_of(name), integer(32, false, None)))
            }
            Spec::Option(content) => {
                // What the content needs is there in any case.
                if content.has_helper() {
                    classes.push((length_of(name), integer(32, false, None)));
                }
                classes
                    .push((presence_of(name), FieldClass::new(FieldKind::Bool(fixed(8), None), 8)));
            }
            _ => {}
        }
        classes.push((name.clone(), spec.class(name)));
    }
    FieldClass::structure(classes.iter().map(|(name, class)| (name.as_str(), class.clone())))
}

/// Returns the values of a structure.
pub(super) fn structure_value(
    members: &[(String, Spec)],
    of: &Bound<'_, PyDict>,
) -> PyResult<FieldValue> {
    let mut values = Vec::with_capacity(members.len());
    let mut used = 0;
    for (name, spec) in members {
        let value = of.get_item(name)?;
        used += usize::from(value.is_some());
        let value = match value {
            Some(value) => spec.value(name, &value)?,
            None if matches!(spec, Spec::Option(_)) => FieldValue::absent(),
            None => return Err(PyKeyError::new_err(format!("the field {name} is missing"))),
        };
        push(&mut values, spec, value);
    }
    if used < of.len() {
        let is_unknown = |key: &Bound<'_, PyAny>| {
            key.extract::<String>()
                .map_or(true, |key| !members.iter().any(|(name, _)| *name == key))
        };
        let unknown = of.keys().iter().find(is_unknown);
        let unknown = unknown.map_or_else(String::new, |key| key.to_string());
        return Err(PyKeyError::new_err(format!("there is no field {unknown}")));
    }
    Ok(FieldValue::Struct(values))
}

/// Adds the value of a member, and of the one before it that readers need.
pub(super) fn push(values: &mut Vec<FieldValue>, spec: &Spec, value: FieldValue) {
    if spec.has_helper() {
        values.push(FieldValue::Auto);
    }
    if matches!(spec, Spec::Option(content) if content.has_helper()) {
        values.push(FieldValue::Auto);
    }
    values.push(value);
}

fn length_of(name: &str) -> String {
    format!("_{name}_length")
}

fn presence_of(name: &str) -> String {
    format!("_{name}_present")
}

fn fixed(bits: u32) -> FixedLen {
    FixedLen { bits, byte_order: ByteOrder::Little, bit_order: BitOrder::Natural }
}

fn integer(bits: u32, signed: bool, mappings: Option<Arc<[Mapping]>>) -> FieldClass {
    let integer = Integer { signed, mappings, ..Integer::default() };
    FieldClass::new(FieldKind::Integer(fixed(bits), integer), 8)
}

/// Returns an integer as a value.
pub(super) fn number(number: i128, signed: bool) -> Option<FieldValue> {
    match signed {
        true => i64::try_from(number).ok().map(FieldValue::Sint),
        false => u64::try_from(number).ok().map(FieldValue::Uint),
    }
}
