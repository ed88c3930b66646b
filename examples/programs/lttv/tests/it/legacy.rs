//! Compares `lttv dump --format lttv` with the output of LTTV's own programs for every legacy
//! trace in the shared folder: events in the order of each tracefile, names, times to the
//! nanosecond, the running process and its mode, fields. (LTTV's order between tracefiles at
//! one time depended on directories.)

use crate::support;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::read::GzDecoder;
use ltt_read::schema::Scope;
use ltt_read::{FieldInfo, StrValue, Trace, TracefileIndex, Visitor};

const LIMIT: Duration = Duration::from_secs(120);

/// The events of each tracefile: name and time, fields, columns of the state.
type Records = BTreeMap<String, Vec<(String, String, String)>>;

#[test]
fn same_events_as_the_original() {
    let mut checked = 0;
    for (name, trace, expected) in cases() {
        if name == "smp-2003" {
            continue;
        }
        let args = ["--format", "lttv"];
        let run = support::dump(&args, Some(&trace), LIMIT);
        assert_eq!(run.status, Some(0), "{name}: {}", run.stderr);
        let (expected, got) = (records(&text(&expected)), records(&run.stdout));
        compare(&name, &expected, &got, before_2_3(&name));
        checked += expected.values().map(Vec::len).sum::<usize>();
    }
    support::print_note(&format!("legacy: {checked} events compared"));
}

#[test]
fn the_bundled_trace_is_printed() {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/legacy");
    let run = support::dump(&["--format", "lttv"], Some(&bundled), LIMIT);
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    let text = String::from_utf8(run.stdout).unwrap();
    assert_eq!(text.lines().count(), 8052);
    let line = |begin: &str| text.lines().find(|line| line.starts_with(begin));
    let exec = line("fs.exec: ").expect("an execution");
    assert!(exec.contains("/legacy/fs_"), "{exec}");
    assert!(exec.contains("), 1841, 1841, /bin/"), "{exec}");
    assert!(exec.contains(", 1840, 0x0, SYSCALL { filename = \"/bin/"), "{exec}");
    let mut interrupts = text.lines().filter(|line| line.starts_with("kernel.irq_entry: "));
    let disk = interrupts.find(|line| line.contains("irq_id = 14,")).expect("of the disk");
    assert!(disk.contains(", IRQ {"), "{disk}");
}

#[test]
fn same_events_in_the_format_of_2003() {
    let Some((_, path, expected)) = cases().into_iter().find(|(name, ..)| name == "smp-2003")
    else {
        return;
    };
    let trace = Trace::open(path).expect("a trace");
    let mut got = BTreeMap::new();
    for (number, tracefile) in trace.tracefiles().iter().enumerate() {
        let lines: &mut Vec<String> = got.entry(tracefile.name().to_owned()).or_default();
        let mut cursor = trace.cursor(TracefileIndex(number));
        while let Some(event) = cursor.next().expect("sound data") {
            let time = event.timestamp().expect("a time");
            let mut line = Line(format!("{} {time}", event.event_type().name()));
            event.visit(Scope::Payload, &mut line);
            lines.push(line.0);
        }
    }
    let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in latin1(&text(&expected)).lines() {
        let (tracefile, event) = line.split_once(' ').expect("a tracefile and more");
        wanted.entry(tracefile.to_owned()).or_default().push(event.trim_end().to_owned());
    }
    assert!(wanted.values().map(Vec::len).sum::<usize>() > 100_000);
    for (tracefile, wanted) in &wanted {
        let got = &got[tracefile];
        assert_eq!(got.len(), wanted.len(), "{tracefile}");
        let differing = got.iter().zip(wanted).find(|(got, wanted)| got != wanted);
        assert_eq!(differing, None, "{tracefile}");
    }
}

/// The values of an event in the format of the dump of 2003.
struct Line(String);

impl Visitor for Line {
    fn uint(&mut self, field: &FieldInfo, value: u64) {
        let kind = if field.class().mappings().is_some() { "enum:" } else { "" };
        self.0.push_str(&format!(" {kind}{value}"));
    }
    fn string(&mut self, _: &FieldInfo, value: StrValue<'_>) {
        self.0.push_str(&format!(" \"{}\"", latin1(value.bytes)));
    }
}

/// Returns the name, trace and expected dump of each available trace.
fn cases() -> Vec<(String, PathBuf, PathBuf)> {
    let traces = support::shared().map(|shared| (shared.join("traces/legacy"), shared));
    let Some((traces, shared)) = traces.filter(|(traces, _)| traces.is_dir()) else {
        support::print_note("legacy: all skipped, there is no ../shared/traces/legacy");
        return Vec::new();
    };
    let mut cases = Vec::new();
    for entry in fs::read_dir(traces).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let expected = shared.join(format!("expected/legacy/{name}.dump.txt.gz"));
        match expected.is_file() {
            true => cases.push((name, entry.path(), expected)),
            false => support::print_note(&format!("legacy: {name} skipped: no reference text")),
        }
    }
    cases.sort();
    cases
}

