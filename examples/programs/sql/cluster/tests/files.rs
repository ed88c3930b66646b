//! Files of Parquet in directories and in stores of objects, and columns of the kernel state.

#[path = "../../arrow/tests/common/mod.rs"]
mod common;
mod processes;
#[allow(dead_code)] // other tests use the rest
#[path = "../../query/tests/queries/mod.rs"]
mod queries;

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Parser;
use lttv_arrow::export::{self, ExportArgs};
use lttv_common::report::Report;
use lttv_sql::{SessionOptions, TraceSession};
use object_store::ObjectStoreExt;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use processes::{Cluster, free_ports, open};
use queries::found;
use tokio::runtime::Runtime;

/// Queries of exported tables, which have to give the same rows as those of the trace.
const QUERIES: [&str; 5] = [
    "select count(*), count(distinct next_comm), cast(sum(next_tid) as bigint), min(timestamp), \
     max(timestamp) from FILES.sched_switch",
    "select cpu, next_comm, count(*) from FILES.sched_switch where prev_tid <> 0 group by cpu, next_comm \
     order by cpu, next_comm",
    "select s.cpu, count(*) from FILES.sched_switch s join FILES.sched_wakeup w \
     on s.next_tid = w.tid and s.timestamp > w.timestamp group by s.cpu order by s.cpu",
    "select timestamp, next_tid, row_number() over (partition by cpu order by timestamp) \
     from FILES.sched_switch where next_tid > 100 order by timestamp, cpu, next_tid limit 50",
    "select field_name, count(*) from FILES.irq_softirq_entry group by field_name order by field_name",
];

/// Exports the bundled kernel trace on two threads, and so to two files for each type.
fn exported(folder: &Path) {
    let kernel = common::bundled("kernel");
    let args: [&OsStr; 4] = ["export".as_ref(), kernel.as_ref(), "-o".as_ref(), folder.as_ref()];
    let args =
        ExportArgs::try_parse_from(args.into_iter().chain(["--threads".as_ref(), "2".as_ref()]));
    let mut report = Report::new("export");
    export::run(&args.expect("arguments"), &mut report).expect("files");
}

/// Returns the rows of a query, in one process and of the trace.
fn of_trace(query: &str, kernel_state: bool) -> Vec<Vec<String>> {
    let options = SessionOptions { kernel_state, ..SessionOptions::default() };
    let session = TraceSession::new(open(&common::bundled("kernel")), options).expect("a session");
    let runtime = Runtime::new().expect("a runtime");
    let batches = runtime.block_on(async { session.sql(query).await?.collect().await });
    found(&batches.expect("rows"))
}

/// Asks a cluster with the program, and returns the rows without the names of the columns.
fn asked(cluster: &Cluster, args: &[&str]) -> Vec<Vec<String>> {
    let output = cluster.query(args).output().expect("the program runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{args:?}: {errors}");
    let text = String::from_utf8(output.stdout).expect("text");
    let rows = text.lines().skip(1);
    rows.map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn compare(cluster: &Cluster, address: &str) {
    for query in QUERIES {
        let expected = of_trace(&query.replace("FILES.", ""), false);
        assert!(!expected.is_empty());
        let query = query.replace("FILES", "files");
        let found = asked(cluster, &["-f", "csv", "--parquet", address, &query]);
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn files_of_a_directory() {
    let cluster = Cluster::start(2);
    let folder = tempfile::tempdir().expect("a directory");
    let files = folder.path().join("files");
    exported(&files);
    compare(&cluster, files.to_str().expect("a path"));
    // Files and traces in one query.
    let kernel = common::bundled("kernel");
    let args = ["-f", "csv", "--parquet", files.to_str().expect("a path")];
    let query = "select count(*) from files.sched_switch f join sched_switch t \
                 on f.timestamp = t.timestamp and f.cpu = t.cpu";
    let found = asked(&cluster, &[&args[..], &[query, kernel.to_str().expect("a path")]].concat());
    assert_eq!(found, [["497"]]);
    let nothing = folder.path().to_str().expect("a path");
    let output = cluster.query(&["--parquet", nothing, "select 1"]).output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && errors.contains("no files of Parquet"), "{errors}");
}

#[test]
fn files_of_a_store() {
    let Some(store) = S3::start() else {
        println!("SKIPPED: there is no moto for python3, which stands for S3");
        return;
    };
    let folder = tempfile::tempdir().expect("a directory");
    let files = folder.path().join("files");
    exported(&files);
    Runtime::new().expect("a runtime").block_on(store.fill(&files));
    let cluster = Cluster::start_with(2, &store.variables());
    compare(&cluster, "s3://traces/run 7");
    let output = cluster.query(&["--parquet", "s3://traces/other", "select 1"]).output();
    let output = output.expect("the program runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && errors.contains("no files of Parquet"), "{errors}");
}

#[test]
fn columns_of_the_kernel_state() {
    let cluster = Cluster::start(2);
    let kernel = common::bundled("kernel");
    let kernel = kernel.to_str().expect("a path");
    for query in [
        "select count(*) as n from sched_switch where next_tid <> state_tid",
        "select state_mode, count(*) from events where state_mode is not null group by state_mode \
         order by state_mode",
        "select s.state_name, count(*) from sched_switch s join sched_wakeup w on s.next_tid = w.tid \
         where s.state_name is not null group by s.state_name order by s.state_name",
    ] {
        let found = asked(&cluster, &["-f", "csv", "--kernel-state", query, kernel]);
        assert_eq!(found, of_trace(query, true), "{query}");
    }
}

/// A server with the protocol of S3.
struct S3 {
    port: u16,
    server: Child,
}

impl S3 {
    /// Starts the server; `None` if it is not installed.
    fn start() -> Option<S3> {
        let installed = Command::new("python3")
            .args(["-c", "import moto.server"])
            .stderr(Stdio::null())
            .status();
        if !installed.is_ok_and(|status| status.success()) {
            return None;
        }
        let port = free_ports(1)[0];
        let mut server = Command::new("python3");
        server.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()]);
        let server = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a server");
        let store = S3 { port, server };
        let end = Instant::now() + Duration::from_secs(60);
        while store.create_bucket().is_none() {
            assert!(Instant::now() < end, "the server does not start");
            sleep(Duration::from_millis(100));
        }
        Some(store)
    }

    fn create_bucket(&self) -> Option<()> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok()?;
        let request = "PUT /traces HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        answer.starts_with("HTTP/1.1 200").then_some(())
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the environment variables by which processes find the server.
    fn variables(&self) -> [(&'static str, String); 5] {
        [
            ("AWS_ENDPOINT_URL", self.url()),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_ACCESS_KEY_ID", "test".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "test".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ]
    }

    /// Copies the folders of an export to the bucket.
    async fn fill(&self, files: &Path) {
        let bucket: AmazonS3 = AmazonS3Builder::new()
            .with_endpoint(self.url())
            .with_allow_http(true)
            .with_access_key_id("test")
            .with_secret_access_key("test")
            .with_region("us-east-1")
            .with_bucket_name("traces")
            .build()
            .expect("a bucket");
        for folder in fs::read_dir(files).expect("a directory").flatten() {
            for file in fs::read_dir(folder.path()).expect("a folder").flatten() {
                let (folder, name) = (folder.file_name(), file.file_name());
                let path = format!("run 7/{}/{}", folder.to_string_lossy(), name.to_string_lossy());
                let bytes = fs::read(file.path()).expect("a file");
                bucket.put(&path.into(), bytes.into()).await.expect("an object");
            }
        }
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        // It may have ended already.
        _ = self.server.kill();
        _ = self.server.wait();
    }
}
