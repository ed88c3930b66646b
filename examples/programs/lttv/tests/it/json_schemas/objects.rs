//! The schemas of what is not made of tables.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::parts::{
    bytes, count, defined, duration, integer, list, map, number, object, of, or_null, percent,
    text, time,
};

/// The commands whose output is not, or not only, made of tables.
pub(super) const COMMANDS: [&str; 6] = ["dump", "history", "run", "spans", "stats", "why"];

/// Returns the schemas.
pub(super) fn schemas() -> BTreeMap<&'static str, Value> {
    let schemas = [dump(), history(), run(), spans(), stats(), why()];
    COMMANDS.into_iter().zip(schemas).collect()
}

/// Returns the schema of an event.
fn dump() -> Value {
    let scope = || of("object");
    object(
        [
            ("timestamp", or_null(time())),
            ("trace", text()),
            ("tracefile", text()),
            ("name", text()),
            ("id", count()),
        ],
        [
            ("cycles", json!({ "type": "integer", "minimum": 0, "x-unit": "cycles" })),
            ("cpu", count()),
            ("packet_context", scope()),
            ("event_header", scope()),
            ("common_context", scope()),
            ("specific_context", scope()),
            ("fields", scope()),
        ],
    )
}

fn history() -> Value {
    let interval =
        object([("start_ns", time()), ("end_ns", time()), ("path", text()), ("value", text())], []);
    let total = object([("value", text()), ("time_ns", duration()), ("count", count())], []);
    object([("intervals", list(interval))], [("total", list(total))])
}

/// Returns the schema of the results of modules: trees of attributes, and perhaps events or the
/// fields of filters.
fn run() -> Value {
    let tree = json!({
        "type": ["object", "integer", "number", "string", "boolean"],
        "additionalProperties": defined("tree"),
    });
    let results = json!({
        "type": "object",
        "properties": { "events": list(defined("event")) },
        "additionalProperties": defined("tree"),
    });
    let range = list(json!({ "type": ["integer", "string"] }));
    let label = object([("label", text()), ("ranges", list(range))], []);
    let limit = || json!({ "type": ["integer", "string"] });
    let field_type = object(
        [("type", text())],
        [("low", limit()), ("high", limit()), ("labels", list(label)), ("base", count())],
    );
    let field = object(
        [
            ("selector", text()),
            ("description", text()),
            ("types", list(field_type)),
            ("relations", list(text())),
            ("values", list(text())),
        ],
        [],
    );
    let event = object(
        [
            ("name", text()),
            ("categories", list(text())),
            ("channels", list(text())),
            ("fields", list(defined("field"))),
        ],
        [],
    );
    let fields = object(
        [("selectors", list(defined("field"))), ("cpus", list(count())), ("events", list(event))],
        [],
    );
    json!({
        "anyOf": [results, fields],
        "$defs": { "tree": tree, "event": dump(), "field": field },
    })
}

/// Returns the schema of a span.
fn spans() -> Value {
    let thread = || object([("tid", or_null(integer())), ("comm", or_null(text()))], []);
    let event = || {
        let members =
            [("name", text()), ("time", or_null(time())), ("fields", or_null(of("object")))];
        or_null(object(members, []))
    };
    object(
        [
            ("begin", time()),
            ("end", time()),
            ("duration", or_null(duration())),
            ("completeness", json!({ "enum": ["whole", "no-begin", "no-end", "lost"] })),
            ("family", text()),
            ("name", or_null(text())),
            ("comm", or_null(text())),
            ("tid", or_null(integer())),
            ("pid", or_null(integer())),
            ("cpu", or_null(count())),
            ("file", or_null(text())),
            ("result", or_null(integer())),
            ("error", or_null(text())),
            ("waker", json!({ "anyOf": [thread(), { "const": "interrupt" }, of("null")] })),
            ("trace", or_null(text())),
            ("begin_event", event()),
            ("end_event", event()),
        ],
        [("values", map(json!({ "type": ["integer", "number", "string", "null"] })))],
    )
}

/// Returns the schema of the answer on a span.
fn why() -> Value {
    let thread = || or_null(object([("tid", or_null(integer())), ("comm", or_null(text()))], []));
    let part = object([("state", text()), ("time_ns", duration()), ("count", count())], []);
    let instead = object(
        [
            ("state", text()),
            ("cpu", or_null(count())),
            ("thread", thread()),
            ("time_ns", duration()),
            ("count", count()),
        ],
        [],
    );
    let wait = object(
        [
            ("begin", time()),
            ("end", time()),
            ("duration", duration()),
            ("cause", or_null(text())),
            ("call", or_null(text())),
            ("source", or_null(text())),
            ("waker", thread()),
            ("waker_call", or_null(defined("span"))),
        ],
        [],
    );
    let interrupt = object(
        [
            ("family", text()),
            ("name", text()),
            ("cpu", or_null(count())),
            ("time_ns", duration()),
            ("count", count()),
        ],
        [],
    );
    let segment = object(
        [
            ("begin", time()),
            ("end", time()),
            ("duration", duration()),
            ("depth", count()),
            ("thread", thread()),
            ("state", text()),
            ("cpu", or_null(count())),
            ("call", or_null(text())),
            ("source", or_null(text())),
        ],
        [],
    );
    let mut schema = object(
        [
            ("span", defined("span")),
            ("duration_ns", duration()),
            ("parts", list(part)),
            ("instead", list(instead)),
            ("waits", list(wait)),
            ("wait_count", count()),
            ("interrupts", list(interrupt)),
            ("nested", list(defined("span"))),
            ("nested_count", count()),
            ("chain", list(segment)),
        ],
        [],
    );
    schema["$defs"] = json!({ "span": spans() });
    schema
}

