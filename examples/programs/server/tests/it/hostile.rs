//! Requests that are wrong on purpose.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::{Running, traces};
use lttv_common::clocks::Corrections;
use lttv_server::dataset::DatasetOptions;
use lttv_server::http::guard::Guard;
use lttv_server::http::serve::Patience;
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn names_that_others_have_bound_to_this_machine_are_refused() {
    let server = Running::start(&traces(), Guard::default());
    let request = |host: &str| {
        let head = format!("GET /tsp/api/traces HTTP/1.1\r\nHost: {host}\r\nConnection: close");
        server.raw(format!("{head}\r\n\r\n").as_bytes()).status
    };
    let port = server.address.port();
    for host in ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"] {
        assert_eq!(request(host), 200, "{host}");
        assert_eq!(request(&format!("{host}:{port}")), 200, "{host}");
    }
    for host in
        ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "a@localhost"]
    {
        assert_eq!(request(&format!("{host}:{port}")), 403, "{host}");
    }
    let none = server.raw(b"GET /tsp/api/traces HTTP/1.1\r\nConnection: close\r\n\r\n");
    assert_eq!(none.status, 403);
}

#[test]
fn a_token_and_origins_are_checked() {
    let guard = Guard {
        token: Some("secret".into()),
        origins: vec!["https://editor.example".into()],
        ..Guard::default()
    };
    let server = Running::start(&traces(), guard);
    let status = |path: &str, headers: &str| server.send("GET", path, headers, "").status;
    assert_eq!(status("/tsp/api/traces", ""), 401);
    assert_eq!(status("/tsp/api/traces", "Authorization: Bearer wrong!\r\n"), 401);
    assert_eq!(status("/tsp/api/traces", "Authorization: Bearer secret\r\n"), 200);
    assert_eq!(status("/tsp/api/traces?token=secret", ""), 200);
    assert_eq!(status("/", ""), 200);
    let origin = |of: &str| format!("Authorization: Bearer secret\r\nOrigin: {of}\r\n");
    assert_eq!(status("/tsp/api/traces", &origin("https://evil.example")), 403);
    let reply = server.send("GET", "/tsp/api/traces", &origin("https://editor.example"), "");
    let allowed = reply.header("access-control-allow-origin");
    assert_eq!((reply.status, allowed), (200, Some("https://editor.example")));
    // The page of the server itself.
    let own = format!("http://{}", server.address);
    assert_eq!(status("/tsp/api/traces", &origin(&own)), 200);
}

#[test]
fn pages_of_other_origins_can_neither_read_nor_open_nor_delete_by_default() {
    let path = traces().join("kernel");
    let server = Running::start(&traces(), Guard::default());
    let (experiment, _) = server.experiment("origins", &[&path]);
    let experiment = format!("/tsp/api{experiment}");
    let json = "Content-Type: application/json\r\n";
    let body = json!({ "parameters": { "uri": path.to_str() } }).to_string();
    let requests = [
        ("GET", "/tsp/api/traces", ""),
        ("GET", &experiment, ""),
        ("POST", "/tsp/api/traces", &body),
        ("DELETE", &experiment, ""),
    ];
    for origin in ["https://evil.example", "null", "http://localhost", "http://127.0.0.1:1"] {
        for (method, path, body) in requests {
            let headers = format!("{json}Origin: {origin}\r\n");
            let reply = server.send(method, path, &headers, body);
            let allowed = reply.header("access-control-allow-origin");
            assert_eq!((reply.status, allowed), (403, None), "{origin} {method} {path}");
        }
        let asks = format!("Origin: {origin}\r\nAccess-Control-Request-Method: DELETE\r\n");
        let reply = server.send("OPTIONS", &experiment, &asks, "");
        assert_eq!((reply.status, reply.header("access-control-allow-origin")), (403, None));
    }
    // The page of the server itself, and programs.
    let own = format!("{json}Origin: http://{}\r\n", server.address);
    for headers in [json, &own] {
        for (method, path, body) in &requests[..3] {
            assert_eq!(server.send(method, path, headers, body).status, 200, "{method} {path}");
        }
    }
    assert_eq!(server.send("DELETE", &experiment, &own, "").status, 200);
}

#[test]
fn tokens_are_decoded_in_addresses_and_headers() {
    let cases = [("a+b", "a%2Bb"), ("a+b", "a+b"), ("a&b", "a%26b"), ("é", "%C3%A9"), ("%", "%")];
    for (token, sent) in cases {
        let guard = Guard { token: Some(token.to_owned()), ..Guard::default() };
        let server = Running::start(&traces(), guard);
        let status = |path: &str, headers: &str| server.send("GET", path, headers, "").status;
        assert_eq!(status(&format!("/tsp/api/traces?token={sent}"), ""), 200, "{token}");
        assert_eq!(status(&format!("/tsp/api/traces?a=b&token={sent}"), ""), 200, "{token}");
        for given in [token, sent] {
            let header = format!("Authorization: Bearer {given}\r\n");
            assert_eq!(status("/tsp/api/traces", &header), 200, "{token}");
        }
        for wrong in ["", "%", "a", "a%", "%C3", "a%2B", "a%2Bbc"] {
            let expected = if wrong == token { 200 } else { 401 };
            assert_eq!(status(&format!("/tsp/api/traces?token={wrong}"), ""), expected, "{token}");
        }
    }
}

