//! Tests `lttv chart`: windows, shares of time, losses, formats.

use crate::lossy;
use crate::support;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::support::Run;
use ltt_read::{Merge, Timestamp};

const BUNDLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
const LIMIT: Duration = Duration::from_secs(120);

fn chart(args: &[&str], trace: &Path) -> Run {
    let args = [&["chart"], args].concat();
    support::run(&support::lttv(), &args, Some(trace), LIMIT)
}

/// Returns the chart of the bundled trace, which must be drawn without messages.
fn drawn(args: &[&str]) -> String {
    let run = chart(args, Path::new(BUNDLED));
    assert_eq!((run.status, &*run.stderr), (Some(0), ""), "{args:?}");
    String::from_utf8(run.stdout).unwrap()
}

/// Returns the times of all events of the bundled trace, in ns.
fn times() -> Vec<i64> {
    let mut merge = Merge::new(&ltt_read::open_all(BUNDLED).unwrap());
    let mut times = Vec::new();
    while let Some(event) = merge.next() {
        times.extend(event.timestamp().map(Timestamp::as_ns));
    }
    times
}

fn text(ns: i64) -> String {
    Timestamp::from_ns(ns).to_string()
}

/// Returns the exact shares of a usage chart, by label: the part and the whole in ns.
fn shares(svg: &str) -> BTreeMap<String, (u64, u64)> {
    let hints = svg.split("%<title>").skip(1).filter_map(|rest| rest.split_once("</title>"));
    let of_hint = |(hint, _): (&str, &str)| {
        let (label, times) = hint.rsplit_once(": ").unwrap();
        let times: Vec<u64> = times.split(' ').filter_map(|word| word.parse().ok()).collect();
        (label.to_owned(), (times[0], times[1]))
    };
    hints.map(of_hint).collect()
}

/// Returns the busy time of each CPU in a window: that of threads other than the idle ones, from
/// the switches alone.
fn busy_times(from: i64, to: i64) -> BTreeMap<String, u64> {
    let mut merge = Merge::new(&ltt_read::open_all(BUNDLED).unwrap());
    // The thread of each CPU since a time.
    let mut running: BTreeMap<u32, (i64, i64)> = BTreeMap::new();
    let mut busy: BTreeMap<String, u64> = BTreeMap::new();
    let mut add = |cpu: u32, thread: i64, since: i64, until: i64| {
        let time = until.min(to).saturating_sub(since.max(from)).max(0) as u64;
        *busy.entry(format!("CPU {cpu}")).or_default() += if thread == 0 { 0 } else { time };
    };
    while let Some(event) = merge.next() {
        if event.event_type().name() != "sched_switch" {
            continue;
        }
        let thread = |field: &str| event.field(field).and_then(|value| value.as_i64()).unwrap();
        let (cpu, time) = (event.tracefile().cpu().unwrap(), event.timestamp().unwrap().as_ns());
        let (prev, next) = (thread("prev_tid"), thread("next_tid"));
        let (thread, since) = running.insert(cpu, (next, time)).unwrap_or((prev, i64::MIN));
        assert_eq!(thread, prev);
        add(cpu, thread, since, time);
    }
    for (cpu, (thread, since)) in running {
        add(cpu, thread, since, i64::MAX);
    }
    busy
}

#[test]
fn busy_times_of_windows_are_those_of_the_switches() {
    let times = times();
    let (first, last) = (times[0], times[times.len() - 1]);
    let mut windows = vec![(first, last)];
    for at in [100, 1000, 2500, 4000] {
        let (from, to) = (times[at], times[at + 900]);
        windows.extend([(from, to), (from + 1, to - 1), (from - 1, to + 1)]);
    }
    for (from, to) in windows {
        let (begin, end) = (text(from), text(to));
        let svg = drawn(&["usage", "--format=svg", "--begin", &begin, "--end", &end]);
        let expected = busy_times(from, to);
        assert_eq!(expected.len(), 8);
        let shares = shares(&svg);
        for (label, busy) in expected {
            assert_eq!(shares[&label], (busy, from.abs_diff(to)), "{label} in {begin} to {end}");
        }
    }
}

