//! Compares the program `lttv` on traces of LTTng 0.x with the output of LTTV itself, where
//! available. The test `legacy` compares whole event lines; here `lttv` must print the same
//! as `lttv dump`, between LTTV's header and footer.

use crate::support;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::read::GzDecoder;

const LIMIT: Duration = Duration::from_secs(300);

/// Returns the traces, each with the output of LTTV in the file that ends in `suffix`.
fn cases(suffix: &str) -> Vec<(String, PathBuf, String)> {
    let Some(shared) = support::shared().filter(|it| it.join("expected/legacy").is_dir()) else {
        support::print_note("SKIPPED: there is no ../shared/expected/legacy");
        return Vec::new();
    };
    let mut cases = Vec::new();
    for entry in fs::read_dir(shared.join("expected/legacy")).unwrap().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let Some(name) = file.strip_suffix(suffix) else { continue };
        let trace = shared.join("traces/legacy").join(name);
        // The reference of the oldest trace is not LTTV's own output.
        if trace.is_dir() && name != "smp-2003" {
            let mut bytes = Vec::new();
            GzDecoder::new(File::open(entry.path()).unwrap()).read_to_end(&mut bytes).unwrap();
            cases.push((name.to_owned(), trace, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    cases
}

fn run(args: &[&str], trace: &Path) -> String {
    let run = support::run(&support::lttv(), args, Some(trace), LIMIT);
    assert_eq!(run.status, Some(0), "{}: {}", trace.display(), run.stderr);
    String::from_utf8_lossy(&run.stdout).into_owned()
}

#[test]
fn event_lines() {
    let (mut lines, mut framed) = (0, 0);
    for (name, trace, original) in cases(".dump.txt.gz") {
        let printed = run(&["run", "-m", "textDump", "-t"], &trace);
        let (head, foot) = ("Trace set contains 1 traces\n\n", "End trace set\n");
        // Statistics may follow; some references contain only event lines.
        if original.starts_with("Trace set") {
            assert!(original.starts_with(head), "{name}");
            assert!(original.contains(&format!("\n{foot}")), "{name}");
            framed += 1;
        }
        let events = printed.strip_prefix(head).and_then(|rest| rest.strip_suffix(foot));
        let events = events.unwrap_or_else(|| panic!("{name}: {}", &printed[..200]));
        assert!(events == run(&["dump", "--format=lttv"], &trace), "{name}");
        lines += events.lines().count();
    }
    assert!(framed > 0 || lines == 0);
    support::print_note(&format!("lttv: {lines} lines of legacy traces compared"));
}

/// Returns the sums of all traces in LTTV's tree: numbers of events in total and by type.
/// They come first, with the types not indented.
fn sums(text: &str) -> BTreeMap<String, u64> {
    let (_, tree) = text.split_once("Traceset statistics:\n").expect("statistics");
    let mut sums = BTreeMap::new();
    let mut in_types = false;
    // The sums end at the tree of the first trace.
    for line in tree.lines().take_while(|line| !line.starts_with("  processes")) {
        match line.split_once(':') {
            Some(("event_types", _)) => in_types = true,
            Some(("events count", number)) => {
                sums.insert("events count".to_owned(), number.trim().parse().unwrap());
            }
            Some((name, number)) if in_types && line.starts_with("  ") => {
                sums.insert(name.trim().to_owned(), number.trim().parse().unwrap());
            }
            _ => in_types = false,
        }
    }
    sums
}

#[test]
fn statistics() {
    for (name, trace, original) in cases(".stats.txt.gz") {
        let printed = run(&["run", "-m", "textDump", "-n", "-s", "-a", "-t"], &trace);
        let mut ours = BTreeMap::new();
        for line in printed.lines().filter_map(|line| line.strip_prefix("/statistics/")) {
            let (path, value) = line.rsplit_once(": ").unwrap();
            match path.split_once('/') {
                Some(("event_types", name)) => ours.insert(name.to_owned(), value.parse().unwrap()),
                None if path == "events count" => {
                    ours.insert(path.to_owned(), value.parse().unwrap())
                }
                _ => None,
            };
        }
        let expected = sums(&original);
        assert!(expected.len() > 3, "{name}: {expected:?}");
        assert_eq!(ours, expected, "{name}");
    }
}

#[test]
fn parts_of_lines() {
    const STATUS: [&str; 8] =
        ["", "WAIT_FORK", "WAIT_CPU", "EXIT", "ZOMBIE", "WAIT", "RUN", "DEAD"];
    let mut seen = std::collections::BTreeSet::new();
    // Fields have names since markers exist.
    let mut cases = cases(".dump.txt.gz");
    cases.retain(|(name, ..)| name.starts_with("synth-v2"));
    for (name, trace, _) in cases.into_iter().take(2) {
        let plain = run(&["run", "-m", "textDump", "-t"], &trace);
        // LTTV's option has an underscore.
        for option in ["-r", "--process-state", "--process_state"] {
            let printed = run(&["run", "-m", "textDump", option, "-t"], &trace);
            assert_eq!(plain.lines().count(), printed.lines().count(), "{name}");
            for (plain, printed) in plain.lines().zip(printed.lines()) {
                let mut more = printed.split(' ');
                let mut status = None;
                for word in plain.split(' ') {
                    let mut next = more.next();
                    if next != Some(word) {
                        assert!(status.is_none(), "{plain}\n{printed}");
                        (status, next) = (next, more.next());
                    }
                    assert_eq!(next, Some(word), "{plain}\n{printed}");
                }
                let status = status.or(more.next());
                let is_event = plain.contains(" (");
                assert!(!is_event || status.is_some_and(|of| STATUS.contains(&of)), "{printed}");
                seen.extend(status.map(str::to_owned));
            }
        }
        let nameless = run(&["run", "-m", "textDump", "--no-field-names", "-t"], &trace);
        assert_eq!(plain.lines().count(), nameless.lines().count(), "{name}");
        assert!(plain.contains(" = ") && !nameless.contains(" = "), "{name}");
    }
    support::print_note(&format!("lines with and without status and names: {seen:?}"));
}
