//! The requests of the extension of VS Code, as the user guide tells to set it up.

use std::collections::BTreeMap;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

use lttv_server::http::guard::Guard;
use serde_json::{Value, json};

use crate::support::{Running, ids, span, traces};

/// The origin of one of its pages.
const ORIGIN: &str = "vscode-webview://0q2bc3r2fvp0vl8ooka8f8v2gtbbhlc3u7tcn2dq5q7gjmv2vlpb";

/// Returns the settings of the extension, and the origin that the server is told to accept, from the user guide.
fn documented() -> (BTreeMap<String, String>, String) {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/user/server.md");
    let page = fs::read_to_string(page).expect("the page");
    let (_, section) = page.split_once("## In VS Code").expect("the section");
    let (_, settings) = section.split_once("```json\n").expect("the settings");
    let (settings, _) = settings.split_once("```").expect("the settings");
    let (_, origin) = section.split_once("--origin '").expect("the origin");
    let (origin, _) = origin.split_once('\'').expect("the origin");
    (serde_json::from_str(settings).expect("JSON"), origin.to_owned())
}

#[test]
fn the_extension_shows_a_trace() {
    let (settings, origin) = documented();
    let url = &settings["trace-compass.traceserver.url"];
    let api = format!("/{}", settings["trace-compass.traceserver.apiPath"]);
    assert_eq!(settings.len(), 2);
    // The port is that of the server without `--port`.
    let host = url.strip_prefix("http://").expect("an address");
    let server = Running::start(&traces(), Guard { origins: vec![origin], ..Guard::default() });
    let json = "Content-Type: application/json\r\n";
    let send = |method: &str, path: &str, body: Value, origin: &str| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let headers =
            format!("{json}Host: {host}\r\nOrigin: {origin}\r\nContent-Length: {}\r\n", body.len());
        server.raw(
            format!("{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n{body}")
                .as_bytes(),
        )
    };
    let ask = |method: &str, path: &str, body: Value| {
        let path = format!("{api}{path}");
        // Pages ask whether they may ask.
        let preflight = send("OPTIONS", &path, Value::Null, ORIGIN);
        assert_eq!(preflight.header("access-control-allow-origin"), Some(ORIGIN), "{path}");
        let reply = send(method, &path, body, ORIGIN);
        assert_eq!(reply.header("access-control-allow-origin"), Some(ORIGIN), "{path}");
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
        reply.json()
    };
    assert_eq!(ask("GET", "/health", Value::Null), json!({ "status": "UP" }));
    let path = traces().join("kernel");
    let opened =
        ask("POST", "/traces", json!({ "parameters": { "uri": path.to_str(), "name": "kernel" } }));
    let of = json!({ "parameters": { "name": "kernel", "traces": [opened["UUID"]] } });
    let experiment = ask("POST", "/experiments", of);
    let experiment = format!("/experiments/{}", experiment["UUID"].as_str().expect("an id"));
    let found = ask("GET", &experiment, Value::Null);
    let outputs = ask("GET", &format!("{experiment}/outputs"), Value::Null);
    assert_eq!(
        ask("GET", &format!("{experiment}/outputs/markerSets"), Value::Null)["model"],
        json!([])
    );
    let (start, end) = span(&found);
    let times = json!({ "start": start, "end": end, "nbTimes": 1389 });
    let mut shown = 0;
    for output in outputs.as_array().expect("a list") {
        let (id, kind) =
            (output["id"].as_str().expect("an id"), output["type"].as_str().expect("a type"));
        let (tree, data) = match kind {
            "TIME_GRAPH" => ("timeGraph", "states"),
            "TREE_TIME_XY" => ("XY", "xy"),
            _ => continue,
        };
        let path = format!("{experiment}/outputs/{tree}/{id}");
        let request = json!({ "parameters": { "requested_timerange": times } });
        // It asks again until the answer is complete.
        let entries = loop {
            let entries = ask("POST", &format!("{path}/tree"), request.clone());
            match entries["status"].as_str() {
                Some("COMPLETED") => break entries,
                Some("RUNNING") => sleep(Duration::from_millis(20)),
                _ => panic!("{id}: {entries}"),
            }
        };
        let items: Vec<Value> = ids(&entries["model"]).into_iter().take(3).collect();
        let request =
            json!({ "parameters": { "requested_timerange": times, "requested_items": items } });
        ask("POST", &format!("{path}/{data}"), request);
        shown += 1;
    }
    assert!(shown > 5, "{shown}");
    // Pages of the web cannot have such an origin, nor one that looks like it.
    for other in
        ["http://vscode-webview", "https://vscode-webview://a", "vscode-webview://", "null"]
    {
        assert_eq!(
            send("GET", &format!("{api}/traces"), Value::Null, other).status,
            403,
            "{other}"
        );
    }
}
