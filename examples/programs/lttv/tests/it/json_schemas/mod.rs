//! The schemas in docs/json: they are those of the program, and what it prints has their form.
//!
//! `UPDATE_JSON_SCHEMAS=1 cargo test -p lttv --test it json_schemas` writes the schemas. A member that is removed or
//! whose meaning changes needs a new [`JSON_VERSION`].

mod checker;
mod objects;
mod parts;
mod runs;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lttv_common::table::JSON_VERSION;
use serde_json::{Map, Value, json};

use crate::support;
use checker::check;
use runs::{Inputs, RUNS};

/// Returns the folder of the schemas.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/json")
}

/// Returns the schema of each command.
fn schemas(inputs: &Inputs) -> BTreeMap<&'static str, Value> {
    let mut schemas = objects::schemas();
    for command in tables::COMMANDS {
        let of_tables = tables::schema(command, inputs);
        let schema = match schemas.remove(command) {
            // Without options that select tables, statistics are an object of their own.
            Some(mut object) => {
                // They are added to it for the longest system call of a name.
                for table in ["call", "cpu_processes"] {
                    object["properties"][table] = of_tables["properties"][table].clone();
                }
                json!({ "anyOf": [object, of_tables] })
            }
            None => of_tables,
        };
        schemas.insert(command, schema);
    }
    schemas.into_iter().map(|(command, schema)| (command, document(command, schema))).collect()
}

/// Returns a schema with what identifies it.
fn document(command: &str, schema: Value) -> Value {
    let is_each_line = ["dump", "spans"].contains(&command);
    let (option, of) = match command {
        "run" => ("--json", "The output"),
        _ if is_each_line => ("--format json", "Each line of the output"),
        _ => ("--format json", "The output"),
    };
    let mut document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("urn:lttv:json:{JSON_VERSION}:{command}"),
        "title": format!("lttv {command}"),
        "description": format!("{of} of `lttv {command} {option}`"),
    });
    for (key, value) in schema.as_object().expect("an object") {
        document[key] = value.clone();
    }
    document
}

/// Returns the text of a schema in its file.
fn text(schema: &Value) -> String {
    serde_json::to_string_pretty(schema).expect("JSON") + "\n"
}

#[test]
fn the_files_are_the_schemas_of_the_program() {
    let update = std::env::var_os("UPDATE_JSON_SCHEMAS").is_some();
    let schemas = schemas(&Inputs::new());
    for (command, schema) in &schemas {
        let path = folder().join(format!("{command}.schema.json"));
        if update {
            fs::write(&path, text(schema)).expect("a file");
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert!(written == text(schema), "{} differs: see {}", path.display(), file!());
    }
    let files = fs::read_dir(folder()).expect("docs/json").map(|file| file.expect("a file"));
    let files = files.map(|file| file.file_name().into_string().expect("UTF-8"));
    let files: BTreeSet<String> = files.filter(|name| name != "README.md").collect();
    let known = schemas.keys().map(|command| format!("{command}.schema.json")).collect();
    assert_eq!(files, known);
}

/// Returns the schema in the file of a command.
fn in_file(command: &str) -> Value {
    let path = folder().join(format!("{command}.schema.json"));
    let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).expect("JSON")
}

/// Refuses the members that a schema does not name.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let is_schema = members.contains_key("properties") && members.contains_key("type");
            if is_schema && !members.contains_key("additionalProperties") {
                members.insert("additionalProperties".to_owned(), false.into());
            }
            members.values_mut().for_each(close);
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(close),
        _ => {}
    }
}

/// Returns the values of an output, each of which has the form of the schema.
fn values(command: &str, output: &[u8]) -> Vec<Value> {
    let parsed = serde_json::Deserializer::from_slice(output).into_iter::<Value>();
    let parsed = parsed.map(|value| value.unwrap_or_else(|error| panic!("{command}: {error}")));
    parsed.collect()
}

#[test]
fn outputs_have_the_form_of_the_schemas() {
    let inputs = Inputs::new();
    let mut checked: BTreeMap<&str, usize> = BTreeMap::new();
    for run in RUNS {
        let command = run.command;
        let mut schema = in_file(command);
        close(&mut schema);
        let mut outputs = 0;
        for (words, _) in run.lines(&inputs) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let run = support::run(&support::lttv(), &words, None, Duration::from_secs(60));
            assert!(run.is_orderly(), "{words:?}: {run:?}");
            // The trace does not have what the command needs.
            if run.stdout.is_empty() && run.status == Some(1) {
                continue;
            }
            assert_eq!(run.status, Some(0), "{words:?}: {}", run.stderr);
            outputs += 1;
            for value in values(command, &run.stdout) {
                let faults = check(&schema, &value);
                assert!(faults.is_empty(), "{words:?}: {}", faults.join("\n"));
                *checked.entry(command).or_default() += 1;
            }
        }
        assert!(outputs > 0, "{run:?} has no output");
    }
    let with_schema: BTreeSet<&str> =
        objects::COMMANDS.into_iter().chain(tables::COMMANDS).collect();
    assert_eq!(checked.keys().copied().collect::<BTreeSet<_>>(), with_schema, "not run");
}