/// Returns the schema of statistics without options that select tables.
fn stats() -> Value {
    let trace = object([("begin_ns", time()), ("end_ns", time()), ("duration_ns", duration())], []);
    let contradiction = object([("trace", count()), ("what", text()), ("count", count())], []);
    let loss = object(
        [
            ("trace", count()),
            ("tracefile", text()),
            ("cpu", or_null(count())),
            ("start_ns", or_null(time())),
            ("end_ns", or_null(time())),
            ("events", or_null(count())),
            ("packets", or_null(count())),
            ("at_most", or_null(count())),
        ],
        [],
    );
    object(
        [
            ("begin_ns", or_null(time())),
            ("end_ns", or_null(time())),
            ("duration_ns", duration()),
            ("traces", list(trace)),
            ("events", map(count())),
            ("cpus", list(cpu())),
            ("processes", list(process())),
            ("groups", list(group([("pid", or_null(integer()))]))),
            ("commands", list(group([]))),
            ("devices", list(device())),
            ("contradictions", list(contradiction)),
            ("losses", list(loss)),
        ],
        [],
    )
}

/// Returns the schema of the requests to a device.
fn requests() -> Value {
    object(
        [
            ("major", or_null(count())),
            ("minor", or_null(count())),
            ("inserted", count()),
            ("merged", count()),
            ("issued", count()),
            ("completed", count()),
            ("bytes_read", bytes()),
            ("bytes_written", bytes()),
        ],
        [],
    )
}

fn cpu() -> Value {
    let times = object(
        [
            ("user_ns", duration()),
            ("system_ns", duration()),
            ("idle_ns", duration()),
            ("interrupt_ns", duration()),
            ("softirq_ns", duration()),
            ("unknown_ns", duration()),
        ],
        [],
    );
    object(
        [
            ("trace", count()),
            ("cpu", count()),
            ("busy_percent", or_null(percent())),
            ("busy_ns", duration()),
            ("idle_ns", duration()),
            ("unknown_ns", duration()),
            ("interrupt_ns", duration()),
            ("times", times),
            ("events", count()),
            ("bytes_read", bytes()),
            ("bytes_written", bytes()),
            ("devices", list(requests())),
        ],
        [],
    )
}

/// Returns the schema of durations of one kind, with the time in them within the window.
fn durations<const N: usize>(more: [(&str, Value); N]) -> Value {
    let mut schema = object(
        [
            ("count", count()),
            ("total_ns", duration()),
            ("min_ns", or_null(duration())),
            ("max_ns", or_null(duration())),
        ],
        [],
    );
    add(&mut schema, more);
    schema
}

/// Adds members that are always there.
fn add<const N: usize>(schema: &mut Value, more: [(&str, Value); N]) {
    for (name, of) in more {
        schema["properties"][name] = of;
        schema["required"].as_array_mut().expect("a list").push(name.into());
    }
}

fn process() -> Value {
    object(
        [
            ("trace", count()),
            ("tid", or_null(integer())),
            ("pid", or_null(integer())),
            ("ppid", or_null(integer())),
            ("name", text()),
            ("cpu_ns", duration()),
            ("user_ns", duration()),
            ("system_ns", duration()),
            ("interrupt_ns", duration()),
            ("unknown_ns", duration()),
            ("blocked_ns", duration()),
            ("ready_ns", duration()),
            ("bytes_read", bytes()),
            ("bytes_written", bytes()),
            ("blocks_read", count()),
            ("blocks_written", count()),
            ("times_scheduled", count()),
            ("migrations", count()),
            ("wakeup_latency", durations([])),
            ("events", count()),
            ("start_ns", or_null(time())),
            ("end_ns", or_null(time())),
            ("devices", list(requests())),
            ("syscalls", map(durations([("elapsed_ns", duration())]))),
        ],
        [],
    )
}

fn group<const N: usize>(more: [(&str, Value); N]) -> Value {
    let mut schema = object(
        [
            ("trace", count()),
            ("command", text()),
            ("threads", count()),
            ("cpu_ns", duration()),
            ("user_ns", duration()),
            ("system_ns", duration()),
            ("interrupt_ns", duration()),
            ("blocked_ns", duration()),
            ("ready_ns", duration()),
            ("events", count()),
            ("bytes_read", bytes()),
            ("bytes_written", bytes()),
        ],
        [],
    );
    add(&mut schema, more);
    schema
}

fn device() -> Value {
    object(
        [
            ("trace", count()),
            ("major", count()),
            ("minor", count()),
            ("name", text()),
            ("inserted", count()),
            ("merged", count()),
            ("issued", count()),
            ("completed", count()),
            ("reads", count()),
            ("writes", count()),
            ("other_requests", count()),
            ("bytes_read", bytes()),
            ("bytes_written", bytes()),
            ("busy_ns", duration()),
            ("idle_ns", duration()),
            ("average_queue_length", or_null(number())),
        ],
        [],
    )
}
