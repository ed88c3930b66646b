//! Traces with transformed times, compared with the recorded times, and with traces that were
//! written with the transformed ones. Seeks, windows, positions and notices of transformed traces
//! are tested with those of others, in `seek` and `windows`.

use std::path::Path;
use std::sync::Arc;

use crate::support::config::cases;
use crate::support::timeline::timeline;
use ltt_read::schema::Format;
use ltt_read::{ClockTransform, Event, Merge, Position, Timestamp, Trace};
use proptest::prelude::*;

const ONE: u64 = ClockTransform::ONE;

/// The properties of an event that a transform keeps, and its recorded time.
fn recorded(event: Event<'_>) -> (Option<Timestamp>, Option<u64>, usize, Position) {
    (event.recorded_timestamp(), event.cycles(), event.tracefile_index().0, event.position())
}

/// Reads all events of a trace in the order of their tracefiles.
fn by_tracefile<T>(trace: &Arc<Trace>, of: impl Fn(Event<'_>) -> T) -> Vec<T> {
    let mut all = Vec::new();
    for number in 0..trace.tracefiles().len() {
        let mut cursor = trace.cursor(ltt_read::TracefileIndex(number));
        while let Ok(Some(event)) = cursor.next() {
            all.push(of(event));
        }
    }
    all
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn cycles_and_recorded_times_stay_available(timeline in timeline(false)) {
        let trace = timeline.in_memory(timeline.data());
        let plain = trace.with_clock_transforms(|_| ClockTransform::IDENTITY).unwrap();
        prop_assert_eq!(by_tracefile(&trace, recorded), by_tracefile(&plain, recorded));
        let times = by_tracefile(&trace, |event| {
            (event.timestamp(), event.recorded_timestamp().map(|time| timeline.transform.apply(time)))
        });
        prop_assert!(times.iter().all(|(time, expected)| time == expected));
        let is_recorded = |event: Event<'_>| event.timestamp() == event.recorded_timestamp();
        prop_assert!(by_tracefile(&plain, is_recorded).into_iter().all(|is| is));
    }

    /// Transforms replace each other.
    #[test]
    fn the_last_transform_counts(timeline in timeline(false), offset in -1000..1000_i64) {
        let trace = timeline.in_memory(timeline.data());
        let other = ClockTransform::from_offset(offset);
        let both = trace.with_clock_transforms(|_| other).unwrap();
        prop_assert_eq!(both.clock_transforms(), [other]);
        let plain = trace.with_clock_transforms(|_| ClockTransform::default()).unwrap();
        let later = |event: Event<'_>| event.timestamp().map(|time| time.as_ns() + offset);
        let time = |event: Event<'_>| event.timestamp().map(Timestamp::as_ns);
        prop_assert_eq!(by_tracefile(&both, time), by_tracefile(&plain, later));
    }
}

/// Returns the paths of all traces that are available.
fn paths() -> Vec<std::path::PathBuf> {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces");
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces");
    let mut paths = vec![bundled];
    for folder in [shared.join("ctf"), shared.join("legacy")] {
        match std::fs::read_dir(&folder) {
            Ok(entries) => paths.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => eprintln!("skipped: there is no ../shared/traces"),
        }
    }
    paths.sort();
    paths
}

/// Every event of every available trace of any format has the image of its recorded time.
#[test]
fn times_of_available_traces_are_images_of_the_recorded_ones() {
    let origin = Timestamp::from_ns(1_000_000_000_000_000_000);
    let image = origin.saturating_add(123_456_789);
    let mut events = 0;
    for slope in [ONE, ONE + ONE / 20_000, ONE - ONE / 20_000] {
        let transform = ClockTransform::new(origin, image, slope).unwrap();
        for path in paths() {
            let Ok(traces) = ltt_read::open_all(&path) else { continue };
            for trace in traces {
                let other = trace.with_clock_transforms(|_| transform).unwrap();
                // Events between both ends of a block are interpolated in the format of 2003.
                let is_of_2003 = trace.schema().format == Format::Legacy
                    && trace.schema().version == (0, 0)
                    && trace.schema().clocks[0].frequency == 1_000_000_000;
                let times = |trace: &Arc<Trace>| by_tracefile(trace, |event| event.timestamp());
                let expected = times(&trace);
                let found = times(&other);
                let mapped = by_tracefile(&other, |event| event.recorded_timestamp());
                for ((time, found), back) in expected.iter().zip(&found).zip(&mapped) {
                    let wanted = time.map(|time| transform.apply(time));
                    assert!(*found == wanted || is_of_2003, "{}: {time:?}", path.display());
                    assert!(back == time || is_of_2003, "{}: {time:?}", path.display());
                }
                assert_eq!((found.len(), mapped.len()), (expected.len(), expected.len()));
                events += found.len();
            }
        }
    }
    assert!(events > 10_000, "{events}");
}

/// The order of two clocks changes with their transforms, in reading and seeking.
#[test]
fn merges_order_by_transformed_times() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces/kernel/kernel");
    let trace = Trace::open(path).unwrap();
    let count = by_tracefile(&trace, |_| ()).len();
    let later = trace.with_clock_transforms(|_| ClockTransform::from_offset(50_000_000)).unwrap();
    let both = [trace.clone(), later.clone()];
    let mut expected: Vec<(Timestamp, usize)> = Vec::new();
    for (index, trace) in both.iter().enumerate() {
        let mut merge = Merge::new(std::slice::from_ref(trace));
        while let Some(event) = merge.next() {
            expected.push((event.timestamp().unwrap(), index));
        }
    }
    expected.sort();
    assert_eq!(expected.len(), 2 * count);
    let mut merge = Merge::new(&both);
    let of = |event: Event<'_>| (event.timestamp().unwrap(), event.trace_index().0);
    let found: Vec<_> = std::iter::from_fn(|| merge.next().map(of)).collect();
    assert_eq!(found, expected);
    for at in (0..expected.len()).step_by(997) {
        let time = expected[at].0;
        merge.seek(time);
        let first = expected.partition_point(|of| of.0 < time);
        assert_eq!(merge.next().map(of), Some(expected[first]));
    }
}
