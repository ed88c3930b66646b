//! The clocks of several machines: `--sync`, `--clock-transform`, `--clock-offset` and `lttv sync`,
//! with traces of known clocks.

use crate::support;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::support::hosts::{Machine, messages, write, write_legacy};
use crate::support::{Run, print_note, shared};
use lttv_common::clocks::TransformFile;
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(120);

const CLIENT: Machine = Machine { name: "client", offset: 5_000_000_000, ppb: 0 };
const SERVER: Machine = Machine { name: "server", offset: 7_250_000_000, ppb: 40_000 };
const STORE: Machine = Machine { name: "store", offset: 4_000_000_000, ppb: -25_000 };
const ALL: [Machine; 3] = [CLIENT, SERVER, STORE];

/// Writes traces of three machines, which all exchange messages.
fn three() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &ALL, &messages(&[(0, 1), (1, 2), (0, 2)], 600));
    folder
}

/// Writes traces of machines of which the last one exchanges no messages.
fn one_alone() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut sent = messages(&[(0, 1)], 200);
    // Receives of messages that nothing sent.
    sent.extend(messages(&[(2, 2)], 1).into_iter().map(|of| (2, 9, of.2, of.3)));
    write(folder.path(), &ALL, &sent);
    folder
}

fn run(args: &[&str], folder: &Path) -> Run {
    support::run(&support::lttv(), args, Some(folder), LIMIT)
}

fn text(run: &Run) -> String {
    assert_eq!(run.status, Some(0), "{run:?}");
    String::from_utf8(run.stdout.clone()).unwrap()
}

/// Runs a command that fails, and returns its messages.
fn failed(status: i32, args: &[&str], folder: &Path) -> String {
    let run = run(args, folder);
    assert_eq!(run.status, Some(status), "{args:?}: {run:?}");
    run.stderr
}

/// Moves the traces of all machines to a directory of another name.
fn move_traces(folder: &Path) {
    for machine in &ALL[..2] {
        let (from, to) =
            (folder.join(machine.name), folder.join(format!("moved-{}", machine.name)));
        fs::rename(from, to).unwrap();
    }
}

