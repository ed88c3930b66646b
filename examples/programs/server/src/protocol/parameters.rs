//! The parameters of requests, and their faults.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::samples::{MOST_SAMPLES, Samples};

/// A fault of a request: the answer has status 400.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// The body is not JSON, or not an object.
    #[error("The request has no valid body")]
    Body(String),
    /// A parameter is missing.
    #[error("Missing query parameters: {0}")]
    Missing(&'static str),
    /// A parameter has a wrong type or value.
    #[error("Invalid query parameters: {name}")]
    Invalid {
        /// The name of the parameter.
        name: &'static str,
        /// A description of the fault.
        reason: String,
    },
}

impl ParameterError {
    /// Creates the error of a parameter with a wrong value.
    pub fn invalid(name: &'static str, reason: impl Into<String>) -> Self {
        ParameterError::Invalid { name, reason: reason.into() }
    }
}

/// The parameters of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters(BTreeMap<String, Parameter>);

/// The value of a parameter. Most are lists of ids, which take little memory so.
#[derive(Debug, Clone, PartialEq)]
enum Parameter {
    /// A list of integers, or an empty one.
    Integers(Vec<i64>),
    /// Anything else.
    Other(Value),
}

/// The greatest number of entries that a request names.
const MOST_ITEMS: usize = 200_000;

impl Parameters {
    /// Reads the body of a request. A body without `parameters` has none.
    ///
    /// # Errors
    ///
    /// If the body is not an object, or its parameters are not one.
    pub fn from_body(body: &[u8]) -> Result<Self, ParameterError> {
        let body: Body = serde_json::from_slice(body)
            .map_err(|error| ParameterError::Body(error.to_string()))?;
        Ok(body.0)
    }

