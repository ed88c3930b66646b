//! Comparison of rows with the JSON of `text_dump`.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampNanosecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use ltt_read::Merge;
use lttv_common::text::Text;
use lttv_common::text_dump::EventText;
use lttv_common::text_dump::json::Json;
use lttv_context::Traceset;
use serde_json::Value;

/// The events of a traceset as JSON.
pub(crate) struct Expected {
    /// All events, in the order of reading.
    pub(crate) all: Vec<Value>,
    pub(crate) by_name: BTreeMap<String, Vec<Value>>,
    /// The number of errors.
    pub(crate) errors: usize,
}

/// Reads all events.
pub(crate) fn expected(traceset: &Traceset) -> Expected {
    let (mut by_name, mut all) = (BTreeMap::<String, Vec<Value>>::new(), Vec::new());
    let mut json = Json::new(traceset.traces());
    let mut events = Merge::new(traceset.traces());
    let mut text = Text::default();
    while let Some(event) = events.next() {
        text.clear();
        json.event(&event, None, &mut text);
        let value: Value = serde_json::from_slice(text.as_bytes()).expect("valid JSON");
        by_name.entry(event.event_type().name().to_owned()).or_default().push(value.clone());
        all.push(value);
    }
    Expected { all, by_name, errors: events.errors().len() }
}

/// Compares the rows of a table with events.
pub(crate) fn compare(place: &str, wanted: &[Value], batches: &[RecordBatch]) {
    let rows = batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |row| (batch, row)));
    assert_eq!(rows.clone().count(), wanted.len(), "{place}: number of rows");
    for (number, ((batch, row), event)) in rows.zip(wanted).enumerate() {
        let compared = compare_row(batch, row, event);
        compared.unwrap_or_else(|fault| panic!("{place}, row {number}: {fault}\n{event}"));
    }
}

fn compare_row(batch: &RecordBatch, row: usize, event: &Value) -> Result<(), String> {
    let schema = batch.schema();
    let column = |name: &str| batch.column_by_name(name).filter(|column| !column.is_null(row));
    let ts = column("ts").map(|ts| ts.as_primitive::<Int64Type>().value(row));
    let timestamp = column("timestamp")
        .map(|timestamp| timestamp.as_primitive::<TimestampNanosecondType>().value(row));
    let time = event["timestamp"].as_i64().or(event["timestamp"].as_u64().map(|ns| ns as i64));
    // Files have one of them where both would be the same.
    check(ts.or(timestamp) == time, "ts", &ts)?;
    check(timestamp.is_none() || timestamp == time, "timestamp", &timestamp)?;
    let cpu = column("cpu").map(|cpu| u64::from(cpu.as_primitive::<UInt32Type>().value(row)));
    check(cpu == event["cpu"].as_u64(), "cpu", &cpu)?;
    let stream = column("stream").map(|stream| stream.as_string_view().value(row));
    check(stream == event["tracefile"].as_str(), "stream", &stream)?;
    let mut used = vec!["ts", "timestamp", "cpu", "stream", "trace"];
    let is_all = schema.column_with_name("fields").is_some_and(|(at, _)| {
        at + 1 == schema.fields().len() && schema.column_with_name("name").is_some()
    });
    if is_all {
        let name = column("name").map(|name| name.as_string_view().value(row));
        check(name == event["name"].as_str(), "name", &name)?;
        let fields = column("fields").map(|fields| fields.as_string_view().value(row));
        let fields: Value = serde_json::from_str(fields.unwrap_or("null")).expect("valid JSON");
        let wanted = event.get("fields").cloned().unwrap_or_else(|| serde_json::json!({}));
        check(fields == wanted, "fields", &fields)?;
        used.extend(["name", "fields"]);
    }
    let scopes = [("common_context", true), ("specific_context", true), ("fields", false)];
    for (scope, is_context) in scopes.into_iter().take(if is_all { 1 } else { 3 }) {
        let members = event.get(scope).and_then(Value::as_object);
        for (name, value) in members.into_iter().flatten() {
            let is_of = |column: &str| {
                let column = match is_context {
                    true => column.strip_prefix("ctx_").unwrap_or("\0"),
                    false => column
                        .strip_prefix("field_")
                        .filter(|_| {
                            schema.column_with_name(name).is_none_or(|_| column.len() > name.len())
                                && column.starts_with(&format!("field_{name}"))
                        })
                        .unwrap_or(column),
                };
                column == name
                    || column.strip_prefix(&**name).is_some_and(|rest| {
                        rest.strip_prefix('_').is_some_and(|n| n.parse::<u32>().is_ok())
                    })
            };
            let mut candidates =
                schema.fields().iter().enumerate().filter(|(_, field)| {
                    is_of(field.name()) && !used.contains(&field.name().as_str())
                });
            let mut faults = Vec::new();
            let found = candidates.find(|(at, _)| {
                let extra = batch.columns().get(at + 1).map(|extra| &**extra);
                let fits = same(value, batch.column(*at), row, extra);
                fits.map_err(|fault| faults.push(fault)).is_ok()
            });
            let Some((at, field)) = found else {
                return Err(format!("no column has the value of {scope} {name}: {faults:?}"));
            };
            used.push(field.name());
            if has_extra(value) {
                used.push(schema.field(at + 1).name());
            }
        }
    }
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        if !used.contains(&field.name().as_str()) && column.is_valid(row) {
            return Err(format!("column {} has a value that the event lacks", field.name()));
        }
    }
    Ok(())
}

