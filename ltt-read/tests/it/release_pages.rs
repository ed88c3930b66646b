//! Memory of mapped files that is released.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ltt_read::{Access, Merge, OpenOptions, Trace, TracefileIndex};

/// Opens a bundled trace. Each test has one of its own, since they run in the same process.
fn open(name: &str, access: Access) -> Arc<Trace> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces").join(name);
    let mut traces = OpenOptions::new().access(access).open_all(path).unwrap();
    traces.remove(0)
}

/// Returns the times of all events, and calls `each` before each of them.
fn times(trace: &Arc<Trace>, mut each: impl FnMut(usize)) -> Vec<Option<i64>> {
    let mut merge = Merge::new(std::slice::from_ref(trace));
    let mut times = Vec::new();
    while let Some(event) = merge.next() {
        times.push(event.timestamp().map(|time| time.as_ns()));
        each(times.len());
    }
    assert!(merge.finish().is_ok());
    times
}

#[test]
fn events_are_the_same_whenever_pages_are_released() {
    for access in [Access::Map, Access::Read] {
        let trace = open("ust", access);
        let expected = times(&trace, |_| ());
        assert!(expected.len() > 500, "{}", expected.len());
        let release = |number: usize| {
            if number.is_multiple_of(7) {
                trace.release_pages();
            }
        };
        assert_eq!(times(&trace, release), expected);
    }
}

#[test]
fn events_are_the_same_whenever_bytes_are_released() {
    let trace = open("legacy", Access::Map);
    let expected = times(&trace, |_| ());
    assert!(expected.len() > 100, "{}", expected.len());
    let release = |number: usize| {
        let (tracefile, start) = (number % trace.tracefiles().len(), 1000 * (number as u64 % 9));
        trace.release_bytes(TracefileIndex(tracefile), start..start + 10_000);
        trace.release_bytes(TracefileIndex(tracefile), u64::MAX - 1..u64::MAX);
    };
    assert_eq!(times(&trace, release), expected);
}

#[cfg(target_os = "linux")]
/// Returns the resident memory of the mapped files of a trace, in KiB.
fn resident(trace: &Trace) -> u64 {
    let maps = fs::read_to_string("/proc/self/smaps").unwrap();
    let (mut is_of_trace, mut sum) = (false, 0);
    for line in maps.lines() {
        if let Some(size) = line.strip_prefix("Rss:") {
            let size = size.trim().trim_end_matches(" kB");
            sum += if is_of_trace { size.parse::<u64>().unwrap() } else { 0 };
        } else if line.contains('-') && !line.contains("kB") {
            is_of_trace = line.contains(trace.path().canonicalize().unwrap().to_str().unwrap());
        }
    }
    sum
}

#[test]
#[cfg(target_os = "linux")]
fn released_pages_are_not_resident() {
    let trace = open("kernel", Access::Map);
    times(&trace, |_| ());
    assert!(resident(&trace) > 100, "{} KiB", resident(&trace));
    trace.release_pages();
    assert_eq!(resident(&trace), 0);
    times(&trace, |_| ());
    assert!(resident(&trace) > 100, "{} KiB", resident(&trace));
}

#[test]
#[cfg(target_os = "linux")]
fn released_bytes_are_not_resident() {
    let trace = open("ust-threads", Access::Map);
    times(&trace, |_| ());
    let before = resident(&trace);
    assert!(before >= 8, "{before} KiB");
    for tracefile in (0..trace.tracefiles().len()).map(TracefileIndex) {
        trace.release_bytes(tracefile, 0..0);
    }
    assert_eq!(resident(&trace), before);
    for tracefile in (0..trace.tracefiles().len()).map(TracefileIndex) {
        trace.release_bytes(tracefile, 0..u64::MAX);
    }
    assert_eq!(resident(&trace), 0);
}
