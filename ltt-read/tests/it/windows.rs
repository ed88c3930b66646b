//! Time windows are parts of the full read, whatever times packets and index files
//! declare.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::support::config::cases;
use crate::support::timeline::{Timeline, deceptive, timeline};
use ltt_read::tuning::{TimeSearch, Waypoints};
use ltt_read::{Event, Merge, OpenOptions, Position, Timestamp, Trace, TracefileIndex};
use proptest::prelude::*;
use proptest::sample::Index;

/// The properties of an event that a window depends on: time, tracefile and place.
type Known = (Option<Timestamp>, usize, Position);

fn known(event: Event<'_>) -> Known {
    (event.timestamp(), event.tracefile_index().0, event.position())
}

/// Returns the time of an event. An event without a time is before all times.
fn order(event: &Known) -> Timestamp {
    event.0.unwrap_or(Timestamp::MIN)
}

fn all(merge: &mut Merge) -> Vec<Known> {
    std::iter::from_fn(|| merge.next().map(known)).collect()
}

/// Compares all ways to read the events of windows with the full read: without waypoints, and then
/// with those that reads of the trace and of the windows find.
fn check(trace: &Arc<Trace>, windows: &[(Index, Index)]) -> Result<(), TestCaseError> {
    check_windows(trace, windows)?;
    let waypoints = waypoints(trace, windows.len() as u64);
    let read = Waypoints::from_bytes(&waypoints.to_bytes());
    prop_assert_eq!(read.as_ref(), Some(&waypoints));
    prop_assert!(trace.use_waypoints(waypoints));
    check_windows(trace, windows)
}

/// Returns waypoints of a trace that are at least some bytes apart.
fn waypoints(trace: &Arc<Trace>, distance: u64) -> Waypoints {
    let mut waypoints = [Waypoints::with_distance(trace, distance)];
    let mut merge = Merge::new(std::slice::from_ref(trace));
    let mut times = Vec::new();
    while let Some(event) = merge.next() {
        times.extend(event.timestamp());
        // Every other place is found after a seek only.
        if times.len() % 2 == 0 {
            merge.note_waypoints(&mut waypoints);
        }
    }
    for time in times.into_iter().step_by(3) {
        merge.seek(time);
        merge.note_waypoints(&mut waypoints);
        for _ in 0..2 {
            merge.next();
            merge.note_waypoints(&mut waypoints);
        }
    }
    let [waypoints] = waypoints;
    waypoints
}

fn check_windows(trace: &Arc<Trace>, windows: &[(Index, Index)]) -> Result<(), TestCaseError> {
    let traces = std::slice::from_ref(trace);
    let full = all(&mut Merge::new(traces));
    let mut times = vec![Timestamp::MIN, Timestamp::from_ns(i64::MIN + 1), Timestamp::MAX];
    for time in full.iter().filter_map(|event| event.0) {
        times.extend([-1, 0, 1].map(|by| Timestamp::from_ns(time.as_ns() + by)));
    }
    let mut merge = Merge::new(traces);
    for (begin, end) in windows {
        let (begin, end) = (*begin.get(&times), *end.get(&times));
        let is_in = |event: &&Known| begin <= order(event) && order(event) < end;
        let expected: Vec<Known> = full.iter().filter(is_in).copied().collect();

        // The events at the start or later, in each tracefile.
        let mut from_begin = Vec::new();
        for number in 0..trace.tracefiles().len() {
            let events = || full.iter().filter(|event| event.1 == number);
            let rest = events().skip_while(|event| order(event) < begin);
            let rest: Vec<Known> = rest.copied().collect();
            let mut cursor = trace.cursor(TracefileIndex(number));
            if cursor.seek_time(begin).is_ok() {
                let found = match cursor.advance() {
                    Ok(true) => Some(known(cursor.event())),
                    _ => None,
                };
                let first = rest.first().copied();
                let has_failed = found.is_none() && first.is_some();
                // Damage before the start ends a cursor, while a merge skips it.
                prop_assert!(found == first || has_failed, "tracefile {} from {}", number, begin);
            }
            from_begin.extend(rest);
        }
        let is_after = |event: &&Known| from_begin.contains(event);
        let rest: Vec<Known> = full.iter().filter(is_after).copied().collect();

        merge.seek(begin);
        prop_assert_eq!(&all(&mut merge), &rest, "from {}", begin);
        let mut search = TimeSearch::new(traces, begin);
        while !search.run(3) {}
        merge.seek_result(search);
        prop_assert_eq!(&all(&mut merge), &rest, "sought from {}", begin);

        // Reads up to the end, but no further than the time by which all events were
        // delivered.
        merge.seek(begin);
        let by = merge.delivered_by(end);
        let mut found = Vec::new();
        while let Some(event) = merge.next().map(known) {
            if by.is_some_and(|by| by <= order(&event)) {
                break;
            }
            found.extend(Some(event).filter(|event| is_in(&event)));
        }
        prop_assert_eq!(&found, &expected, "from {} to {}", begin, end);

        // Reads the events one by one, skipping all others.
        merge.seek(Timestamp::MIN);
        let wanted = |event: &Event<'_>| is_in(&&known(*event));
        let found: Vec<Known> =
            std::iter::from_fn(|| merge.next_where(wanted).map(known)).collect();
        prop_assert_eq!(&found, &expected, "chosen from {} to {}", begin, end);
    }
    Ok(())
}

