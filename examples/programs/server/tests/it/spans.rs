//! Spans of a window, compared with a plain pairing of events.

use std::collections::HashMap;

use crate::support::{Running, traces};
use ltt_read::schema::Scope;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_server::http::guard::Guard;
use serde_json::{Value, json};

/// A system call: its begin and end in ns, its thread, its name and its result.
type Call = (i64, i64, i64, String, i64);

/// Returns the system calls whose entry and exit are recorded, in the order of their begin.
fn calls() -> Vec<Call> {
    let traceset = Traceset::open(traces().join("kernel")).unwrap();
    let mut context = TracesetContext::new(&traceset);
    let found = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let of_hook = std::rc::Rc::clone(&found);
    let mut open: HashMap<i64, (i64, String)> = HashMap::new();
    context.on_event("*", move |call| {
        let event = &call.event;
        let tid = event.scope(Scope::CommonContext).and_then(|of| of.get("tid")?.as_i64());
        let (Some(tid), time) = (tid, call.event_time().as_ns()) else { return };
        let name = event.event_type().name();
        if let Some(name) = name.strip_prefix("syscall_entry_") {
            open.insert(tid, (time, name.to_owned()));
        } else if let Some(name) = name.strip_prefix("syscall_exit_")
            && let Some((begin, of)) = open.remove(&tid)
            && of == name
        {
            let result = event.field("ret").and_then(|value| value.as_i64()).unwrap_or(0);
            of_hook.borrow_mut().push((begin, time, tid, of, result));
        }
    });
    _ = context.read(&Bounds::all()).unwrap();
    drop(context);
    let mut calls = found.take();
    calls.sort();
    calls
}

/// Returns the whole system calls in an answer.
fn served(answer: &Value) -> Vec<Call> {
    let spans = answer["spans"].as_array().unwrap().iter();
    let whole = spans.filter(|span| span["completeness"] == "whole");
    let call = |span: &Value| {
        assert_eq!(span["family"], "syscall");
        let number = |name: &str| span[name].as_i64().unwrap();
        let name = span["name"].as_str().unwrap().to_owned();
        (number("begin"), number("end"), number("tid"), name, number("result"))
    };
    let mut calls: Vec<Call> = whole.map(call).collect();
    calls.sort();
    calls
}

#[test]
fn spans_are_those_of_a_plain_pairing() {
    let server = Running::start(&traces(), Guard::default());
    let (experiment, _) = server.experiment("spans", &[&traces().join("kernel")]);
    let path = format!("/lttv{experiment}/spans");
    let ask = |parameters: Value| {
        let body = json!({ "parameters": parameters }).to_string();
        let reply = server.send("POST", &path, "Content-Type: application/json\r\n", &body);
        (reply.status, reply.json())
    };
    let expected = calls();
    assert!(expected.len() > 500, "{}", expected.len());
    let (status, all) = ask(json!({ "family": "syscall", "limit": 2000 }));
    assert_eq!((status, &all["isComplete"]), (200, &Value::Bool(true)));
    assert_eq!(served(&all), expected);
    // A window has those that end in it.
    let middle = (expected[expected.len() / 4].1, expected[expected.len() / 2].1);
    let (_, part) =
        ask(json!({ "family": "syscall", "begin": middle.0, "end": middle.1, "limit": 2000 }));
    let in_part = |call: &&Call| (middle.0..=middle.1).contains(&call.1);
    let of_part: Vec<Call> = expected.iter().filter(in_part).cloned().collect();
    assert!(of_part.len() > 50);
    assert_eq!(served(&part), of_part);
    // A limit, an order, and a filter.
    let (_, longest) = ask(json!({
        "family": "syscall", "sort": "duration", "limit": 5, "filter": "result < 0",
    }));
    assert_eq!(longest["isComplete"], false);
    let mut failed: Vec<&Call> = expected.iter().filter(|call| call.4 < 0).collect();
    failed.sort_by_key(|call| (std::cmp::Reverse(call.1 - call.0), call.0));
    let mut failed: Vec<Call> = failed.into_iter().take(5).cloned().collect();
    failed.sort();
    assert_eq!(served(&longest), failed);
    let (_, first) = ask(json!({ "family": "syscall" }));
    assert_eq!(first["spans"].as_array().unwrap().len(), 100);
    assert_eq!(first["isComplete"], false);
    // Faults.
    for (parameters, part) in [
        (json!({ "family": "sycall" }), "did you mean syscall?"),
        (json!({ "filter": "nothing == 1" }), "nothing"),
        (json!({ "sort": "name" }), "sort"),
        (json!({ "limit": 0 }), "limit"),
        (json!({ "limit": 1_000_000 }), "limit"),
    ] {
        let (status, answer) = ask(parameters.clone());
        assert_eq!(status, 400, "{parameters}: {answer}");
        assert!(answer.to_string().contains(part), "{parameters}: {answer}");
    }
}
