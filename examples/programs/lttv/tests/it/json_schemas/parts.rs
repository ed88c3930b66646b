//! Parts of schemas.

use serde_json::{Map, Value, json};

/// Returns the schema of values of a type of JSON.
pub(super) fn of(kind: &str) -> Value {
    json!({ "type": kind })
}

pub(super) fn text() -> Value {
    of("string")
}

pub(super) fn integer() -> Value {
    of("integer")
}

/// Returns the schema of integers that count something.
pub(super) fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

pub(super) fn number() -> Value {
    of("number")
}

/// Returns the schema of lengths of time.
pub(super) fn duration() -> Value {
    json!({ "type": "integer", "x-unit": "ns" })
}

/// Returns the schema of points in time.
pub(super) fn time() -> Value {
    json!({ "type": "integer", "x-unit": "ns since 1970" })
}

pub(super) fn bytes() -> Value {
    json!({ "type": "integer", "minimum": 0, "x-unit": "bytes" })
}

pub(super) fn percent() -> Value {
    json!({ "type": "number", "x-unit": "%" })
}

/// Returns the schema of values of a schema, and of `null`.
pub(super) fn or_null(mut schema: Value) -> Value {
    match schema.get("type") {
        Some(Value::String(kind)) => schema["type"] = json!([kind, "null"]),
        _ => schema = json!({ "anyOf": [schema, { "type": "null" }] }),
    }
    schema
}

pub(super) fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// Returns the schema of objects whose members all have a schema.
pub(super) fn map(values: Value) -> Value {
    json!({ "type": "object", "additionalProperties": values })
}

/// Returns a reference to a definition of the same file.
pub(super) fn defined(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// Returns the schema of objects with members that are always there, and members that may be.
pub(super) fn object<const N: usize, const M: usize>(
    always: [(&str, Value); N],
    perhaps: [(&str, Value); M],
) -> Value {
    let required: Vec<&str> = always.iter().map(|(name, _)| *name).collect();
    let members = always.iter().chain(&perhaps);
    let members: Map<String, Value> =
        members.map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "properties": members, "required": required })
}