fn windows() -> impl Strategy<Value = Vec<(Index, Index)>> {
    prop::collection::vec(any::<(Index, Index)>(), 4..8)
}

/// A change of an index file or of its data file.
#[derive(Debug, Clone)]
enum Change {
    None,
    /// A byte has another value.
    Byte(Index, u8),
    Cut(Index),
    /// Two entries are swapped.
    Swap(Index, Index),
    /// A time of an entry changes.
    Time {
        entry: Index,
        is_end: bool,
        by: i64,
    },
    /// All entries except the last declare earlier ends, which stay in order.
    AllEarly(u64),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        2 => Just(Change::None),
        1 => (any::<Index>(), any::<u8>()).prop_map(|(at, value)| Change::Byte(at, value)),
        1 => any::<Index>().prop_map(Change::Cut),
        1 => any::<(Index, Index)>().prop_map(|(a, b)| Change::Swap(a, b)),
        2 => (any::<Index>(), any::<bool>(), -300..300i64)
            .prop_map(|(entry, is_end, by)| Change::Time { entry, is_end, by }),
        2 => (1..300u64).prop_map(Change::AllEarly),
    ]
}

const HEADER: usize = 16;
const ENTRY: usize = 72;
const BEGIN: usize = 24;
const END: usize = 32;

fn apply(path: &Path, change: &Change) {
    let mut bytes = fs::read(path).expect("a file");
    let entries = bytes.len().saturating_sub(HEADER) / ENTRY;
    let place = |entry: &Index| HEADER + entry.index(entries.max(1)) * ENTRY;
    let put = |bytes: &mut [u8], at: usize, change: &dyn Fn(u64) -> u64| {
        if let Some(field) = bytes.get_mut(at..at + 8) {
            let value = u64::from_be_bytes(field.try_into().expect("8 bytes"));
            field.copy_from_slice(&change(value).to_be_bytes());
        }
    };
    match change {
        _ if bytes.is_empty() => {}
        Change::None => {}
        Change::Byte(at, value) => {
            let at = at.index(bytes.len());
            bytes[at] = *value;
        }
        Change::Cut(at) => bytes.truncate(at.index(bytes.len())),
        Change::Swap(a, b) if entries > 0 => {
            let (a, b) = (place(a), place(b));
            (0..ENTRY).for_each(|at| bytes.swap(a + at, b + at));
        }
        Change::Swap(..) => {}
        Change::Time { entry, is_end, by } => {
            let at = place(entry) + if *is_end { END } else { BEGIN };
            put(&mut bytes, at, &|time| time.saturating_add_signed(*by));
        }
        Change::AllEarly(by) => {
            for entry in 0..entries.saturating_sub(1) {
                let at = HEADER + entry * ENTRY;
                let begin = bytes[at + BEGIN..at + BEGIN + 8].try_into().expect("8 bytes");
                let begin = u64::from_be_bytes(begin);
                put(&mut bytes, at + END, &|end| end.saturating_sub(*by).max(begin));
            }
        }
    }
    fs::write(path, bytes).expect("it can be written");
}