/// Between two events nothing changes: what is open at the start fills the window.
#[test]
fn a_state_that_is_open_at_the_start_is_drawn_from_there() {
    let times = times();
    let gap = times[1000..].windows(2).max_by_key(|pair| pair[1] - pair[0]).unwrap();
    let window = [text(gap[0] + 1), text(gap[1] - 1)];
    let args = ["--format=svg", "--begin", &window[0], "--end", &window[1]];
    let whole = gap[0].abs_diff(gap[1]) - 2;
    let usage = drawn(&[&["usage"], &args[..]].concat());
    let shares = shares(&usage);
    let cpus: Vec<_> = shares.iter().filter(|(label, _)| label.starts_with("CPU")).collect();
    assert_eq!(cpus.len(), 8);
    assert!(cpus.iter().all(|(_, (part, of))| *of == whole && (*part == 0 || part == of)));
    // Each bar has one colour.
    assert!(!usage.contains("width=\"1\" height"), "{usage}");
    let flow = drawn(&[&["flow", "--all"], &args[..]].concat());
    let states = flow.split("<rect x=\"").skip(1).filter(|rect| rect.contains("<title>"));
    let mut count = 0;
    for state in states {
        assert!(state.starts_with("0.0000\"") && state.contains("width=\"1100.0000\""), "{state}");
        count += 1;
    }
    assert!(count > 100, "{count} processes");
}

#[test]
fn times_count_from_the_first_event_in_all_charts() {
    let flow = drawn(&["flow", "--format=svg", "--begin=+10ms", "--end=+30ms"]);
    assert!(flow.contains("data-begin=\"10000000\" data-width=\"20000000\""), "{flow}");
    let usage = drawn(&["usage", "--format=svg", "--begin=+10ms", "--end=+30ms"]);
    assert!(usage.contains(">10 ms<") && usage.contains(">30 ms<"), "{usage}");
    assert!(!usage.contains(">0 ms<") && !usage.contains(">32 ms<"), "{usage}");
    // The same window in seconds, as in earlier versions.
    for kind in ["flow", "usage"] {
        let window = drawn(&[kind, "--timerange=+10ms..+30ms"]);
        assert_eq!(drawn(&[kind, "--from=0.01", "--seconds=0.02"]), window, "{kind}");
    }
}

/// Legends continue in the next line of a narrow picture.
#[test]
fn legends_fit_any_width() {
    let text = |svg: &str, at: usize| svg[at..].split(['<', '>']).nth(1).unwrap_or("").to_owned();
    for width in [400, 700, 1200] {
        let svg = drawn(&["usage", "--format=svg", "--pixels", &width.to_string()]);
        let (mut entries, mut last) = (0, 0);
        for (at, _) in svg.match_indices("stroke=\"#777777\"/><text x=\"") {
            let rest = &svg[at + 28..];
            let number = |text: &str| text.split('"').next().unwrap().parse::<usize>().unwrap();
            let (x, meaning) = (number(rest), text(rest, 0));
            assert!(x + meaning.len() * 6 <= width, "{width}: {meaning} at {x}");
            last = number(rest.split(" y=\"").nth(1).unwrap());
            entries += 1;
        }
        assert_eq!(entries, 19, "{width}");
        let height: usize =
            svg.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        assert!(last < height, "{width}");
    }
}

#[test]
fn the_format_is_that_of_the_extension() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ["flow", "usage"] {
        for (name, start) in [("a.html", "<!DOCTYPE html>"), ("a.svg", "<svg "), ("a", "<!DOCTYPE")]
        {
            let path = folder.path().join(name);
            drawn(&[kind, "-o", path.to_str().unwrap()]);
            assert!(fs::read_to_string(&path).unwrap().starts_with(start), "{kind} {name}");
        }
    }
}

/// The page itself says what is missing, in case that standard error is not seen.
#[test]
fn the_page_of_a_user_space_trace_says_what_it_needs() {
    let ust = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/ust"));
    for kind in ["flow", "usage"] {
        for format in ["--format=html", "--format=svg"] {
            let run = chart(&[kind, format], ust);
            assert_eq!(run.status, Some(1), "{run:?}");
            let page = String::from_utf8(run.stdout).unwrap();
            for words in ["needs a kernel trace with the events sched_switch", "user-space trace"] {
                assert!(page.contains(words), "{page}");
                assert!(run.stderr.contains(words), "{}", run.stderr);
            }
        }
    }
}