    /// Returns a parameter that is present and not null.
    fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.0.get(name).filter(|parameter| **parameter != Parameter::Other(Value::Null))
    }

    /// Returns a parameter that is present and not null.
    pub fn get(&self, name: &str) -> Option<Cow<'_, Value>> {
        match self.parameter(name)? {
            Parameter::Integers(list) => Some(Cow::Owned(list.as_slice().into())),
            Parameter::Other(value) => Some(Cow::Borrowed(value)),
        }
    }

    /// Returns a list of at most `most` integers.
    fn integers(&self, name: &'static str, most: usize) -> Result<Option<&[i64]>, ParameterError> {
        match self.parameter(name) {
            None => Ok(None),
            Some(Parameter::Integers(list)) if list.len() <= most => Ok(Some(list)),
            Some(Parameter::Integers(_)) => Err(ParameterError::invalid(name, "too many")),
            Some(Parameter::Other(_)) => {
                Err(ParameterError::invalid(name, "not a list of integers"))
            }
        }
    }

    /// Returns a text.
    ///
    /// # Errors
    ///
    /// If it is no text, or longer than 4096 bytes.
    pub fn text(&self, name: &'static str) -> Result<Option<&str>, ParameterError> {
        match self.parameter(name) {
            None => Ok(None),
            Some(Parameter::Other(Value::String(text))) if text.len() <= 4096 => Ok(Some(text)),
            Some(Parameter::Other(Value::String(_))) => {
                Err(ParameterError::invalid(name, "too long"))
            }
            Some(_) => Err(ParameterError::invalid(name, "not a text")),
        }
    }

    /// Returns a flag, which is not set unless it is present.
    ///
    /// # Errors
    ///
    /// If it is neither `true` nor `false`.
    pub fn flag(&self, name: &'static str) -> Result<bool, ParameterError> {
        match self.parameter(name) {
            None => Ok(false),
            Some(Parameter::Other(Value::Bool(flag))) => Ok(*flag),
            Some(_) => Err(ParameterError::invalid(name, "neither true nor false")),
        }
    }

    /// Returns a text that must be present.
    ///
    /// # Errors
    ///
    /// If it is missing, empty, or no text.
    pub fn required_text(&self, name: &'static str) -> Result<&str, ParameterError> {
        let text = self.text(name)?.ok_or(ParameterError::Missing(name))?;
        if text.is_empty() {
            return Err(ParameterError::invalid(name, "empty"));
        }
        Ok(text)
    }

    /// Returns an integer.
    ///
    /// # Errors
    ///
    /// If it is no integer of 64 bits.
    pub fn integer(&self, name: &'static str) -> Result<Option<i64>, ParameterError> {
        let Some(parameter) = self.parameter(name) else { return Ok(None) };
        let number = match parameter {
            Parameter::Integers(_) => None,
            Parameter::Other(value) => integer(value),
        };
        number.map(Some).ok_or(ParameterError::invalid(name, "not an integer"))
    }

    /// Returns a list of texts that must be present.
    ///
    /// # Errors
    ///
    /// If it is missing, or not a list of texts.
    pub fn required_texts(&self, name: &'static str) -> Result<Vec<&str>, ParameterError> {
        let list = match self.parameter(name).ok_or(ParameterError::Missing(name))? {
            Parameter::Integers(list) if list.is_empty() => return Ok(Vec::new()),
            Parameter::Integers(_) => None,
            Parameter::Other(value) => value.as_array(),
        };
        let list = list.ok_or(ParameterError::invalid(name, "not a list of texts"))?;
        if list.len() > 1000 {
            return Err(ParameterError::invalid(name, "too many"));
        }
        let texts = list.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
        texts.ok_or(ParameterError::invalid(name, "not a list of texts"))
    }

    /// Returns the number of samples that are requested; 0 if there are none.
    pub fn sample_count(&self) -> usize {
        let count = |name| self.samples(name).map_or(0, |samples| samples.len());
        count("nbTimes").max(count("nbSamples"))
    }

    /// Returns the ids of `requested_items`, or of another list of ids.
    ///
    /// # Errors
    ///
    /// If it is not a list of integers, or too long.
    pub fn ids(&self, name: &'static str) -> Result<Option<Vec<i64>>, ParameterError> {
        Ok(self.integers(name, MOST_ITEMS)?.map(<[i64]>::to_vec))
    }

    /// Returns the ids of `requested_items`, which must be present.
    ///
    /// # Errors
    ///
    /// If they are missing, not a list of integers, or too many.
    pub fn items(&self) -> Result<Vec<i64>, ParameterError> {
        self.ids("requested_items")?.ok_or(ParameterError::Missing("requested_items"))
    }

    /// Returns the samples of `requested_timerange` or `requested_times`. `count` is the name
    /// of their number.
    ///
    /// # Errors
    ///
    /// If they have a wrong type, the range is reversed, or the times are not sorted.
    pub fn optional_samples(&self, count: &'static str) -> Result<Option<Samples>, ParameterError> {
        const RANGE: &str = "requested_timerange";
        const TIMES: &str = "requested_times";
        if let Some(range) = self.parameter(RANGE) {
            let Parameter::Other(range) = range else {
                return Err(ParameterError::invalid(RANGE, "not an object"));
            };
            let bound = |name: &str| {
                range.get(name).and_then(integer).ok_or_else(|| {
                    ParameterError::invalid(RANGE, format!("`{name}` is not an integer"))
                })
            };
            let (start, end) = (bound("start")?, bound("end")?);
            if start > end {
                return Err(ParameterError::invalid(RANGE, "the start is after the end"));
            }
            let count = range.get(count).and_then(integer).unwrap_or(0);
            return Ok(Some(Samples::new(start, end, count)));
        }
        let Some(times) = self.integers(TIMES, MOST_SAMPLES)? else { return Ok(None) };
        if times.is_empty() {
            return Err(ParameterError::invalid(TIMES, "no times"));
        }
        if !times.is_sorted() {
            return Err(ParameterError::invalid(TIMES, "not sorted"));
        }
        Ok(Some(Samples::of_times(times.to_vec())))
    }

    /// Returns the samples, which must be present.
    ///
    /// # Errors
    ///
    /// If they are missing or wrong.
    pub fn samples(&self, count: &'static str) -> Result<Samples, ParameterError> {
        self.optional_samples(count)?.ok_or(ParameterError::Missing("requested_timerange"))
    }

    /// Returns the time range of a tree; `None` for the whole experiment.
    ///
    /// # Errors
    ///
    /// If it is wrong.
    pub fn range(&self) -> Result<Option<(i64, i64)>, ParameterError> {
        let samples = self.optional_samples("nbTimes")?;
        Ok(samples.map(|samples| (samples.start(), samples.end())))
    }
}

/// The body of a request: an object, of which only the parameters matter.
struct Body(Parameters);

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BodyVisitor;

        impl<'de> Visitor<'de> for BodyVisitor {
            type Value = Body;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Body, A::Error> {
                let mut parameters = None;
                while let Some(name) = map.next_key::<String>()? {
                    match &name[..] {
                        "parameters" => parameters = map.next_value()?,
                        _ => _ = map.next_value::<IgnoredAny>()?,
                    }
                }
                Ok(Body(Parameters(parameters.unwrap_or_default())))
            }
        }

        deserializer.deserialize_map(BodyVisitor)
    }
}