/// Returns the value of a field in each line of text.
fn values(text: &str, field: &str) -> Vec<i64> {
    let start = format!("{field} = ");
    let value = |line: &str| {
        let (_, rest) = line.split_once(&start)?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    text.lines().filter_map(value).collect()
}

#[test]
fn synchronized_events_are_in_the_order_of_true_times() {
    let folder = three();
    let recorded = values(&text(&run(&["dump"], folder.path())), "true_ns");
    assert_eq!(recorded.len(), 1200);
    assert!(!recorded.is_sorted());
    let synchronized = run(&["dump", "--sync"], folder.path());
    let in_order = values(&text(&synchronized), "true_ns");
    assert!(in_order.len() == 1200 && in_order.is_sorted());
    let told = "lttv: the times are those of `";
    assert!(synchronized.stderr.starts_with(told), "{}", synchronized.stderr);
    assert!(!synchronized.stderr.contains("warning"), "{}", synchronized.stderr);
    let arguments = ["run", "-m", "textDump", "--sync", "-t"];
    let by_driver = text(&run(&arguments, folder.path()));
    assert_eq!(values(&by_driver, "true_ns"), in_order);
}

#[test]
fn a_written_file_has_the_effect_of_sync() {
    let folder = three();
    let file = folder.path().join("clocks.json");
    let name = file.to_str().unwrap();
    text(&run(&["sync", "--write", name, "--reference", "server"], folder.path()));
    let known = TransformFile::read(&file).unwrap();
    assert_eq!(known.entries().count(), 3);
    for (entry, machine) in known.entries().zip(ALL) {
        assert_eq!(entry.name.as_deref(), Some(machine.name));
        let transform = known.transform(&entry.host).unwrap();
        let base = 1_600_000_000_000_000_000;
        for time in [1_000_000_000, 2_500_000_000, 4_000_000_000] {
            let recorded = ltt_read::Timestamp::from_ns(base + machine.at(time));
            let error = transform.apply(recorded).as_ns() - base - SERVER.at(time);
            assert!(error.unsigned_abs() <= entry.accuracy_ns.unwrap(), "{entry:?}: {error}");
            assert!(error.abs() < 30_000, "{entry:?}: {error}");
        }
    }
    // Without a given reference, both are of the same one.
    text(&run(&["sync", "--write", name], folder.path()));
    let commands: [&[&str]; 4] = [
        &["dump", "--format", "json"],
        &["dump", "--columns", "time,name,true_ns", "--format", "csv"],
        &["compare", "--window", "+0..+1", "--window", "+1..+2", "--format", "json"],
        &["info", "--format", "json"],
    ];
    for args in commands {
        let with = |option: &[&str]| text(&run(&[args, option].concat(), folder.path()));
        let (found, read) = (with(&["--sync"]), with(&["--clock-transform", name]));
        assert_eq!(found, read, "{args:?}");
        assert_ne!(found, with(&[]), "{args:?}");
    }
    let module = ["run", "-m", "textDump", "--clock-transform", name, "-t"];
    assert!(values(&text(&run(&module, folder.path())), "true_ns").is_sorted());
}

#[test]
fn offsets_are_added_exactly_and_after_the_transform() {
    let folder = three();
    let path = folder.path().join("server/kernel");
    let times = |args: &[&str]| -> Vec<(i64, String)> {
        let args = [&["dump", "--columns", "time,trace", "--format", "csv"], args].concat();
        let printed = text(&run(&args, folder.path()));
        let mut rows: Vec<_> = printed
            .lines()
            .skip(1)
            .map(|line| line.split_once(',').unwrap())
            .map(|(time, trace)| (time.parse().unwrap(), trace.to_owned()))
            .collect();
        rows.sort_by(|a, b| (&a.1, a.0).cmp(&(&b.1, b.0)));
        rows
    };
    let shifted = |rows: &[(i64, String)], ns: i64| -> Vec<(i64, String)> {
        let shift = |name: &str| if name.contains("server") { ns } else { 0 };
        rows.iter().map(|(time, trace)| (time + shift(trace), trace.clone())).collect()
    };
    let recorded = times(&[]);
    assert!(recorded.iter().any(|(_, trace)| trace.contains("server")));
    let identity = "01404040-4040-4040-4040-404040404040".replacen("01", "02", 1);
    for name in ["server", "server/kernel", path.to_str().unwrap(), &identity] {
        let found = times(&["--clock-offset", &format!("{name}=-1.5ms")]);
        assert_eq!(found, shifted(&recorded, -1_500_000), "{name}");
    }
    assert_eq!(times(&["--clock-offset", "server=+3"]), shifted(&recorded, 3_000_000_000));
    let both = times(&["--sync", "--clock-offset", "server=+1us"]);
    assert_eq!(both, shifted(&times(&["--sync"]), 1000));
    let driver = ["run", "-m", "textDump", "--clock-offset", "server=+3", "-t"];
    assert_ne!(text(&run(&driver, folder.path())), text(&run(&["dump"], folder.path())));
}

#[test]
fn wrong_options_name_what_there_is() {
    let folder = three();
    let offset = |offset: &str| failed(2, &["dump", "--clock-offset", offset], folder.path());
    for part in ["`server1`", "server 02404040", "/client/kernel", "/store/kernel"] {
        assert!(offset("server1=+1s").contains(part), "{}", offset("server1=+1s"));
    }
    assert!(offset("kernel=+1s").contains("`kernel` is the name of several hosts"));
    assert!(offset("server=1s").contains("TRACE=±TIME"));
    let twice = ["dump", "--clock-offset", "server=+1s", "--clock-offset", "server/kernel=+1s"];
    assert!(failed(2, &twice, folder.path()).contains("`server` has two offsets"));
    failed(2, &["dump", "--sync", "--clock-transform", "f"], folder.path());
    let count = failed(2, &["dump", "--count", "--sync"], folder.path());
    assert!(count.contains("--sync has no use here"), "{count}");
    failed(2, &["run", "-m", "textDump", "--clock-offset", "server1=+1s", "-t"], folder.path());
    failed(2, &["run", "-m", "textDump", "--clock-offset", "server", "-t"], folder.path());
    failed(2, &["sync", "--pair", "client,server"], folder.path());
    failed(2, &["sync", "--picture", "p.svg", "--pair", "client,client/kernel"], folder.path());
    let unknown = failed(2, &["sync", "--reference", "none"], folder.path());
    assert!(unknown.contains("--reference: no host or trace is called `none`"), "{unknown}");
    let metadata = folder.path().join("client/kernel/metadata");
    failed(2, &["sync", "--write", metadata.to_str().unwrap()], folder.path());
}

#[test]
fn faults_of_files_name_the_file_and_the_place() {
    let folder = three();
    let file = folder.path().join("clocks.json");
    let name = file.to_str().unwrap();
    let refused = |contents: &str| {
        fs::write(&file, contents).unwrap();
        failed(1, &["dump", "--clock-transform", name], folder.path())
    };
    let clock = |id: &str, slope: u64| {
        format!(
            "{{\"version\": 1, \"clocks\": [{{\"host\": \"{id}\", \"origin_ns\": 0, \"origin_time_ns\": 5, \"slope\": {slope}}}]}}"
        )
    };
    assert!(refused("{}").contains("clocks.json: no file with clock transforms: missing field"));
    assert!(refused("{\"version\": 7}").contains("clocks.json: version 7"));
    assert!(refused(&clock("a", 5)).contains("clocks.json: clocks[0] of `a`: the slope"));
    let other = refused(&clock("a", 1 << 62));
    assert!(other.contains("none of its clocks is one of the traces: `client`, "), "{other}");
    fs::remove_file(&file).unwrap();
    let absent = failed(1, &["dump", "--clock-transform", name], folder.path());
    assert!(absent.contains("clocks.json"), "{absent}");
    // The other two clocks keep their times.
    fs::write(&file, clock("01404040-4040-4040-4040-404040404040", 1 << 62)).unwrap();
    let partly = run(&["dump", "--clock-transform", name], folder.path());
    assert_eq!(partly.status, Some(0), "{partly:?}");
    for host in ["server", "store"] {
        let warning = format!("clocks.json: no clock of `{host}`, which keeps its recorded times");
        assert!(partly.stderr.contains(&warning), "{}", partly.stderr);
    }
}

#[test]
fn a_check_counts_messages_that_arrive_before_they_are_sent() {
    let folder = three();
    let file = folder.path().join("clocks.json");
    let name = file.to_str().unwrap();
    text(&run(&["sync", "--write", name], folder.path()));
    let args = ["sync", "--check", name, "--format", "json"];
    let checked: Value = serde_json::from_str(&text(&run(&args, folder.path()))).unwrap();
    let rows = checked["messages"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    for row in rows {
        // The clock of the server is 2 s ahead, and that of the store 1 s late.
        let order = |name: &Value| ["store", "client", "server"].iter().position(|of| name == of);
        let is_early = order(&row["sender"]) > order(&row["receiver"]);
        assert_eq!((&row["messages"], &row["early_after"]), (&100.into(), &0.into()), "{row}");
        assert_eq!(row["early_before"], if is_early { 100 } else { 0 }, "{row}");
        assert!(row["least_delay_after_ns"].as_i64().unwrap() > 0, "{row}");
    }
    let text = fs::read_to_string(&file).unwrap();
    let mut wrong: Value = serde_json::from_str(&text).unwrap();
    let origin = wrong["clocks"][1]["origin_time_ns"].as_i64().unwrap();
    wrong["clocks"][1]["origin_time_ns"] = (origin + 10_000_000).into();
    fs::write(&file, wrong.to_string()).unwrap();
    let failed = failed(1, &args, folder.path());
    assert!(failed.contains("200 of 600 messages arrive before they are sent"), "{failed}");
}

#[test]
fn tables_describe_hosts_pairs_and_counts() {
    let folder = three();
    let args = ["sync", "--reference", "client", "--format", "json"];
    let found: Value = serde_json::from_str(&text(&run(&args, folder.path()))).unwrap();
    let hosts = found["hosts"].as_array().unwrap();
    assert_eq!(
        hosts.iter().map(|of| of["host"].as_str().unwrap()).collect::<Vec<_>>(),
        ["client", "server", "store"]
    );
    for (host, (drift, offset)) in hosts.iter().zip([(0.0, 0.0), (-40.0, -2.25e9), (25.0, 1e9)]) {
        let number = |name: &str| host[name].as_f64().unwrap();
        assert!((number("drift_ppm") - drift).abs() < 15.0, "{host}");
        assert!((number("offset_ns") - offset).abs() < 200_000.0, "{host}");
        assert_eq!((&host["reference"], &host["island"]), (&"client".into(), &0.into()), "{host}");
    }
    assert_eq!(found["pairs"].as_array().unwrap().len(), 3);
    assert!(found["pairs"].as_array().unwrap().iter().all(|pair| pair["quality"] == "accurate"));
    let counts = &found["counts"][0];
    assert_eq!(
        (&counts["sends"], &counts["messages"], &counts["unmatched"]),
        (&600.into(), &600.into(), &0.into())
    );
    let args = ["sync", "--table", "hosts", "--columns", "host,quality", "--format", "csv"];
    assert!(text(&run(&args, folder.path())).starts_with("host,quality\nclient,"));
}

#[test]
fn the_picture_has_messages_hulls_band_and_line() {
    let folder = three();
    let file = folder.path().join("messages.svg");
    let name = file.to_str().unwrap();
    text(&run(&["sync", "--picture", name, "--pair", "server,client"], folder.path()));
    let picture = fs::read_to_string(&file).unwrap();
    for part in [
        "Messages between client and server",
        "100 to server, 100 to client; the clock of server drifts by 4",
        "time of client after the first message",
        "class=\"band\"",
        "class=\"line\"",
        "message to server",
        "chosen line",
        "µs</text>",
    ] {
        assert!(picture.contains(part), "{part}: {picture}");
    }
    assert_eq!(picture.matches("class=\"hull\"").count(), 2);
    assert_eq!(picture.matches("h0M").count(), 198);
}

#[test]
fn clocks_without_messages_are_explained() {
    let folder = one_alone();
    let partly = run(&["dump", "--sync"], folder.path());
    assert_eq!(partly.status, Some(0));
    let warning =
        "warning: --sync: no relation between the clocks of `client`, `server` and `store`";
    assert!(partly.stderr.contains(warning), "{}", partly.stderr);
    assert!(partly.stderr.contains("net_dev_queue, net_if_receive_skb"), "{}", partly.stderr);
    let tables = run(&["sync"], folder.path());
    assert_eq!(tables.status, Some(0), "{tables:?}");
    assert!(tables.stderr.contains("no relation"), "{tables:?}");
    let alone = folder.path().join("store");
    let nothing = failed(1, &["sync"], &alone);
    assert!(nothing.contains("all traces are of one host, `store`"), "{nothing}");
    let file = folder.path().join("clocks.json");
    let name = file.to_str().unwrap();
    let unwritten = failed(1, &["sync", "--write", name, "--picture", name], &alone);
    assert!(unwritten.contains("clocks.json: not written"), "{unwritten}");
    assert!(!file.exists());
}

#[test]
fn one_direction_and_contradictions_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let mut sent = messages(&[(0, 1)], 100);
    sent.retain(|of| of.0 == 0);
    write(folder.path(), &ALL[..2], &sent);
    let one_way = failed(1, &["sync"], folder.path());
    let reason = "50 messages from `client` to `server`, but none in the other direction";
    assert!(one_way.contains(reason), "{one_way}");
    let folder = tempfile::tempdir().unwrap();
    let mut sent = messages(&[(0, 1)], 100);
    // In the middle of the recording, a clock was set.
    sent[50].3 = sent[50].2 - 1_000_000;
    write(folder.path(), &ALL[..2], &sent);
    let contradiction = failed(1, &["sync"], folder.path());
    assert!(contradiction.contains("contradict each other by "), "{contradiction}");
}

/// The clocks are related by others: the messages of one pair contradict that.
#[test]
fn contradictions_between_related_clocks_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut sent = messages(&[(0, 1), (1, 2), (0, 2)], 600);
    let wrong = sent.iter_mut().filter(|of| (of.0, of.1) == (1, 2)).nth(50).unwrap();
    wrong.3 = wrong.2 - 1_000_000;
    write(folder.path(), &ALL, &sent);
    for args in [&["sync"][..], &["dump", "--sync"]] {
        let run = run(args, folder.path());
        assert_eq!(run.status, Some(0), "{run:?}");
        let warning = "the times contradict messages: a clock was set or changed its rate";
        assert!(run.stderr.contains(warning), "{}", run.stderr);
        let pair = "messages between `server` and `store` arrive up to ";
        assert!(run.stderr.contains(pair), "{}", run.stderr);
        assert_eq!(run.stderr.matches("arrive up to").count(), 1, "{}", run.stderr);
    }
}