#[test]
fn losses_are_hatched_with_a_legend() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    lossy::kernel_trace(&trace);
    let hatched = |run: &Run| {
        let svg = String::from_utf8_lossy(&run.stdout).into_owned();
        (svg.matches("class=\"lost\"").count(), svg.matches(">events lost<").count())
    };
    for kind in ["flow", "usage"] {
        let all = chart(&[kind, "--format=svg"], &trace);
        assert_eq!(all.status, Some(0), "{all:?}");
        // One range over all rows, since the two follow each other, and one on the CPU's row.
        let expected = if kind == "flow" { 1 } else { 2 };
        assert_eq!(hatched(&all), (expected, 1), "{kind}: {all:?}");
        assert!(all.stderr.contains("lttv: 2 ranges lost 5 events"), "{}", all.stderr);
        assert!(all.stderr.contains("and 3 packets, first at "), "{}", all.stderr);
        // A window without losses has none.
        let part = chart(&[kind, "--format=svg", "--end=+50us"], &trace);
        assert_eq!((hatched(&part), &*part.stderr), ((0, 0), ""), "{part:?}");
        // A window within a loss has one from its start to its end.
        let part = chart(&[kind, "--format=svg", "--timerange=+200us..+300us"], &trace);
        assert_eq!(hatched(&part), (expected, 1), "{part:?}");
        assert!(part.stderr.contains("lttv: 1 range lost up to 5 events"), "{}", part.stderr);
    }
}

/// The recorded pair of hosts: an ssh connection in a window of its copy of a file.
#[test]
fn messages_between_hosts_are_arrows() {
    let Some(folder) = support::shared().map(|path| path.join("traces/ctf/tc-synctraces")) else {
        return support::print_note("SKIPPED: there are no recorded traces here");
    };
    let args = ["flow", "--format=svg", "--timerange=+16.33..+16.34", "--sync"];
    let run = chart(&args, &folder);
    assert_eq!(run.status, Some(0), "{run:?}");
    let svg = String::from_utf8(run.stdout).unwrap();
    assert!(svg.contains("times are after the first event; clock: VM3</text>"), "{svg}");
    assert!(svg.contains(">message to the dot</text>"), "{svg}");
    let arrows: Vec<_> = svg.split("<g class=\"message\"").skip(1).collect();
    let ends = |arrow: &&str| arrow.split("</g>").next().unwrap().contains("0L");
    assert_eq!((arrows.len(), arrows.iter().filter(|arrow| ends(arrow)).count()), (8, 2), "{svg}");
    // All of them arrive after they were sent.
    assert!(!arrows.iter().any(|arrow| arrow.contains("\n-")), "{svg}");
    let names = |from: &str, to: &str| {
        arrows.iter().filter(|arrow| arrow.contains(&format!("<title>{from} to {to}\n"))).count()
    };
    assert_eq!(names("VM1", "VM3") + names("VM3", "VM1"), arrows.len());
    assert!(svg.contains(">host</text>") && svg.contains(">VM1</text>"), "{svg}");
    // Recorded times are those of different clocks, and a trace of one host has no messages.
    let run = chart(&args[..3], &folder);
    assert!(!String::from_utf8_lossy(&run.stdout).contains("clock: "), "{run:?}");
    assert!(!drawn(&["flow", "--format=svg"]).contains("message to the dot"));
    assert!(!drawn(&["flow", "--format=svg"]).contains(">host</text>"));
    let usage = chart(&[&["usage"], &args[1..]].concat(), &folder);
    assert!(String::from_utf8_lossy(&usage.stdout).contains("; clock: VM3</text>"), "{usage:?}");
}

/// Returns the texts between a start and an end in a picture.
fn between<'s>(svg: &'s str, start: &'s str, end: &'s str) -> impl Iterator<Item = &'s str> {
    svg.split(start).skip(1).filter_map(move |rest| Some(rest.split_once(end)?.0))
}

