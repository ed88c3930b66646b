//! The schemas of docs/json: they are those of the commands, and what the commands print has their form.
//!
//! `UPDATE_JSON_SCHEMAS=1 cargo test -p lttv --test it -- json_schemas` writes them again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::support;

const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/ust-threads");

/// The commands with tables, with arguments that give all of them.
const COMMANDS: &[(&str, &[&str])] = &[
    ("compare", &["compare", KERNEL, KERNEL]),
    ("critical-path", &["critical-path", KERNEL]),
    ("disk", &["disk", KERNEL]),
    ("info", &["info", "--events", KERNEL]),
    ("irq", &["irq", KERNEL]),
    ("latency", &["latency", KERNEL]),
    ("state", &["state", "--at", "+20ms", KERNEL]),
    ("stats", &["stats", KERNEL]),
    ("usage", &["usage", KERNEL]),
    ("wait", &["wait", KERNEL]),
    ("calls", &["calls", PROGRAM]),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/json")
}

fn printed(args: &[&str]) -> String {
    let run = support::run(&support::lttv(), args, None, Duration::from_secs(60));
    assert_eq!(run.status, Some(0), "{args:?}: {}", run.stderr);
    String::from_utf8(run.stdout).expect("UTF-8")
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_schemas_are_those_of_the_commands() {
    let is_update = std::env::var_os("UPDATE_JSON_SCHEMAS").is_some();
    let mut names = BTreeSet::new();
    for (name, args) in COMMANDS {
        let schema = printed(&[args, &["--table", "schema"][..]].concat());
        let path = folder().join(format!("{name}.schema.json"));
        if is_update {
            fs::create_dir_all(folder()).expect("a folder");
            fs::write(&path, &schema).expect("a file");
        }
        let stored = fs::read_to_string(&path).unwrap_or_default();
        assert!(stored == schema, "{} is not the form of `lttv {name}`", path.display());
        names.insert(format!("{name}.schema.json"));
    }
    let files =
        fs::read_dir(folder()).expect("docs/json").map(|file| file.expect("a file").file_name());
    let files: BTreeSet<String> = files.map(|name| name.to_string_lossy().into_owned()).collect();
    assert_eq!(files, names);
}

#[test]
fn results_have_the_form_of_their_schemas() {
    for (name, args) in COMMANDS {
        let schema = parsed(&printed(&[args, &["--table", "schema"][..]].concat()));
        let found = parsed(&printed(&[args, &["--format", "json"][..]].concat()));
        check(&schema, &found, name);
        // Everything is described, and nothing else.
        let tables = |value: &Value| {
            value.as_object().expect("an object").keys().cloned().collect::<BTreeSet<_>>()
        };
        assert_eq!(tables(&found), tables(&schema["properties"]), "{name}");
    }
}

/// Checks a value by the parts of schemas that these have.
fn check(schema: &Value, value: &Value, place: &str) {
    let types: Vec<&str> = match &schema["type"] {
        Value::String(of) => vec![of],
        several => several.as_array().expect("types").iter().filter_map(Value::as_str).collect(),
    };
    let found = match value {
        Value::Null => &["null"][..],
        Value::Bool(_) => &["boolean"],
        Value::Number(of) if of.is_f64() => &["number"],
        Value::Number(_) => &["integer", "number"],
        Value::String(_) => &["string"],
        Value::Array(_) => &["array"],
        Value::Object(_) => &["object"],
    };
    assert!(found.iter().any(|of| types.contains(of)), "{place}: {value} is no {types:?}");
    for key in schema["required"].as_array().into_iter().flatten() {
        let key = key.as_str().expect("a key");
        assert!(value.get(key).is_some(), "{place}: no {key}");
    }
    for (key, value) in value.as_object().into_iter().flatten() {
        let of = &schema["properties"][key];
        assert!(of.is_object(), "{place}: {key} is not in the schema");
        check(of, value, &format!("{place}.{key}"));
    }
    for value in value.as_array().into_iter().flatten() {
        check(&schema["items"], value, place);
    }
}

#[test]
fn values_of_another_form_are_found() {
    let schema = parsed(
        r#"{"type": "array", "items": {"type": "object", "properties":
        {"n": {"type": ["integer", "null"]}}, "required": ["n"]}}"#,
    );
    let is_fine = |text: &str| {
        let value = parsed(text);
        std::panic::catch_unwind(|| check(&schema, &value, "table")).is_ok()
    };
    assert!(is_fine(r#"[{"n": 1}, {"n": null}]"#));
    for wrong in
        [r#"{"n": 1}"#, r#"[{"n": 1.5}]"#, r#"[{}]"#, r#"[{"n": 1, "other": 2}]"#, r#"[1]"#]
    {
        assert!(!is_fine(wrong), "{wrong}");
    }
}
