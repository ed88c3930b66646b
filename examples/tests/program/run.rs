//! The driver of LTTV.

use serde_json::Value;

use super::{KERNEL, assert_refused, lttv, text};

fn json(args: &[&str]) -> Value {
    let args = [&["run", "-t", KERNEL, "--json"], args].concat();
    serde_json::from_str(&text(&lttv(&args))).unwrap()
}

#[test]
fn events_and_results_are_one_json_object() {
    let expected = text(&lttv(&["dump", KERNEL, "--format=json"]));
    let expected: Vec<Value> =
        expected.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(expected.len(), 6087);
    let alone = json(&["-m", "textDump"]);
    assert_eq!(alone["events"].as_array(), Some(&expected));
    assert_eq!(alone.as_object().unwrap().len(), 1);
    let both = json(&["-m", "textDump", "-m", "eventCounts"]);
    assert_eq!(both["events"].as_array(), Some(&expected));
    assert_eq!(both["traces"]["[0]"]["events"], 6087);
    let counts = json(&["-m", "textDump", "-n", "-m", "eventCounts"]);
    assert_eq!(counts, json(&["-m", "eventCounts"]));
    let none = json(&["-m", "textDump", "-e", "next_tid == 3000000"]);
    assert_eq!(none["events"].as_array().map(Vec::len), Some(0));
}

#[test]
fn options_of_lines_are_refused_with_json() {
    for option in ["--process", "--process-state", "--no-field-names"] {
        let args = ["run", "-m", "textDump", "--json", option, "-t", KERNEL];
        assert_refused(&args, "--json has no use for");
    }
}
