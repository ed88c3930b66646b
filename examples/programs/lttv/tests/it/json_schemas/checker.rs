//! A checker of values against the schemas, for the keywords that they use.

use serde_json::Value;

/// The keywords that say nothing about the form of a value.
const NOTES: [&str; 9] = [
    "$schema",
    "$id",
    "$defs",
    "title",
    "description",
    "format",
    "x-unit",
    "x-version",
    "examples",
];

/// Adds the places at which a value does not have the form of a schema, with what is expected there.
///
/// # Panics
///
/// For a keyword that no schema has used so far.
pub(super) fn check(schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    Checker { root: schema }.check(schema, value, "", &mut faults);
    faults
}

struct Checker<'s> {
    root: &'s Value,
}

impl Checker<'_> {
    fn is_valid(&self, schema: &Value, value: &Value) -> bool {
        let mut faults = Vec::new();
        self.check(schema, value, "", &mut faults);
        faults.is_empty()
    }

    fn check(&self, schema: &Value, value: &Value, place: &str, faults: &mut Vec<String>) {
        let keywords = match schema {
            Value::Bool(true) => return,
            Value::Bool(false) => return faults.push(format!("{place}: not expected")),
            other => other.as_object().expect("a schema is an object or a boolean"),
        };
        for (keyword, of) in keywords {
            let holds = match &**keyword {
                "type" => match of {
                    Value::Array(types) => types.iter().any(|of| is_of_type(value, of)),
                    of => is_of_type(value, of),
                },
                "enum" => of.as_array().expect("a list").contains(value),
                "const" => of == value,
                "minimum" => {
                    value.as_f64().is_none_or(|value| value >= of.as_f64().expect("a number"))
                }
                "required" => value.as_object().is_none_or(|members| {
                    let mut names = of.as_array().expect("a list").iter();
                    names.all(|name| members.contains_key(name.as_str().expect("a name")))
                }),
                "anyOf" => {
                    of.as_array().expect("a list").iter().any(|schema| self.is_valid(schema, value))
                }
                "$ref" => {
                    let place = of.as_str().and_then(|of| of.strip_prefix('#'));
                    let schema = place.and_then(|place| self.root.pointer(place));
                    self.is_valid(schema.expect("a schema of this file"), value)
                }
                "properties" => {
                    for (name, schema) in of.as_object().expect("schemas") {
                        if let Some(member) = value.get(name) {
                            self.check(schema, member, &format!("{place}/{name}"), faults);
                        }
                    }
                    true
                }
                "additionalProperties" => {
                    let named = keywords.get("properties").and_then(Value::as_object);
                    for (name, member) in value.as_object().into_iter().flatten() {
                        if named.is_none_or(|named| !named.contains_key(name)) {
                            self.check(of, member, &format!("{place}/{name}"), faults);
                        }
                    }
                    true
                }
                "items" => {
                    for (at, element) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(of, element, &format!("{place}/{at}"), faults);
                    }
                    true
                }
                note if NOTES.contains(&note) => true,
                other => panic!("the keyword {other} is not checked"),
            };
            if !holds {
                faults.push(format!("{place}: {value} is not of {keyword} {of}"));
            }
        }
    }
}

fn is_of_type(value: &Value, name: &Value) -> bool {
    match name.as_str().expect("a name of a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("there is no type {other}"),
    }
}