#[test]
fn a_server_on_all_addresses_answers_for_each_of_them_and_for_no_other_name() {
    let token = Some("t".to_owned());
    let guard = Guard { accepts_addresses: true, token, ..Guard::default() };
    let server = Running::start(&traces(), guard);
    let request = |host: &str| {
        let head = format!("GET /tsp/api/traces?token=t HTTP/1.1\r\nHost: {host}");
        server.raw(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).status
    };
    for host in ["192.0.2.2:8080", "192.0.2.2", "[2001:db8::1]:8080", "[::1]", "localhost:1"] {
        assert_eq!(request(host), 200, "{host}");
    }
    for host in ["evil.example", "192.0.2.2.evil.example", "192.0.2", "machine", ""] {
        assert_eq!(request(host), 403, "{host}");
    }
}

#[test]
fn checks_of_filters_are_bounded_in_length_and_answered_in_turn() {
    let path = traces().join("kernel");
    let server = Running::start(&traces(), Guard::default());
    let (experiment, _) = server.experiment("filters", &[&path]);
    let check = |filter: &str| {
        let body = json!({ "parameters": { "filter": filter, "cursor": 0 } }).to_string();
        let path = format!("/lttv{experiment}/filter");
        let reply = server.send("POST", &path, "Content-Type: application/json\r\n", &body);
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json()
    };
    let long = ["tid==1"; 500].join("&&");
    let refused = check(&long);
    assert_eq!(refused["isValid"], false);
    let message = refused["diagnostics"][0]["message"].as_str().unwrap();
    assert!(message.contains("at most 2000 bytes"), "{message}");
    let events = "/outputs/table/org.eclipse.tracecompass.internal.provisional.tmf.core.model\
                  .events.TmfEventTableDataProvider/lines";
    let lines = json!({
        "requested_table_index": 0, "requested_table_count": 1, "lttv_filter": long,
    });
    let reply = server.post(&format!("{experiment}{events}"), lines);
    assert!(reply.status == 400 && reply.text.contains("at most 2000 bytes"), "{}", reply.text);
    // Several names of one column, each with an expression of its own.
    let many: serde_json::Map<_, _> =
        (1..40).map(|zeros| (format!("{}4", "0".repeat(zeros)), json!("a"))).collect();
    for search in [json!(many), json!({ "4": "a".repeat(5000) })] {
        let lines = json!({
            "requested_table_index": 0, "requested_table_count": 1,
            "table_search_expressions": search,
        });
        assert_eq!(server.post(&format!("{experiment}{events}"), lines).status, 400);
    }
    std::thread::scope(|scope| {
        let ask = |number| check(&format!("{}&&cpu=={number}", ["tid==1"; 50].join("&&")));
        let all: Vec<_> = (0..8).map(|number| scope.spawn(move || ask(number))).collect();
        all.into_iter().for_each(|one| assert_eq!(one.join().unwrap()["isValid"], true));
    });
}

#[test]
fn nothing_outside_of_the_roots_is_opened() {
    let root = traces().join("kernel");
    let server = Running::start(&root, Guard::default());
    let open = |uri: &str| server.post("/traces", json!({ "uri": uri }));
    let inside = root.to_str().unwrap();
    assert_eq!(open(inside).status, 200);
    let outside = traces().join("ust");
    let up = format!("{inside}/../ust");
    for uri in [outside.to_str().unwrap(), &up, "/", "/etc/passwd", "..", "%2e%2e", "\0"] {
        let reply = open(uri);
        assert_eq!(reply.status, 404, "{uri}: {}", reply.text);
        assert!(!reply.text.contains("ust"), "{}", reply.text);
    }
    for path in ["/../Cargo.toml", "/page/../../Cargo.toml", "/%2e%2e/Cargo.toml", "//etc/passwd"] {
        assert_eq!(server.send("GET", path, "", "").status, 404, "{path}");
    }
}

#[test]
fn the_page_has_a_strict_policy() {
    let server = Running::start(&traces(), Guard::default());
    let reply = server.send("GET", "/", "", "");
    assert_eq!(reply.status, 200);
    let policy = reply.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
}

