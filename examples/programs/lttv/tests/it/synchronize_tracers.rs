//! The clocks of machines by the messages that each tracer records, with traces of known clocks.

use crate::support;
use std::path::Path;
use std::time::Duration;

use crate::support::hosts::{Machine, Sent, messages, write_by, write_ticks};
use crate::support::recorders::{Packet, Recorder};
use crate::support::{Run, run};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(120);

const CLIENT: Machine = Machine { name: "client", offset: 5_000_000_000, ppb: 0 };
const SERVER: Machine = Machine { name: "server", offset: 7_250_000_000, ppb: 40_000 };
const BOTH: [Machine; 2] = [CLIENT, SERVER];

fn lttv(args: &[&str], folder: &Path) -> Run {
    run(&support::lttv(), args, Some(folder), LIMIT)
}

fn text(run: &Run) -> String {
    assert_eq!(run.status, Some(0), "{run:?}");
    String::from_utf8(run.stdout.clone()).unwrap()
}

/// Returns the values of a column of all events in the order of a synchronized dump, with their
/// names.
fn column(name: &str, folder: &Path) -> Vec<(String, i64)> {
    let columns = format!("name,{name}");
    let args = ["dump", "--sync", "--columns", &columns, "--format", "csv"];
    let printed = text(&lttv(&args, folder));
    let rows = printed.lines().skip(1).filter_map(|line| line.rsplit_once(','));
    rows.map(|(name, value)| (name.to_owned(), value.parse().expect(value))).collect()
}

/// Writes the traces of both machines by a tracer, and checks the relation of their clocks:
/// `matched` of the messages are found.
fn check(recorder: Recorder, sent: &[Sent], matched: u64) {
    let folder = tempfile::tempdir().unwrap();
    write_by(recorder, folder.path(), &BOTH, sent);
    let args = ["sync", "--reference", "client", "--format", "json"];
    let found: Value = serde_json::from_str(&text(&lttv(&args, folder.path()))).unwrap();
    let counts = &found["counts"][0];
    let numbers = [&counts["sends"], &counts["receives"], &counts["messages"]];
    assert_eq!(numbers, [&Value::from(matched); 3], "{recorder:?}");
    assert_eq!(counts["unmatched"], 0, "{recorder:?}");
    let server = &found["hosts"][1];
    assert_eq!((&server["host"], &server["quality"]), (&"server".into(), &"accurate".into()));
    let drift = server["drift_ppm"].as_f64().unwrap();
    assert!((drift + 40.0).abs() < 15.0, "{recorder:?}: {drift}");
    // All events, also those without a message, are in the order of their true times.
    let events = column(recorder.true_time(), folder.path());
    assert_eq!(events.len(), 2 * sent.len());
    let times: Vec<_> = events.iter().map(|event| event.1).collect();
    assert!(times.is_sorted(), "{recorder:?}");
}

#[test]
fn additional_modules_relate_clocks() {
    check(Recorder::InetSock, &messages(&[(0, 1)], 200), 200);
}

/// The headers of UDP and ICMP are not recorded, so that only TCP is matched.
#[test]
fn packets_of_lttng_2_9_relate_clocks() {
    let recorder = Recorder::Lttng2_9(Packet::ALL);
    let sent = messages(&[(0, 1)], 800);
    let is_tcp = |key: &usize| recorder.packet(*key).is_some_and(Packet::is_tcp);
    let tcp = (0..sent.len()).filter(is_tcp).count();
    assert_eq!(tcp, 200);
    check(recorder, &sent, tcp as u64);
}

#[test]
fn packets_of_lttng_2_13_relate_clocks() {
    check(Recorder::Lttng2_13(Packet::ALL), &messages(&[(0, 1)], 800), 700);
}

#[test]
fn each_protocol_relates_clocks() {
    const KINDS: [&[Packet]; 7] = [
        &[Packet::Tcp4],
        &[Packet::Tcp6],
        &[Packet::Udp4],
        &[Packet::Udp4WithoutId],
        &[Packet::Udp6],
        &[Packet::Icmp4],
        &[Packet::Icmp6],
    ];
    for kinds in KINDS {
        check(Recorder::Lttng2_13(kinds), &messages(&[(0, 1)], 400), 400);
    }
}

/// Without a transport header, packets cannot be told apart: the program says what is missing.
#[test]
fn packets_without_a_transport_header_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::Lttng2_9(&[Packet::Udp4, Packet::Icmp6, Packet::Arp]);
    write_by(recorder, folder.path(), &BOTH, &messages(&[(0, 1)], 100));
    let run = lttv(&["sync"], folder.path());
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(run.stderr.contains("no relation between the clocks of `client` and `server`"));
    assert!(run.stderr.contains("lttng-modules 2.9 or later; for UDP and ping 2.13"), "{run:?}");
}

/// The machines record publications in user space. Their kernel traces have the same clocks.
#[test]
fn publications_of_ros_2_relate_the_clocks_of_kernels_too() {
    check(Recorder::Ros2, &messages(&[(0, 1)], 200), 200);
    let folder = tempfile::tempdir().unwrap();
    let sent = messages(&[(0, 1)], 200);
    write_by(Recorder::Ros2, folder.path(), &BOTH, &sent);
    // The kernels record between two messages.
    let first = sent[0].2 + 2_500_000;
    let ticks: Vec<_> = (0..100).map(|tick| first + tick * 5_000_000).collect();
    write_ticks(folder.path(), &BOTH, &ticks);
    let args = ["dump", "--sync", "--columns", "trace,name,message,true_ns", "--format", "csv"];
    let printed = text(&lttv(&args, folder.path()));
    let rows: Vec<_> = printed.lines().skip(1).collect();
    let time = |row: &str| -> i64 {
        row.split(',').filter_map(|part| part.parse().ok()).next().expect("a time")
    };
    assert_eq!(rows.len(), 2 * sent.len() + 2 * ticks.len());
    assert!(rows.iter().any(|row| row.contains("server/kernel,tick,")), "{printed}");
    assert!(rows.iter().map(|row| time(row)).is_sorted(), "{printed}");
}

/// One publication reaches several machines, which publish nothing to each other.
#[test]
fn publications_reach_several_machines() {
    const STORE: Machine = Machine { name: "store", offset: 4_000_000_000, ppb: -25_000 };
    let machines = [CLIENT, SERVER, STORE];
    let folder = tempfile::tempdir().unwrap();
    // Those of the client go to both others.
    let sent = messages(&[(0, 1), (0, 2)], 400);
    write_by(Recorder::Ros2, folder.path(), &machines, &sent);
    let args = ["sync", "--reference", "client", "--format", "json"];
    let found: Value = serde_json::from_str(&text(&lttv(&args, folder.path()))).unwrap();
    for (host, drift) in found["hosts"].as_array().unwrap().iter().zip([0.0, -40.0, 25.0]) {
        let found = host["drift_ppm"].as_f64().unwrap();
        assert!((found - drift).abs() < 15.0, "{host}");
    }
    let times: Vec<_> = column("message", folder.path()).into_iter().map(|event| event.1).collect();
    assert!(times.len() == 800 && times.is_sorted());
}
