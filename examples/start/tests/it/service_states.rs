//! `service_states`: a log is stored, queried and drawn, and compared with its lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::{run, text};

const LOG: &str = include_str!("../../services.csv");

/// Runs the program, which must succeed, and returns its output.
fn output(args: &[&str]) -> String {
    crate::output("service_states", args)
}

/// A line of a log: the service, the start and the end in s, and the state.
type Line = (String, i64, i64, String);

fn seconds(time: &str) -> i64 {
    time.parse::<jiff::Timestamp>().unwrap().as_second()
}

fn lines(log: &str) -> Vec<Line> {
    let lines = log.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    lines.map(|c| (c[0].into(), seconds(c[1]), seconds(c[2]), c[3].into())).collect()
}

/// Stores a log in a folder and returns the path of the history.
fn store(folder: &Path, log: &str) -> String {
    let (csv, history) = (folder.join("log.csv"), folder.join("history"));
    fs::write(&csv, log).unwrap();
    let history = history.to_str().unwrap().to_owned();
    output(&["store", &history, csv.to_str().unwrap()]);
    history
}

/// Checks the answers of all queries for a stored log.
fn check(history: &str, log: &[Line]) {
    let start = log.iter().map(|line| line.1).min().unwrap();
    let end = log.iter().map(|line| line.2).max().unwrap();
    let services: BTreeSet<_> = log.iter().map(|line| &line.0).collect();

    let mut expected: BTreeMap<(String, String), i64> = BTreeMap::new();
    for service in &services {
        expected.insert((service.to_string(), "-".to_owned()), end - start);
    }
    for (service, start, end, state) in log {
        *expected.entry((service.clone(), state.clone())).or_default() += end - start;
        *expected.get_mut(&(service.clone(), "-".to_owned())).unwrap() -= end - start;
    }
    expected.retain(|_, time| *time > 0);
    let mut found = BTreeMap::new();
    for line in output(&["durations", history]).lines() {
        let (path, rest) = line.split_at(24);
        let words: Vec<_> = rest.split_whitespace().collect();
        let of = (path.trim_end().to_owned(), words[0].to_owned());
        found.insert(of, words[1].parse::<i64>().unwrap());
    }
    assert_eq!(found, expected);

    for time in [start, start + (end - start) / 2, start + (end - start) / 3, end - 1] {
        let at = jiff::Timestamp::from_second(time).unwrap().to_string();
        let found = output(&["at", history, &at]);
        assert_eq!(found.lines().count(), services.len());
        for (line, service) in found.lines().zip(&services) {
            let state =
                log.iter().find(|line| line.0 == **service && line.1 <= time && time < line.2);
            let state = state.map_or("-", |line| &line.3);
            let rest = line.strip_prefix(service.as_str()).unwrap_or_else(|| panic!("{line}"));
            assert!(rest.trim_start().starts_with(&format!("{state} ")), "{at}: {line}");
        }
    }
    for service in &services {
        let found = output(&["intervals", history, service]);
        let mut of = log.iter().filter(|line| line.0 == **service).collect::<Vec<_>>();
        of.sort_by_key(|line| line.1);
        let states: Vec<_> = of.iter().map(|line| line.3.as_str()).collect();
        let mut printed: Vec<_> =
            found.lines().map(|line| line.split_whitespace().nth(2).unwrap()).collect();
        printed.retain(|state| *state != "-");
        assert_eq!(printed, states, "{service}");
    }
}

#[test]
fn the_log_of_the_example_is_stored_and_queried() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("history");
    let history = history.to_str().unwrap();
    let stored = output(&["store", history]);
    let expected = "28 states of 7 services, 2026-11-20T00:00:00Z to 2026-11-21T00:00:00Z\n";
    assert_eq!(stored, expected);
    check(history, &lines(LOG));
    let web = output(&["at", history, "2026-11-20T14:10:00Z", "web/*"]);
    assert_eq!(web.lines().count(), 2);
    let range = ["2026-11-20T14:00:00Z", "2026-11-20T15:00:00Z"];
    let api = output(&["intervals", history, "web/api", range[0], range[1]]);
    let states: Vec<_> = api.lines().map(|line| line.split_whitespace().nth(2).unwrap()).collect();
    assert_eq!(states, ["degraded", "down", "up"]);
}

