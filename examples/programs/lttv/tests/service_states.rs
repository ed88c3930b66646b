//! The program `service_states`: a log is stored, queried and drawn, and compared with its
//! lines.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use support::{Run, example, run};

const LOG: &str = include_str!("../../../start/service_states/services.csv");

fn service_states(args: &[&str]) -> Run {
    let run = run(&example("service_states"), args, None, Duration::from_secs(60));
    assert!(run.is_orderly(), "{args:?}: {}", run.stderr);
    run
}

/// Runs the program, which must succeed, and returns its output.
fn output(args: &[&str]) -> String {
    let run = service_states(args);
    assert_eq!(run.status, Some(0), "{args:?}: {}", run.stderr);
    String::from_utf8(run.stdout).unwrap()
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
    output(&["store", &history, csv.to_str().unwrap(), "--memory=0"]);
    history
}

/// Checks the answers of all queries for a stored log.
fn check(history: &str, log: &[Line]) {
    let start = log.iter().map(|line| line.1).min().unwrap();
    let end = log.iter().map(|line| line.2).max().unwrap();
    let services: std::collections::BTreeSet<_> = log.iter().map(|line| &line.0).collect();

    let mut expected: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    for service in &services {
        expected.insert((service, "-"), end - start);
    }
    for (service, start, end, state) in log {
        *expected.entry((service, state)).or_default() += end - start;
        *expected.get_mut(&(service.as_str(), "-")).unwrap() -= end - start;
    }
    let found = output(&["durations", history]);
    let mut number = 0;
    for ((service, state), time) in expected.iter().filter(|(_, time)| **time > 0) {
        let (minutes, hours) = (time / 60, time / 3600);
        let time = match (hours, minutes) {
            (0, 0) => format!("{time} s"),
            (0, _) => format!("{minutes} min {:02} s", time % 60),
            _ => format!("{hours} h {:02} min {:02} s", minutes % 60, time % 60),
        };
        let is_line = |line: &&str| {
            line.starts_with(&format!("{service} "))
                && line.contains(&format!("  {state} "))
                && line.contains(&format!(" {time} "))
        };
        assert_eq!(found.lines().filter(is_line).count(), 1, "{service} {state} {time}:\n{found}");
        number += 1;
    }
    assert_eq!(found.lines().count(), number);

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
    let down = "down         since 2026-11-20T14:04:00Z, until 2026-11-20T14:20:11Z";
    assert!(web.starts_with(&format!("web/api       {down}\n")), "{web}");
    assert_eq!(web.lines().count(), 2);
    let range = ["--from=2026-11-20T14:00:00Z", "--to=2026-11-20T15:00:00Z"];
    let api = output(&["intervals", history, "web/api", range[0], range[1]]);
    let states: Vec<_> = api.lines().map(|line| line.split_whitespace().nth(2).unwrap()).collect();
    assert_eq!(states, ["degraded", "down", "up"]);
    assert!(api.contains("4 min 00 s") && api.contains("39 min 49 s"), "{api}");
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
    let log = format!(
        "{LOG}<&>/\u{1b}[31m,2026-11-20T05:00:00Z,2026-11-20T05:00:00.000000001Z,\"a, \"\"b\"\"\"\n\
         all applications and their processes,2026-11-20T05:00:00Z,2026-11-20T06:00:00Z,up\n"
    );
    let history = store(folder.path(), &log);
    let picture = folder.path().join("picture.svg");
    output(&["draw", &history, "-o", picture.to_str().unwrap()]);
    let svg = fs::read_to_string(&picture).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    for text in ["web/frontend", "sensors/room 1/door", ">maintenance<", ">06:00<", "&lt;&amp;&gt;"]
    {
        assert!(svg.contains(text), "{text}");
    }
    assert!(!svg.contains('\u{1b}'));
    assert!(svg.contains(">…ations and their processes<"), "{svg}");
    // A state of 1 ns is a pixel wide.
    assert!(svg.contains("a, &quot;b&quot; for 0.000001 ms"), "{svg}");
    let bars = svg.lines().filter(|line| line.contains("<title>")).count();
    assert_eq!(bars, lines(LOG).len() + 2);
    let range = ["--from=2026-11-20T14:00:00Z", "--to=2026-11-20T14:10:00Z"];
    output(&["draw", &history, "web/*", "-o", picture.to_str().unwrap(), range[0], range[1]]);
    let svg = fs::read_to_string(&picture).unwrap();
    assert_eq!(svg.lines().filter(|line| line.contains("<title>")).count(), 3);
    assert!(svg.contains(">14:05<") && !svg.contains("mail"));
}

#[test]
fn faults_are_reported_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let (csv, history) = (folder.path().join("log.csv"), folder.path().join("history"));
    let (csv, history) = (csv.to_str().unwrap(), history.to_str().unwrap());
    let head = "service,start,end,state\n";
    let good = "a,2026-01-01T00:00:00Z,2026-01-01T01:00:00Z,up\n";
    for (log, message) in [
        ("", "there is no column \"service\""),
        ("service,start,state\n", "there is no column \"end\""),
        (head, "there are no states"),
        (&format!("{head}{good}a,b\n"), "3"),
        (&format!("{head}{good},2026-01-01T00:00:00Z,2026-01-01T01:00:00Z,up\n"), "line 3: there"),
        (&format!("{head}{good}a,soon,2026-01-01T01:00:00Z,up\n"), "line 3: not a time"),
        (&format!("{head}a,9999-01-01T00:00:00Z,2026-01-01T01:00:00Z,up\n"), "1678"),
        (&format!("{head}a,2026-01-01T01:00:00Z,2026-01-01T01:00:00Z,up\n"), "line 2: the end"),
        (&format!("{head}a//b,2026-01-01T00:00:00Z,2026-01-01T01:00:00Z,up\n"), "line 2: path"),
        (
            &format!("{head}{good}a,2026-01-01T00:59:00Z,2026-01-01T02:00:00Z,down\n"),
            "two states of a at the same time: 2026-01-01T00:00:00Z to 2026-01-01T01:00:00Z, and 2026",
        ),
    ] {
        fs::write(csv, log).unwrap();
        let run = service_states(&["store", history, csv]);
        assert_eq!(run.status, Some(1), "{log}");
        assert!(run.stderr.starts_with("service_states: error: "), "{}", run.stderr);
        assert!(run.stderr.contains(csv) && run.stderr.contains(message), "{}", run.stderr);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{log}");
    }
    fs::write(csv, format!("{head}{good}")).unwrap();
    assert_eq!(service_states(&["store", csv, csv]).status, Some(2));
    assert_eq!(fs::read_to_string(csv).unwrap(), format!("{head}{good}"));
    assert_eq!(service_states(&["at", history, "2026-01-01T00:00:00Z"]).status, Some(1));
    output(&["store", history, csv]);
    for args in [
        vec!["at", history, "noon"],
        vec!["at", history, "2027-01-01T00:00:00Z"],
        vec!["at", history, "2026-01-01T00:00:00Z", "b*"],
        vec!["intervals", history, "a/b"],
        vec!["intervals", history, "a", "--from=2026-01-01T00:30:00Z", "--to=2026-01-01T00:20:00Z"],
        vec!["durations", history, "--to=2026-01-01T09:00:00Z"],
        vec!["draw", history],
        vec!["draw", history, "-o", history],
    ] {
        assert_eq!(service_states(&args).status, Some(2), "{args:?}");
    }
    let help = output(&["store", "--help"]);
    assert!(help.contains("any order") && help.contains("overlap"), "{help}");
    assert!(output(&["--help"]).contains("service_states draw day.history -o day.svg"));
}
