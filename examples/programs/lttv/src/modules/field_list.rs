//! The list of the fields that filters can test.

use std::error::Error;
use std::io::{self, Write};

use lttv_common::escape;
use lttv_common::text::output::{Output, Reader};
use lttv_filter::model::{FieldType, Label};
use lttv_filter::{KnownEvent, KnownField, Relation, Vocabulary};
use lttv_state::filter::KernelFields;
use serde_json::{Value, json};

use super::Host;
use super::print::Style;

/// The maximum number of values that are listed for people.
const MAX_VALUES: usize = 50;

/// Prints the fields that filters can test in the traces, with their types, relations, labels
/// and known values, in the format that the module `print` was told.
///
/// # Errors
///
/// If the list cannot be written.
pub fn list_fields(host: &mut Host) -> Result<(), Box<dyn Error>> {
    let traces = host.data.batch.context.traceset().traces();
    let vocabulary = Vocabulary::with_state(traces, &KernelFields);
    let output = &mut *host.data.output.borrow_mut();
    match host.data.style {
        Style::Text => text(&vocabulary, output)?,
        Style::Paths => paths(&vocabulary, output)?,
        Style::Json | Style::TypedJson => output.json(&json(&vocabulary))?,
    }
    // A closed pipe is no error: its reader needs no more output.
    let (Reader::There | Reader::Gone) = output.flush()?;
    Ok(())
}

fn text(vocabulary: &Vocabulary, out: &mut Output) -> io::Result<()> {
    writeln!(out, "Fields of all events:")?;
    for field in vocabulary.selectors() {
        row(field, field.description(), out)?;
    }
    let cpus: Vec<String> = vocabulary.cpus().iter().map(u32::to_string).collect();
    writeln!(out, "\nCPUs: {}\n\nEvents:", cpus.join(" "))?;
    for event in vocabulary.events() {
        writeln!(out, "{}{}", escape::name(event.name()), places(event))?;
        for field in event.fields() {
            row(field, "", out)?;
        }
    }
    Ok(())
}

/// Returns the category and the channels of an event, in parentheses.
fn places(event: &KnownEvent) -> String {
    let mut places = Vec::new();
    for (what, names) in [("category", event.categories()), ("channel", event.channels())] {
        if !names.is_empty() {
            places.push(format!("{what} {}", escape::name(&names.join(", "))));
        }
    }
    match places.is_empty() {
        true => String::new(),
        false => format!(" ({})", places.join("; ")),
    }
}

fn row(field: &KnownField, description: &str, out: &mut Output) -> io::Result<()> {
    let (types, relations) = (types(field), operators(field).join(" "));
    let line = format!("  {:28} {types:15} {relations:26} {description}", field.selector());
    writeln!(out, "{}", line.trim_end())?;
    let labels = field.labels();
    if !labels.is_empty() {
        writeln!(out, "      labels: {}", escape::name(&labels.join(", ")))?;
    }
    if !field.values().is_empty() && field.values().len() <= MAX_VALUES {
        writeln!(out, "      values: {}", field.values().join(", "))?;
    }
    Ok(())
}

/// Returns the names of the types of a field.
fn types(field: &KnownField) -> String {
    let mut names: Vec<&str> = Vec::new();
    for of in field.types() {
        if !names.contains(&of.name()) {
            names.push(of.name());
        }
    }
    names.join(" or ")
}

/// Returns the operators that a field allows.
fn operators(field: &KnownField) -> Vec<&'static str> {
    let relations = field.relations();
    let mut operators: Vec<_> = relations.iter().map(|relation| relation.symbol()).collect();
    if relations.contains(&Relation::Eq) {
        operators.push("in");
    }
    operators
}

fn paths(vocabulary: &Vocabulary, out: &mut Output) -> io::Result<()> {
    let mut line = |path: &str, field: &KnownField| {
        let (types, operators) = (types(field), operators(field).join(" "));
        let line = format!("{path}{}: {types} {operators}", field.selector());
        writeln!(out, "{}", line.trim_end())
    };
    for field in vocabulary.selectors() {
        line("/selectors/", field)?;
    }
    for event in vocabulary.events() {
        let path = format!("/events/{}/", escape::name(event.name()));
        for field in event.fields() {
            line(&path, field)?;
        }
    }
    Ok(())
}

fn json(vocabulary: &Vocabulary) -> Value {
    let fields = |fields: &[KnownField]| fields.iter().map(json_of_field).collect::<Vec<_>>();
    let events = vocabulary.events().iter().map(|event| {
        json!({
            "name": event.name(),
            "categories": event.categories(),
            "channels": event.channels(),
            "fields": fields(event.fields()),
        })
    });
    json!({
        "selectors": fields(vocabulary.selectors()),
        "cpus": vocabulary.cpus(),
        "events": events.collect::<Vec<_>>(),
    })
}

fn json_of_field(field: &KnownField) -> Value {
    json!({
        "selector": field.selector(),
        "description": field.description(),
        "types": field.types().iter().map(json_of_type).collect::<Vec<_>>(),
        "relations": operators(field),
        "values": field.values(),
    })
}

fn json_of_type(of: &FieldType) -> Value {
    // JSON has numbers of 64 bits.
    let number = |n: i128| match (i64::try_from(n), u64::try_from(n)) {
        (Ok(n), _) => json!(n),
        (_, Ok(n)) => json!(n),
        _ => json!(n.to_string()),
    };
    match of {
        FieldType::Integer(integer) => {
            let range = |(low, high): &(i128, i128)| json!([number(*low), number(*high)]);
            let label = |label: &Label| {
                let ranges: Vec<Value> = label.ranges.iter().map(range).collect();
                json!({ "label": &*label.name, "ranges": ranges })
            };
            let mut json = json!({
                "type": of.name(),
                "low": number(integer.low),
                "high": number(integer.high),
            });
            if !integer.labels.is_empty() {
                json["labels"] = integer.labels.iter().map(label).collect();
            }
            json
        }
        _ => json!({ "type": of.name() }),
    }
}