/// Writes a trace, changes its index files and data files, and opens it.
fn open(
    timeline: &Timeline,
    dir: &Path,
    index: &[Change],
    data: &Change,
    options: OpenOptions,
) -> Result<Arc<Trace>, TestCaseError> {
    timeline.write(dir).map_err(|e| TestCaseError::fail(e.to_string()))?;
    for (path, change) in files(&dir.join("index")).iter().zip(index.iter().cycle()) {
        apply(path, change);
    }
    let is_data = |path: &&std::path::PathBuf| path.is_file() && !path.ends_with("metadata");
    if let Some(path) = files(dir).iter().find(is_data) {
        apply(path, data);
    }
    let trace = options.open(dir).map_err(|e| TestCaseError::fail(e.to_string()))?;
    Ok(timeline.transformed(trace))
}

fn files(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .expect("a directory")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    files
}

proptest! {
    #![proptest_config(cases(4000))]

    /// Packets may declare any times and be in any order.
    #[test]
    fn windows_are_parts_of_the_full_read(timeline in deceptive(), windows in windows()) {
        check(&timeline.in_memory(timeline.data()), &windows)?;
    }

    #[test]
    fn windows_of_ordinary_traces(timeline in timeline(false), windows in windows()) {
        check(&timeline.in_memory(timeline.data()), &windows)?;
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    /// Index files may have any contents, and the data may be damaged.
    #[test]
    fn windows_beside_wrong_index_files(
        timeline in deceptive(),
        windows in windows(),
        index in prop::collection::vec(change(), 1..4),
        data in prop_oneof![
            2 => Just(Change::None),
            2 => (any::<Index>(), any::<u8>()).prop_map(|(at, value)| Change::Byte(at, value)),
            1 => any::<Index>().prop_map(Change::Cut),
        ],
    ) {
        let dir = tempfile::tempdir().expect("a directory");
        check(&open(&timeline, dir.path(), &index, &data, OpenOptions::new())?, &windows)?;
    }

    /// Trusted packet times have to be right. Index files need not be.
    #[test]
    fn windows_of_traces_that_are_believed(
        timeline in timeline(true),
        windows in windows(),
        index in prop::collection::vec(change(), 1..4),
    ) {
        let dir = tempfile::tempdir().expect("a directory");
        let options = OpenOptions::new().verify_times_up_to(0);
        check(&open(&timeline, dir.path(), &index, &Change::None, options)?, &windows)?;
    }
}

/// Windows of all traces that are available, by waypoints.
#[test]
fn windows_of_shared_traces() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces/ctf");
    if !folder.is_dir() {
        eprintln!("skipped: there is no ../shared/traces/ctf");
        return;
    }
    for path in files(&folder) {
        let Ok(traces) = ltt_read::open_all(&path) else { continue };
        let mut merge = Merge::new(&traces);
        let known = |merge: &Merge, event: Event<'_>| {
            (event.timestamp(), merge.current_tracefile().expect("an event").0, event.position())
        };
        let all = |merge: &mut Merge| {
            let mut events = Vec::new();
            while merge.next().is_some() {
                let event = merge.current().expect("it was just given");
                events.push(known(merge, event));
            }
            events
        };
        let full = all(&mut merge);
        let mut waypoints: Vec<_> =
            traces.iter().map(|trace| Waypoints::with_distance(trace, 100)).collect();
        merge.seek(Timestamp::MIN);
        while merge.next().is_some() {
            merge.note_waypoints(&mut waypoints);
        }
        for (trace, waypoints) in traces.iter().zip(waypoints) {
            assert!(trace.use_waypoints(waypoints));
        }
        let mut times: Vec<Timestamp> = full.iter().filter_map(|event| event.0).collect();
        times.sort_unstable();
        let Some(last) = times.len().checked_sub(1) else { continue };
        let last_percent = times[last].since(times[0]) / 100;
        let windows = [
            (times[last / 4], times[last - last / 4]),
            (times[last].saturating_sub(last_percent), Timestamp::MAX),
            (times[0], times[0].saturating_add(last_percent)),
            (times[last / 2], times[last / 2].saturating_add(1)),
        ];
        for (begin, end) in windows {
            let is_in = |event: &Known| event.0.is_some_and(|time| begin <= time && time < end);
            merge.seek(begin);
            let by = merge.delivered_by(end);
            let mut found = all(&mut merge);
            if let Some(by) = by {
                let until = found.iter().position(|event| order(event) >= by);
                found.truncate(until.unwrap_or(found.len()));
            }
            found.retain(is_in);
            let expected: Vec<Known> = full.iter().copied().filter(is_in).collect();
            assert!(found == expected, "{}: from {begin} to {end}", path.display());
        }
    }
}
