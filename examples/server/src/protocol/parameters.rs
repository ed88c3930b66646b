//! The parameters of requests, and their faults.

use serde_json::{Map, Value};

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
pub struct Parameters(Map<String, Value>);

/// The greatest number of entries that a request names.
const MOST_ITEMS: usize = 200_000;

impl Parameters {
    /// Reads the body of a request. A body without `parameters` has none.
    ///
    /// # Errors
    ///
    /// If the body is not an object, or its parameters are not one.
    pub fn from_body(body: &[u8]) -> Result<Self, ParameterError> {
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| ParameterError::Body(error.to_string()))?;
        let Value::Object(mut body) = value else {
            return Err(ParameterError::Body("the body is not an object".to_owned()));
        };
        match body.remove("parameters") {
            None | Some(Value::Null) => Ok(Parameters::default()),
            Some(Value::Object(parameters)) => Ok(Parameters(parameters)),
            Some(_) => Err(ParameterError::Body("`parameters` is not an object".to_owned())),
        }
    }

    /// Returns a parameter that is present and not null.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Returns a text.
    ///
    /// # Errors
    ///
    /// If it is no text, or longer than 4096 bytes.
    pub fn text(&self, name: &'static str) -> Result<Option<&str>, ParameterError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.len() <= 4096 => Ok(Some(text)),
            Some(Value::String(_)) => Err(ParameterError::invalid(name, "too long")),
            Some(_) => Err(ParameterError::invalid(name, "not a text")),
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
        match self.get(name) {
            None => Ok(None),
            Some(value) => {
                integer(value).map(Some).ok_or(ParameterError::invalid(name, "not an integer"))
            }
        }
    }

    /// Returns a list of texts that must be present.
    ///
    /// # Errors
    ///
    /// If it is missing, or not a list of texts.
    pub fn required_texts(&self, name: &'static str) -> Result<Vec<&str>, ParameterError> {
        let list = self.get(name).ok_or(ParameterError::Missing(name))?;
        let list = list.as_array().ok_or(ParameterError::invalid(name, "not a list"))?;
        if list.len() > 1000 {
            return Err(ParameterError::invalid(name, "too many"));
        }
        let texts = list.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
        texts.ok_or(ParameterError::invalid(name, "not a list of texts"))
    }

    /// Returns the number of samples that are asked for; 0 if there are none.
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
        let Some(list) = self.get(name) else { return Ok(None) };
        let list = list.as_array().ok_or(ParameterError::invalid(name, "not a list"))?;
        if list.len() > MOST_ITEMS {
            return Err(ParameterError::invalid(name, "too many"));
        }
        let ids = list.iter().map(integer).collect::<Option<Vec<_>>>();
        ids.map(Some).ok_or(ParameterError::invalid(name, "not a list of integers"))
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
        if let Some(range) = self.get(RANGE) {
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
        let Some(times) = self.get(TIMES) else { return Ok(None) };
        let times = times.as_array().ok_or(ParameterError::invalid(TIMES, "not a list"))?;
        if times.is_empty() || times.len() > MOST_SAMPLES {
            return Err(ParameterError::invalid(TIMES, "no times, or too many"));
        }
        let times = times.iter().map(integer).collect::<Option<Vec<_>>>();
        let times = times.ok_or(ParameterError::invalid(TIMES, "not a list of integers"))?;
        if !times.is_sorted() {
            return Err(ParameterError::invalid(TIMES, "not sorted"));
        }
        Ok(Some(Samples::of_times(times)))
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
    fn times_beyond_the_precision_of_doubles_are_exact() {
        let of = parse(r#"{"parameters":{"requested_times":[1539975462526693913]}}"#);
        assert_eq!(of.samples("nbTimes").unwrap().start(), 1_539_975_462_526_693_913);
        let wrong = parse(r#"{"parameters":{"requested_times":[1.5e18]}}"#);
        assert!(wrong.samples("nbTimes").is_err());
    }
}
