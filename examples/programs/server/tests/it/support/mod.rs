//! A server in this process, and a small HTTP client.

pub(crate) mod calls;
pub(crate) mod figures;
pub(crate) mod small_traces;

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lttv_common::clocks::Corrections;
use lttv_server::dataset::DatasetOptions;
use lttv_server::http::guard::Guard;
use lttv_server::http::serve::{self, Patience};
use lttv_server::http::{Server, router};
use lttv_server::workspace::{Roots, Workspace};
use serde_json::{Value, json};

/// The directory of the bundled traces.
pub(crate) fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces").canonicalize().unwrap()
}

/// Returns a directory of traces beside the repository; `None`, with a note, without it.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/traces").join(name);
    if let Ok(path) = path.canonicalize() {
        return Some(path);
    }
    _ = std::io::stderr()
        .write_all(format!("SKIPPED: there is no {}\n", path.display()).as_bytes());
    None
}

/// A running server, which ends when it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    _runtime: tokio::runtime::Runtime,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(of, _)| of.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl Running {
    /// Starts a server for a directory.
    pub(crate) fn start(root: &Path, guard: Guard) -> Running {
        Running::with(root, guard, Corrections::default(), DatasetOptions::default())
    }

    /// Starts a server for a directory, with options.
    pub(crate) fn with(
        root: &Path,
        guard: Guard,
        corrections: Corrections,
        options: DatasetOptions,
    ) -> Running {
        Running::with_patience(root, guard, corrections, options, Patience::default())
    }

    /// Starts a server like [`with`](Self::with), with the times after which it closes connections.
    pub(crate) fn with_patience(
        root: &Path,
        guard: Guard,
        corrections: Corrections,
        options: DatasetOptions,
        patience: Patience,
    ) -> Running {
        let roots = Roots::new([root.to_owned()]).unwrap();
        let workspace = Workspace::new(roots, corrections, options);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let router = router(Server::new(Arc::new(workspace)), guard);
        runtime.spawn(serve::serve(listener, router, patience, std::future::pending()));
        Running { address, _runtime: runtime }
    }

    /// Sends bytes, and returns the answer.
    pub(crate) fn raw(&self, request: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The server may refuse a body that is too large, and close, before all of it is sent.
        let closed = [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset];
        let is_closed = |error: &io::Error| closed.contains(&error.kind());
        let sent = stream.write_all(request);
        assert!(sent.as_ref().err().is_none_or(is_closed), "{sent:?}");
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        assert!(read.as_ref().err().is_none_or(is_closed) && !bytes.is_empty(), "{read:?}");
        let end = bytes.windows(4).position(|of| of == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|of| of.parse().ok()).unwrap_or(0);
        let mut body = bytes.get(end + 4..).unwrap_or_default().to_vec();
        if head.to_lowercase().contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        Reply { status, head, text: String::from_utf8(body).unwrap() }
    }

    /// Sends a request with further header lines.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> Reply {
        let address = self.address;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.raw(request.as_bytes())
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", &format!("/tsp/api{path}"), "", "")
    }

    pub(crate) fn post(&self, path: &str, parameters: Value) -> Reply {
        let body = json!({ "parameters": parameters }).to_string();
        self.send("POST", &format!("/tsp/api{path}"), "Content-Type: application/json\r\n", &body)
    }

    /// Opens traces, and returns the path of an experiment whose events are all counted.
    pub(crate) fn experiment(&self, name: &str, paths: &[&Path]) -> (String, Value) {
        let open = |path: &&Path| {
            let reply = self.post("/traces", json!({ "uri": path.to_str() }));
            assert_eq!(reply.status, 200, "{}", reply.text);
            reply.json()["UUID"].clone()
        };
        let uuids: Vec<Value> = paths.iter().map(open).collect();
        let reply = self.post("/experiments", json!({ "name": name, "traces": uuids }));
        assert_eq!(reply.status, 200, "{}", reply.text);
        let path = format!("/experiments/{}", reply.json()["UUID"].as_str().unwrap());
        let model = until(|| {
            let model = self.get(&path).json();
            (model["indexingStatus"] == "COMPLETED").then_some(model)
        });
        (path, model)
    }

    /// Asks until the answer is complete, and returns its model.
    pub(crate) fn complete(&self, path: &str, parameters: Value) -> Value {
        until(|| {
            let reply = self.post(path, parameters.clone());
            assert_eq!(reply.status, 200, "{path}: {}", reply.text);
            let mut answer = reply.json();
            (answer["status"] == "COMPLETED").then(|| answer["model"].take())
        })
    }
}

/// Returns numbers that look random and are the same in each run.
pub(crate) fn random(count: usize, start: i64, end: i64) -> impl Iterator<Item = i64> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    (0..count).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        start + (state % (end - start) as u64) as i64
    })
}

/// Returns the start and the end of a model, in ns.
pub(crate) fn span(model: &Value) -> (i64, i64) {
    (model["start"].as_i64().unwrap(), model["end"].as_i64().unwrap())
}

/// Returns a label of an entry of a tree.
pub(crate) fn label(entry: &Value, at: usize) -> &str {
    entry["labels"][at].as_str().unwrap()
}

/// Returns the entries of a tree.
pub(crate) fn entries(tree: &Value) -> &[Value] {
    tree["entries"].as_array().unwrap()
}

/// Returns the ids of the entries of a tree that have data.
pub(crate) fn ids(tree: &Value) -> Vec<Value> {
    let entries = tree["entries"].as_array().unwrap().iter();
    entries.filter(|entry| entry["hasData"] == true).map(|entry| entry["id"].clone()).collect()
}

/// Calls a function until it returns something, for a minute.
fn until<T>(mut find: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|of| of == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        body.extend_from_slice(&bytes[end + 2..end + 2 + size]);
        if size == 0 {
            break;
        }
        bytes = &bytes[end + 4 + size..];
    }
    body
}