/// Each cell of a latency chart has the spans that ended there, and the bars add them up.
#[test]
fn cells_of_latencies_are_those_of_spans() {
    let first = times()[0];
    let mut cells = 0;
    for (family, options) in [
        ("syscall", &[][..]),
        ("wake-up", &["--timerange", "+100ms..+400ms"]),
        ("irq", &["--cpu", "0,1,2"]),
        ("syscall", &["--comm", "diskio", "--min", "10us"]),
    ] {
        let args = [&["latency", "--format=svg", "--family", family], options].concat();
        let svg = drawn(&args);
        let panel = svg.split("<g class=\"panel\"").nth(1).expect("a panel");
        let column: i64 = between(panel, "data-column=\"", "\"").next().unwrap().parse().unwrap();
        let args = [&["spans", "--format", "csv", "--family", family], options].concat();
        let spans = support::run(&support::lttv(), &args, Some(Path::new(BUNDLED)), LIMIT);
        let spans = String::from_utf8(spans.stdout).unwrap();
        let mut lines = spans.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let heads = lines.next().unwrap();
        let place = |name| heads.iter().position(|head| *head == name).expect("a column");
        let (begin, duration) = (place("begin"), place("duration"));
        let ended: Vec<(i64, u64)> = lines
            .filter_map(|line| Some((line[begin].parse().ok()?, line[duration].parse().ok()?)))
            .map(|(begin, duration): (i64, u64)| (begin + duration as i64, duration))
            .collect();
        let number = |text: &str| text.split(' ').next().unwrap().parse::<u64>().unwrap();
        let mut all = 0;
        for title in between(panel, "<title>", "</title>").filter(|title| title.contains("ended")) {
            let from = between(title, "ended ", " s after").next().unwrap();
            let (seconds, nanoseconds) = from.split_once('.').unwrap();
            let from = first
                + seconds.parse::<i64>().unwrap() * 1_000_000_000
                + nanoseconds.parse::<i64>().unwrap();
            let here = ended.iter().filter(|(end, _)| (from..from + column).contains(end));
            let range: Vec<_> = between(title, " of ", ",").next().unwrap().split(" to ").collect();
            // The texts of powers of two are those of units with four digits.
            let bits = |duration: u64| u64::BITS - duration.leading_zeros();
            let bin = |duration: u64| lttv_common::units::length(1 << (bits(duration).max(1) - 1));
            let here = here.filter(|(_, duration)| bin(*duration) == range[0]).count() as u64;
            assert_eq!(number(title), here, "{family} {title}");
            (all, cells) = (all + here, cells + 1);
        }
        assert_eq!(all, ended.len() as u64, "{family}");
        let bars = between(panel, "<title>", "</title>").filter(|title| !title.contains(", ended"));
        let bars = bars.filter(|title| title.contains(" of ")).map(number).sum::<u64>();
        assert_eq!(bars, all, "{family}");
    }
    assert!(cells > 500, "{cells}");
}

/// The rows of CPUs show the threads between switches.
#[test]
fn runs_on_cpus_are_those_of_the_switches() {
    let times = times();
    let (from, to) = (times[2000], times[2400]);
    let (begin, end) = (text(from), text(to));
    // Each column is 1 ns wide: no runs are put together.
    let steps = format!("--steps={}", to - from);
    let svg = drawn(&["flow", "--format=svg", "--begin", &begin, "--end", &end, &steps]);
    let mut found = Vec::new();
    for hint in between(&svg, "<title>", "</title>").filter(|hint| hint.starts_with("CPU ")) {
        let lines: Vec<_> = hint.lines().collect();
        let (cpu, thread) = lines[0].split_once(": ").unwrap();
        let tid: i64 = thread.rsplit_once('(').unwrap().1.trim_end_matches(')').parse().unwrap();
        found.push((cpu.to_owned(), tid, lines[1].to_owned()));
    }
    let mut merge = Merge::new(&ltt_read::open_all(BUNDLED).unwrap());
    let mut running: BTreeMap<u32, (i64, i64)> = BTreeMap::new();
    let mut expected = Vec::new();
    let seconds = |ns: i64| (ns - times[0]) as f64 / 1e9;
    let mut add = |cpu: u32, thread: i64, since: i64, until: i64| {
        let (since, until) = (since.max(from), until.min(to));
        if since < until && thread != 0 {
            let line = format!("{:.9} – {:.9} s", seconds(since), seconds(until));
            expected.push((format!("CPU {cpu}"), thread, line));
        }
    };
    while let Some(event) = merge.next() {
        if event.event_type().name() == "sched_switch" {
            let thread = |field: &str| event.field(field).and_then(|value| value.as_i64()).unwrap();
            let (cpu, time) =
                (event.tracefile().cpu().unwrap(), event.timestamp().unwrap().as_ns());
            let last = running.insert(cpu, (thread("next_tid"), time));
            let (thread, since) = last.unwrap_or((thread("prev_tid"), i64::MIN));
            add(cpu, thread, since, time);
        }
    }
    for (cpu, (thread, since)) in running {
        add(cpu, thread, since, i64::MAX);
    }
    expected.sort();
    found.sort();
    // A thread that gets another name while it runs has a segment for each.
    found.dedup_by(|later, former| {
        let border = |line: &str, at: usize| line.split(' ').nth(at).map(str::to_owned);
        let is_one = (&later.0, later.1) == (&former.0, former.1)
            && border(&former.2, 2) == border(&later.2, 0);
        if is_one {
            former.2 =
                format!("{} – {} s", border(&former.2, 0).unwrap(), border(&later.2, 2).unwrap());
        }
        is_one
    });
    assert!(expected.len() > 20);
    assert_eq!(found, expected);
}