#[test]
fn too_large_bodies_and_slow_clients_are_refused() {
    let patience = Patience { head: Duration::from_secs(4), ..Patience::default() };
    let (corrections, options) = (Corrections::default(), DatasetOptions::default());
    let server =
        Running::with_patience(&traces(), Guard::default(), corrections, options, patience);
    let reply = server.post("/traces", json!({ "uri": "x".repeat(5 << 20) }));
    assert_eq!(reply.status, 413);
    let deep = format!("{{\"parameters\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(server.send("POST", "/tsp/api/traces", "", &deep).status, 400);
    // Connections that send nothing do not keep others from being served.
    let idle: Vec<_> = (0..200).map(|_| TcpStream::connect(server.address).unwrap()).collect();
    let mut slow = TcpStream::connect(server.address).unwrap();
    slow.write_all(b"GET /tsp/api/health HT").unwrap();
    assert_eq!(server.get("/health").status, 200);
    drop(idle);
    slow.set_read_timeout(Some(Duration::from_secs(50))).unwrap();
    // It is closed after some seconds.
    assert!(slow.read(&mut [0; 1024]).is_ok());
}

#[test]
fn huge_requests_have_bounded_answers() {
    let server = Running::start(&traces(), Guard::default());
    let (experiment, _) = server.experiment("huge", &[&traces().join("kernel")]);
    let outputs = server.get(&format!("{experiment}/outputs")).json();
    for output in outputs.as_array().unwrap() {
        let id = output["id"].as_str().unwrap();
        for (kind, path) in [("XY", "xy"), ("timeGraph", "states"), ("timeGraph", "arrows")] {
            for (start, end) in [(i64::MIN, i64::MAX), (0, i64::MAX), (i64::MAX, i64::MAX)] {
                let reply = server.post(
                    &format!("{experiment}/outputs/{kind}/{id}/{path}"),
                    json!({
                        "requested_timerange": { "start": start, "end": end, "nbTimes": i64::MAX },
                        "requested_items": [0, 1, 2, 3, -1, i64::MAX, i64::MIN],
                    }),
                );
                assert!([200, 405].contains(&reply.status), "{id} {path}: {}", reply.text);
                assert!(reply.text.len() < 20 << 20);
            }
        }
    }
}

/// Returns values that parameters may have.
fn value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i64>(),
        Just(0),
        Just(1),
        Just(-1),
        Just(i64::MAX),
        Just(i64::MIN),
        1_500_000_000_000_000_000i64..1_600_000_000_000_000_000,
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number.prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z<>(){}\\[\\]|&!=\" *\\\\0-9]{0,12}".prop_map(Value::from),
        Just(json!("NEXT")),
        Just(json!({ "start": 0, "end": i64::MAX, "nbTimes": 1000 })),
        Just(json!({ "strategy": "DEEP", "filter_expressions_map": { "1": ["a"], "4": ["b"] } })),
        Just(json!({ "elementType": "STATE", "time": 1, "duration": 2 })),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z0-9]{1,8}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

#[test]
fn requests_with_any_parameters_have_typed_answers() {
    const NAMES: [&str; 14] = [
        "uri",
        "name",
        "traces",
        "start",
        "end",
        "requested_timerange",
        "requested_times",
        "requested_items",
        "requested_element",
        "requested_table_index",
        "requested_table_count",
        "requested_table_column_ids",
        "table_search_expressions",
        "filter_query_parameters",
    ];
    let server = Running::start(&traces().join("kernel"), Guard::default());
    let (experiment, _) = server.experiment("fuzz", &[&traces().join("kernel")]);
    let outputs = server.get(&format!("{experiment}/outputs")).json();
    let ids: Vec<String> = outputs
        .as_array()
        .unwrap()
        .iter()
        .map(|output| output["id"].as_str().unwrap().to_owned())
        .collect();
    let mut paths =
        vec!["/traces".to_owned(), "/experiments".into(), format!("{experiment}/bookmarks")];
    for id in &ids {
        for path in [
            "timeGraph/ID/tree",
            "timeGraph/ID/states",
            "timeGraph/ID/arrows",
            "timeGraph/ID/tooltip",
            "XY/ID/xy",
            "genericXY/ID/xy",
            "table/ID/lines",
            "table/ID/columns",
            "data/ID/tree",
            "ID/annotations",
            "ID/style",
        ] {
            paths.push(format!("{experiment}/outputs/{}", path.replace("ID", id)));
        }
    }
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let parameters = prop::collection::vec((prop::sample::select(&NAMES[..]), value()), 0..6);
    let input = (prop::sample::select(paths), parameters);
    runner
        .run(&input, |(path, parameters)| {
            let parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), value));
            let reply = server.post(&path, Value::Object(parameters.collect()));
            prop_assert!(reply.status != 0 && reply.status < 500, "{}: {}", path, reply.text);
            let answer = reply.json();
            prop_assert!(reply.status == 200 || answer["title"].is_string(), "{}", answer);
            Ok(())
        })
        .unwrap();
    assert_eq!(server.get("/health").status, 200);
}
