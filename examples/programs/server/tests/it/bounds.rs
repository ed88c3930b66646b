//! The time and memory that clients take who hold connections and read nothing.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::{Running, ids, span, traces};
use lttv_server::http::guard::Guard;
use lttv_server::http::serve::MOST_CONNECTIONS;
use serde_json::json;

/// The longest time for a small request while others hold connections.
const PROMPT: Duration = Duration::from_secs(3);
/// The number of clients that read nothing.
const CLIENTS: usize = 200;
/// The greatest growth of the memory in bytes while they wait.
const MOST_MEMORY: u64 = 200 << 20;

/// Returns the memory of this process in bytes, which contains the server.
fn memory() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

fn is_open(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    match stream.read(&mut [0]) {
        Ok(count) => count > 0,
        Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

#[test]
fn clients_that_hold_connections_bound_neither_others_nor_memory() {
    let server = Running::start(&traces(), Guard::default());
    let (experiment, model) = server.experiment("bounds", &[&traces().join("kernel")]);
    let prompt = || {
        let start = Instant::now();
        assert_eq!(server.get("/health").status, 200);
        assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
    };

    // More idle connections than there may be: the first ones are closed.
    let count = 3 * MOST_CONNECTIONS;
    let connect = |_| TcpStream::connect(server.address).unwrap();
    let mut idle: Vec<TcpStream> = (0..count).map(connect).collect();
    prompt();
    assert!(!is_open(&mut idle[0]) && is_open(&mut idle[count - 1]));
    let open = idle.iter_mut().filter_map(|stream| is_open(stream).then_some(())).count();
    assert!(open <= MOST_CONNECTIONS, "{open}");
    drop(idle);

    // More requests than there may be connections, whose bodies never end.
    let head = "POST /tsp/api/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{";
    let unfinished: Vec<TcpStream> = (0..MOST_CONNECTIONS + 100)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    prompt();
    drop(unfinished);

    // Large requests for large answers, which are not read.
    let output = format!("{experiment}/outputs/XY/org.lttv.cpuusage.threads");
    let items = ids(&server.complete(&format!("{output}/tree"), json!({})));
    let (start, end) = span(&model);
    let range = json!({ "start": start, "end": end, "nbTimes": 65_536 });
    let body = json!({ "parameters": { "requested_timerange": range, "requested_items": items } });
    let body = body.to_string();
    let request = format!(
        "POST /tsp/api{output}/xy HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    );
    let small = || {
        let (range, since) =
            (json!({ "start": start, "end": end, "nbTimes": 500 }), Instant::now());
        let items = json!({ "requested_timerange": range, "requested_items": [items[0]] });
        assert_eq!(server.post(&format!("{output}/xy"), items).status, 200);
        assert!(since.elapsed() < PROMPT, "{:?}", since.elapsed());
    };
    let before = memory();
    let slow: Vec<TcpStream> = (0..CLIENTS)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    let (since, mut most) = (Instant::now(), 0);
    while since.elapsed() < Duration::from_secs(4) {
        most = most.max(memory().saturating_sub(before));
        prompt();
        // Other clients get their data meanwhile.
        small();
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(most < MOST_MEMORY, "{} MB", most >> 20);
    drop(slow);
}
