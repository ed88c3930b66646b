//! The types of all answers, compared with those of version 0.6.0 of the protocol.

use crate::support::{Reply, Running, ids, span, traces};
use lttv_server::http::guard::Guard;
use serde_json::{Value, json};

/// A type of the protocol.
enum Type {
    /// An integer that doubles represent exactly.
    Integer,
    /// A time or a duration in ns.
    Time,
    /// A finite number.
    Number,
    Text,
    Flag,
    /// A text or a number.
    Plain,
    OneOf(&'static [&'static str]),
    List(&'static Type),
    /// An object with any keys.
    Map(&'static Type),
    /// An object with required and optional members, and no others.
    Object(&'static [Member], &'static [Member]),
    /// One type with the members of another.
    Both(&'static Type, &'static Type),
}

type Member = (&'static str, Type);

use Type::{Both, Flag, Integer, List, Map, Number, Object, OneOf, Plain, Text, Time};

const DATA_TYPE: Type =
    OneOf(&["NUMBER", "BINARY_NUMBER", "TIMESTAMP", "DURATION", "STRING", "TIME_RANGE"]);
const INDEXING: Type = OneOf(&["RUNNING", "COMPLETED", "CLOSED"]);
static TRACE: Type = Object(
    &[
        ("UUID", Text),
        ("name", Text),
        ("path", Text),
        ("start", Time),
        ("end", Time),
        ("nbEvents", Integer),
        ("indexingStatus", INDEXING),
        ("properties", Map(&Text)),
    ],
    &[],
);
static EXPERIMENT: Type = Object(
    &[
        ("UUID", Text),
        ("name", Text),
        ("start", Time),
        ("end", Time),
        ("nbEvents", Integer),
        ("indexingStatus", INDEXING),
        ("traces", List(&TRACE)),
    ],
    // The only member that the protocol does not have.
    &[("faults", FAULTS)],
);
const FAULTS: Type =
    Object(&[("errors", Integer), ("warnings", Integer), ("texts", List(&Text))], &[]);
static PROVIDER: Type = Object(
    &[
        ("id", Text),
        ("name", Text),
        ("description", Text),
        (
            "type",
            OneOf(&[
                "TABLE",
                "TREE_TIME_XY",
                "TREE_GENERIC_XY",
                "TIME_GRAPH",
                "GANTT_CHART",
                "DATA_TREE",
                "NONE",
            ]),
        ),
    ],
    &[("parentId", Text), ("capabilities", Map(&Flag))],
);
static HEALTH: Type = Object(&[("status", OneOf(&["UP"]))], &[]);
static IDENTIFIER: Type = Object(
    &[("version", Text), ("os", Text), ("productId", Text), ("tspVersion", OneOf(&["0.6.0"]))],
    &[
        ("osArch", Text),
        ("osVersion", Text),
        ("cpuCount", Integer),
        ("maxMemory", Integer),
        ("launcherName", Text),
        ("buildTime", Text),
    ],
);
static FAILURE: Type = Object(
    &[("title", Text)],
    &[
        ("detail", Text),
        ("trace", Both(&TRACE, &NOTHING)),
        ("experiment", Both(&EXPERIMENT, &NOTHING)),
    ],
);
static NOTHING: Type = Object(&[], &[]);
static BOOKMARK: Type =
    Object(&[("uuid", Text), ("name", Text), ("start", Time), ("end", Time)], &[]);
static ANSWER: Type = Object(
    &[("status", OneOf(&["RUNNING", "COMPLETED", "FAILED", "CANCELLED"])), ("statusMessage", Text)],
    &[],
);
const STYLE: Type = Object(&[("values", Map(&Plain))], &[("parentKey", Text)]);
static HEADER: Type = Object(&[("name", Text), ("tooltip", Text)], &[("dataType", DATA_TYPE)]);
static ENTRY: Type = Object(
    &[("id", Integer), ("labels", List(&Text))],
    &[("parentId", Integer), ("hasData", Flag), ("style", STYLE)],
);
static CHART_ENTRY: Type =
    Both(&ENTRY, &Object(&[("start", Time), ("end", Time)], &[("metadata", Map(&List(&Plain)))]));
static SERIES_ENTRY: Type = Both(&ENTRY, &Object(&[], &[("isDefault", Flag)]));
const fn tree(entries: &'static Type) -> [Member; 2] {
    [("headers", List(&HEADER)), ("entries", List(entries))]
}
static TREE: Type = Object(&tree(&ENTRY), &[("autoExpandLevel", Integer)]);
static CHART_TREE: Type = Object(&tree(&CHART_ENTRY), &[("autoExpandLevel", Integer)]);
static SERIES_TREE: Type = Object(&tree(&SERIES_ENTRY), &[("autoExpandLevel", Integer)]);
static STATE: Type = Object(
    &[("start", Time), ("end", Time)],
    &[("label", Text), ("tags", Integer), ("style", STYLE)],
);
static ROW: Type = Object(&[("entryId", Integer), ("states", List(&STATE))], &[]);
static STATES: Type = Object(&[("rows", List(&ROW))], &[]);
static ARROW: Type = Object(
    &[("sourceId", Integer), ("targetId", Integer), ("start", Time), ("end", Time)],
    &[("style", STYLE)],
);
static ARROWS: Type = List(&ARROW);
static ANNOTATION: Type = Object(
    &[
        ("time", Time),
        ("duration", Time),
        ("entryId", Integer),
        ("type", OneOf(&["CHART", "TREE"])),
    ],
    &[("label", Text), ("style", STYLE)],
);
static ANNOTATIONS: Type = Object(&[("annotations", Map(&List(&ANNOTATION)))], &[]);
static CATEGORIES: Type = Object(&[("annotationCategories", List(&Text))], &[]);
static DOMAIN: Type =
    Object(&[("type", OneOf(&["range"])), ("start", Integer), ("end", Integer)], &[]);
static AXIS: Type = Object(
    &[("label", Text), ("unit", Text), ("dataType", DATA_TYPE)],
    &[("axisDomain", Both(&DOMAIN, &NOTHING))],
);
static RANGE: Type = Object(&[("start", Time), ("end", Time)], &[]);
static SERIES: Type = Object(
    &[
        ("seriesId", Integer),
        ("seriesName", Text),
        ("style", STYLE),
        ("yValues", List(&Number)),
        ("xValuesDescription", Both(&AXIS, &NOTHING)),
        ("yValuesDescription", Both(&AXIS, &NOTHING)),
    ],
    &[("xValues", List(&Time)), ("xCategories", List(&Text)), ("xRanges", List(&RANGE))],
);
static XY: Type = Object(&[("title", Text), ("series", List(&SERIES))], &[]);
static COLUMN: Type =
    Object(&[("id", Integer), ("name", Text), ("description", Text), ("type", DATA_TYPE)], &[]);
static COLUMNS: Type = List(&COLUMN);
static CELL: Type = Object(&[("content", Text)], &[("tags", Integer)]);
static LINE: Type = Object(&[("index", Integer), ("cells", List(&CELL))], &[("tags", Integer)]);
static LINES: Type = Object(
    &[
        ("lowIndex", Integer),
        ("size", Integer),
        ("columnIds", List(&Integer)),
        ("lines", List(&LINE)),
    ],
    &[],
);
static STYLES: Type = Object(&[("styles", Map(&STYLE))], &[]);
static TOOLTIP: Type = Map(&Text);
static NAMED: Type = List(&Object(&[("id", Text), ("name", Text)], &[]));

impl Type {
    /// Returns the members of an object: all, and the required ones.
    fn members(&self) -> (Vec<&'static Member>, Vec<&'static str>) {
        match self {
            Object(required, optional) => {
                let all = required.iter().chain(*optional).collect();
                (all, required.iter().map(|(name, _)| *name).collect())
            }
            Both(a, b) => {
                let (mut a, b) = (a.members(), b.members());
                a.0.extend(b.0);
                a.1.extend(b.1);
                a
            }
            _ => (Vec::new(), Vec::new()),
        }
    }

    /// Describes why a value is not of the type.
    fn fault(&self, value: &Value, at: &str) -> Option<String> {
        let is_safe = |value: &Value| value.as_i64().is_some_and(|of| of.unsigned_abs() < 1 << 53);
        let holds = match self {
            Integer => is_safe(value),
            Time => value.is_i64() || value.is_u64(),
            // Clients take an integer beyond 53 bits for another type.
            Number => value.is_f64() || is_safe(value),
            Text => value.is_string(),
            Flag => value.is_boolean(),
            Plain => value.is_string() || value.is_f64() || is_safe(value),
            OneOf(names) => value.as_str().is_some_and(|name| names.contains(&name)),
            List(of) => {
                let Some(list) = value.as_array() else { return Some(format!("{at}: no list")) };
                let items = list.iter().enumerate();
                return items.filter_map(|(n, item)| of.fault(item, &format!("{at}[{n}]"))).next();
            }
            Map(of) => {
                let Some(map) = value.as_object() else { return Some(format!("{at}: no map")) };
                return map.iter().find_map(|(key, value)| of.fault(value, &format!("{at}.{key}")));
            }
            Object(..) | Both(..) => {
                let Some(map) = value.as_object() else { return Some(format!("{at}: no object")) };
                let (members, required) = self.members();
                if let Some(name) = required.iter().find(|name| !map.contains_key(**name)) {
                    return Some(format!("{at}: no {name}"));
                }
                return map.iter().find_map(|(key, value)| {
                    match members.iter().find(|(name, _)| name == key) {
                        Some((_, of)) => of.fault(value, &format!("{at}.{key}")),
                        None => Some(format!("{at}: unknown {key}")),
                    }
                });
            }
        };
        (!holds).then(|| format!("{at}: {value}"))
    }

    #[track_caller]
    fn check(&self, value: &Value, what: &str) {
        if let Some(fault) = self.fault(value, what) {
            panic!("{fault}");
        }
    }
}

/// Checks an answer with a model, which it returns.
#[track_caller]
fn model(reply: &Reply, of: &Type, what: &str) -> Value {
    assert_eq!(reply.status, 200, "{what}: {}", reply.text);
    assert_eq!(reply.header("content-type"), Some("application/json"), "{what}");
    let mut answer = reply.json();
    let model = answer.as_object_mut().and_then(|answer| answer.remove("model"));
    ANSWER.check(&answer, what);
    assert_eq!(answer["status"], "COMPLETED", "{what}");
    let model = model.unwrap_or_else(|| panic!("{what}: no model"));
    of.check(&model, what);
    model
}

/// Checks that labels fit the headers, and that parents exist.
#[track_caller]
fn check_tree(tree: &Value, what: &str) {
    let entries = tree["entries"].as_array().unwrap();
    let mut known = Vec::new();
    for entry in entries {
        let labels = entry["labels"].as_array().unwrap().len();
        assert_eq!(labels, tree["headers"].as_array().unwrap().len(), "{what}: {entry}");
        let parent = entry.get("parentId").filter(|id| **id != -1);
        assert!(parent.is_none_or(|id| known.contains(id)), "{what}: {entry}");
        assert!(!known.contains(&entry["id"]), "{what}: {entry} twice");
        known.push(entry["id"].clone());
    }
}

/// Checks all answers of an output.
fn check_output(server: &Running, experiment: &str, output: &Value, (start, end): (i64, i64)) {
    let (id, kind) = (output["id"].as_str().unwrap(), output["type"].as_str().unwrap());
    let path = |part: &str| format!("{experiment}/outputs/{part}");
    let own = server.get(&path(id)).json();
    assert_eq!(own, *output);
    model(&server.post(&path(&format!("{id}/style")), json!({})), &STYLES, id);
    let reply = server.get(&path(&format!("{id}/annotations")));
    let categories = model(&reply, &CATEGORIES, id);
    let range = json!({ "start": start, "end": end, "nbTimes": 300, "nbSamples": 300 });
    let reply =
        server.post(&path(&format!("{id}/annotations")), json!({ "requested_timerange": range }));
    let annotations = model(&reply, &ANNOTATIONS, id);
    for category in annotations["annotations"].as_object().unwrap().keys() {
        assert!(categories["annotationCategories"].as_array().unwrap().contains(&json!(category)));
    }
    List(&NOTHING).check(&server.get(&path(&format!("{id}/configTypes"))).json(), id);
    let (folder, of) = match kind {
        "TABLE" => {
            let at = |part: &str| path(&format!("table/{id}/{part}"));
            model(&server.post(&at("columns"), json!({})), &COLUMNS, id);
            for parameters in [
                json!({ "requested_table_index": 0, "requested_table_count": 30 }),
                json!({ "requested_times": [end], "requested_table_count": 3 }),
                json!({
                    "requested_table_index": 0, "requested_table_count": 3,
                    "table_search_expressions": { "4": "s" }, "table_search_direction": "NEXT",
                }),
            ] {
                model(&server.post(&at("lines"), parameters), &LINES, id);
            }
            return;
        }
        "TIME_GRAPH" => ("timeGraph", &CHART_TREE),
        "TREE_TIME_XY" => ("XY", &SERIES_TREE),
        "TREE_GENERIC_XY" => ("genericXY", &SERIES_TREE),
        _ => ("data", &TREE),
    };
    let at = |part: &str| path(&format!("{folder}/{id}/{part}"));
    server.complete(&at("tree"), json!({}));
    let tree = model(&server.post(&at("tree"), json!({})), of, id);
    check_tree(&tree, id);
    let parameters = json!({ "requested_timerange": range, "requested_items": ids(&tree) });
    match folder {
        "timeGraph" => {
            let states = model(&server.post(&at("states"), parameters.clone()), &STATES, id);
            model(&server.post(&at("arrows"), parameters), &ARROWS, id);
            let row = states["rows"]
                .as_array()
                .unwrap()
                .iter()
                .find(|row| row["states"][0] != json!(null));
            let Some(row) = row else { return };
            let (time, to) = span(&row["states"][0]);
            let parameters = json!({
                "requested_times": [time.max(start)], "requested_items": [row["entryId"]],
                "requested_element": { "elementType": "state", "time": time, "duration": to - time },
            });
            model(&server.post(&at("tooltip"), parameters), &TOOLTIP, id);
        }
        "XY" | "genericXY" => {
            let xy = model(&server.post(&at("xy"), parameters), &XY, id);
            for series in xy["series"].as_array().unwrap() {
                let kinds = ["xValues", "xCategories", "xRanges"].map(|kind| series.get(kind));
                let x: Vec<_> = kinds.into_iter().flatten().collect();
                assert_eq!(x.len(), 1, "{id}");
                let count = |of: &Value| of.as_array().unwrap().len();
                assert_eq!(count(x[0]), count(&series["yValues"]), "{id}");
            }
        }
        _ => {}
    }
}

#[test]
fn answers_have_the_types_of_the_protocol() {
    let server = Running::start(&traces(), Guard::default());
    HEALTH.check(&server.get("/health").json(), "health");
    IDENTIFIER.check(&server.get("/identifier").json(), "identifier");
    let (mut kinds, mut outputs) = (Vec::new(), 0);
    for (name, paths) in [
        ("kernel", &["kernel"][..]),
        ("ust", &["ust"]),
        ("legacy", &["legacy"]),
        ("mixed", &["kernel", "ust"]),
        ("all", &["legacy", "ust", "kernel"]),
    ] {
        let paths: Vec<_> = paths.iter().map(|path| traces().join(path)).collect();
        let paths: Vec<_> = paths.iter().map(|path| path.as_path()).collect();
        let (experiment, of) = server.experiment(name, &paths);
        EXPERIMENT.check(&of, name);
        let trace = of["traces"][0]["UUID"].as_str().unwrap();
        TRACE.check(&server.get(&format!("/traces/{trace}")).json(), name);
        let all = server.get(&format!("{experiment}/outputs")).json();
        List(&PROVIDER).check(&all, name);
        for output in all.as_array().unwrap() {
            check_output(&server, &experiment, output, span(&of));
            kinds.push(output["type"].to_string());
            outputs += 1;
        }
        model(&server.get(&format!("{experiment}/outputs/markerSets")), &NAMED, name);
        let bookmarks = format!("{experiment}/bookmarks");
        let mark =
            json!({ "name": "here", "start": 1_539_975_462_526_693_913_i64, "end": i64::MAX });
        let reply = server.post(&bookmarks, mark).json();
        BOOKMARK.check(&reply, name);
        List(&BOOKMARK).check(&server.get(&bookmarks).json(), name);
    }
    List(&TRACE).check(&server.get("/traces").json(), "traces");
    List(&EXPERIMENT).check(&server.get("/experiments").json(), "experiments");
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds.len(), 5, "{kinds:?}");
    assert!(outputs > 60, "{outputs} outputs");
}

#[test]
fn failures_have_the_types_of_the_protocol() {
    let server = Running::start(&traces(), Guard::default());
    let (experiment, of) = server.experiment("failures", &[&traces().join("kernel")]);
    let output = "org.eclipse.tracecompass.internal.tmf.core.histogram.HistogramDataProvider";
    let at = |path: &str| format!("{experiment}/outputs/{path}");
    let xy = at(&format!("XY/{output}/xy"));
    let trace = of["traces"][0]["UUID"].clone();
    server.experiment("other", &[&traces().join("ust")]);
    for (status, reply) in [
        (400, server.send("POST", &format!("/tsp/api{xy}"), "", "")),
        (400, server.post(&xy, json!({}))),
        (400, server.post(&xy, json!({ "requested_timerange": { "start": 2, "end": 1 } }))),
        (404, server.get("/experiments/none")),
        (404, server.get("/traces/8a0d1a4c-0000-0000-0000-000000000000")),
        (404, server.get(&at("none"))),
        (405, server.post(&at("XY/none/xy"), json!({}))),
        (405, server.post(&at(&format!("timeGraph/{output}/states")), json!({}))),
        (404, server.post("/traces", json!({ "uri": "/none" }))),
        (409, server.post("/experiments", json!({ "name": "other", "traces": [trace] }))),
        (404, server.get(&format!("{experiment}/bookmarks/none"))),
        (404, server.get("/config/types/none")),
        (404, server.get("/none")),
    ] {
        assert_eq!(reply.status, status, "{}", reply.text);
        assert_eq!(reply.header("content-type"), Some("application/json"));
        FAILURE.check(&reply.json(), &reply.text);
    }
    let trace = trace.as_str().unwrap();
    let reply = server.send("DELETE", &format!("/tsp/api/traces/{trace}"), "", "");
    assert_eq!(reply.status, 409);
    FAILURE.check(&reply.json(), "in use");
    assert_eq!(reply.json()["trace"]["UUID"], trace);
}