impl<'de> Deserialize<'de> for Parameter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ParameterVisitor;

        impl<'de> Visitor<'de> for ParameterVisitor {
            type Value = Parameter;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Parameter, A::Error> {
                let mut integers = Vec::new();
                while let Some(element) = list.next_element::<Value>()? {
                    match integer(&element) {
                        // Longer lists are refused, however long they are.
                        Some(integer) if integers.len() <= MOST_ITEMS => integers.push(integer),
                        Some(_) => {}
                        None => {
                            let all = integers.into_iter().map(Value::from);
                            let mut all: Vec<Value> = all.chain([element]).collect();
                            while let Some(element) = list.next_element()? {
                                all.push(element);
                            }
                            return Ok(Parameter::Other(all.into()));
                        }
                    }
                }
                integers.shrink_to_fit();
                Ok(Parameter::Integers(integers))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Parameter, A::Error> {
                Value::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                    .map(Parameter::Other)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Parameter, E> {
                Ok(Parameter::Other(value.into()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Parameter, E> {
                Ok(Parameter::Other(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Parameter, E> {
                Ok(Parameter::Other(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Parameter, E> {
                Ok(Parameter::Other(value.into()))
            }

            fn visit_str<E>(self, value: &str) -> Result<Parameter, E> {
                Ok(Parameter::Other(value.into()))
            }

            fn visit_unit<E>(self) -> Result<Parameter, E> {
                Ok(Parameter::Other(Value::Null))
            }
        }

        deserializer.deserialize_any(ParameterVisitor)
    }
}

/// Returns the integer that a value is. Numbers such as `1.0` are integers, too.
pub fn integer(value: &Value) -> Option<i64> {
    if let Some(number) = value.as_i64() {
        return Some(number);
    }
    let number = value.as_f64()?;
    let is_whole = number.fract() == 0.0 && number.abs() < 9.0e15;
    is_whole.then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Parameters {
        Parameters::from_body(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_body_needs_no_parameters_but_is_an_object() {
        for empty in ["{}", r#"{"parameters":null}"#, r#"{"other":[1]}"#] {
            assert_eq!(parse(empty), Parameters::default());
        }
        for wrong in ["", "[]", "1", "{", r#"{"parameters":[]}"#, r#"{"parameters":"a"}"#] {
            assert!(Parameters::from_body(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lists_are_those_of_integers_or_of_anything() {
        let of = parse(
            r#"{"parameters":{"a":[1,2.0,-3],"b":[],"c":[1,"x",[2]],"d":["x","y"],"e":{"f":[1]}}}"#,
        );
        assert_eq!(of.ids("a").unwrap(), Some(vec![1, 2, -3]));
        assert_eq!(of.ids("b").unwrap(), Some(Vec::new()));
        assert_eq!(of.required_texts("b").unwrap(), Vec::<&str>::new());
        assert!(of.ids("c").is_err() && of.required_texts("c").is_err());
        assert_eq!(*of.get("c").unwrap(), serde_json::json!([1, "x", [2]]));
        assert_eq!(*of.get("a").unwrap(), serde_json::json!([1, 2, -3]));
        assert_eq!(of.required_texts("d").unwrap(), ["x", "y"]);
        assert_eq!(*of.get("e").unwrap(), serde_json::json!({ "f": [1] }));
        assert!(of.integer("a").is_err() && of.text("a").is_err());
        let many = format!(r#"{{"parameters":{{"a":[{}0]}}}}"#, "0,".repeat(2 * MOST_ITEMS));
        let of = parse(&many);
        assert!(matches!(&of.0["a"], Parameter::Integers(list) if list.len() == MOST_ITEMS + 1));
        assert!(matches!(of.ids("a"), Err(ParameterError::Invalid { name: "a", .. })));
    }

    #[test]
    fn times_beyond_the_precision_of_doubles_are_exact() {
        let of = parse(r#"{"parameters":{"requested_times":[1539975462526693913]}}"#);
        assert_eq!(of.samples("nbTimes").unwrap().start(), 1_539_975_462_526_693_913);
        let wrong = parse(r#"{"parameters":{"requested_times":[1.5e18]}}"#);
        assert!(wrong.samples("nbTimes").is_err());
    }
}