#[test]
fn lines_in_any_order_give_the_same_answers() {
    // States of 20 services that change every few seconds.
    let mut all = Vec::new();
    for service in 0..20 {
        let mut time = 1_700_000_000 + service;
        for number in 0..200 {
            let length = 1 + (service * 7 + number * 13) % 50;
            let (start, end) = (time, time + length);
            let at = |time| jiff::Timestamp::from_second(time).unwrap();
            let state = ["low", "high", "off"][(number % 3) as usize];
            all.push(format!("group {}/{service},{},{},{state}", service % 3, at(start), at(end)));
            time = end + number % 2;
        }
    }
    let text = |lines: &[String]| {
        lines.iter().fold("service,start,end,state\n".to_owned(), |mut text, line| {
            writeln!(text, "{line}").unwrap();
            text
        })
    };
    let folder = tempfile::tempdir().unwrap();
    let in_order = text(&all);
    check(&store(folder.path(), &in_order), &lines(&in_order));
    // 4000 and 1237 have no common factor, so that each line occurs once.
    let shuffled: Vec<_> = (0..all.len()).map(|n| all[n * 1237 % all.len()].clone()).collect();
    check(&store(folder.path(), &text(&shuffled)), &lines(&in_order));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "temporary files remain");
}

#[test]
fn the_picture_contains_all_services_and_states() {
    let folder = tempfile::tempdir().unwrap();
    let history = store(folder.path(), LOG);
    let svg = output(&["draw", &history]);
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    for text in ["web/frontend", "sensors/room 1/door", ">maintenance<"] {
        assert!(svg.contains(text), "{text}");
    }
    assert_eq!(svg.matches("<title>").count(), lines(LOG).len());
    let range = ["2026-11-20T14:00:00Z", "2026-11-20T14:10:00Z"];
    let svg = output(&["draw", &history, "web/*", range[0], range[1]]);
    assert_eq!(svg.matches("<title>").count(), 3);
}

#[test]
fn faults_are_reported_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let (csv, history) = (folder.path().join("log.csv"), folder.path().join("history"));
    let (csv, history) = (csv.to_str().unwrap(), history.to_str().unwrap());
    let head = "service,start,end,state\n";
    let good = "a,2026-01-01T00:00:00Z,2026-01-01T01:00:00Z,up\n";
    for (log, message) in [
        (head, "the log has no states"),
        (&format!("{head}{good}a,b\n"), "line 3: four columns"),
        (&format!("{head}{good}a,soon,2026-01-01T01:00:00Z,up\n"), "line 3: "),
        (&format!("{head}a,2026-01-01T01:00:00Z,2026-01-01T01:00:00Z,up\n"), "line 2: "),
        (&format!("{head}{good}a,2026-01-01T00:59:00Z,2026-01-01T02:00:00Z,down\n"), "a"),
    ] {
        fs::write(csv, log).unwrap();
        let done = run("service_states", &["store", history, csv]);
        assert_eq!(done.status.code(), Some(1), "{log}");
        assert!(text(&done.stderr).contains(message), "{}", text(&done.stderr));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{log}");
    }
    fs::write(csv, format!("{head}{good}")).unwrap();
    output(&["store", history, csv]);
    for args in [
        vec!["at", history, "noon"],
        vec!["at", history, "2027-01-01T00:00:00Z"],
        vec!["at", history, "2026-01-01T00:00:00Z", "b*"],
        vec!["intervals", history, "a/b"],
        vec!["intervals", history, "a", "2026-01-01T00:30:00Z", "2026-01-01T00:20:00Z"],
        vec!["at", "/nowhere", "2026-01-01T00:00:00Z"],
        vec![],
    ] {
        assert_eq!(run("service_states", &args).status.code(), Some(1), "{args:?}");
    }
}