/// Returns `true` if the reference text comes from readers with a known fault: an event with
/// the id 29 has the time of the previous one (docs/conformance.md).
fn before_2_3(name: &str) -> bool {
    ["synth-v2.0", "synth-v2.1", "synth-v2.2"].iter().any(|version| name.starts_with(version))
}

fn compare(name: &str, expected: &Records, got: &Records, faulty: bool) {
    let names = |records: &Records| records.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(expected), names(got), "{name}");
    let mut unlike = 0;
    for (tracefile, wanted) in expected {
        let got = &got[tracefile];
        assert_eq!(got.len(), wanted.len(), "{name}/{tracefile}");
        let (mut faults, mut before) = (0, String::new());
        for (number, (wanted, got)) in wanted.iter().zip(got).enumerate() {
            let at = || format!("{name}/{tracefile}: event {number} {}: {}", wanted.0, got.2);
            if !same_state(name, &wanted.2, &got.2) {
                panic!("{}, not {}", at(), wanted.2);
            }
            unlike += usize::from(wanted.2 != got.2);
            let (wanted, got) = (wanted_of(wanted), wanted_of(got));
            let time = |event: &'_ str| event.rsplit(' ').next().map(str::to_owned);
            let kept_time = time(wanted.0).as_deref() == Some(before.as_str());
            if faulty && wanted != got && kept_time && wanted.1 == got.1 {
                faults += 1;
            } else {
                assert_eq!(got, wanted, "{name}/{tracefile}: event {number}");
            }
            before = wanted.0.rsplit(' ').next().unwrap_or_default().to_owned();
        }
        assert!(faults * 20 < wanted.len().max(20), "{name}/{tracefile}: {faults} faults");
    }
    // In real traces, modes differ only early, before the state is known.
    let events: usize = expected.values().map(Vec::len).sum();
    assert!(name.starts_with("synth") || unlike * 40 < events, "{name}: {unlike} of {events}");
}

/// Returns the parts of an event's line without the state.
fn wanted_of(record: &(String, String, String)) -> (&str, &str) {
    (&record.0, &record.1)
}

/// Returns `true` if the state is the same, or if only the mode differs for a known reason
/// (docs/kernel-state.md).
fn same_state(name: &str, original: &str, ours: &str) -> bool {
    if original == ours {
        return true;
    }
    if name.starts_with("synth-f") {
        // LTTV's readers of those formats did not follow states.
        return original == "0, 0, UNNAMED, UNBRANDED, 0, 0x0, MODE_UNKNOWN";
    }
    let (Some((original, mode)), Some((ours, our_mode))) =
        (original.rsplit_once(", "), ours.rsplit_once(", "))
    else {
        return false;
    };
    let is_known = match (mode, our_mode) {
        // After a system call user code continues, and the state of the idle process is known
        // in advance.
        ("MODE_UNKNOWN", "USER_MODE" | "SYSCALL") => true,
        // At the end of the dump LTTV puts processes into system calls, even running ones.
        ("SYSCALL", "USER_MODE" | "MODE_UNKNOWN") => true,
        _ => false,
    };
    original == ours && is_known
}

fn text(path: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    let file = File::open(path).expect("a reference text");
    GzDecoder::new(file).read_to_end(&mut text).expect("sound gzip data");
    text
}

/// Converts bytes to characters: the encoding of recorded texts is unknown.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|b| char::from(*b)).collect()
}

/// Parses the events of a dump. Its texts may contain line breaks.
fn records(dump: &[u8]) -> Records {
    let dump = latin1(dump);
    let dump = dump.rsplit_once("\nEnd trace set").map_or(&*dump, |(events, _)| events);
    let mut records = Records::new();
    let mut last: Option<String> = None;
    for line in dump.lines() {
        match record(line) {
            Some((tracefile, event, fields, state)) => {
                let events = records.entry(tracefile.to_owned()).or_default();
                events.push((event, fields.to_owned(), state.to_owned()));
                last = Some(tracefile.to_owned());
            }
            None => {
                let events = last.as_ref().and_then(|t| records.get_mut(t)?.last_mut());
                if let Some((_, fields, _)) = events {
                    fields.push('\n');
                    fields.push_str(line);
                }
            }
        }
    }
    for (_, fields, _) in records.values_mut().flatten() {
        fields.truncate(fields.trim_end_matches('\n').len());
    }
    records
}

/// Parses the first line of an event: tracefile, name and time, fields, columns of the state.
fn record(line: &str) -> Option<(&str, String, &str, &str)> {
    let (name, rest) = line.split_once(": ")?;
    let (time, rest) = rest.split_once(" (")?;
    let (seconds, ns) = time.split_once('.')?;
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if name.contains(' ') || !digits(seconds) || !digits(ns) || ns.len() != 9 {
        return None;
    }
    let (path, rest) = rest.split_once("), ")?;
    // Before 2.3, channels may be in a subdirectory of the trace.
    let at = path.rfind("/control/").or_else(|| path.rfind('/'))?;
    let (state, fields) = rest.split_at(rest.find(" { ").unwrap_or(rest.len()));
    Some((&path[at + 1..], format!("{name} {time}"), fields, state))
}