fn check(is_right: bool, what: &str, found: &impl std::fmt::Debug) -> Result<(), String> {
    if is_right { Ok(()) } else { Err(format!("{what} is {found:?}")) }
}

fn has_extra(value: &Value) -> bool {
    let names = value.get("labels").or(value.get("flags"));
    value.get("value").is_some() && names.is_some_and(Value::is_array)
}

/// Compares a value with that of a column; `extra` is the column after it.
fn same(
    want: &Value,
    array: &dyn Array,
    row: usize,
    extra: Option<&dyn Array>,
) -> Result<(), String> {
    let wrong = || Err(format!("{want} is not {:?}", array.slice(row, 1)));
    let is_same = match (want, array.data_type()) {
        (Value::Null, _) => array.is_null(row),
        _ if array.is_null(row) => false,
        (
            Value::Object(of),
            DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::UInt64,
        ) => {
            let names = of.get("labels").or(of.get("flags")).and_then(Value::as_array);
            let Some(names) = names else { return wrong() };
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            let Some(extra) = extra else { return wrong() };
            let extras = match extra.data_type() {
                DataType::List(item) if item.data_type() == &DataType::Utf8View => {
                    let list = extra.as_list::<i32>().value(row);
                    list.as_string_view().iter().flatten().map(str::to_owned).collect()
                }
                DataType::Utf8View if extra.is_null(row) => Vec::new(),
                DataType::Utf8View => {
                    let text = extra.as_string_view().value(row);
                    return match text == names.join("|") {
                        true => same(&of["value"], array, row, None),
                        false => wrong(),
                    };
                }
                _ => return wrong(),
            };
            return match extras == names {
                true => same(&of["value"], array, row, None),
                false => wrong(),
            };
        }
        (_, DataType::Int8) => {
            integer(want) == Some(array.as_primitive::<Int8Type>().value(row).into())
        }
        (_, DataType::Int16) => {
            integer(want) == Some(array.as_primitive::<Int16Type>().value(row).into())
        }
        (_, DataType::Int32) => {
            integer(want) == Some(array.as_primitive::<Int32Type>().value(row).into())
        }
        (_, DataType::Int64) => {
            integer(want) == Some(array.as_primitive::<Int64Type>().value(row).into())
        }
        (_, DataType::UInt8) => {
            integer(want) == Some(array.as_primitive::<UInt8Type>().value(row).into())
        }
        (_, DataType::UInt16) => {
            integer(want) == Some(array.as_primitive::<UInt16Type>().value(row).into())
        }
        (_, DataType::UInt32) => {
            integer(want) == Some(array.as_primitive::<UInt32Type>().value(row).into())
        }
        (_, DataType::UInt64) => {
            integer(want) == Some(array.as_primitive::<UInt64Type>().value(row).into())
        }
        (_, DataType::Float32) => {
            let found = array.as_primitive::<Float32Type>().value(row);
            float(want).is_some_and(|want| want as f32 == found || want.is_nan() && found.is_nan())
        }
        (_, DataType::Float64) => {
            let found = array.as_primitive::<Float64Type>().value(row);
            // The parser of JSON may round the last bits in another way.
            let is_near = |want: f64| (want - found).abs() <= 4.0 * f64::EPSILON * found.abs();
            float(want).is_some_and(|want| {
                want == found || is_near(want) || want.is_nan() && found.is_nan()
            })
        }
        (Value::Bool(want), DataType::Boolean) => array.as_boolean().value(row) == *want,
        (Value::Object(of), DataType::Boolean) => of.is_empty() && array.as_boolean().value(row),
        (Value::String(want), DataType::Utf8View) => {
            let found = array.as_string_view().value(row);
            found == want || lossy(found) == *want
        }
        (Value::String(want), DataType::Binary) => {
            let hex = array.as_binary::<i32>().value(row).iter().map(|byte| format!("{byte:02x}"));
            hex.collect::<String>() == *want
        }
        (Value::Array(want), DataType::List(_)) => {
            let list = array.as_list::<i32>().value(row);
            // Elements that are enumerations have no labels.
            let plain = |want: &Value| match has_extra(want) {
                true => want["value"].clone(),
                false => want.clone(),
            };
            let same = |(at, want): (usize, &Value)| same(&plain(want), &list, at, None).is_ok();
            list.len() == want.len() && want.iter().enumerate().all(same)
        }
        (Value::Object(of), DataType::Struct(fields))
            if fields[0].name() == "tag"
                && fields[0].data_type() == &DataType::Utf8View
                && of.contains_key("option") =>
        {
            let parts = array.as_struct();
            let tag = parts.column(0).as_string_view().value(row);
            let option = match &of["option"] {
                Value::String(name) => name.clone(),
                number => number.to_string(),
            };
            let value = match has_extra(&of["value"]) {
                true => of["value"]["value"].clone(),
                false => of["value"].clone(),
            };
            let others = (1..fields.len()).filter(|at| *fields[*at].name() != option);
            let chosen = parts.column_by_name(&option);
            tag == option
                && others.clone().all(|at| parts.column(at).is_null(row))
                && chosen.is_some_and(|chosen| same(&value, chosen, row, None).is_ok())
        }
        (Value::Object(of), DataType::Struct(fields)) => {
            let parts = array.as_struct();
            of.iter().all(|(name, want)| {
                let at = fields.iter().position(|field| field.name() == name);
                at.is_some_and(|at| {
                    let extra = parts.columns().get(at + 1).map(|extra| &**extra);
                    same(want, parts.column(at), row, extra).is_ok()
                })
            })
        }
        _ => false,
    };
    if is_same { Ok(()) } else { wrong() }
}

fn integer(want: &Value) -> Option<i128> {
    want.as_i64().map(i128::from).or(want.as_u64().map(i128::from))
}

fn float(want: &Value) -> Option<f64> {
    match want.as_str() {
        Some("nan") => Some(f64::NAN),
        Some("inf") => Some(f64::INFINITY),
        Some("-inf") => Some(f64::NEG_INFINITY),
        _ => want.as_f64(),
    }
}

/// Replaces the escaped bytes of a text by those that JSON has in their place.
fn lossy(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = rest.strip_prefix(b"\\x").and_then(|code| code.get(..2));
        let code = code.and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 16).ok());
        match code.filter(|code| *code >= 0x80) {
            Some(code) => {
                bytes.push(code);
                rest = &rest[4..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