#[test]
fn a_history_of_a_file_has_the_times_with_which_it_was_built() {
    let history = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/kernel");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel.history");
    let name = file.to_str().unwrap();
    let trace = history.to_str().unwrap();
    let lttv = support::lttv();
    let run = |args: &[&str]| support::run(&lttv, args, None, LIMIT);
    let shift = ["--clock-offset", "kernel=+1s"];
    text(&run(&[&["history", "build", trace, name], &shift[..]].concat()));
    let at =
        |args: &[&str]| text(&run(&[&["history", "at"], args, &["+20ms", "0/CPUs/*"]].concat()));
    assert_eq!(at(&[name]), at(&[&[trace], &shift[..]].concat()));
    let refused = run(&[&["history", "at", name, "+20ms"], &shift[..]].concat());
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("--clock-offset has no use here"), "{refused:?}");
}

#[test]
fn traces_of_lttng_0_are_related_by_their_segments() {
    let folder = tempfile::tempdir().unwrap();
    write_legacy(folder.path(), &ALL[..2], &messages(&[(0, 1)], 400));
    let args = ["sync", "--reference", "client", "--format", "json"];
    let found: Value = serde_json::from_str(&text(&run(&args, folder.path()))).unwrap();
    assert_eq!(found["counts"][0]["messages"], 400);
    assert!((found["hosts"][1]["drift_ppm"].as_f64().unwrap() + 40.0).abs() < 15.0, "{found}");
    // The messages of each line are in the order of their segments, and each one arrives after it
    // was sent.
    let printed =
        run(&["dump", "--sync", "-e", "dev_xmit_extended || tcpv4_rcv_extended"], folder.path());
    let segments = values(&text(&printed), " seq");
    assert_eq!(segments.len(), 800);
    assert!(segments.is_sorted());
    let lines = text(&printed);
    let names = lines.lines().map(|line| line.contains("dev_xmit_extended"));
    assert!(names.enumerate().all(|(number, is_send)| is_send == number.is_multiple_of(2)));
    // A file is of the recordings, wherever they are.
    let file = folder.path().join("clocks.json");
    let name = file.to_str().unwrap();
    text(&run(&["sync", "--write", name], folder.path()));
    move_traces(folder.path());
    let args = ["dump", "--clock-transform", name, "--columns", "seq", "--format", "csv"];
    let moved = run(&args, folder.path());
    let segments: Vec<u64> = text(&moved).lines().filter_map(|line| line.parse().ok()).collect();
    assert!(segments.len() == 800 && segments.is_sorted(), "{moved:?}");
    assert_eq!(moved.stderr, "");
}

#[test]
fn recorded_traces_are_related_as_by_trace_compass() {
    let traces = shared().map(|folder| folder.join("traces/ctf/tc-synctraces"));
    let Some(traces) = traces.filter(|folder| folder.is_dir()) else {
        return print_note("SKIPPED: there is no ../shared/traces/ctf/tc-synctraces");
    };
    let found = text(&run(&["sync", "--format", "json"], &traces));
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["counts"][0]["messages"], 46);
    let pair = &found["pairs"][0];
    let mut both = [&pair["forward"], &pair["backward"]].map(|of| of.as_u64().unwrap());
    both.sort_unstable();
    assert_eq!(both, [22, 24]);
    let slope: f64 = pair["slope"].as_str().unwrap().parse().unwrap();
    assert!((slope - 0.99994).abs() < 2e-5 || (slope - 1.00006).abs() < 2e-5, "{slope}");
}