/// Returns the names in quotes that follow a text, with blanks between them.
fn names_after<'t>(source: &'t str, text: &str) -> Vec<&'t str> {
    let rest = source.split(text).skip(1).map(str::trim_start);
    rest.filter_map(|rest| rest.strip_prefix('"')?.split('"').next()).collect()
}

/// Adds the texts of the files of Rust below a folder.
fn add_sources(folder: &Path, sources: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => add_sources(&path, sources),
            false => sources.push(fs::read_to_string(path).expect("a source")),
        }
    }
}

/// A table or column that none of the runs shows would not be in the schemas.
#[test]
fn each_declared_table_and_column_is_in_a_schema() {
    let mut sources = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    add_sources(&root.join("src/tables"), &mut sources);
    add_sources(&root.join("../common/src/losses"), &mut sources);
    sources.retain(|source| source.contains("Table::of"));
    let (mut tables, mut columns) = (BTreeSet::new(), BTreeSet::new());
    for schema in tables::COMMANDS.map(in_file) {
        let one = [schema.clone()];
        let parts = schema["anyOf"].as_array().map_or(&one[..], |parts| parts);
        for (name, table) in parts.iter().flat_map(|of| of["properties"].as_object()).flatten() {
            tables.insert(name.clone());
            let of_rows = table["items"]["properties"].as_object();
            columns.extend(of_rows.into_iter().flatten().map(|(name, _)| name.clone()));
        }
    }
    let kinds = [
        "text",
        "integer",
        "count",
        "bytes",
        "time",
        "decimal",
        "percent",
        "duration",
        "difference",
        "column",
    ];
    let (mut checked, mut missing) = (0, BTreeSet::new());
    for source in &sources {
        for name in names_after(source, "Table::of(") {
            missing.extend((!tables.contains(name)).then_some(name));
            checked += 1;
        }
        for name in kinds.iter().flat_map(|kind| names_after(source, &format!(".{kind}("))) {
            missing.extend((!columns.contains(name)).then_some(name));
            checked += 1;
        }
    }
    assert!(missing.is_empty(), "add runs that show {missing:?}");
    assert!(checked > 200, "{checked}");
}

/// A schema refuses what has another form, or the test above would not show anything.
#[test]
fn other_forms_are_refused() {
    let validity = |command: &str, value: &Value| {
        let mut schema = in_file(command);
        let is_open = check(&schema, value).is_empty();
        close(&mut schema);
        (is_open, check(&schema, value).is_empty())
    };
    assert_eq!(
        validity("disk", &json!({ "disks": [{ "disk": "8,0", "busy_ns": 5 }] })),
        (true, true)
    );
    assert_eq!(validity("disk", &json!({ "disks": [{ "busy_ns": "5" }] })), (false, false));
    assert_eq!(validity("disk", &json!({ "disks": {} })), (false, false));
    // Programs of the same version may write more.
    assert_eq!(validity("disk", &json!({ "disks": [{ "busy": 5 }] })), (true, false));
    assert_eq!(validity("disk", &json!({ "more": [] })), (true, false));
    assert_eq!(validity("why", &json!({ "parts": [] })), (false, false));
    assert_eq!(validity("spans", &Value::Object(Map::new())), (false, false));
    assert_eq!(validity("stats", &json!({ "cpus": 1 })), (false, false));
}

/// Returns the names of all commands.
fn commands() -> Vec<String> {
    let run = support::run(&support::lttv(), &["--help"], None, Duration::from_secs(60));
    let help = String::from_utf8(run.stdout).expect("UTF-8");
    let (_, rest) = help.split_once("Commands:\n").expect("a list");
    let lines = rest.lines().take_while(|line| !line.is_empty());
    let lines = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn each_command_that_writes_json_has_a_schema() {
    let writes_json = |command: &String| {
        let words = [command.as_str(), "--help"];
        let run = support::run(&support::lttv(), &words, None, Duration::from_secs(60));
        let help = String::from_utf8(run.stdout).expect("UTF-8");
        let mut lines = help.lines().map(str::trim);
        lines.any(|line| line.starts_with("- json:") || line.contains("--json"))
    };
    let found: BTreeSet<String> = commands().into_iter().filter(writes_json).collect();
    let known = objects::COMMANDS.into_iter().chain(tables::COMMANDS).map(str::to_owned).collect();
    assert_eq!(found, known);
}

#[test]
fn the_version_is_that_of_the_program_and_of_its_page() {
    let run = support::run(&support::lttv(), &["--version"], None, Duration::from_secs(60));
    let version = String::from_utf8(run.stdout).expect("UTF-8");
    assert!(version.contains(&format!("\nJSON: version {JSON_VERSION} of ")), "{version}");
    let page = fs::read_to_string(folder().join("README.md")).expect("a page");
    assert!(page.contains(&format!("version is {JSON_VERSION}")), "{page}");
    for unit in tables::UNITS {
        assert!(page.contains(&format!("| `{unit}` |")), "{unit}");
    }
}
