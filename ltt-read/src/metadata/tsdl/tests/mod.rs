//! Tests by construct; each error kind has a row in [`errors`].

mod blocks;
mod errors;
mod roles;
mod types;

use std::sync::Arc;

use super::parse;
use crate::metadata::{Diagnostic, LineColumn};
use crate::schema::{FieldClass, Schema};

const TRACE: &str = "trace { major = 1; minor = 8; byte_order = le; };\n";

/// Returns the schema and the messages of all warnings.
fn accept(text: &str) -> (Schema, Vec<String>) {
    let mut warnings = Vec::new();
    match parse(text, &mut warnings) {
        Ok(schema) => (schema, warnings.into_iter().map(|w| w.message).collect()),
        Err(errors) => panic!("{errors:#?}\nin {text}"),
    }
}

/// Returns the schema of a text without warnings.
fn schema(text: &str) -> Schema {
    let (schema, warnings) = accept(text);
    assert!(warnings.is_empty(), "{warnings:?}");
    schema
}

fn refuse(text: &str) -> Vec<Diagnostic> {
    parse(text, &mut Vec::new()).expect_err(text)
}

/// Returns line, column and message of each error.
fn errors_of(text: &str) -> Vec<(u32, u32, String)> {
    let place = |d: &Diagnostic| LineColumn::of(text, d.span.start);
    refuse(text).into_iter().map(|d| (place(&d).line, place(&d).column, d.message)).collect()
}

/// Returns the payload class of an event with these members.
fn payload(members: &str) -> Arc<FieldClass> {
    let text = format!("{TRACE}event {{ name = e; fields := struct {{ {members} }}; }};");
    schema(&text).event_types[0].payload.clone().expect("fields")
}

/// Returns the class of the only member.
fn member(text: &str) -> Arc<FieldClass> {
    payload(text).members()[0].class.clone()
}

/// Returns the names of the members.
fn names(class: &FieldClass) -> Vec<&str> {
    class.members().iter().map(|m| &*m.name).collect()
}
