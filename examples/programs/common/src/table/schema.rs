//! The form of tables in JSON, as a JSON schema.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::{Column, Kind, Table};

/// The version of the form, which is incremented when a program that reads it has to change: when a table, a column or a
/// type is no longer there. Further tables and columns do not change it.
const VERSION: u32 = 1;

/// Writes the schema of the object that has these tables.
pub(super) fn write(out: &mut impl Write, tables: &[Table]) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &of(tables))?;
    writeln!(out)
}

fn of(tables: &[Table]) -> Value {
    let properties: Map<String, Value> =
        tables.iter().map(|table| (table.key.to_owned(), rows(table))).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": format!("version {VERSION}"),
        "type": "object",
        "properties": properties,
    })
}

fn rows(table: &Table) -> Value {
    let columns: Map<String, Value> =
        table.columns.iter().map(|of| (of.key.to_owned(), column(of))).collect();
    let keys: Vec<&str> = table.columns().collect();
    json!({
        "type": "array",
        "title": table.title,
        "items": { "type": "object", "properties": columns, "required": keys },
    })
}

fn column(of: &Column) -> Value {
    let (kind, unit) = match of.kind {
        Kind::Text => ("string", None),
        Kind::Integer | Kind::Count => ("integer", None),
        Kind::Bytes => ("integer", Some("bytes")),
        Kind::Decimal => ("number", None),
        Kind::Percent => ("number", Some("per cent")),
        Kind::Time => ("integer", Some("ns since the origin of the clock")),
        // Most are integers of ns; quotients of them are numbers of µs.
        Kind::Duration if of.key.ends_with("_ns") => ("integer", Some("ns")),
        Kind::Duration => ("number", None),
    };
    let mut schema = json!({ "type": [kind, "null"] });
    if let Some(unit) = unit {
        schema["description"] = unit.into();
    }
    schema
}
