//! Tests the list of fields that the program `lttv` prints.

use crate::support;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::support::Run;
use ltt_read::open_all;

const BUNDLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
const LEGACY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/legacy");

fn lttv(args: &[&str]) -> Run {
    let args = [&["run"], args].concat();
    support::run(&support::lttv(), &args, None, Duration::from_secs(120))
}

fn text(run: Run) -> String {
    assert_eq!((run.status, &*run.stderr), (Some(0), ""));
    String::from_utf8(run.stdout).unwrap()
}

/// Returns the events of a list, each with the lines of its fields.
fn events(list: &str) -> BTreeMap<&str, Vec<&str>> {
    let (_, list) = list.split_once("\nEvents:\n").expect("events");
    let mut events = BTreeMap::new();
    let mut fields: &mut Vec<&str> = &mut Vec::new();
    for line in list.lines() {
        match line.starts_with(' ') {
            true => fields.push(line),
            false => {
                let name = line.split(" (").next().unwrap();
                fields = events.entry(name).or_default();
            }
        }
    }
    events
}

#[test]
fn fields_of_the_traces_are_listed() {
    for option in ["-l", "--list-fields"] {
        let list = text(lttv(&[option, "-t", BUNDLED]));
        let traces = open_all(BUNDLED).unwrap();
        let names: BTreeSet<&str> =
            traces[0].schema().event_types.iter().map(|event_type| event_type.name()).collect();
        let events = events(&list);
        assert!(events.keys().copied().eq(names));
        let fields: Vec<&str> = events["sched_switch"]
            .iter()
            .map(|line| line.split_whitespace().next().unwrap())
            .collect();
        assert_eq!(fields.len(), 7);
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let next_tid = ["next_tid", "integer", "==", "!=", "<", "<=", ">", ">=", "in"];
        assert_eq!(words(events["sched_switch"][5]), next_tid);
        let softirq = events["irq_softirq_entry"].join("\n");
        assert!(
            softirq.contains("  event.fields.*.name ") && softirq.contains("labels: HI, TIMER, "),
            "{softirq}"
        );
        for line in [
            "CPUs: 0 1 2 3 4 5 6 7",
            "sched_switch (category sched; channel sched)",
            "      values: \"sched\", \"sys\"",
            "      labels: NONE, none, UNKNOWN, unknown",
        ] {
            assert!(list.lines().any(|other| other == line), "{line}");
        }
        for start in [
            "  event.name ",
            "  event.time ",
            "  state.tid ",
            "  tracefile.cpu ",
            "  tid ",
            "  pid ",
        ] {
            assert!(list.lines().any(|line| line.starts_with(start)), "{start}");
        }
    }
    let list = text(lttv(&["-l", "-t", LEGACY]));
    assert!(list.contains("\nsched_schedule (category kernel; channel kernel)\n"), "{list}");
}

#[test]
fn fields_are_listed_for_programs() {
    let list = text(lttv(&["-l", "-t", BUNDLED, "--json"]));
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let named = |of: &serde_json::Value, key: &str, name: &str| {
        let mut all = of.as_array().unwrap().iter();
        all.find(|entry| entry[key] == name).unwrap_or_else(|| panic!("{name}")).clone()
    };
    assert_eq!(list["cpus"], serde_json::json!([0, 1, 2, 3, 4, 5, 6, 7]));
    let event = named(&list["events"], "name", "irq_softirq_entry");
    assert_eq!(event["categories"], serde_json::json!(["irq"]));
    let field = named(&event["fields"], "selector", "event.fields.*.name");
    assert_eq!(field["types"][0]["type"], "enumeration");
    let label = named(&field["types"][0]["labels"], "label", "TIMER");
    assert_eq!(label["ranges"], serde_json::json!([[1, 1]]));
    let ret = named(&list["events"], "name", "syscall_exit_read");
    let ret = named(&ret["fields"], "selector", "ret");
    assert_eq!(ret["types"][0]["low"], i64::MIN);
    let mode = named(&list["selectors"], "selector", "state.execution_mode");
    assert!(mode["relations"].as_array().unwrap().contains(&"==".into()));
    // One line per field.
    let list = text(lttv(&["-l", "-t", BUNDLED, "-a"]));
    let line = "/events/sched_switch/next_tid: integer == != < <= > >= in";
    assert!(list.lines().any(|other| other == line), "{list}");
}

/// The letter can be joined with others, and modules can be named as well.
#[test]
fn options_beside_the_list() {
    let list = text(lttv(&["-l", "-t", BUNDLED]));
    assert_eq!(text(lttv(&["-lt", BUNDLED])), list);
    assert_eq!(text(lttv(&["-m", "textFilter", "-t", BUNDLED, "-l"])), list);
    assert_eq!(text(lttv(&["--list_fields", "--trace", BUNDLED])), list);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("list");
    assert_eq!(text(lttv(&["-l", "-t", BUNDLED, "-o", file.to_str().unwrap()])), "");
    assert_eq!(std::fs::read_to_string(file).unwrap(), list);
    let run = lttv(&["-l", "-t", "/nowhere/at/all"]);
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(text(lttv(&["--help"])).contains("-l, --list-fields"));
}
